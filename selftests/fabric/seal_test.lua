-- SPDX-License-Identifier: GPL-2.0
-- tools/wireshark/pib_seal.lua beside the vectors of RFC 4231 (HMAC-SHA-256), FIPS 180-4 and RFC 8439.
--
-- As a program: lua5.4 seal_test.lua PIB_SEAL. As a script of tshark it is given the path by -X lua_script1:PIB_SEAL.

local args = arg or { ... }
local seal = dofile(args[1])
local failed = 0

local function bytes(hex)
	return (hex:gsub("%s", ""):gsub("%x%x", function(two) return string.char(tonumber(two, 16)) end))
end

local function is(what, got, wanted)
	if got == bytes(wanted) then return end
	failed = failed + 1
	io.stderr:write(what .. ": " .. (got or ""):gsub(".", function(c) return ("%02x"):format(c:byte()) end) .. "\n")
end

is("FIPS 180-4, abc", seal.sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
is("no byte", seal.sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
is("two blocks", seal.sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
	"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")

is("RFC 4231, 4.2", seal.hmac(("\x0b"):rep(20), "Hi There"), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
is("4.3", seal.hmac("Jefe", "what do ya want for nothing?"), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
is("4.4", seal.hmac(("\xaa"):rep(20), ("\xdd"):rep(50)), "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe")
is("4.7, a long key", seal.hmac(("\xaa"):rep(131), "Test Using Larger Than Block-Size Key - Hash Key First"),
	"60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")

local sunscreen = "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it."
local key = ""
for i = 0, 31 do key = key .. string.char(i) end
is("RFC 8439, 2.4.2", seal.chacha20(key, 1, bytes("000000000000004a00000000"), sunscreen), [[
	6e2e359a2568f98041ba0728dd0d6981e97e7aec1d4360c20a27afccfd9fae0bf91b65c5524733ab8f593dabcd62b357
	1639d624e65152ab8f530c359f0861d807ca0dbf500d6a6156a38e088a22b65e52bc514d16ccf806818ce91ab7793736
	5af90bbf74a35be6b40b8eedf2785e42874d]])
is("2.5.2", seal.poly1305(bytes("85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b"),
	"Cryptographic Forum Research Group"), "a8061dc1305136c6c22b8baf0c0127a9")

-- A.3, of numbers that are at the edge of 2^130 - 5.
local two, ff = "02" .. ("00"):rep(31), ("ff"):rep(16)
is("A.3, 7", seal.poly1305(bytes(two), bytes(ff)), "03000000000000000000000000000000")
is("A.3, 8", seal.poly1305(bytes("02" .. ("00"):rep(15) .. ff), bytes("02" .. ("00"):rep(15))), "03000000000000000000000000000000")
is("A.3, 9", seal.poly1305(bytes("01" .. ("00"):rep(31)), bytes(ff .. "f0" .. ("ff"):rep(15) .. "11" .. ("00"):rep(15))),
	"05000000000000000000000000000000")
is("A.3, 10", seal.poly1305(bytes("01" .. ("00"):rep(31)), bytes(ff .. "fb" .. ("fe"):rep(15) .. ("01"):rep(16))), ("00"):rep(16))
is("A.3, 11", seal.poly1305(bytes(two), bytes("fd" .. ("ff"):rep(15))), "faffffffffffffffffffffffffffffff")

local aead_key = ""
for i = 0x80, 0x9F do aead_key = aead_key .. string.char(i) end
local nonce, aad = bytes("070000004041424344454647"), bytes("50515253c0c1c2c3c4c5c6c7")
local sealed = bytes([[
	d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b
	1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc
	3ff4def08e4b7a9de576d26586cec64b6116]])
local tag = bytes("1ae10b594f09e26a7e902ecbd0600691")
is("RFC 8439, 2.8.2", seal.open(aead_key, nonce, aad, sealed, tag) == sunscreen and "" or "closed", "")
local function stays_closed(what, ...) is(what .. " stays closed", seal.open(...) == nil and "" or "open", "") end
stays_closed("another tag", aead_key, nonce, aad, sealed, tag:sub(1, 15) .. "\0")
stays_closed("other associated data", aead_key, nonce, aad .. "\0", sealed, tag)
stays_closed("other data", aead_key, nonce, aad, "\0" .. sealed:sub(2), tag)
stays_closed("another nonce", aead_key, ("\0"):rep(12), aad, sealed, tag)

print(failed == 0 and "the vectors are right" or failed .. " are wrong")
if not set_plugin_info then os.exit(failed == 0) end
