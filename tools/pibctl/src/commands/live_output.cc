// SPDX-License-Identifier: GPL-2.0
#include "commands/live_output.h"

#include <unistd.h>

#include <csignal>
#include <iostream>

namespace pib::ctl {

LiveOutput::LiveOutput(const Context &context) :
	text_(Outlet(STDOUT_FILENO, interruption_, kReaderPatience)),
	context_{context.client,
		 context.out,
		 &context.text == &std::cout ? text_ : context.text,
		 context.notes,
		 context.terminal,
		 context.json}
{
	std::signal(SIGPIPE, SIG_IGN);
}

bool LiveOutput::goes_on()
{
	context_.text.flush();
	return context_.text.good() && interruption_.check();
}

Status LiveOutput::finish()
{
	context_.text.flush();
	if (context_.text.good() || !interruption_.check())
		return success();
	return Outlet::no_reader();
}

} // namespace pib::ctl
