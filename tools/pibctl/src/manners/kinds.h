// SPDX-License-Identifier: GPL-2.0
// Kinds of behavior on which a verbs program must not rely: each by its name, with an explanation.
#pragma once

#include <cstddef>
#include <string_view>

namespace pib::ctl {

enum class Manner {
	kWidePsn,
	kWideField,
	kMagicLid,
	kGroupWithoutGrh,
	kSendFlags,
	kQkeyTopBit,
	kUnsignaledFull,
	kStaleRkey,
	kDeregBusy,
	kLostOnReset,
	kDestroyedBusy,
	kUnpolled,
	kLeftBehind,
	kUnackedEvent,
	kForkUnsafe,
	kUnarmedWait,
	kArmedLate,
	kBufferChanged,
	kReservedBits,
	kLoneFlag,
	kEmptyField,
	kLargeMtu,
	kPathIgnored,
	kCount,
};

inline constexpr auto kManners = static_cast<std::size_t>(Manner::kCount);

/// The names are an interface (docs/manners.md).
std::string_view manner_name(Manner manner);
/// Why that is wrong, and what is right.
std::string_view manner_text(Manner manner);

} // namespace pib::ctl
