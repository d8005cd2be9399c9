// SPDX-License-Identifier: GPL-2.0
// The standard output of a command that prints until it is interrupted.
#pragma once

#include "commands/commands.h"
#include "host/interruption.h"
#include "host/outlet.h"

namespace pib::ctl {

/// A reader that stands still does not keep signals from the command.
class LiveOutput {
public:
	explicit LiveOutput(const Context &context);

	const Interruption &interruption() const { return interruption_; }
	/// The command's own, but that text goes here if it goes to the standard output.
	const Context &context() const { return context_; }
	/// True until it is interrupted or the reader has gone. All that was printed is written.
	bool goes_on();
	/// How the command ends: refuses if the reader has gone before it was interrupted.
	Status finish();

private:
	const Interruption interruption_;
	OutletStream text_;
	const Context context_;
};

} // namespace pib::ctl
