// SPDX-License-Identifier: GPL-2.0
// Asks switches for their tables in a thread of its own, one at a time: that takes long.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "host/bell.h"
#include "tables/tables.h"

namespace pib::ctl {

using AskTables = std::function<Result<Tables>(const TablesQuestion &question, std::stop_token)>;

class Asker {
public:
	using Clock = std::chrono::steady_clock;

	/// bell: rings when an answer has come. ask and now are called by the thread.
	Asker(AskTables ask, const Bell &bell, std::function<Clock::time_point()> now) :
		ask_(std::move(ask)), bell_(bell), now_(std::move(now))
	{
	}
	/// Gives up what is being asked.
	~Asker() = default;

	/// An answer that is not older than two seconds. Nothing: there is none yet, and the bell rings
	/// when it makes sense to call again. One question is asked at a time.
	std::optional<Result<Tables>> ask(TablesQuestion question);

private:
	struct Answer {
		Clock::time_point when;
		Result<Tables> tables;
	};
	void forget();
	/// Looked at and taken in one step: what is answered meanwhile is not asked a second time.
	std::optional<Result<Tables>> answer_or_take_turn(const std::string &node, bool &turn);
	void work(const TablesQuestion &question, const std::stop_token &stop);

	AskTables ask_;
	const Bell &bell_;
	std::function<Clock::time_point()> now_;
	/// Guards what follows but the thread.
	std::mutex mutex_;
	bool busy_ = false;
	/// Answers of switches stay for a while: each takes many questions, or long, if there is none.
	std::map<std::string, Answer> answers_;
	/// The last member: it ends before the others go.
	std::jthread thread_;
};

} // namespace pib::ctl
