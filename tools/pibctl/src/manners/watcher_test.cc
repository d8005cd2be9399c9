// SPDX-License-Identifier: GPL-2.0
#include "manners/watcher.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace pib::ctl {
namespace {

/// A process that is watched, by lines as the module makes them.
class Program {
public:
	void event(std::string_view name, std::string_view fields)
	{
		const auto line =
			fmt::format("         program-4712    [001] .....   5.000001: pib_{}: "
				    "device=pib0 port=1 {}",
				    name, fields);
		const auto record = parse_trace_line(line);
		ASSERT_TRUE(record) << line;
		watcher.take(*record);
	}
	void verb(std::string_view verb, std::string_view object, int number, std::string_view args,
		  std::string_view result = "OK")
	{
		event("verb",
		      fmt::format("pid=4711 verb={} object={} number={} result={} took_ns=7 {}",
				  verb, object, number, result, args));
	}
	void create_qp(int type = 2, int send_cqn = 3, int recv_cqn = 3)
	{
		verb("create_qp", "qp", 17,
		     fmt::format("type={} send_cqn={} recv_cqn={} srqn=0 send_wr=4 recv_wr=4 "
				 "inline=0",
				 type, send_cqn, recv_cqn));
	}
	void modify_qp(std::string_view args)
	{
		verb("modify_qp", "qp", 17, fmt::format("mask=0x1 from=RTR to=RTS {}", args));
	}
	void post(int wr_id, std::string_view opcode, std::string_view flags,
		  std::string_view rkey = "0x0", std::string_view qkey = "0x0")
	{
		event("wr_posted",
		      fmt::format("qpn=17 pid=4711 wr_id=0x{:x} opcode={} flags={} bytes=8 rkey={} "
				  "qkey={}",
				  wr_id, opcode, flags, rkey, qkey));
	}
	void complete(int wr_id, std::string_view opcode, std::string_view status = "SUCCESS",
		      int cqn = 3, int qpn = 17)
	{
		event("completion", fmt::format("qpn={} pid=4711 cqn={} wr_id=0x{:x} opcode={} "
						"status={} vendor_err=0 bytes=8",
						qpn, cqn, wr_id, opcode, status));
	}
	void destroy_qp(std::string_view args)
	{
		verb("destroy_qp", "qp", 17, fmt::format("from=RTS {}", args));
	}

	/// "NAME COUNT WHAT" of each, with line ends.
	/// Of queue pair 17, whose Q_Key has the top bit.
	void post_bad_qkey(int index)
	{
		event("wr_posted",
		      fmt::format("qpn=17 pid=4711 index={} wr_id=0x1 opcode=SEND flags=0x2 "
				  "bytes=8 rkey=0x0 qkey=0x80000001",
				  index));
	}
	/// The first finding has the stack of one call, at that offset.
	void expect_stack_of(std::uint64_t offset) const
	{
		const auto &stack = watcher.findings().front().first.stack;
		ASSERT_EQ(stack.size(), 1U);
		EXPECT_EQ(stack[0].offset, offset);
	}
	std::string found() const
	{
		std::string text;
		for (const MannerFinding &finding : watcher.findings())
			text += fmt::format("{} {} {}\n", manner_name(finding.manner),
					    finding.count, finding.first.what);
		return text;
	}

	MannersWatcher watcher;
};

constexpr std::string_view kGone = "left_behind=0 sends=0 recvs=0 send_cqes=0 recv_cqes=0";

TEST(Manners, GoodOnes)
{
	Program p;
	EXPECT_FALSE(p.watcher.has_seen());
	p.create_qp();
	p.modify_qp(
		"sq_psn=16777215 rq_psn=16777215 dest_qpn=16777215 dlid=1 timeout=31 retry_cnt=7 "
		"rnr_retry=7");
	p.verb("create_ah", "ah", 1, "dlid=49151 sl=0 ah_port=1 grh=0");
	p.verb("create_ah", "ah", 2, "dlid=49152 sl=0 ah_port=1 grh=1");
	p.post(1, "SEND", "0x7");
	p.complete(1, "SEND");
	p.destroy_qp(kGone);
	p.verb("destroy_cq", "cq", 3, "left_behind=0 cqes=0");
	p.verb("dereg_mr", "mr", 4, "key=0x10 left_behind=0 requests=0");
	EXPECT_EQ(p.found(), "");
	EXPECT_TRUE(p.watcher.has_seen());
}

TEST(Manners, PlaceOfTheFirst)
{
	Program p;
	p.modify_qp("timeout=32");
	p.modify_qp("retry_cnt=8");
	ASSERT_EQ(p.watcher.findings().size(), 1U);
	const MannerFinding &finding = p.watcher.findings().front();
	EXPECT_EQ(finding.count, 2U);
	EXPECT_EQ(finding.first.device, "pib0");
	EXPECT_EQ(finding.first.object, "qp");
	EXPECT_EQ(finding.first.number, 17U);
	EXPECT_EQ(finding.first.pid, 4711U);
	EXPECT_EQ(finding.first.comm, "program");
	EXPECT_EQ(finding.first.tid, 4712U);
	EXPECT_EQ(finding.first.time, "5.000001");
	EXPECT_EQ(finding.first.what, "modify_qp timeout 32");
}

TEST(Manners, NumbersThatDoNotFit)
{
	Program p;
	p.modify_qp("dest_qpn=16777216 timeout=32 retry_cnt=8 rnr_retry=8");
	EXPECT_EQ(p.found(), "wide-field 4 modify_qp dest_qpn 16777216\n");
}

TEST(Manners, Lids)
{
	Program p;
	p.modify_qp("dlid=0");
	p.modify_qp("dlid=49152");
	p.verb("create_ah", "ah", 1, "dlid=65535 sl=0 ah_port=1 grh=1");
	p.verb("modify_ah", "ah", 1, "dlid=65534 sl=0 ah_port=1 grh=0");
	EXPECT_EQ(p.found(),
		  "magic-lid 3 modify_qp dlid 0\ngroup-without-grh 1 modify_ah dlid 65534\n");
}

TEST(Manners, FlagsOfRequests)
{
	Program p;
	p.create_qp();
	p.post(1, "RDMA_READ", "0x6");
	p.post(2, "RDMA_WRITE_WITH_IMM", "0x6");
	p.post(3, "SEND", "0x3");
	EXPECT_EQ(p.found(), "send-flags 1 RDMA_READ IBV_SEND_SOLICITED\n");
	p.create_qp(4);
	p.post(4, "SEND", "0x3");
	EXPECT_EQ(p.watcher.findings().front().count, 2U);
}

TEST(Manners, QkeyOfTheQueuePair)
{
	Program p;
	p.create_qp(4);
	p.post(1, "SEND", "0x2", "0x0", "0x7fffffff");
	EXPECT_EQ(p.found(), "");
	p.post(2, "SEND", "0x2", "0x0", "0x80000000");
	EXPECT_EQ(p.found(), "qkey-top-bit 1 qkey 0x80000000\n");
}

TEST(Manners, QueueFullOfUnsignaled)
{
	Program p;
	p.create_qp();
	for (const auto *flags : {"0x0", "0x0", "0x0", "0x2", "0x0", "0x0", "0x0"})
		p.post(1, "RDMA_WRITE", flags);
	EXPECT_EQ(p.found(), "");
	p.post(1, "RDMA_WRITE", "0x0");
	p.post(1, "RDMA_WRITE", "0x0");
	EXPECT_EQ(p.found(), "unsignaled-full 1 4 sends without IBV_SEND_SIGNALED\n");
}

TEST(Manners, KeyThatHasWorked)
{
	Program p;
	p.create_qp();
	p.post(1, "RDMA_WRITE", "0x0", "0xabc");
	p.post(2, "RDMA_READ", "0x2", "0xdef");
	p.complete(2, "RDMA_READ");
	p.post(3, "RDMA_WRITE", "0x2", "0xabc");
	p.complete(3, "RDMA_WRITE", "REM_ACCESS_ERR");
	EXPECT_EQ(p.found(), "stale-rkey 1 RDMA_WRITE rkey 0xabc\n");
}

TEST(Manners, KeyThatNeverWorkedIsAnotherError)
{
	Program p;
	p.create_qp();
	p.post(1, "RDMA_WRITE", "0x2", "0xabc");
	p.complete(1, "RDMA_WRITE", "REM_ACCESS_ERR");
	p.post(2, "RDMA_WRITE", "0x2", "0xabc");
	p.complete(2, "RDMA_WRITE", "RETRY_EXC_ERR");
	EXPECT_EQ(p.found(), "");
}

TEST(Manners, KeyOfItsOwnThatIsGone)
{
	Program p;
	p.create_qp();
	p.verb("reg_mr", "mr", 1, "key=0xabc addr=0x1000 length=4096 iova=0x1000 access=0x7");
	p.verb("dereg_mr", "mr", 1, "key=0xabc left_behind=0 requests=0");
	p.verb("alloc_mw", "mw", 1, "key=0xdef type=2");
	p.verb("dealloc_mw", "mw", 1, "key=0xdef left_behind=0");
	p.verb("reg_mr", "mr", 2, "key=0xdef addr=0x1000 length=4096 iova=0x1000 access=0x7");
	p.post(1, "RDMA_WRITE", "0x2", "0xdef");
	p.complete(1, "RDMA_WRITE", "REM_ACCESS_ERR");
	EXPECT_EQ(p.found(), "");
	p.post(2, "RDMA_WRITE", "0x2", "0xabc");
	p.complete(2, "RDMA_WRITE", "REM_ACCESS_ERR");
	EXPECT_EQ(p.found(), "stale-rkey 1 RDMA_WRITE rkey 0xabc\n");
}

TEST(Manners, KeyThatWasInvalidatedByARequest)
{
	Program p;
	p.create_qp();
	p.post(1, "LOCAL_INV", "0x0", "0xabc");
	p.post(2, "RDMA_WRITE", "0x2", "0x123");
	p.complete(2, "RDMA_WRITE");
	p.post(3, "RDMA_WRITE", "0x2", "0xabc");
	p.complete(3, "RDMA_WRITE", "REM_ACCESS_ERR");
	EXPECT_EQ(p.found(), "stale-rkey 1 RDMA_WRITE rkey 0xabc\n");
}

TEST(Manners, MemoryInUse)
{
	Program p;
	p.verb("dereg_mr", "mr", 1, "key=0xabc left_behind=0 requests=2");
	EXPECT_EQ(p.found(), "dereg-busy 1 dereg_mr with 2 work requests\n");
}

TEST(Manners, LostOnReset)
{
	Program p;
	p.create_qp();
	p.complete(1, "SEND", "SUCCESS", 3, 16);
	p.complete(1, "RECV");
	p.complete(2, "RECV", "WR_FLUSH_ERR");
	p.verb("modify_qp", "qp", 17,
	       "mask=0x1 from=ERR to=RESET sends=1 recvs=2 send_cqes=3 recv_cqes=3");
	EXPECT_EQ(
		p.found(),
		"lost-on-reset 1 modify_qp from ERR to RESET: 1 send, 2 receives, 1 completion\n");
	/// Completions that were lost with the queue pair are not there any more.
	p.verb("destroy_cq", "cq", 3, "left_behind=0 cqes=1");
	EXPECT_EQ(p.watcher.findings().back().first.what, "destroy_cq with 1 completion");
}

TEST(Manners, ResetThatLosesNothing)
{
	Program p;
	p.create_qp();
	p.complete(1, "RECV");
	p.complete(2, "RECV", "WR_FLUSH_ERR");
	p.verb("modify_qp", "qp", 17,
	       "mask=0x1 from=ERR to=RESET sends=0 recvs=0 send_cqes=1 recv_cqes=1");
	p.verb("modify_qp", "qp", 17,
	       "mask=0x1 from=ERR to=RESET sends=1 recvs=0 send_cqes=0 recv_cqes=0", "EINTR");
	EXPECT_EQ(p.found(), "");
}

TEST(Manners, DestroyedWithSends)
{
	Program p;
	p.create_qp();
	p.destroy_qp("left_behind=0 sends=0 recvs=4 send_cqes=0 recv_cqes=0");
	EXPECT_EQ(p.found(), "") << "a receive that nobody has used is not lost";
	p.destroy_qp("left_behind=0 sends=3 recvs=0 send_cqes=0 recv_cqes=0");
	EXPECT_EQ(p.found(), "destroyed-busy 1 destroy_qp in RTS with 3 sends\n");
}

TEST(Manners, Unpolled)
{
	Program p;
	p.create_qp(2, 3, 5);
	p.complete(1, "SEND");
	p.complete(2, "SEND");
	p.complete(1, "RECV", "SUCCESS", 5);
	p.complete(2, "RECV", "WR_FLUSH_ERR", 5);
	p.destroy_qp("left_behind=0 sends=0 recvs=0 send_cqes=1 recv_cqes=2");
	EXPECT_EQ(p.found(), "unpolled 1 destroy_qp with 2 of its completions\n");
	p.verb("destroy_cq", "cq", 3, "left_behind=0 cqes=0");
	p.verb("destroy_cq", "cq", 5, "left_behind=0 cqes=0");
	EXPECT_EQ(p.watcher.findings().front().count, 1U);
}

TEST(Manners, UnpolledOfWhatWasThereBefore)
{
	Program p;
	p.complete(1, "SEND", "SUCCESS", 3);
	p.complete(1, "RECV", "SUCCESS", 5);
	p.destroy_qp("left_behind=0 sends=0 recvs=0 send_cqes=1 recv_cqes=1");
	EXPECT_EQ(p.found(), "unpolled 1 destroy_qp with 2 of its completions\n");
}

TEST(Manners, UnpolledAtTheEnd)
{
	Program p;
	p.complete(1, "SEND");
	p.complete(2, "SEND");
	p.verb("destroy_cq", "cq", 3, "left_behind=1 cqes=2");
	EXPECT_EQ(p.found(),
		  "left-behind 1 destroy_cq\nunpolled 1 destroy_cq with 2 completions\n");
	for (const MannerFinding &finding : p.watcher.findings())
		EXPECT_TRUE(finding.is_reaping);
}

TEST(Manners, LeftBehindByKindOfObject)
{
	Program p;
	p.verb("destroy_ah", "ah", 1, "left_behind=1");
	p.verb("destroy_ah", "ah", 2, "left_behind=1");
	p.verb("destroy_ah", "ah", 3, "left_behind=0");
	p.destroy_qp("left_behind=1 sends=4 recvs=0 send_cqes=0 recv_cqes=0");
	EXPECT_EQ(p.found(), "left-behind 2 destroy_ah\nleft-behind 1 destroy_qp\n");
}

/// An HCA goes by a process that has not made the objects on it.
TEST(Manners, NothingOfARemoval)
{
	Program p;
	p.verb("dealloc_pd", "pd", 1, "left_behind=1 removed=1");
	p.verb("dereg_mr", "mr", 1, "key=0xabc left_behind=0 requests=2 removed=1");
	p.destroy_qp("left_behind=0 sends=4 recvs=0 send_cqes=0 recv_cqes=0 removed=1");
	EXPECT_EQ(p.found(), "");
	EXPECT_FALSE(p.watcher.has_seen());
}

TEST(Manners, ByProcess)
{
	Program p;
	p.modify_qp("timeout=32");
	p.event("verb", "pid=99 verb=modify_qp object=qp number=18 result=OK took_ns=1 "
			"timeout=32");
	EXPECT_EQ(p.watcher.findings().size(), 2U);
}

TEST(Manners, WhatIsLostIsNotGuessed)
{
	Program p;
	p.create_qp();
	for (int i = 0; i < 3; ++i)
		p.post(i, "RDMA_WRITE", "0x0");
	p.complete(1, "SEND");
	p.watcher.take(*parse_trace_line("CPU:1 [LOST 23 EVENTS]"));
	p.post(4, "RDMA_WRITE", "0x0");
	p.verb("destroy_cq", "cq", 3, "left_behind=0 cqes=1");
	EXPECT_EQ(p.found(), "");
	EXPECT_EQ(p.watcher.missed(), 23U);
}

/// Program's events are of thread 4712, at 5.000001.
TEST(Manners, StackOfTheCallBefore)
{
	for (const bool comes_first : {false, true}) {
		Program p;
		const auto wide = [&] { p.modify_qp("timeout=32"); };
		if (!comes_first)
			wide();
		p.watcher.take_told("call\t4711\t4712\t4.000001\tx\tmodify_qp\t/tmp/a+0x1");
		p.watcher.take_told("call\t4711\t4712\t5.000000\tx\tmodify_qp\t/tmp/a+0x2");
		p.watcher.take_told("call\t4711\t4712\t5.000000\tx\tdestroy_qp\t/tmp/a+0x3");
		p.watcher.take_told("call\t4711\t4713\t5.000001\tx\tmodify_qp\t/tmp/a+0x4");
		p.watcher.take_told("call\t4711\t4712\t5.000002\tx\tmodify_qp\t/tmp/a+0x5");
		if (comes_first)
			wide();
		EXPECT_EQ(p.found(), "wide-field 1 modify_qp timeout 32\n");
		p.expect_stack_of(2);
	}
}

/// The fourth one of four: the module sees work requests later, on any thread.
TEST(Manners, StackOfThePost)
{
	for (const bool comes_first : {false, true}) {
		Program p;
		if (!comes_first)
			p.post_bad_qkey(3);
		p.watcher.take_told("post\t4711\t4700\t4.000001\tx\tpib0 17 0\t/tmp/a+0x1");
		p.watcher.take_told("post\t4711\t4700\t4.000002\tx\tpib0 17 2\t/tmp/a+0x2");
		p.watcher.take_told("post\t4711\t4700\t4.000003\tx\tpib0 17 4\t/tmp/a+0x3");
		p.watcher.take_told("post\t4711\t4700\t4.000003\tx\tpib0 18 3\t/tmp/a+0x4");
		p.watcher.take_told("post\t4711\t4700\t4.000003\tx\tpib1 17 3\t/tmp/a+0x5");
		p.watcher.take_told("post\t4712\t4700\t4.000003\tx\tpib0 17 3\t/tmp/a+0x6");
		p.watcher.take_told("post\t4711\t4700\t5.000002\tx\tpib0 17 0\t/tmp/a+0x7");
		p.watcher.take_told("post\t4711\t4700\t4.000003\tx\tpib0 17\t/tmp/a+0x8");
		p.watcher.take_told("call\t4711\t4712\t4.000004\tx\tqkey\t/tmp/a+0x9");
		if (comes_first)
			p.post_bad_qkey(3);
		EXPECT_EQ(p.found(), "qkey-top-bit 1 qkey 0x80000001\n");
		p.expect_stack_of(2);
	}
}

/// Of a queue pair that posts from one place, among others whose places change.
TEST(Manners, StackOfAPostLongAgo)
{
	Program p;
	const auto told = [&](std::string_view post, int offset) {
		p.watcher.take_told(fmt::format("post\t4711\t4700\t4.000001\tx\tpib0 {}\t/tmp/a+{}",
						post, offset));
	};
	told("17 0", 1);
	told("17 5", 2);
	for (int i = 0; i < 3000; ++i)
		told(fmt::format("18 {}", i), 3);
	p.post_bad_qkey(6000);
	p.expect_stack_of(2);
}

/// Another one has its number, and nothing was told of it.
TEST(Manners, NoStackOfAQueuePairThatIsGone)
{
	for (const int others : {0, 3000}) {
		Program p;
		p.watcher.take_told("post\t4711\t4700\t4.000001\tx\tpib0 17 0\t/tmp/a+0x1");
		for (int i = 0; i < others; ++i)
			p.watcher.take_told(fmt::format(
				"post\t4711\t4700\t4.000002\tx\tpib0 18 {}\t/tmp/a+0x2", i));
		p.destroy_qp(kGone);
		p.post_bad_qkey(0);
		EXPECT_TRUE(p.watcher.findings().front().first.stack.empty());
	}
}

TEST(Manners, NoStackOfWhatTheKernelDestroys)
{
	Program p;
	p.create_qp();
	p.complete(1, "SEND");
	p.watcher.take_told("call\t4711\t4712\t4.000001\tx\tdestroy_qp\t/tmp/a+0x1");
	p.destroy_qp("left_behind=1 sends=0 recvs=0 send_cqes=1 recv_cqes=1");
	p.watcher.take_told("call\t4711\t4712\t4.000002\tx\tdestroy_qp\t/tmp/a+0x2");
	ASSERT_EQ(p.found(),
		  "left-behind 1 destroy_qp\nunpolled 1 destroy_qp with 1 of its completions\n");
	EXPECT_TRUE(p.watcher.findings()[1].first.stack.empty());
}

TEST(Manners, ToldByThePreloadedLibrary)
{
	Program p;
	p.watcher.take_told("unacked-event");
	EXPECT_FALSE(p.watcher.has_library());
	p.watcher.take_told("loaded\t4711\t4711\t4.000001\tprogram\tibv_open_device");
	EXPECT_TRUE(p.watcher.has_library());
	p.watcher.take_told("unacked-event\t4711\t4712\t5.000001\tprogram\tibv_destroy_cq with 2"
			    "\t/tmp/a+b+0x12\tx\tx+\t/lib/c.so+0xff");
	p.watcher.take_told("unacked-event\t4711\t4712\t5.000002\tprogram\tthe end");
	p.watcher.take_told("wide-psn\t4711\t4711\t5.000003\tprogram\tsq_psn 16777216");
	p.watcher.take_told("fork-unsafe\t4711\t4711\t6.000001\tprogram\tfork");
	p.watcher.take_told("buffer-changed\t4711\t4711\t7.000001\tprogram\twr_id 7");
	p.watcher.take_told("reserved-bits\t4711\t4711\t8.000001\tprogram\tsend_flags 0x200");
	p.watcher.take_told("lone-flag\t4711\t4711\t9.000001\tprogram\taccess 0x2");
	p.watcher.take_told("empty-field\t4711\t4711\t9.000002\tprogram\tcq");
	p.watcher.take_told("large-mtu\t4711\t4711\t9.000003\tprogram\tMTU 8192");
	p.watcher.take_told("path-ignored\t4711\t4711\t9.000004\tprogram\tsl 1");
	for (const auto *none : {"", "fork-unsafe", "fork-unsafe\t1\t2",
				 "left-behind\t1\t1\t1\tx\ty", "unacked-event\t1\t1\t1\tx"})
		p.watcher.take_told(none);
	EXPECT_EQ(
		p.found(),
		"unacked-event 2 ibv_destroy_cq with 2\nwide-psn 1 sq_psn 16777216\nfork-unsafe 1 fork\n"
		"buffer-changed 1 wr_id 7\n"
		"reserved-bits 1 send_flags 0x200\n"
		"lone-flag 1 access 0x2\nempty-field 1 cq\nlarge-mtu 1 MTU 8192\npath-ignored 1 sl 1\n");
	EXPECT_EQ(p.watcher.findings().front().first.comm, "program");
	EXPECT_EQ(p.watcher.findings().front().first.tid, 4712U);
	const auto &stack = p.watcher.findings().front().first.stack;
	ASSERT_EQ(stack.size(), 2U);
	EXPECT_EQ(stack[0].file, "/tmp/a+b");
	EXPECT_EQ(stack[0].offset, 0x12U);
	EXPECT_EQ(stack[1].file, "/lib/c.so");
	EXPECT_FALSE(p.watcher.has_seen());
}

TEST(Manners, MalformedNumbersAreNone)
{
	Program p;
	p.create_qp();
	p.modify_qp("retry_cnt=0x dlid=x dest_qpn= timeout=99999999999999999999999");
	EXPECT_EQ(p.found(), "");
}

} // namespace
} // namespace pib::ctl
