// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Sends the host module requests that the command line would not let through, and reads its
// answers.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/ctl.h"

static int failures;

/* A request must end with @code, and its sentence must have @words. */
static void expect(const char *what, int err, int code, const struct ctl_error *error,
		   const char *words)
{
	if (err == code && (!code || strstr(error->text, words)))
		return;
	printf("%s: %d \"%s\", expected %d \"%s\"\n", what, err, err ? error->text : "", code,
	       words);
	failures++;
}

static struct ctl_setting setting(const char *policy, uint32_t n, const char *a, uint64_t x,
				  const char *b, uint64_t y)
{
	struct ctl_setting s = {.nr_params = n};

	snprintf(s.policy, sizeof(s.policy), "%s", policy);
	snprintf(s.params[0].name, sizeof(s.params[0].name), "%s", a);
	s.params[0].value = x;
	snprintf(s.params[1].name, sizeof(s.params[1].name), "%s", b);
	s.params[1].value = y;
	return s;
}

static void bad_settings(struct ctl *ctl)
{
	const struct {
		const char *what;
		uint32_t pid;
		struct ctl_setting setting;
		int code;
		const char *words;
	} rows[] = {
		{"no such policy", 0, setting("poll", 0, "", 0, "", 0), -EINVAL,
		 "policy poll: no such policy"},
		{"empty policy", 0, setting("", 0, "", 0, "", 0), -EINVAL, "no such policy"},
		{"unknown parameter", 0, setting("auto", 1, "prize", 10, "", 0), -EINVAL,
		 "prize=10: the policy has no such parameter"},
		{"parameter of none", 0, setting("none", 1, "max_ns", 10, "", 0), -EINVAL,
		 "max_ns=10: the policy has no such parameter"},
		{"parameter of kernel", 0, setting("kernel", 1, "max_ns", 10, "", 0), -EINVAL,
		 "max_ns=10: the policy has no such parameter"},
		{"out of range", 0, setting("auto", 2, "max_ns", 1000, "price", 1001), -ERANGE,
		 "price=1001: parameter out of range"},
		{"far out of range", 0, setting("always", 1, "max_ns", UINT64_MAX, "", 0), -ERANGE,
		 "max_ns=18446744073709551615: parameter out of range"},
		{"given twice", 0, setting("auto", 2, "price", 1, "price", 1), -EINVAL,
		 "price=1: parameter given twice"},
		{"not possible here", 0, setting("auto", 1, "sleep", 1, "", 0), -EINVAL,
		 "sleep=1: KVM cannot sleep"},
		{"dead process", 0x7ffffff0, setting("auto", 0, "", 0, "", 0), -ESRCH,
		 "vm 2147483632: no such process"},
		{"impossible process", 0xfffffff0, setting("auto", 0, "", 0, "", 0), -ESRCH,
		 "no such process"},
		{"kernel thread's child that is none", 0x7fffffff, setting("none", 0, "", 0, "", 0),
		 -ESRCH, "no such process"},
		{"good", 0, setting("auto", 2, "price", 1000, "max_ns", 0), 0, ""},
		{"kernel", 0, setting("kernel", 0, "", 0, "", 0), 0, ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct ctl_error error = {""};
		int err = ctl_set(ctl, rows[i].pid, &rows[i].setting, &error);

		expect(rows[i].what, err, rows[i].code, &error, rows[i].words);
	}
}

static void bad_others(struct ctl *ctl)
{
	struct ctl_error error = {""};

	expect("budget too large", ctl_set_budget(ctl, 1000001, &error), -ERANGE, &error,
	       "budget of 1000001 ppm: budget out of range");
	expect("budget of all", ctl_set_budget(ctl, 1000000, &error), 0, &error, "");
	expect("budget off", ctl_set_budget(ctl, 0, &error), 0, &error, "");
	expect("reset of nobody", ctl_reset(ctl, 0x7ffffff0, &error), -ESRCH, &error,
	       "no VM of this pid");
}

static void boost(struct ctl *ctl)
{
	struct ctl_error error = {""};
	struct ctl_info info;

	expect("boost by turns", ctl_set_boost(ctl, 0, "turns", &error), -EINVAL, &error,
	       "boost turns: not a mode of boost");
	expect("boost empty", ctl_set_boost(ctl, 0, "", &error), -EINVAL, &error,
	       "not a mode of boost");
	expect("boost of all by default", ctl_set_boost(ctl, 0, "default", &error), -EINVAL, &error,
	       "boost default: not a mode of boost");
	expect("boost too long",
	       ctl_set_boost(ctl, 0, "holderholderholderholderholderholder", &error), -EINVAL,
	       &error, "");
	expect("boost of nobody", ctl_set_boost(ctl, 0x7ffffff0, "holder", &error), -ESRCH, &error,
	       "vm 2147483632: no such process");
	expect("boost", ctl_set_boost(ctl, 0, "critical", &error), 0, &error, "");
	expect("bad boost", ctl_set_boost(ctl, 0, "turns", &error), -EINVAL, &error, "turns");
	expect("info", ctl_get_info(ctl, &info, &error), 0, &error, "");
	if (strcmp(info.boost, "critical") || !info.boost_watching) {
		printf("boost read back: %s, watching %d\n", info.boost, info.boost_watching);
		failures++;
	}
	expect("no boost", ctl_set_boost(ctl, 0, "off", &error), 0, &error, "");
	expect("info", ctl_get_info(ctl, &info, &error), 0, &error, "");
	if (strcmp(info.boost, "off") || info.boost_watching) {
		printf("boost off: %s, watching %d\n", info.boost, info.boost_watching);
		failures++;
	}
}

/* A refused request changes nothing; an accepted one is what is read back. */
static void read_back(struct ctl *ctl)
{
	struct ctl_setting good = setting("auto", 2, "price", 77, "max_ns", 50000), bad = good;
	struct ctl_error error = {""};
	struct ctl_info info;

	bad.params[0].value = 5000;
	expect("good", ctl_set(ctl, 0, &good, &error), 0, &error, "");
	expect("bad", ctl_set(ctl, 0, &bad, &error), -ERANGE, &error, "price=5000");
	expect("info", ctl_get_info(ctl, &info, &error), 0, &error, "");
	if (strcmp(info.dflt.policy, "auto") || info.dflt.nr_params < 2 ||
	    strcmp(info.dflt.params[0].name, "price") || info.dflt.params[0].value != 77 ||
	    info.dflt.params[1].value != 50000 || info.abi != VHALT_ABI || !info.attached) {
		printf("read back: %s with %" PRIu32 " parameters\n", info.dflt.policy,
		       info.dflt.nr_params);
		failures++;
	}
	expect("reset", ctl_reset(ctl, 0, &error), 0, &error, "");
	expect("info", ctl_get_info(ctl, &info, &error), 0, &error, "");
	if (strcmp(info.dflt.policy, "kernel") || info.dflt.nr_params) {
		printf("after reset: %s\n", info.dflt.policy);
		failures++;
	}
}

/* Without CAP_NET_ADMIN nothing works, reading included. The socket is of the unprivileged. */
static void unprivileged(void)
{
	struct ctl_setting none = setting("none", 0, "", 0, "", 0);
	struct ctl_error error = {""};
	struct ctl_boost *boosts;
	struct ctl_vcpu *vcpus;
	struct ctl_info info;
	struct ctl_vm *vms;
	struct ctl *ctl;
	size_t n;

	if (setuid(65534) || ctl_open(&ctl, &error)) {
		printf("unprivileged: cannot even begin: %s\n", error.text);
		_exit(1);
	}
	failures = 0;
	expect("user: info", ctl_get_info(ctl, &info, &error), -EPERM, &error, "CAP_NET_ADMIN");
	expect("user: vms", ctl_get_vms(ctl, &vms, &n, &error), -EPERM, &error, "CAP_NET_ADMIN");
	expect("user: vcpus", ctl_get_vcpus(ctl, &vcpus, &n, &error), -EPERM, &error,
	       "CAP_NET_ADMIN");
	expect("user: set", ctl_set(ctl, 0, &none, &error), -EPERM, &error, "CAP_NET_ADMIN");
	expect("user: reset", ctl_reset(ctl, 0, &error), -EPERM, &error, "CAP_NET_ADMIN");
	expect("user: boosts", ctl_get_boost(ctl, &boosts, &n, &error), -EPERM, &error,
	       "CAP_NET_ADMIN");
	expect("user: boost", ctl_set_boost(ctl, 0, "holder", &error), -EPERM, &error,
	       "CAP_NET_ADMIN");
	expect("user: budget", ctl_set_budget(ctl, 1, &error), -EPERM, &error, "CAP_NET_ADMIN");
	_exit(failures ? 1 : 0);
}

int main(void)
{
	struct ctl_error error;
	struct ctl *ctl;
	int status;
	pid_t pid;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (ctl_open(&ctl, &error)) {
		printf("%s\n", error.text);
		return 1;
	}
	bad_settings(ctl);
	bad_others(ctl);
	boost(ctl);
	read_back(ctl);
	ctl_close(ctl);
	pid = fork();
	if (!pid)
		unprivileged();
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		failures++;
	printf("requests: %d failures\n", failures);
	return failures ? 1 : 0;
}
