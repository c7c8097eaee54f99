// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The requests that read: the module as a whole, its VMs, its vCPUs.
#include <errno.h>
#include <linux/genetlink.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/ctl.h"
#include "ctl/internal.h"

static void get_string(const struct nlattr *attr, char *to, size_t bytes)
{
	size_t n = strnlen(mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr));

	n = n < bytes ? n : bytes - 1;
	memcpy(to, mnl_attr_get_payload(attr), n);
	to[n] = '\0';
}

/* Attributes may be shorter than this reader thinks only if the kernel is broken: they are 0 then.
 */
static uint32_t get_u32(const struct nlattr *attr)
{
	return mnl_attr_get_payload_len(attr) == sizeof(uint32_t) ? mnl_attr_get_u32(attr) : 0;
}

static uint64_t get_u64(const struct nlattr *attr)
{
	return mnl_attr_get_payload_len(attr) == sizeof(uint64_t) ? mnl_attr_get_u64(attr) : 0;
}

static bool get_flag(const struct nlattr *attr)
{
	return mnl_attr_get_payload_len(attr) == 1 && mnl_attr_get_u8(attr);
}

static void get_params(const struct nlattr *list, struct ctl_setting *s)
{
	const struct nlattr *one, *attr;

	ctl_for_each_nested (one, list) {
		if (s->nr_params == VHALT_PARAMS_MAX)
			return;
		ctl_for_each_nested (attr, one) {
			if (mnl_attr_get_type(attr) == VHALT_PARAM_A_NAME)
				get_string(attr, s->params[s->nr_params].name, VHALT_NAME_BYTES);
			else if (mnl_attr_get_type(attr) == VHALT_PARAM_A_VALUE)
				s->params[s->nr_params].value = get_u64(attr);
		}
		s->nr_params++;
	}
}

static int take_info(const struct nlmsghdr *message, void *arg)
{
	struct ctl_info *i = arg;
	const struct nlattr *a;

	ctl_for_each_attr (a, message, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(a)) {
		case VHALT_A_ABI: i->abi = get_u32(a); break;
		case VHALT_A_POLICY: get_string(a, i->dflt.policy, VHALT_NAME_BYTES); break;
		case VHALT_A_PARAMS: get_params(a, &i->dflt); break;
		case VHALT_A_NR_VMS: i->nr_vms = get_u32(a); break;
		case VHALT_A_NR_VCPUS: i->nr_vcpus = get_u32(a); break;
		case VHALT_A_MAX_VMS: i->max_vms = get_u32(a); break;
		case VHALT_A_MAX_VCPUS: i->max_vcpus = get_u32(a); break;
		case VHALT_A_ATTACHED: i->attached = get_flag(a); break;
		case VHALT_A_CEILING_NS: i->ceiling_ns = get_u32(a); break;
		case VHALT_A_UNKNOWN: i->unknown = get_u64(a); break;
		case VHALT_A_REFUSED: i->refused = get_u64(a); break;
		case VHALT_A_GATED: i->gated = get_u64(a); break;
		case VHALT_A_BUDGET_PPM: i->budget_ppm = get_u32(a); break;
		case VHALT_A_FACTOR: i->factor = get_u32(a); break;
		case VHALT_A_BURNT_PPM: i->burnt_ppm = get_u32(a); break;
		case VHALT_A_BOOST: get_string(a, i->boost, sizeof(i->boost)); break;
		case VHALT_A_BOOST_WATCHING: i->boost_watching = get_flag(a); break;
		case VHALT_A_BOOST_REFUSED: i->boost_refused = get_u64(a); break;
		}
	}
	return MNL_CB_OK;
}

int ctl_get_info(struct ctl *ctl, struct ctl_info *info, struct ctl_error *error)
{
	memset(info, 0, sizeof(*info));
	ctl_request_begin(ctl, ctl->family, VHALT_CMD_GET_INFO, NLM_F_ACK);
	return ctl_request_run(ctl, take_info, info, error);
}

/* A growing array. */
struct list {
	void *items;
	size_t n, room, item_bytes;
};

static void *add(struct list *list)
{
	if (list->n == list->room) {
		size_t room = list->room ? list->room * 2 : 16;
		void *items = realloc(list->items, room * list->item_bytes);

		if (!items)
			return NULL;
		list->items = items;
		list->room = room;
	}
	return memset((char *)list->items + list->n++ * list->item_bytes, 0, list->item_bytes);
}

static int take_vm(const struct nlmsghdr *message, void *arg)
{
	struct ctl_vm *vm = add(arg);
	const struct nlattr *a;

	if (!vm)
		return MNL_CB_ERROR;
	ctl_for_each_attr (a, message, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(a)) {
		case VHALT_A_VM_PID: vm->pid = get_u32(a); break;
		case VHALT_A_NAME: get_string(a, vm->name, sizeof(vm->name)); break;
		case VHALT_A_NR_VCPUS: vm->nr_vcpus = get_u32(a); break;
		case VHALT_A_OWN: vm->own = get_flag(a); break;
		case VHALT_A_POLICY: get_string(a, vm->setting.policy, VHALT_NAME_BYTES); break;
		case VHALT_A_PARAMS: get_params(a, &vm->setting); break;
		}
	}
	return MNL_CB_OK;
}

static int take_vcpu(const struct nlmsghdr *message, void *arg)
{
	struct ctl_vcpu *v = add(arg);
	const struct nlattr *a;

	if (!v)
		return MNL_CB_ERROR;
	ctl_for_each_attr (a, message, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(a)) {
		case VHALT_A_VM_PID: v->pid = get_u32(a); break;
		case VHALT_A_TID: v->tid = get_u32(a); break;
		case VHALT_A_VCPU: v->number = get_u32(a); break;
		case VHALT_A_WINDOW_NS: v->window_ns = get_u32(a); break;
		case VHALT_A_CEILING_NS: v->ceiling_ns = get_u32(a); break;
		case VHALT_A_HALTS: v->halts = get_u64(a); break;
		case VHALT_A_POLLED: v->polled = get_u64(a); break;
		case VHALT_A_BLOCKED: v->blocked = get_u64(a); break;
		case VHALT_A_INVALID: v->invalid = get_u64(a); break;
		case VHALT_A_CUT: v->cut = get_u64(a); break;
		case VHALT_A_USEFUL_NS: v->useful_ns = get_u64(a); break;
		case VHALT_A_WASTED_NS: v->wasted_ns = get_u64(a); break;
		case VHALT_A_HALTED_NS: v->halted_ns = get_u64(a); break;
		case VHALT_A_DECISIONS: v->decisions = get_u64(a); break;
		case VHALT_A_GROWN: v->grown = get_u64(a); break;
		case VHALT_A_SHRUNK: v->shrunk = get_u64(a); break;
		case VHALT_A_CLIPPED: v->clipped = get_u64(a); break;
		}
	}
	return MNL_CB_OK;
}

static void get_waits(const struct nlattr *attr, struct ctl_boost *b)
{
	size_t bytes = mnl_attr_get_payload_len(attr);

	/* Of a kernel with more buckets only those known here; the rest would be longer waits. */
	bytes = bytes < sizeof(b->wait_log2) ? bytes : sizeof(b->wait_log2);
	memcpy(b->wait_log2, mnl_attr_get_payload(attr), bytes);
}

static void get_boost_counts(const struct nlattr *nest, struct ctl_boost *b)
{
	const struct nlattr *a;

	ctl_for_each_nested (a, nest) {
		switch (mnl_attr_get_type(a)) {
		case VHALT_BOOST_A_READS: b->reads = get_u64(a); break;
		case VHALT_BOOST_A_READ_ERRORS: b->read_errors = get_u64(a); break;
		case VHALT_BOOST_A_BAD_SHARES: b->bad_shares = get_u64(a); break;
		case VHALT_BOOST_A_UNSHARED: b->unshared = get_u64(a); break;
		case VHALT_BOOST_A_PREEMPTIONS: b->preemptions = get_u64(a); break;
		case VHALT_BOOST_A_CRITICAL: b->critical = get_u64(a); break;
		case VHALT_BOOST_A_STEERS: b->steers = get_u64(a); break;
		case VHALT_BOOST_A_YIELDS: b->yields = get_u64(a); break;
		case VHALT_BOOST_A_TARGETS: b->targets = get_u64(a); break;
		case VHALT_BOOST_A_HITS: b->hits = get_u64(a); break;
		case VHALT_BOOST_A_HANDED: b->handed = get_u64(a); break;
		case VHALT_BOOST_A_WAITS: b->waits = get_u64(a); break;
		case VHALT_BOOST_A_WAIT_NS: b->wait_ns = get_u64(a); break;
		case VHALT_BOOST_A_WAIT_MAX_NS: b->wait_max_ns = get_u64(a); break;
		case VHALT_BOOST_A_WAIT_LOG2: get_waits(a, b); break;
		}
	}
}

static int take_boost(const struct nlmsghdr *message, void *arg)
{
	struct ctl_boost *b = add(arg);
	const struct nlattr *a;

	if (!b)
		return MNL_CB_ERROR;
	ctl_for_each_attr (a, message, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(a)) {
		case VHALT_A_VM_PID: b->pid = get_u32(a); break;
		case VHALT_A_NAME: get_string(a, b->name, sizeof(b->name)); break;
		case VHALT_A_BOOST: get_string(a, b->choice, sizeof(b->choice)); break;
		case VHALT_A_BOOST_OWN: b->own = get_flag(a); break;
		case VHALT_A_BOOST_COUNTS: get_boost_counts(a, b); break;
		}
	}
	return MNL_CB_OK;
}

static int get_list(struct ctl *ctl, uint8_t cmd, mnl_cb_t answer, struct list *list,
		    struct ctl_error *error)
{
	int err;

	ctl_request_begin(ctl, ctl->family, cmd, NLM_F_DUMP);
	err = ctl_request_run(ctl, answer, list, error);
	if (err) {
		free(list->items);
		list->items = NULL;
		list->n = 0;
	}
	return err;
}

int ctl_get_vms(struct ctl *ctl, struct ctl_vm **vms, size_t *n, struct ctl_error *error)
{
	struct list list = {.item_bytes = sizeof(**vms)};
	int err = get_list(ctl, VHALT_CMD_GET_VM, take_vm, &list, error);

	*vms = list.items;
	*n = list.n;
	return err;
}

int ctl_get_vcpus(struct ctl *ctl, struct ctl_vcpu **vcpus, size_t *n, struct ctl_error *error)
{
	struct list list = {.item_bytes = sizeof(**vcpus)};
	int err = get_list(ctl, VHALT_CMD_GET_VCPU, take_vcpu, &list, error);

	*vcpus = list.items;
	*n = list.n;
	return err;
}

int ctl_get_boost(struct ctl *ctl, struct ctl_boost **vms, size_t *n, struct ctl_error *error)
{
	struct list list = {.item_bytes = sizeof(**vms)};
	int err = get_list(ctl, VHALT_CMD_GET_BOOST, take_boost, &list, error);

	*vms = list.items;
	*n = list.n;
	return err;
}
