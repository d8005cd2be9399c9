-- SPDX-License-Identifier: GPL-2.0
-- Wireshark's dissector of pib's datagrams, written from docs/wire-format.md. docs/capture.md says how to use it.
--
-- A datagram is a link header and an InfiniBand packet, a segment of a frame of such packets, or control fields. The
-- packets are handed to Wireshark's own dissector, "infiniband". What a keyed fabric seals is opened by its key, with
-- pib_seal.lua, which lies beside this file.
--
-- Each place of a datagram is looked at only if it has been captured, so nothing in one causes an error of Lua.

-- It may have been loaded from another folder before.
local _, loaded = pcall(Dissector.get, "pib")
if type(loaded) == "userdata" then return end

local VERSION = 2
local DATA, HELLO, HELLO_ACK, KEEPALIVE, BYE, SEGMENT, CREDIT, PING, PONG = 0, 1, 2, 3, 4, 5, 6, 14, 15
local HEAD, SEGMENT_HEAD, SEAL_HEAD, SEAL_TAG, CONTROL, PING_LEAST = 8, 16, 16, 16, 176, 48
local NOICRC, SEALED = 1, 2
local LRH, GRH, BTH, ICRC = 8, 40, 12, 4
local STALE = 0.1	-- seconds after which the receiver forgets a frame
local COUNTERS = 8192	-- a counter may be so many above another one of the same super-packet
local KEY_LEAST, KEY_MOST = 16, 64
local SESSIONS_MOST = 4096	-- pairs of sessions that are remembered, to open what is sealed

local types = {
	[DATA] = "DATA", [HELLO] = "HELLO", [HELLO_ACK] = "HELLO_ACK", [KEEPALIVE] = "KEEPALIVE", [BYE] = "BYE",
	[SEGMENT] = "SEGMENT", [CREDIT] = "CREDIT", [PING] = "PING", [PONG] = "PONG",
}
local roles = { "port of a switch", "port of an HCA" }
local mtus = { "256", "512", "1024", "2048", "4096" }
local refusals = {
	[0] = "none", "every port is taken", "no switch of this fabric here", "the fabric's key is another one",
	"strangers get no port",
}
local programs = { "pibping", "pibnetd" }
local icrc_states = { [0] = "wrong", "right", "not computed", "not checked" }
local WRONG, RIGHT, NOT_COMPUTED, NOT_CHECKED = 0, 1, 2, 3
local seal_states = { [0] = "not opened by a key that is given", "right", "not checked" }
local CLOSED, OPENED, NOT_TRIED = 0, 1, 2

local pib = Proto("pib", "Software InfiniBand over UDP (pib)")

pib.prefs.port = Pref.uint("UDP port", 18514, "UDP port of pib's hosts")
pib.prefs.reassemble = Pref.bool("Put segments together", true, "InfiniBand packets are taken out of frames of several segments")
pib.prefs.key_file = Pref.string("Key file", "", "File with the key of the fabric: its data is opened")
pib.prefs.second_key_file = Pref.string("Second key file", "", "File with the other key, while keys are exchanged")
pib.prefs.icrc = Pref.bool("Check ICRCs", true, "The ICRC of packets that have one is computed and compared")

-- ---- fields ----

local f, notes = {}, {}

local function field(name, make, ...)
	f[name] = make("pib." .. name, ...)
end

local function bits(name, text, width, mask, values)
	f[name] = ProtoField.bool("pib." .. name, text, width, values, mask)
end

field("version", ProtoField.uint8, "Version", base.DEC, nil, 0xF0)
field("type", ProtoField.uint8, "Type", base.DEC, types, 0x0F)
field("flags", ProtoField.uint8, "Flags", base.HEX)
bits("flags.noicrc", "NOICRC, the ICRC is not computed", 8, NOICRC)
bits("flags.sealed", "SEALED, the rest is encrypted", 8, SEALED)
field("tag", ProtoField.uint16, "Tag", base.HEX)
field("link_id", ProtoField.uint32, "Link id, the receiver's", base.HEX)

field("hello.fabric", ProtoField.uint32, "Fabric", base.DEC)
field("hello.link_id", ProtoField.uint32, "Link id, the sender's", base.HEX)
field("hello.session", ProtoField.uint64, "Session", base.HEX)
field("hello.peer_session", ProtoField.uint64, "Peer session", base.HEX)
field("hello.node_guid", ProtoField.uint64, "Node GUID", base.HEX)
field("hello.port_guid", ProtoField.uint64, "Port GUID", base.HEX)
field("hello.port", ProtoField.uint8, "Port number", base.DEC)
field("hello.role", ProtoField.uint8, "Role", base.DEC, roles)
field("hello.mtu", ProtoField.uint8, "MTU", base.DEC, mtus)
field("hello.down", ProtoField.uint8, "Down", base.DEC, { [0] = "no", "the port is disabled or unplugged" })
field("hello.capabilities", ProtoField.uint32, "Capabilities", base.HEX)
for i, name in ipairs({ "noicrc", "segment", "keyed", "standalone", "auto", "probe", "ecn", "flows", "flow_probe", "flows_come",
	"padded", "windows" }) do
	bits("hello.capabilities." .. name, name, 32, 2 ^ (i - 1))
end
field("hello.keepalive", ProtoField.uint16, "Keepalive (ms)", base.DEC)
field("hello.lids", ProtoField.uint8, "LIDs in the table", base.DEC)
field("hello.width", ProtoField.uint8, "LinkWidthEnabled", base.HEX)
field("hello.sequence", ProtoField.uint32, "Sequence", base.DEC)
field("hello.acknowledged", ProtoField.uint32, "Acknowledged", base.DEC)
field("hello.speed", ProtoField.uint8, "LinkSpeedEnabled", base.HEX)
field("hello.extended_speed", ProtoField.uint8, "LinkSpeedExtEnabled", base.HEX)
field("hello.refusal", ProtoField.uint8, "Refusal", base.DEC, refusals)
field("hello.lid", ProtoField.uint16, "LID", base.DEC)
field("hello.description", ProtoField.string, "Description")
field("hello.padded", ProtoField.uint16, "Bytes of a padded probe", base.DEC, { [0] = "it is none" })
field("hello.probe", ProtoField.uint16, "Number of the probe", base.DEC)
field("hello.came", ProtoField.uint16, "Padded probe that came", base.DEC, { [0] = "none" })
field("hello.authentication", ProtoField.bytes, "Authentication")
field("hello.cookie", ProtoField.bool, "May be a cookie")
field("hello.cookie_in", ProtoField.framenum, "Echoes the cookie in", base.NONE)

field("credit.sequence", ProtoField.uint32, "Sequence", base.DEC)
field("credit.answers", ProtoField.uint32, "Answers the question", base.DEC, { [0] = "none" })
field("credit.session", ProtoField.uint64, "Session", base.HEX)
field("credit.peer_session", ProtoField.uint64, "Peer session", base.HEX)
field("credit.flags", ProtoField.uint8, "Flags", base.HEX)
bits("credit.flags.asks", "It is a question", 8, 1)
bits("credit.flags.answers", "It is an answer", 8, 2)
bits("credit.flags.shared", "Several VLs of its sender are in use", 8, 4)
field("credit.vl", ProtoField.uint8, "VL of the question", base.DEC)
field("credit.taken", ProtoField.uint32, "Taken in, bytes", base.DEC)
field("credit.authentication", ProtoField.bytes, "Authentication")

field("segment.frame", ProtoField.uint16, "Frame", base.DEC)
field("segment.index", ProtoField.uint8, "Index", base.DEC)
field("segment.total", ProtoField.uint8, "Total", base.DEC)
field("segment.size", ProtoField.uint16, "Size", base.DEC)
field("segment.first", ProtoField.uint16, "First packet at", base.DEC, { [0xFFFF] = "none starts here" })
field("segment.data", ProtoField.bytes, "Part of the frame")
field("segment.whole_in", ProtoField.framenum, "The frame is whole in", base.NONE)

field("seal.counter", ProtoField.uint64, "Counter", base.DEC)
field("seal.encrypted", ProtoField.bytes, "Encrypted")
field("seal.authentication", ProtoField.bytes, "Authentication")
field("seal.status", ProtoField.uint8, "Authentication is", base.DEC, seal_states)

field("packet.length", ProtoField.uint16, "Length, LRH to ICRC", base.DEC)
field("packet.icrc", ProtoField.uint32, "ICRC", base.HEX)
field("packet.icrc_status", ProtoField.uint8, "ICRC is", base.DEC, icrc_states)

bits("ping.flags.keyed", "The sender has a key", 8, 1)
bits("ping.flags.authentic", "The PING was authentic", 8, 2)
bits("ping.flags.served", "The fabric is served", 8, 4)
field("ping.sequence", ProtoField.uint32, "Sequence", base.DEC)
field("ping.run", ProtoField.uint64, "Run", base.HEX)
field("ping.time", ProtoField.uint64, "Time, the asker's clock", base.DEC)
field("ping.fabric", ProtoField.uint32, "Fabric", base.DEC)
field("ping.software", ProtoField.uint8, "Software", base.DEC, programs)
field("ping.major", ProtoField.uint8, "Version, major", base.DEC)
field("ping.minor", ProtoField.uint8, "Version, minor", base.DEC)
field("ping.patch", ProtoField.uint8, "Version, patch", base.DEC)
field("ping.authentication", ProtoField.bytes, "Authentication")

local function note(name, text, group, severity)
	notes[name] = ProtoExpert.new("pib." .. name, text, group, severity)
end

note("bad_version", "Another version of the wire format", expert.group.UNDECODED, expert.severity.WARN)
note("bad_type", "No such type", expert.group.MALFORMED, expert.severity.ERROR)
note("bad_length", "A datagram of this type has another length", expert.group.MALFORMED, expert.severity.ERROR)
note("bad_value", "Out of range", expert.group.MALFORMED, expert.severity.ERROR)
note("bad_packet", "No InfiniBand packet", expert.group.MALFORMED, expert.severity.ERROR)
note("bad_icrc", "The ICRC is wrong", expert.group.CHECKSUM, expert.severity.ERROR)
note("no_checksum", "NOICRC without a UDP checksum", expert.group.CHECKSUM, expert.severity.WARN)
note("trailing", "Bytes behind the packet", expert.group.PROTOCOL, expert.severity.WARN)
note("bad_key", "A key file is not of use", expert.group.DECRYPTION, expert.severity.WARN)
note("lost", "The frame is not whole in this capture", expert.group.SEQUENCE, expert.severity.NOTE)
note("cut", "The capture has not all of it", expert.group.UNDECODED, expert.severity.NOTE)

pib.fields, pib.experts = f, notes

-- ---- what a capture is remembered by ----

local frames		-- those that segments make up, by the fields that all their segments share
local frame_at		-- frames by the place of each segment
local cookies		-- numbers of the packets that may have a cookie, by addresses, link id and session
local echoes		-- of packets with the first datagram that echoes one: the cookie's packet
local sessions_of	-- what opens sealed data, by link id and tag
local known		-- pairs of sessions that it has, by what a control datagram says of them
local known_left	-- so many more are remembered
local inside		-- true while Wireshark's dissector has an InfiniBand packet

local function forget()
	frames, frame_at, cookies, echoes, inside = {}, {}, {}, {}, false
	sessions_of, known, known_left = {}, {}, SESSIONS_MOST
end
forget()
pib.init = forget

-- ---- bytes ----
-- A datagram is { tvb, pinfo, way, back, unchecked, at, len, have, n }: it begins at @at, has @len bytes, and @have of them were
-- captured. @way has the addresses, @back those of what goes the other way. It is @unchecked if it came without a UDP checksum. It
-- is the @n-th thing of its super-packet that Info tells of. @place is what nothing else in the capture has, but what was opened
-- of it.

local zero = ("\0"):rep(8)

local function unsigned(d, at, len)
	return d.tvb(d.at + at, len):uint()
end

local function raw(d, at, len)
	return d.tvb:raw(d.at + at, len)
end

-- Add those fields of a layout, { name, offset, length, least, most }, that were captured.
local function show(d, tree, layout)
	for _, l in ipairs(layout) do
		local name, at, len, least, most = table.unpack(l)
		if at + len <= d.have then
			local item = tree:add(f[name], d.tvb(d.at + at, len))
			if least and (unsigned(d, at, len) < least or unsigned(d, at, len) > most) then
				item:add_proto_expert_info(notes.bad_value)
			end
		end
	end
end

local function show_rest(d, tree, name, at, till)
	if math.min(d.have, till) > at then
		tree:add(f[name], d.tvb(d.at + at, math.min(d.have, till) - at))
	end
end

-- Write the packet's Info; the second and later datagrams of a super-packet follow the first one.
local function tell(d, text)
	local info = d.pinfo.cols.info
	if d.n == 1 then
		d.pinfo.cols.protocol = "pib"
		info:set(text)
	else
		info:append(" | " .. text)
	end
	info:fence()
end

-- ---- ICRC ----

local crc_table = {}

local function crc_init()
	for i = 0, 255 do
		local v = i
		for _ = 1, 8 do
			local low = v % 2
			v = bit.rshift(v, 1)
			if low == 1 then v = bit.bxor(v, 0xEDB88320) end
		end
		crc_table[i] = v
	end
end

local function crc32(s)
	local crc, xor, shift = 0xFFFFFFFF, bit.bxor, bit.rshift
	if not crc_table[0] then crc_init() end
	for i = 1, #s do
		crc = xor(shift(crc, 8), crc_table[xor(crc, s:byte(i)) % 256])
	end
	return bit.bnot(crc) % 4294967296
end

-- Return: the packet without its ICRC, with ones where routers and switches may change it.
local function invariant(p)
	local ones = "\255"
	if p:byte(2) % 4 ~= 3 then
		return string.char(p:byte(1) % 16 + 0xF0) .. p:sub(2, LRH + 4) .. ones .. p:sub(LRH + 6, -ICRC - 1)
	end
	local version = p:byte(LRH + 1)
	return ones:rep(LRH) .. string.char(version - version % 16 + 15) .. ones:rep(3) .. p:sub(LRH + 5, LRH + 7) .. ones ..
		p:sub(LRH + 9, LRH + GRH + 4) .. ones .. p:sub(LRH + GRH + 6, -ICRC - 1)
end

-- ---- packets ----

local found, infiniband = pcall(Dissector.get, "infiniband")

-- Hand the bytes of a packet to Wireshark's dissector, which wants a VCRC behind them.
local function hand_over(d, bytes, root)
	if not found then return tell(d, "InfiniBand packet") end
	if d.n > 1 then
		d.pinfo.cols.info:append(" | ")
		d.pinfo.cols.info:fence()
	end
	-- What it makes of a malformed packet it has put into the tree.
	inside = true
	pcall(infiniband.call, infiniband, ByteArray.new(bytes .. "\0\0", true):tvb("InfiniBand packet"), d.pinfo, root)
	inside = false
	d.pinfo.cols.info:fence()
end

local function icrc_status(bytes, range, noicrc)
	if noicrc then return NOT_COMPUTED end
	if not pib.prefs.icrc then return NOT_CHECKED end
	return crc32(invariant(bytes)) == range:le_uint() and RIGHT or WRONG
end

local function show_icrc(d, tree, bytes, range)
	local noicrc = unsigned(d, 1, 1) % 2 == NOICRC
	local status = icrc_status(bytes, range, noicrc)
	local item = tree:add(f["packet.icrc"], range)
	tree:add(f["packet.icrc_status"], range, status):set_generated()
	if status == WRONG then item:add_proto_expert_info(notes.bad_icrc) end
	if noicrc and d.unchecked then item:add_proto_expert_info(notes.no_checksum) end
end

-- Return: what is wrong with the packet that begins with @lrh and may have @left bytes; its length.
local function packet_fault(lrh, left)
	local len = (lrh:byte(5) * 256 + lrh:byte(6)) % 2048 * 4
	if lrh:byte(1) % 16 ~= 0 then return "LVer is not 0" end
	if lrh:byte(2) % 4 < 2 then return "LNH names no IBA transport" end
	if len < LRH + BTH + ICRC + (lrh:byte(2) % 4 == 3 and GRH or 0) then return "PktLen is too small for the headers" end
	if len > left then return "PktLen is larger than what is there" end
	return nil, len
end

-- Show the packet at @at of @tvb, where @left bytes are and @have were captured. Return: its length; nil: there is none.
local function packet(d, tree, root, tvb, at, left, have)
	if left < LRH + BTH + ICRC then
		tree:add_proto_expert_info(notes.bad_packet, "Shorter than any InfiniBand packet")
		return nil
	end
	if have < LRH then return nil end
	local fault, len = packet_fault(tvb:raw(at, LRH), left)
	if fault then
		tree:add_proto_expert_info(notes.bad_packet, fault)
		return nil
	end
	local bytes = tvb:raw(at, math.min(len, have))
	local sub = tree:add(tvb(at, #bytes), "InfiniBand packet, " .. len .. " bytes")
	sub:add(f["packet.length"], tvb(at + 4, 2), len)
	if #bytes == len then
		show_icrc(d, sub, bytes, tvb(at + len - ICRC, ICRC))
		hand_over(d, bytes, root)
	else
		tell(d, "InfiniBand packet, " .. len .. " bytes, of which " .. #bytes .. " were captured")
	end
	return len
end

-- ---- segments ----

local segment_layout = {
	{ "segment.frame", 8, 2 }, { "segment.index", 10, 1 }, { "segment.total", 11, 1 }, { "segment.size", 12, 2 },
	{ "segment.first", 14, 2 },
}

-- Return: what is wrong with a segment's header.
local function segment_fault(index, total, size, len)
	if total < 1 or total > 64 then return "A frame has 1 to 64 segments" end
	if index >= total then return "The index is not below the total" end
	if size * total > 0xFFFF then return "Size times total is 65536 or more" end
	if total > 1 and size < 256 then return "Size is below 256" end
	if len > size or (index + 1 < total and len < size) then return "The length does not fit the size" end
	return nil
end

-- Return: the part of a whole frame with this index.
local function part_of(frame, index, size)
	return frame.bytes:sub(index * size + 1, index * size + size)
end

-- Return: true if a segment is of the frame. One that comes again when the frame is whole is of it if it is the same: a capture of
-- several netdevs has it several times.
local function is_of(d, frame, index, size, part)
	return math.abs(d.pinfo.rel_ts - frame.since) <= STALE and (not frame.bytes or part_of(frame, index, size) == part)
end

-- Add a part that comes from @here. The first one of an index counts.
local function frame_add(d, frame, here, index, total, part)
	if frame.from[index] then return end
	frame.from[index], frame.parts[index] = here, part
	frame.count = frame.count + 1
	if frame.count < total then return end
	frame.bytes = table.concat(frame.parts, "", 0, total - 1)
	frame.parts, frame.whole_in, frame.whole_at = nil, d.pinfo.number, d.place
end

-- Take in a segment, the first time that it is seen. Return: its frame.
local function frame_of(d, here, index, total, size)
	if frame_at[here] then return frame_at[here] end
	local key = d.way .. raw(d, 0, 10) .. raw(d, 11, 3)
	local part, frame = raw(d, SEGMENT_HEAD, d.len - SEGMENT_HEAD), frames[key]
	if not frame or not is_of(d, frame, index, size, part) then
		frame = { since = d.pinfo.rel_ts, parts = {}, from = {}, count = 0 }
		frames[key] = frame
	end
	frame_at[here] = frame
	frame_add(d, frame, here, index, total, part)
	return frame
end

local function show_frame(d, tree, root, bytes)
	local tvb, at = ByteArray.new(bytes, true):tvb("Frame of segments"), 0
	local sub = tree:add(tvb(), "Frame, " .. #bytes .. " bytes")
	while at < #bytes do
		local len = packet(d, sub, root, tvb, at, #bytes - at, #bytes - at)
		if not len then break end
		at, d.n = at + len, d.n + 1
	end
	if at == 0 then tell(d, "SEGMENT") end
end

local function put_together(d, tree, root, index, total, size)
	local here = d.place
	local frame = frame_of(d, here, index, total, size)
	-- Whether there was a checksum is known when Wireshark makes a tree, which need not be the first time.
	frame.unchecked = frame.unchecked or d.unchecked and frame.from[index] == here
	if frame.whole_at == here then
		d.unchecked = frame.unchecked
		return show_frame(d, tree, root, frame.bytes)
	end
	if frame.whole_in then
		tree:add(f["segment.whole_in"], frame.whole_in):set_generated()
	elseif d.pinfo.visited then
		tree:add_proto_expert_info(notes.lost)
	end
	tell(d, "SEGMENT " .. index + 1 .. " of " .. total .. ", frame " .. unsigned(d, 8, 2))
end

local function segment(d, tree, root)
	show(d, tree, segment_layout)
	show_rest(d, tree, "segment.data", SEGMENT_HEAD, d.len)
	if d.len <= SEGMENT_HEAD then
		tree:add_proto_expert_info(notes.bad_length, "Nothing is behind the segment's header")
		return tell(d, "SEGMENT, malformed")
	end
	if d.have < SEGMENT_HEAD then return tell(d, "SEGMENT") end
	local index, total, size = unsigned(d, 10, 1), unsigned(d, 11, 1), unsigned(d, 12, 2)
	local fault = segment_fault(index, total, size, d.len - SEGMENT_HEAD)
	if fault then
		tree:add_proto_expert_info(notes.bad_value, fault)
		return tell(d, "SEGMENT, malformed")
	end
	if d.have < d.len or not pib.prefs.reassemble then
		return tell(d, "SEGMENT " .. index + 1 .. " of " .. total .. ", frame " .. unsigned(d, 8, 2))
	end
	put_together(d, tree, root, index, total, size)
end

-- ---- keys ----
-- A link's two sessions are known from its control datagrams that the key has authenticated: nobody else can fill the memory for
-- them.

local folder = debug.getinfo(1, "S").source:match("^@(.*[/\\])") or ""
-- An older Lua has no integers of 64 bits, and cannot read it.
local can_open, seal = pcall(dofile, folder .. "pib_seal.lua")
local keys, key_fault = {}, nil

-- Return: the key in a file, which may end with a newline that is not the key's; nil: there is none, and why.
local function key_of(path)
	local file, why = io.open(path, "rb")
	if not file then return nil, why end
	local key = (file:read(KEY_MOST + 2) or ""):gsub("\n$", "")
	file:close()
	if #key < KEY_LEAST or #key > KEY_MOST then return nil, path .. ": a key has 16 to 64 bytes" end
	return key
end

local function take_keys()
	keys, key_fault = {}, nil
	for _, path in ipairs({ pib.prefs.key_file, pib.prefs.second_key_file }) do
		local key, why
		if path ~= "" then key, why = key_of(path) end
		if path ~= "" and not can_open then key, why = nil, "no pib_seal.lua that this Lua can read" end
		keys[#keys + 1], key_fault = key, key_fault or why
	end
end

local function is_authentic(d)
	local text, authentication = raw(d, 0, 160) .. ("\0"):rep(16), raw(d, 160, 16)
	for _, key in ipairs(keys) do
		if seal.hmac(key, text):sub(1, 16) == authentication then return true end
	end
	return false
end

-- Learn of what is sent to the sender of a control datagram. The key is that of the other end's session, so it may be either.
local function learn_session(d)
	local link_id, sessions = raw(d, 12, 4), raw(d, 16, 16)
	if #keys == 0 or sessions:sub(9) == zero or known_left == 0 or known[link_id .. sessions] then return end
	if not is_authentic(d) then return end
	known[link_id .. sessions], known_left = true, known_left - 1
	for _, key in ipairs(keys) do
		local name = link_id .. seal.hmac(key, sessions):sub(1, 2)
		sessions_of[name] = sessions_of[name] or {}
		table.insert(sessions_of[name], seal.session(key, sessions))
	end
end

-- Return: what an open fabric's datagram has behind its link header; nil: no key opens it. All of @d was captured.
local function opened(d)
	local bytes = raw(d, 0, d.len)
	for _, session in ipairs(sessions_of[raw(d, 4, 4) .. raw(d, 2, 2)] or {}) do
		local plain = seal.datagram(session, bytes)
		if plain then return plain end
	end
	return nil
end

-- ---- data ----

local function data(d, tree, root)
	local len = packet(d, tree, root, d.tvb, d.at + HEAD, d.len - HEAD, d.have - HEAD)
	if not len then return tell(d, "DATA") end
	if HEAD + len < d.len then tree:add_proto_expert_info(notes.trailing) end
end

local function show_seal(d, tree)
	show(d, tree, { { "seal.counter", 8, 8 } })
	show_rest(d, tree, "seal.encrypted", SEAL_HEAD, d.len - SEAL_TAG)
	show(d, tree, { { "seal.authentication", d.len - SEAL_TAG, SEAL_TAG } })
	if d.have >= SEAL_HEAD and raw(d, 8, 8) == zero then
		tree:add_proto_expert_info(notes.bad_value, "No counter is 0")
	end
	if key_fault then tree:add_proto_expert_info(notes.bad_key, key_fault) end
end

-- Show what was sealed in @d as an open fabric's datagram.
local function show_opened(d, tree, root, plain)
	local inner = { pinfo = d.pinfo, way = d.way, back = d.back, at = 0, n = d.n, place = d.place, unchecked = false }
	inner.tvb = ByteArray.new(raw(d, 0, HEAD) .. plain, true):tvb("Opened datagram")
	inner.len, inner.have = HEAD + #plain, HEAD + #plain
	local handler = unsigned(d, 0, 1) % 16 == DATA and data or segment
	handler(inner, tree, root)
end

local function sealed(d, tree, root)
	local told = types[unsigned(d, 0, 1) % 16] .. ", encrypted, " .. d.len - HEAD .. " bytes"
	if d.len <= SEAL_HEAD + SEAL_TAG then
		tree:add_proto_expert_info(notes.bad_length, "Too short for a counter, data and authentication")
		return tell(d, told)
	end
	show_seal(d, tree)
	local tried = #keys > 0 and d.have == d.len
	local plain = tried and opened(d)
	tree:add(f["seal.status"], plain and OPENED or tried and CLOSED or NOT_TRIED):set_generated()
	if not plain then return tell(d, told) end
	show_opened(d, tree, root, plain)
end

-- ---- control datagrams ----

local control_layout = {
	{ "hello.fabric", 8, 4 }, { "hello.link_id", 12, 4 }, { "hello.session", 16, 8 }, { "hello.peer_session", 24, 8 },
	{ "hello.node_guid", 32, 8 }, { "hello.port_guid", 40, 8 }, { "hello.port", 48, 1, 0, 254 },
	{ "hello.role", 49, 1, 1, 2 }, { "hello.mtu", 50, 1, 1, 5 }, { "hello.down", 51, 1, 0, 1 },
	{ "hello.capabilities", 52, 4 }, { "hello.capabilities.noicrc", 52, 4 }, { "hello.capabilities.segment", 52, 4 },
	{ "hello.capabilities.keyed", 52, 4 }, { "hello.capabilities.standalone", 52, 4 },
	{ "hello.capabilities.auto", 52, 4 }, { "hello.capabilities.probe", 52, 4 }, { "hello.capabilities.ecn", 52, 4 },
	{ "hello.capabilities.flows", 52, 4 }, { "hello.capabilities.flow_probe", 52, 4 }, { "hello.capabilities.flows_come", 52, 4 },
	{ "hello.capabilities.padded", 52, 4 }, { "hello.capabilities.windows", 52, 4 },
	{ "hello.keepalive", 56, 2, 0, 15000 }, { "hello.lids", 58, 1, 0, 8 }, { "hello.width", 59, 1 },
	{ "hello.sequence", 60, 4 }, { "hello.acknowledged", 64, 4 }, { "hello.speed", 68, 1 },
	{ "hello.extended_speed", 69, 1 }, { "hello.refusal", 70, 1 }, { "hello.padded", 152, 2 }, { "hello.probe", 154, 2 },
	{ "hello.came", 156, 2 },
}

local function show_lids(d, tree)
	for i = 0, math.min(unsigned(d, 58, 1), 8) - 1 do
		show(d, tree, { { "hello.lid", 72 + 2 * i, 2, 1, 0xBFFF } })
	end
end

-- Return: the description, which ends at the first NUL.
local function show_description(d, tree)
	local len = #raw(d, 88, 64):match("^[^\0]*")
	if len == 0 then return "" end
	tree:add_packet_field(f["hello.description"], d.tvb(d.at + 88, len), ENC_UTF_8)
	return d.tvb(d.at + 88, len):string(ENC_UTF_8):gsub("%c", "?")
end

-- A datagram that a host without a link may have answered with, and the first one that echoes it.
local function show_cookies(d, tree, kind)
	local here, mine, its = d.place, d.way .. raw(d, 12, 4) .. raw(d, 16, 8), d.back .. raw(d, 4, 4) .. raw(d, 24, 8)
	local may_be = (kind == HELLO or kind == HELLO_ACK) and unsigned(d, 60, 4) == 1 and unsigned(d, 51, 1) == 1 and
		unsigned(d, 12, 4) ~= 0 and raw(d, 24, 8) ~= zero
	if may_be then
		tree:add(f["hello.cookie"], true):set_generated()
		cookies[mine] = cookies[mine] or d.pinfo.number
	end
	if not d.pinfo.visited and kind ~= BYE and cookies[its] then
		echoes[here], cookies[its] = cookies[its], nil
	end
	if echoes[here] then tree:add(f["hello.cookie_in"], echoes[here]):set_generated() end
end

local function control_faults(d, tree)
	if raw(d, 16, 8) == zero then tree:add_proto_expert_info(notes.bad_value, "No session is 0") end
	if unsigned(d, 55, 1) % 32 >= 16 and unsigned(d, 49, 1) ~= 1 then
		tree:add_proto_expert_info(notes.bad_value, "Auto, and not the port of a switch")
	end
end

local function purpose(d, kind)
	if kind ~= HELLO or unsigned(d, 4, 4) ~= 0 or unsigned(d, 12, 4) ~= 0 then return types[kind] end
	return types[kind] .. (unsigned(d, 55, 1) % 64 >= 32 and " (probe)" or " (discovery)")
end

-- Return: how long the control datagram is by what it says.
local function control_length(d)
	local padded = unsigned(d, 0, 1) % 16 == KEEPALIVE and d.have >= 154 and unsigned(d, 152, 2) or 0
	return padded > CONTROL and padded or CONTROL
end

local function control(d, tree)
	local kind = unsigned(d, 0, 1) % 16
	show(d, tree, control_layout)
	if d.len ~= control_length(d) then
		tree:add_proto_expert_info(notes.bad_length, "A control datagram has 176 bytes, and a padded probe as many as it says")
	end
	if d.have < CONTROL then return tell(d, types[kind]) end
	show_lids(d, tree)
	local description = show_description(d, tree)
	show(d, tree, { { "hello.authentication", 160, 16 } })
	control_faults(d, tree)
	show_cookies(d, tree, kind)
	if kind ~= BYE then learn_session(d) end
	local refusal, padded = unsigned(d, 70, 1), unsigned(d, 152, 2)
	tell(d, purpose(d, kind) .. ", '" .. description .. "' port " .. unsigned(d, 48, 1) .. ", sequence " .. unsigned(d, 60, 4) ..
		", acknowledged " .. unsigned(d, 64, 4) .. (unsigned(d, 51, 1) == 1 and ", down" or "") ..
		(padded > 0 and ", padded probe " .. unsigned(d, 154, 2) .. ", " .. padded .. " bytes" or "") ..
		(refusal > 0 and ", refused: " .. (refusals[refusal] or refusal) or ""))
end

-- ---- credits ----

local credit_layout = {
	{ "credit.sequence", 8, 4 }, { "credit.answers", 12, 4 }, { "credit.session", 16, 8 }, { "credit.peer_session", 24, 8 },
	{ "credit.flags", 32, 1 }, { "credit.flags.asks", 32, 1 }, { "credit.flags.answers", 32, 1 },
	{ "credit.flags.shared", 32, 1 }, { "credit.vl", 33, 1 },
}
local DATA_VLS = 15

-- Show what was taken in of each VL. Return: that of the VLs that are in use, as text.
local function show_taken(d, tree)
	local text = ""
	for vl = 0, DATA_VLS - 1 do
		local bytes = unsigned(d, 36 + 4 * vl, 4)
		tree:add(f["credit.taken"], d.tvb(d.at + 36 + 4 * vl, 4)):prepend_text("VL" .. vl .. ": ")
		if bytes > 0 then text = text .. ", VL" .. vl .. " " .. bytes end
	end
	return text
end

local function credit(d, tree)
	show(d, tree, credit_layout)
	if d.len ~= CONTROL then tree:add_proto_expert_info(notes.bad_length, "A CREDIT has 176 bytes") end
	if d.have < CONTROL then return tell(d, "CREDIT") end
	local text, flags = show_taken(d, tree), unsigned(d, 32, 1)
	show(d, tree, { { "credit.authentication", 160, 16 } })
	tell(d, "CREDIT" .. (flags % 2 == 1 and ", a question" or flags % 4 >= 2 and ", an answer" or "") .. ", sequence " ..
		unsigned(d, 8, 4) .. text)
end

-- ---- echo datagrams ----

local ping_layout = {
	{ "version", 0, 1 }, { "type", 0, 1 }, { "flags", 1, 1 }, { "ping.flags.keyed", 1, 1 }, { "ping.flags.authentic", 1, 1 },
	{ "ping.flags.served", 1, 1 }, { "ping.sequence", 4, 4 }, { "ping.run", 8, 8 }, { "ping.time", 16, 8 },
	{ "ping.fabric", 24, 4 }, { "ping.software", 28, 1 }, { "ping.major", 29, 1 }, { "ping.minor", 30, 1 },
	{ "ping.patch", 31, 1 }, { "ping.authentication", 32, 16 },
}

local function ping(d, tree)
	show(d, tree, ping_layout)
	if d.len < PING_LEAST then tree:add_proto_expert_info(notes.bad_length, "An echo datagram has 48 bytes or more") end
	local sequence = d.have >= HEAD and ", sequence " .. unsigned(d, 4, 4) or ""
	tell(d, types[unsigned(d, 0, 1) % 16] .. sequence .. ", " .. d.len .. " bytes")
end

-- ---- datagrams ----

local head_layout = {
	{ "version", 0, 1 }, { "type", 0, 1 }, { "flags", 1, 1 }, { "flags.noicrc", 1, 1 }, { "flags.sealed", 1, 1 },
	{ "tag", 2, 2 }, { "link_id", 4, 4 },
}
local handlers = {
	[DATA] = data, [HELLO] = control, [HELLO_ACK] = control, [KEEPALIVE] = control, [BYE] = control, [SEGMENT] = segment,
	[CREDIT] = credit,
}

local function is_sealed(d)
	local kind = unsigned(d, 0, 1) % 16
	return (kind == DATA or kind == SEGMENT) and unsigned(d, 1, 1) % 4 >= SEALED
end

local function with_link(d, tree, root)
	local kind = unsigned(d, 0, 1) % 16
	show(d, tree, head_layout)
	if d.len < HEAD then
		tree:add_proto_expert_info(notes.bad_length, "Shorter than a link header")
	elseif not handlers[kind] then
		tree:add_proto_expert_info(notes.bad_type)
	elseif d.have >= HEAD then
		return (is_sealed(d) and sealed or handlers[kind])(d, tree, root)
	end
	tell(d, types[kind] or "type " .. kind)
end

local function datagram(d, root)
	local tree = root:add(pib, d.tvb(d.at, d.have))
	local version, kind = math.floor(unsigned(d, 0, 1) / 16), unsigned(d, 0, 1) % 16
	if version ~= VERSION then
		show(d, tree, { { "version", 0, 1 } })
		tree:add_proto_expert_info(notes.bad_version)
		return tell(d, "version " .. version)
	end
	tree:append_text(", " .. (types[kind] or "type " .. kind) .. ", " .. d.len .. " bytes")
	if d.have < d.len then tree:add_proto_expert_info(notes.cut) end
	if kind == PING or kind == PONG then return ping(d, tree) end
	with_link(d, tree, root)
end

-- ---- super-packets ----
-- A capture on a host may have several datagrams in one: so the host gave them to its netdev (GSO), or got them (GRO). All but the
-- last are of one length. In place of a UDP checksum there is the sum of addresses and length, for the netdev to complete.

local udp_checksum = Field.new("udp.checksum")
local ip4, ip6 = { Field.new("ip.src"), Field.new("ip.dst") }, { Field.new("ipv6.src"), Field.new("ipv6.dst") }

-- Return: the innermost field of this name; nil: there is none, or Wireshark makes no tree.
local function innermost(name)
	local all = { name() }
	return all[#all]
end

-- Return: true if @checksum, of a UDP datagram with @len bytes in it, is yet to be completed.
local function is_incomplete(checksum, pinfo, len)
	local sum = 17 + 8 + len
	for _, name in ipairs(tostring(pinfo.net_src):find(":", 1, true) and ip6 or ip4) do
		local address = innermost(name)
		for at = 0, address and address.len - 2 or -1, 2 do sum = sum + address.range(at, 2):uint() end
	end
	return checksum ~= 0 and (sum - checksum) % 0xFFFF == 0
end

-- Return: true if something that looks like a datagram begins at @at.
local function begins(d, at)
	return math.floor(unsigned(d, at, 1) / 16) == VERSION and types[unsigned(d, at, 1) % 16]
end

-- Return: where the next sealed datagram may begin: it has the same link header, and one of the next counters.
local function sealed_end(d)
	local all, from = raw(d, 0, d.have), SEAL_HEAD + SEAL_TAG
	while true do
		from = all:find(all:sub(2, HEAD), from + 1, true)
		if not from then return d.len end
		local at = from - 2
		if d.have >= at + SEAL_HEAD and begins(d, at) and raw(d, at + 8, 4) == raw(d, 8, 4) then
			local more = unsigned(d, at + 12, 4) - unsigned(d, 12, 4)
			if more > 0 and more < COUNTERS then return at end
		end
	end
end

-- Return: the length that the datagram says it has; nil: it does not.
local function own_length(d)
	local kind = unsigned(d, 0, 1) % 16
	if not begins(d, 0) or not handlers[kind] then return nil end
	if handlers[kind] == control then return control_length(d) end
	if kind == CREDIT then return CONTROL end
	if d.have < SEGMENT_HEAD then return nil end
	if is_sealed(d) then return sealed_end(d) end
	return kind == DATA and HEAD + unsigned(d, 12, 2) % 2048 * 4 or SEGMENT_HEAD + unsigned(d, 12, 2)
end

-- Return: the length of each datagram but the last. @d: all of them.
local function step_of(d)
	local step = own_length(d)
	if not step or step >= d.len then return d.len end
	for at = step, d.have - 1, step do
		if not begins(d, at) then return d.len end
	end
	return step
end

function pib.dissector(tvb, pinfo, root)
	local at, n, len, have = 0, 1, tvb:reported_len(), tvb:captured_len()
	if have == 0 then return 0 end
	-- A packet's payload may be a datagram of pib again. Its place is no place in the capture, and it could lead on without end.
	if inside then
		root:add(pib, tvb()):append_text(", in a packet of another one, not looked into")
		return have
	end
	-- The dissector of InfiniBand replaces the ports.
	local from, to = tostring(pinfo.net_src) .. " " .. pinfo.src_port .. " ", tostring(pinfo.net_dst) .. " " .. pinfo.dst_port .. " "
	local checksum = innermost(udp_checksum)
	local step = len
	if not checksum or is_incomplete(checksum.value, pinfo, len) then
		step = step_of({ tvb = tvb, at = 0, len = len, have = have })
	end
	while at < have do
		local d = { tvb = tvb, pinfo = pinfo, way = from .. to, back = to .. from, at = at, n = n, len = math.min(step, len - at) }
		d.have, d.unchecked = math.min(have - at, d.len), checksum and checksum.value == 0
		d.place = pinfo.number .. ":" .. at
		datagram(d, root)
		at, n = at + d.len, d.n + 1
	end
	return have
end

-- ---- the port ----

local udp, port = DissectorTable.get("udp.port"), nil

local function listen()
	if port then udp:remove(port, pib) end
	port = pib.prefs.port
	udp:add(port, pib)
end
listen()

function pib.prefs_changed()
	listen()
	take_keys()
end
