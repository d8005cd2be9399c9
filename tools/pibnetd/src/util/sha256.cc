// SPDX-License-Identifier: GPL-2.0
#include "util/sha256.h"

#include <nettle/hmac.h>
#include <nettle/sha2.h>
#include <string.h>

#include "util/wipe.h"

namespace pib::netd {

Digest sha256(std::span<const std::uint8_t> data)
{
	sha256_ctx context;
	Digest digest;
	sha256_init(&context);
	sha256_update(&context, data.size(), data.data());
	sha256_digest(&context, digest.size(), digest.data());
	return digest;
}

Digest hmac_sha256(std::span<const std::uint8_t> key, std::span<const std::uint8_t> data)
{
	hmac_sha256_ctx context;
	Digest digest;
	hmac_sha256_set_key(&context, key.size(), key.data());
	hmac_sha256_update(&context, data.size(), data.data());
	hmac_sha256_digest(&context, digest.size(), digest.data());
	::explicit_bzero(&context, sizeof(context));
	wipe_stack();
	return digest;
}

} // namespace pib::netd
