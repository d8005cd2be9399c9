// SPDX-License-Identifier: GPL-2.0
// A thread tells another one by it, which waits in poll(), that there is something new.
#pragma once

namespace pib::ctl {

class Bell {
public:
	Bell();
	~Bell();
	Bell(const Bell &) = delete;
	Bell &operator=(const Bell &) = delete;

	/// Any thread may ring.
	void ring() const;
	/// True if it has rung since the last call.
	bool has_rung() const;
	/// Can be read from once it has rung.
	int file() const { return fd_; }

private:
	int fd_;
};

} // namespace pib::ctl
