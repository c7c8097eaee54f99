// SPDX-License-Identifier: GPL-2.0-only OR MIT
// vhalt ctl boost: whom the host module lets spinning vCPUs give their time to, and what came of it.
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/ctl.h"
#include "tool/ctl_module.h"
#include "util/units.h"

/* One look at the module: the defaults, and VMs by pid. */
struct look {
	struct ctl_info info;
	struct ctl_boost *vms;
	size_t nr_vms;
};

static int fail(const struct ctl_error *error)
{
	fprintf(stderr, "vhalt ctl: boost: %s\n", error->text);
	return 1;
}

static int compare_vms(const void *a, const void *b)
{
	const struct ctl_boost *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* @pid: only this VM, 0: all. Return: 0 (free vms), -ESRCH, or another -errno. */
static int begin_look(struct look *l, uint32_t pid, struct ctl_error *error)
{
	struct ctl *ctl;
	size_t kept = 0;
	int err = ctl_open(&ctl, error);

	memset(l, 0, sizeof(*l));
	if (err)
		return err;
	err = ctl_get_info(ctl, &l->info, error);
	if (!err)
		err = ctl_get_boost(ctl, &l->vms, &l->nr_vms, error);
	ctl_close(ctl);
	if (err)
		return err;
	for (size_t i = 0; i < l->nr_vms; i++)
		if (!pid || l->vms[i].pid == pid)
			l->vms[kept++] = l->vms[i];
	l->nr_vms = kept;
	if (kept)
		qsort(l->vms, kept, sizeof(*l->vms), compare_vms);
	if (kept || !pid)
		return 0;
	free(l->vms);
	snprintf(error->text, sizeof(error->text), "vm %" PRIu32 ": no VM of this pid is known",
		 pid);
	return -ESRCH;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100. * (double)part / (double)whole : 0;
}

static void print_vm(const struct ctl_boost *b)
{
	char mean[UNITS_DURATION_BYTES], longest[UNITS_DURATION_BYTES];

	printf("VM %" PRIu32 " %s: %s%s\n", b->pid, b->name, b->choice,
	       b->own ? "" : " (default)");
	if (!b->preemptions && !b->yields)
		return;
	printf("  preempted %" PRIu64 " times; inside critical sections %" PRIu64
	       "; counts read %" PRIu64 ", not readable %" PRIu64 ", not understood %" PRIu64
	       ", nothing shared %" PRIu64 "\n",
	       b->preemptions, b->critical, b->reads, b->read_errors, b->bad_shares, b->unshared);
	printf("  yields %" PRIu64 ", scan steered %" PRIu64 " times; of %" PRIu64
	       " known targets %.1f %% preempted holders; %.1f %% of all handed a CPU to one at "
	       "once\n",
	       b->yields, b->steers, b->targets, percent(b->hits, b->targets),
	       percent(b->handed, b->yields));
	printf("  preempted holders waited %" PRIu64 " times, %s on average, %s at most\n",
	       b->waits, units_format_duration(b->waits ? b->wait_ns / b->waits : 0, mean),
	       units_format_duration(b->wait_max_ns, longest));
}

static json_t *json_vm(const struct ctl_boost *b)
{
	const struct {
		const char *key;
		uint64_t value;
	} rows[] = {
		{"pid", b->pid},
		{"reads", b->reads},
		{"read_errors", b->read_errors},
		{"bad_shares", b->bad_shares},
		{"unshared", b->unshared},
		{"preemptions", b->preemptions},
		{"critical", b->critical},
		{"steers", b->steers},
		{"yields", b->yields},
		{"targets", b->targets},
		{"hits", b->hits},
		{"handed", b->handed},
		{"waits", b->waits},
		{"wait_ns", b->wait_ns},
		{"wait_max_ns", b->wait_max_ns},
	};
	json_t *object = json_object(), *waits = json_array();

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		json_object_set_new(object, rows[i].key, json_integer((json_int_t)rows[i].value));
	for (size_t i = 0; i < VHALT_BOOST_WAIT_BUCKETS; i++)
		json_array_append_new(waits, json_integer((json_int_t)b->wait_log2[i]));
	json_object_set_new(object, "wait_log2", waits);
	json_object_set_new(object, "name", json_string(b->name));
	json_object_set_new(object, "boost", json_string(b->choice));
	json_object_set_new(object, "own", json_boolean(b->own));
	return object;
}

static int print_json(const struct look *l)
{
	json_t *vms = json_array(), *json;
	int err;

	for (size_t i = 0; i < l->nr_vms; i++)
		json_array_append_new(vms, json_vm(&l->vms[i]));
	json = json_pack("{s:s, s:b, s:I, s:o}", "default", l->info.boost, "watching",
			 l->info.boost_watching, "refused", (json_int_t)l->info.boost_refused,
			 "vms", vms);
	err = !json || json_dumpf(json, stdout, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(json);
	printf("\n");
	if (err)
		fprintf(stderr, "vhalt ctl: cannot write JSON\n");
	return err ? 1 : 0;
}

int ctl_boost_status(uint64_t pid, bool json)
{
	struct ctl_error error;
	struct look l;
	int code = 0;

	if (begin_look(&l, (uint32_t)pid, &error))
		return fail(&error);
	if (json) {
		code = print_json(&l);
	} else {
		printf("Boost: default %s; %s\n", l.info.boost,
		       l.info.boost_watching ? "watching exits" : "no VM is boosted");
		if (l.info.boost_refused)
			printf("%" PRIu64 " exits of VMs for which there was no room\n",
			       l.info.boost_refused);
		for (size_t i = 0; i < l.nr_vms; i++)
			print_vm(&l.vms[i]);
	}
	free(l.vms);
	return code;
}

int ctl_boost_set(const char *choice, uint64_t pid)
{
	struct ctl_error error;
	struct ctl *ctl;
	int code = 0;

	if (ctl_open(&ctl, &error))
		return fail(&error);
	if (ctl_set_boost(ctl, (uint32_t)pid, choice, &error))
		code = fail(&error);
	ctl_close(ctl);
	return code;
}
