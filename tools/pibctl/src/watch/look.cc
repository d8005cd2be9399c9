// SPDX-License-Identifier: GPL-2.0
#include "watch/look.h"

#include <linux/pib.h>

namespace pib::ctl {

Result<Look> look_at_fabric(Client &client)
{
	Look look;
	look.when = std::chrono::steady_clock::now();
	auto fabric = take_snapshot(client);
	if (!fabric)
		return fabric.error();
	look.fabric = std::move(*fabric);
	return look;
}

Result<Look> look_at_all(Client &client)
{
	auto look = look_at_fabric(client);
	if (!look)
		return look.error();
	auto objects = client.verbs_objects();
	if (!objects)
		return objects.error();
	std::erase_if(*objects,
		      [](const VerbsObject &object) { return object.kind != PIB_OBJECT_KIND_QP; });
	look->queue_pairs = std::move(*objects);
	return look;
}

double seconds_between(const Look &before, const Look &now)
{
	return std::chrono::duration<double>(now.when - before.when).count();
}

} // namespace pib::ctl
