// SPDX-License-Identifier: GPL-2.0
#include "threads.h"

#include <cstdio>
#include <unistd.h>

namespace hostile {

static constexpr Contest contests[] = {
	{"rereg/bind", rereg_against_bind},
	{"dereg/bind", dereg_against_bind},
	{"dereg/write", dereg_against_writes},
	{"resize/poll", resize_against_traffic},
	{"destroy/traffic", destroy_against_traffic},
	{"modify/traffic", modify_against_traffic},
	{"ah/datagrams", addresses_against_datagrams},
	{"srq/xrc", srqs_against_xrc},
};

void reconnect(ops::Pair &p)
{
	for (ops::End *e : {&p.a, &p.b})
		e->to(IBV_QPS_RESET);
	p.connect();
}

unsigned drain(ibv_cq *cq, Tally &tally, const char *name)
{
	unsigned good = 0;
	ibv_wc wc[16];

	for (int n; (n = ibv_poll_cq(cq, 16, wc)) > 0;)
		for (int i = 0; i < n; i++) {
			good += wc[i].status == IBV_WC_SUCCESS;
			tally.note(name, wc[i].status == IBV_WC_SUCCESS);
		}
	return good;
}

/* Each contest gets its part of the time, the last one's threads have gone when the next begins. */
int run_threads(const Options &o)
{
	Tally tally;
	Options one = o;

	one.seconds = std::max<size_t>(o.seconds / std::size(contests), 4);
	for (const Contest &c : contests) {
		if (!o.what.empty() && std::string(c.name).find(o.what) == std::string::npos)
			continue;
		printf("%s\n", c.name);
		fflush(stdout);
		alarm(one.seconds + 300 * ops::slowness()); /* it hangs */
		c.run(one, tally);
	}
	tally.print();
	if (std::string names = tally.never("", 50); !names.empty())
		ops::note_failure("never succeeded:" + names);
	return failed();
}

} // namespace hostile
