// SPDX-License-Identifier: GPL-2.0
// SHA-256 and HMAC-SHA-256 (FIPS 180-4, RFC 2104), for keyed fabrics.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace pibnetd {

using Digest = std::array<std::uint8_t, 32>;

class Sha256 {
 public:
  void update(std::span<const std::uint8_t> data);
  Digest finish();

 private:
  void block(const std::uint8_t* data);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> buffer_{};
  std::size_t filled_ = 0;
  std::uint64_t total_ = 0;
};

Digest hmac_sha256(std::span<const std::uint8_t> key, std::span<const std::uint8_t> data);

}  // namespace pibnetd
