// SPDX-License-Identifier: GPL-2.0
#include "explain/queue_pair.h"

#include <gmock/gmock.h>
#include <libmnl/libmnl.h>
#include <rdma/rdma_netlink.h>

namespace pib::ctl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

QueuePair running()
{
	QueuePair qp;
	qp.state = QpState::kRts;
	qp.type = kQpRc;
	qp.details = {{"pkey", 0xFFFF}, {"sq_posted", 1}, {"has_rq", 1}, {"rq_posted", 1}};
	return qp;
}

Port port_in(std::uint8_t state)
{
	Port port;
	port.number = 2;
	port.state = state;
	return port;
}

auto why(const QueuePair &qp, const std::optional<Port> &port = {})
{
	return explain(qp, "pib0", port);
}

TEST(Explain, NothingHoldsUp)
{
	EXPECT_THAT(why(running(), port_in(4)), ElementsAre("nothing holds it up"));
}

TEST(Explain, States)
{
	const std::pair<QpState, const char *> kWords[] = {
		{QpState::kReset, "it is in RESET"}, {QpState::kInit, "it is in INIT"},
		{QpState::kRtr, "it is in RTR"},     {QpState::kSqd, "it is in SQD"},
		{QpState::kSqe, "it is in SQE"},     {QpState::kErr, "it is in ERR"}};
	for (const auto &[state, words] : kWords) {
		QueuePair qp = running();
		qp.state = state;
		EXPECT_THAT(why(qp), ElementsAre(HasSubstr(words)));
	}
}

TEST(Explain, ErrorHasItsStatus)
{
	QueuePair qp = running();
	qp.state = QpState::kErr;
	qp.details["error"] = 12;
	EXPECT_THAT(why(qp), ElementsAre(HasSubstr("ERR"), HasSubstr("RETRY_EXC_ERR")));
	qp.details["error"] = 21;
	EXPECT_THAT(why(qp), ElementsAre(HasSubstr("ERR"), HasSubstr("GENERAL_ERR")));
	qp.details["error"] = 250;
	EXPECT_THAT(why(qp), ElementsAre(HasSubstr("ERR"), HasSubstr("status 250")));
}

TEST(Explain, Injections)
{
	QueuePair qp = running();
	qp.details["injections"] = 1;
	EXPECT_THAT(why(qp), ElementsAre(HasSubstr("1 rule of 'pibctl inject' acts")));
	qp.details["injections"] = 0;
	qp.details["cause"] = 6;
	EXPECT_THAT(why(qp), ElementsAre("nothing holds it up"));
	qp.state = QpState::kErr;
	EXPECT_THAT(why(qp), ElementsAre(HasSubstr("ERR"), HasSubstr("has made it fail")));
}

TEST(Explain, CauseOfError)
{
	QueuePair qp = running();
	qp.details["cause"] = 4;
	EXPECT_THAT(why(qp), ElementsAre("nothing holds it up"));
	qp.state = QpState::kErr;
	EXPECT_THAT(why(qp),
		    ElementsAre(HasSubstr("ERR"), HasSubstr("completion queues has overflowed")));
	qp.details["cause"] = 2;
	EXPECT_THAT(why(qp), ElementsAre(HasSubstr("ERR"), HasSubstr("refused a request")));
	qp.details["cause"] = 1;
	EXPECT_THAT(why(qp), ElementsAre(HasSubstr("ERR")));
	qp.details["cause"] = 99;
	EXPECT_THAT(why(qp), ElementsAre(HasSubstr("ERR")));
}

TEST(Explain, Port)
{
	EXPECT_THAT(why(running(), port_in(2)),
		    ElementsAre(HasSubstr("port pib0/2 is INIT: it carries no data")));
}

TEST(Explain, PartitionKey)
{
	QueuePair qp = running();
	qp.details["pkey"] = 0x8000;
	EXPECT_THAT(why(qp), ElementsAre(HasSubstr("P_Key table is empty")));
}

TEST(Explain, RefusedKeys)
{
	QueuePair qp = running();
	qp.details.insert({{"bad_pkeys", 2}, {"bad_pkey", 0x8002}});
	EXPECT_THAT(why(qp),
		    ElementsAre("packets dropped for their P_Key since RESET: 2; the last had "
				"0x8002, its own is 0xffff"));
	qp.type = kQpGsi;
	EXPECT_THAT(
		why(qp),
		ElementsAre("packets dropped for their P_Key since RESET: 2; the last had 0x8002"));
	qp.type = kQpUd;
	qp.details["bad_pkeys"] = 0;
	qp.details["bad_qkeys"] = 3;
	EXPECT_THAT(
		why(qp),
		ElementsAre(
			"datagrams dropped since RESET for their Q_Key, which is not its own: 3"));
}

TEST(Explain, Acknowledgement)
{
	QueuePair qp = running();
	qp.details.insert({{"una_psn", 0xFFFFFF},
			   {"next_psn", 2},
			   {"ack_us", 12345},
			   {"retries_left", 1},
			   {"timeouts", 6}});
	EXPECT_THAT(why(qp),
		    ElementsAre("3 packets from PSN 0xffffff on have no acknowledgement: it "
				"asks again in 12.3 ms, 1 try left; timeouts so far: 6"));
	qp.details["next_psn"] = 0;
	EXPECT_THAT(why(qp), ElementsAre(testing::StartsWith(
				     "1 packet from PSN 0xffffff on has no acknowledgement: ")));
}

TEST(Explain, ReceiverNotReady)
{
	QueuePair qp = running();
	qp.details.insert({{"next_psn", 1}, {"ack_us", 1}, {"rnr_us", 640}, {"rnr_left", 7}});
	EXPECT_THAT(why(qp), ElementsAre(testing::EndsWith(
				     "the next attempt is in 0.6 ms, tries without end left")));
}

TEST(Explain, Pages)
{
	QueuePair qp = running();
	qp.details["page_wait"] = 5;
	EXPECT_THAT(why(qp), ElementsAre(HasSubstr("of what has come, and of what it answers:")));
}

TEST(Explain, FullReceiverAndCongestion)
{
	QueuePair qp = running();
	qp.details["pushed_back"] = 1;
	qp.details["ccti"] = 9;
	EXPECT_THAT(why(qp), ElementsAre(HasSubstr("is full"), HasSubstr("place 9")));
}

TEST(Explain, NothingPosted)
{
	QueuePair qp = running();
	qp.details["sq_posted"] = 0;
	qp.details["rq_posted"] = 0;
	EXPECT_THAT(why(qp), ElementsAre(HasSubstr("nothing is posted"), HasSubstr("(RNR)")));
	qp.type = kQpUd;
	qp.details["sq_unread"] = 1;
	EXPECT_THAT(why(qp), ElementsAre(HasSubstr("are dropped")));
	qp.details["has_rq"] = 0;
	EXPECT_THAT(why(qp), ElementsAre("nothing holds it up"));
}

TEST(Explain, NothingInItsSrq)
{
	QueuePair qp = running();
	qp.details["has_rq"] = 0;
	qp.details["has_srq"] = 1;
	qp.details["srq_posted"] = 0;
	EXPECT_THAT(why(qp),
		    ElementsAre("its SRQ has no receive: what comes and needs one is refused for "
				"now (RNR)"));
	qp.type = kQpUd;
	EXPECT_THAT(why(qp),
		    ElementsAre("its SRQ has no receive: datagrams that come are dropped"));
	qp.details["srq_posted"] = 1;
	EXPECT_THAT(why(qp), ElementsAre("nothing holds it up"));
}

TEST(Explain, NothingInTheSrqThatIsNamed)
{
	QueuePair qp = running();
	qp.type = kQpXrcTarget;
	qp.details["has_rq"] = 0;
	qp.details["has_srq"] = 1;
	qp.details["srqn"] = 23;
	EXPECT_THAT(why(qp),
		    ElementsAre("the SRQ that its peer has named last, 23, has no receive: what "
				"comes and needs one is refused for now (RNR)"));
}

TEST(Explain, ReadsWhatTheKernelTells)
{
	alignas(nlmsghdr) std::uint8_t buffer[512]{};
	nlmsghdr *message = mnl_nlmsg_put_header(buffer);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_RES_LQPN, 17);
	mnl_attr_put_u8(message, RDMA_NLDEV_ATTR_RES_STATE, 3);
	nlattr *driver = mnl_attr_nest_start(message, RDMA_NLDEV_ATTR_DRIVER);
	mnl_attr_put_strz(message, RDMA_NLDEV_ATTR_DRIVER_STRING, "una_psn");
	mnl_attr_put_u8(message, RDMA_NLDEV_ATTR_DRIVER_PRINT_TYPE, 1);
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_DRIVER_U32, 0x123456);
	mnl_attr_put_strz(message, RDMA_NLDEV_ATTR_DRIVER_STRING, "ack_us");
	mnl_attr_put_u64(message, RDMA_NLDEV_ATTR_DRIVER_U64, std::uint64_t{1} << 33);
	mnl_attr_put_strz(message, RDMA_NLDEV_ATTR_DRIVER_STRING, "remote_qpn");
	mnl_attr_put_u32(message, RDMA_NLDEV_ATTR_DRIVER_U32, 18);
	mnl_attr_put_strz(message, RDMA_NLDEV_ATTR_DRIVER_STRING, "short");
	mnl_attr_put_u8(message, RDMA_NLDEV_ATTR_DRIVER_U32, 1);
	mnl_attr_nest_end(message, driver);
	const QueuePair qp =
		read_queue_pair({static_cast<const std::uint8_t *>(mnl_nlmsg_get_payload(message)),
				 mnl_nlmsg_get_payload_len(message)});
	EXPECT_EQ(qp.qpn, 17u);
	EXPECT_EQ(qp.state, QpState::kRts);
	EXPECT_EQ(qp.remote_qpn, 18u);
	EXPECT_EQ(qp.detail("una_psn"), 0x123456u);
	EXPECT_EQ(qp.detail("ack_us"), std::uint64_t{1} << 33);
	EXPECT_EQ(qp.detail("short"), 0u);
	EXPECT_EQ(qp.detail("none"), 0u);
}

} // namespace
} // namespace pib::ctl
