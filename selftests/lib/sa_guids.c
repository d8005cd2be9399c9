// SPDX-License-Identifier: GPL-2.0
/*
 * sa_guids set|delete DEVICE LID ENTRY [GUID]: asks the subnet manager for SubnAdmSet or
 * SubnAdmDelete of a GUIDInfoRecord (IBA 15.2.5.18): one alias GUID of the port with that LID, at
 * ENTRY (1 to 7) of block 0. GUID 0: the manager chooses. Prints the GUID it has answered with.
 * Ends with 1, and the SA's status, if it refuses.
 */
#include <endian.h>
#include <infiniband/umad.h>
#include <infiniband/umad_sa.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAD_BYTES 256
#define WELL_KNOWN_QKEY 0x80010000
#define TIMEOUT_MS 2000
#define RETRIES 3
#define COMPONENT_LID (1ULL << 0)
#define COMPONENT_BLOCK (1ULL << 1)
#define COMPONENT_GUID(n) (1ULL << (4 + (n)))

struct guid_info_record {
	__be16 lid;
	uint8_t block;
	uint8_t reserved[5];
	__be64 guid[8];
} __attribute__((packed));

struct sa_mad {
	struct umad_hdr hdr;
	uint8_t rmpp[12];
	uint8_t sm_key[8];
	__be16 attr_offset;
	__be16 reserved;
	__be64 comp_mask;
	struct guid_info_record record;
	uint8_t rest[UMAD_LEN_SA_DATA - sizeof(struct guid_info_record)];
} __attribute__((packed));

static void die(const char *what)
{
	fprintf(stderr, "sa_guids: %s: %m\n", what);
	exit(2);
}

static void fill(struct sa_mad *mad, int delete, unsigned int lid, unsigned int entry,
		 uint64_t guid)
{
	mad->hdr.base_version = 1;
	mad->hdr.mgmt_class = UMAD_CLASS_SUBN_ADM;
	mad->hdr.class_version = UMAD_SA_CLASS_VERSION;
	mad->hdr.method = delete ? UMAD_SA_METHOD_DELETE : UMAD_METHOD_SET;
	mad->hdr.attr_id = htobe16(UMAD_SA_ATTR_GUID_INFO_REC);
	mad->hdr.tid = htobe64(0x7069);
	mad->comp_mask = htobe64(COMPONENT_LID | COMPONENT_BLOCK | COMPONENT_GUID(entry));
	mad->record.lid = htobe16(lid);
	mad->record.guid[entry] = htobe64(guid);
}

static int open_port(const char *device, umad_port_t *attr, int *agent)
{
	int port;

	if (umad_init() || umad_get_port(device, 1, attr))
		die(device);
	port = umad_open_port(device, 1);
	*agent = -1;
	if (port >= 0)
		*agent = umad_register(port, UMAD_CLASS_SUBN_ADM, UMAD_SA_CLASS_VERSION, 0, NULL);
	if (*agent < 0)
		die("cannot open the port's agent");
	return port;
}

/* The answer takes the place of the question. */
static void ask(int port, int agent, void *umad)
{
	int length = MAD_BYTES;

	if (umad_send(port, agent, umad, MAD_BYTES, TIMEOUT_MS, RETRIES) < 0)
		die("cannot send");
	if (umad_recv(port, umad, &length, TIMEOUT_MS * (RETRIES + 2)) < 0 || umad_status(umad))
		die("no answer");
}

int main(int argc, char **argv)
{
	unsigned int entry = argc > 4 ? atoi(argv[4]) : 0;
	umad_port_t attr;
	struct sa_mad *mad;
	int port, agent;
	void *umad;

	if (argc < 5 || entry < 1 || entry > 7)
		return 2;
	/* How long a umad's header is, is known when the port is open. */
	port = open_port(argv[2], &attr, &agent);
	umad = umad_alloc(1, umad_size() + MAD_BYTES);
	if (!umad)
		die("memory");
	mad = umad_get_mad(umad);
	fill(mad, !strcmp(argv[1], "delete"), strtoul(argv[3], NULL, 0), entry,
	     argc > 5 ? strtoull(argv[5], NULL, 0) : 0);
	umad_set_addr(umad, attr.sm_lid, 1, attr.sm_sl, WELL_KNOWN_QKEY);
	ask(port, agent, umad);
	if (mad->hdr.status) {
		fprintf(stderr, "sa_guids: refused with status 0x%x\n", be16toh(mad->hdr.status));
		return 1;
	}
	printf("0x%016llx\n", (unsigned long long)be64toh(mad->record.guid[entry]));
	return 0;
}
