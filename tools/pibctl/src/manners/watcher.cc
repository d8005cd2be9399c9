// SPDX-License-Identifier: GPL-2.0
#include "manners/watcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "model/words/count.h"

namespace pib::ctl {
namespace {

constexpr std::uint64_t kMost24 = 0xFFFFFF;
constexpr std::uint64_t kPermissiveLid = 0xFFFF;
constexpr std::uint64_t kFirstGroup = 0xC000;
constexpr std::uint64_t kTopBit = 1U << 31;
/// So much is remembered of a queue: more than the module gives it.
constexpr std::size_t kMostPosted = 32768;
constexpr std::size_t kMostCompletions = std::size_t{1} << 20;
constexpr std::size_t kMostKeys = 65536;
constexpr std::size_t kMostCalls = 1024;
constexpr std::size_t kMostPosters = 16384;

/// ibv_send_flags
constexpr std::uint64_t kFence = 1;
constexpr std::uint64_t kSignaled = 2;
constexpr std::uint64_t kSolicited = 4;

std::string_view text_of(const TraceRecord &record, std::string_view name)
{
	const auto *value = record.field(name);
	return value ? std::string_view(*value) : std::string_view();
}

std::optional<std::uint64_t> number_in(std::string_view word)
{
	const int base = word.starts_with("0x") ? 16 : 10;
	if (base == 16)
		word.remove_prefix(2);
	std::uint64_t value = 0;
	const auto [end, error] =
		std::from_chars(word.data(), word.data() + word.size(), value, base);
	if (word.empty() || error != std::errc{} || end != word.data() + word.size())
		return std::nullopt;
	return value;
}

/// Nothing: the event does not have it, or it is no number.
std::optional<std::uint64_t> number_of(const TraceRecord &record, std::string_view name)
{
	return number_in(text_of(record, name));
}

std::uint64_t count_of(const TraceRecord &record, std::string_view name)
{
	return number_of(record, name).value_or(0);
}

std::pair<std::string, std::string> key_of(const TraceRecord &record, std::string_view number)
{
	return {std::string(text_of(record, "device")), std::string(number)};
}

std::uint32_t rkey_of(const TraceRecord &record, std::string_view name)
{
	return static_cast<std::uint32_t>(count_of(record, name));
}

bool is_reaping(const TraceRecord &record)
{
	return text_of(record, "left_behind") == "1";
}

/// The HCA goes, and with it what others have made: the process that is watched has removed it.
bool is_removal(const TraceRecord &record)
{
	return text_of(record, "removed") == "1";
}

bool went_well(const TraceRecord &record)
{
	return text_of(record, "result") == "OK";
}

/// A field of modify_qp that has a most.
struct Field {
	std::string_view name;
	std::uint64_t most;
};

constexpr Field kFields[] = {
	{"dest_qpn", kMost24}, {"timeout", 31}, {"retry_cnt", 7}, {"rnr_retry", 7}};

/// "2 sends, 1 receive": of what there is any.
std::string list(std::initializer_list<std::pair<std::uint64_t, std::string_view>> items)
{
	std::string text;
	for (const auto &[count, name] : items)
		if (count)
			text += fmt::format("{}{}", text.empty() ? "" : ", ",
					    format_count(count, name));
	return text;
}

/// True if the request completes a receive at the peer.
bool has_peer_completion(std::string_view opcode)
{
	return opcode.starts_with("SEND") || opcode == "RDMA_WRITE_WITH_IMM";
}

bool invalidates(std::string_view opcode)
{
	return opcode == "LOCAL_INV" || opcode == "SEND_WITH_INV";
}

/// The types that have READs and atomics, as enum ib_qp_type numbers them: RC, XRC_INI.
bool has_reads(std::string_view type)
{
	return type == "2" || type == "9";
}

/// PATH+0x1234
std::optional<MannerCall> read_call(std::string_view word)
{
	const auto plus = word.rfind('+');
	if (plus == word.npos)
		return std::nullopt;
	const auto offset = number_in(word.substr(plus + 1));
	if (!offset)
		return std::nullopt;
	return MannerCall{std::string(word.substr(0, plus)), *offset, ""};
}

/// True if a finding of the trace may be of this call, which a later one of the thread may make untrue.
bool may_be_of(const MannerPlace &found, const MannerPlace &call)
{
	return !found.posted && !found.device.empty() && found.tid == call.tid &&
	       found.what.starts_with(call.what + " ") &&
	       trace_seconds(call.time) <= trace_seconds(found.time);
}

/// True if what was found in a work request may have been posted there. A later place of that queue pair may make it untrue.
bool may_be_posted(const MannerPlace &found, const MannerPlace &place)
{
	return found.posted && found.device == place.device && found.number == place.number &&
	       found.pid == place.pid && *place.posted <= *found.posted &&
	       trace_seconds(place.time) <= trace_seconds(found.time);
}

/// "pib0 17 5": a work request of a queue pair.
bool read_posted(MannerPlace &place)
{
	const std::string_view text = place.what;
	const auto first = text.find(' ');
	const auto second = text.rfind(' ');
	if (first == text.npos || first == second)
		return false;
	const auto qpn = number_in(text.substr(first + 1, second - first - 1));
	const auto index = number_in(text.substr(second + 1));
	if (!qpn || !index)
		return false;
	place.device = text.substr(0, first);
	place.number = *qpn;
	place.posted = static_cast<std::uint32_t>(*index);
	return true;
}

MannersWatcher::Poster poster_of(const MannerPlace &place)
{
	return {place.device, place.number, place.pid};
}

template <typename Queue>
void bound(Queue &queue, std::size_t most)
{
	while (queue.size() > most)
		queue.pop_front();
}

void remember(std::set<std::uint32_t> &keys, std::uint32_t key)
{
	if (key && keys.size() < kMostKeys)
		keys.insert(key);
}

} // namespace

void MannersWatcher::take(const TraceRecord &record)
{
	if (record.kind == TraceRecord::Kind::kLost)
		return forget(std::max<std::uint64_t>(record.count, 1));
	if (record.kind == TraceRecord::Kind::kUnread)
		return forget(record.count);
	if (record.kind != TraceRecord::Kind::kEvent || is_removal(record))
		return;
	seen_ = true;
	if (record.event == "verb")
		verb(record);
	else if (record.event == "wr_posted")
		posted(record);
	else if (record.event == "completion")
		completion(record);
}

void MannersWatcher::forget(std::uint64_t missed)
{
	missed_ += missed;
	cqs_.clear();
	invalid_.clear();
	for (auto &[key, qp] : qps_) {
		qp.unsignaled = 0;
		qp.posted.clear();
	}
}

void MannersWatcher::find(Manner manner, const TraceRecord &record, std::string what,
			  std::optional<std::uint32_t> posted)
{
	const bool is_verb = record.event == "verb";
	MannerPlace place;
	place.device = text_of(record, "device");
	place.object = is_verb ? text_of(record, "object") : "qp";
	place.number = count_of(record, is_verb ? "number" : "qpn");
	place.pid = static_cast<std::uint32_t>(count_of(record, "pid"));
	place.comm = record.comm;
	place.tid = record.tid;
	place.time = record.time;
	place.what = std::move(what);
	place.posted = posted;
	add(manner, std::move(place), is_reaping(record));
}

void MannersWatcher::add(Manner manner, MannerPlace place, bool reaping)
{
	/// Findings of objects that were left behind are kept apart by the kind of object.
	const auto same = [&](const MannerFinding &found) {
		return found.manner == manner && found.first.device == place.device &&
		       found.first.pid == place.pid &&
		       (manner != Manner::kLeftBehind || found.first.object == place.object);
	};
	auto found = std::ranges::find_if(findings_, same);
	if (found == findings_.end()) {
		if (!reaping)
			take_stack(place);
		found = findings_.insert(findings_.end(), {manner, 0, std::move(place), true});
	}
	++found->count;
	found->is_reaping = found->is_reaping && reaping;
}

void MannersWatcher::take_stack(MannerPlace &found) const
{
	const auto &places = found.posted ? posts_ : calls_;
	const auto may_be = found.posted ? may_be_posted : may_be_of;
	const auto place = std::find_if(places.rbegin(), places.rend(),
					[&](const auto &each) { return may_be(found, each); });
	if (place != places.rend()) {
		found.stack = place->stack;
		return;
	}
	const auto older = older_posts_.find(poster_of(found));
	if (older != older_posts_.end() && may_be_posted(found, older->second))
		found.stack = older->second.stack;
}

/// The trace may be read before, or after.
void MannersWatcher::called(MannerPlace place)
{
	for (MannerFinding &finding : findings_)
		if (!finding.is_reaping && may_be_of(finding.first, place))
			finding.first.stack = place.stack;
	calls_.push_back(std::move(place));
	bound(calls_, kMostCalls);
}

void MannersWatcher::posts(MannerPlace place)
{
	if (!read_posted(place))
		return;
	for (MannerFinding &finding : findings_)
		if (may_be_posted(finding.first, place))
			finding.first.stack = place.stack;
	posts_.push_back(std::move(place));
	if (posts_.size() <= kMostCalls)
		return;
	const auto poster = poster_of(posts_.front());
	if (older_posts_.size() < kMostPosters || older_posts_.contains(poster))
		older_posts_[poster] = std::move(posts_.front());
	posts_.pop_front();
}

/// A new one of its number may have posted already: what was told of that may be read before.
void MannersWatcher::posts_end(const TraceRecord &record)
{
	MannerPlace gone;
	gone.device = text_of(record, "device");
	gone.number = count_of(record, "number");
	gone.pid = static_cast<std::uint32_t>(count_of(record, "pid"));
	const auto is_of_it = [&](const MannerPlace &place) {
		return poster_of(place) == poster_of(gone) &&
		       trace_seconds(place.time) <= trace_seconds(record.time);
	};
	std::erase_if(posts_, is_of_it);
	const auto older = older_posts_.find(poster_of(gone));
	if (older != older_posts_.end() && is_of_it(older->second))
		older_posts_.erase(older);
}

/// kind, pid, thread, time, name of the program, what, and each call of the stack
void MannersWatcher::take_told(std::string_view message)
{
	std::vector<std::string_view> words;
	for (auto tab = message.find('\t'); tab != message.npos; tab = message.find('\t')) {
		words.push_back(message.substr(0, tab));
		message.remove_prefix(tab + 1);
	}
	words.push_back(message);
	if (words.size() < 6)
		return;
	library_ = true;
	MannerPlace place;
	place.object = "process";
	place.pid = static_cast<std::uint32_t>(number_in(words[1]).value_or(0));
	place.number = place.pid;
	place.tid = static_cast<std::uint32_t>(number_in(words[2]).value_or(0));
	place.time = words[3];
	place.comm = words[4];
	place.what = words[5];
	for (std::size_t i = 6; i < words.size(); ++i)
		if (auto call = read_call(words[i]))
			place.stack.push_back(*std::move(call));
	if (words[0] == "call")
		return called(std::move(place));
	if (words[0] == "post")
		return posts(std::move(place));
	for (const Manner manner :
	     {Manner::kWidePsn, Manner::kUnackedEvent, Manner::kForkUnsafe, Manner::kUnpolled,
	      Manner::kLostOnReset, Manner::kUnarmedWait, Manner::kArmedLate,
	      Manner::kBufferChanged, Manner::kReservedBits, Manner::kLoneFlag, Manner::kEmptyField,
	      Manner::kLargeMtu, Manner::kPathIgnored})
		if (manner_name(manner) == words[0])
			add(manner, place, false);
}

void MannersWatcher::verb(const TraceRecord &record)
{
	struct Row {
		std::string_view verb;
		void (MannersWatcher::*take)(const TraceRecord &);
	};
	static constexpr Row rows[] = {
		{"create_qp", &MannersWatcher::create_qp},
		{"modify_qp", &MannersWatcher::modify_qp},
		{"destroy_qp", &MannersWatcher::destroy_qp},
		{"create_ah", &MannersWatcher::address},
		{"modify_ah", &MannersWatcher::address},
		{"destroy_cq", &MannersWatcher::destroy_cq},
		{"reg_mr", &MannersWatcher::key_made},
		{"reg_dm_mr", &MannersWatcher::key_made},
		{"reg_dmabuf_mr", &MannersWatcher::key_made},
		{"alloc_mw", &MannersWatcher::key_made},
		{"dereg_mr", &MannersWatcher::dereg_mr},
		{"dealloc_mw", &MannersWatcher::key_gone},
	};
	if (is_reaping(record))
		left_behind(record);
	for (const Row &row : rows)
		if (row.verb == text_of(record, "verb"))
			(this->*row.take)(record);
}

void MannersWatcher::left_behind(const TraceRecord &record)
{
	find(Manner::kLeftBehind, record, std::string(text_of(record, "verb")));
}

void MannersWatcher::create_qp(const TraceRecord &record)
{
	if (!went_well(record))
		return;
	QueuePair qp;
	qp.type = text_of(record, "type");
	qp.send_wr = count_of(record, "send_wr");
	qp.send_cqn = text_of(record, "send_cqn");
	qp.recv_cqn = text_of(record, "recv_cqn");
	qps_[key_of(record, text_of(record, "number"))] = std::move(qp);
}

void MannersWatcher::modify_qp(const TraceRecord &record)
{
	for (const Field &field : kFields)
		if (const auto value = number_of(record, field.name); value && *value > field.most)
			find(Manner::kWideField, record,
			     fmt::format("modify_qp {} {}", field.name, *value));
	if (const auto dlid = number_of(record, "dlid"); dlid && (!*dlid || *dlid >= kFirstGroup))
		find(Manner::kMagicLid, record, fmt::format("modify_qp dlid {}", *dlid));
	if (text_of(record, "to") == "RESET" && went_well(record))
		reset_qp(record);
}

/// Of the last completions that have come to a CQ, which were not polled, those of the queue pair,
/// or of all. They are gone with it.
std::uint64_t MannersWatcher::take_unpolled(const Key &cq, std::uint64_t unpolled,
					    std::optional<std::uint32_t> qpn)
{
	const auto found = cqs_.find(cq);
	if (found == cqs_.end())
		return 0;
	auto &all = found->second;
	const auto is_gone = [&](const Completion &each) { return !qpn || each.qpn == *qpn; };
	const auto first = all.end() - static_cast<std::ptrdiff_t>(
					       std::min<std::uint64_t>(unpolled, all.size()));
	const auto count = std::count_if(first, all.end(), [&](const Completion &each) {
		return is_gone(each) && !each.is_flush;
	});
	all.erase(std::remove_if(first, all.end(), is_gone), all.end());
	return static_cast<std::uint64_t>(count);
}

std::uint64_t MannersWatcher::unpolled_of_qp(const TraceRecord &record, std::uint32_t qpn)
{
	const auto qp = qps_.find(key_of(record, text_of(record, "number")));
	if (qp == qps_.end())
		return 0;
	const auto send_cq = key_of(record, qp->second.send_cqn);
	const auto recv_cq = key_of(record, qp->second.recv_cqn);
	auto count = take_unpolled(send_cq, count_of(record, "send_cqes"), qpn);
	if (recv_cq != send_cq)
		count += take_unpolled(recv_cq, count_of(record, "recv_cqes"), qpn);
	return count;
}

void MannersWatcher::reset_qp(const TraceRecord &record)
{
	const auto qpn = static_cast<std::uint32_t>(count_of(record, "number"));
	const auto lost = list({{count_of(record, "sends"), "send"},
				{count_of(record, "recvs"), "receive"},
				{unpolled_of_qp(record, qpn), "completion"}});
	if (!lost.empty())
		find(Manner::kLostOnReset, record,
		     fmt::format("modify_qp from {} to RESET: {}", text_of(record, "from"), lost));
	if (const auto qp = qps_.find(key_of(record, text_of(record, "number")));
	    qp != qps_.end()) {
		qp->second.unsignaled = 0;
		qp->second.posted.clear();
	}
}

void MannersWatcher::destroy_qp(const TraceRecord &record)
{
	const auto qpn = static_cast<std::uint32_t>(count_of(record, "number"));
	const auto sends = count_of(record, "sends");
	if (const auto unpolled = unpolled_of_qp(record, qpn))
		find(Manner::kUnpolled, record,
		     fmt::format("destroy_qp with {} of its completions", unpolled));
	if (sends && !is_reaping(record))
		find(Manner::kDestroyedBusy, record,
		     fmt::format("destroy_qp in {} with {}", text_of(record, "from"),
				 format_count(sends, "send")));
	qps_.erase(key_of(record, text_of(record, "number")));
	if (went_well(record))
		posts_end(record);
}

void MannersWatcher::address(const TraceRecord &record)
{
	const auto dlid = number_of(record, "dlid");
	if (!dlid)
		return;
	const auto what = fmt::format("{} dlid {}", text_of(record, "verb"), *dlid);
	if (!*dlid || *dlid == kPermissiveLid)
		find(Manner::kMagicLid, record, what);
	else if (*dlid >= kFirstGroup && text_of(record, "grh") == "0")
		find(Manner::kGroupWithoutGrh, record, what);
}

void MannersWatcher::destroy_cq(const TraceRecord &record)
{
	const auto cq = key_of(record, text_of(record, "number"));
	if (const auto unpolled = take_unpolled(cq, count_of(record, "cqes"), {}))
		find(Manner::kUnpolled, record,
		     fmt::format("destroy_cq with {}", format_count(unpolled, "completion")));
	cqs_.erase(cq);
}

void MannersWatcher::key_made(const TraceRecord &record)
{
	if (const auto found = invalid_.find(text_of(record, "device")); found != invalid_.end())
		found->second.erase(rkey_of(record, "key"));
}

void MannersWatcher::key_gone(const TraceRecord &record)
{
	remember(invalid_[std::string(text_of(record, "device"))], rkey_of(record, "key"));
}

void MannersWatcher::dereg_mr(const TraceRecord &record)
{
	const auto requests = count_of(record, "requests");
	if (requests)
		find(Manner::kDeregBusy, record,
		     fmt::format("dereg_mr with {}", format_count(requests, "work request")));
	key_gone(record);
}

void MannersWatcher::check_flags(const TraceRecord &record, const QueuePair &qp)
{
	const auto flags = count_of(record, "flags");
	const auto opcode = text_of(record, "opcode");
	const auto index = static_cast<std::uint32_t>(count_of(record, "index"));
	if (flags & kSolicited && !has_peer_completion(opcode))
		find(Manner::kSendFlags, record, fmt::format("{} IBV_SEND_SOLICITED", opcode),
		     index);
	if (flags & kFence && !qp.type.empty() && !has_reads(qp.type))
		find(Manner::kSendFlags, record,
		     fmt::format("{} IBV_SEND_FENCE of a queue pair without READs", opcode), index);
}

void MannersWatcher::posted(const TraceRecord &record)
{
	QueuePair &qp = qps_[key_of(record, text_of(record, "qpn"))];
	const bool is_signaled = count_of(record, "flags") & kSignaled;
	const auto index = static_cast<std::uint32_t>(count_of(record, "index"));
	check_flags(record, qp);
	if (count_of(record, "qkey") & kTopBit)
		find(Manner::kQkeyTopBit, record, fmt::format("qkey {}", text_of(record, "qkey")),
		     index);
	qp.unsignaled = is_signaled ? 0 : qp.unsignaled + 1;
	if (qp.send_wr && qp.unsignaled == qp.send_wr)
		find(Manner::kUnsignaledFull, record,
		     fmt::format("{} sends without IBV_SEND_SIGNALED", qp.unsignaled), index);
	qp.posted.push_back({index, std::string(text_of(record, "wr_id")),
			     std::string(text_of(record, "opcode")), rkey_of(record, "rkey"),
			     is_signaled});
	bound(qp.posted, kMostPosted);
}

/// It tells that all before it have succeeded, too.
void MannersWatcher::succeeded(const TraceRecord &record, QueuePair &qp)
{
	const auto found = std::ranges::find_if(qp.posted, [&](const Posted &each) {
		return each.is_signaled && each.wr_id == text_of(record, "wr_id");
	});
	if (found == qp.posted.end())
		return;
	for (auto each = qp.posted.begin(); each != found + 1; ++each)
		if (!invalidates(each->opcode))
			remember(qp.worked, each->rkey);
		else if (each->opcode == "LOCAL_INV")
			remember(invalid_[std::string(text_of(record, "device"))], each->rkey);
	qp.posted.erase(qp.posted.begin(), found + 1);
}

void MannersWatcher::failed(const TraceRecord &record, QueuePair &qp)
{
	const auto found = std::ranges::find_if(qp.posted, [&](const Posted &each) {
		return each.wr_id == text_of(record, "wr_id");
	});
	if (found != qp.posted.end() && text_of(record, "status") == "REM_ACCESS_ERR") {
		const auto &invalid = invalid_[std::string(text_of(record, "device"))];
		if (qp.worked.contains(found->rkey) || invalid.contains(found->rkey))
			find(Manner::kStaleRkey, record,
			     fmt::format("{} rkey 0x{:x}", found->opcode, found->rkey),
			     found->index);
	}
	qp.posted.clear();
}

void MannersWatcher::completion(const TraceRecord &record)
{
	const auto status = text_of(record, "status");
	auto &cq = cqs_[key_of(record, text_of(record, "cqn"))];
	cq.push_back(
		{static_cast<std::uint32_t>(count_of(record, "qpn")), status == "WR_FLUSH_ERR"});
	bound(cq, kMostCompletions);
	QueuePair &qp = qps_[key_of(record, text_of(record, "qpn"))];
	const bool is_receive = text_of(record, "opcode").starts_with("RECV");
	/// Its making was not seen if the trace has begun later.
	(is_receive ? qp.recv_cqn : qp.send_cqn) = text_of(record, "cqn");
	if (is_receive)
		return;
	if (status == "SUCCESS")
		succeeded(record, qp);
	else
		failed(record, qp);
}

} // namespace pib::ctl
