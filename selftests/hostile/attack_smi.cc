// SPDX-License-Identifier: GPL-2.0
/* Management packets to QP 0, which takes them from QP 0 only: it is the whole subnet's steering wheel. */
#include "attack.h"

#include <unistd.h>

namespace hostile {

namespace {

constexpr uint8_t lid_routed = 0x01, directed = 0x81;
constexpr uint16_t node_info = 0x0011, port_info = 0x0015;

/* SubnGet of NodeInfo or PortInfo, as 14.2.1 has it. */
void make_smp(uint8_t *mad, uint8_t mgmt_class, uint16_t attribute, uint32_t id)
{
	memset(mad, 0, 256);
	mad[0] = 1;
	mad[1] = mgmt_class;
	mad[2] = 1;
	mad[3] = 1;
	memcpy(mad + 12, &id, 4);
	mad[16] = attribute >> 8;
	mad[17] = attribute & 0xff;
	if (mgmt_class == directed)
		memset(mad + 32, 0xff, 4); /* permissive source and destination */
}

ops::EndOptions datagrams(uint32_t qkey)
{
	ops::EndOptions o;
	o.type = IBV_QPT_UD;
	o.qkey = qkey;
	return o;
}

} // namespace

void attack_smi(const Options &o, Tally &tally)
{
	Rng rng(o.seed);
	ops::Env env{.dev_a = o.dev, .dev_b = o.dev};
	ops::Pair p(env, datagrams(0));
	auto end = o.end();
	ibv_wc wc;

	for (unsigned i = 0; i < 16; i++)
		p.a.recv({p.a.sge(1024 * i, 512)});
	ibv_ah_attr permissive = p.a.address_of(p.b);
	permissive.dlid = 0xffff;
	ops::Ah anywhere(ibv_create_ah(p.a.pd.get(), &permissive));
	for (uint32_t id = 1; Clock::now() < end; id++) {
		make_smp(p.a.mem.at(32768), rng.pick({lid_routed, directed}),
			 rng.pick({node_info, port_info}), id);
		ops::Wr wr = p.send_wr(32768, 256);
		wr.qpn = 0;
		wr.qkey = 0;
		if (anywhere && rng.one_in(2))
			wr.ah = anywhere.get();
		tally.note("SMP posted", !p.a.try_send(wr));
		usleep(5000);
		while (ibv_poll_cq(p.a.cq.get(), 1, &wc) > 0) {
			if (wc.opcode & IBV_WC_RECV && wc.status == IBV_WC_SUCCESS)
				FAIL("QP 0 answers a user");
			/* It may be refused with an error: then the queue pair is of no more use. */
			if (wc.status != IBV_WC_SUCCESS) {
				ibv_qp_attr reset{.qp_state = IBV_QPS_RESET};
				p.a.modify(reset, IBV_QP_STATE);
				p.a.to_init();
				p.a.to_rtr(p.b);
				p.a.to_rts();
				for (unsigned i = 0; i < 16; i++)
					p.a.recv({p.a.sge(1024 * i, 512)});
			}
		}
	}
}

} // namespace hostile
