/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory whose pages do not come until the test says so: a file of a FUSE file
 * system that is nothing but this file, spoken over /dev/fuse without a library.
 *
 *	SlowFile slow(300);
 *	ibv_reg_mr(pd, slow.at(), slow.size(), ... | IBV_ACCESS_ON_DEMAND);
 *	...					// a request that touches a page waits
 *	while (!slow.waiting()) ...
 *	slow.release();				// all pages come, now and from now on
 *
 * The worker that brings a page in for the HCA holds the process's mmap_lock meanwhile: until
 * release() the process that has the mapping should make no threads, and neither map nor unmap.
 * slow.at(n * 4096) of one process can be mapped by others, too: fd().
 *
 * The file system's server is a process of its own. It ends, and all waits with it, as soon as the
 * process that made it exits or is killed: nothing is left that waits for ever.
 *
 * Or the process serves itself, which is to say that it does not: with @keep, and leave_alone()
 * once a page is waited for. Then nobody is left but the process itself, whose end is that of the file system.
 */
#pragma once

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <linux/fuse.h>
#include <poll.h>
#include <sstream>
#include <string>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <vector>

class SlowFile {
public:
	static constexpr size_t page = 4096;
	/** Each byte of a page that has come. */
	static constexpr uint8_t content = 0x5A;

	/**
	 * @keep: not 0: this process, too, keeps the device open that the server reads from, by a descriptor
	 * from that number on.
	 * Throws std::system_error where there is no such thing: no FUSE, or not root.
	 */
	explicit SlowFile(size_t pages = 1, int keep = 0) : keep_(keep), length_(pages * page)
	{
		void *p = mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			refuse("mmap");
		control_ = new (p) Control;
		mount_file();
		p = mmap(nullptr, length_, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd_, 0);
		if (p == MAP_FAILED)
			refuse("mmap");
		at_ = static_cast<uint8_t *>(p);
	}
	~SlowFile()
	{
		release();
		munmap(at_, length_);
		close(fd_);
		control_->mode = Mode::End;
		waitpid(server_, nullptr, 0);
		munmap(control_, sizeof(Control));
	}
	SlowFile(const SlowFile &) = delete;
	SlowFile &operator=(const SlowFile &) = delete;

	/** A private mapping of the file, for reading and writing. */
	uint8_t *at(size_t offset = 0) const { return at_ + offset; }
	size_t size() const { return length_; }
	/** The file, opened for reading. */
	int fd() const { return fd_; }
	/** Pages that somebody waits for. */
	unsigned waiting() const { return control_->waiting; }
	/**
	 * The server ends without an answer to those who wait. Only the mapping keeps the file: who closes one
	 * asks its server.
	 */
	void leave_alone()
	{
		close(fd_);
		fd_ = -1;
		control_->mode = Mode::End;
		waitpid(server_, nullptr, 0);
	}
	/** They wait again: those that are not in memory by now. */
	void hold() { control_->mode = Mode::Hold; }
	/** Pages come. */
	void release() { control_->mode = Mode::Serve; }
	/** Pages fail: SIGBUS, or EFAULT. */
	void fail() { control_->mode = Mode::Fail; }

private:
	enum class Mode { Hold, Serve, Fail, End };

	struct Control {
		std::atomic<Mode> mode = Mode::Hold;
		std::atomic<unsigned> waiting = 0;
	};

	[[noreturn]] static void refuse(const char *what)
	{
		throw std::system_error(errno, std::generic_category(), what);
	}

	void mount_file()
	{
		int dev = open("/dev/fuse", O_RDWR | O_CLOEXEC);
		if (dev < 0)
			refuse("/dev/fuse");
		char path[] = "/tmp/slow-file.XXXXXX";
		int file = mkstemp(path);
		if (file < 0)
			refuse(path);
		close(file);
		std::string options = "fd=" + std::to_string(dev) +
				      ",rootmode=100666,user_id=0,group_id=0,allow_other";
		int err = ::mount("slow-file", path, "fuse", MS_NOSUID | MS_NODEV, options.c_str())
				  ? errno
				  : 0;
		if (!err)
			start_server(dev);
		if (keep_ && fcntl(dev, F_DUPFD_CLOEXEC, keep_) < 0)
			err = errno;
		/*
		 * Before the file is opened: a process that is killed with both would wait for a server that has
		 * gone, since its own descriptor of the device keeps the file system until it has closed the file.
		 */
		close(dev);
		if (!err) {
			fd_ = open(path, O_RDONLY | O_CLOEXEC);
			/* only then does the kernel know how long it is */
			struct stat st;
			err = fd_ < 0 || fstat(fd_, &st) ? errno : 0;
		}
		umount2(path, MNT_DETACH);
		unlink(path);
		if (err) {
			errno = err;
			refuse("FUSE");
		}
	}

	/* ---- the server */

	void start_server(int dev)
	{
		pid_t parent = getpid();
		server_ = fork();
		if (server_ < 0)
			refuse("fork");
		if (server_ == 0) {
			signal(SIGINT, SIG_IGN);
			dup2(dev, 3);
			/* the devices that the test has open are none of its business */
			syscall(SYS_close_range, 4, ~0U, 0);
			serve(parent);
			_exit(0);
		}
	}

	/* Exits, or is killed: it may hang there for want of a page. */
	static bool ending(pid_t pid)
	{
		constexpr unsigned long pf_exiting = 4, killed = 1 << (SIGKILL - 1);
		std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
		std::string line, skipped;
		if (!std::getline(in, line) || line.rfind(')') == std::string::npos)
			return true;
		/* what follows the name are fields 3 and up, see proc_pid_stat(5) */
		std::istringstream fields(line.substr(line.rfind(')') + 1));
		unsigned long flags = 0, pending = 0;
		for (int i = 3; i < 9; i++)
			fields >> skipped;
		fields >> flags;
		for (int i = 10; i < 31; i++)
			fields >> skipped;
		fields >> pending;
		return flags & pf_exiting || pending & killed;
	}

	void serve(pid_t parent)
	{
		std::vector<char> buffer(FUSE_MIN_READ_BUFFER + 65536);
		while (control_->mode != Mode::End && !ending(parent)) {
			pollfd p{3, POLLIN, 0};
			if (poll(&p, 1, 20) > 0) {
				ssize_t n = read(3, buffer.data(), buffer.size());
				if (n < 0 && errno == ENODEV)
					return;
				if (n >= static_cast<ssize_t>(sizeof(fuse_in_header)))
					request(*reinterpret_cast<fuse_in_header *>(buffer.data()),
						buffer.data() + sizeof(fuse_in_header));
			}
			if (control_->mode != Mode::Hold)
				answer_held();
		}
	}

	static void answer(uint64_t unique, int error, const void *data = nullptr,
			   size_t length = 0)
	{
		std::vector<char> out(sizeof(fuse_out_header) + length);
		fuse_out_header head{static_cast<uint32_t>(out.size()), error, unique};
		memcpy(out.data(), &head, sizeof(head));
		if (length)
			memcpy(out.data() + sizeof(head), data, length);
		if (write(3, out.data(), out.size()) < 0)
			return; /* whoever asked has gone */
	}

	void request(const fuse_in_header &in, const void *arg)
	{
		switch (in.opcode) {
		case FUSE_INIT: {
			fuse_init_out out{};
			out.major = FUSE_KERNEL_VERSION;
			out.minor = 31;
			out.max_write = page;
			return answer(in.unique, 0, &out, sizeof(out));
		}
		case FUSE_GETATTR: {
			fuse_attr_out out{};
			out.attr_valid = 1 << 20;
			out.attr = {.ino = 1,
				    .size = length_,
				    .blocks = length_ / 512,
				    .mode = S_IFREG | 0666,
				    .nlink = 1};
			return answer(in.unique, 0, &out, sizeof(out));
		}
		case FUSE_OPEN: {
			fuse_open_out out{};
			out.open_flags = FOPEN_KEEP_CACHE;
			return answer(in.unique, 0, &out, sizeof(out));
		}
		case FUSE_READ:
			held_.push_back({in.unique, static_cast<const fuse_read_in *>(arg)->size});
			control_->waiting++;
			return;
		case FUSE_FLUSH:
		case FUSE_RELEASE: return answer(in.unique, 0);
		case FUSE_FORGET:
		case FUSE_BATCH_FORGET:
		case FUSE_INTERRUPT:
		case FUSE_DESTROY: return;
		default: return answer(in.unique, -ENOSYS);
		}
	}

	void answer_held()
	{
		for (const Held &h : held_) {
			std::vector<uint8_t> bytes(h.size, content);
			if (control_->mode == Mode::Fail)
				answer(h.unique, -EIO);
			else
				answer(h.unique, 0, bytes.data(), bytes.size());
			control_->waiting--;
		}
		held_.clear();
	}

	struct Held {
		uint64_t unique;
		uint32_t size;
	};

	int keep_;
	size_t length_;
	Control *control_ = nullptr;
	uint8_t *at_ = nullptr;
	int fd_ = -1;
	pid_t server_ = -1;
	std::vector<Held> held_;
};
