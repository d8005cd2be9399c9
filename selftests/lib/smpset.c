// SPDX-License-Identifier: GPL-2.0
/*
 * smpset DEVICE LID ATTRIBUTE MODIFIER OFFSET BYTE...: SubnGet of the attribute, these bytes put
 * in, and SubnSet. The SMPs leave by port 1 of the device and hold M_Key 0. IBA 14.2.5 has the
 * numbers and what is where.
 */
#include <infiniband/mad.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NUMBERS 5	/* arguments before the bytes */

int main(int argc, char **argv)
{
	int classes[] = { IB_SMI_CLASS };
	uint8_t data[IB_SMP_DATA_SIZE] = {};
	unsigned long n[NUMBERS] = {};
	ib_portid_t to = {};
	struct ibmad_port *port;

	for (int i = 2; i <= NUMBERS && i < argc; i++)
		n[i - 1] = strtoul(argv[i], NULL, 0);
	if (argc <= NUMBERS + 1 || n[4] + (unsigned long)(argc - NUMBERS - 1) > sizeof(data))
		return 2;
	ib_portid_set(&to, (int)n[1], 0, 0);
	port = mad_rpc_open_port(argv[1], 1, classes, 1);
	if (!port || !smp_query_via(data, &to, (unsigned int)n[2], (unsigned int)n[3], 0, port)) {
		fprintf(stderr, "smpset: LID %lu: no attribute 0x%lx\n", n[1], n[2]);
		return 1;
	}
	for (int i = NUMBERS + 1; i < argc; i++)
		data[n[4] + (unsigned long)(i - NUMBERS - 1)] = (uint8_t)strtoul(argv[i], NULL, 0);
	if (!smp_set_via(data, &to, (unsigned int)n[2], (unsigned int)n[3], 0, port)) {
		fprintf(stderr, "smpset: LID %lu: attribute 0x%lx is not set\n", n[1], n[2]);
		return 1;
	}
	return 0;
}
