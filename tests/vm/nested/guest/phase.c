// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Runs in a nested guest: the phase the host is in (nested-run -g), printed, or waited for.
//
// usage: phase [WANTED]     WANTED is one character; without it, the current one is printed
#include <stdio.h>
#include <sys/io.h>
#include <time.h>

/* nested-vmm's; ../vmm.c. */
#define PORT_PHASE 0xea

int main(int argc, char **argv)
{
	static const struct timespec pause = {.tv_nsec = 20000000};

	if (ioperm(PORT_PHASE, 1, 1)) {
		perror("phase");
		return 1;
	}
	if (argc < 2) {
		printf("%c\n", inb(PORT_PHASE));
		return 0;
	}
	/* The host cannot send an event: no interrupt line leads here. The script's limit ends a
	 * wait. */
	while (inb(PORT_PHASE) != (unsigned char)argv[1][0])
		nanosleep(&pause, NULL);
	return 0;
}
