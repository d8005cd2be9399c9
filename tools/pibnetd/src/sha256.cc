// SPDX-License-Identifier: GPL-2.0
#include "sha256.h"

#include <algorithm>
#include <bit>

namespace pibnetd {
namespace {

constexpr std::array<std::uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t get32(const std::uint8_t* p) {
  return std::uint32_t{p[0]} << 24 | std::uint32_t{p[1]} << 16 | std::uint32_t{p[2]} << 8 | p[3];
}

std::uint32_t small0(std::uint32_t x) { return std::rotr(x, 7) ^ std::rotr(x, 18) ^ x >> 3; }
std::uint32_t small1(std::uint32_t x) { return std::rotr(x, 17) ^ std::rotr(x, 19) ^ x >> 10; }
std::uint32_t big0(std::uint32_t x) {
  return std::rotr(x, 2) ^ std::rotr(x, 13) ^ std::rotr(x, 22);
}
std::uint32_t big1(std::uint32_t x) {
  return std::rotr(x, 6) ^ std::rotr(x, 11) ^ std::rotr(x, 25);
}

}  // namespace

void Sha256::block(const std::uint8_t* data) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t i = 0; i < 16; i++) w[i] = get32(data + 4 * i);
  for (std::size_t i = 16; i < 64; i++)
    w[i] = small1(w[i - 2]) + w[i - 7] + small0(w[i - 15]) + w[i - 16];
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t i = 0; i < 64; i++) {
    const std::uint32_t t1 = h + big1(e) + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    const std::uint32_t t2 = big0(a) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::array<std::uint32_t, 8> add = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; i++) state_[i] += add[i];
}

void Sha256::update(std::span<const std::uint8_t> data) {
  total_ += data.size();
  while (!data.empty()) {
    const std::size_t n = std::min(data.size(), buffer_.size() - filled_);
    std::copy_n(data.begin(), n, buffer_.begin() + static_cast<std::ptrdiff_t>(filled_));
    filled_ += n;
    data = data.subspan(n);
    if (filled_ < buffer_.size()) return;
    block(buffer_.data());
    filled_ = 0;
  }
}

Digest Sha256::finish() {
  const std::uint64_t bits = total_ * 8;
  const std::array<std::uint8_t, 1> one = {0x80};
  const std::array<std::uint8_t, 1> zero = {0};
  update(one);
  while (filled_ != 56) update(zero);
  std::array<std::uint8_t, 8> length;
  for (std::size_t i = 0; i < 8; i++) length[i] = static_cast<std::uint8_t>(bits >> (56 - 8 * i));
  update(length);
  Digest digest;
  for (std::size_t i = 0; i < digest.size(); i++)
    digest[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

Digest hmac_sha256(std::span<const std::uint8_t> key, std::span<const std::uint8_t> data) {
  std::array<std::uint8_t, 64> inner{}, outer{};
  Digest hashed;
  if (key.size() > inner.size()) {
    Sha256 hash;
    hash.update(key);
    hashed = hash.finish();
    key = hashed;
  }
  std::copy(key.begin(), key.end(), inner.begin());
  outer = inner;
  for (auto& byte : inner) byte ^= 0x36;
  for (auto& byte : outer) byte ^= 0x5c;
  Sha256 first, second;
  first.update(inner);
  first.update(data);
  second.update(outer);
  second.update(first.finish());
  return second.finish();
}

}  // namespace pibnetd
