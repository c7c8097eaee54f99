/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What the files of ctl/ share. */
#ifndef VHALT_CTL_INTERNAL_H
#define VHALT_CTL_INTERNAL_H

#include <libmnl/libmnl.h>

#include "ctl/ctl.h"

/* Room for the kernel's answers: it fills buffers of up to 32 KiB in a dump. */
#define CTL_BUFFER_BYTES 32768

/*
 * mnl_attr_for_each() and mnl_attr_for_each_nested() for read-only messages: those of libmnl cast
 * const away.
 */
#define ctl_for_each_between(attr, begin, end)                                            \
	for ((attr) = (const struct nlattr *)(const void *)(begin);                       \
	     mnl_attr_ok((attr), (int)((const char *)(end) - (const char *)(attr)));      \
	     (attr) = mnl_attr_next(attr))
#define ctl_for_each_attr(attr, message, skip_bytes)                                      \
	ctl_for_each_between(attr, mnl_nlmsg_get_payload_offset((message), (skip_bytes)), \
			     mnl_nlmsg_get_payload_tail(message))
#define ctl_for_each_nested(attr, nest)                                                   \
	ctl_for_each_between(attr, mnl_attr_get_payload(nest),                            \
			     (const char *)mnl_attr_get_payload(nest) +                   \
				     mnl_attr_get_payload_len(nest))

struct ctl {
	struct mnl_socket *socket;
	uint32_t port;
	uint32_t seq;
	uint16_t family;
	char request[4096]; /* kept until its answer is there: errors point into it */
	char answer[CTL_BUFFER_BYTES];
};

/** ctl_fail - write a sentence into @error (NULL allowed). Return: @code. */
__attribute__((format(printf, 3, 4))) int ctl_fail(struct ctl_error *error, int code,
						    const char *format, ...);

/** ctl_request_begin - start a message of @cmd in ctl->request. @flags: beside NLM_F_REQUEST. */
struct nlmsghdr *ctl_request_begin(struct ctl *ctl, uint16_t type, uint8_t cmd, uint16_t flags);

/**
 * ctl_request_run - send ctl->request and pass each answer to @answer.
 *
 * Return: 0 or -errno; what the kernel said is in @error, with the field at fault named.
 */
int ctl_request_run(struct ctl *ctl, mnl_cb_t answer, void *arg, struct ctl_error *error);

/** ctl_complain - the kernel refused ctl->request: @message is its answer. Return: -errno. */
int ctl_complain(const struct ctl *ctl, const struct nlmsghdr *message, struct ctl_error *error);

#endif
