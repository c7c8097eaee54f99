// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Setting parameters and putting them back, in a folder that stands for sysfs.
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "replay/apply.h"

static char root[] = "/tmp/vhalt-apply-XXXXXX", parameters[64], state_dir[64];
static char error[APPLY_ERROR_BYTES];

static const char *path_of(const char *dir, const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void put(const char *name, const char *text, mode_t mode)
{
	const char *path = path_of(parameters, name);
	FILE *file;

	unlink(path);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod(path, mode), 0);
}

static uint64_t get(const char *name)
{
	FILE *file = fopen(path_of(parameters, name), "r");
	uint64_t value = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%" SCNu64, &value), 1);
	fclose(file);
	return value;
}

static bool is_saved(void)
{
	return access(path_of(state_dir, APPLY_STATE_NAME), F_OK) == 0;
}

static int setup(void **state)
{
	(void)state;
	put("halt_poll_ns", "200000\n", 0644);
	put("halt_poll_ns_grow", "2\n", 0644);
	put("halt_poll_ns_grow_start", "10000\n", 0644);
	put("halt_poll_ns_shrink", "2\n", 0644);
	unlink(path_of(state_dir, APPLY_STATE_NAME));
	rmdir(state_dir);
	return 0;
}

static const struct apply_value two[] = {{"halt_poll_ns", 50000}, {"halt_poll_ns_shrink", 0}};

static void test_set_and_restore(void **state)
{
	struct apply_state now;
	uint32_t restored;

	(void)state;
	assert_int_equal(apply_read_state(&now, error), 0);
	assert_false(now.saved);
	assert_int_equal(apply_set(two, 2, error), 0);
	assert_int_equal(get("halt_poll_ns"), 50000);
	assert_int_equal(get("halt_poll_ns_shrink"), 0);
	assert_int_equal(get("halt_poll_ns_grow"), 2);
	assert_int_equal(apply_read_state(&now, error), 0);
	assert_true(now.saved && now.parameters[0].has_old && now.parameters[3].has_old);
	assert_false(now.parameters[1].has_old);
	assert_int_equal(now.parameters[0].value, 50000);
	assert_int_equal(now.parameters[0].old, 200000);
	assert_int_equal(apply_restore(&restored, error), 0);
	assert_int_equal(restored, 2);
	assert_int_equal(get("halt_poll_ns"), 200000);
	assert_int_equal(get("halt_poll_ns_shrink"), 2);
	assert_false(is_saved());
	assert_int_equal(apply_restore(&restored, error), -ENOENT);
	assert_non_null(strstr(error, "nothing is saved"));
}

/* However often it is set, restore goes back to the first. */
static void test_oldest_is_kept(void **state)
{
	static const struct apply_value again[] = {{"halt_poll_ns", 7}, {"halt_poll_ns_grow", 9}};
	uint32_t restored;

	(void)state;
	assert_int_equal(apply_set(two, 2, error), 0);
	assert_int_equal(apply_set(again, 2, error), 0);
	assert_int_equal(get("halt_poll_ns"), 7);
	assert_int_equal(apply_restore(&restored, error), 0);
	assert_int_equal(restored, 3);
	assert_int_equal(get("halt_poll_ns"), 200000);
	assert_int_equal(get("halt_poll_ns_grow"), 2);
	assert_int_equal(get("halt_poll_ns_shrink"), 2);
}

/* One read-only parameter, and nothing is touched, not even saved. */
static void test_read_only(void **state)
{
	(void)state;
	put("halt_poll_ns_shrink", "2\n", 0444);
	assert_int_equal(apply_check(two, 1, error), 0);
	assert_int_equal(apply_check(two, 2, error), -EROFS);
	assert_non_null(strstr(error, "halt_poll_ns_shrink: read-only"));
	assert_int_equal(apply_set(two, 2, error), -EROFS);
	assert_int_equal(get("halt_poll_ns"), 200000);
	assert_false(is_saved());
}

static void test_not_there(void **state)
{
	struct apply_state now;

	(void)state;
	unlink(path_of(parameters, "halt_poll_ns_shrink"));
	assert_int_equal(apply_set(two, 2, error), -ENOENT);
	assert_int_equal(get("halt_poll_ns"), 200000);
	assert_int_equal(apply_read_state(&now, error), 0);
	assert_false(now.parameters[3].known);
	setenv(APPLY_PARAMETERS_DIR_ENV, "/nonexistent", 1);
	assert_int_equal(apply_read_state(&now, error), -ENOENT);
	assert_non_null(strstr(error, "is kvm loaded"));
	setenv(APPLY_PARAMETERS_DIR_ENV, parameters, 1);
}

/* A parameter that takes a write of 0 and then shows its default: the kernel has such files. */
static void make_stubborn(const char *name)
{
	unlink(path_of(parameters, name));
	assert_int_equal(symlink("/proc/self/timerslack_ns", path_of(parameters, name)), 0);
}

/* The second write fails: the first is put back. */
static void test_half_way(void **state)
{
	uint32_t restored;

	(void)state;
	make_stubborn("halt_poll_ns_shrink");
	assert_int_equal(apply_set(two, 2, error), -EIO);
	assert_non_null(strstr(error, "halt_poll_ns_shrink: writing 0"));
	assert_int_equal(get("halt_poll_ns"), 200000);
	assert_false(is_saved());
	assert_int_equal(apply_restore(&restored, error), -ENOENT);
}

/* A half-way failure does not lose what an earlier apply saved. */
static void test_half_way_keeps_older(void **state)
{
	static const struct apply_value second[] = {{"halt_poll_ns_grow", 5},
						    {"halt_poll_ns_grow_start", 0}};
	uint32_t restored;

	(void)state;
	assert_int_equal(apply_set(two, 2, error), 0);
	make_stubborn("halt_poll_ns_grow_start");
	assert_int_equal(apply_set(second, 2, error), -EIO);
	assert_int_equal(get("halt_poll_ns_grow"), 2);
	assert_int_equal(apply_restore(&restored, error), 0);
	assert_int_equal(restored, 2);
	assert_int_equal(get("halt_poll_ns"), 200000);
}

static void test_damaged_state(void **state)
{
	static const char *const damaged[] = {
		"",
		"{",
		"[]",
		"{\"version\":1}",
		"{\"version\":2,\"old\":{\"halt_poll_ns\":1}}",
		"{\"version\":1,\"old\":{}}",
		"{\"version\":1,\"old\":{\"../../x\":1}}",
		"{\"version\":1,\"old\":{\"halt_poll_ns\":1,\"x\":2}}",
		"{\"version\":1,\"old\":{\"halt_poll_ns\":-1}}",
		"{\"version\":1,\"old\":{\"halt_poll_ns\":4294967296}}",
		"{\"version\":1,\"old\":{\"halt_poll_ns\":\"1\"}}",
	};
	struct apply_state now;
	uint32_t restored;

	(void)state;
	assert_int_equal(mkdir(state_dir, 0755), 0);
	for (size_t i = 0; i < sizeof(damaged) / sizeof(*damaged); i++) {
		FILE *file = fopen(path_of(state_dir, APPLY_STATE_NAME), "w");

		fputs(damaged[i], file);
		fclose(file);
		assert_int_equal(apply_restore(&restored, error), -EPROTO);
		assert_int_equal(apply_set(two, 2, error), -EPROTO);
		assert_int_equal(apply_read_state(&now, error), -EPROTO);
		assert_non_null(strstr(error, "not a saved state"));
		assert_int_equal(get("halt_poll_ns"), 200000);
		assert_true(is_saved());
	}
}

/* What cannot be put back stays saved. */
static void test_restore_fails(void **state)
{
	uint32_t restored;

	(void)state;
	assert_int_equal(apply_set(two, 2, error), 0);
	chmod(path_of(parameters, "halt_poll_ns_shrink"), 0444);
	assert_int_equal(apply_restore(&restored, error), -EROFS);
	assert_int_equal(restored, 1);
	assert_true(is_saved());
	chmod(path_of(parameters, "halt_poll_ns_shrink"), 0644);
	assert_int_equal(apply_restore(&restored, error), 0);
	assert_int_equal(get("halt_poll_ns_shrink"), 2);
}

static int make_root(void **state)
{
	(void)state;
	if (!mkdtemp(root))
		return -1;
	snprintf(parameters, sizeof(parameters), "%s/parameters", root);
	snprintf(state_dir, sizeof(state_dir), "%s/state", root);
	setenv(APPLY_PARAMETERS_DIR_ENV, parameters, 1);
	setenv(APPLY_STATE_DIR_ENV, state_dir, 1);
	return mkdir(parameters, 0755);
}

static int remove_root(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < APPLY_PARAMETERS; i++)
		unlink(path_of(parameters, apply_parameter(i)));
	unlink(path_of(state_dir, APPLY_STATE_NAME));
	rmdir(state_dir);
	rmdir(parameters);
	return rmdir(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_set_and_restore, setup),
		cmocka_unit_test_setup(test_oldest_is_kept, setup),
		cmocka_unit_test_setup(test_read_only, setup),
		cmocka_unit_test_setup(test_not_there, setup),
		cmocka_unit_test_setup(test_half_way, setup),
		cmocka_unit_test_setup(test_half_way_keeps_older, setup),
		cmocka_unit_test_setup(test_damaged_state, setup),
		cmocka_unit_test_setup(test_restore_fails, setup),
	};

	return cmocka_run_group_tests_name("apply", tests, make_root, remove_root);
}
