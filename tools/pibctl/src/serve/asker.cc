// SPDX-License-Identifier: GPL-2.0
#include "serve/asker.h"

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

std::optional<Result<Tables>> Asker::answer_of(const std::string &node)
{
	const std::lock_guard lock(mutex_);
	forget();
	const auto found = answers_.find(node);
	if (found == answers_.end())
		return std::nullopt;
	return found->second.tables;
}

void Asker::ask(TablesQuestion question)
{
	{
		const std::lock_guard lock(mutex_);
		if (busy_)
			return;
		busy_ = true;
	}
	// The thread before has nothing left to do.
	thread_ = std::jthread([this, question = std::move(question)](const std::stop_token &stop) {
		work(question, stop);
	});
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
