// SPDX-License-Identifier: GPL-2.0
#include "tables/umad.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <rdma/ib_user_mad.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

namespace pib::ctl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kTimeout = 100;
constexpr std::uint32_t kRetries = 1;
/// A little more than the kernel takes to say that there is no answer.
constexpr std::chrono::milliseconds kWait{(kRetries + 2) * kTimeout};

const Error kSilent{"the switch does not answer", ETIMEDOUT};

std::string word_in(const std::filesystem::path &file)
{
	std::string word;
	std::ifstream(file) >> word;
	return word;
}

/// "/dev/infiniband/umad3"
Result<std::string> find_file(const std::string &hca, std::uint32_t port)
{
	std::error_code error;
	for (const auto &entry :
	     std::filesystem::directory_iterator("/sys/class/infiniband_mad", error))
		if (word_in(entry.path() / "ibdev") == hca &&
		    word_in(entry.path() / "port") == fmt::format("{}", port) &&
		    entry.path().filename().string().starts_with("umad"))
			return "/dev/infiniband/" + entry.path().filename().string();
	return Error{fmt::format("forwarding tables are read over ib_umad, which {}/{} has not "
				 "('modprobe ib_umad')",
				 hca, port),
		     ENODEV};
}

} // namespace

Umad::~Umad()
{
	if (fd_ >= 0)
		close(fd_);
}

Umad::Umad(Umad &&other) noexcept : fd_(std::exchange(other.fd_, -1)), agent_(other.agent_) {}

Result<Umad> Umad::open(const std::string &hca, std::uint32_t port)
{
	const auto file = find_file(hca, port);
	if (!file)
		return file.error();
	const int fd = ::open(file->c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno_error("opening {}", *file);
	Umad umad(fd, 0);
	ioctl(fd, IB_USER_MAD_ENABLE_PKEY, nullptr);
	// QP 0, and only answers to what is asked.
	ib_user_mad_reg_req agent{};
	agent.mgmt_class = PIB_CLASS_SM_DR;
	agent.mgmt_class_version = 1;
	if (ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &agent) < 0)
		return errno_error("registering at {}", *file);
	umad.agent_ = agent.id;
	return umad;
}

Result<Mad> Umad::ask(const Mad &mad) const
{
	std::array<std::uint8_t, sizeof(ib_user_mad_hdr) + kMadSize> buffer{};
	ib_user_mad_hdr header{};
	header.id = agent_;
	header.timeout_ms = kTimeout;
	header.retries = kRetries;
	header.lid = 0xFFFF;
	std::memcpy(buffer.data(), &header, sizeof(header));
	std::ranges::copy(mad, buffer.begin() + sizeof(header));
	if (write(fd_, buffer.data(), buffer.size()) < 0)
		return errno_error("sending an SMP");
	return hear(mad);
}

/// Waits for the answer. Late answers to earlier questions are passed over.
Result<Mad> Umad::hear(const Mad &asked) const
{
	const auto end = Clock::now() + kWait;
	std::array<std::uint8_t, sizeof(ib_user_mad_hdr) + kMadSize> buffer{};
	for (;;) {
		pollfd events{fd_, POLLIN, 0};
		const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
		if (left.count() <= 0 || poll(&events, 1, static_cast<int>(left.count())) <= 0 ||
		    read(fd_, buffer.data(), buffer.size()) < 0)
			return kSilent;
		ib_user_mad_hdr header{};
		std::memcpy(&header, buffer.data(), sizeof(header));
		Mad answer;
		std::copy_n(buffer.begin() + sizeof(header), answer.size(), answer.begin());
		if (!same_transaction(answer, asked))
			continue;
		return header.status ? Result<Mad>(kSilent) : answer;
	}
}

} // namespace pib::ctl
