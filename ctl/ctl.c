// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Connection to the module, sending and receiving, and the requests that change something.
#include "ctl/ctl.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "ctl/internal.h"

int ctl_fail(struct ctl_error *error, int code, const char *format, ...)
{
	va_list args;

	if (error) {
		va_start(args, format);
		vsnprintf(error->text, sizeof(error->text), format, args);
		va_end(args);
	}
	return code;
}

struct nlmsghdr *ctl_request_begin(struct ctl *ctl, uint16_t type, uint8_t cmd, uint16_t flags)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(ctl->request);
	struct genlmsghdr *genl;

	message->nlmsg_type = type;
	message->nlmsg_flags = NLM_F_REQUEST | flags;
	message->nlmsg_seq = ++ctl->seq;
	genl = mnl_nlmsg_put_extra_header(message, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = type == GENL_ID_CTRL ? 2 : VHALT_GENL_VERSION;
	return message;
}

/* One buffer of answers. Return: MNL_CB_OK more to come, MNL_CB_STOP done, or -errno. */
static int take(struct ctl *ctl, ssize_t bytes, mnl_cb_t answer, void *arg, struct ctl_error *error)
{
	const struct nlmsghdr *m = (const struct nlmsghdr *)(const void *)ctl->answer;
	int left = (int)bytes;

	for (; mnl_nlmsg_ok(m, left); m = mnl_nlmsg_next(m, &left)) {
		if (m->nlmsg_seq != ctl->seq || m->nlmsg_pid != ctl->port)
			continue;
		if (m->nlmsg_type == NLMSG_ERROR || m->nlmsg_type == NLMSG_DONE) {
			int code = m->nlmsg_len >= NLMSG_HDRLEN + sizeof(int)
					   ? *(const int *)mnl_nlmsg_get_payload(m)
					   : 0;

			return code ? ctl_complain(ctl, m, error) : MNL_CB_STOP;
		}
		if (answer && answer(m, arg) < 0)
			return ctl_fail(error, -ENOMEM, "out of memory");
		/* A dump ends with NLMSG_DONE, everything else is asked with NLM_F_ACK. */
	}
	return MNL_CB_OK;
}

int ctl_request_run(struct ctl *ctl, mnl_cb_t answer, void *arg, struct ctl_error *error)
{
	const struct nlmsghdr *request = (const struct nlmsghdr *)(const void *)ctl->request;
	int result = MNL_CB_OK;

	if (mnl_socket_sendto(ctl->socket, request, request->nlmsg_len) < 0)
		return ctl_fail(error, -errno, "netlink: cannot send: %s", strerror(errno));
	while (result == MNL_CB_OK) {
		ssize_t n = mnl_socket_recvfrom(ctl->socket, ctl->answer, sizeof(ctl->answer));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ctl_fail(error, -errno, "netlink: cannot receive: %s",
					strerror(errno));
		result = take(ctl, n, answer, arg, error);
	}
	return result < 0 ? result : 0;
}

static int take_family(const struct nlmsghdr *message, void *arg)
{
	const struct nlattr *attr;

	ctl_for_each_attr (attr, message, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			*(uint16_t *)arg = mnl_attr_get_u16(attr);
	return MNL_CB_OK;
}

static int find_family(struct ctl *ctl, struct ctl_error *error)
{
	struct nlmsghdr *m = ctl_request_begin(ctl, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_ACK);
	int err;

	mnl_attr_put_strz(m, CTRL_ATTR_FAMILY_NAME, VHALT_GENL_NAME);
	err = ctl_request_run(ctl, take_family, &ctl->family, error);
	if (err == -ENOENT || (!err && !ctl->family))
		return ctl_fail(error, -ENOENT,
				"the kernel module vhalt_kvm is not loaded: modprobe vhalt_kvm");
	return err;
}

static int connect_socket(struct ctl *ctl, struct ctl_error *error)
{
	int on = 1;

	ctl->socket = mnl_socket_open(NETLINK_GENERIC);
	if (!ctl->socket || mnl_socket_bind(ctl->socket, 0, MNL_SOCKET_AUTOPID) < 0)
		return ctl_fail(error, -errno, "netlink: cannot open a socket: %s",
				strerror(errno));
	ctl->port = mnl_socket_get_portid(ctl->socket);
	/* Sentences and offsets with errors, and no copy of the request in front of them. */
	if (mnl_socket_setsockopt(ctl->socket, NETLINK_EXT_ACK, &on, sizeof(on)) < 0 ||
	    mnl_socket_setsockopt(ctl->socket, NETLINK_CAP_ACK, &on, sizeof(on)) < 0)
		return ctl_fail(error, -errno, "netlink: cannot ask for extended errors: %s",
				strerror(errno));
	return 0;
}

int ctl_open(struct ctl **result, struct ctl_error *error)
{
	struct ctl *ctl = calloc(1, sizeof(*ctl));
	int err;

	if (!ctl)
		return ctl_fail(error, -ENOMEM, "out of memory");
	err = connect_socket(ctl, error);
	if (!err)
		err = find_family(ctl, error);
	if (err) {
		ctl_close(ctl);
		return err;
	}
	*result = ctl;
	return 0;
}

void ctl_close(struct ctl *ctl)
{
	if (ctl && ctl->socket)
		mnl_socket_close(ctl->socket);
	free(ctl);
}

static void put_params(struct nlmsghdr *m, const struct ctl_setting *setting)
{
	struct nlattr *list, *one;

	if (!setting->nr_params)
		return;
	list = mnl_attr_nest_start(m, VHALT_A_PARAMS);
	for (uint32_t i = 0; i < setting->nr_params; i++) {
		one = mnl_attr_nest_start(m, VHALT_A_PARAM);
		mnl_attr_put_strz(m, VHALT_PARAM_A_NAME, setting->params[i].name);
		mnl_attr_put_u64(m, VHALT_PARAM_A_VALUE, setting->params[i].value);
		mnl_attr_nest_end(m, one);
	}
	mnl_attr_nest_end(m, list);
}

int ctl_set(struct ctl *ctl, uint32_t pid, const struct ctl_setting *setting,
	    struct ctl_error *error)
{
	struct nlmsghdr *m = ctl_request_begin(ctl, ctl->family, VHALT_CMD_SET, NLM_F_ACK);

	if (pid)
		mnl_attr_put_u32(m, VHALT_A_VM_PID, pid);
	mnl_attr_put_strz(m, VHALT_A_POLICY, setting->policy);
	put_params(m, setting);
	return ctl_request_run(ctl, NULL, NULL, error);
}

int ctl_reset(struct ctl *ctl, uint32_t pid, struct ctl_error *error)
{
	struct nlmsghdr *m = ctl_request_begin(ctl, ctl->family, VHALT_CMD_RESET, NLM_F_ACK);

	if (pid)
		mnl_attr_put_u32(m, VHALT_A_VM_PID, pid);
	return ctl_request_run(ctl, NULL, NULL, error);
}

int ctl_set_budget(struct ctl *ctl, uint32_t ppm, struct ctl_error *error)
{
	struct nlmsghdr *m = ctl_request_begin(ctl, ctl->family, VHALT_CMD_SET_BUDGET, NLM_F_ACK);

	mnl_attr_put_u32(m, VHALT_A_BUDGET_PPM, ppm);
	return ctl_request_run(ctl, NULL, NULL, error);
}

int ctl_set_boost(struct ctl *ctl, uint32_t pid, const char *choice, struct ctl_error *error)
{
	struct nlmsghdr *m = ctl_request_begin(ctl, ctl->family, VHALT_CMD_SET_BOOST, NLM_F_ACK);

	if (pid)
		mnl_attr_put_u32(m, VHALT_A_VM_PID, pid);
	mnl_attr_put_strz(m, VHALT_A_BOOST, choice);
	return ctl_request_run(ctl, NULL, NULL, error);
}
