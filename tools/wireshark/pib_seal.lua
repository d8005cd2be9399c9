-- SPDX-License-Identifier: GPL-2.0
-- What seals the data of keyed fabrics: SHA-256 (FIPS 180-4), HMAC (RFC 2104), ChaCha20 and Poly1305 (RFC 8439), and how
-- docs/wire-format.md makes use of them ("Sealed data"), for pib.lua.
-- It wants the integers of 64 bits that Lua has since 5.3. All functions take and return strings of bytes.

local seal = {}
local MASK = 0xFFFFFFFF

-- ---- SHA-256 ----

local rounds, begin = {}, {}

-- Return: the first 32 bits behind the point of @n to the power of @power.
local function fraction(n, power)
	return math.floor(n ^ power % 1 * 2 ^ 32)
end

local function sha_init()
	local n = 2
	while #rounds < 64 do
		local prime = true
		for d = 2, math.floor(n ^ 0.5) do prime = prime and n % d ~= 0 end
		if prime then
			rounds[#rounds + 1] = fraction(n, 1 / 3)
			if #begin < 8 then begin[#begin + 1] = fraction(n, 1 / 2) end
		end
		n = n + 1
	end
end
sha_init()

-- Return: @x, 32 bits of it, turned right by @n.
local function turn(x, n)
	return (x >> n | x << 32 - n) & MASK
end

local function sha_block(h, text, at)
	local w = { string.unpack(">" .. ("I4"):rep(16), text, at) }
	for i = 17, 64 do
		local x, y = w[i - 15], w[i - 2]
		w[i] = w[i - 16] + w[i - 7] + (turn(x, 7) ~ turn(x, 18) ~ x >> 3) + (turn(y, 17) ~ turn(y, 19) ~ y >> 10) & MASK
	end
	local a, b, c, d, e, f, g, k = table.unpack(h)
	for i = 1, 64 do
		local more = k + (turn(e, 6) ~ turn(e, 11) ~ turn(e, 25)) + (e & f ~ ~e & MASK & g) + rounds[i] + w[i]
		local most = (turn(a, 2) ~ turn(a, 13) ~ turn(a, 22)) + (a & b ~ a & c ~ b & c)
		a, b, c, d, e, f, g, k = more + most & MASK, a, b, c, d + more & MASK, e, f, g
	end
	for i, v in ipairs({ a, b, c, d, e, f, g, k }) do h[i] = h[i] + v & MASK end
end

function seal.sha256(text)
	local h = table.move(begin, 1, 8, 1, {})
	local padded = text .. "\128" .. ("\0"):rep(-(#text + 9) % 64) .. string.pack(">I8", #text * 8)
	for at = 1, #padded, 64 do sha_block(h, padded, at) end
	return string.pack(">" .. ("I4"):rep(8), table.unpack(h))
end

function seal.hmac(key, text)
	if #key > 64 then key = seal.sha256(key) end
	key = key .. ("\0"):rep(64 - #key)
	local function pad(with) return (key:gsub(".", function(c) return string.char(c:byte() ~ with) end)) end
	return seal.sha256(pad(0x5C) .. seal.sha256(pad(0x36) .. text))
end

-- ---- ChaCha20 ----

local function quarter(a, b, c, d)
	a = a + b & MASK
	d = d ~ a
	d = (d << 16 | d >> 16) & MASK
	c = c + d & MASK
	b = b ~ c
	b = (b << 12 | b >> 20) & MASK
	a = a + b & MASK
	d = d ~ a
	d = (d << 8 | d >> 24) & MASK
	c = c + d & MASK
	b = b ~ c
	return a, (b << 7 | b >> 25) & MASK, c, d
end

local words16, words8 = "<" .. ("I4"):rep(16), "<" .. ("i8"):rep(8)

-- Return: the 64 bytes of the block of a state of 16 words.
local function chacha_block(s)
	local a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p = table.unpack(s)
	for _ = 1, 10 do
		a, e, i, m = quarter(a, e, i, m)
		b, f, j, n = quarter(b, f, j, n)
		c, g, k, o = quarter(c, g, k, o)
		d, h, l, p = quarter(d, h, l, p)
		a, f, k, p = quarter(a, f, k, p)
		b, g, l, m = quarter(b, g, l, m)
		c, h, i, n = quarter(c, h, i, n)
		d, e, j, o = quarter(d, e, j, o)
	end
	return string.pack(words16, a + s[1] & MASK, b + s[2] & MASK, c + s[3] & MASK, d + s[4] & MASK, e + s[5] & MASK,
		f + s[6] & MASK, g + s[7] & MASK, h + s[8] & MASK, i + s[9] & MASK, j + s[10] & MASK, k + s[11] & MASK,
		l + s[12] & MASK, m + s[13] & MASK, n + s[14] & MASK, o + s[15] & MASK, p + s[16] & MASK)
end

-- Return: @text encrypted, or decrypted. @key: 32 bytes; @count: number of the first block; @nonce: 12 bytes.
function seal.chacha20(key, count, nonce, text)
	local state = { string.unpack(words16, "expand 32-byte k" .. key .. string.pack("<I4", count) .. nonce) }
	local out, padded = {}, text .. ("\0"):rep(-#text % 64)
	for at = 1, #padded, 64 do
		local a, b, c, d, e, f, g, h = string.unpack(words8, padded, at)
		local i, j, k, l, m, n, o, p = string.unpack(words8, chacha_block(state))
		out[#out + 1] = string.pack(words8, a ~ i, b ~ j, c ~ k, d ~ l, e ~ m, f ~ n, g ~ o, h ~ p)
		state[13] = state[13] + 1 & MASK
	end
	return table.concat(out):sub(1, #text)
end

-- ---- Poly1305 ----

local LIMB = 0x3FFFFFF	-- of 26 bits, of which five are a number

local function limbs(bytes)
	local low, high, top = string.unpack("<i8i8B", bytes)
	return low & LIMB, low >> 26 & LIMB, (low >> 52 | high << 12) & LIMB, high >> 14 & LIMB, high >> 40 | top << 24
end

-- Return: the limbs with what each has above 26 bits in the next one, and five times what the last one has in the first.
local function carried(a, b, c, d, e)
	b = b + (a >> 26)
	c = c + (b >> 26)
	d = d + (c >> 26)
	e = e + (d >> 26)
	a = (a & LIMB) + (e >> 26) * 5
	return a & LIMB, (b & LIMB) + (a >> 26), c & LIMB, d & LIMB, e & LIMB
end

-- Return: 16 bytes, the sum of @added and the number of the limbs modulo 2^130 - 5.
local function poly_end(a, b, c, d, e, added)
	a, b, c, d, e = carried(a, b, c, d, e)
	a, b, c, d, e = carried(a, b, c, d, e)
	local f, g, h, i, j = a + 5, b, c, d, e
	g = g + (f >> 26)
	h = h + (g >> 26)
	i = i + (h >> 26)
	j = j + (i >> 26)
	if j >> 26 > 0 then a, b, c, d, e = f & LIMB, g & LIMB, h & LIMB, i & LIMB, j & LIMB end
	local s, t = string.unpack("<i8i8", added)
	local low = (a | b << 26 | c << 52) + s
	local high = (c >> 12 | d << 14 | e << 40) + t + (math.ult(low, s) and 1 or 0)
	return string.pack("<i8i8", low, high)
end

-- Return: the tag of @text. @key: 32 bytes, used once.
function seal.poly1305(key, text)
	local r, s, t = "", string.unpack("<i8i8", key)
	r = string.pack("<i8i8B", s & 0x0FFFFFFC0FFFFFFF, t & 0x0FFFFFFC0FFFFFFC, 0)
	local v, w, x, y, z = limbs(r)
	local w5, x5, y5, z5 = w * 5, x * 5, y * 5, z * 5
	local a, b, c, d, e = 0, 0, 0, 0, 0
	for at = 1, #text, 16 do
		local block = text:sub(at, at + 15) .. "\1"
		local f, g, h, i, j = limbs(block .. ("\0"):rep(17 - #block))
		a, b, c, d, e = a + f, b + g, c + h, d + i, e + j
		a, b, c, d, e = carried(
			a * v + b * z5 + c * y5 + d * x5 + e * w5, a * w + b * v + c * z5 + d * y5 + e * x5,
			a * x + b * w + c * v + d * z5 + e * y5, a * y + b * x + c * w + d * v + e * z5,
			a * z + b * y + c * x + d * w + e * v)
	end
	return poly_end(a, b, c, d, e, key:sub(17))
end

-- ---- both ----

local function padded16(text)
	return text .. ("\0"):rep(-#text % 16)
end

-- Return: what ChaCha20-Poly1305 has made @text of; nil: @tag is another one.
function seal.open(key, nonce, associated, text, tag)
	local once = seal.chacha20(key, 0, nonce, ("\0"):rep(32))
	local all = padded16(associated) .. padded16(text) .. string.pack("<I8I8", #associated, #text)
	return seal.poly1305(once, all) == tag and seal.chacha20(key, 1, nonce, text) or nil
end

-- ---- sealed data ----

local GENERATION, HEAD, SEAL_HEAD, TAG = 16, 8, 16, 16

-- Return: what opens the data of a session. @sessions: the receiver's and the sender's.
function seal.session(key, sessions)
	return { key = seal.hmac(key, "pib sealed data " .. sessions) }
end

local function generation_key(session, generation)
	if session.generation ~= generation then
		session.generation = generation
		session.generation_key = seal.chacha20(session.key, 1, string.pack("<I4i8", 0, generation), ("\0"):rep(32))
	end
	return session.generation_key
end

-- Return: what @session's sender has sealed in @bytes, a datagram; nil: something else.
function seal.datagram(session, bytes)
	local counter = string.unpack(">i8", bytes, HEAD + 1)
	return seal.open(generation_key(session, counter >> GENERATION), string.pack("<I4i8", 0, counter), bytes:sub(1, HEAD),
		bytes:sub(SEAL_HEAD + 1, -TAG - 1), bytes:sub(-TAG))
end

return seal
