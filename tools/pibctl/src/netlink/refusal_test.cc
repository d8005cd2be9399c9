// SPDX-License-Identifier: GPL-2.0
#include "netlink/refusal.h"

#include <gtest/gtest.h>
#include <linux/pib.h>

#include <cerrno>

#include "objects/encode.h"
#include "model/words/parse.h"
#include "netlink/schema.h"

namespace pib::ctl {
namespace {

constexpr Reason kReasons[] = {{ENODEV, "no such netdev"}};

Request request_with_peer()
{
	HcaRequest hca;
	hca.name = "pib0";
	hca.netdev = "eth0";
	hca.peers = {*parse_endpoint("192.0.2.1:7")};
	return encode_add_hca(hca);
}

// Offsets of the attributes of request_with_peer(), headers of 16 and 4 bytes before them.
constexpr std::uint32_t kName = 20;
constexpr std::uint32_t kNetdev = kName + 4 + 8;
constexpr std::uint32_t kPeer = kNetdev + 4 + 8;
constexpr std::uint32_t kAddress = kPeer + 4;
constexpr std::uint32_t kPort = kAddress + 8;

std::string said(const Verdict &verdict)
{
	const auto error = describe_refusal("add HCA pib0", verdict, request_with_peer(), kReasons);
	EXPECT_EQ(error.code, verdict.code);
	EXPECT_FALSE(error.usage);
	return error.text;
}

TEST(Refusal, PassesOnTheKernelsWords)
{
	Verdict verdict;
	verdict.code = ENODEV;
	verdict.text = "netdev is loopback";
	EXPECT_EQ(said(verdict), "cannot add HCA pib0: netdev is loopback");
}

TEST(Refusal, HasWordsOfItsOwn)
{
	Verdict verdict;
	verdict.code = ENODEV;
	EXPECT_EQ(said(verdict), "cannot add HCA pib0: no such netdev");
	verdict.code = EDOM;
	EXPECT_EQ(said(verdict), "cannot add HCA pib0: Numerical argument out of domain");
}

TEST(Refusal, NamesTheCapability)
{
	Verdict verdict;
	verdict.code = EPERM;
	EXPECT_EQ(said(verdict),
		  "cannot add HCA pib0: no permission; it takes CAP_NET_ADMIN in the initial user "
		  "namespace (run it as the machine's root, as with sudo)");
}

TEST(Refusal, NamesTheAttributeAndItsRange)
{
	Verdict verdict;
	verdict.code = ERANGE;
	verdict.text = "integer out of range";
	verdict.bad_offset = kPort;
	verdict.range = {1, 254};
	EXPECT_EQ(
		said(verdict),
		"cannot add HCA pib0: integer out of range (attribute peer/port); accepted: 1 to 254");
}

TEST(Refusal, NamesWhatIsMissing)
{
	Verdict verdict;
	verdict.code = EINVAL;
	verdict.missing_type = PIB_A_NUM_PORTS;
	EXPECT_EQ(said(verdict),
		  "cannot add HCA pib0: Invalid argument (attribute num-ports is missing)");
	verdict.missing_nest = kPeer;
	verdict.missing_type = PIB_EP_ADDR6;
	EXPECT_EQ(said(verdict),
		  "cannot add HCA pib0: Invalid argument (attribute peer/addr6 is missing)");
}

TEST(Schema, FindsAttributesByOffset)
{
	const Request request = request_with_peer();
	EXPECT_EQ(attribute_at(request.bytes(), kName), "hca-name");
	EXPECT_EQ(attribute_at(request.bytes(), kNetdev), "netdev");
	EXPECT_EQ(attribute_at(request.bytes(), kPeer), "peer");
	EXPECT_EQ(attribute_at(request.bytes(), kAddress), "peer/addr4");
	EXPECT_EQ(attribute_at(request.bytes(), kPort), "peer/port");
}

TEST(Schema, SurvivesAnyOffset)
{
	const Request request = request_with_peer();
	for (std::size_t offset = 0; offset < 400; ++offset) {
		(void)attribute_at(request.bytes(), offset);
		(void)missing_attribute(request.bytes(), offset, PIB_EP_PORT);
	}
	EXPECT_FALSE(attribute_at(request.bytes(), 0));
	EXPECT_FALSE(attribute_at(request.bytes(), 1U << 31));
	EXPECT_FALSE(attribute_at({}, 20));
	EXPECT_EQ(missing_attribute(request.bytes(), 0, 3), "number 3");
	EXPECT_EQ(missing_attribute(request.bytes(), std::nullopt, 999), "number 999");
}

} // namespace
} // namespace pib::ctl
