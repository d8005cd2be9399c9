// SPDX-License-Identifier: GPL-2.0
// A list of objects of verbs, for text and JSON alike. JSON keys are API.
#pragma once

#include <vector>

#include "model/show/output.h"
#include "objects/verbs_object.h"

namespace pib::ctl {

void show_verbs_objects(Output &out, const std::vector<VerbsObject> &objects);

} // namespace pib::ctl
