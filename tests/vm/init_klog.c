// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Watches the kernel's log for messages that mean a kernel or module defect.
#include "init.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * How the kernel words its own complaints. START: only at the beginning of a message, because the
 * same words after a subsystem's name are harmless notes (`Spectre V2 : WARNING: ...`,
 * `ACPI BIOS Error (bug): ...`). AFTER_PREFIX: also behind `name: `, as in `watchdog: BUG: soft`.
 */
enum where { START, AFTER_PREFIX, ANYWHERE };

static const struct {
	enum where where;
	const char *words;
	const char *and_words; /* must follow somewhere, unless NULL */
} defects[] = {
	/* WARN_ON, BUG_ON, and everything that ends in an oops or a panic */
	{START, "WARNING: ", NULL},
	{START, "------------[ cut here ]", NULL},
	{AFTER_PREFIX, "BUG: ", NULL},
	{AFTER_PREFIX, "kernel BUG at ", NULL},
	{AFTER_PREFIX, "Oops: ", NULL},
	{ANYWHERE, " [#", "]"}, /* any fatal exception: `int3: 0000 [#1] PREEMPT SMP` */
	{START, "Kernel panic - ", NULL},
	{START, "UBSAN: ", NULL},
	{START, "Call Trace:", NULL},
	{ANYWHERE, "list_add corruption", NULL},
	{ANYWHERE, "list_del corruption", NULL},
	/* stalls and lockups; soft ones say BUG */
	{START, "rcu: INFO: ", "stall"},
	{ANYWHERE, "kthread starved for", NULL},
	{ANYWHERE, "hard LOCKUP", NULL},
	{START, "INFO: task ", "blocked for more than"},
	{START, "irq ", "nobody cared"},
	/* lockdep, beyond its WARNINGs and BUGs */
	{START, "INFO: lockdep is turned off", NULL},
	{START, "INFO: trying to register non-static key", NULL},
	{START, "DEBUG_LOCKS_WARN_ON", NULL},
	/* kmemleak */
	{ANYWHERE, "new suspected memory leaks", NULL},
	{START, "unreferenced object 0x", NULL},
};

bool rig_klog_is_defect(const char *message)
{
	for (size_t i = 0; i < sizeof(defects) / sizeof(defects[0]); i++) {
		const char *words = defects[i].words;
		const char *at = strstr(message, words);
		bool hit;

		if (!at)
			continue;
		switch (defects[i].where) {
		case START: hit = at == message; break;
		case AFTER_PREFIX:
			hit = at == message ||
			      (at - message >= 2 && at[-1] == ' ' && at[-2] == ':');
			break;
		default: hit = true;
		}
		if (hit && (!defects[i].and_words || strstr(at, defects[i].and_words)))
			return true;
	}
	return false;
}

int rig_klog_init(struct rig_klog *k, const char *copy_path)
{
	k->tainted = 0;
	k->copy_fd = -1;
	k->fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (k->fd < 0)
		return -errno;
	if (copy_path) {
		k->copy_fd = open(copy_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		if (k->copy_fd < 0) {
			int err = -errno;

			close(k->fd);
			k->fd = -1;
			return err;
		}
	}
	return 0;
}

void rig_klog_fini(struct rig_klog *k)
{
	if (k->fd >= 0)
		close(k->fd);
	if (k->copy_fd >= 0)
		close(k->copy_fd);
}

/* Cut a /dev/kmsg record "prio,seq,usec,flags;text\n KEY=value\n..." down to its text. */
static const char *record_text(char *record, uint64_t *stamp_us)
{
	unsigned long long us = 0;
	char *text = strchr(record, ';');

	sscanf(record, "%*u,%*u,%llu", &us);
	*stamp_us = us;
	if (!text)
		return record;
	text[strcspn(text, "\n")] = '\0';
	return text + 1;
}

/* Defects found by one check, and where the caller wants the first. */
struct found {
	unsigned int count;
	char *first;
	size_t first_bytes;
};

static void note(struct found *f, const char *text)
{
	if (!f->count++)
		snprintf(f->first, f->first_bytes, "%s", text);
	rig_say("# kernel: %s", text);
}

/* A second opinion, free of words: the kernel marks itself when it warns or dies. */
static void check_taint(struct rig_klog *k, struct found *f)
{
	static const struct {
		unsigned int bit;
		const char *text;
	} bits[] = {
		/* Documentation/admin-guide/tainted-kernels.rst */
		{5, "tainted: bad page (B)"},
		{7, "tainted: died, oops or BUG (D)"},
		{9, "tainted: warning (W)"},
		{14, "tainted: soft lockup (L)"},
	};
	FILE *file = fopen("/proc/sys/kernel/tainted", "re");
	unsigned long tainted = 0;

	if (!file || fscanf(file, "%lu", &tainted) != 1)
		note(f, "its taint cannot be read");
	if (file)
		fclose(file);
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		if (tainted & ~k->tainted & (1ul << bits[i].bit))
			note(f, bits[i].text);
	}
	k->tainted |= tainted;
}

static void take_record(struct rig_klog *k, struct found *f, char *record)
{
	uint64_t us;
	const char *text = record_text(record, &us);

	if (k->copy_fd >= 0)
		dprintf(k->copy_fd, "[%5u.%06u] %s\n", (unsigned int)(us / 1000000),
			(unsigned int)(us % 1000000), text);
	if (rig_klog_is_defect(text))
		note(f, text);
}

unsigned int rig_klog_check(struct rig_klog *k, char *first, size_t first_bytes)
{
	struct found f = {.first = first, .first_bytes = first_bytes};
	char record[8192]; /* the kernel's own limit for one record */
	ssize_t n;

	for (;;) {
		n = read(k->fd, record, sizeof(record) - 1);
		if (n > 0) {
			record[n] = '\0';
			take_record(k, &f, record);
		} else if (n < 0 && errno == EPIPE) {
			note(&f, "its log overran: messages were lost");
		} else if (n == 0 || errno != EINTR) {
			break;
		}
	}
	if (n == 0 || errno != EAGAIN)
		note(&f, "its log cannot be read");
	check_taint(k, &f);
	return f.count;
}
