// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Turns the kernel's extended error into a sentence that names the field of the request.
#include <errno.h>
#include <inttypes.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>

#include "ctl/internal.h"

/* What the kernel said: its sentence and where in the request. */
struct verdict {
	const char *text; /* not terminated; NULL: none */
	size_t text_bytes;
	uint32_t offset; /* 0: nowhere in particular */
};

static void read_verdict(const struct nlmsghdr *message, struct verdict *v)
{
	/* NLMSG_ERROR: the code, the header of the request (no more of it, by NETLINK_CAP_ACK),
	 * then attributes. NLMSG_DONE: the code, then attributes. */
	size_t skip = message->nlmsg_type == NLMSG_ERROR ? sizeof(struct nlmsgerr) : sizeof(int);
	const struct nlattr *attr;

	if (!(message->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	ctl_for_each_attr (attr, message, skip) {
		if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG) {
			v->text = mnl_attr_get_payload(attr);
			v->text_bytes = strnlen(v->text, mnl_attr_get_payload_len(attr));
		} else if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_OFFS) {
			v->offset = mnl_attr_get_u32(attr);
		}
	}
}

/* Is byte @offset of the request inside @attr? */
static bool covers(const struct ctl *ctl, const struct nlattr *attr, uint32_t offset)
{
	const char *begin = (const char *)attr, *at = ctl->request + offset;

	return at >= begin && at < begin + attr->nla_len;
}

static void name_param(const struct nlattr *param, char *name, size_t bytes)
{
	const char *key = "";
	const struct nlattr *attr;
	uint64_t value = 0;

	ctl_for_each_nested (attr, param) {
		if (mnl_attr_get_type(attr) == VHALT_PARAM_A_NAME)
			key = mnl_attr_get_str(attr);
		else if (mnl_attr_get_type(attr) == VHALT_PARAM_A_VALUE)
			value = mnl_attr_get_u64(attr);
	}
	snprintf(name, bytes, "%s=%" PRIu64 ": ", key, value);
}

/* "price=5000: ", "vm 4711: ", "policy foo: ", or nothing. */
static void name_field(const struct ctl *ctl, uint32_t offset, char *name, size_t bytes)
{
	const struct nlmsghdr *request = (const struct nlmsghdr *)(const void *)ctl->request;
	const struct nlattr *attr, *inner;

	*name = '\0';
	if (!offset || offset >= request->nlmsg_len)
		return;
	ctl_for_each_attr (attr, request, sizeof(struct genlmsghdr)) {
		if (!covers(ctl, attr, offset))
			continue;
		switch (mnl_attr_get_type(attr)) {
		case VHALT_A_VM_PID:
			snprintf(name, bytes, "vm %" PRIu32 ": ", mnl_attr_get_u32(attr));
			break;
		case VHALT_A_POLICY:
			snprintf(name, bytes, "policy %s: ", mnl_attr_get_str(attr));
			break;
		case VHALT_A_BOOST:
			snprintf(name, bytes, "boost %s: ", mnl_attr_get_str(attr));
			break;
		case VHALT_A_BUDGET_PPM:
			snprintf(name, bytes,
				 "budget of %" PRIu32 " ppm: ", mnl_attr_get_u32(attr));
			break;
		case VHALT_A_PARAMS:
			ctl_for_each_nested (inner, attr)
				if (covers(ctl, inner, offset))
					name_param(inner, name, bytes);
			break;
		}
	}
}

int ctl_complain(const struct ctl *ctl, const struct nlmsghdr *message, struct ctl_error *error)
{
	int code = *(const int *)mnl_nlmsg_get_payload(message);
	struct verdict v = {0};
	char field[128];

	read_verdict(message, &v);
	name_field(ctl, v.offset, field, sizeof(field));
	if (v.text)
		return ctl_fail(error, code, "%s%.*s", field, (int)v.text_bytes, v.text);
	if (code == -EPERM)
		return ctl_fail(error, code, "not permitted: this needs CAP_NET_ADMIN (root)");
	return ctl_fail(error, code, "%s%s", field, strerror(-code));
}
