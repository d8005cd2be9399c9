// SPDX-License-Identifier: GPL-2.0
// The reference model: what one side's work requests do to the other's memory and queues.
//
// It executes each work request once, in order, when it is posted, and knows so what each must
// bring. It has no packets. A WRITE is only posted where no READ is under way, since a READ that
// is answered again brings what the memory holds by then.
#pragma once

#include "params.h"

namespace sim {

constexpr uint32_t kDataKey = 0x100, kCellKey = 0x200, kReadOnlyKey = 0x300, kBehindKey = 0x400,
		   kNoKey = 0x999, kWindowKeys = 0x10000;
constexpr uint32_t kSrqs = 2;
// XRC: the SRQ through which a region is reached.
constexpr uint32_t kDataSrq = 1, kCellSrq = 0;

class Model {
public:
	Model(const Params &p, int side, Rng &rng);

	// Registers at the receiving side what this one uses.
	void set_up(Node &peer);
	// Begin again from what memory holds now.
	void restart(Node &peer);

	// The next work request, and what it does. @inject: spoil it.
	Work make(uint64_t id, Inject inject);
	// BIND_MW, REG_MR or LOCAL_INV for the receiving side to post, as its work request @id:
	// opens or closes the window that this model's WRITEs and READs go through.
	std::optional<Work> make_window_work(uint64_t id, Model &poster);
	// A completion of the sending side.
	void sent(const Wc &wc);
	// A completion of the receiving side.
	void received(const Wc &wc);
	// Nothing is posted and not completed.
	bool all_sent() const { return expect_.empty(); }
	// SQE -> RTS: what is posted from work request @id on is sent again.
	void resumed(uint64_t id) { sound_from_ = id; }
	// At the end of a run.
	void check_end(Node &peer);

	bool may_break = false; // sender or receiver were put into the error state
	bool peer_dead = false;
	uint32_t first_error = 0; // status that broke the sender's queue
	uint64_t deliveries() const { return got_; }

private:
	struct Slot {
		Bytes now;	      // what the target must hold once all posted is executed
		uint32_t reads = 0;   // under way
		uint32_t writes = 0;  // ever posted
		uint32_t writing = 0; // under way
		bool dirty = false;   // a failed WRITE may have changed it
	};
	struct Cell {
		uint64_t now = 0;
		bool dirty = false;
	};
	struct Want {
		uint8_t op;
		Inject inject;
		int slot = -1, cell = -1;
		bool consumes = false; // a receive completion on the other side
		Bytes data;	       // READ, atomics: what must come
		bool window = false;   // the access goes through the window
		std::function<void(bool ok)> done = nullptr;
	};
	enum class Window { Unbound, Opening, Bound, Closing };
	struct Message {
		uint64_t id;
		Bytes data;
		uint32_t len;
		uint32_t ex;
		uint16_t flags;
		// The WRITE before it has been executed when it arrives.
		int slot = -1;
		uint32_t writes = 0;
	};

	uint8_t choose_op();
	void make_send(Work &k, Want &want);
	void make_closing_send(Work &k);
	bool make_window_access(Work &k, Want &want);
	Bytes &content(const Want &want)
	{
		return want.window ? behind_.now : slots_[want.slot].now;
	}
	void finish_access(const Want &want, bool ok);
	void check_before(const Message &m);
	void check_behind();
	bool make_write(Work &k, Want &want);
	void make_read(Work &k, Want &want);
	void make_cell(Work &k, Want &want);
	void make_flush(Work &k);
	void spoil(Work &k, Inject inject);
	bool status_allowed(const Wc &wc, const Want &want) const;
	uint32_t length();
	static bool same(const Message &m, const Wc &wc);
	void receive_in_order(const Wc &wc);
	void receive_any(const Wc &wc);
	void check_written(Node &peer, int slot);
	bool lossless(const Node &peer) const;

	const Params &p_;
	Node *peer_ = nullptr;
	int side_;
	Rng &g_;
	uint64_t data_va_, cell_va_;
	std::vector<Slot> slots_;
	std::vector<Bytes> before_; // the slots, as registered
	std::vector<Cell> cells_;
	Bytes read_only_;
	Slot behind_; // what the window looks onto
	uint64_t behind_va_;
	Window window_ = Window::Unbound;
	uint32_t window_key_ = kWindowKeys;
	int last_write_ = -1; // slot
	std::map<uint64_t, Want> expect_;
	std::deque<Message> messages_; // to be received; unreliable: all ever posted
	size_t next_message_ = 0;
	uint64_t got_ = 0;
	bool broken_ = false;
	uint64_t sound_from_ = ~0ULL;
};

} // namespace sim
