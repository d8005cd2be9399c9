// SPDX-License-Identifier: GPL-2.0
#include "host.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>

namespace soak {

static constexpr size_t source_size = 1 << 18;

Host::Host(const std::string &name_, Rng &rng) : name(name_), dev(name_)
{
	pd.reset(ops::made(ibv_alloc_pd(dev.ctx.get()), "ibv_alloc_pd"));
	source = Memory(pd.get(), source_size);
	for (size_t i = 0; i < source_size; i += 8) {
		uint64_t x = rng.next();
		memcpy(source.at(i), &x, 8);
	}
	fcntl(dev.ctx->async_fd, F_SETFL, fcntl(dev.ctx->async_fd, F_GETFL) | O_NONBLOCK);
}

Payload Host::payload(Rng &rng, uint32_t length, unsigned max_pieces) const
{
	unsigned n = length < max_pieces ? 1 : rng.range(1, max_pieces);
	Payload p;

	p.length = length;
	for (; n && length; n--) {
		uint32_t part = n == 1 ? length : rng.range(1, length);
		p.pieces.push_back({rng.below(source_size - part + 1), part});
		length -= part;
	}
	return p;
}

void Host::copy(const Payload &p, uint8_t *to) const
{
	for (const auto &piece : p.pieces) {
		memcpy(to, source.at(piece.offset), piece.length);
		to += piece.length;
	}
}

bool Host::same(const Payload &p, const uint8_t *is) const
{
	for (const auto &piece : p.pieces) {
		if (memcmp(is, source.at(piece.offset), piece.length))
			return false;
		is += piece.length;
	}
	return true;
}

std::vector<ibv_sge> Host::sges(const Payload &p) const
{
	std::vector<ibv_sge> v;

	for (const auto &piece : p.pieces)
		v.push_back(source.sge(piece.offset, piece.length));
	return v;
}

bool Host::active() const
{
	ibv_port_attr attr{};
	return !ibv_query_port(dev.ctx.get(), dev.port, &attr) && attr.state == IBV_PORT_ACTIVE;
}

void Host::drop_events()
{
	ibv_async_event event{};

	while (!ibv_get_async_event(dev.ctx.get(), &event))
		ibv_ack_async_event(&event);
}

} // namespace soak
