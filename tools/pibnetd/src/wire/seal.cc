// SPDX-License-Identifier: GPL-2.0
#include "wire/seal.h"

#include <nettle/chacha-poly1305.h>
#include <nettle/memops.h>
#include <string.h>

#include <algorithm>
#include <cstring>

#include "util/sha256.h"
#include "util/wipe.h"

namespace pib::netd {
namespace {

using Bytes = std::span<std::uint8_t>;
using Tag = std::array<std::uint8_t, PIB_SEAL_TAG_LEN>;

SealKey session_key(const Key &key, std::uint64_t to, std::uint64_t from)
{
	std::array<std::uint8_t, PIB_SEAL_LABEL_LEN> label;
	pib_seal_label(to, from, label.data());
	Digest digest = hmac_sha256(key, label);
	SealKey made;
	std::copy(digest.begin(), digest.end(), made.begin());
	::explicit_bzero(digest.data(), digest.size());
	return made;
}

/// ChaCha20-Poly1305 by one key and number. It wipes all traces of both when it goes, on the stack
/// of its user as well.
class Cipher {
public:
	/// The nonce is 4 bytes of zero and the number, little-endian.
	Cipher(const SealKey &key, std::uint64_t number)
	{
		std::array<std::uint8_t, CHACHA_POLY1305_NONCE_SIZE> nonce{};
		for (std::size_t i = 0; i < 8; i++)
			nonce[4 + i] = static_cast<std::uint8_t>(number >> 8 * i);
		chacha_poly1305_set_key(&context, key.data());
		chacha_poly1305_set_nonce(&context, nonce.data());
	}
	/// Also authenticates the link header.
	Cipher(const SealKey &key, std::uint64_t counter, const std::uint8_t *header) :
		Cipher(key, counter)
	{
		chacha_poly1305_update(&context, PIB_DG_HDR_LEN, header);
	}
	Cipher(const Cipher &) = delete;
	Cipher &operator=(const Cipher &) = delete;
	~Cipher()
	{
		::explicit_bzero(&context, sizeof(context));
		wipe_stack();
	}

	chacha_poly1305_ctx context;
};

SealKey generation_key(const SealKey &session, std::uint64_t generation)
{
	SealKey key;
	Cipher cipher(session, generation);
	chacha_poly1305_encrypt(&cipher.context, key.size(), key.data(), key.data());
	return key;
}

} // namespace

SealKeys::SealKeys(const SealKey &session) :
	session_(session), made_{{{0, generation_key(session, 0)}, {1, generation_key(session, 1)}}}
{
}

SealKey SealKeys::find(std::uint64_t counter) const
{
	const std::uint64_t generation = pib_seal_generation(counter);
	const Made &made = made_[generation % made_.size()];
	return made.generation == generation ? made.key : generation_key(session_, generation);
}

void SealKeys::keep(std::uint64_t counter, const SealKey &key)
{
	const std::uint64_t generation = pib_seal_generation(counter);
	made_[generation % made_.size()] = {generation, key};
}

Seal::Seal(const Key &own_key, const Key &peer_key, std::uint64_t own, std::uint64_t peer) :
	own_(own), peer_(peer), tx_(session_key(own_key, peer, own)),
	rx_(session_key(peer_key, own, peer))
{
}

void Seal::close(Bytes datagram)
{
	const Bytes body = datagram.subspan(PIB_SEAL_HEAD_LEN,
					    datagram.size() - PIB_DG_HDR_LEN - PIB_SEAL_LEN);
	pib_put64(&datagram[PIB_DG_HDR_LEN], ++sent_);
	const SealKey key = tx_.find(sent_);
	tx_.keep(sent_, key);
	Cipher cipher(key, sent_, datagram.data());
	chacha_poly1305_encrypt(&cipher.context, body.size(), body.data(), body.data());
	chacha_poly1305_digest(&cipher.context, PIB_SEAL_TAG_LEN,
			       datagram.last(PIB_SEAL_TAG_LEN).data());
}

Opened Seal::open(std::span<const std::uint8_t> datagram, Bytes out)
{
	const std::uint64_t counter = pib_get64(&datagram[PIB_DG_HDR_LEN]);
	const auto body = datagram.subspan(PIB_SEAL_HEAD_LEN,
					   datagram.size() - PIB_DG_HDR_LEN - PIB_SEAL_LEN);
	if (!pib_replay_is_new(&replay_, counter))
		return Opened::replayed;
	std::copy_n(datagram.begin(), PIB_DG_HDR_LEN, out.begin());
	const SealKey key = rx_.find(counter);
	Cipher cipher(key, counter, datagram.data());
	chacha_poly1305_decrypt(&cipher.context, body.size(), &out[PIB_DG_HDR_LEN], body.data());
	Tag tag;
	chacha_poly1305_digest(&cipher.context, tag.size(), tag.data());
	if (!memeql_sec(tag.data(), datagram.last(PIB_SEAL_TAG_LEN).data(), tag.size()))
		return Opened::bad;
	pib_replay_take(&replay_, counter);
	rx_.keep(counter, key);
	return Opened::opened;
}

} // namespace pib::netd
