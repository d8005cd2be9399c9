/* SPDX-License-Identifier: GPL-2.0 */
/* Pages that do not come: see ../../lib/slow_file.h. */
#pragma once

#include <memory>

#include "../../lib/slow_file.h"
#include "harness.h"

namespace ops {

inline std::unique_ptr<SlowFile> slow_file(size_t pages = 1, int keep = 0)
{
	try {
		return std::make_unique<SlowFile>(pages, keep);
	} catch (const std::system_error &e) {
		throw Skip(std::string("no FUSE: ") + e.what());
	}
}

inline void until_waiting(const SlowFile &slow, unsigned pages = 1)
{
	while (slow.waiting() < pages)
		usleep(1000);
}

} // namespace ops
