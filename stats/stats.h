/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Statistics other tools print or the kernel offers: kvm_stat, perf kvm stat, debugfs, KVM's binary
 * statistics, module parameters. They give sums, never halts: nothing here can be replayed.
 *
 * Recognised by content, line by line, so one file may hold several of them, as bug reports do. A
 * value that is not certain is left out and reported with its line or offset, never guessed.
 */
#ifndef VHALT_STATS_STATS_H
#define VHALT_STATS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/diag.h"

/** What a file does not say. */
#define STATS_UNKNOWN UINT64_MAX
#define STATS_NO_HIST UINT32_MAX

/** Kinds of content; a file can hold several. */
enum stats_kind {
	STATS_KVM_STAT = 1 << 0,     /* a screen of kvm_stat, or its batch mode */
	STATS_KVM_STAT_LOG = 1 << 1, /* kvm_stat -l, columns or CSV */
	STATS_PERF = 1 << 2,	     /* perf kvm stat report */
	STATS_BINARY = 1 << 3,	     /* what KVM_GET_STATS_FD reads */
	STATS_COUNTERS = 1 << 4,     /* KVM's counters as a list: debugfs, a monitor, decoded */
	STATS_SETTINGS = 1 << 5,     /* module parameters, cpuidle, kernel configuration */
	STATS_MODINFO = 1 << 6,	     /* modinfo: which parameters there are, not their values */
	STATS_FORMAT = 1 << 7,	     /* format files of tracepoints: layouts, no events */
	STATS_NR_KINDS = 8,
};

/** stats_kind_name - of one kind: "kvm_stat table", ... */
const char *stats_kind_name(uint32_t kind);

enum stats_unit { STATS_COUNT, STATS_NS, STATS_BYTES, STATS_CYCLES, STATS_BOOLEAN, STATS_SECONDS };

/** stats_unit_name - "", "ns", "bytes", "cycles", "boolean", "s". */
const char *stats_unit_name(enum stats_unit unit);

#define STATS_NAME_BYTES  64
#define STATS_LABEL_BYTES 96
#define STATS_TEXT_BYTES  128

/** A counter. Whatever is not known is STATS_UNKNOWN. */
struct stats_value {
	char name[STATS_NAME_BYTES];
	uint32_t scope; /* index into stats.scopes */
	enum stats_unit unit;
	bool instant;	     /* a level now or a peak, not a sum over time */
	uint64_t total;	     /* sum over the scope's window; samples in a perf report */
	uint64_t rate_milli; /* per second * 1000, over the tool's last interval */
	uint64_t share_ppm;  /* of all events, as printed */
	uint64_t time_ppm;   /* of the time of all exits, as printed (perf) */
	uint64_t min_ns, max_ns, mean_ns; /* perf */
	uint32_t hist;			  /* index into stats.hists, or STATS_NO_HIST */
	uint64_t place;			  /* line, or offset in a binary file */
};

#define STATS_BUCKETS 64

/** A histogram. Bucket 0 counts value 0; bucket i of a log2 one [2^(i-1), 2^i), the last all above.
 */
struct stats_hist {
	uint32_t nr; /* buckets, at most STATS_BUCKETS */
	bool log2;   /* else linear in steps of bucket_size */
	uint64_t bucket_size;
	uint64_t bucket[STATS_BUCKETS];
};

/** What counters belong to: a table, the host, a VM or a vCPU. */
struct stats_scope {
	char label[STATS_LABEL_BYTES]; /* "host", "VM 1234", "kvm-99/vcpu-0", "table at line 3" */
	enum stats_kind kind;
	uint64_t place;
	uint32_t nr_values, first_value; /* how many, and the first of them */
	uint64_t window_ms; /* length of what the totals cover, where the file says so */
	uint64_t total, total_rate_milli; /* the table's own sum of all rows */
	uint64_t total_time_ns;		  /* perf: of all exits */
	uint64_t samples;		  /* log: lines of values */
	uint64_t lost;			  /* perf: lost events, as printed */
	bool by_guest;			  /* rows are guests, not events */
	bool header;			  /* the head of the table is there */
};

/** A parameter with its value as text. Unknown ones are kept too. */
struct stats_setting {
	char module[STATS_NAME_BYTES]; /* "kvm", "haltpoll", "cpuidle", "config", "event", "" */
	char name[STATS_NAME_BYTES];
	char value[STATS_TEXT_BYTES];
	bool configured; /* from modprobe.d or a command line: wanted, perhaps not in force */
	bool modprobe;	 /* ... from modprobe.d, which only reaches what is a module */
	uint32_t set;	 /* index into stats.sets */
	uint64_t place;
};

#define STATS_SETS_MAX 16

/** A list of settings of one machine at one time. Lists of equal values are one. */
struct stats_set {
	char label[STATS_LABEL_BYTES]; /* the host's name, the heading, or "list at line 7" */
	bool host;		       /* @label is a host's name, by its prompt */
	uint64_t place;		       /* of its first setting */
};

/** Everything a file said. Freed by stats_destroy(). */
struct stats {
	uint32_t kinds; /* enum stats_kind, or-ed */
	struct stats_value *values;
	struct stats_hist *hists;
	struct stats_scope *scopes;
	struct stats_setting *settings;
	uint32_t nr_values, nr_hists, nr_scopes, nr_settings;
	uint32_t values_room, hists_room, scopes_room, settings_room;
	struct stats_set sets[STATS_SETS_MAX];
	uint32_t nr_sets;	   /* more than 1: see stats_setting() */
	uint64_t lost_events;	   /* perf: what it says it lost while recording ... */
	uint64_t lost_chunks;	   /* ... an unknown number of events each ... */
	uint64_t lost_samples_ppm; /* ... or a share of all */
	uint64_t lines;		   /* of text, or bytes of a binary file */
	uint64_t ignored;	   /* lines that belong to nothing known here: prose, prompts */
	uint64_t damaged;  /* lines or counters that were left out as damaged, each reported */
	uint64_t left_out; /* beyond STATS_VALUES_MAX */
	uint64_t events;   /* lines that look like trace events: the file is a trace as well */
	char kernel[STATS_NAME_BYTES]; /* release, where the file names one */
	bool unfinished;	       /* the last line has no newline, so it may be cut */
	bool swapped;		       /* binary: of the other byte order */
};

/** Bounds that keep a hostile file small in memory: some 30 MiB. */
#define STATS_VALUES_MAX   65536U
#define STATS_SETTINGS_MAX 8192U
#define STATS_SCOPES_MAX   8192U
#define STATS_HISTS_MAX	   8192U

/** How far a file is looked through for statistics: bug reports begin with logs and prose. */
#define STATS_LOOK_BYTES (16U << 20)

/**
 * stats_recognise - is this a file of statistics, and no trace?
 * @fd:  can be read at any offset; its own offset stays
 *
 * Looks until one or the other comes, at most STATS_LOOK_BYTES far.
 * Return: 1, 0, -ENOMEM, or -errno of reading.
 */
int stats_recognise(int fd);

/**
 * stats_read - read a file.
 * @stats:  receives what it says
 * @path:   a file, or "-" for standard input
 * @diag:   where findings go (at most 50, then one that says so); may be NULL
 *
 * Streams: memory is bounded by the limits above, not by the file.
 * Return: 0, -EPROTO (no statistics in it; reported), -EISDIR, -ENOMEM, -errno.
 */
int stats_read(struct stats **stats, const char *path, const struct trace_diag *diag);

/** stats_read_bytes - the same from memory; @name is for messages. */
int stats_read_bytes(struct stats **stats, const void *bytes, size_t nr, const char *name,
		     const struct trace_diag *diag);

/** stats_destroy - NULL is allowed. */
void stats_destroy(struct stats *stats);

/** stats_find - the value of @name in @scope, or NULL. */
const struct stats_value *stats_find(const struct stats *stats, uint32_t scope, const char *name);

/**
 * stats_setting - the last value in force of a setting, or NULL. @module "" matches any.
 *
 * Of a file with several lists that is a value only where all lists about that module agree.
 */
const struct stats_setting *stats_setting(const struct stats *stats, const char *module,
					  const char *name);

/**
 * stats_sets_differ - do two lists have a setting with different values?
 * @of_a, @of_b:  receive the first such setting, as each list has it
 */
bool stats_sets_differ(const struct stats *stats, uint32_t a, uint32_t b,
		       const struct stats_setting **of_a, const struct stats_setting **of_b);

/** stats_sets_named_apart - do prompts or prefixes say that two lists are of two hosts? */
bool stats_sets_named_apart(const struct stats *stats, uint32_t a, uint32_t b);

/** stats_number - a setting's value as a number. Return: false if it is none (or negative). */
bool stats_number(const struct stats_setting *setting, uint64_t *number);

#endif
