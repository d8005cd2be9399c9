// SPDX-License-Identifier: GPL-2.0
// The objects of processes as their traces tell of them, and what is wrong with how they are used.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "manners/kinds.h"
#include "trace/line.h"

namespace pib::ctl {

/// A call on the stack of a program.
struct MannerCall {
	/// The program, or a library.
	std::string file;
	/// In it, as addr2line takes it.
	std::uint64_t offset = 0;
	/// Empty: not known.
	std::string function;
};

/// Place of a finding in a program.
struct MannerPlace {
	std::string device;
	/// As the event "verb" spells it: "qp".
	std::string object;
	std::uint64_t number = 0;
	std::uint32_t pid = 0;
	std::string comm;
	std::uint32_t tid = 0;
	std::string time;
	/// The action: "modify_qp sq_psn 16777216".
	std::string what;
	/// Of what was found in a work request: how many were posted to the queue pair before.
	std::optional<std::uint32_t> posted;
	/// The innermost call first. Empty: not known.
	std::vector<MannerCall> stack;
};

struct MannerFinding {
	Manner manner{};
	std::uint64_t count = 0;
	MannerPlace first;
	/// Each time the kernel has done it for a process that had left the object behind.
	bool is_reaping = true;
};

/// Needs the events "verb", "wr_posted" and "completion". Objects that were made before the first
/// event are known as far as later events tell of them.
class MannersWatcher {
public:
	void take(const TraceRecord &record);
	/// A message of the library that was preloaded (preload/manners.c).
	void take_told(std::string_view message);

	/// One for each process, HCA and manner (of what was left behind: and kind of object), in the order
	/// in which they came up first.
	const std::vector<MannerFinding> &findings() const { return findings_; }
	/// Events that were lost, or could not be read: what they would have told is not known.
	std::uint64_t missed() const { return missed_; }
	/// Something was seen at all.
	bool has_seen() const { return seen_; }
	/// The library that was preloaded has been heard of.
	bool has_library() const { return library_; }

	/// A queue pair of a process: device, number, PID.
	using Poster = std::tuple<std::string, std::uint64_t, std::uint32_t>;

private:
	struct Posted {
		std::uint32_t index = 0;
		std::string wr_id;
		std::string opcode;
		std::uint32_t rkey = 0;
		bool is_signaled = false;
	};
	struct QueuePair {
		std::string type;
		std::uint64_t send_wr = 0;
		std::string send_cqn;
		std::string recv_cqn;
		/// Sends in a row that have asked for no completion.
		std::uint64_t unsignaled = 0;
		std::deque<Posted> posted;
		/// R_Keys with which a request has succeeded.
		std::set<std::uint32_t> worked;
	};
	struct Completion {
		std::uint32_t qpn = 0;
		bool is_flush = false;
	};
	/// An object of a device.
	using Key = std::pair<std::string, std::string>;

	void verb(const TraceRecord &record);
	void create_qp(const TraceRecord &record);
	void modify_qp(const TraceRecord &record);
	void destroy_qp(const TraceRecord &record);
	void reset_qp(const TraceRecord &record);
	void address(const TraceRecord &record);
	void destroy_cq(const TraceRecord &record);
	void dereg_mr(const TraceRecord &record);
	void key_made(const TraceRecord &record);
	void key_gone(const TraceRecord &record);
	void left_behind(const TraceRecord &record);
	void posted(const TraceRecord &record);
	void check_flags(const TraceRecord &record, const QueuePair &qp);
	void completion(const TraceRecord &record);
	void succeeded(const TraceRecord &record, QueuePair &qp);
	void failed(const TraceRecord &record, QueuePair &qp);
	std::uint64_t take_unpolled(const Key &cq, std::uint64_t unpolled,
				    std::optional<std::uint32_t> qpn);
	std::uint64_t unpolled_of_qp(const TraceRecord &record, std::uint32_t qpn);
	void forget(std::uint64_t missed);
	void find(Manner manner, const TraceRecord &record, std::string what,
		  std::optional<std::uint32_t> posted = {});
	void add(Manner manner, MannerPlace place, bool is_reaping);
	void called(MannerPlace place);
	void posts(MannerPlace place);
	/// The queue pair was destroyed.
	void posts_end(const TraceRecord &record);
	void take_stack(MannerPlace &found) const;

	std::map<Key, QueuePair> qps_;
	/// Latest completions of each CQ, the newest at the end.
	std::map<Key, std::deque<Completion>> cqs_;
	/// By device: keys that a process has invalidated, and not made again.
	std::map<std::string, std::set<std::uint32_t>, std::less<>> invalid_;
	std::vector<MannerFinding> findings_;
	/// Latest calls of verbs that the preloaded library has told of: they came to the module after that.
	std::deque<MannerPlace> calls_;
	/// Latest places from where it has told that work requests are posted, each of its own queue pair.
	std::deque<MannerPlace> posts_;
	/// The latest one of each queue pair that has no room there any more.
	std::map<Poster, MannerPlace> older_posts_;
	std::uint64_t missed_ = 0;
	bool seen_ = false;
	bool library_ = false;
};

} // namespace pib::ctl
