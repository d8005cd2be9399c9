// SPDX-License-Identifier: GPL-2.0
// A conversation with the module: finds the family, sends requests, gathers answers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "netlink/answer.h"
#include "netlink/message.h"
#include "netlink/transport.h"

namespace pib::ctl {

/// One answer: its attributes, without the generic netlink header.
struct Answer {
	std::uint8_t command = 0;
	Bytes attributes;
};

/// Result of a request, if the conversation itself went well.
struct Outcome {
	std::vector<Answer> answers;
	Verdict verdict;
};

class Session {
public:
	explicit Session(TransportFactory open) : open_(std::move(open)) {}

	/// Opens the socket and finds (by which the kernel loads) the module.
	Status connect();
	/// Connects if need be, sends, and gathers up to the verdict. A module that was unloaded and
	/// loaded again meanwhile is found again, but not loaded.
	Result<Outcome> call(Request &request);
	/// Sends several requests, none of them a dump, as one message, and gathers their verdicts.
	/// The kernel carries out each of them, also after one that it refuses.
	Result<std::vector<Verdict>> call_all(std::vector<Request> &requests);
	/// As connect(), but if the module was found before, looks it up again without loading it.
	Status reconnect();
	bool connected() const { return family_ != 0; }
	/// Of the family, once connected.
	std::uint16_t family() const { return family_; }
	/// The number of a multicast group; nothing if the module has none of that name.
	std::optional<std::uint32_t> group(std::string_view name) const;

private:
	Result<Outcome> call_family(Request &request);
	Result<Outcome> exchange(Request &request, std::uint16_t type);
	Result<bool> take(View datagram, std::uint16_t type, std::uint32_t sequence,
			  Outcome &outcome);
	Status take_verdicts(View datagram, std::uint32_t first, std::vector<Verdict> &verdicts,
			     std::size_t &missing);
	Status find_family();
	Status find_family_again();
	Status take_family(const Answer &answer);
	void take_groups(const Answer &answer);

	TransportFactory open_;
	std::unique_ptr<Transport> transport_;
	/// 0: not known, or not any more.
	std::uint16_t family_ = 0;
	/// It was known once.
	bool known_ = false;
	std::vector<std::pair<std::string, std::uint32_t>> groups_;
	std::uint32_t sequence_ = 0;
	bool interrupted_ = false;
};

} // namespace pib::ctl
