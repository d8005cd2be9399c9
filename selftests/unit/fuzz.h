// SPDX-License-Identifier: GPL-2.0
// The fuzz targets share this.
#pragma once

#include <cstdio>
#include <cstdlib>

// A condition that does not hold is a finding.
#define CHECK(cond)                                                                \
	do {                                                                       \
		if (!(cond)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
			abort();                                                   \
		}                                                                  \
	} while (0)
