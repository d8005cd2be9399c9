// SPDX-License-Identifier: GPL-2.0
// Traces of keys on the stack of a thread that has used them.
#include <gtest/gtest.h>
#include <nettle/chacha-poly1305.h>
#include <pthread.h>
#include <sys/mman.h>

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "util/sha256.h"
#include "wire/seal.h"

namespace pib::netd {
namespace {

constexpr std::size_t kStack = 1 << 20;
/// So many bytes of a key are told from chance.
constexpr std::size_t kPart = 8;

using Bytes = std::vector<std::uint8_t>;

void *call(void *work)
{
	(*static_cast<const std::function<void()> *>(work))();
	return nullptr;
}

/// A sanitizer knows frames there that have gone.
__attribute__((no_sanitize("address"))) bool holds(const volatile std::uint8_t *memory,
						   const Bytes &secret)
{
	for (std::size_t at = 0; at + kPart <= kStack; at++) {
		for (std::size_t part = 0; part + kPart <= secret.size(); part += kPart) {
			std::size_t same = 0;
			while (same < kPart && memory[at + same] == secret[part + same])
				same++;
			if (same == kPart)
				return true;
		}
	}
	return false;
}

/// For each secret, true if it is on the stack of a thread that has done the work.
std::vector<bool> left(const std::function<void()> &work, const std::vector<Bytes> &secrets)
{
	void *stack =
		::mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT_NE(stack, MAP_FAILED);
	pthread_attr_t attributes;
	pthread_t thread;
	::pthread_attr_init(&attributes);
	::pthread_attr_setstack(&attributes, stack, kStack);
	EXPECT_EQ(::pthread_create(&thread, &attributes, call,
				   const_cast<std::function<void()> *>(&work)),
		  0);
	::pthread_join(thread, nullptr);
	::pthread_attr_destroy(&attributes);
	std::vector<bool> found;
	for (const Bytes &secret : secrets)
		found.push_back(holds(static_cast<const std::uint8_t *>(stack), secret));
	::munmap(stack, kStack);
	return found;
}

Key make_key()
{
	Key key;
	for (unsigned i = 0; i < 32; i++)
		key.push_back(static_cast<std::uint8_t>(17 * i + 3));
	return key;
}

/// The key, and what HMAC makes of it first.
std::vector<Bytes> forms(const Key &key)
{
	std::vector<Bytes> all;
	for (const unsigned pad : {0u, 0x36u, 0x5Cu}) {
		Bytes &form = all.emplace_back();
		for (const std::uint8_t byte : key)
			form.push_back(static_cast<std::uint8_t>(byte ^ pad));
	}
	return all;
}

__attribute__((noinline, no_sanitize("address"))) void keep_on_stack(const Key &key)
{
	volatile std::uint8_t copy[64];
	for (std::size_t i = 0; i < key.size(); i++)
		copy[i] = key[i];
}

TEST(Seal, AKeyOnTheStackIsSeen)
{
	const Key key = make_key();
	EXPECT_TRUE(left([&] { keep_on_stack(key); }, forms(key))[0]);
}

TEST(Seal, TheStackKeepsNoKeyOfAHello)
{
	const Key key = make_key();
	pib_hello h{};
	h.caps = PIB_CAP_KEYED;
	Bytes hello(PIB_HELLO_WIRE_LEN);
	pib_hello_build(&h, PIB_DG_HELLO, 0, hello.data());
	const std::vector<bool> nothing(3, false);
	EXPECT_EQ(left([&] { auth_seal(key, hello); }, forms(key)), nothing);
	EXPECT_EQ(left([&] { EXPECT_TRUE(auth_check(key, h, hello)); }, forms(key)), nothing);
	EXPECT_EQ(left([&] { (void)auth_tag(key, 1, 2); }, forms(key)), nothing);
}

/// The key of the session from 1 to 2, and that of its first generation.
std::vector<Bytes> session_secrets(const Key &key)
{
	std::array<std::uint8_t, PIB_SEAL_LABEL_LEN> label;
	pib_seal_label(2, 1, label.data());
	const Digest session = hmac_sha256(key, label);
	const std::array<std::uint8_t, CHACHA_POLY1305_NONCE_SIZE> nonce{};
	Bytes generation(CHACHA_POLY1305_KEY_SIZE);
	chacha_poly1305_ctx context;
	chacha_poly1305_set_key(&context, session.data());
	chacha_poly1305_set_nonce(&context, nonce.data());
	chacha_poly1305_encrypt(&context, generation.size(), generation.data(), generation.data());
	return {{session.begin(), session.end()}, generation};
}

TEST(Seal, TheStackKeepsNoKeyOfASession)
{
	const Key key = make_key();
	auto secrets = forms(key);
	for (const Bytes &secret : session_secrets(key))
		secrets.push_back(secret);
	const std::vector<bool> nothing(secrets.size(), false);
	// Not on the stack themselves.
	std::unique_ptr<Seal> one, other;
	Bytes datagram(PIB_DG_HDR_LEN + PIB_SEAL_LEN + 100), plain(datagram.size());
	EXPECT_EQ(left([&] { one = std::make_unique<Seal>(key, key, 1, 2); }, secrets), nothing);
	other = std::make_unique<Seal>(key, key, 2, 1);
	EXPECT_EQ(left([&] { one->close(datagram); }, secrets), nothing);
	const auto open = [&] { EXPECT_EQ(other->open(datagram, plain), Opened::opened); };
	EXPECT_EQ(left(open, secrets), nothing);
	EXPECT_EQ(left([&] { one.reset(); }, secrets), nothing);
}

} // namespace
} // namespace pib::netd
