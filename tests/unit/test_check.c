// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The check against the kernel: every decision is compared, nothing is looked up, losses re-sync.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <vhalt/kvm.h>

#include "replay/check.h"
#include "tests/unit/replay_fixture.h"

/* A kernel: policy kvm with the given parameters reports what it does to each halt. */
struct kernel {
	struct vhalt_config config;
	struct vhalt_state state[FIXTURE_VCPUS];
};

static void kernel_init(struct kernel *k, const char *text)
{
	struct vhalt_spec spec = fixture_spec(text);

	assert_int_equal(vhalt_spec_config(&spec, &k->config), 0);
	for (int i = 0; i < FIXTURE_VCPUS; i++)
		vhalt_state_init(&k->state[i], &k->config);
}

static struct trace_halt *kernel_halt(struct kernel *k, struct fixture *f, uint32_t vcpu,
				      uint64_t halt_ns, bool valid)
{
	struct vhalt_hint hint = {VHALT_UNKNOWN_NS, VHALT_NO_DEADLINE_NS, false};
	struct trace_halt *h = fixture_blocked(f, vcpu, halt_ns, TRACE_UNKNOWN_U32);
	struct vhalt_plan plan = vhalt_decide(&k->state[vcpu], &k->config, &hint);
	struct vhalt_outcome outcome = {halt_ns, VHALT_UNKNOWN_NS, plan.window_ns,
					valid ? 0 : VHALT_OUTCOME_INVALID};
	struct vhalt_window_change change = vhalt_kvm_update(&k->state[vcpu], &k->config, &outcome);

	if (!valid)
		h->flags |= TRACE_HALT_INVALID;
	if (change.decided) {
		h->flags |= TRACE_HALT_WINDOW | (change.grow ? TRACE_HALT_GROW : 0);
		h->old_ns = change.old_ns;
		h->new_ns = change.new_ns;
	}
	return h;
}

/* Halts of all lengths on three vCPUs, some of them invalid. */
static void fill(struct kernel *k, struct fixture *f, size_t halts)
{
	fixture_init(f, 3);
	for (size_t i = 0; i < halts; i++) {
		uint32_t vcpu = (uint32_t)(i % 3);
		uint64_t t_ns = fixture_draw(f, 8) ? fixture_draw(f, 90000)
						   : fixture_draw(f, 900000);

		kernel_halt(k, f, vcpu, t_ns, fixture_draw(f, 50) != 0);
	}
}

static const struct replay_check_result *run(struct replay_check **check, const char *text,
					     struct fixture *f)
{
	struct vhalt_spec spec = fixture_spec(text);

	assert_int_equal(replay_check_create(check, &spec), 0);
	assert_int_equal(replay_check_feed(*check, &f->info, f->halts, f->nr / 2), 0);
	assert_int_equal(
		replay_check_feed(*check, &f->info, f->halts + f->nr / 2, f->nr - f->nr / 2), 0);
	return replay_check_result(*check);
}

static void test_all_reproduced(void **state)
{
	static const char *const kernels[] = {
		"kvm",	       "kvm:shrink=0",		"kvm:grow=3,grow_start=7us,shrink=4",
		"kvm:grow=0",  "kvm:halt_poll_ns=50us", "kvm:halt_poll_ns=0",
		"kvm:clamp=1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
		const struct replay_check_result *r;
		struct replay_check *check;
		struct fixture f;
		struct kernel k;

		kernel_init(&k, kernels[i]);
		fill(&k, &f, 9000);
		r = run(&check, kernels[i], &f);
		if (r->reproduced != r->decisions || r->nr_differences)
			fail_msg("%s: %lu of %lu", kernels[i], (unsigned long)r->reproduced,
				 (unsigned long)r->decisions);
		assert_int_equal(r->kept + r->grew + r->shrank, r->decisions);
		assert_int_equal(r->decisions + r->unknown, 9000);
		assert_true(r->decisions > 8000);
		assert_int_equal(r->resyncs, 0);
		replay_check_destroy(check);
		fixture_fini(&f);
	}
}

/* Parameters come from the recording, a VM's ceiling before the parameter. */
static void test_recorded_parameters(void **state)
{
	const struct replay_check_result *r;
	struct replay_check *check;
	struct fixture f;
	struct kernel k;

	(void)state;
	kernel_init(&k, "kvm:halt_poll_ns=40us,grow=3,grow_start=8us,shrink=0");
	fill(&k, &f, 3000);
	r = run(&check, "kvm", &f);
	assert_true(r->reproduced < r->decisions);
	replay_check_destroy(check);
	f.info.params = (struct trace_kvm_params){40000, 3, 8000, 0};
	r = run(&check, "kvm", &f);
	assert_true(r->decisions > 2900);
	assert_int_equal(r->reproduced, r->decisions);
	replay_check_destroy(check);
	f.info.params.halt_poll_ns = 200000;
	for (int i = 0; i < 3; i++)
		f.vms[i].ceiling_ns = 40000;
	r = run(&check, "kvm", &f);
	assert_int_equal(r->reproduced, r->decisions);
	replay_check_destroy(check);
	r = run(&check, "kvm:grow=2", &f);
	assert_true(r->reproduced < r->decisions);
	replay_check_destroy(check);
	fixture_fini(&f);
}

/* Linux before 6.1 clamps a grow at once. */
static void test_old_kernel(void **state)
{
	const struct replay_check_result *r;
	struct replay_check *check;
	struct fixture f;
	struct kernel k;

	(void)state;
	kernel_init(&k, "kvm:halt_poll_ns=50us,clamp=1");
	fill(&k, &f, 3000);
	f.info.params.halt_poll_ns = 50000;
	snprintf(f.info.kernel, sizeof(f.info.kernel), "5.10.0-30-amd64");
	r = run(&check, "kvm", &f);
	assert_int_equal(r->reproduced, r->decisions);
	replay_check_destroy(check);
	snprintf(f.info.kernel, sizeof(f.info.kernel), "6.1.0-30-amd64");
	r = run(&check, "kvm", &f);
	assert_true(r->reproduced < r->decisions);
	replay_check_destroy(check);
	fixture_fini(&f);
}

/* Each way in which a report can be wrong is one difference, and only one. */
static void test_each_lie_is_found(void **state)
{
	enum { LIE_NEW, LIE_OLD, LIE_KIND, LIE_SILENT, LIE_INVENTED, LIES };

	(void)state;
	for (int lie = 0; lie < LIES; lie++) {
		const struct replay_check_result *r;
		struct replay_check *check;
		struct trace_halt *h;
		struct fixture f;
		struct kernel k;

		kernel_init(&k, "kvm");
		fixture_init(&f, 1);
		kernel_halt(&k, &f, 0, 60000, true); /* 0 -> 10 us: in sync from here on */
		kernel_halt(&k, &f, 0, 60000, true); /* 10 -> 20 us */
		h = kernel_halt(&k, &f, 0, lie == LIE_INVENTED ? 15000 : 60000, true);
		h->new_ns += lie == LIE_NEW;
		h->old_ns += lie == LIE_OLD;
		h->flags ^= lie == LIE_KIND ? TRACE_HALT_GROW : 0;
		h->flags ^= lie == LIE_SILENT || lie == LIE_INVENTED ? TRACE_HALT_WINDOW : 0;
		kernel_halt(&k, &f, 0, 300000, true); /* shrinks */
		r = run(&check, "kvm", &f);
		assert_int_equal(r->nr_differences, lie == LIE_NEW || lie == LIE_INVENTED ? 2 : 1);
		assert_int_equal(r->decisions - r->reproduced, r->nr_differences);
		assert_string_equal(r->differences[0].vcpu, "vm0/0");
		assert_int_equal(r->differences[0].start_ns, f.halts[2].start_ns);
		replay_check_destroy(check);
		fixture_fini(&f);
	}
}

/* After lost events nothing is claimed until the kernel names a window again. */
static void test_gap(void **state)
{
	const struct replay_check_result *r;
	struct replay_check *check;
	struct fixture f;
	struct kernel k;

	(void)state;
	kernel_init(&k, "kvm");
	fixture_init(&f, 1);
	kernel_halt(&k, &f, 0, 60000, true); /* 0 -> 10 us, syncs */
	kernel_halt(&k, &f, 0, 60000, true); /* 20 us */
	kernel_halt(&k, &f, 0, 60000, true); /* 40 us: lost */
	f.nr--;
	kernel_halt(&k, &f, 0, 15000, true)->flags |= TRACE_HALT_GAP; /* kept */
	kernel_halt(&k, &f, 0, 60000, true);			      /* 80 us, syncs */
	kernel_halt(&k, &f, 0, 90000, true);			      /* 160 us */
	r = run(&check, "kvm", &f);
	assert_int_equal(r->decisions, 2);
	assert_int_equal(r->reproduced, 2);
	assert_int_equal(r->unknown, 3);
	assert_int_equal(r->resyncs, 1);
	replay_check_destroy(check);
	/* The same without the mark is a difference. */
	f.halts[2].flags &= ~(uint32_t)TRACE_HALT_GAP;
	r = run(&check, "kvm", &f);
	assert_true(r->reproduced < r->decisions);
	replay_check_destroy(check);
	fixture_fini(&f);
}

static void test_nothing_to_check(void **state)
{
	const struct replay_check_result *r;
	struct replay_check *check;
	struct vhalt_spec spec = fixture_spec("guest");
	struct fixture f;

	(void)state;
	fixture_init(&f, 1);
	fixture_polled(&f, 0, 100);
	r = run(&check, "kvm", &f);
	assert_int_equal(r->decisions, 0);
	assert_int_equal(r->unknown, 1);
	replay_check_destroy(check);
	fixture_fini(&f);
	assert_int_equal(replay_check_create(&check, &spec), -EINVAL);
}

/* Whose parameters were these? Unnamed ones are mainline's, and that is told. */
static void test_assumed(void **state)
{
	static const struct {
		const char *spec;
		struct trace_kvm_params recorded;
		bool assumed;
	} cases[] = {
		{"kvm", {200000, 2, 10000, 0}, false},
		{"kvm", {200000, 2, 10000, TRACE_UNKNOWN_U32}, true},
		{"kvm:shrink=0", {200000, 2, 10000, TRACE_UNKNOWN_U32}, false},
		{"kvm:shrink=0", {TRACE_UNKNOWN_U32, 2, 10000, 0}, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct vhalt_spec spec = fixture_spec(cases[i].spec);
		struct replay_check *check;
		struct fixture f;

		fixture_init(&f, 1);
		f.info.params = cases[i].recorded;
		fixture_blocked(&f, 0, 50000, TRACE_UNKNOWN_U32);
		assert_int_equal(replay_check_create(&check, &spec), 0);
		assert_int_equal(replay_check_feed(check, &f.info, f.halts, f.nr), 0);
		assert_int_equal(replay_check_result(check)->assumed, cases[i].assumed);
		replay_check_destroy(check);
		fixture_fini(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_reproduced),
		cmocka_unit_test(test_recorded_parameters),
		cmocka_unit_test(test_old_kernel),
		cmocka_unit_test(test_each_lie_is_found),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_nothing_to_check),
		cmocka_unit_test(test_assumed),
	};

	return cmocka_run_group_tests_name("check", tests, NULL, NULL);
}
