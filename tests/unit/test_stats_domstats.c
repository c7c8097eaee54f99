// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What virsh domstats prints: vCPUs of several domains, libvirt's own fields, and bad values.
#include "tests/unit/stats_fixture.h"

#include <errno.h>

/* As virsh orders them: by libvirt's groups, KVM's counters in no order. */
static const char two_domains[] = "Domain: 'web 01'\n"
				  "  state.state=1\n"
				  "  cpu.time=486629513000\n"
				  "  cpu.haltpoll.success.time=900\n"
				  "  cpu.haltpoll.fail.time=500\n"
				  "  balloon.current=2097152\n"
				  "  vcpu.current=2\n"
				  "  vcpu.0.state=1\n"
				  "  vcpu.0.time=115940000000\n"
				  "  vcpu.0.wait=0\n"
				  "  vcpu.0.halt_wait_ns.sum=7021710117997\n"
				  "  vcpu.0.blocking.cur=yes\n"
				  "  vcpu.0.halt_poll_success_ns.sum=600\n"
				  "  vcpu.0.halt_attempted_poll.sum=30\n"
				  "  vcpu.0.halt_successful_poll.sum=20\n"
				  "  vcpu.1.guest_mode.cur=no\n"
				  "  vcpu.1.halt_attempted_poll.sum=7\n"
				  "  block.0.path=/srv/images/web 01.qcow2\n"
				  "  vm.max_mmu_rmap_size.max=3\n"
				  "  vm.remote_tlb_flush.sum=2\n"
				  "\n"
				  "Domain: 'db'\n"
				  "  vcpu.0.halt_attempted_poll.sum=99\n"
				  "\n";

/* The scope of this label; fails the test where there is none. */
static uint32_t scope(const struct read_stats *r, const char *label)
{
	for (uint32_t i = 0; i < r->stats->nr_scopes; i++)
		if (!strcmp(r->stats->scopes[i].label, label))
			return i;
	fail_msg("no scope %s", label);
	return 0;
}

static void test_domains(void **state)
{
	struct read_stats r = read_text(two_domains);
	uint32_t vcpu, vm;

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.nr_reports, 0);
	assert_int_equal(r.stats->kinds, STATS_COUNTERS);
	assert_int_equal(r.stats->nr_scopes, 4);
	assert_int_equal(r.stats->ignored, 0);
	vcpu = scope(&r, "VM web 01 vCPU 0");
	assert_int_equal(r.sums[vcpu].attempted, 30);
	assert_int_equal(r.sums[vcpu].successful, 20);
	assert_int_equal(r.sums[vcpu].success_ns, 600);
	assert_int_equal(r.sums[vcpu].wait_ns, 7021710117997);
	assert_int_equal(stats_find(r.stats, vcpu, "halt_wait_ns")->unit, STATS_NS);
	assert_int_equal(total(&r, vcpu, "blocking"), 1);
	assert_int_equal(stats_find(r.stats, vcpu, "blocking")->unit, STATS_BOOLEAN);
	assert_true(stats_find(r.stats, vcpu, "blocking")->instant);
	/* libvirt's own are no counters of KVM. */
	assert_null(stats_find(r.stats, vcpu, "wait"));
	vcpu = scope(&r, "VM web 01 vCPU 1");
	assert_int_equal(r.sums[vcpu].attempted, 7);
	assert_int_equal(total(&r, vcpu, "guest_mode"), 0);
	vm = scope(&r, "VM web 01");
	assert_int_equal(r.sums[vm].success_ns, 900);
	assert_int_equal(r.sums[vm].fail_ns, 500);
	assert_true(stats_find(r.stats, vm, "max_mmu_rmap_size")->instant);
	assert_false(stats_find(r.stats, vm, "remote_tlb_flush")->instant);
	assert_int_equal(r.sums[scope(&r, "VM db vCPU 0")].attempted, 99);
	read_done(&r);
}

/* The same domain again is another time; without the domain's line it is just a vCPU. */
static void test_again(void **state)
{
	struct read_stats r = read_text("Domain: 'web'\n  vcpu.0.halt_exits.sum=10\n\n"
					"Domain: 'web'\n  vcpu.0.halt_exits.sum=15\n"
					"  vcpu.0.halt_wakeup.sum=2\n");

	(void)state;
	assert_int_equal(r.stats->nr_scopes, 2);
	assert_int_equal(total(&r, scope(&r, "VM web vCPU 0"), "halt_exits"), 10);
	assert_int_equal(total(&r, scope(&r, "VM web vCPU 0, line 4"), "halt_exits"), 15);
	assert_int_equal(total(&r, scope(&r, "VM web vCPU 0, line 4"), "halt_wakeup"), 2);
	read_done(&r);
	r = read_text("> vcpu.3.halt_exits.sum=10\n");
	assert_int_equal(total(&r, scope(&r, "vCPU 3"), "halt_exits"), 10);
	read_done(&r);
}

static void test_bad(void **state)
{
	struct read_stats r = read_text("Domain: 'web'\n"
					"  vcpu.0.halt_exits.sum=-1\n"
					"  vcpu.0.halt_wakeup.sum=18446744073709551615\n"
					"  vcpu.0.halt_attempted_poll.sum=\n"
					"  vcpu.0.halt_poll_invalid.sum=5\n"
					"  vcpu.99999999999.halt_exits.sum=5\n"
					"  vcpu.x.halt_exits.sum=5\n");

	(void)state;
	assert_int_equal(r.error, 0);
	assert_int_equal(r.stats->nr_values, 1);
	assert_int_equal(r.stats->damaged, 3);
	assert_reported(&r, "f: line 2: halt_exits: \"-1\" is no number");
	assert_reported(&r, "f: line 3: ");
	read_done(&r);
	/* Names of other things that begin alike. */
	r = read_text("vm.swappiness = 10\nvm.dirty_ratio=20\nnet.ifnames=0 quiet\nDomain: x\n");
	assert_int_equal(r.error, -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_domains),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
