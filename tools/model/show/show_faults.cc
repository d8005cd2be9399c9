// SPDX-License-Identifier: GPL-2.0
#include "model/show/show_faults.h"

#include <fmt/format.h>

#include "model/words/parse.h"

namespace pib::inline model {
namespace {

/// Text speaks of faults only; JSON has every field.
template <typename Number>
void show(Output &out, std::string_view key, Number value, const std::string &text)
{
	if (value != 0)
		out.field(key, value, text);
	else
		out.key_field(key, value);
}

void show_share(Output &out, std::string_view key, std::uint64_t units, double scale)
{
	const double share = static_cast<double>(units) / scale;
	show(out, key, share, fmt::format("{:g}", share));
}

void show_arrivals(Output &out, const Faults &faults)
{
	out.begin_list("arrivals");
	for (const FaultCounts &counts : faults.counts) {
		out.begin_item(fmt::format("to {}", format_end(counts.to)));
		out.key_field("node", counts.to.node);
		out.key_field("port", std::uint64_t{counts.to.port});
		out.field("packets", counts.packets);
		out.field("lost", counts.lost);
		out.field("damaged", counts.damaged);
		out.field("duplicated", counts.duplicated);
		out.field("reordered", counts.reordered);
		out.end_item();
	}
	out.end_list();
}

} // namespace

void show_faults(Output &out, const Faults &faults)
{
	out.line_break();
	out.begin_group("faults");
	out.field("seed", faults.seed);
	show_share(out, "loss", faults.loss, 1e9);
	show_share(out, "duplicate", faults.duplicate, 1e9);
	show_share(out, "reorder", faults.reorder, 1e9);
	show_share(out, "bit_errors", faults.bit_errors, 1e15);
	show(out, "latency_ns", faults.latency, fmt::format("{}", faults.latency));
	show(out, "rate_bps", faults.rate, fmt::format("{}", faults.rate));
	show(out, "buffer", std::uint64_t{faults.buffer}, fmt::format("{}", faults.buffer));
	show(out, "flap_up_ms", std::uint64_t{faults.flap_up}, fmt::format("{}", faults.flap_up));
	show(out, "flap_down_ms", std::uint64_t{faults.flap_down},
	     fmt::format("{}", faults.flap_down));
	out.end_group();
	show_arrivals(out, faults);
}

} // namespace pib::inline model
