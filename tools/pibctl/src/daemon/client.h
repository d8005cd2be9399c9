// SPDX-License-Identifier: GPL-2.0
// The switches of a pibnetd, by its control socket: a line of JSON each way.
#pragma once

#include <functional>
#include <memory>

#include "objects/client.h"

namespace pib::ctl {

/// Sends a line to the daemon and returns its answer, both without a line feed.
using LineExchange = std::function<Result<std::string>(const std::string &line)>;

/// Of the unix socket at this path.
LineExchange exchange_lines_at(std::string path);

class DaemonClient final : public Client {
public:
	explicit DaemonClient(LineExchange exchange);

	Status add_hca(const HcaRequest &hca) override;
	Status set_keys(const KeysRequest &keys) override;
	Status set_behavior(const BehaviorRequest &behavior) override;
	Status add_switch(const SwitchRequest &node) override;
	Status add_link(const LinkRequest &link) override;
	Status remove(const std::string &name) override;
	Status remove_switch(const std::string &name) override;
	Status remove_link(const End &end) override;
	Status change_link(const LinkChange &change) override;
	Result<int> capture(const CaptureRequest &capture) override;
	Result<std::optional<std::uint32_t>> inject(const Injection &injection) override;
	Status remove_injection(const std::string &hca, std::optional<std::uint32_t> id) override;
	Result<std::vector<Injection>> injections() override;
	Result<EventSource> events() override;

	Result<std::vector<Hca>> hcas() override;
	Result<std::vector<Switch>> switches() override;
	Result<std::vector<Link>> links() override;
	Result<std::vector<Uplink>> uplinks() override;
	Result<std::vector<VerbsObject>> verbs_objects() override;
	Result<std::optional<Hca>> hca(const std::string &name) override;
	Result<std::optional<Switch>> find_switch(const std::string &name) override;

private:
	LineExchange exchange_;
};

} // namespace pib::ctl
