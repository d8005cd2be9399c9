// SPDX-License-Identifier: GPL-2.0
#include "capture/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "host/outlet.h"

namespace pib::ctl {
namespace {

constexpr std::size_t kPending = 256 << 10;

Error file_error(std::string_view doing, std::string_view name)
{
	return errno_error("cannot {} {}", doing, name);
}

/// True if a write may wait for a reader.
bool has_reader(int fd)
{
	struct stat status{};
	return !fstat(fd, &status) && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

} // namespace

CaptureFiles::CaptureFiles(FilesRequest request, Bytes head, const Interruption &interruption) :
	request_(std::move(request)), head_(std::move(head)), interruption_(interruption)
{
}

CaptureFiles::~CaptureFiles()
{
	close();
}

std::string CaptureFiles::name() const
{
	if (request_.path == "-")
		return "the standard output";
	if (!request_.size)
		return request_.path;
	const auto number = request_.count ? number_ % request_.count : number_;
	return fmt::format("{}{}", request_.path, number);
}

void CaptureFiles::close()
{
	if (fd_ >= 0 && fd_ != STDOUT_FILENO)
		::close(fd_);
	fd_ = -1;
}

Status CaptureFiles::open()
{
	if (request_.path == "-")
		fd_ = STDOUT_FILENO;
	else
		fd_ = ::open(name().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd_ < 0)
		return file_error("write", name());
	if (isatty(fd_))
		return Error{"packets are not for a terminal: name a file, or pipe them into "
			     "'tshark -r -'"};
	has_reader_ = has_reader(fd_);
	pending_ = head_;
	written_ = head_.size();
	return flush();
}

Status CaptureFiles::next()
{
	if (auto flushed = flush(); !flushed)
		return flushed;
	close();
	++number_;
	return open();
}

Status CaptureFiles::write(View block)
{
	if (request_.size && written_ + block.size() > request_.size && written_ > head_.size())
		if (auto opened = next(); !opened)
			return opened;
	pending_.insert(pending_.end(), block.begin(), block.end());
	written_ += block.size();
	return pending_.size() < kPending ? success() : flush();
}

Status CaptureFiles::finish(View blocks)
{
	pending_.insert(pending_.end(), blocks.begin(), blocks.end());
	return flush();
}

Status CaptureFiles::flush_to_reader()
{
	const Outlet outlet(fd_, interruption_, kReaderPatience);
	const auto written =
		outlet.write({reinterpret_cast<const char *>(pending_.data()), pending_.size()});
	pending_.clear();
	if (written)
		return written;
	return Error{fmt::format("cannot write {}: {}", name(), written.error().text),
		     written.error().code};
}

Status CaptureFiles::flush()
{
	if (has_reader_)
		return flush_to_reader();
	View rest(pending_);
	while (!rest.empty()) {
		const ssize_t n = ::write(fd_, rest.data(), rest.size());
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return file_error("write", name());
		rest = rest.subspan(static_cast<std::size_t>(n));
	}
	pending_.clear();
	return success();
}

} // namespace pib::ctl
