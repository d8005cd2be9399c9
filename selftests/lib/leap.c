// SPDX-License-Identifier: GPL-2.0
/* leap DEVICE: a queue pair is to go from RESET to RTS, and by no more than the state. Refused. */
#include <stdint.h>
#include "end.h"

int main(int argc, char **argv)
{
	static uint8_t memory[4096];
	struct end e = {};

	if (argc != 2)
		return 2;
	open_end(&e, argv[1], IBV_QPT_RC, 1, 1, memory, sizeof(memory));
	modify(&e, (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS }, 0, "RTS");
	return 0;
}
