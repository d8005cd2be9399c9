// SPDX-License-Identifier: GPL-2.0
// Results of operations that can fail: a value, or an Error that says why.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <variant>

namespace pib::inline model {

struct Error {
	std::string text;
	/// A positive errno, 0 if no system call or kernel command is behind it.
	int code = 0;
	/// The command line is wrong: exit status 2 instead of 1.
	bool usage = false;
};

inline Error usage_error(std::string text)
{
	return Error{std::move(text), 0, true};
}

/// Makes an error of errno, right after the system call that has set it:
/// "opening FILE: No such file or directory".
template <typename... Args>
Error errno_error(fmt::format_string<Args...> doing, Args &&...args)
{
	const int code = errno;
	return Error{fmt::format("{}: {}", fmt::format(doing, std::forward<Args>(args)...),
				 std::strerror(code)),
		     code};
}

template <typename T>
class [[nodiscard]] Result {
public:
	Result(T value) : state_(std::move(value)) {}
	Result(Error error) : state_(std::move(error)) {}

	explicit operator bool() const { return std::holds_alternative<T>(state_); }
	T &operator*() { return std::get<T>(state_); }
	const T &operator*() const { return std::get<T>(state_); }
	T *operator->() { return &std::get<T>(state_); }
	const T *operator->() const { return &std::get<T>(state_); }
	const Error &error() const { return std::get<Error>(state_); }

private:
	std::variant<T, Error> state_;
};

struct Nothing {};
using Status = Result<Nothing>;

inline Status success()
{
	return Nothing{};
}

} // namespace pib::inline model
