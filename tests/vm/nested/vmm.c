// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Command line, threads and exits of the nested machine.
//
// Ports: 0xe9 out: the guest's report, a line at a time to standard output (PID 1 of the rig).
// 0x3f8: the kernel's console. 0x64 out 0xfe: reset. 0x600: power-off. 0xea in: the first byte of
// the -g file.
//
// A vCPU thread leaves KVM_RUN when it gets SIGUSR1. SIGUSR2 to the process, or a line with
// "@share" in the report, has every vCPU show what it publishes.
#include "vmm.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* vCPU threads that do not say where they stand within this time are stuck in the kernel. */
#define ANSWER_LIMIT_S 5

#define PORT_REPORT   0xe9
#define PORT_PHASE    0xea
#define PORT_KEYBOARD 0x64
#define PORT_SERIAL   0x3f8
#define SERIAL_LCR    3
#define SERIAL_LSR    5
#define LCR_DIVISOR   0x80
#define LSR_READY     0x60
#define RESET_COMMAND 0xfe

static struct nested_vm vm;
static _Thread_local struct kvm_run *own_run;

/* Protects all below. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int verdict = -1; /* the guest's: 0 pass, 1 fail */
static bool ended;
static int end_code;
static char end_text[128];
static unsigned int started;
static unsigned int parked; /* threads that wait for the end of a reset */
static unsigned int resets; /* complete ones */
static char line[1200];
static size_t line_used;
static uint8_t lcr;

static volatile bool resetting;
static volatile unsigned int peek; /* number of requests so far */
static unsigned int answers;	   /* to the last one */
static bool out_of_time;	   /* what is asked for is where they stand */

void nested_die(const char *format, ...)
{
	int err = errno;
	va_list ap;

	fputs("nested-vmm: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, ": %s\n", strerror(err));
	exit(NESTED_SETUP);
}

static void kick_all(void)
{
	for (unsigned int n = 0; n < vm.config.cpus; n++) {
		if (vm.vcpus[n].tid)
			syscall(SYS_tgkill, getpid(), vm.vcpus[n].tid, SIGUSR1);
	}
}

/* Have every vCPU say something about itself. Called with the lock held. */
static void ask_all(void)
{
	answers = 0;
	peek++;
	kick_all();
}

static void on_kick(int signal)
{
	(void)signal;
	if (own_run)
		own_run->immediate_exit = 1;
}

/* The first end counts. */
__attribute__((format(printf, 2, 3))) static void end_run(int code, const char *format, ...)
{
	va_list ap;

	pthread_mutex_lock(&lock);
	if (!ended) {
		ended = true;
		end_code = code;
		va_start(ap, format);
		vsnprintf(end_text, sizeof(end_text), format, ap);
		va_end(ap);
	}
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

/* A line of the report: to standard output with "guest: " in front, and as it is to the report
 * file. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	char text[sizeof(line)];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	printf("guest: %s\n", text);
	fflush(stdout);
	fprintf(vm.report, "%s\n", text);
	fflush(vm.report);
}

/* One byte of the report. Called with the lock held. */
static void report_byte(char c)
{
	if (c != '\n') {
		if (line_used < sizeof(line) - 1)
			line[line_used++] = c;
		return;
	}
	line[line_used] = '\0';
	line_used = 0;
	say("%s", line);
	if (!strcmp(line, "verdict pass") || !strcmp(line, "verdict fail")) {
		verdict = line[8] == 'f';
	} else if (strstr(line, "@share")) {
		ask_all();
	}
}

static void serial_out(uint16_t port, uint8_t byte)
{
	if (port == PORT_SERIAL + SERIAL_LCR)
		lcr = byte;
	if (port == PORT_SERIAL && !(lcr & LCR_DIVISOR))
		fputc(byte, vm.console);
	if (port == PORT_SERIAL && byte == '\n')
		fflush(vm.console);
}

static uint8_t phase_byte(void)
{
	char c = '0';
	int fd = vm.config.phase ? open(vm.config.phase, O_RDONLY | O_CLOEXEC) : -1;

	if (fd >= 0) {
		if (read(fd, &c, 1) != 1)
			c = '0';
		close(fd);
	}
	return c;
}

static void powered_off(void)
{
	int v;

	pthread_mutex_lock(&lock);
	v = verdict;
	pthread_mutex_unlock(&lock);
	if (v < 0)
		end_run(NESTED_DIED, "the guest went off without a verdict");
	else
		end_run(v ? NESTED_FAIL : NESTED_PASS, "%s", "");
}

/* A write of one byte. Returns true when it is the command to reset. */
static bool port_out(uint16_t port, uint8_t byte)
{
	if (port == PORT_KEYBOARD && byte == RESET_COMMAND)
		return true;
	if (port == NESTED_PORT_SLEEP && byte & NESTED_SLEEP_ENABLE) {
		powered_off();
		return false;
	}
	pthread_mutex_lock(&lock);
	if (port == PORT_REPORT)
		report_byte(byte);
	else
		serial_out(port, byte);
	pthread_mutex_unlock(&lock);
	return false;
}

static uint8_t port_in(uint16_t port)
{
	switch (port) {
	case PORT_SERIAL + SERIAL_LSR: return LSR_READY;
	case PORT_KEYBOARD: return 0; /* takes commands, has no data */
	case PORT_PHASE: return phase_byte();
	default: return 0xff; /* nobody there */
	}
}

static bool handle_io(struct kvm_run *run)
{
	uint8_t *data = (uint8_t *)run + run->io.data_offset;
	bool reset = false;

	for (uint32_t i = 0; i < run->io.count; i++, data += run->io.size) {
		if (run->io.direction == KVM_EXIT_IO_OUT) {
			reset |= port_out(run->io.port, *data);
		} else {
			memset(data, 0xff, run->io.size);
			*data = port_in(run->io.port);
		}
	}
	return reset;
}

/*
 * All vCPU threads meet here; the last one to come puts the machine back and starts the next boot.
 * An exit that waits for its completion is completed first, else it would touch the new registers.
 */
static void take_part_in_reset(struct nested_vcpu *vcpu)
{
	unsigned int seen;

	vcpu->run->immediate_exit = 1;
	ioctl(vcpu->fd, KVM_RUN, 0);
	pthread_mutex_lock(&lock);
	seen = resets;
	if (++parked == vm.config.cpus) {
		parked = 0;
		vm.boots++;
		nested_load(&vm);
		nested_reset(&vm);
		nested_set_entry(&vm);
		resetting = false;
		resets++;
		pthread_cond_broadcast(&changed);
	}
	while (seen == resets && !ended)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static void request_reset(const struct nested_vcpu *vcpu)
{
	bool allowed;

	say("reset by vcpu %u, host polls: %s", vcpu->n, nested_host_polls(vcpu));
	pthread_mutex_lock(&lock);
	allowed = !ended && vm.boots <= vm.config.max_reboots;
	if (allowed)
		resetting = true;
	pthread_mutex_unlock(&lock);
	if (!allowed)
		end_run(NESTED_DIED,
			"the guest reset itself in boot %u (a panic, or an unasked reboot)",
			vm.boots);
	else
		kick_all();
}

static void handle_exit(struct nested_vcpu *vcpu)
{
	struct kvm_run *run = vcpu->run;

	switch (run->exit_reason) {
	case KVM_EXIT_IO:
		if (handle_io(run))
			request_reset(vcpu);
		break;
	case KVM_EXIT_MMIO:
		if (!run->mmio.is_write)
			memset(run->mmio.data, 0xff, sizeof(run->mmio.data));
		break;
	case KVM_EXIT_INTR: break;
	case KVM_EXIT_SHUTDOWN: end_run(NESTED_DIED, "triple fault on vCPU %u", vcpu->n); break;
	default:
		end_run(NESTED_DIED, "vCPU %u: exit reason %u, suberror %u", vcpu->n,
			run->exit_reason, run->internal.suberror);
	}
}

static void answer_peek(struct nested_vcpu *vcpu)
{
	unsigned int wanted = peek;
	char text[256];

	if (vcpu->seen_peek == wanted)
		return;
	vcpu->seen_peek = wanted;
	if (out_of_time)
		nested_where(vcpu, text, sizeof(text));
	else
		nested_peek(&vm, vcpu, text, sizeof(text));
	pthread_mutex_lock(&lock);
	say("%s", text);
	answers++;
	pthread_cond_broadcast(&changed);
	/* Nobody goes on before all have answered: the guest that asked finds its world as it was.
	 */
	while (answers < vm.config.cpus && wanted == peek && !ended)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static void *vcpu_main(void *arg)
{
	struct nested_vcpu *vcpu = arg;
	bool leave = false;

	own_run = vcpu->run;
	nested_pin_self(&vm.config, vcpu->n);
	pthread_mutex_lock(&lock);
	vcpu->tid = syscall(SYS_gettid);
	started++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	while (!leave) {
		vcpu->run->immediate_exit = 0;
		/* From here on a signal sets it again: none is missed. */
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		answer_peek(vcpu);
		if (resetting)
			take_part_in_reset(vcpu);
		else if (!ioctl(vcpu->fd, KVM_RUN, 0))
			handle_exit(vcpu);
		else if (errno != EINTR && errno != EAGAIN)
			end_run(NESTED_DIED, "KVM_RUN of vCPU %u: %s", vcpu->n, strerror(errno));
		leave = ended;
	}
	return NULL;
}

/* Sleep until the run has ended or its limit is reached. */
static void wait_end(void)
{
	struct timespec until;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += vm.config.limit_s;
	pthread_mutex_lock(&lock);
	while (started < vm.config.cpus)
		pthread_cond_wait(&changed, &lock);
	if (vm.config.threads)
		nested_write_threads(&vm);
	while (!ended && !err)
		err = pthread_cond_timedwait(&changed, &lock, &until);
	if (err) {
		out_of_time = true;
		ask_all();
		until.tv_sec += ANSWER_LIMIT_S;
		while (answers < vm.config.cpus && !pthread_cond_timedwait(&changed, &lock, &until))
			;
	}
	pthread_mutex_unlock(&lock);
	if (err)
		end_run(NESTED_LIMIT, "the guest has not ended after %u s", vm.config.limit_s);
}

/* Threads of this process other than the vCPUs' take SIGUSR2; KVM_RUN is left by SIGUSR1. */
static void *signals_main(void *arg)
{
	sigset_t *set = arg;
	int got;

	while (!sigwait(set, &got)) {
		pthread_mutex_lock(&lock);
		ask_all();
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static FILE *create(const char *path)
{
	FILE *f = fopen(path, "we");

	if (!f)
		nested_die("%s", path);
	return f;
}

int main(int argc, char **argv)
{
	struct sigaction kick = {.sa_handler = on_kick};
	pthread_t thread;
	sigset_t set;

	nested_parse(argc, argv, &vm.config);
	vm.console = create(vm.config.console);
	vm.report = create(vm.config.report);
	sigaction(SIGUSR1, &kick, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	nested_create(&vm);
	vm.boots = 1;
	nested_load(&vm);
	nested_set_entry(&vm);
	for (unsigned int n = 0; n < vm.config.cpus; n++) {
		if (pthread_create(&thread, NULL, vcpu_main, &vm.vcpus[n]))
			nested_die("pthread_create");
	}
	if (pthread_create(&thread, NULL, signals_main, &set))
		nested_die("pthread_create");
	wait_end();
	if (*end_text)
		say("# vmm: %s", end_text);
	fflush(NULL);
	_exit(end_code);
}
