// SPDX-License-Identifier: GPL-2.0
/*
 * Every rank exchanges with every other, and each result is known: messages of many sizes,
 * allreduce, alltoall, broadcast, one-sided put, get and accumulate. Then rank 0 prints latency and
 * bandwidth. With an argument nothing is one-sided, and a second one says how many times all of it
 * is done, 1 if there is none.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

static void check(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "rank %d: %s: wrong result\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void fill(unsigned char *at, int length, int seed)
{
	for (int i = 0; i < length; i++)
		at[i] = (unsigned char)(i * 7 + seed * 31 + (i >> 8));
}

static void messages(void)
{
	static const int sizes[] = { 0, 1, 8, 1000, 4096, 65536, 1 << 20 };
	unsigned char *out = malloc(1 << 20), *in = malloc(1 << 20), *want = malloc(1 << 20);

	for (unsigned int s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		for (int step = 1; step < ranks; step++) {
			int to = (rank + step) % ranks, from = (rank + ranks - step) % ranks;
			MPI_Status status;
			int got;

			fill(out, sizes[s], rank);
			fill(want, sizes[s], from);
			MPI_Sendrecv(out, sizes[s], MPI_BYTE, to, s, in, sizes[s], MPI_BYTE, from,
				     s, MPI_COMM_WORLD, &status);
			MPI_Get_count(&status, MPI_BYTE, &got);
			check(got == sizes[s] && !memcmp(in, want, sizes[s]), "sendrecv");
		}
	}
	free(out);
	free(in);
	free(want);
}

static void collectives(void)
{
	int *out = malloc(ranks * sizeof(int)), *in = malloc(ranks * sizeof(int));
	int mine = rank + 1, sum;
	unsigned char *big = malloc(1 << 20), *want = malloc(1 << 20);

	MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	check(sum == ranks * (ranks + 1) / 2, "allreduce");
	for (int i = 0; i < ranks; i++)
		out[i] = rank * 1000 + i;
	MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
	for (int i = 0; i < ranks; i++)
		check(in[i] == i * 1000 + rank, "alltoall");
	fill(want, 1 << 20, 5);
	if (!rank)
		fill(big, 1 << 20, 5);
	MPI_Bcast(big, 1 << 20, MPI_BYTE, 0, MPI_COMM_WORLD);
	check(!memcmp(big, want, 1 << 20), "broadcast");
	free(out);
	free(in);
	free(big);
	free(want);
}

static void one_sided(void)
{
	int *window, value = rank + 100, next = (rank + 1) % ranks, got = -1, one = 1;
	MPI_Win win;

	MPI_Win_allocate(3 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window,
			 &win);
	memset(window, 0, 3 * sizeof(int));
	MPI_Win_fence(0, win);
	MPI_Put(&value, 1, MPI_INT, next, 0, 1, MPI_INT, win);
	MPI_Accumulate(&one, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, win);
	MPI_Win_fence(0, win);
	check(window[0] == (rank + ranks - 1) % ranks + 100, "put");
	if (!rank)
		check(window[1] == ranks, "accumulate");
	MPI_Get(&got, 1, MPI_INT, next, 0, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	check(got == value, "get");
	MPI_Win_free(&win);
}

/*
 * Half of a round trip in us, and MB/s one way, between the first rank and the last, which is on
 * another host.
 */
static void measure(void)
{
	enum { SMALL = 500, LARGE = 40, SIZE = 1 << 20 };
	char *buffer = calloc(1, SIZE);
	int end = rank ? ranks - 1 : 0, other = rank ? 0 : ranks - 1, takes_part = rank == end;
	double begin, latency;

	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	for (int i = 0; i < SMALL && takes_part; i++) {
		if (!rank == !(i % 2))
			MPI_Send(buffer, 8, MPI_BYTE, other, 1, MPI_COMM_WORLD);
		else
			MPI_Recv(buffer, 8, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	latency = (MPI_Wtime() - begin) / SMALL * 1e6;
	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	for (int i = 0; i < LARGE && takes_part; i++) {
		if (!rank)
			MPI_Send(buffer, SIZE, MPI_BYTE, other, 2, MPI_COMM_WORLD);
		else
			MPI_Recv(buffer, SIZE, MPI_BYTE, other, 2, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		printf("all right: %d ranks, 8 bytes %.0f us, 1 MiB %.0f MB/s\n", ranks, latency,
		       LARGE * (double)SIZE / (MPI_Wtime() - begin) / 1e6);
	free(buffer);
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	while (rounds--) {
		messages();
		collectives();
		if (argc < 2)
			one_sided();
		measure();
	}
	MPI_Finalize();
	return 0;
}
