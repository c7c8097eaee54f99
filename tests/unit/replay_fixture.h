/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Recordings in memory for the tests of replay/. */
#ifndef VHALT_TESTS_REPLAY_FIXTURE_H
#define VHALT_TESTS_REPLAY_FIXTURE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/spec.h"
#include "replay/source.h"
#include "trace/halt.h"

#define FIXTURE_VCPUS 8

/** A recording that is built halt by halt. */
struct fixture {
	struct trace_info info;
	struct trace_vm vms[FIXTURE_VCPUS];
	struct trace_vcpu vcpus[FIXTURE_VCPUS];
	uint64_t now_ns[FIXTURE_VCPUS];
	struct trace_halt *halts;
	size_t nr, room;
	uint64_t seed;
};

/* The policy that @text names; fails the test when there is none. */
static inline struct vhalt_spec fixture_spec(const char *text)
{
	char error[VHALT_SPEC_ERROR_BYTES];
	struct vhalt_spec spec;

	if (vhalt_spec_parse(text, &spec, error, sizeof(error)))
		fail_msg("%s", error);
	return spec;
}

/* @vcpus vCPUs, each in a VM of its own called "vm<n>" with pid 100 + n. */
static inline void fixture_init(struct fixture *f, uint32_t vcpus)
{
	memset(f, 0, sizeof(*f));
	f->seed = 42;
	memset(&f->info.params, 0xff, sizeof(f->info.params));
	for (uint32_t i = 0; i < vcpus; i++) {
		f->vms[i] = (struct trace_vm){.pid = 100 + i, .ceiling_ns = TRACE_UNKNOWN_U32};
		snprintf(f->vms[i].name, TRACE_NAME_BYTES, "vm%u", i);
		f->vcpus[i] = (struct trace_vcpu){.vm = i, .tid = 200 + i, .number = 0};
		snprintf(f->vcpus[i].name, TRACE_NAME_BYTES, "vm%u/0", i);
	}
	f->info.vms = f->vms;
	f->info.vcpus = f->vcpus;
	f->info.nr_vms = f->info.nr_vcpus = vcpus;
}

static inline void fixture_fini(struct fixture *f)
{
	free(f->halts);
}

/* A halt met by polling: T is known. More fields may be set on what is returned. */
static inline struct trace_halt *fixture_polled(struct fixture *f, uint32_t vcpu, uint64_t t_ns)
{
	struct trace_halt *h;

	if (f->nr == f->room) {
		f->room = f->room ? 2 * f->room : 64;
		f->halts = realloc(f->halts, f->room * sizeof(*f->halts));
	}
	h = &f->halts[f->nr++];
	memset(h, 0, sizeof(*h));
	f->now_ns[vcpu] += 5000;
	h->start_ns = f->now_ns[vcpu];
	h->run_ns = 5000;
	h->halt_ns = t_ns;
	h->deadline_ns = VHALT_NO_DEADLINE_NS;
	h->latency_ns = h->window_ns = TRACE_UNKNOWN_U32;
	h->vcpu = vcpu;
	f->now_ns[vcpu] += t_ns;
	return h;
}

/* A halt that blocked, with its wake-up latency or TRACE_UNKNOWN_U32. */
static inline struct trace_halt *fixture_blocked(struct fixture *f, uint32_t vcpu, uint64_t halt_ns,
						 uint32_t latency_ns)
{
	struct trace_halt *h = fixture_polled(f, vcpu, halt_ns);

	h->flags = TRACE_HALT_WAITED;
	h->latency_ns = latency_ns;
	return h;
}

/* xorshift: the same numbers everywhere. */
static inline uint64_t fixture_draw(struct fixture *f, uint64_t below)
{
	f->seed ^= f->seed << 13;
	f->seed ^= f->seed >> 7;
	f->seed ^= f->seed << 17;
	return f->seed % below;
}

/* The read function of a struct replay_input over a fixture. */
static inline int fixture_read(void *context, const struct replay_visitor *visitor, bool again)
{
	const struct fixture *f = context;
	int err = 0;

	(void)again;
	for (size_t at = 0; !err && at < f->nr; at += 1000)
		err = visitor->halts(visitor->context, &f->info, f->halts + at,
				     f->nr - at < 1000 ? f->nr - at : 1000);
	if (!err && visitor->end)
		err = visitor->end(visitor->context, &f->info, "memory");
	return err;
}

#endif
