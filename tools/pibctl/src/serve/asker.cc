// SPDX-License-Identifier: GPL-2.0
#include "serve/asker.h"

#include <utility>

namespace pib::ctl {
namespace {

constexpr std::chrono::seconds kRemembered{2};

} // namespace

void Asker::forget()
{
	const auto now = now_();
	std::erase_if(answers_,
		      [&](const auto &entry) { return now - entry.second.when > kRemembered; });
}

std::optional<Result<Tables>> Asker::answer_or_take_turn(const std::string &node, bool &turn)
{
	const std::lock_guard lock(mutex_);
	forget();
	if (const auto found = answers_.find(node); found != answers_.end())
		return found->second.tables;
	turn = !std::exchange(busy_, true);
	return std::nullopt;
}

std::optional<Result<Tables>> Asker::ask(TablesQuestion question)
{
	bool turn = false;
	auto answer = answer_or_take_turn(question.node, turn);
	// The thread before has nothing left to do.
	if (turn)
		thread_ = std::jthread(
			[this, question = std::move(question)](const std::stop_token &stop) {
				work(question, stop);
			});
	return answer;
}

void Asker::work(const TablesQuestion &question, const std::stop_token &stop)
{
	auto tables = ask_(question, stop);
	{
		const std::lock_guard lock(mutex_);
		// From when it was there: it may have taken longer than it is remembered.
		answers_.insert_or_assign(question.node, Answer{now_(), std::move(tables)});
		busy_ = false;
	}
	bell_.ring();
}

} // namespace pib::ctl
