/* SPDX-License-Identifier: GPL-2.0-only */
/* Generic netlink family `vhalt`; include/uapi/vhalt.h is its specification. */
#ifndef VHALT_KMOD_NETLINK_H
#define VHALT_KMOD_NETLINK_H

#include <net/genetlink.h>

#include "host/settings.h"

/** host_netlink_init - register the family. Process context. Return: 0 or -errno. */
int host_netlink_init(void);

/** host_netlink_fini - unregister it; no command runs any more when it returns. */
void host_netlink_fini(void);

/* The rest is between netlink.c and dump.c. */
extern struct genl_family host_genl_family;

/** host_put_settings - POLICY and PARAMS of @settings. Return: 0 or -EMSGSIZE. */
int host_put_settings(struct sk_buff *skb, const struct host_settings *settings);

/** host_dump_start, host_dump_vms, host_dump_vcpus - GET_VM and GET_VCPU. */
int host_dump_start(struct netlink_callback *cb);
int host_dump_vms(struct sk_buff *skb, struct netlink_callback *cb);
int host_dump_vcpus(struct sk_buff *skb, struct netlink_callback *cb);

#endif
