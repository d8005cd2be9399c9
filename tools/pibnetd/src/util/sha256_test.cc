// SPDX-License-Identifier: GPL-2.0
#include "util/sha256.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string_view>
#include <vector>

namespace pib::netd {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes bytes_of(std::string_view text)
{
	return {text.begin(), text.end()};
}

std::string hex(const Digest &digest)
{
	std::string text;
	char two[3];
	for (const auto byte : digest) {
		std::snprintf(two, sizeof(two), "%02x", byte);
		text += two;
	}
	return text;
}

TEST(Sha256, VectorsOfFips180)
{
	const auto hash = [](const Bytes &data) { return hex(sha256(data)); };
	EXPECT_EQ(hash({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	EXPECT_EQ(hash(bytes_of("abc")),
		  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	EXPECT_EQ(hash(bytes_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	EXPECT_EQ(hash(Bytes(1000000, 'a')),
		  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, HmacVectorsOfRfc4231)
{
	EXPECT_EQ(hex(hmac_sha256(Bytes(20, 0x0b), bytes_of("Hi There"))),
		  "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
	EXPECT_EQ(hex(hmac_sha256(
			  Bytes(131, 0xaa),
			  bytes_of("Test Using Larger Than Block-Size Key - Hash Key First"))),
		  "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

} // namespace
} // namespace pib::netd
