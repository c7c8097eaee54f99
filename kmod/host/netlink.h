/* SPDX-License-Identifier: GPL-2.0-only */
/* Generic netlink family `vhalt`; include/uapi/vhalt.h is its specification. */
#ifndef VHALT_KMOD_NETLINK_H
#define VHALT_KMOD_NETLINK_H

#include <net/genetlink.h>

#include <uapi/vhalt.h>

#include "host/registry.h"
#include "host/settings.h"

/** host_netlink_init - register the family. Process context. Return: 0 or -errno. */
int host_netlink_init(void);

/** host_netlink_fini - unregister it; no command runs any more when it returns. */
void host_netlink_fini(void);

/* The rest is between netlink.c, dump.c and boost_netlink.c. */
extern struct genl_family host_genl_family;

/** host_put_settings - POLICY and PARAMS of @settings. Return: 0 or -EMSGSIZE. */
int host_put_settings(struct sk_buff *skb, const struct host_settings *settings);

/** host_dump_start, host_dump_vms, host_dump_vcpus - GET_VM and GET_VCPU. */
int host_dump_start(struct netlink_callback *cb);
int host_dump_vms(struct sk_buff *skb, struct netlink_callback *cb);
int host_dump_vcpus(struct sk_buff *skb, struct netlink_callback *cb);

/** struct host_dump - a walk over a table that is cut into messages' buffers. */
struct host_dump {
	struct sk_buff *skb;
	struct netlink_callback *cb;
};

/** host_dump_begin, host_dump_end - one message of it; end: @err not 0 takes it back. */
void *host_dump_begin(const struct host_dump *d, u8 cmd);
int host_dump_end(const struct host_dump *d, void *msg, int err);

/** host_dump_walk - go on with the walk over all VMs. Return: as a dumpit does. */
int host_dump_walk_vms(struct host_dump *d, int (*visit)(struct host_vm *vm, void *arg));

/** boost_netlink.c: SET_BOOST, GET_BOOST, and what GET_INFO has of it. */
extern const struct nla_policy host_boost_attrs[VHALT_A_MAX + 1];
int host_boost_do_set(struct sk_buff *skb, struct genl_info *info);
int host_dump_boost(struct sk_buff *skb, struct netlink_callback *cb);
int host_boost_put_info(struct sk_buff *skb);

#endif
