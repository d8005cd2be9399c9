// SPDX-License-Identifier: GPL-2.0
/* Regions that change or go while windows are bound to them and peers write into them. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "threads.h"

namespace hostile {

namespace {

constexpr size_t page = 4096;

/* A file that may only be read, and must stay as it is. */
class Precious {
public:
	explicit Precious(size_t length) : length_(length)
	{
		char path[] = "/tmp/precious.XXXXXX";
		int fd = mkstemp(path);
		std::vector<uint8_t> bytes(length, content);
		CHECK(fd >= 0 && pwrite(fd, bytes.data(), length, 0) == (ssize_t)length);
		close(fd);
		fd_ = open(path, O_RDONLY);
		unlink(path);
	}
	~Precious() { close(fd_); }

	void *map_over(void *at) const
	{
		return mmap(at, length_, PROT_READ, MAP_SHARED | MAP_FIXED, fd_, 0);
	}
	void check() const
	{
		std::vector<uint8_t> bytes(page);
		CHECK(pread(fd_, bytes.data(), page, 0) == (ssize_t)page);
		ops::check_all(bytes, content);
	}

private:
	static constexpr uint8_t content = 0xc5;
	size_t length_;
	int fd_;
};

void *anonymous(size_t length)
{
	void *p = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(p != MAP_FAILED);
	return p;
}

ibv_wc_status wait_for(ops::End &e)
{
	return e.completion().status;
}

constexpr unsigned bindable = ops::all_access | IBV_ACCESS_MW_BIND;

/* Binds a window of @p.a to @mr, and writes through it from @p.b. */
void bind_and_write(ops::Pair &p, ibv_mr *mr, void *at, Tally &tally)
{
	ops::Mw mw(ops::made(ibv_alloc_mw(p.a.pd.get(), IBV_MW_TYPE_1), "ibv_alloc_mw"));
	ibv_mw_bind bind{1, IBV_SEND_SIGNALED, {mr, (uintptr_t)at, page, IBV_ACCESS_REMOTE_WRITE}};
	ibv_mw_bind unbind{2, IBV_SEND_SIGNALED, {mr, 0, 0, 0}};

	CHECK_EQ(ibv_bind_mw(p.a.qp.get(), mw.get(), &bind), 0);
	bool bound = wait_for(p.a) == IBV_WC_SUCCESS;
	tally.note("bind", bound);
	if (!bound)
		return;
	ops::Wr wr;
	wr.op = IBV_WR_RDMA_WRITE;
	wr.sg = {p.b.sge(0, page)};
	wr.addr = (uintptr_t)at;
	wr.rkey = mw->rkey;
	for (unsigned n = 0; n < 8; n++) {
		if (p.b.try_send(wr))
			break;
		bool written = wait_for(p.b) == IBV_WC_SUCCESS;
		tally.note("write through a window", written);
		if (!written)
			break;
	}
	if (!ibv_bind_mw(p.a.qp.get(), mw.get(), &unbind))
		wait_for(p.a);
}

} // namespace

/* One round: the region moves onto a read-only file while a window is being bound to it. */
void rereg_against_bind(const Options &o, Tally &tally)
{
	constexpr size_t length = 8 << 20;
	Precious file(length);
	ops::Pair p(one_device(o), {});
	Rng rng(o.seed);
	auto end = o.end();

	while (Clock::now() < end) {
		void *at = anonymous(length);
		ops::Mr mr(ops::made(ibv_reg_mr(p.a.pd.get(), at, page, bindable), "ibv_reg_mr"));
		bool onto_file = rng.one_in(2);
		if (onto_file)
			CHECK(file.map_over(at) == at);
		std::thread mover([&, delay = rng.below(500)] {
			int access = onto_file ? 0 : bindable;
			usleep(delay);
			int err = ibv_rereg_mr(mr.get(),
					       IBV_REREG_MR_CHANGE_TRANSLATION |
						       IBV_REREG_MR_CHANGE_ACCESS,
					       nullptr, at, length, access);
			tally.note(onto_file ? "rereg onto a file" : "rereg", !err);
		});
		/* A bind that is refused is a local error: the queue pairs are of no more use then. */
		try {
			for (unsigned n = 0; n < 4; n++)
				bind_and_write(p, mr.get(), at, tally);
		} catch (...) {
			mover.join();
			throw;
		}
		mover.join();
		file.check();
		reconnect(p);
		drain(p.a.cq.get(), tally, "flushed, or not");
		drain(p.b.cq.get(), tally, "flushed, or not");
		mr.reset();
		munmap(at, length);
	}
}

void dereg_against_bind(const Options &o, Tally &tally)
{
	ops::Pair p(one_device(o), {});
	Rng rng(o.seed);
	auto end = o.end();
	void *at = anonymous(page);

	while (Clock::now() < end) {
		ibv_mr *mr = ops::made(ibv_reg_mr(p.a.pd.get(), at, page, bindable), "ibv_reg_mr");
		ops::Mw mw(ops::made(ibv_alloc_mw(p.a.pd.get(), IBV_MW_TYPE_1), "ibv_alloc_mw"));
		ibv_mr copy = *mr; /* ibv_dereg_mr() frees it */
		ibv_mw_bind bind{1,
				 IBV_SEND_SIGNALED,
				 {&copy, (uintptr_t)at, page, IBV_ACCESS_REMOTE_WRITE}};
		int err = 0;
		std::thread remover([&, delay = rng.below(200)] {
			usleep(delay);
			err = ibv_dereg_mr(mr);
			tally.note("dereg", !err);
		});
		int bind_err = ibv_bind_mw(p.a.qp.get(), mw.get(), &bind);
		bool bound = !bind_err && wait_for(p.a) == IBV_WC_SUCCESS;
		tally.note("bind", bound);
		remover.join();
		/* One of the two: a window on a region that has gone, or a refusal without a window, is wrong. */
		CHECK_EQ(bound, err != 0);
		mw.reset();
		if (err)
			CHECK_EQ(ibv_dereg_mr(mr), 0);
		if (!bound)
			reconnect(p);
		drain(p.a.cq.get(), tally, "flushed, or not");
	}
	munmap(at, page);
}

/* A write of the peer that comes after the region went shows nowhere. */
void dereg_against_writes(const Options &o, Tally &tally)
{
	ops::Pair p(one_device(o), {});
	Rng rng(o.seed);
	auto end = o.end();
	constexpr size_t length = 1 << 16;
	auto *at = static_cast<uint8_t *>(anonymous(length));

	while (Clock::now() < end) {
		unsigned odp = rng.one_in(2) ? IBV_ACCESS_ON_DEMAND : 0;
		ibv_mr *mr = ops::made(ibv_reg_mr(p.b.pd.get(), at, length, ops::all_access | odp),
				       "ibv_reg_mr");
		ops::Wr wr;
		wr.op = IBV_WR_RDMA_WRITE;
		wr.sg = {p.a.sge(0, length / 2)};
		wr.addr = (uintptr_t)at;
		wr.rkey = mr->rkey;
		memset(p.a.mem.at(), 0x11, length / 2);
		for (unsigned n = 0; n < 16; n++)
			if (p.a.try_send(wr))
				break;
		usleep(rng.below(2000));
		tally.note("dereg under writes", !ibv_dereg_mr(mr));
		memset(at, 0x22, length);
		/* All are over, one way or the other, when the queue pairs have been reset. */
		unsigned good = drain(p.a.cq.get(), tally, "write into a region");
		p.a.to(IBV_QPS_ERR);
		reconnect(p);
		good += drain(p.a.cq.get(), tally, "write into a region");
		ops::check_all({at, length}, 0x22);
	}
	munmap(at, length);
}

} // namespace hostile
