// SPDX-License-Identifier: GPL-2.0
/*
 * set_pkey DEVICE LID INDEX P_KEY: sets one of the first 32 entries of the P_Key table (IBA 14.2.5.7) of the HCA port
 * with that LID, by SMPs that leave by port 1 of the device and hold M_Key 0.
 */
#include <infiniband/mad.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int classes[] = { IB_SMI_CLASS };
	uint8_t block[IB_SMP_DATA_SIZE] = {};
	unsigned int index = argc > 3 ? (unsigned int)strtoul(argv[3], NULL, 0) : 0;
	unsigned int key = argc > 4 ? (unsigned int)strtoul(argv[4], NULL, 0) : 0;
	ib_portid_t to = {};
	struct ibmad_port *port;

	if (argc != 5 || index > 31)
		return 2;
	ib_portid_set(&to, (int)strtoul(argv[2], NULL, 0), 0, 0);
	port = mad_rpc_open_port(argv[1], 1, classes, 1);
	if (!port || !smp_query_via(block, &to, IB_ATTR_PKEY_TBL, 0, 0, port)) {
		fprintf(stderr, "set_pkey: %s: no P_Key table\n", argv[1]);
		return 1;
	}
	block[2 * index] = (uint8_t)(key >> 8);
	block[2 * index + 1] = (uint8_t)key;
	if (!smp_set_via(block, &to, IB_ATTR_PKEY_TBL, 0, 0, port)) {
		fprintf(stderr, "set_pkey: %s: not set\n", argv[1]);
		return 1;
	}
	return 0;
}
