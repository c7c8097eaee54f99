// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The check of traced module decisions: it accepts what the core decides, and nothing else.
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ctl/check.h"
#include "lib/spec.h"

/* A vCPU under the module, as far as a trace shows it. */
struct vcpu {
	struct vhalt_spec spec;
	struct vhalt_config config;
	struct vhalt_state state;
	unsigned int vm, number;
	uint64_t seq, random;
	uint32_t window_ns;
};

static void begin(struct vcpu *v, const char *spec, unsigned int vm, unsigned int number)
{
	memset(v, 0, sizeof(*v));
	assert_int_equal(vhalt_spec_parse(spec, &v->spec, NULL, 0), 0);
	assert_int_equal(vhalt_spec_config(&v->spec, &v->config), 0);
	vhalt_state_init(&v->state, &v->config);
	v->vm = vm;
	v->number = number;
	v->random = 1 + number;
}

/* One decision, printed as the kernel prints it; @off is added to what the core chose. */
static void decide(struct vcpu *v, FILE *out, uint32_t off)
{
	struct vhalt_hint hint = {.run_ns = v->random % 50000, .deadline_ns = VHALT_NO_DEADLINE_NS};
	struct vhalt_outcome outcome = {.wake_ns = VHALT_UNKNOWN_NS, .window_ns = v->window_ns};

	v->random = v->random * 6364136223846793005ULL + 1442695040888963407ULL;
	outcome.halt_ns = v->random >> 46;
	outcome.flags = outcome.halt_ns <= v->window_ns ? VHALT_OUTCOME_POLLED : 0;
	hint.must_block = v->random >> 60 == 15;
	if (v->seq)
		vhalt_update(&v->state, &v->config, &outcome);
	v->window_ns = vhalt_decide(&v->state, &v->config, &hint).window_ns;
	fprintf(out,
		"   vhalt-tick/0-94  [001] ...2.  4.539137: vhalt_window: vm=%u vcpu=%u "
		"seq=%" PRIu64 " policy=%s values={",
		v->vm, v->number, v->seq++, vhalt_policy_get(v->spec.policy)->name);
	for (uint32_t i = 0; i < vhalt_policy_get(v->spec.policy)->nr_params; i++)
		fprintf(out, "%s0x%" PRIx64, i ? "," : "", v->spec.values[i]);
	fprintf(out,
		"} factor=1024 halt_ns=%" PRIu64 " waited=1 valid=1 run_ns=%" PRIu64
		" window_ns=%" PRIu32 " outcome=%" PRIu32 " must_block=%d old_ns=0 kernel_ns=0 "
		"new_ns=%" PRIu32 " ceiling_ns=200000 keep\n",
		outcome.halt_ns, hint.run_ns, outcome.window_ns, outcome.flags, hint.must_block,
		v->window_ns + off);
}

static struct ctl_check check(FILE *trace)
{
	struct ctl_check result;

	rewind(trace);
	assert_int_equal(ctl_check_stream(trace, "trace", &result), 0);
	fclose(trace);
	return result;
}

static void test_same(void **unused)
{
	(void)unused;
	for (uint32_t id = 0; id < VHALT_NR_POLICIES; id++) {
		const char *name = vhalt_policy_get(id)->name;
		FILE *trace = tmpfile();
		struct ctl_check result;
		struct vcpu a, b;

		begin(&a, name, 100, 0);
		begin(&b, name, 100, 1);
		fprintf(trace, "# tracer: nop\n\n");
		for (int i = 0; i < 500; i++) {
			decide(&a, trace, 0);
			decide(&b, trace, 0);
		}
		result = check(trace);
		assert_int_equal(result.events, 1000);
		assert_int_equal(result.same, 1000);
		assert_int_equal(result.vcpus, 2);
		assert_string_equal(result.first, "");
	}
}

static void test_different(void **unused)
{
	FILE *trace = tmpfile();
	struct ctl_check result;
	struct vcpu v;

	(void)unused;
	begin(&v, "kvm", 7, 3);
	decide(&v, trace, 0);
	decide(&v, trace, 1);
	decide(&v, trace, 0);
	result = check(trace);
	assert_int_equal(result.same, 2);
	assert_int_equal(result.different, 1);
	assert_non_null(strstr(result.first, "trace: line 2: vm 7 vcpu 3 decision 1"));
}

/* What came before the trace, or was lost in it, is not known: nothing is claimed of what follows.
 */
static void test_lost(void **unused)
{
	FILE *trace = tmpfile(), *nowhere = tmpfile();
	struct ctl_check result;
	struct vcpu v;

	(void)unused;
	begin(&v, "dynamic", 7, 0);
	decide(&v, trace, 0);
	decide(&v, nowhere, 0);
	decide(&v, trace, 0);
	decide(&v, trace, 0);
	begin(&v, "dynamic", 7, 0);
	decide(&v, trace, 0);
	decide(&v, trace, 0);
	fclose(nowhere);
	result = check(trace);
	assert_int_equal(result.same, 3);
	assert_int_equal(result.unchecked, 2);
	assert_int_equal(result.different, 0);
}

static void test_malformed(void **unused)
{
	static const char *const lines[] = {
		"vhalt_window:",
		"vhalt_window: vm=1 vcpu=0 seq=0 policy=poll values={} factor=1024 halt_ns=1 "
		"run_ns=1 "
		"window_ns=0 outcome=0 must_block=0 new_ns=0",
		"vhalt_window: vm=1 vcpu=0 seq=0 policy=none values={0x1} factor=1024 halt_ns=1 "
		"run_ns=1 window_ns=0 outcome=0 must_block=0 new_ns=0",
		"vhalt_window: vm=1 vcpu=0 seq=0 policy=none values={ factor=1024 halt_ns=1 "
		"run_ns=1 "
		"window_ns=0 outcome=0 must_block=0 new_ns=0",
		"vhalt_window: vm=1 vcpu=0 seq=0 policy=always values={0x1ffffffff} factor=1024 "
		"halt_ns=1 run_ns=1 window_ns=0 outcome=0 must_block=0 new_ns=0",
		"vhalt_window: vm=1 vcpu=0 seq=0 policy=none values={} factor=1024 halt_ns=-1 "
		"run_ns=1 "
		"window_ns=0 outcome=0 must_block=0 new_ns=0",
		"vhalt_window: vm=1 vcpu=0 seq=0 policy=none values={} factor=1024 halt_ns=1 "
		"run_ns=1 "
		"window_ns=0 outcome=0 must_block=0 new_ns=4294967296",
		"vhalt_window: vm=1 vcpu=0 seq=99999999999999999999 policy=none values={} "
		"factor=1024 "
		"halt_ns=1 run_ns=1 window_ns=0 outcome=0 must_block=0 new_ns=0",
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		FILE *trace = tmpfile();
		struct ctl_check result;

		fprintf(trace, "%s\n", lines[i]);
		result = check(trace);
		assert_int_equal(result.events, 1);
		assert_int_equal(result.malformed, 1);
		assert_int_equal(result.same, 0);
		assert_non_null(strstr(result.first, "trace: line 1: "));
	}
}

/* The same policy with other values goes on with its state; another one must begin at 0. */
static void test_changes(void **unused)
{
	FILE *trace = tmpfile();
	struct ctl_check result;
	struct vcpu v;

	(void)unused;
	begin(&v, "auto:price=10", 7, 0);
	for (int i = 0; i < 100; i++)
		decide(&v, trace, 0);
	assert_int_equal(vhalt_spec_parse("auto:price=200,max=1ms", &v.spec, NULL, 0), 0);
	assert_int_equal(vhalt_spec_config(&v.spec, &v.config), 0);
	for (int i = 0; i < 100; i++)
		decide(&v, trace, 0);
	assert_int_equal(vhalt_spec_parse("pv", &v.spec, NULL, 0), 0);
	assert_int_equal(vhalt_spec_config(&v.spec, &v.config), 0);
	decide(&v, trace, 0);
	result = check(trace);
	assert_int_equal(result.same, 200);
	assert_int_equal(result.unchecked, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),	cmocka_unit_test(test_different),
		cmocka_unit_test(test_lost),	cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
