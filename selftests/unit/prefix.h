/* SPDX-License-Identifier: GPL-2.0 */
/* Headers that most tests include, compiled once. Each file still includes what it uses. */
#ifndef PIB_UNIT_PREFIX_H
#define PIB_UNIT_PREFIX_H

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#endif
