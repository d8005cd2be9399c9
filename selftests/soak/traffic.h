/* SPDX-License-Identifier: GPL-2.0 */
/* The traffic of one way over a connection, and what must come of it. */
#pragma once

#include <array>
#include <map>

#include "end.h"

namespace soak {

/** Where one direction's receives are: of the QP, or of SRQs that an XRC sender names. */
struct Target {
	Receives *receives;
	uint32_t srqn = 0;
};

struct Counts {
	uint64_t messages = 0, bytes = 0, received = 0, duplicates = 0;
	std::map<std::string, uint64_t> by_name;
};

class Traffic {
public:
	Traffic(End &a, End &b, std::vector<Target> targets, uint32_t max_length, Rng &rng);
	virtual ~Traffic() = default;

	/** Posts one work request at a, if there is room. */
	virtual void post() = 0;
	/** A receive completion at b; false: it is not of this direction's receives. */
	void received(const ibv_wc &wc);
	/** Both QPs are reset: begin again with what memory holds now. */
	virtual void restart() = 0;
	/** All is sent and received. */
	virtual void check_end() = 0;

	End &a, &b;
	Counts counts;

protected:
	virtual void message(const ibv_wc &wc, const uint8_t *data) = 0;
	uint32_t length();
	/** A work request with @p as its payload, or from inline data. */
	ibv_send_wr request(ibv_wr_opcode op, std::vector<ibv_sge> &sg, bool may_inline);
	void count(const char *name, uint32_t bytes);

	std::vector<Target> targets_;
	uint32_t max_length_;
	Rng &rng_;
};

/** RC and XRC: everything once, in order. */
class Reliable : public Traffic {
public:
	Reliable(End &a, End &b, std::vector<Target> targets, uint32_t max_length, Rng &rng);
	void post() override;
	void restart() override;
	void check_end() override;

private:
	struct Slot {				/* of b's memory */
		std::vector<uint8_t> now;	/* once all that is posted is executed */
		unsigned reads = 0, writes = 0; /* under way */
	};
	struct Cell {
		uint64_t now = 0;
		unsigned pending = 0;
	};
	struct Message {
		ibv_wc_opcode opcode;
		Payload payload;
		unsigned flags = 0;
		uint32_t ex = 0; /* immediate data, as it stands in the completion, or key */
		unsigned target = 0;
	};
	enum class Window { Unbound, Binding, Bound, Closing };

	void message(const ibv_wc &wc, const uint8_t *data) override;
	void post_send();
	void post_write();
	void post_read();
	void post_atomic();
	void post_atomic_write();
	void post_flush();
	void post_window();
	void bind_window();
	void write_window();
	void close_window();
	void invalidate_window();
	bool stable(unsigned slot);
	void check_slot(unsigned slot);
	size_t place(unsigned slot, uint32_t offset) const
	{
		return slot * size_t(max_length_) + offset;
	}
	unsigned take_landing();
	uint64_t cell_in_memory(unsigned i) const;
	bool target_has_queue() const { return b.sends(); }

	Memory slots_mem_, cells_mem_, window_mem_, landing_;
	std::vector<Slot> slots_;
	std::array<Cell, 8> cells_;
	std::vector<unsigned> landings_;
	std::deque<Message> expected_;
	uint64_t acknowledged_ = 0, arrived_ = 0; /* messages that take a receive, in this life */
	ops::Mw window_;
	Window window_is_ = Window::Unbound;
	Slot window_slot_;
};

/** UC and UD: messages may be lost, and doubled where the path doubles; what comes is whole. */
class Unreliable : public Traffic {
public:
	Unreliable(End &a, End &b, std::vector<Target> targets, uint32_t max_length, Rng &rng);
	void post() override;
	void restart() override {}
	void check_end() override {}

private:
	struct Message {
		uint32_t imm = 0;
		bool write = false;
		size_t offset = 0;
		bool seen = false;
		Payload payload;
	};
	struct Slot {
		Clock::time_point used{};
		uint32_t again = 0; /* when one with this immediate data has arrived */
	};

	void message(const ibv_wc &wc, const uint8_t *data) override;
	bool choose_slot(size_t &offset);
	bool fits(const Message &m, const ibv_wc &wc, const uint8_t *data) const;

	Memory slots_mem_;
	std::vector<Slot> slots_;
	std::deque<Message> recent_;
	ops::Ah ah_;
	uint32_t next_imm_ = 1, arrived_ = 0;
};

} // namespace soak
