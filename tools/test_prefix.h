/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Headers that most files of the tests include, compiled once: reading these takes the compiler
 * longer than the files themselves. The programs are built without it, so each file still has to
 * include what it uses.
 */
#ifndef PIB_TEST_PREFIX_H
#define PIB_TEST_PREFIX_H

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#endif
