// SPDX-License-Identifier: GPL-2.0
/* How a check says where it failed: for pib-ops, pib-hostile and pib-soak. */
#include <cstring>

#include "harness.h"

namespace ops {

void fail(const char *file, int line, const std::string &what)
{
	const char *base = strrchr(file, '/');
	throw Failure(std::string(base ? base + 1 : file) + ":" + std::to_string(line) + ": " +
		      what);
}

} // namespace ops
