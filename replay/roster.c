// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Who takes part in a replay: VMs and vCPUs of all recordings, and the result groups they are in.
#include "replay/roster.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/grow.h"
#include "replay/text.h"

/* A new group; its index, or -ENOMEM. */
static int64_t add_group(struct replay_roster *roster, uint32_t vm, uint32_t vcpu,
			 uint32_t ceiling_ns)
{
	struct replay_group *group;

	if (replay_grow(&roster->groups, &roster->groups_room, roster->nr_groups + 1,
			sizeof(*roster->groups)))
		return -ENOMEM;
	group = &roster->groups[roster->nr_groups];
	memset(group, 0, sizeof(*group));
	group->vm = vm;
	group->vcpu = vcpu;
	group->ceiling_ns = ceiling_ns;
	return roster->nr_groups++;
}

int replay_roster_init(struct replay_roster *roster, enum replay_by by)
{
	memset(roster, 0, sizeof(*roster));
	roster->by = by;
	roster->first_ns = UINT64_MAX;
	if (add_group(roster, TRACE_UNKNOWN_U32, TRACE_UNKNOWN_U32, TRACE_UNKNOWN_U32) < 0)
		return -ENOMEM;
	snprintf(roster->groups[0].label, REPLAY_LABEL_BYTES, "total");
	roster->group_base = 1;
	return 0;
}

static int add_vm(struct replay_roster *roster, const struct trace_vm *vm)
{
	int64_t group = 0;

	if (replay_grow(&roster->vms, &roster->vms_room, roster->nr_vms + 1, sizeof(*roster->vms)))
		return -ENOMEM;
	if (roster->by == REPLAY_BY_VM)
		group = add_group(roster, roster->nr_vms, TRACE_UNKNOWN_U32, vm->ceiling_ns);
	if (group < 0)
		return (int)group;
	roster->vms[roster->nr_vms++] = (struct replay_roster_vm){vm->ceiling_ns, (uint32_t)group};
	return 0;
}

static int add_vcpu(struct replay_roster *roster, const struct trace_vcpu *vcpu)
{
	uint32_t vm = roster->vm_base + vcpu->vm;
	int64_t group;

	if (vm >= roster->nr_vms)
		return -EPROTO;
	if (replay_grow(&roster->vcpus, &roster->vcpus_room, roster->nr_vcpus + 1,
			sizeof(*roster->vcpus)))
		return -ENOMEM;
	group = roster->vms[vm].group;
	if (roster->by == REPLAY_BY_VCPU)
		group = add_group(roster, vm, roster->nr_vcpus, roster->vms[vm].ceiling_ns);
	if (group < 0)
		return (int)group;
	roster->vcpus[roster->nr_vcpus++] = (struct replay_roster_vcpu){vm, (uint32_t)group};
	return 0;
}

int replay_roster_extend(struct replay_roster *roster, const struct trace_info *info)
{
	int err;

	for (uint32_t i = roster->nr_vms - roster->vm_base; i < info->nr_vms; i++) {
		err = add_vm(roster, &info->vms[i]);
		if (err)
			return err;
	}
	for (uint32_t i = roster->nr_vcpus - roster->vcpu_base; i < info->nr_vcpus; i++) {
		err = add_vcpu(roster, &info->vcpus[i]);
		if (err)
			return err;
	}
	return 0;
}

/* Names are taken at the end: a vCPU's may become known after its first halts. */
static void label_group(struct replay_group *group, const struct replay_roster *roster,
			const struct trace_info *info, const char *label)
{
	const struct trace_vm *vm = &info->vms[group->vm - roster->vm_base];
	const char *prefix = label ? label : "", *colon = label ? ": " : "";

	if (group->vcpu == TRACE_UNKNOWN_U32) {
		snprintf(group->label, sizeof(group->label), "%.80s%s%.*s (pid %" PRIu32 ")",
			 prefix, colon, TRACE_NAME_BYTES, vm->name[0] ? vm->name : "VM", vm->pid);
	} else {
		const struct trace_vcpu *vcpu = &info->vcpus[group->vcpu - roster->vcpu_base];

		snprintf(group->label, sizeof(group->label), "%.80s%s%.*s (tid %" PRIu32 ")",
			 prefix, colon, TRACE_NAME_BYTES, vcpu->name[0] ? vcpu->name : "vCPU",
			 vcpu->tid);
	}
	replay_text_clean(group->label);
}

void replay_roster_end(struct replay_roster *roster, const struct trace_info *info,
		       const char *label)
{
	uint64_t wall_ns = info->duration_ns;

	if (!wall_ns && roster->last_ns > roster->first_ns)
		wall_ns = roster->last_ns - roster->first_ns;
	roster->groups[0].wall_ns += wall_ns;
	roster->groups[0].lost += info->lost;
	roster->groups[0].damaged_frames += info->damaged_frames;
	for (uint32_t g = roster->group_base; g < roster->nr_groups; g++) {
		roster->groups[g].wall_ns = wall_ns;
		label_group(&roster->groups[g], roster, info, label);
	}
	roster->vm_base = roster->nr_vms;
	roster->vcpu_base = roster->nr_vcpus;
	roster->group_base = roster->nr_groups;
	roster->first_ns = UINT64_MAX;
	roster->last_ns = 0;
}

void replay_roster_total(struct replay_roster *roster)
{
	for (uint32_t g = 1; g < roster->nr_groups; g++)
		replay_counts_add(&roster->groups[0].counts, &roster->groups[g].counts);
}

void replay_roster_fini(struct replay_roster *roster)
{
	free(roster->vms);
	free(roster->vcpus);
	free(roster->groups);
	memset(roster, 0, sizeof(*roster));
}
