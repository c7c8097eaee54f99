// SPDX-License-Identifier: GPL-2.0-only
// Generic netlink: the switches of boost, and what was counted.

#include <linux/string.h>

#include <uapi/vhalt.h>

#include "compat.h"
#include "host/boost_control.h"
#include "host/boost_vm.h"
#include "host/netlink.h"

const struct nla_policy host_boost_attrs[VHALT_A_MAX + 1] = {
	[VHALT_A_VM_PID] = NLA_POLICY_MIN(NLA_U32, 1),
	[VHALT_A_BOOST] = {.type = NLA_NUL_STRING, .len = VHALT_NAME_BYTES - 1},
};

static const char *choice_name(u32 choice)
{
	return choice < VHALT_NR_BOOST_MODES ? vhalt_boost_mode_name(choice) : VHALT_BOOST_NAME_OFF;
}

/* Return: a choice, or -EINVAL. */
static int find_choice(const char *name, bool of_a_vm)
{
	u32 mode = vhalt_boost_mode_find(name);

	if (mode < VHALT_NR_BOOST_MODES)
		return mode;
	if (!strcmp(name, VHALT_BOOST_NAME_OFF))
		return HOST_BOOST_OFF;
	return of_a_vm && !strcmp(name, VHALT_BOOST_NAME_DEFAULT) ? HOST_BOOST_DEFAULT : -EINVAL;
}

int host_boost_do_set(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *pid = info->attrs[VHALT_A_VM_PID], *boost = info->attrs[VHALT_A_BOOST];
	struct netlink_ext_ack *extack = info->extack;
	int choice, err;

	if (!boost) {
		NL_SET_ERR_MSG(extack, "VHALT_A_BOOST is missing");
		return -EINVAL;
	}
	choice = find_choice(nla_data(boost), pid);
	if (choice < 0) {
		NL_SET_ERR_MSG_ATTR(extack, boost, "not a mode of boost, nor off");
		return -EINVAL;
	}
	err = host_boost_set(pid ? nla_get_u32(pid) : 0, choice);
	if (err == -ESRCH)
		NL_SET_ERR_MSG_ATTR(extack, pid, "no such process");
	else if (err == -ENOSPC)
		NL_SET_ERR_MSG_ATTR(extack, pid, "max_vms of module vhalt_kvm is reached");
	else if (err == -EOPNOTSUPP)
		NL_SET_ERR_MSG(extack, "this kernel has no directed yield");
	return err;
}

int host_boost_put_info(struct sk_buff *skb)
{
	struct host_boost_view view;

	host_boost_view(&view);
	return nla_put_string(skb, VHALT_A_BOOST, choice_name(view.choice)) ||
	       nla_put_u8(skb, VHALT_A_BOOST_WATCHING, view.watching) ||
	       nla_put_u64_64bit(skb, VHALT_A_BOOST_REFUSED, view.refused, VHALT_A_PAD);
}

/* Counted meanwhile: each number is whole, but they need not be of one moment. */
static int put_counts(struct sk_buff *skb, const struct host_boost_counts *c)
{
	const struct host_boost_tally *t = &c->tally;
	const struct {
		int attr;
		u64 value;
	} rows[] = {
		{VHALT_BOOST_A_READS, t->reads},
		{VHALT_BOOST_A_READ_ERRORS, t->read_errors},
		{VHALT_BOOST_A_BAD_SHARES, t->bad_shares},
		{VHALT_BOOST_A_UNSHARED, t->unshared},
		{VHALT_BOOST_A_PREEMPTIONS, t->preemptions},
		{VHALT_BOOST_A_CRITICAL, t->critical},
		{VHALT_BOOST_A_STEERS, t->steers},
		{VHALT_BOOST_A_YIELDS, t->yields},
		{VHALT_BOOST_A_TARGETS, t->targets},
		{VHALT_BOOST_A_HITS, t->hits},
		{VHALT_BOOST_A_HANDED, t->handed},
		{VHALT_BOOST_A_WAITS, t->waits},
		{VHALT_BOOST_A_WAIT_NS, t->wait_ns},
		{VHALT_BOOST_A_WAIT_MAX_NS, t->wait_max_ns},
	};
	struct nlattr *nest = nla_nest_start(skb, VHALT_A_BOOST_COUNTS);
	unsigned int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (nla_put_u64_64bit(skb, rows[i].attr, rows[i].value, VHALT_BOOST_A_PAD))
			return -EMSGSIZE;
	if (nla_put(skb, VHALT_BOOST_A_WAIT_LOG2, sizeof(c->wait_log2), c->wait_log2))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_vm(struct host_vm *vm, void *arg)
{
	const struct host_dump *d = arg;
	struct host_boost_counts counts;
	void *msg = host_dump_begin(d, VHALT_CMD_GET_BOOST);

	if (!msg)
		return -EMSGSIZE;
	host_boost_counts(vm, &counts);
	return host_dump_end(
		d, msg,
		nla_put_u32(d->skb, VHALT_A_VM_PID, vm->pid) ||
			nla_put_string(d->skb, VHALT_A_NAME, vm->name) ||
			nla_put_string(d->skb, VHALT_A_BOOST, choice_name(host_boost_wanted(vm))) ||
			nla_put_u8(d->skb, VHALT_A_BOOST_OWN,
				   READ_ONCE(vm->boost_choice) != HOST_BOOST_DEFAULT) ||
			put_counts(d->skb, &counts));
}

int host_dump_boost(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct host_dump d = {skb, cb};

	return host_dump_walk_vms(&d, put_vm);
}
