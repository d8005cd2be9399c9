// SPDX-License-Identifier: GPL-2.0
#include "netlink/fake_kernel.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace pib::ctl::fake {
namespace {

template <typename T>
Bytes bytes_of(T value)
{
	Bytes bytes(sizeof(value));
	std::memcpy(bytes.data(), &value, sizeof(value));
	return bytes;
}

template <typename T>
Bytes scalar(std::uint16_t type, T value)
{
	return attribute(type, bytes_of(value));
}

nlmsghdr header_of(View request)
{
	nlmsghdr header{};
	std::memcpy(&header, request.data(), sizeof(header));
	return header;
}

Bytes genl(std::uint8_t command, const Bytes &attributes)
{
	return join({Bytes{command, 1, 0, 0}, attributes});
}

} // namespace

class KernelTransport final : public Transport {
public:
	explicit KernelTransport(Kernel &kernel) : kernel_(kernel) {}

	Status send(View request) override
	{
		for (Bytes &datagram : kernel_.react(request))
			pending_.push_back(std::move(datagram));
		return success();
	}

	Result<Bytes> receive() override
	{
		if (pending_.empty())
			return Error{"the fake kernel has nothing more to say", EAGAIN};
		Bytes datagram = std::move(pending_.front());
		pending_.pop_front();
		return datagram;
	}

private:
	Kernel &kernel_;
	std::deque<Bytes> pending_;
};

Bytes join(std::initializer_list<Bytes> parts)
{
	Bytes whole;
	for (const Bytes &part : parts)
		whole.insert(whole.end(), part.begin(), part.end());
	return whole;
}

Bytes attribute(std::uint16_t type, View payload)
{
	Bytes whole = join({bytes_of(static_cast<std::uint16_t>(4 + payload.size())),
			    bytes_of(type), Bytes(payload.begin(), payload.end())});
	whole.resize((whole.size() + 3) / 4 * 4);
	return whole;
}

Bytes u8(std::uint16_t type, std::uint8_t value)
{
	return scalar(type, value);
}
Bytes u16(std::uint16_t type, std::uint16_t value)
{
	return scalar(type, value);
}
Bytes u32(std::uint16_t type, std::uint32_t value)
{
	return scalar(type, value);
}
Bytes u64(std::uint16_t type, std::uint64_t value)
{
	return scalar(type, value);
}
Bytes flag(std::uint16_t type)
{
	return attribute(type, {});
}

Bytes text(std::uint16_t type, std::string_view value)
{
	Bytes payload(value.begin(), value.end());
	payload.push_back(0);
	return attribute(type, payload);
}

Bytes binary(std::uint16_t type, std::initializer_list<int> bytes)
{
	return attribute(type, Bytes(bytes.begin(), bytes.end()));
}

Bytes nest(std::uint16_t type, std::initializer_list<Bytes> parts)
{
	return attribute(type | NLA_F_NESTED, join(parts));
}

Bytes message(std::uint16_t type, std::uint16_t flags, std::uint32_t sequence, const Bytes &payload)
{
	Bytes whole = join({bytes_of(static_cast<std::uint32_t>(NLMSG_HDRLEN + payload.size())),
			    bytes_of(type), bytes_of(flags), bytes_of(sequence),
			    bytes_of(std::uint32_t{0}), payload});
	whole.resize((whole.size() + 3) / 4 * 4);
	return whole;
}

void Kernel::answer(std::vector<Bytes> attribute_streams, std::uint16_t flags)
{
	scripts_.push_back({std::move(attribute_streams), flags, {}, {}});
}

void Kernel::refuse(Refusal refusal)
{
	scripts_.push_back({{}, 0, std::move(refusal), {}});
}

void Kernel::raw(Bytes datagram)
{
	scripts_.push_back({{}, 0, {}, std::move(datagram)});
}

TransportFactory Kernel::factory()
{
	return [this]() -> Result<std::unique_ptr<Transport>> {
		return std::unique_ptr<Transport>(std::make_unique<KernelTransport>(*this));
	};
}

std::vector<Bytes> Kernel::react(View datagram)
{
	std::vector<Bytes> answers;
	while (datagram.size() >= NLMSG_HDRLEN) {
		const std::size_t size = header_of(datagram).nlmsg_len;
		for (Bytes &answer : react_to(datagram.first(size)))
			answers.push_back(std::move(answer));
		datagram =
			datagram.subspan(std::min<std::size_t>(NLMSG_ALIGN(size), datagram.size()));
	}
	return answers;
}

std::vector<Bytes> Kernel::react_to(View request)
{
	const nlmsghdr header = header_of(request);
	if (header.nlmsg_type == GENL_ID_CTRL)
		return family(request);
	if (!loaded || header.nlmsg_type != number)
		return {verdict({ENOENT, ""}, request)};
	const View attributes = request.subspan(NLMSG_HDRLEN + GENL_HDRLEN);
	requests.push_back({header.nlmsg_flags, request[NLMSG_HDRLEN],
			    Bytes(attributes.begin(), attributes.end())});
	Script script;
	if (!scripts_.empty()) {
		script = std::move(scripts_.front());
		scripts_.pop_front();
	}
	return play(script, request);
}

std::vector<Bytes> Kernel::play(const Script &script, View request)
{
	const nlmsghdr header = header_of(request);
	if (!script.raw.empty()) {
		Bytes datagram = script.raw;
		constexpr std::size_t kSequence = offsetof(nlmsghdr, nlmsg_seq);
		if (datagram.size() >= sizeof(nlmsghdr) && header_of(datagram).nlmsg_seq == 0)
			std::memcpy(datagram.data() + kSequence, &header.nlmsg_seq,
				    sizeof(header.nlmsg_seq));
		return {datagram};
	}
	std::vector<Bytes> datagrams;
	for (const Bytes &stream : script.streams)
		datagrams.push_back(message(number, NLM_F_MULTI | script.flags, header.nlmsg_seq,
					    genl(request[NLMSG_HDRLEN], stream)));
	datagrams.push_back(verdict(script.refusal, request));
	return datagrams;
}

Bytes Kernel::verdict(const Refusal &refusal, View request) const
{
	const nlmsghdr header = header_of(request);
	const bool dump = (header.nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	const bool cap = capped || refusal.code == 0;
	const View echo = request.first(cap ? NLMSG_HDRLEN : request.size());
	Bytes tlvs = refusal.text.empty() ? Bytes{} : text(NLMSGERR_ATTR_MSG, refusal.text);
	tlvs = join({tlvs, refusal.more});
	std::uint16_t flags = dump ? NLM_F_MULTI : 0;
	if (cap && !dump)
		flags |= NLM_F_CAPPED;
	if (!tlvs.empty())
		flags |= NLM_F_ACK_TLVS;
	const Bytes echoed = dump ? Bytes{} : Bytes(echo.begin(), echo.end());
	return message(dump ? NLMSG_DONE : NLMSG_ERROR, flags, header.nlmsg_seq,
		       join({bytes_of(std::int32_t{-refusal.code}), echoed, tlvs}));
}

std::vector<Bytes> Kernel::family(View request)
{
	const nlmsghdr header = header_of(request);
	const auto message_of = [&](const char *name, std::uint16_t id) {
		const Bytes groups = nest(CTRL_ATTR_MCAST_GROUPS,
					  {nest(1, {u32(CTRL_ATTR_MCAST_GRP_ID, events),
						    text(CTRL_ATTR_MCAST_GRP_NAME, "events")})});
		return message(
			GENL_ID_CTRL, 0, header.nlmsg_seq,
			genl(CTRL_CMD_NEWFAMILY,
			     join({text(CTRL_ATTR_FAMILY_NAME, name), u16(CTRL_ATTR_FAMILY_ID, id),
				   u32(CTRL_ATTR_VERSION, version), events ? groups : Bytes{}})));
	};
	std::vector<Bytes> answers;
	if ((header.nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP)
		answers.push_back(message_of("nlctrl", GENL_ID_CTRL));
	else
		++named;
	if (loaded)
		answers.push_back(message_of("pib", number));
	answers.push_back(verdict({answers.empty() ? ENOENT : 0, ""}, request));
	return answers;
}

} // namespace pib::ctl::fake
