// SPDX-License-Identifier: GPL-2.0
// A library that is preloaded into programs that are started from now on, and what it says of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pib::ctl {

class Preload {
public:
	/// Nothing: it is not installed, or cannot be. Changes the environment of this process.
	static std::optional<Preload> arm();
	~Preload();
	Preload(Preload &&other) noexcept;
	Preload &operator=(Preload &&) = delete;

	/// Reads the messages that were not read yet; does not wait.
	std::vector<std::string> read();
	/// How many messages there was no room for.
	std::uint64_t unheard() const;

private:
	Preload(int here, int there, int unheard) : here_(here), there_(there), unheard_(unheard) {}

	int here_;
	/// Programs inherit these: the socket's other end, and memory with a number.
	int there_;
	int unheard_;
};

} // namespace pib::ctl
