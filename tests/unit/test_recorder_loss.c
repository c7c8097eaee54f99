// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Recorder: full rings on this kernel, files that cannot be written, privilege that is missing.
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "tests/unit/recorder_fixture.h"

static void test_full_ring(void **state)
{
	struct recorder_counts counts;
	struct recording r;

	(void)state;
	if (!can_record())
		skip();
	move_to(0);
	begin(&r, RING_BYTES);
	for (int i = 0; i < RING_SLOTS + 10; i++)
		assert_int_equal(fire_wakeup(r.recorder, 1, true, true), 0);
	recorder_counts(r.recorder, &counts);
	assert_int_equal(counts.lost, 10);
	drain_all(&r);
	/* There is room again. A decision that met a full ring is not put on a later halt. */
	for (int i = 0; i < RING_SLOTS; i++)
		assert_int_equal(fire_wakeup(r.recorder, 2, true, true), 0);
	assert_int_equal(fire_decision(r.recorder, 0, 10000, 0), 0);
	assert_int_equal(fire_wakeup(r.recorder, 2, true, true), 0);
	drain_all(&r);
	assert_int_equal(fire_wakeup(r.recorder, 3, true, true), 0);
	finish(&r);
	assert_int_equal(r.info->lost, 11);
	assert_int_equal(r.nr_halts, 2 * RING_SLOTS + 1);
	for (uint32_t i = 0; i < r.nr_halts; i++) {
		bool after_loss = i == RING_SLOTS || i == 2 * RING_SLOTS;

		assert_int_equal(r.halts[i].halt_ns, 1 + i / RING_SLOTS);
		assert_int_equal(!!(r.halts[i].flags & TRACE_HALT_GAP), after_loss);
		assert_false(r.halts[i].flags & TRACE_HALT_WINDOW);
		assert_int_equal(r.halts[i].run_ns == VHALT_UNKNOWN_NS, !i || after_loss);
	}
	release(&r);
}

/* A loss on one CPU is a gap for a vCPU that halts on another. */
static void test_loss_on_another_cpu(void **state)
{
	struct recording r;

	(void)state;
	if (!can_record())
		skip();
	if (get_nprocs() < 2) {
		print_message("skipped: needs two CPUs\n");
		skip();
	}
	move_to(1);
	begin(&r, RING_BYTES);
	assert_int_equal(fire_wakeup(r.recorder, 1, true, true), 0);
	move_to(0);
	for (int i = 0; i < RING_SLOTS + 1; i++)
		assert_int_equal(fire_wakeup(r.recorder, 2, true, true), 0);
	move_to(1);
	assert_int_equal(fire_wakeup(r.recorder, 3, true, true), 0);
	finish(&r);
	assert_int_equal(r.info->lost, 1);
	assert_int_equal(r.nr_halts, RING_SLOTS + 2);
	for (uint32_t i = 0; i + 1 < r.nr_halts; i++)
		assert_false(r.halts[i].flags & TRACE_HALT_GAP);
	assert_int_equal(r.halts[r.nr_halts - 1].halt_ns, 3);
	assert_true(r.halts[r.nr_halts - 1].flags & TRACE_HALT_GAP);
	release(&r);
}

static void test_ring_sizes(void **state)
{
	static const uint32_t bad[] = {1, RECORDER_RING_MIN - 1, RECORDER_RING_MAX + 1};
	struct recorder *recorder;
	char error[256];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct recorder_config config = {.fd = -1, .ring_bytes = bad[i]};

		error[0] = '\0';
		assert_int_equal(recorder_create(&recorder, &config, error, sizeof(error)),
				 -EINVAL);
		assert_null(recorder);
		assert_true(strlen(error) > 0);
	}
	assert_int_equal(recorder_destroy(NULL), 0);
}

static void test_nowhere_to_write(void **state)
{
	const struct recorder_config config = {.fd = open("/dev/full", O_WRONLY | O_CLOEXEC)};
	struct recorder *recorder;
	char error[256] = "";

	(void)state;
	if (!can_record())
		skip();
	assert_true(config.fd >= 0);
	assert_int_equal(recorder_create(&recorder, &config, error, sizeof(error)), -ENOSPC);
	assert_non_null(strstr(error, strerror(ENOSPC)));
	close(config.fd);
}

/* A disk that fills up while it records: said, and what was written stays readable. */
static void test_file_that_cannot_grow(void **state)
{
	static const struct trace_diag diag = {.report = report};
	struct trace_reader *reader;
	struct recording r;
	char path[64];

	(void)state;
	if (!can_record())
		skip();
	begin(&r, 0);
	assert_int_equal(fire_wakeup(r.recorder, 1, true, true), 0);
	assert_int_equal(fcntl(r.fd, F_ADD_SEALS, F_SEAL_GROW), 0);
	assert_int_equal(recorder_stop(r.recorder), -EPERM);
	assert_int_equal(recorder_drain(r.recorder), -EPERM);
	assert_int_equal(recorder_destroy(r.recorder), -EPERM);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", r.fd);
	assert_int_equal(trace_reader_open(&reader, path, &diag), 0);
	trace_reader_close(reader);
	close(r.fd);
}

/* Without privilege the sentence says what is missing; nothing else about it can be tested as root.
 */
static void test_without_privilege(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	if (geteuid()) {
		print_message("skipped: only root can drop its privilege\n");
		skip();
	}
	pid = fork();
	if (!pid) {
		const struct recorder_config config = {.fd = -1};
		struct recorder *recorder;
		char error[512] = "";

		if (setresuid(65534, 65534, 65534))
			_exit(2);
		if (recorder_create(&recorder, &config, error, sizeof(error)) != -EPERM)
			_exit(3);
		_exit(strstr(error, "root") && strstr(error, "perf script") ? 0 : 4);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full_ring),
		cmocka_unit_test(test_loss_on_another_cpu),
		cmocka_unit_test(test_ring_sizes),
		cmocka_unit_test(test_nowhere_to_write),
		cmocka_unit_test(test_file_that_cannot_grow),
		cmocka_unit_test(test_without_privilege),
	};

	skip_reason = find_skip_reason();
	return cmocka_run_group_tests_name("recorder_loss", tests, NULL, NULL);
}
