// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Halts in user space on a real /dev/kvm: no wake-up is lost, every end ends. Skipped without one.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "vmm/internal.h"

#define MS	 1000000ULL
#define LIMIT_MS 60000

static void need_kvm(void)
{
	if (access("/dev/kvm", R_OK | W_OK)) {
		print_message("no usable /dev/kvm: %s\n", strerror(errno));
		skip();
	}
}

static struct vmm_config config_of(const char *guest, const char *policy)
{
	struct vmm_config c;
	char error[256];

	assert_int_equal(vmm_config_init(&c, guest), 0);
	c.irqchip = VMM_IRQCHIP_USER;
	if (vhalt_config_parse(policy, &c.policy, error, sizeof(error)))
		fail_msg("%s", error);
	return c;
}

static struct vmm *start(const struct vmm_config *c)
{
	struct vmm_error e = {""};
	struct vmm *vm;

	if (vmm_create(c, &vm, &e) || vmm_start(vm, &e))
		fail_msg("%s: %s", c->guest, e.text);
	return vm;
}

static void run(const struct vmm_config *c, struct vmm_result *r)
{
	struct vmm *vm = start(c);

	if (vmm_wait(vm, r))
		fail_msg("%s", r->error_text.text);
	vmm_destroy(vm);
}

/* A lost wake-up would leave both vCPUs halted until the watchdog fails the run. */
static void test_no_wakeup_is_lost(void **state)
{
	static const char *const policies[] = {"none", "always", "kvm", "auto", "auto:sleep=1"};

	(void)state;
	need_kvm();
	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		struct vmm_config c = config_of("rr", policies[i]);
		struct vmm_result r;

		c.duration_ns = 0;
		c.rounds = 100;
		c.watchdog_ns = LIMIT_MS * MS;
		run(&c, &r);
		assert_int_equal(r.end, VMM_END_DONE);
		for (int n = 0; n < 2; n++) {
			const struct vhalt_waiter_stats *e = &r.vcpus[n].engine;

			assert_int_equal(r.vcpus[n].rounds, 100);
			assert_int_equal(r.vcpus[n].wakeups, 100);
			/* Each HLT was waited for once at most, and each wait has an outcome. */
			assert_in_range(e->halts, 1, 101);
			assert_in_range(e->halt_successful_poll + e->halt_wakeup, e->halts - 1,
					e->halts);
			/* At least HLT and EOI leave KVM, in each round. */
			assert_true(r.vcpus[n].exits >= 200);
			assert_true(i != 0 || !e->halt_attempted_poll);
			assert_true(i != 1 || e->halt_attempted_poll);
		}
		assert_int_equal(r.vcpus[0].latency.count, 100);
	}
}

static void test_stops_while_halted(void **state)
{
	struct vmm_config c = config_of("idle", "none");
	const struct timespec ms = {0, 20000000};
	struct vmm_result r;
	struct vmm *vm;

	(void)state;
	need_kvm();
	vm = start(&c);
	nanosleep(&ms, NULL);
	vmm_stop(vm);
	assert_int_equal(vmm_wait(vm, &r), 0);
	assert_int_equal(r.end, VMM_END_STOPPED);
	assert_true(r.elapsed_ns < 5000 * MS);
	vmm_destroy(vm);
	/* Destroyed as it runs. */
	vm = start(&c);
	nanosleep(&ms, NULL);
	vmm_destroy(vm);
}

/* The end comes at any moment of a halt, a wait or an injection. */
static void test_ends_at_any_moment(void **state)
{
	(void)state;
	need_kvm();
	for (unsigned int i = 0; i < 30; i++) {
		struct vmm_config c = config_of("rr", i % 2 ? "always" : "none");
		struct vmm_result r;

		c.duration_ns = (1 + i) * MS;
		c.watchdog_ns = LIMIT_MS * MS;
		run(&c, &r);
		assert_int_equal(r.end, VMM_END_TIME);
	}
}

static void test_a_budget_holds(void **state)
{
	struct vmm_config c = config_of("tick", "always:max_ns=100ms");
	struct vmm_result free_run, bounded;

	(void)state;
	need_kvm();
	c.duration_ns = 1000 * MS;
	run(&c, &free_run);
	c.budget_ppm = 1;
	run(&c, &bounded);
	assert_true(free_run.vcpus[0].engine.halt_attempted_poll > 0);
	assert_true(bounded.vcpus[0].engine.forced > 0);
	assert_true(bounded.vcpus[0].engine.halt_attempted_poll <
		    free_run.vcpus[0].engine.halt_attempted_poll);
}

static void test_resets_meet_halts(void **state)
{
	struct vmm_config c = config_of("lock", "auto");
	struct vmm_result r;

	(void)state;
	need_kvm();
	/* Whoever has made its one round halts. All three need 90 ms: a reset comes before. */
	c.rounds = 1;
	c.hold_ns = 30 * MS;
	c.nr_vcpus = 3;
	c.reset_ns = 60 * MS;
	c.duration_ns = 500 * MS;
	run(&c, &r);
	assert_int_equal(r.end, VMM_END_TIME);
	assert_true(r.resets > 0);
	assert_string_equal(r.note.text, "");
}

static void test_configuration(void **state)
{
	struct vmm_config c = config_of("rr", "auto");
	struct vmm_error e;

	(void)state;
	c.policy.policy = VHALT_NR_POLICIES;
	assert_int_equal(vmm_config_check(&c, &e), -EINVAL);
	c = config_of("rr", "auto");
	c.budget_ppm = 1000001;
	assert_int_equal(vmm_config_check(&c, &e), -EINVAL);
	c = config_of("lock", "auto");
	c.guest_polls = true;
	assert_int_equal(vmm_config_check(&c, &e), -EINVAL);
	c = config_of("rr", "auto");
	c.guest_polls = true;
	assert_int_equal(vmm_config_check(&c, &e), 0);
	c.irqchip = (enum vmm_irqchip)2;
	assert_int_equal(vmm_config_check(&c, &e), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_configuration),
		cmocka_unit_test(test_no_wakeup_is_lost),
		cmocka_unit_test(test_stops_while_halted),
		cmocka_unit_test(test_ends_at_any_moment),
		cmocka_unit_test(test_a_budget_holds),
		cmocka_unit_test(test_resets_meet_halts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
