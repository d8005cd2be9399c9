// SPDX-License-Identifier: GPL-2.0
#include "wire/seal.h"

#include <nettle/chacha-poly1305.h>
#include <nettle/memops.h>
#include <string.h>

#include <algorithm>
#include <cstring>

#include "util/sha256.h"

namespace pib::netd {
namespace {

using Bytes = std::span<std::uint8_t>;
using SealKey = std::array<std::uint8_t, PIB_SEAL_KEY_LEN>;
using Tag = std::array<std::uint8_t, PIB_SEAL_TAG_LEN>;

SealKey make_key(const Key &key, std::uint64_t to, std::uint64_t from)
{
	std::array<std::uint8_t, PIB_SEAL_LABEL_LEN> label;
	pib_seal_label(to, from, label.data());
	return hmac_sha256(key, label);
}

/// The nonce is 4 bytes of zero and the counter, little-endian; what is authenticated is the link
/// header.
chacha_poly1305_ctx begin(const SealKey &key, std::uint64_t counter, const std::uint8_t *header)
{
	chacha_poly1305_ctx context;
	std::array<std::uint8_t, CHACHA_POLY1305_NONCE_SIZE> nonce{};
	for (std::size_t i = 0; i < 8; i++)
		nonce[4 + i] = static_cast<std::uint8_t>(counter >> 8 * i);
	chacha_poly1305_set_key(&context, key.data());
	chacha_poly1305_set_nonce(&context, nonce.data());
	chacha_poly1305_update(&context, PIB_DG_HDR_LEN, header);
	return context;
}

} // namespace

Seal::Seal(const Key &own_key, const Key &peer_key, std::uint64_t own, std::uint64_t peer) :
	own_(own), peer_(peer), tx_key_(make_key(own_key, peer, own)),
	rx_key_(make_key(peer_key, own, peer))
{
}

Seal::~Seal()
{
	::explicit_bzero(tx_key_.data(), tx_key_.size());
	::explicit_bzero(rx_key_.data(), rx_key_.size());
}

void Seal::close(Bytes datagram)
{
	const Bytes body = datagram.subspan(PIB_SEAL_HEAD_LEN,
					    datagram.size() - PIB_DG_HDR_LEN - PIB_SEAL_LEN);
	pib_put64(&datagram[PIB_DG_HDR_LEN], ++sent_);
	chacha_poly1305_ctx context = begin(tx_key_, sent_, datagram.data());
	chacha_poly1305_encrypt(&context, body.size(), body.data(), body.data());
	chacha_poly1305_digest(&context, PIB_SEAL_TAG_LEN, datagram.last(PIB_SEAL_TAG_LEN).data());
}

Opened Seal::open(std::span<const std::uint8_t> datagram, Bytes out)
{
	const std::uint64_t counter = pib_get64(&datagram[PIB_DG_HDR_LEN]);
	const auto body = datagram.subspan(PIB_SEAL_HEAD_LEN,
					   datagram.size() - PIB_DG_HDR_LEN - PIB_SEAL_LEN);
	if (!pib_replay_is_new(&replay_, counter))
		return Opened::replayed;
	std::copy_n(datagram.begin(), PIB_DG_HDR_LEN, out.begin());
	chacha_poly1305_ctx context = begin(rx_key_, counter, datagram.data());
	chacha_poly1305_decrypt(&context, body.size(), &out[PIB_DG_HDR_LEN], body.data());
	Tag tag;
	chacha_poly1305_digest(&context, tag.size(), tag.data());
	if (!memeql_sec(tag.data(), datagram.last(PIB_SEAL_TAG_LEN).data(), tag.size()))
		return Opened::bad;
	pib_replay_take(&replay_, counter);
	return Opened::opened;
}

} // namespace pib::netd
