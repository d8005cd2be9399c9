// SPDX-License-Identifier: GPL-2.0
#include "netlink/message.h"

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>

#include <string>

namespace pib::ctl {

Request::Request(std::uint8_t command, std::uint8_t version, std::uint16_t flags) :
	buffer_(std::make_unique<std::uint8_t[]>(kCapacity)),
	header_(mnl_nlmsg_put_header(buffer_.get()))
{
	header_->nlmsg_flags = NLM_F_REQUEST | flags;
	if (!is_dump())
		header_->nlmsg_flags |= NLM_F_ACK;
	auto *genl =
		static_cast<genlmsghdr *>(mnl_nlmsg_put_extra_header(header_, sizeof(genlmsghdr)));
	genl->cmd = command;
	genl->version = version;
}

void Request::put_text(std::uint16_t type, std::string_view text)
{
	note(mnl_attr_put_strz_check(header_, kCapacity, type, std::string(text).c_str()));
}

void Request::put_u8(std::uint16_t type, std::uint8_t value)
{
	note(mnl_attr_put_u8_check(header_, kCapacity, type, value));
}

void Request::put_u16(std::uint16_t type, std::uint16_t value)
{
	note(mnl_attr_put_u16_check(header_, kCapacity, type, value));
}

void Request::put_u32(std::uint16_t type, std::uint32_t value)
{
	note(mnl_attr_put_u32_check(header_, kCapacity, type, value));
}

void Request::put_u64(std::uint16_t type, std::uint64_t value)
{
	note(mnl_attr_put_u64_check(header_, kCapacity, type, value));
}

void Request::put_flag(std::uint16_t type)
{
	note(mnl_attr_put_check(header_, kCapacity, type, 0, nullptr));
}

void Request::put_binary(std::uint16_t type, View data)
{
	note(mnl_attr_put_check(header_, kCapacity, type, data.size(), data.data()));
}

Request::Nest::Nest(Request &request, std::uint16_t type) :
	request_(request), start_(mnl_attr_nest_start_check(request.header_, kCapacity, type))
{
	request_.note(start_ != nullptr);
}

Request::Nest::~Nest()
{
	if (start_)
		mnl_attr_nest_end(request_.header_, start_);
}

void Request::address(std::uint16_t family, std::uint32_t sequence)
{
	header_->nlmsg_type = family;
	header_->nlmsg_seq = sequence;
}

std::uint32_t Request::sequence() const
{
	return header_->nlmsg_seq;
}

bool Request::is_dump() const
{
	return (header_->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
}

View Request::bytes() const
{
	return View(buffer_.get(), header_->nlmsg_len);
}

} // namespace pib::ctl
