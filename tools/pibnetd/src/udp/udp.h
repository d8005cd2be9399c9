// SPDX-License-Identifier: GPL-2.0
// UDP sockets: many datagrams to a system call, by recvmmsg and sendmmsg, GRO and GSO.
#pragma once

#include <netinet/in.h>

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "util/fd.h"
#include "udp/intake.h"
#include "wire/stats.h"
#include "wire/wire.h"

namespace pib::netd {

class Udp : public Wire {
public:
	/// stats: errors of sending are counted there.
	explicit Udp(Stats &stats);
	~Udp() override;

	/// Opens a socket; its number is that of Path::socket.
	Result<unsigned> open(const Address &listen);
	/// Opens one with the number and at the address of another Udp's. They share what comes:
	/// what one address and port sends comes to one of them.
	Status join(unsigned socket, const Address &listen, const Udp &with);
	/// Nothing, if the socket was never opened here: a thread may have had none to spare.
	void close(unsigned socket)
	{
		if (socket < sockets_.size())
			sockets_[socket] = {};
	}
	int descriptor(unsigned socket) const { return sockets_[socket].fd.get(); }
	Address local(unsigned socket) const;
	/// Bytes that the system lets wait in the socket.
	std::uint64_t receive_buffer(unsigned socket) const;

	/// There is something in the socket; it is looked into until receive() finds nothing.
	void readable(unsigned socket) { sockets_[socket].readable = true; }
	/// Datagrams of those sockets, up to a batch. The bytes stay as they are until the next
	/// call.
	std::span<const Arrival> next();
	/// Passes these to take(); returns the number of super-packets.
	std::size_t receive(const std::function<void(const Arrival &)> &take);
	/// True if more was taken out of the sockets than receive() has passed on.
	bool waiting() const { return !intake_.empty(); }

	/// Number of datagrams that the sockets, being full, have dropped since the last call.
	std::uint64_t overruns();

	void send(const Path &path, std::span<const iovec> parts, std::size_t segment,
		  std::uint8_t tos, Rank rank) override;
	void flush() override;
	void answer(const Path &path, std::span<const std::uint8_t> bytes) override;
	/// Sends them, but those for which a socket has no room, and those that would take the room
	/// of other datagrams: answers to hosts that are not there wait for seconds in the socket.
	/// Those are dropped and counted as errors of sending.
	void send_answers(std::uint64_t now);
	std::size_t room(const Path &path) override;
	/// More messages of management do not go before data: who floods a subnet with SMPs takes
	/// nobody's place.
	static constexpr std::size_t kManagementFirst = 32;
	/// As many credits do, beside it.
	static constexpr std::size_t kCreditsFirst = 32;
	/// Addresses of which the room is remembered: not more, however many peers have come by.
	static constexpr std::size_t kRoomsMost = 4096;
	std::size_t rooms() const { return rooms_.size(); }

protected:
	struct Socket {
		Fd fd;
		int family = 0;
		bool readable = false;
		std::uint32_t dropped = 0;
		/// Bytes of the send buffer that answers may take.
		std::size_t answers_most = 0;
		/// Those that they take, if none has left.
		std::size_t answers = 0;
		/// Time at which all that was sent before has left, ns.
		std::uint64_t answers_leave = 0;
	};
	/// As sendmmsg().
	virtual int give(const Socket &socket, std::span<mmsghdr> headers);
	/// Waits for a full socket. Returns true if it takes something again.
	virtual bool wait_writable(const Socket &socket) const;
	/// Bytes of the send buffer that are taken.
	virtual std::size_t outstanding(const Socket &socket) const;

private:
	struct Message {
		Path path;
		std::size_t first;
		std::size_t count;
		std::size_t segment;
		std::size_t bytes;
		std::uint8_t tos;
		Rank rank;
	};
	struct Answer {
		Path path;
		std::vector<std::uint8_t> bytes;
	};
	struct Room {
		std::size_t bytes;
		std::uint64_t until;
	};
	struct Outgoing;

	Result<Socket> make(const Address &listen, bool shared) const;
	void fill();
	Socket *socket_for(const Path &path);
	void prepare(const Message &message, std::span<iovec> parts, Outgoing &out) const;
	std::size_t lose_last(const Socket &socket);
	void send_refused(const Socket &socket, const Message &message, int error);
	std::size_t send_run(const Socket &socket, std::size_t from, std::size_t n);
	void send_apart(const Socket &socket, const Message &message);
	bool has_room(Socket &socket, std::size_t bytes, std::uint64_t now) const;
	bool send_answer(Answer &answer, std::uint64_t now);
	std::size_t ask_room(const Path &path) const;
	void forget_rooms(std::uint64_t now);

	Stats &stats_;
	std::vector<Socket> sockets_;
	Intake intake_;
	std::size_t first_ = 0;
	std::unique_ptr<Outgoing[]> outgoing_;
	std::vector<iovec> parts_;
	std::vector<Message> messages_;
	/// Of these, management.
	std::size_t management_ = 0;
	std::size_t credits_ = 0;
	std::vector<Answer> answers_;
	std::map<std::pair<int, std::array<std::uint8_t, 16>>, Room> rooms_;
};

} // namespace pib::netd
