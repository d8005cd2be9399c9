// SPDX-License-Identifier: GPL-2.0
// What a bad cable does to packets, by chance from a seed that can be set.
#pragma once

#include <cstdint>
#include <random>

namespace pibnetd {

struct FaultSettings {
  /// Probabilities for each packet, 0 to 1, in either direction.
  double loss = 0;
  double corrupt = 0;
  double duplicate = 0;
  std::uint64_t seed = 0;

  bool any() const { return loss > 0 || corrupt > 0 || duplicate > 0; }
};

struct FaultCounts {
  std::uint64_t lost = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t duplicated = 0;
};

/// The faults of a port's cable: the same seed and the same packets give the same faults.
class Faults {
 public:
  void set(const FaultSettings& settings) {
    settings_ = settings;
    random_.seed(settings.seed);
    counts = {};
  }
  const FaultSettings& settings() const { return settings_; }
  bool any() const { return settings_.any(); }

  bool loses() { return happens(settings_.loss, counts.lost); }
  bool corrupts() { return happens(settings_.corrupt, counts.corrupted); }
  bool duplicates() { return happens(settings_.duplicate, counts.duplicated); }
  /// Which of n bits, or bytes.
  std::size_t pick(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  FaultCounts counts;

 private:
  bool happens(double probability, std::uint64_t& count) {
    if (probability <= 0) return false;
    const double drawn = static_cast<double>(random_() >> 11) * 0x1.0p-53;
    const bool yes = drawn < probability;
    count += yes;
    return yes;
  }

  FaultSettings settings_;
  std::mt19937_64 random_;
};

}  // namespace pibnetd
