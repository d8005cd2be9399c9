// SPDX-License-Identifier: GPL-2.0
/* Regions over the memory of another device, of which vgem stands in: the kernel's GPU without hardware. */
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "end.h"
#include "suites.h"

namespace ops {

namespace {

struct drm_version {
	int major, minor, patch;
	size_t name_len;
	char *name;
	size_t date_len;
	char *date;
	size_t desc_len;
	char *desc;
};
struct dumb_create {
	uint32_t height, width, bpp, flags, handle, pitch;
	uint64_t size;
};
struct dumb_map {
	uint32_t handle, pad;
	uint64_t offset;
};
struct prime {
	uint32_t handle, flags;
	int32_t fd;
};

constexpr unsigned long get_version = _IOWR('d', 0x00, drm_version),
			create_dumb = _IOWR('d', 0xb2, dumb_create),
			map_dumb = _IOWR('d', 0xb3, dumb_map),
			handle_to_fd = _IOWR('d', 0x2d, prime);

int open_vgem()
{
	for (int i = 0; i < 8; i++) {
		char name[16] = {}, path[32];
		drm_version version{};
		version.name = name;
		version.name_len = sizeof(name) - 1;
		snprintf(path, sizeof(path), "/dev/dri/card%d", i);
		int fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!ioctl(fd, get_version, &version) && !strcmp(name, "vgem"))
			return fd;
		close(fd);
	}
	throw Skip("no vgem");
}

/* A buffer of the device, mapped by the process too. */
class Buffer {
public:
	explicit Buffer(size_t size, uint32_t mode = O_RDWR) : drm_(open_vgem())
	{
		dumb_create create{.height = uint32_t(size / 4096), .width = 1024, .bpp = 32};
		CHECK(!ioctl(drm_, create_dumb, &create));
		size_ = create.size;
		prime p{.handle = create.handle, .flags = mode | O_CLOEXEC};
		CHECK(!ioctl(drm_, handle_to_fd, &p));
		fd = p.fd;
		dumb_map m{.handle = create.handle};
		CHECK(!ioctl(drm_, map_dumb, &m));
		void *at = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, drm_, m.offset);
		CHECK(at != MAP_FAILED);
		bytes_ = static_cast<uint8_t *>(at);
	}
	~Buffer()
	{
		munmap(bytes_, size_);
		close(fd);
		close(drm_);
	}
	Buffer(const Buffer &) = delete;
	Buffer &operator=(const Buffer &) = delete;
	std::span<uint8_t> bytes(size_t offset, size_t length) const
	{
		return {bytes_ + offset, length};
	}

	int fd;

private:
	int drm_;
	uint8_t *bytes_;
	size_t size_;
};

Mr reg(ibv_pd *pd, const Buffer &buffer, size_t offset, size_t length, uint64_t iova,
       int access = all_access)
{
	return Mr(made(ibv_reg_dmabuf_mr(pd, offset, length, iova, buffer.fd, access),
		       "ibv_reg_dmabuf_mr"));
}

/* Both ends' memory is a device's: it is written to, read from, sent and received. */
void used(const Env &env)
{
	Pair p(env);
	Buffer near(1 << 18), far(1 << 18);
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
		Buffer buffer(1 << 16);
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
	Buffer buffer(1 << 16);
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
	Buffer buffer(1 << 16, O_RDONLY);
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

} // namespace

void add_dmabuf(Suite &suite)
{
	suite.add("dmabuf.used", used);
	suite.add("dmabuf.outlived", outlived);
	suite.add("dmabuf.refused", refused);
	suite.add("dmabuf.read_only", read_only);
}

} // namespace ops
