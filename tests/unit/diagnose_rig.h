/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Halts of two vCPUs of one VM, made one by one, for the tests of the diagnosis. */
#ifndef VHALT_TESTS_DIAGNOSE_RIG_H
#define VHALT_TESTS_DIAGNOSE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "diagnose/halts.h"

#define L_NS 10000U

/** A recording of two vCPUs of one VM, being made halt by halt. */
struct rig {
	struct trace_vm vm;
	struct trace_vcpu vcpus[2];
	struct trace_info info;
	struct diagnose_halts *d;
	uint64_t now_ns[2];
	uint64_t seed;
};

static inline void rig_init(struct rig *r)
{
	memset(r, 0, sizeof(*r));
	r->vm = (struct trace_vm){100, TRACE_UNKNOWN_U32, "web"};
	for (uint32_t i = 0; i < 2; i++)
		r->vcpus[i] = (struct trace_vcpu){0, 200 + i, i, "CPU/KVM"};
	r->info = (struct trace_info){.params = {200000, 2, 10000, 2},
				      .kernel = "6.1.0",
				      .vms = &r->vm,
				      .nr_vms = 1,
				      .vcpus = r->vcpus,
				      .nr_vcpus = 2};
	r->d = diagnose_halts_create(&(struct diagnose_model){10, L_NS, 3000});
	r->seed = 1;
	assert_non_null(r->d);
}

static inline uint64_t draw(struct rig *r, uint64_t below)
{
	r->seed = r->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (r->seed >> 33) % below;
}

/* A halt whose event comes @t_ns after it began, under a window of @window_ns. */
static inline struct trace_halt halt(struct rig *r, uint32_t vcpu, uint64_t run_ns, uint64_t t_ns,
				     uint32_t window_ns)
{
	struct trace_halt h = {
		.start_ns = r->now_ns[vcpu] + run_ns,
		.run_ns = run_ns,
		.deadline_ns = VHALT_NO_DEADLINE_NS,
		.latency_ns = TRACE_UNKNOWN_U32,
		.window_ns = window_ns,
		.vcpu = vcpu,
	};
	bool met = window_ns != TRACE_UNKNOWN_U32 && t_ns <= window_ns;

	h.halt_ns = met ? t_ns : t_ns + L_NS;
	h.flags = met ? 0 : TRACE_HALT_WAITED;
	return h;
}

static inline void add(struct rig *r, const struct trace_halt *h)
{
	assert_int_equal(diagnose_halts_feed(r->d, &r->info, h, 1), 0);
	r->now_ns[h->vcpu] = h->start_ns + h->halt_ns;
}

static inline void put(struct rig *r, uint32_t vcpu, uint64_t run_ns, uint64_t t_ns,
		       uint32_t window_ns)
{
	struct trace_halt h = halt(r, vcpu, run_ns, t_ns, window_ns);

	add(r, &h);
}

#endif
