// SPDX-License-Identifier: GPL-2.0
// The module's commands as functions on plain data. A daemon may stand in for the module.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/objects.h"
#include "objects/event.h"
#include "objects/requests.h"
#include "objects/verbs_object.h"
#include "netlink/refusal.h"
#include "netlink/session.h"

namespace pib::ctl {

class Client {
public:
	explicit Client(TransportFactory open) : session_(std::move(open)) {}
	virtual ~Client() = default;

	virtual Status add_hca(const HcaRequest &hca);
	/// Changes the keys of the fabric on the HCA's netdev.
	virtual Status set_keys(const KeysRequest &keys);
	virtual Status set_behavior(const BehaviorRequest &behavior);
	virtual Status add_switch(const SwitchRequest &node);
	virtual Status add_link(const LinkRequest &link);
	/// Deletes the HCA, or else the switch, of this name.
	virtual Status remove(const std::string &name);
	virtual Status remove_switch(const std::string &name);
	virtual Status remove_link(const End &end);
	virtual Status change_link(const LinkChange &change);
	/// Begins a capture. It ends when the file descriptor, which is the caller's, is closed.
	virtual Result<int> capture(const CaptureRequest &capture);
	/// Makes something go wrong in an HCA, or else in the switch of this name. The number of the
	/// rule, if it is one.
	virtual Result<std::optional<std::uint32_t>> inject(const Injection &injection);
	/// id: absent for all of the HCA or switch.
	virtual Status remove_injection(const std::string &node, std::optional<std::uint32_t> id);
	virtual Result<std::vector<Injection>> injections();
	/// Looks up where the module sends events, each time again.
	virtual Result<EventSource> events();
	/// Makes many changes, some at a time. made[i] tells whether change i was carried out: when
	/// one is refused, those sent along with it still are, and later ones are not sent.
	struct Applied {
		std::vector<bool> made;
		Status status = success();
	};
	/// Called before each part: how many are done, of how many. A refusal of it ends the whole,
	/// as one of the kernel's does.
	using Step = std::function<Status(std::size_t done, std::size_t all)>;
	Applied apply(const std::vector<Change> &changes, const Step &step = {});

	virtual Result<std::vector<Hca>> hcas();
	virtual Result<std::vector<Switch>> switches();
	virtual Result<std::vector<Link>> links();
	virtual Result<std::vector<Uplink>> uplinks();
	/// Objects of verbs of all HCAs, as far as the caller may see them.
	virtual Result<std::vector<VerbsObject>> verbs_objects();
	/// Nothing if none has the name.
	virtual Result<std::optional<Hca>> hca(const std::string &name);
	virtual Result<std::optional<Switch>> find_switch(const std::string &name);

	/// Texts of the module, once each, about requests that it has carried out.
	const std::vector<std::string> &notes() const { return notes_; }
	/// The changes that they are about were taken back.
	void forget_notes() { notes_.clear(); }
	/// Of the answers so far.
	const std::optional<std::string> &module_version() const { return module_version_; }

private:
	Result<std::optional<std::uint32_t>> inject_into(const Injection &injection);
	Status apply_some(std::span<const Change> changes, std::vector<bool> &made);
	void note(const Verdict &verdict);
	Status command(std::string_view doing, Request request, std::span<const Reason> reasons);
	Result<std::vector<Answer>> list(std::string_view what, std::uint8_t command);
	Result<std::optional<std::vector<Answer>>> ask(std::string_view what, Request request);

	Session session_;
	std::optional<std::string> module_version_;
	std::vector<std::string> notes_;
};

} // namespace pib::ctl
