/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the tests of boost selection share: a small VM, and the answers of whole scans. */
#ifndef VHALT_TESTS_BOOST_RIG_H
#define VHALT_TESTS_BOOST_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <vhalt/boost.h>

#define NOW_NS	   1000000000ULL
#define READY	   VHALT_BOOST_RUNNABLE
#define PREEMPTED  (VHALT_BOOST_RUNNABLE | VHALT_BOOST_PREEMPTED)
#define MOST_VCPUS 200

struct rig {
	struct vhalt_boost boost;
	struct vhalt_boost_vcpu vcpus[MOST_VCPUS];
	struct vhalt_boost_request request;
};

/** rig_init - @nr vCPUs, all blocked; vCPU 0 spins. */
static inline void rig_init(struct rig *rig, uint32_t mode, uint32_t nr)
{
	memset(rig, 0, sizeof(*rig));
	vhalt_boost_init(&rig->boost, mode);
	for (uint32_t i = 0; i < nr; i++)
		vhalt_boost_vcpu_init(&rig->vcpus[i]);
	rig->request.vcpus = rig->vcpus;
	rig->request.nr = nr;
	rig->request.now_ns = NOW_NS;
}

/** rig_vcpu - vCPU @i waits since @since_ns, with @flags and @count (SHARED if >= 0). */
static inline void rig_vcpu(struct rig *rig, uint32_t i, uint32_t flags, int count,
			    uint64_t since_ns)
{
	rig->vcpus[i].flags = flags | (count >= 0 ? VHALT_BOOST_SHARED : 0U);
	rig->vcpus[i].preempt_count = count > 0 ? (uint32_t)count : 0;
	rig->vcpus[i].since_ns = since_ns;
}

static inline int32_t rig_first(struct rig *rig)
{
	struct vhalt_boost_scan scan;

	return vhalt_boost_first(&scan, &rig->boost, &rig->request);
}

/** rig_expect - a scan in which every yield is ignored names exactly @expected ("3 1 2"). */
static inline void rig_expect(struct rig *rig, const char *expected)
{
	struct vhalt_boost_scan scan;
	char got[1024] = "";
	size_t length = 0;
	int32_t i;

	for (i = vhalt_boost_first(&scan, &rig->boost, &rig->request); i != VHALT_BOOST_NONE;
	     i = vhalt_boost_next(&scan, &rig->boost, &rig->request)) {
		assert_in_range(i, 0, rig->request.nr - 1);
		length += (size_t)snprintf(got + length, sizeof(got) - length, "%s%d",
					   length ? " " : "", i);
		assert_true(length < sizeof(got) - 16);
	}
	assert_string_equal(got, expected);
}

/** rig_draw - splitmix64. */
static inline uint64_t rig_draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

#endif
