// SPDX-License-Identifier: GPL-2.0
/*
 * The interface below libibverbs: doorbells of processes that are not the one that opened the
 * device, raw commands with requests that a newer provider might make, answers that cannot be
 * delivered, a device that goes.
 */
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <rdma/ib_user_verbs.h>
#include <span>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "end.h"
#include "ioctl.h"
#include "own_device.h"
#include "probe.h"
#include "suites.h"

namespace ops {

namespace {

/* ---- doorbells */

void write_and_read(Pair &p)
{
	fill(p.a.mem.bytes(0, 64), 7);
	memset(p.b.mem.at(), 0, 64);
	p.a.send(p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 64));
	p.a.expect({});
	check_filled(p.b.mem.bytes(0, 64), 7);
}

/* A queue in error asks for a doorbell of the receive queue. */
void flush(Pair &p)
{
	p.b.recv({p.b.sge(0, 8)}, 77);
	p.b.expect_recv({.status = IBV_WC_WR_FLUSH_ERR, .id = 77});
}

void after_setuid(const Env &env)
{
	Pair p(env), broken(env);
	write_and_read(p);
	broken.b.to(IBV_QPS_ERR);
	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		FAIL("cannot change the user");
	write_and_read(p);
	flush(broken);
}

/* Runs in a child; what it throws fails here. */
void in_child(const std::function<void()> &what)
{
	int fds[2];
	CHECK_EQ(pipe(fds), 0);
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		std::string text;
		try {
			what();
		} catch (const std::exception &failure) {
			text = failure.what();
		}
		_exit(write(fds[1], text.data(), text.size()) < 0 || !text.empty());
	}
	close(fds[1]);
	std::string text;
	char buffer[512];
	for (ssize_t n; (n = read(fds[0], buffer, sizeof(buffer))) > 0;)
		text.append(buffer, n);
	close(fds[0]);
	int status = 0;
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	if (status)
		FAIL("in the child: " + text);
}

/* The child's data is inline: registered memory is the parent's. */
void inherited(const Env &env)
{
	EndOptions o;
	o.cap.max_inline_data = 64;
	Pair p(env, o), broken(env);
	broken.b.to(IBV_QPS_ERR);
	memset(p.b.mem.at(), 0, 64);
	in_child([&] {
		fill(p.a.mem.bytes(0, 64), 7);
		Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 64);
		wr.flags |= IBV_SEND_INLINE;
		p.a.send(wr);
		p.a.expect({});
		flush(broken);
	});
	check_filled(p.b.mem.bytes(0, 64), 7);
	write_and_read(p);
}

/*
 * A process that was handed the device makes a QP of its own. Its states are changed by a command that ib_core
 * takes from whoever has opened the device: here by a stand-in with the other's handle.
 */
void imported(const Env &env)
{
	if (env.two_devices())
		throw Skip("one device will do");
	End own(env.open_a(), {});
	int to_child[2], from_child[2];
	CHECK_EQ(pipe(to_child), 0);
	CHECK_EQ(pipe(from_child), 0);
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		close(from_child[0]);
		close(to_child[1]);
		int rc = 1;
		ibv_context *ctx = ibv_import_device(dup(own.dev.ctx->cmd_fd));
		ibv_pd *pd = ctx ? ibv_alloc_pd(ctx) : nullptr;
		ibv_cq *cq = ctx ? ibv_create_cq(ctx, 8, nullptr, nullptr, 0) : nullptr;
		ibv_qp_init_attr attr{};
		attr.send_cq = attr.recv_cq = cq;
		attr.cap = {4, 4, 1, 1, 16};
		attr.qp_type = IBV_QPT_RC;
		ibv_qp *qp = pd && cq ? ibv_create_qp(pd, &attr) : nullptr;
		uint32_t answer[2] = {qp ? qp->handle : 0, qp ? qp->qp_num : 0};
		char go;
		if (write(from_child[1], answer, sizeof(answer)) != sizeof(answer) || !qp ||
		    read(to_child[0], &go, 1) != 1)
			_exit(rc);
		qp->state = IBV_QPS_RTS;
		uint64_t value = 0x1122334455667788;
		ibv_sge sge{reinterpret_cast<uintptr_t>(&value), 8, 0};
		ibv_send_wr wr{}, *bad;
		wr.sg_list = &sge;
		wr.num_sge = 1;
		wr.opcode = IBV_WR_SEND;
		wr.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
		rc = ibv_post_send(qp, &wr, &bad);
		_exit(rc);
	}
	close(from_child[1]);
	uint32_t answer[2] = {};
	CHECK_EQ(read(from_child[0], answer, sizeof(answer)), sizeof(answer));
	CHECK(answer[1] != 0);
	close(from_child[0]);
	close(to_child[0]);

	/* More than what any provider has around its QP. */
	std::vector<uint64_t> memory(512);
	auto *other = reinterpret_cast<ibv_qp *>(memory.data() + 128);
	other->context = own.dev.ctx.get();
	other->handle = answer[0];
	other->qp_num = answer[1];
	other->qp_type = IBV_QPT_RC;
	auto modify = [](ibv_qp *qp, ibv_qp_attr a, int mask) {
		CHECK_EQ(ibv_modify_qp(qp, &a, mask), 0);
	};
	for (auto [qp, peer] : {std::pair{other, own.qp.get()}, std::pair{own.qp.get(), other}}) {
		ibv_qp_attr a{};
		a.qp_state = IBV_QPS_INIT;
		a.port_num = own.dev.port;
		modify(qp, a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
		a.qp_state = IBV_QPS_RTR;
		a.ah_attr = own.address_of(own);
		a.path_mtu = own.opt.mtu;
		a.dest_qp_num = peer->qp_num;
		a.max_dest_rd_atomic = 1;
		a.min_rnr_timer = 1;
		modify(qp, a,
		       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			       IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
		a.qp_state = IBV_QPS_RTS;
		a.timeout = 14;
		a.retry_cnt = a.rnr_retry = 7;
		a.max_rd_atomic = 1;
		modify(qp, a,
		       IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			       IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
	}
	own.recv({own.sge(0, 8)}, 5);
	CHECK_EQ(write(to_child[1], "", 1), 1);
	own.expect_recv({.id = 5, .byte_len = 8});
	int status = 0;
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

/* ---- raw commands */

/* Data that a newer provider might add: 0 says nothing, else an error beats silence. */
template <typename Request>
void unknown_refused(const char *what, int fd, unsigned number, const Request &r, size_t known = 0)
{
	std::vector<uint8_t> more(known + 8);
	auto run = [&] { return command(fd, number, r, sizeof(answer_room), more); };

	more[known + 5] = 1;
	if (int err = run(); err != EOPNOTSUPP)
		FAIL(std::string(what) + " with an unknown request: " + strerror(err));
	more[known + 5] = 0;
	if (int err = run())
		FAIL(std::string(what) + " with nothing asked for: " + strerror(err));
}

/* Objects that are made by raw commands go with the process, and so do those that they use. */
void unknown_requests(const Env &env)
{
	End &e = *new End(env.open_a(), {});
	int fd = e.dev.ctx->cmd_fd;
	End &srq_end = *new End(env.open_a(), {.srq_wr = 16});
	int srq_fd = srq_end.dev.ctx->cmd_fd;

	unknown_refused("alloc_pd", fd, IB_USER_VERBS_CMD_ALLOC_PD, request<ib_uverbs_alloc_pd>());

	auto cq = request<ib_uverbs_create_cq>();
	cq.cqe = 8;
	cq.comp_channel = -1;
	unknown_refused("create_cq", fd, IB_USER_VERBS_CMD_CREATE_CQ, cq);

	auto resize = request<ib_uverbs_resize_cq>();
	resize.cq_handle = e.cq->handle;
	resize.cqe = e.cq->cqe;
	unknown_refused("resize_cq", fd, IB_USER_VERBS_CMD_RESIZE_CQ, resize);

	auto qp = request<ib_uverbs_create_qp>();
	qp.pd_handle = e.pd->handle;
	qp.send_cq_handle = qp.recv_cq_handle = e.cq->handle;
	qp.max_send_wr = qp.max_recv_wr = qp.max_send_sge = qp.max_recv_sge = 1;
	qp.qp_type = IBV_QPT_RC;
	unknown_refused("create_qp", fd, IB_USER_VERBS_CMD_CREATE_QP, qp);

	ib_uverbs_modify_qp modify{};
	modify.qp_handle = e.qp->handle;
	modify.attr_mask = IBV_QP_STATE;
	modify.qp_state = IBV_QPS_RESET;
	unknown_refused("modify_qp", fd, IB_USER_VERBS_CMD_MODIFY_QP, modify);

	auto mr = request<ib_uverbs_reg_mr>();
	mr.start = mr.hca_va = e.mem.addr();
	mr.length = 4096;
	mr.pd_handle = e.pd->handle;
	mr.access_flags = IBV_ACCESS_LOCAL_WRITE;
	unknown_refused("reg_mr", fd, IB_USER_VERBS_CMD_REG_MR, mr);

	auto rereg = request<ib_uverbs_rereg_mr>();
	rereg.mr_handle = e.mem.mr()->handle;
	rereg.flags = IBV_REREG_MR_CHANGE_ACCESS;
	rereg.access_flags = all_access;
	unknown_refused("rereg_mr", fd, IB_USER_VERBS_CMD_REREG_MR, rereg);

	auto mw = request<ib_uverbs_alloc_mw>();
	mw.pd_handle = e.pd->handle;
	mw.mw_type = IBV_MW_TYPE_1;
	unknown_refused("alloc_mw", fd, IB_USER_VERBS_CMD_ALLOC_MW, mw);

	auto srq = request<ib_uverbs_create_srq>();
	srq.pd_handle = e.pd->handle;
	srq.max_wr = srq.max_sge = 1;
	unknown_refused("create_srq", fd, IB_USER_VERBS_CMD_CREATE_SRQ, srq);

	ib_uverbs_modify_srq limit{};
	limit.srq_handle = srq_end.srq->handle;
	limit.attr_mask = IBV_SRQ_LIMIT;
	limit.srq_limit = 1;
	unknown_refused("modify_srq", srq_fd, IB_USER_VERBS_CMD_MODIFY_SRQ, limit, 16);

	auto ah = request<ib_uverbs_create_ah>();
	ah.pd_handle = e.pd->handle;
	ah.attr.dlid = e.dev.port_attr.lid;
	ah.attr.port_num = e.dev.port;
	unknown_refused("create_ah", fd, IB_USER_VERBS_CMD_CREATE_AH, ah);

	auto xrcd = request<ib_uverbs_open_xrcd>();
	xrcd.fd = -1;
	xrcd.oflags = O_CREAT;
	unknown_refused("open_xrcd", fd, IB_USER_VERBS_CMD_OPEN_XRCD, xrcd);
}

/* The place of the memory, the length of the mapping, and that of the memory. */
constexpr size_t dm_answer = 24;

Method alloc_dm(const void *answer, size_t length, uint32_t alignment = 0)
{
	return Method(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC)
		.object(UVERBS_ATTR_ALLOC_DM_HANDLE)
		.value<uint64_t>(UVERBS_ATTR_ALLOC_DM_LENGTH, 4096)
		.value<uint32_t>(UVERBS_ATTR_ALLOC_DM_ALIGNMENT, alignment)
		.pointer(Method::drivers, answer, length);
}

/* A newer provider may ask for more, in attributes of its own and in a longer answer. */
void unknown_attributes(const Env &env)
{
	Device dev = env.open_a();
	int fd = dev.ctx->cmd_fd;
	uint8_t answer[64];

	unknown_attributes_refused("alloc_dm", fd, alloc_dm(answer, dm_answer));
	memset(answer, 0xff, sizeof(answer));
	CHECK_EQ(alloc_dm(answer, sizeof(answer)).run(fd), 0);
	CHECK(std::ranges::all_of(std::span(answer).subspan(dm_answer),
				  [](uint8_t byte) { return byte == 0; }));
	CHECK_EQ(alloc_dm(answer, dm_answer - 1).run(fd), EINVAL);
	CHECK_EQ(alloc_dm(answer, dm_answer, 13).run(fd), EINVAL);
}

class Fd {
public:
	explicit Fd(int fd) : fd_(fd) { CHECK(fd >= 0); }
	~Fd() { close(fd_); }
	Fd(const Fd &) = delete;
	operator int() const { return fd_; }

private:
	int fd_;
};

/* Features are what both sides know: of what a process does not ask for it is told nothing. */
void features(const Env &env)
{
	Device dev = env.open_a();
	std::string path = std::string("/dev/infiniband/") + dev.ctx->device->dev_name;
	auto get = request<ib_uverbs_get_context>();
	/* Of the answer, 8 bytes are the core's, then come version, inline and features. */
	uint64_t &answered = answer_room[2];
	auto context = [&](const std::vector<uint8_t> &asked) {
		Fd fd(open(path.c_str(), O_RDWR));
		answered = ~0ULL;
		return command(fd, IB_USER_VERBS_CMD_GET_CONTEXT, get, 24, asked);
	};

	CHECK_EQ(context({}), 0);
	CHECK_EQ(answered, 0u);
	CHECK_EQ(context(std::vector<uint8_t>(8, 0xff)), 0);
	CHECK_EQ(answered, 1u);
	CHECK_EQ(context({1, 0, 0, 0, 0, 0, 0, 0}), 0);
	CHECK_EQ(answered, 1u);
	CHECK_EQ(context({2, 0, 0, 0, 0, 0, 0, 0}), 0);
	CHECK_EQ(answered, 0u);
	CHECK_EQ(context(std::vector<uint8_t>(16, 0xff)), EOPNOTSUPP);
	std::vector<uint8_t> zero_behind(16);
	zero_behind[0] = 1;
	CHECK_EQ(context(zero_behind), 0);
	CHECK_EQ(answered, 1u);
}

/* A provider without features does this: it rings by a post command without work requests. */
void ring_by_write(const Env &env)
{
	Pair p(env);
	auto send = request<ib_uverbs_post_send>();
	send.qp_handle = p.a.qp->handle;
	send.wqe_size = sizeof(ib_uverbs_send_wr);
	CHECK_EQ(command(p.a.dev.ctx->cmd_fd, IB_USER_VERBS_CMD_POST_SEND, send, 4), 0);
	auto recv = request<ib_uverbs_post_recv>();
	recv.qp_handle = p.b.qp->handle;
	recv.wqe_size = sizeof(ib_uverbs_recv_wr);
	CHECK_EQ(command(p.b.dev.ctx->cmd_fd, IB_USER_VERBS_CMD_POST_RECV, recv, 4), 0);
	p.ping();
}

/* ---- answers that cannot be delivered */

/* A page, and one behind it that is not there. */
class Edge {
public:
	Edge() :
		base_(static_cast<uint8_t *>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE,
						  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)))
	{
		CHECK_EQ(mprotect(base_ + 4096, 4096, PROT_NONE), 0);
	}
	~Edge() { munmap(base_, 8192); }
	Edge(const Edge &) = delete;
	/* So that this many bytes are there. */
	uint64_t addr(size_t room) const
	{
		return reinterpret_cast<uintptr_t>(base_ + 4096 - room);
	}

private:
	uint8_t *base_;
};

/* Memory of rings, of whomever. */
size_t rings()
{
	std::ifstream in("/proc/vmallocinfo");
	if (!in)
		throw Skip("no /proc/vmallocinfo");
	size_t n = 0;
	for (std::string line; std::getline(in, line);)
		n += line.find("pib_ring_alloc") != std::string::npos ||
		     line.find("[pib]") != std::string::npos;
	return n;
}

void answers_lost(const Env &env)
{
	End e(env.open_a(), {.srq_wr = 16});
	int fd = e.dev.ctx->cmd_fd;
	Edge edge;
	ib_uverbs_create_cq cq{};
	cq.cqe = 1000;
	cq.comp_channel = -1;
	cq.response = edge.addr(sizeof(ib_uverbs_create_cq_resp));
	ib_uverbs_create_qp qp{};
	qp.pd_handle = e.pd->handle;
	qp.send_cq_handle = qp.recv_cq_handle = e.cq->handle;
	qp.max_send_wr = qp.max_recv_wr = 100;
	qp.max_send_sge = qp.max_recv_sge = 4;
	qp.qp_type = IBV_QPT_RC;
	qp.response = edge.addr(sizeof(ib_uverbs_create_qp_resp));
	ib_uverbs_create_srq srq{};
	srq.pd_handle = e.pd->handle;
	srq.max_wr = 100;
	srq.max_sge = 4;
	srq.response = edge.addr(sizeof(ib_uverbs_create_srq_resp));
	ib_uverbs_resize_cq resize{};
	resize.cq_handle = e.cq->handle;
	resize.cqe = 1000;
	resize.response = edge.addr(sizeof(ib_uverbs_resize_cq_resp));
	ib_uverbs_modify_srq modify{};
	modify.srq_handle = e.srq->handle;
	modify.attr_mask = IBV_SRQ_MAX_WR;
	modify.max_wr = 100;
	uint64_t ring_addr = edge.addr(0);
	std::vector<uint8_t> to_nowhere(reinterpret_cast<uint8_t *>(&ring_addr),
					reinterpret_cast<uint8_t *>(&ring_addr + 1));
	ib_uverbs_create_ah ah{};
	ah.pd_handle = e.pd->handle;
	ah.attr.dlid = e.dev.port_attr.lid;
	ah.attr.port_num = e.dev.port;
	ah.response = edge.addr(sizeof(ib_uverbs_create_ah_resp));

	size_t before = rings();
	for (int i = 0; i < 20; i++) {
		CHECK_EQ(command(fd, IB_USER_VERBS_CMD_CREATE_CQ, cq, 64), EFAULT);
		CHECK_EQ(command(fd, IB_USER_VERBS_CMD_CREATE_QP, qp, 128), EFAULT);
		CHECK_EQ(command(fd, IB_USER_VERBS_CMD_CREATE_SRQ, srq, 64), EFAULT);
		CHECK_EQ(command(fd, IB_USER_VERBS_CMD_RESIZE_CQ, resize, 64), EFAULT);
		CHECK_EQ(command(fd, IB_USER_VERBS_CMD_MODIFY_SRQ, modify, 0, to_nowhere), EFAULT);
		CHECK_EQ(command(fd, IB_USER_VERBS_CMD_CREATE_AH, ah, 16), EFAULT);
	}
	/* others' may come and go meanwhile, but not by the score */
	CHECK(rings() < before + 20);
	Pair p(env);
	p.ping();
}

/* ---- the device goes */

struct Mapped {
	volatile uint32_t *words;
	size_t size;
};

/* The rings, as this process has them mapped. */
std::vector<Mapped> mapped_rings()
{
	std::vector<Mapped> found;
	std::ifstream in("/proc/self/maps");
	for (std::string line; std::getline(in, line);) {
		if (line.find("/infiniband/uverbs") == std::string::npos)
			continue;
		size_t end;
		uintptr_t from = std::stoull(line, &end, 16),
			  to = std::stoull(line.substr(end + 1), nullptr, 16);
		found.push_back({reinterpret_cast<volatile uint32_t *>(from), to - from});
	}
	return found;
}

constexpr unsigned ring_producer = 0, ring_consumer = 16, ring_busy = 17;

void device_goes(const Env &)
{
	setenv("RDMAV_ALLOW_DISASSOC_DESTROY", "1", 1);
	OwnDevice own;
	Env env{.dev_a = own.name, .dev_b = own.name};
	/* a LID takes a moment */
	for (int i = 0; i < 1000 && env.open_a().port_attr.state != IBV_PORT_ACTIVE; i++)
		usleep(10000);
	Pair p(env, {.recv_cqe = 64}), shared(env, {.srq_wr = 16});
	p.ping();
	p.b.recv({p.b.sge(0, 8)});
	/* as when the kernel is just about to look */
	for (auto ring : mapped_rings())
		ring.words[ring_busy] = 1;
	own.remove();
	CHECK(own.gone);

	CHECK(p.a.try_send(p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 8)) != 0);
	CHECK(p.b.try_recv({p.b.sge(0, 8)}) != 0);
	CHECK(shared.a.try_recv({shared.a.sge(0, 8)}) != 0);
	ibv_wc wc[8];
	for (ibv_cq *cq : {p.a.cq.get(), p.b.rcq.get()}) {
		while (int n = ibv_poll_cq(cq, 8, wc)) {
			CHECK(n > 0);
			for (int i = 0; i < n; i++)
				CHECK_EQ(wc[i].status, IBV_WC_WR_FLUSH_ERR);
		}
		ibv_req_notify_cq(cq, 0);
	}
	/* it goes with its cable in: the port has had no error */
	p.a.expect_event(IBV_EVENT_DEVICE_FATAL);
}

/* ---- device memory */

void device_memory_bytes(const Env &env)
{
	Device dev = env.open_a();
	ibv_alloc_dm_attr attr{};
	attr.length = 4096;
	Dm dm(made(ibv_alloc_dm(dev.ctx.get(), &attr), "ibv_alloc_dm"));
	uint8_t out[256], in[256];
	fill(out, 3);
	for (size_t offset : {0, 4, 4096 - 104})
		for (size_t length : {4, 12, 104}) {
			CHECK_EQ(ibv_memcpy_to_dm(dm.get(), offset, out, length), 0);
			memset(in, 0, sizeof(in));
			CHECK_EQ(ibv_memcpy_from_dm(in, dm.get(), offset, length), 0);
			CHECK(!memcmp(in, out, length));
		}
	/* words only, as pib(7) says */
	CHECK_EQ(ibv_memcpy_to_dm(dm.get(), 1, out, 4), EINVAL);
	CHECK_EQ(ibv_memcpy_from_dm(in, dm.get(), 0, 3), EINVAL);
	CHECK_EQ(ibv_memcpy_to_dm(dm.get(), 4096 - 100, out, 104), EINVAL);
	CHECK_EQ(ibv_memcpy_from_dm(in, dm.get(), 4100, 0), EINVAL);
}

/* ---- completion queues that are resized below libibverbs */

/* The process keeps the first ring mapped, which says nothing any more once the CQ is resized. */
struct RawCq {
	RawCq(const Device &dev, int cqe) : fd(dev.ctx->cmd_fd)
	{
		auto before = mapped_rings();
		cq.reset(made(ibv_create_cq(dev.ctx.get(), cqe, nullptr, nullptr, 0),
			      "ibv_create_cq"));
		auto fresh = mapped_rings();
		std::erase_if(fresh, [&](const Mapped &m) {
			return std::ranges::any_of(
				before, [&](const Mapped &b) { return b.words == m.words; });
		});
		CHECK_EQ(fresh.size(), 1u);
		words = fresh[0].words;
	}
	/* As if so many completions had come that were not polled. */
	void lie(uint32_t n) { words[ring_consumer] = words[ring_producer] - n; }
	/* Returns 0 or the errno. */
	int resize(int cqe)
	{
		auto r = request<ib_uverbs_resize_cq>();
		r.cq_handle = cq->handle;
		r.cqe = cqe;
		return command(fd, IB_USER_VERBS_CMD_RESIZE_CQ, r, sizeof(answer_room));
	}

	int fd;
	Cq cq;
	volatile uint32_t *words;
};

/* A process that lies about what it has polled: only its own completions are strange. */
void resize_lied(const Env &env)
{
	Pair p(env);
	Device dev = env.open_a();
	RawCq raw(dev, dev.device_attr.orig_attr.max_cqe);
	const int cqe = raw.cq->cqe;
	raw.lie(cqe);
	CHECK_EQ(raw.resize(cqe), 0);
	raw.lie(2 * cqe);
	CHECK_EQ(raw.resize(cqe), 0);
	CHECK_EQ(raw.resize(16), EINVAL);
	p.ping();
}

/* How often the CPU is offered to others while a CQ is resized, empty or full. */
size_t offers(const Device &dev, int cqe, bool full)
{
	RawCq raw(dev, cqe);
	if (full)
		raw.lie(raw.cq->cqe);
	Probe offered("__cond_resched", Probe::this_thread);
	CHECK_EQ(raw.resize(raw.cq->cqe), 0);
	return offered.calls();
}

/*
 * Entries are moved with interrupts on, but for the last 256: after as many the CPU is offered to others, which nobody does with
 * interrupts off.
 */
void resized_in_batches(const Env &env)
{
	constexpr int cqe = 1 << 16, batch = 256;
	Device dev = env.open_a();
	const size_t empty = offers(dev, cqe, false), full = offers(dev, cqe, true);
	std::cout << "# empty: " << empty << ", full: " << full << std::endl;
	if (!empty)
		throw Skip("this kernel takes a CPU without asking");
	/* Memory is made in both runs, which offers the CPU as well, maybe not equally often. */
	CHECK(full >= empty + cqe / batch / 2);
}

} // namespace

void add_interface(Suite &suite)
{
	suite.add("interface.post_after_setuid", after_setuid);
	suite.add("interface.post_in_child", inherited);
	suite.add("interface.post_imported", imported);
	suite.add("interface.unknown_requests", unknown_requests);
	suite.add("interface.unknown_attributes", unknown_attributes);
	suite.add("interface.features", features);
	suite.add("interface.ring_by_write", ring_by_write);
	suite.add("interface.answers_lost", answers_lost);
	suite.add("interface.device_goes", device_goes);
	suite.add("interface.resize_lied", resize_lied);
	suite.add("interface.resized_in_batches", resized_in_batches);
	suite.add("interface.device_memory_bytes", device_memory_bytes);
}

} // namespace ops
