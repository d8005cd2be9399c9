// SPDX-License-Identifier: GPL-2.0
// Network namespaces for HCAs: those that "ip netns" knows, each with the IPoIB netdevs of one HCA.
#pragma once

#include <string>
#include <vector>

#include "model/result.h"

namespace pib::ctl {

/// Makes a network namespace for each HCA, called as the HCA is, and moves its IPoIB netdevs
/// there. If something fails, the namespaces that were made are deleted again.
Status make_namespaces(const std::vector<std::string> &hcas);

/// Deletes those of these namespaces which make_namespaces() made.
Status delete_namespaces(const std::vector<std::string> &hcas);

} // namespace pib::ctl
