// SPDX-License-Identifier: GPL-2.0
#include "wire/frames.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace pib::netd {
namespace {

/// A frame of which nothing came for so long is given up, and not delivered late either.
constexpr std::uint64_t kStale = 100 * PIB_NSEC_PER_MSEC;

bool is(const Frame &frame, const pib_segment &s, std::uint64_t now)
{
	return frame.used && frame.tag == s.tag && frame.number == s.frame &&
	       frame.total == s.total && frame.size == s.size && frame.flags == s.flags &&
	       now < frame.heard + kStale;
}

bool begun_before(const Frame &a, const Frame &b)
{
	if (a.since != b.since)
		return a.since < b.since;
	return static_cast<std::int16_t>(a.number - b.number) < 0;
}

void start(Frame &frame, const pib_segment &s, std::uint64_t now)
{
	frame = {};
	frame.since = now;
	frame.heard = now;
	frame.number = s.frame;
	frame.tag = s.tag;
	frame.size = s.size;
	frame.total = s.total;
	frame.flags = s.flags;
	frame.used = true;
}

/// At the end of a run. Room is made for four times what has come, and for no more than can come.
void append(Run &run, const Frame &frame, std::span<const std::uint8_t> data)
{
	const std::size_t length = run.bytes.size() + data.size();
	if (run.bytes.capacity() < length)
		run.bytes.reserve(
			std::min(std::size_t{frame.size} * (frame.total - run.begin), 4 * length));
	run.bytes.insert(run.bytes.end(), data.begin(), data.end());
}

/// A frame of one segment, for which no other one needs to make room.
Frame alone(const pib_segment &s, std::span<const std::uint8_t> data, bool ce, std::uint64_t now)
{
	Frame frame;
	start(frame, s, now);
	frame.have = 1;
	frame.ce = ce;
	frame.first[0] = s.first;
	frame.runs.push_back({.begin = 0, .end = 1, .bytes = {data.begin(), data.end()}});
	return frame;
}

/// To where it belongs: at the end of a run, which may then reach the next one, or into one of its
/// own.
void insert(Frame &frame, unsigned index, std::span<const std::uint8_t> data)
{
	auto &runs = frame.runs;
	auto next = std::find_if(runs.begin(), runs.end(),
				 [&](const Run &r) { return r.begin > index; });
	const bool reaches = next != runs.end() && next->begin == index + 1;
	if (next != runs.begin() && std::prev(next)->end == index) {
		const auto run = std::prev(next);
		append(*run, frame, data);
		run->end = index + 1;
		if (!reaches)
			return;
		append(*run, frame, next->bytes);
		run->end = next->end;
		runs.erase(next);
	} else if (reaches) {
		next->bytes.insert(next->bytes.begin(), data.begin(), data.end());
		next->begin = index;
	} else {
		const auto run =
			runs.insert(next, Run{.begin = index, .end = index + 1, .bytes = {}});
		append(*run, frame, data);
	}
}

} // namespace

/// The frame's place, or a free one; nullptr: there is none.
Frame *Frames::find(const pib_segment &segment, std::uint64_t now)
{
	for (Frame &frame : frames_)
		if (is(frame, segment, now))
			return &frame;
	for (Frame &frame : frames_)
		if (!frame.used)
			return &frame;
	return nullptr;
}

Frame *Frames::oldest(const Frame *but)
{
	Frame *found = nullptr;
	for (Frame &frame : frames_)
		if (frame.used && &frame != but && (!found || begun_before(frame, *found)))
			found = &frame;
	return found;
}

/// A link may always have one frame.
bool Frames::has_room(std::size_t bytes) const
{
	if (held_ + bytes > kOfLink)
		return false;
	return all_->held + bytes <= kOfAll || held_ + bytes <= 0xFFFF;
}

Frame Frames::take(Frame &frame)
{
	held_ -= frame.held;
	all_->held -= frame.held;
	return std::exchange(frame, {});
}

/// The oldest frame makes room: it is given out as it is, or lost if it is stale, one was given out
/// already or none may be. False: there is none but that one.
bool Frames::evict(const Frame *but, std::uint64_t now, std::optional<Frame> *done)
{
	Frame *frame = oldest(but);
	if (!frame)
		return false;
	Frame out = take(*frame);
	if (done && !*done && now < out.heard + kStale)
		*done = std::move(out);
	else
		lost_++;
	return true;
}

std::optional<Frame> Frames::add(const pib_segment &s, std::span<const std::uint8_t> data, bool ce,
				 std::uint64_t now)
{
	if (s.total == 1)
		return alone(s, data, ce, now);
	std::optional<Frame> done;
	Frame *frame = find(s, now);
	if (!frame && evict(nullptr, now, &done))
		frame = find(s, now);
	if (!frame)
		return done;
	if (!frame->used)
		start(*frame, s, now);
	const std::uint64_t bit = std::uint64_t{1} << s.index;
	if (frame->have & bit)
		return done;
	// A frame that is whole is given out at once: nothing else is then.
	const bool ends = std::popcount(frame->have) + 1 == frame->total;
	while (!has_room(data.size()))
		if (!evict(frame, now, ends ? nullptr : &done)) {
			if (!frame->have) {
				take(*frame);
				lost_++;
			}
			return done;
		}
	frame->heard = now;
	frame->have |= bit;
	frame->ce |= ce;
	frame->first[s.index] = s.first;
	frame->held += data.size();
	held_ += data.size();
	all_->held += data.size();
	insert(*frame, s.index, data);
	if (frame->whole())
		return take(*frame);
	return done;
}

std::size_t Frames::expire(std::uint64_t now)
{
	std::size_t n = std::exchange(lost_, 0);
	for (Frame &frame : frames_)
		if (frame.used && now >= frame.heard + kStale) {
			take(frame);
			n++;
		}
	return n;
}

void Frames::clear()
{
	for (Frame &frame : frames_)
		take(frame);
}

} // namespace pib::netd
