// SPDX-License-Identifier: GPL-2.0
/* Regions over the memory of another device. */
#include "dmabuf.h"
#include "end.h"
#include "ioctl.h"
#include "probe.h"
#include "suites.h"

namespace ops {

namespace {

Mr reg(ibv_pd *pd, const GpuBuffer &buffer, size_t offset, size_t length, uint64_t iova,
       int access = all_access)
{
	return Mr(made(ibv_reg_dmabuf_mr(pd, offset, length, iova, buffer.fd, access),
		       "ibv_reg_dmabuf_mr"));
}

/* Both ends' memory is a device's: it is written to, read from, sent and received. */
void used(const Env &env)
{
	Pair p(env);
	GpuBuffer near(1 << 18), far(1 << 18);
	constexpr size_t start = 8192, length = 200000;
	Mr src = reg(p.a.pd.get(), near, 0, 1 << 18, 0),
	   dst = reg(p.b.pd.get(), far, start, length, 0x5000);
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 0);
	wr.sg = {ibv_sge{100, 150000, src->lkey}};
	wr.addr = 0x5000 + 33;
	wr.rkey = dst->rkey;
	fill(near.bytes(100, 150000), 1);
	p.a.send(wr);
	p.a.expect({});
	check_filled(far.bytes(start + 33, 150000), 1);
	fill(far.bytes(start + 33, 150000), 2);
	wr.op = IBV_WR_RDMA_READ;
	p.a.send(wr);
	p.a.expect({});
	check_filled(near.bytes(100, 150000), 2);

	p.b.recv({ibv_sge{0x5000 + 1, 60000, dst->lkey}});
	Wr send = p.send_wr(0, 0);
	send.sg = {ibv_sge{3, 60000, src->lkey}};
	fill(near.bytes(3, 60000), 3);
	p.a.send(send);
	p.a.expect({});
	p.b.expect_recv({.byte_len = 60000u});
	check_filled(far.bytes(start + 1, 60000), 3);

	wr.addr = 0x5000 + length - 100;
	p.a.send(wr);
	p.a.expect({.status = IBV_WC_REM_ACCESS_ERR});
}

/* The buffer's last handle goes while it is registered: the memory stays. */
void outlived(const Env &env)
{
	Pair p(env);
	Mr mr;
	{
		GpuBuffer buffer(1 << 16);
		mr = reg(p.b.pd.get(), buffer, 0, 1 << 16, 0);
	}
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 1 << 16);
	wr.addr = 0;
	wr.rkey = mr->rkey;
	fill(p.a.mem.bytes(0, 1 << 16), 5);
	p.a.send(wr);
	p.a.expect({});
	memset(p.a.mem.at(), 0, 1 << 16);
	wr.op = IBV_WR_RDMA_READ;
	p.a.send(wr);
	p.a.expect({});
	check_filled(p.a.mem.bytes(0, 1 << 16), 5);
}

void refused(const Env &env)
{
	End e(env.open_a(), {});
	GpuBuffer buffer(1 << 16);
	ibv_pd *pd = e.pd.get();
	Mr fine = reg(pd, buffer, 0, 1 << 16, 0);
	CHECK(!ibv_reg_dmabuf_mr(pd, 0, (1 << 16) + 1, 0, buffer.fd, all_access));
	CHECK(!ibv_reg_dmabuf_mr(pd, 1 << 16, 1, 0, buffer.fd, all_access));
	CHECK(!ibv_reg_dmabuf_mr(pd, 0, 4096, 0, 0, all_access));
	CHECK(!ibv_reg_dmabuf_mr(pd, 0, 8192, -4096ULL, buffer.fd, all_access));
	CHECK(!ibv_reg_dmabuf_mr(pd, 0, 4096, 0, buffer.fd, IBV_ACCESS_REMOTE_WRITE));
}

/* A descriptor that is for reading only is not a way to write. */
void read_only(const Env &env)
{
	Pair p(env);
	GpuBuffer buffer(1 << 16, O_RDONLY);
	ibv_pd *pd = p.b.pd.get();
	CHECK(!ibv_reg_dmabuf_mr(pd, 0, 4096, 0, buffer.fd, all_access));
	CHECK_EQ(errno, EACCES);
	CHECK(!ibv_reg_dmabuf_mr(pd, 0, 4096, 0, buffer.fd, IBV_ACCESS_LOCAL_WRITE));
	Mr mr = reg(pd, buffer, 0, 1 << 16, 0, IBV_ACCESS_REMOTE_READ);
	fill(buffer.bytes(0, 1 << 16), 6);
	Wr wr = p.rdma_wr(IBV_WR_RDMA_READ, 0, 1 << 16);
	wr.addr = 0;
	wr.rkey = mr->rkey;
	p.a.send(wr);
	p.a.expect({});
	check_filled(p.a.mem.bytes(0, 1 << 16), 6);
}

/* The CPU copies at any time, so the exporter is told that its access begins with the region and ends with that. */
void announced(const Env &env)
{
	End e(env.open_a(), {});
	GpuBuffer buffer(1 << 16);
	Probe begins("dma_buf_begin_cpu_access", Probe::this_thread);
	Probe ends("dma_buf_end_cpu_access", Probe::this_thread);
	Mr mr = reg(e.pd.get(), buffer, 0, 1 << 16, 0);
	CHECK_EQ(begins.calls(), 1u);
	CHECK_EQ(ends.calls(), 0u);
	mr.reset();
	CHECK_EQ(begins.calls(), 1u);
	CHECK_EQ(ends.calls(), 1u);
}

/* A newer library might ask for this. The regions that are made go with the process. */
void unknown_attributes(const Env &env)
{
	End &e = *new End(env.open_a(), {});
	int fd = e.dev.ctx->cmd_fd;
	GpuBuffer buffer(1 << 16);
	uint32_t lkey, rkey;
	auto reg_dmabuf_mr = [&](uint32_t access) {
		return Method(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR)
			.object(UVERBS_ATTR_REG_DMABUF_MR_HANDLE)
			.object(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, e.pd->handle)
			.value<uint64_t>(UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 0)
			.value<uint64_t>(UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 4096)
			.value<uint64_t>(UVERBS_ATTR_REG_DMABUF_MR_IOVA, 0)
			.value<uint32_t>(UVERBS_ATTR_REG_DMABUF_MR_FD, buffer.fd)
			.value<uint32_t>(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, access)
			.pointer(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, &lkey, sizeof(lkey))
			.pointer(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, &rkey, sizeof(rkey));
	};

	unknown_attributes_refused("reg_dmabuf_mr", fd, reg_dmabuf_mr(IBV_ACCESS_LOCAL_WRITE));
	/* Pages of a device are not brought in on demand; the others mean nothing yet. */
	for (uint32_t flag : {uint32_t(IBV_ACCESS_ON_DEMAND), 1u << 19, 1u << 31})
		CHECK_EQ(reg_dmabuf_mr(IBV_ACCESS_LOCAL_WRITE | flag).run(fd), EINVAL);
}

} // namespace

void add_dmabuf(Suite &suite)
{
	suite.add("dmabuf.used", used);
	suite.add("dmabuf.outlived", outlived);
	suite.add("dmabuf.refused", refused);
	suite.add("dmabuf.read_only", read_only);
	suite.add("dmabuf.announced", announced);
	suite.add("dmabuf.unknown_attributes", unknown_attributes);
}

} // namespace ops
