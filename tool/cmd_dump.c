// SPDX-License-Identifier: GPL-2.0-only OR MIT
// vhalt dump: prints a recording, halt by halt.
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/commands.h"
#include "tool/dump_print.h"
#include "tool/options.h"
#include "trace/reader.h"

enum { VCPU_MAX = 65535 };

struct dump {
	const struct dump_style *style;
	struct trace_reader *reader;
	uint64_t vcpu, limit; /* UINT64_MAX: all */
	uint64_t printed;
	/* Halts read and not yet printed, and when the last of each batch but the newest ended. */
	struct trace_halt *held;
	size_t nr_held;
	uint64_t settled_ns;
	/* What the printed definitions said. */
	struct trace_vm *vms;
	struct trace_vcpu *vcpus;
	uint32_t nr_vms, nr_vcpus;
};

static void report(void *context, const char *text)
{
	(void)context;
	fprintf(stderr, "vhalt dump: %s\n", text);
}

static uint64_t end_of(const struct trace_halt *h)
{
	return h->start_ns + h->halt_ns;
}

static int by_end(const void *a, const void *b)
{
	const struct trace_halt *x = a, *y = b;

	if (end_of(x) != end_of(y))
		return end_of(x) < end_of(y) ? -1 : 1;
	if (x->vcpu != y->vcpu)
		return x->vcpu < y->vcpu ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Prints VMs and vCPUs that are new, or known better than before. */
static int print_definitions(struct dump *d)
{
	const struct trace_info *info = trace_reader_info(d->reader);
	struct trace_vm *vms = reallocarray(d->vms, info->nr_vms + 1U, sizeof(*vms));
	struct trace_vcpu *vcpus;

	if (!vms)
		return -ENOMEM;
	d->vms = vms;
	vcpus = reallocarray(d->vcpus, info->nr_vcpus + 1U, sizeof(*vcpus));
	if (!vcpus)
		return -ENOMEM;
	d->vcpus = vcpus;
	for (uint32_t i = 0; i < info->nr_vms; i++) {
		if (i < d->nr_vms && !memcmp(&vms[i], &info->vms[i], sizeof(*vms)))
			continue;
		d->style->vm(i, &info->vms[i]);
		vms[i] = info->vms[i];
	}
	for (uint32_t i = 0; i < info->nr_vcpus; i++) {
		if (i < d->nr_vcpus && !memcmp(&vcpus[i], &info->vcpus[i], sizeof(*vcpus)))
			continue;
		d->style->vcpu(i, &info->vcpus[i]);
		vcpus[i] = info->vcpus[i];
	}
	d->nr_vms = info->nr_vms;
	d->nr_vcpus = info->nr_vcpus;
	return 0;
}

/* Prints what is held up to @until_ns. */
static void print_held(struct dump *d, uint64_t until_ns)
{
	size_t nr = 0;

	if (!d->nr_held)
		return;
	qsort(d->held, d->nr_held, sizeof(*d->held), by_end);
	while (nr < d->nr_held && end_of(&d->held[nr]) <= until_ns && d->printed < d->limit) {
		d->style->halt(&d->held[nr++]);
		d->printed++;
	}
	memmove(d->held, d->held + nr, (d->nr_held - nr) * sizeof(*d->held));
	d->nr_held -= nr;
}

/*
 * A batch holds vCPU after vCPU, and what ended late in one may end after the first of the next. So
 * halts are held until the batch after theirs was seen, and come out in the order they ended.
 */
static int take_batch(struct dump *d, const struct trace_halt *halts, size_t nr)
{
	struct trace_halt *held = reallocarray(d->held, d->nr_held + nr, sizeof(*held));
	uint64_t last_ns = d->settled_ns;

	if (!held)
		return -ENOMEM;
	d->held = held;
	for (size_t i = 0; i < nr; i++) {
		last_ns = end_of(&halts[i]) > last_ns ? end_of(&halts[i]) : last_ns;
		if (d->vcpu == UINT64_MAX || halts[i].vcpu == d->vcpu)
			held[d->nr_held++] = halts[i];
	}
	print_held(d, d->settled_ns);
	d->settled_ns = last_ns;
	return 0;
}

static int read_through(struct dump *d)
{
	const struct trace_halt *halts;
	bool begun = false;
	ssize_t nr;
	int err;

	do {
		nr = trace_reader_next(d->reader, &halts);
		if (nr < 0)
			return (int)nr;
		if (!begun)
			d->style->info(trace_reader_info(d->reader),
				       trace_reader_format(d->reader));
		begun = true;
		err = print_definitions(d);
		if (!err && nr)
			err = take_batch(d, halts, (size_t)nr);
		if (err)
			return err;
	} while (nr && d->printed < d->limit && !ferror(stdout));
	print_held(d, UINT64_MAX);
	if (d->vcpu != UINT64_MAX && d->vcpu >= d->nr_vcpus) {
		fprintf(stderr, "vhalt dump: no vCPU %" PRIu64 " in it, it has %" PRIu32 "\n",
			d->vcpu, d->nr_vcpus);
		return -ENOENT;
	}
	d->style->end(trace_reader_info(d->reader), d->printed);
	return 0;
}

/* A reader of ours that went away is no news; anything else that stops the output is. */
static int finish_output(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	if (errno != EPIPE)
		fprintf(stderr, "vhalt dump: standard output: %s\n", strerror(errno));
	return -EIO;
}

static int dump(struct dump *d, const char *path)
{
	const struct trace_diag diag = {report, NULL};
	int err, output;

	if (trace_reader_open(&d->reader, path, &diag))
		return 1;
	err = read_through(d);
	if (err == -ENOMEM)
		fprintf(stderr, "vhalt dump: %s\n", strerror(ENOMEM));
	output = finish_output();
	trace_reader_close(d->reader);
	free(d->held);
	free(d->vms);
	free(d->vcpus);
	return err || output;
}

int cmd_dump(int argc, char **argv)
{
	struct dump d = {.vcpu = UINT64_MAX, .limit = UINT64_MAX};
	bool json = false;
	const struct option_row rows[] = {
		{"json", 0, OPTION_FLAG, &json, NULL, "print JSON, an object a line", 0, 0, NULL},
		{"vcpu", 0, OPTION_U64, &d.vcpu, "N", "only halts of the vCPU with this index", 0,
		 VCPU_MAX, NULL},
		{"limit", 0, OPTION_U64, &d.limit, "N", "stop after so many halts", 1, 0, NULL},
		{0},
	};
	const struct option_spec spec = {
		.command = "dump",
		.usage = "[options] FILE",
		.summary = "Prints a recording, halt by halt, in the order the halts ended.",
		.rows = rows,
	};
	int operand = options_parse(&spec, argc, argv);

	if (operand < 0)
		return options_exit(operand);
	if (operand != argc - 1) {
		fprintf(stderr, "vhalt dump: %s (try --help)\n",
			operand == argc ? "no FILE given" : "more than one FILE given");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	d.style = json ? &dump_style_json : &dump_style_text;
	return dump(&d, argv[operand]);
}
