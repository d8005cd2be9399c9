// SPDX-License-Identifier: GPL-2.0
/* Somebody with objects of every kind, and traffic on them, whose device is taken away. */
#include <csignal>
#include <cstdio>
#include <thread>
#include <unistd.h>

#include "world.h"

namespace hostile {

namespace {

volatile sig_atomic_t told;

bool gone(ibv_context *ctx)
{
	ibv_port_attr port;
	return ibv_query_port(ctx, 1, &port) != 0;
}

} // namespace

/* Until the device has gone, or SIGTERM; then for a while as if nothing had happened. */
int run_objects(const Options &o)
{
	Tally tally;
	ibv_context *ctx = ops::made(open_device(o.dev), "the device");
	World world(ctx, o, tally, o.seed);
	std::atomic<bool> over = false;
	std::vector<std::thread> threads;

	signal(SIGTERM, [](int) { told = 1; });
	alarm(o.seconds * ops::slowness());
	world.fill_up();
	puts(tally.succeeded("verb reg_dmabuf_mr") ? "holds everything"
						   : "holds everything but a dma-buf");
	fflush(stdout);
	for (unsigned i = 0; i < 2; i++)
		threads.emplace_back([&, i] {
			Rng rng(o.seed + i);
			while (!over)
				world.step(rng);
		});
	while (!told && !gone(ctx))
		usleep(5000);
	printf("%s\n", gone(ctx) ? "the device has gone" : "told to end");
	usleep(500000);
	over = true;
	for (auto &t : threads)
		t.join();
	tally.print();
	if (!tally.succeeded("work completed"))
		ops::note_failure("no traffic");
	if (o.seed & 1)
		world.give_up();
	return failed();
}

} // namespace hostile
