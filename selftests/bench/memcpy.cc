// SPDX-License-Identifier: GPL-2.0
// Bandwidth of memcpy: memcpy SIZE SECONDS prints MiB/s. The buffers are walked so that they are no smaller
// a working set than perftest's (one source, one destination).
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

int main(int argc, char **argv)
{
	if (argc != 3) {
		std::fprintf(stderr, "usage: memcpy SIZE SECONDS\n");
		return 2;
	}
	const size_t size = std::strtoull(argv[1], nullptr, 0);
	const double seconds = std::atof(argv[2]);
	std::vector<char> from(size, 1), to(size, 2);
	using clock = std::chrono::steady_clock;
	const auto start = clock::now();
	unsigned long copies = 0;
	double elapsed;
	do {
		for (int i = 0; i < 64; i++, copies++) {
			std::memcpy(to.data(), from.data(), size);
			asm volatile("" ::"r"(to.data()) : "memory");
		}
		elapsed = std::chrono::duration<double>(clock::now() - start).count();
	} while (elapsed < seconds);
	std::printf("%.1f\n",
		    static_cast<double>(copies) * static_cast<double>(size) / elapsed / (1 << 20));
}
