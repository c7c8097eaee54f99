/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Who takes part in a replay: VMs and vCPUs of all recordings, and the result groups they are in.
 */
#ifndef VHALT_REPLAY_ROSTER_H
#define VHALT_REPLAY_ROSTER_H

#include "replay/engine.h"

struct replay_roster_vm {
	uint32_t ceiling_ns; /* TRACE_UNKNOWN_U32: none recorded */
	uint32_t group;	     /* with REPLAY_BY_VM */
};

struct replay_roster_vcpu {
	uint32_t vm, group;
};

/** Indices count over all recordings; those of the present one start at the bases. */
struct replay_roster {
	enum replay_by by;
	struct replay_roster_vm *vms;
	struct replay_roster_vcpu *vcpus;
	struct replay_group *groups; /* 0 is the total */
	uint32_t nr_vms, nr_vcpus, nr_groups;
	uint32_t vms_room, vcpus_room, groups_room;
	uint32_t vm_base, vcpu_base, group_base;
	uint64_t first_ns, last_ns; /* span of the present recording's halts */
};

/** replay_roster_init - an empty roster with the total as its only group. 0 or -ENOMEM. */
int replay_roster_init(struct replay_roster *roster, enum replay_by by);

/** replay_roster_extend - take up VMs and vCPUs @info names beyond those known. 0, -ENOMEM,
 * -EPROTO. */
int replay_roster_extend(struct replay_roster *roster, const struct trace_info *info);

/** replay_roster_leaf - the group that halts of @vcpu (over all recordings) are counted in. */
static inline struct replay_group *replay_roster_leaf(struct replay_roster *roster, uint32_t vcpu)
{
	return &roster->groups[roster->vcpus[vcpu].group];
}

/** replay_roster_span - a halt of the present recording lasted from @from_ns to @to_ns. */
static inline void replay_roster_span(struct replay_roster *roster, uint64_t from_ns,
				      uint64_t to_ns)
{
	roster->first_ns = from_ns < roster->first_ns ? from_ns : roster->first_ns;
	roster->last_ns = to_ns > roster->last_ns ? to_ns : roster->last_ns;
}

/** replay_roster_end - name the present recording's groups, set their wall time, count its losses,
 * move the bases on. */
void replay_roster_end(struct replay_roster *roster, const struct trace_info *info,
		       const char *label);

/** replay_roster_total - add up the groups' counts into group 0 (unless that is the only one). */
void replay_roster_total(struct replay_roster *roster);

/** replay_roster_fini - free what it holds. */
void replay_roster_fini(struct replay_roster *roster);

#endif
