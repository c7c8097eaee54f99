// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Sleeps again and again, for a CPU that halts often and briefly.
//
// usage: guest-nap US MS      naps of US microseconds, for MS milliseconds
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	long nap_us = argc == 3 ? atol(argv[1]) : 0;
	long for_ms = argc == 3 ? atol(argv[2]) : 0;
	struct timespec nap = {.tv_nsec = nap_us * 1000};
	uint64_t end;

	if (nap_us <= 0 || nap_us >= 1000000 || for_ms <= 0) {
		fprintf(stderr, "usage: guest-nap US MS\n");
		return 2;
	}
	end = now_ns() + for_ms * UINT64_C(1000000);
	while (now_ns() < end) {
		if (nanosleep(&nap, NULL) && errno != EINTR) {
			perror("guest-nap");
			return 1;
		}
	}
	return 0;
}
