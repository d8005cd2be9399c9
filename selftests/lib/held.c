// SPDX-License-Identifier: GPL-2.0
/*
 * held FROM TO PROGRESS STOP: an RC connection between port 1 of two devices, which is held until
 * the file STOP is there. One WRITE after the other goes from the first device to the second one,
 * and PROGRESS says how many have been completed. A WRITE is tried for more than a minute, so that
 * a cable may be out for a while.
 *
 * Ends with 1 where a WRITE fails, or where the last one is not what the memory of the second
 * device has.
 */
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "end.h"

static struct end from, to;
static uint64_t memory[2];

static void write_one(void)
{
	struct ibv_sge piece = { (uintptr_t)&memory[0], sizeof(memory[0]), from.mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &piece, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { (uintptr_t)&memory[1], to.mr->rkey },
	}, *bad;

	memory[0]++;
	if (ibv_post_send(from.qp, &wr, &bad))
		die(name_of(&from), "cannot send");
	while (!take(&from))
		usleep(1000);
	if (memory[1] != memory[0])
		error(1, 0, "%llu was written, and %llu is there", (unsigned long long)memory[0],
		      (unsigned long long)memory[1]);
}

/* By another name first: who reads the file reads all of it. */
static void tell(const char *progress)
{
	char name[256];
	FILE *file;

	snprintf(name, sizeof(name), "%s.next", progress);
	file = fopen(name, "w");
	if (!file || fprintf(file, "%llu\n", (unsigned long long)memory[0]) < 0 || fclose(file) ||
	    rename(name, progress))
		die(progress, "cannot write");
}

int main(int argc, char **argv)
{
	if (argc != 5)
		error(2, 0, "usage: held FROM TO PROGRESS STOP");
	open_end(&from, argv[1], IBV_QPT_RC, 1, 1, memory, sizeof(memory));
	open_end(&to, argv[2], IBV_QPT_RC, 1, 1, memory, sizeof(memory));
	connect_rc(&from, &to, IBV_MTU_1024, 21, 7, 1);
	connect_rc(&to, &from, IBV_MTU_1024, 21, 7, 1);
	while (access(argv[4], F_OK)) {
		write_one();
		tell(argv[3]);
		/* The changes of the fabric that are made meanwhile take seconds. */
		usleep(10000);
	}
	return 0;
}
