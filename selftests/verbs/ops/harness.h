/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A suite of named cases that reports in KTAP. Each case runs in a process of
 * its own: one that crashes or hangs fails alone.
 */
#pragma once

#include <cstdint>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ops {

struct Env;

/** A case throws this when it has failed. */
struct Failure : std::runtime_error {
	using std::runtime_error::runtime_error;
};

/** A case throws this when it cannot be had here; the text says why. */
struct Skip : std::runtime_error {
	using std::runtime_error::runtime_error;
};

struct Case {
	std::string name;
	std::function<void(Env &)> run;
};

class Suite {
public:
	void add(std::string name, std::function<void(Env &)> run)
	{
		cases_.push_back({std::move(name), std::move(run)});
	}
	/** Leaves the cases whose name contains one of the patterns. */
	void select(const std::vector<std::string> &patterns);
	/** Returns whether all passed. */
	bool run(Env &env, int seconds_per_case) const;
	void list() const;

private:
	std::vector<Case> cases_;
};

/** Notes what went wrong where no exception may be thrown: the case fails when it ends. */
void note_failure(const std::string &what);

[[noreturn]] void fail(const char *file, int line, const std::string &what);

template <typename T>
std::string show(const T &value)
{
	std::ostringstream out;
	if constexpr (sizeof(T) == 1)
		out << +value;
	else
		out << value;
	return out.str();
}

template <typename A, typename B>
void check_equal(const char *file, int line, const char *text, const A &a, const B &b)
{
	bool equal;
	if constexpr (std::is_integral_v<A> && std::is_integral_v<B> && !std::is_same_v<A, bool>)
		equal = std::cmp_equal(a, b);
	else
		equal = a == b;
	if (!equal)
		fail(file, line, std::string(text) + ": " + show(a) + ", not " + show(b));
}

#define CHECK(condition) ((condition) ? (void)0 : ::ops::fail(__FILE__, __LINE__, #condition))
#define CHECK_EQ(value, expected) ::ops::check_equal(__FILE__, __LINE__, #value, value, expected)
#define FAIL(text) ::ops::fail(__FILE__, __LINE__, text)

} // namespace ops
