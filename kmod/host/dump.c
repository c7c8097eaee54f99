// SPDX-License-Identifier: GPL-2.0-only
// Generic netlink: the lists of VMs and of vCPUs.

#include <linux/compiler.h>

#include <uapi/vhalt.h>

#include "compat.h"
#include "host/control.h"
#include "host/netlink.h"
#include "host/registry.h"

static struct host_cursor *cursor(struct netlink_callback *cb)
{
	BUILD_BUG_ON(sizeof(struct host_cursor) > sizeof(cb->ctx));
	return (struct host_cursor *)cb->ctx;
}

int host_dump_start(struct netlink_callback *cb)
{
	*cursor(cb) = (struct host_cursor){};
	return 0;
}

void *host_dump_begin(const struct host_dump *d, u8 cmd)
{
	return genlmsg_put(d->skb, NETLINK_CB(d->cb->skb).portid, d->cb->nlh->nlmsg_seq,
			   &host_genl_family, NLM_F_MULTI, cmd);
}

int host_dump_end(const struct host_dump *d, void *msg, int err)
{
	if (err) {
		genlmsg_cancel(d->skb, msg);
		return -EMSGSIZE;
	}
	genlmsg_end(d->skb, msg);
	return 0;
}

static int put_vm(struct host_vm *vm, void *arg)
{
	const struct host_dump *d = arg;
	void *msg = host_dump_begin(d, VHALT_CMD_GET_VM);

	if (!msg)
		return -EMSGSIZE;
	return host_dump_end(
		d, msg,
		nla_put_u32(d->skb, VHALT_A_VM_PID, vm->pid) ||
			nla_put_string(d->skb, VHALT_A_NAME, vm->name) ||
			nla_put_u32(d->skb, VHALT_A_NR_VCPUS, READ_ONCE(vm->nr_vcpus)) ||
			nla_put_u8(d->skb, VHALT_A_OWN, rcu_access_pointer(vm->settings) != NULL) ||
			host_put_settings(d->skb, host_settings_of(vm)));
}

/* Another thread counts meanwhile: each number is whole, but they need not be of one moment. */
static int put_counts(struct sk_buff *skb, const struct host_counts *c)
{
	const struct {
		int attr;
		const u64 *count;
	} rows[] = {
		{VHALT_A_HALTS, &c->halts},
		{VHALT_A_POLLED, &c->polled},
		{VHALT_A_BLOCKED, &c->blocked},
		{VHALT_A_INVALID, &c->invalid},
		{VHALT_A_CUT, &c->cut},
		{VHALT_A_USEFUL_NS, &c->useful_ns},
		{VHALT_A_WASTED_NS, &c->wasted_ns},
		{VHALT_A_HALTED_NS, &c->halted_ns},
		{VHALT_A_DECISIONS, &c->decisions},
		{VHALT_A_GROWN, &c->grown},
		{VHALT_A_SHRUNK, &c->shrunk},
		{VHALT_A_CLIPPED, &c->clipped},
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (nla_put_u64_64bit(skb, rows[i].attr, READ_ONCE(*rows[i].count), VHALT_A_PAD))
			return -EMSGSIZE;
	return 0;
}

static int put_vcpu(struct host_vcpu *v, void *arg)
{
	const struct host_dump *d = arg;
	void *msg = host_dump_begin(d, VHALT_CMD_GET_VCPU);

	if (!msg)
		return -EMSGSIZE;
	return host_dump_end(
		d, msg,
		nla_put_u32(d->skb, VHALT_A_VM_PID, v->vm->pid) ||
			   nla_put_u32(d->skb, VHALT_A_TID, v->tid) ||
			   nla_put_u32(d->skb, VHALT_A_VCPU, v->id) ||
			   nla_put_u32(d->skb, VHALT_A_WINDOW_NS, READ_ONCE(v->window_ns)) ||
			   nla_put_u32(d->skb, VHALT_A_CEILING_NS, READ_ONCE(v->ceiling_ns)) ||
			   put_counts(d->skb, &v->counts));
}

/* A full buffer is not an error: the next one goes on at the cursor. */
static int result(const struct sk_buff *skb, int err)
{
	return err == -EMSGSIZE && skb->len ? skb->len : err ? err : skb->len;
}

int host_dump_walk_vms(struct host_dump *d, int (*visit)(struct host_vm *vm, void *arg))
{
	int err;

	rcu_read_lock();
	err = host_vms_walk(cursor(d->cb), visit, d);
	rcu_read_unlock();
	return result(d->skb, err);
}

int host_dump_vms(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct host_dump d = {skb, cb};

	return host_dump_walk_vms(&d, put_vm);
}

int host_dump_vcpus(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct host_dump d = {skb, cb};
	int err;

	rcu_read_lock();
	err = host_vcpus_walk(cursor(cb), put_vcpu, &d);
	rcu_read_unlock();
	return result(skb, err);
}
