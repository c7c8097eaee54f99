// SPDX-License-Identifier: GPL-2.0-only
// Generic netlink: requests taken apart, checked, and answered; errors name the attribute at fault.

#include "host/netlink.h"

#include <linux/err.h>
#include <linux/module.h>
#include <linux/pid_namespace.h>

#include <uapi/vhalt.h>

#include "compat.h"
#include "host/budget.h"
#include "host/control.h"
#include "host/hook.h"
#include "host/probe.h"
#include "host/registry.h"

#define PPM 1000000

static const struct nla_policy no_attrs[VHALT_A_MAX + 1] = {};

static const struct nla_policy param_attrs[VHALT_PARAM_A_MAX + 1] = {
	[VHALT_PARAM_A_NAME] = {.type = NLA_NUL_STRING, .len = VHALT_NAME_BYTES - 1},
	[VHALT_PARAM_A_VALUE] = {.type = NLA_U64},
};

static const struct nla_policy set_attrs[VHALT_A_MAX + 1] = {
	[VHALT_A_VM_PID] = NLA_POLICY_MIN(NLA_U32, 1),
	[VHALT_A_POLICY] = {.type = NLA_NUL_STRING, .len = VHALT_NAME_BYTES - 1},
	[VHALT_A_PARAMS] = {.type = NLA_NESTED},
};

static const struct nla_policy reset_attrs[VHALT_A_MAX + 1] = {
	[VHALT_A_VM_PID] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy budget_attrs[VHALT_A_MAX + 1] = {
	[VHALT_A_BUDGET_PPM] = {.type = NLA_U32},
};

/* --- what goes out ------------------------------------------------------------------------- */

static int put_param(struct sk_buff *skb, const char *name, u64 value)
{
	struct nlattr *nest = nla_nest_start(skb, VHALT_A_PARAM);

	if (!nest || nla_put_string(skb, VHALT_PARAM_A_NAME, name) ||
	    nla_put_u64_64bit(skb, VHALT_PARAM_A_VALUE, value, VHALT_PARAM_A_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

int host_put_settings(struct sk_buff *skb, const struct host_settings *s)
{
	const struct vhalt_policy *policy = vhalt_policy_get(s->policy);
	struct nlattr *nest;
	u32 i;

	if (nla_put_string(skb, VHALT_A_POLICY, host_settings_name(s)))
		return -EMSGSIZE;
	nest = nla_nest_start(skb, VHALT_A_PARAMS);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < s->nr_params; i++)
		if (put_param(skb, policy->params[i].name, s->values[i]))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_registry(struct sk_buff *skb)
{
	struct host_registry_counts r;

	host_registry_counts(&r);
	return nla_put_u32(skb, VHALT_A_NR_VMS, r.nr_vms) ||
	       nla_put_u32(skb, VHALT_A_NR_VCPUS, r.nr_vcpus) ||
	       nla_put_u32(skb, VHALT_A_MAX_VMS, r.max_vms) ||
	       nla_put_u32(skb, VHALT_A_MAX_VCPUS, r.max_vcpus);
}

static int put_hook(struct sk_buff *skb)
{
	struct host_hook_view h;

	host_hook_view(&h);
	return nla_put_u8(skb, VHALT_A_ATTACHED, h.attached) ||
	       nla_put_u32(skb, VHALT_A_CEILING_NS, h.ceiling_ns) ||
	       nla_put_u64_64bit(skb, VHALT_A_UNKNOWN, h.unknown, VHALT_A_PAD);
}

/* Under the control lock. */
static int put_budget(struct sk_buff *skb)
{
	struct host_probe_counts p;
	struct host_budget_view b;

	host_probe_counts(&p);
	host_budget_view(&b);
	return nla_put_u64_64bit(skb, VHALT_A_REFUSED, p.refused, VHALT_A_PAD) ||
	       nla_put_u64_64bit(skb, VHALT_A_GATED, p.gated, VHALT_A_PAD) ||
	       nla_put_u32(skb, VHALT_A_BUDGET_PPM, b.cap_ppm) ||
	       nla_put_u32(skb, VHALT_A_FACTOR, b.factor) ||
	       nla_put_u32(skb, VHALT_A_BURNT_PPM, b.burnt_ppm);
}

static int get_info(struct sk_buff *request, struct genl_info *info)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *msg;
	int err;

	if (!skb)
		return -ENOMEM;
	msg = genlmsg_put_reply(skb, info, &host_genl_family, 0, VHALT_CMD_GET_INFO);
	host_control_lock();
	err = !msg || nla_put_u32(skb, VHALT_A_ABI, VHALT_ABI) ||
	      host_put_settings(skb, host_settings_default()) || put_registry(skb) ||
	      put_hook(skb) || put_budget(skb) || host_boost_put_info(skb);
	host_control_unlock();
	if (err) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, msg);
	return genlmsg_reply(skb, info);
}

/* --- what comes in ------------------------------------------------------------------------- */

/* Values of a request: which were given, and where, so that an error can point there. */
struct request {
	u32 policy;
	u64 values[VHALT_PARAMS_MAX];
	struct nlattr *given[VHALT_PARAMS_MAX];
};

static int find_param(const struct vhalt_policy *policy, const char *name)
{
	u32 i;

	for (i = 0; policy && i < policy->nr_params; i++)
		if (!strcmp(policy->params[i].name, name))
			return i;
	return -1;
}

static int parse_param(struct request *r, struct nlattr *nest, struct netlink_ext_ack *extack)
{
	struct nlattr *attrs[VHALT_PARAM_A_MAX + 1];
	int err, i;

	if (nla_type(nest) != VHALT_A_PARAM) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "only VHALT_A_PARAM belongs here");
		return -EINVAL;
	}
	err = nla_parse_nested(attrs, VHALT_PARAM_A_MAX, nest, param_attrs, extack);
	if (err)
		return err;
	if (!attrs[VHALT_PARAM_A_NAME] || !attrs[VHALT_PARAM_A_VALUE]) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "a parameter needs a name and a value");
		return -EINVAL;
	}
	i = find_param(vhalt_policy_get(r->policy), nla_data(attrs[VHALT_PARAM_A_NAME]));
	if (i < 0) {
		NL_SET_ERR_MSG_ATTR(extack, attrs[VHALT_PARAM_A_NAME],
				    "the policy has no such parameter");
		return -EINVAL;
	}
	if (r->given[i]) {
		NL_SET_ERR_MSG_ATTR(extack, attrs[VHALT_PARAM_A_NAME], "parameter given twice");
		return -EINVAL;
	}
	r->given[i] = attrs[VHALT_PARAM_A_VALUE];
	r->values[i] = nla_get_u64(attrs[VHALT_PARAM_A_VALUE]);
	return 0;
}

static int parse_set(struct request *r, struct genl_info *info)
{
	struct nlattr *policy = info->attrs[VHALT_A_POLICY], *params = info->attrs[VHALT_A_PARAMS];
	struct nlattr *nest;
	int id, rest, err = 0;

	if (!policy) {
		NL_SET_ERR_MSG(info->extack, "VHALT_A_POLICY is missing");
		return -EINVAL;
	}
	id = host_policy_find(nla_data(policy));
	if (id < 0) {
		NL_SET_ERR_MSG_ATTR(info->extack, policy, "no such policy");
		return -EINVAL;
	}
	r->policy = id;
	vhalt_policy_defaults(id, r->values);
	if (!params)
		return 0;
	nla_for_each_nested (nest, params, rest) {
		err = parse_param(r, nest, info->extack);
		if (err)
			return err;
	}
	return 0;
}

static pid_t pid_of(const struct genl_info *info)
{
	return info->attrs[VHALT_A_VM_PID] ? nla_get_u32(info->attrs[VHALT_A_VM_PID]) : 0;
}

static int complain(struct genl_info *info, const struct request *r, u32 bad_param, int err)
{
	struct netlink_ext_ack *extack = info->extack;
	struct nlattr *pid = info->attrs[VHALT_A_VM_PID];

	switch (err) {
	case -ERANGE:
		NL_SET_ERR_MSG_ATTR(extack, r->given[bad_param], "parameter out of range");
		break;
	case -EOPNOTSUPP:
		NL_SET_ERR_MSG_ATTR(extack, r->given[bad_param],
				    "KVM cannot sleep before it polls: must be 0 here");
		err = -EINVAL;
		break;
	case -ESRCH: NL_SET_ERR_MSG_ATTR(extack, pid, "no such process"); break;
	case -ENOSPC:
		NL_SET_ERR_MSG_ATTR(extack, pid, "max_vms of module vhalt_kvm is reached");
		break;
	}
	return err;
}

static int do_set(struct sk_buff *skb, struct genl_info *info)
{
	struct request r = {};
	u32 bad_param = 0;
	int err = parse_set(&r, info);

	if (err)
		return err;
	err = host_control_set(pid_of(info), r.policy, r.values, &bad_param);
	return complain(info, &r, bad_param, err);
}

static int do_reset(struct sk_buff *skb, struct genl_info *info)
{
	int err = host_control_reset(pid_of(info));

	if (err == -ESRCH)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[VHALT_A_VM_PID],
				    "no VM of this pid is known");
	return err;
}

static int do_budget(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *ppm = info->attrs[VHALT_A_BUDGET_PPM];

	if (!ppm) {
		NL_SET_ERR_MSG(info->extack, "VHALT_A_BUDGET_PPM is missing");
		return -EINVAL;
	}
	if (nla_get_u32(ppm) > PPM) {
		NL_SET_ERR_MSG_ATTR(info->extack, ppm, "budget out of range: 0 to 1000000 ppm");
		return -ERANGE;
	}
	host_control_budget(nla_get_u32(ppm));
	return 0;
}

static int check_sender(COMPAT_GENL_PRE_DOIT_ARGS)
{
	if (task_active_pid_ns(current) == &init_pid_ns)
		return 0;
	NL_SET_ERR_MSG(info->extack, "only from the initial PID namespace");
	return -EPERM;
}

static const struct genl_ops ops[] = {
	{
		.cmd = VHALT_CMD_GET_INFO,
		.flags = GENL_ADMIN_PERM,
		.policy = no_attrs,
		.maxattr = VHALT_A_MAX,
		.doit = get_info,
	},
	{
		.cmd = VHALT_CMD_GET_VM,
		.flags = GENL_ADMIN_PERM,
		.policy = no_attrs,
		.maxattr = VHALT_A_MAX,
		.start = host_dump_start,
		.dumpit = host_dump_vms,
	},
	{
		.cmd = VHALT_CMD_GET_VCPU,
		.flags = GENL_ADMIN_PERM,
		.policy = no_attrs,
		.maxattr = VHALT_A_MAX,
		.start = host_dump_start,
		.dumpit = host_dump_vcpus,
	},
	{
		.cmd = VHALT_CMD_SET,
		.flags = GENL_ADMIN_PERM,
		.policy = set_attrs,
		.maxattr = VHALT_A_MAX,
		.doit = do_set,
	},
	{
		.cmd = VHALT_CMD_RESET,
		.flags = GENL_ADMIN_PERM,
		.policy = reset_attrs,
		.maxattr = VHALT_A_MAX,
		.doit = do_reset,
	},
	{
		.cmd = VHALT_CMD_SET_BUDGET,
		.flags = GENL_ADMIN_PERM,
		.policy = budget_attrs,
		.maxattr = VHALT_A_MAX,
		.doit = do_budget,
	},
	{
		.cmd = VHALT_CMD_GET_BOOST,
		.flags = GENL_ADMIN_PERM,
		.policy = no_attrs,
		.maxattr = VHALT_A_MAX,
		.start = host_dump_start,
		.dumpit = host_dump_boost,
	},
	{
		.cmd = VHALT_CMD_SET_BOOST,
		.flags = GENL_ADMIN_PERM,
		.policy = host_boost_attrs,
		.maxattr = VHALT_A_MAX,
		.doit = host_boost_do_set,
	},
};

struct genl_family host_genl_family = {.name = VHALT_GENL_NAME,
				       .version = VHALT_GENL_VERSION,
				       .maxattr = VHALT_A_MAX,
				       .module = THIS_MODULE,
				       .ops = ops,
				       .n_ops = ARRAY_SIZE(ops),
				       .pre_doit = check_sender,
				       COMPAT_GENL_STRICT_FROM(VHALT_CMD_GET_INFO)};

int host_netlink_init(void)
{
	return genl_register_family(&host_genl_family);
}

void host_netlink_fini(void)
{
	genl_unregister_family(&host_genl_family);
}
