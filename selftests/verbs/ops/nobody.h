/* SPDX-License-Identifier: GPL-2.0 */
/* Users like any other. */
#pragma once

#include <functional>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "end.h"

namespace ops {

/* From here on a user like any other, who may open the device. */
inline void become_nobody(const std::string &device)
{
	std::string path = "/dev/infiniband/" + device;
	if (chmod(path.c_str(), 0666) || setresgid(65534, 65534, 65534) ||
	    setresuid(65534, 65534, 65534))
		throw Skip("not run by root");
}

/* Another process, that of a user like any other, which has taken what it could and holds it. */
class Nobody {
public:
	Nobody(const Env &env,
	       const std::function<void(Device &, const std::function<void(unsigned)> &)> &take)
	{
		std::string name = env.open_a().ctx->device->dev_name;
		CHECK(!pipe(to_) && !pipe(from_));
		pid_ = fork();
		CHECK(pid_ >= 0);
		if (pid_)
			return;
		try {
			close(to_[1]);
			become_nobody(name);
			Device dev = env.open_a();
			take(dev, [&](unsigned taken) {
				char c;
				if (write(from_[1], &taken, sizeof(taken)) == sizeof(taken) &&
				    read(to_[0], &c, 1) < 0)
					_exit(1);
			});
		} catch (const std::exception &) {
			_exit(1);
		}
		_exit(0);
	}
	~Nobody() { release(); }
	Nobody(const Nobody &) = delete;

	unsigned taken()
	{
		unsigned n = 0;
		close(from_[1]);
		if (read(from_[0], &n, sizeof(n)) != sizeof(n))
			FAIL("the other process has failed");
		return n;
	}

	/* It gives everything back and ends. */
	void release()
	{
		int status = 0;
		if (!pid_)
			return;
		close(to_[1]);
		if (waitpid(pid_, &status, 0) != pid_ || status)
			note_failure("the other process has failed");
		pid_ = 0;
	}

private:
	int to_[2], from_[2];
	pid_t pid_;
};

} // namespace ops
