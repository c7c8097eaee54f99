// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Two processes on two CPUs that send a byte to and fro: each halts its CPU until the other answers.
//
// usage: guest-pingpong [-r ROUNDS | -t MS] [-w US]
//  -r  round trips to make (default 2000)
//  -t  go on for this long instead
//  -w  work of the second process before it answers, in us (default 0)
// Prints "rounds N", "round_ns N" (mean) and "elapsed_ns N".
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "guest-pingpong: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("cannot pin");
}

static void work(uint64_t work_ns)
{
	uint64_t end = now_ns() + work_ns;

	while (work_ns && now_ns() < end)
		;
}

/* The second process: answers until the first has gone. */
static void answer(int in, int out, uint64_t work_ns)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(1);
	while (read(in, &byte, 1) == 1) {
		work(work_ns);
		if (write(out, &byte, 1) != 1)
			break;
	}
	exit(0);
}

static void round_trip(int out, int in)
{
	char byte = 'x';

	if (write(out, &byte, 1) != 1 || read(in, &byte, 1) != 1)
		die("the other side has gone");
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || *end || end == text || *text == '-') {
		fprintf(stderr, "guest-pingpong: not a number: %s\n", text);
		exit(2);
	}
	return n;
}

int main(int argc, char **argv)
{
	uint64_t rounds = 2000, for_ns = 0, work_ns = 0, begin, elapsed, n = 0;
	int there[2], back[2], opt;
	pid_t pid;

	while ((opt = getopt(argc, argv, "r:t:w:")) > 0) {
		switch (opt) {
		case 'r': rounds = number(optarg); break;
		case 't': for_ns = number(optarg) * 1000000; break;
		case 'w': work_ns = number(optarg) * 1000; break;
		default: return 2;
		}
	}
	if (!rounds || pipe(there) || pipe(back))
		die("cannot begin");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		close(there[1]);
		answer(there[0], back[1], work_ns);
	}
	close(there[0]);
	close(back[1]);
	pin(0);
	round_trip(there[1], back[0]);
	begin = now_ns();
	do {
		round_trip(there[1], back[0]);
		elapsed = now_ns() - begin;
		n++;
	} while (for_ns ? elapsed < for_ns : n < rounds);
	close(there[1]);
	waitpid(pid, NULL, 0);
	printf("rounds %llu\nround_ns %llu\nelapsed_ns %llu\n", (unsigned long long)n,
	       (unsigned long long)(elapsed / n), (unsigned long long)elapsed);
	return 0;
}
