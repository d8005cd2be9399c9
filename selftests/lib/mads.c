// SPDX-License-Identifier: GPL-2.0
/*
 * mads DEVICE LID SL COUNT [ports]: as many PerfMgt Gets of ClassPortInfo to that LID by that SL,
 * one behind the other without waiting for answers; "ports": of PortCounters of all ports, which
 * take more time to answer. Says "sent", and sleeps.
 */
#include <endian.h>
#include <infiniband/umad.h>
#include <infiniband/umad_types.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAD_BYTES 256
#define WELL_KNOWN_QKEY 0x80010000
#define PERFORMANCE 4
#define GET 1
#define CLASS_PORT_INFO 1
#define PORT_COUNTERS 0x12
#define PORT_SELECT 65
#define ALL_PORTS 0xFF
#define TIMEOUT_MS 1000

static void die(const char *what)
{
	fprintf(stderr, "mads: %s: %m\n", what);
	exit(1);
}

static void fill(void *umad, int lid, int sl, uint64_t tid)
{
	struct umad_hdr *h = umad_get_mad(umad);

	h->base_version = 1;
	h->mgmt_class = PERFORMANCE;
	h->class_version = 1;
	h->method = GET;
	h->attr_id = htobe16(CLASS_PORT_INFO);
	h->tid = htobe64(tid);
	umad_set_addr(umad, lid, 1, sl, WELL_KNOWN_QKEY);
}

static void ask_ports(void *umad)
{
	uint8_t *mad = umad_get_mad(umad);

	((struct umad_hdr *)mad)->attr_id = htobe16(PORT_COUNTERS);
	mad[PORT_SELECT] = ALL_PORTS;
}

int main(int argc, char **argv)
{
	int port, agent, i;
	void *umad;

	if (argc < 5)
		return 2;
	umad = calloc(1, umad_size() + MAD_BYTES);
	port = umad_init() ? -1 : umad_open_port(argv[1], 1);
	agent = port < 0 ? -1 : umad_register(port, PERFORMANCE, 1, 0, NULL);
	if (agent < 0)
		die(argv[1]);
	for (i = 0; i < atoi(argv[4]); i++) {
		fill(umad, atoi(argv[2]), atoi(argv[3]), i + 1);
		if (argc > 5)
			ask_ports(umad);
		if (umad_send(port, agent, umad, MAD_BYTES, TIMEOUT_MS, 0) < 0)
			die("send");
	}
	puts("sent");
	fflush(stdout);
	pause();
	return 0;
}
