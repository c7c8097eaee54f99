/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Inside the statistics readers: the container's growth, clean lines, words and numbers. */
#ifndef VHALT_STATS_INTERNAL_H
#define VHALT_STATS_INTERNAL_H

#include "stats/stats.h"

enum {
	STATS_LINE_BYTES = 16384, /* longer lines are cut and reported */
	STATS_WORDS = 640,	  /* of one line; a log has one for each counter */
	STATS_REPORTS_MAX = 50,
	STATS_SLOTS = 2 * STATS_SETTINGS_MAX,
	STATS_SCOPE_VALUES = 4096, /* of one table; KVM has some hundred counters and events */
};

/* --- growing what was read (stats.c) ---------------------------------------------------------- */

/** stats_create - empty, or NULL. */
struct stats *stats_create(void);

/** stats_add_scope - a new scope, also the latest; its index, or UINT32_MAX (full or no memory). */
uint32_t stats_add_scope(struct stats *stats, enum stats_kind kind, uint64_t place,
			 const char *format, ...) __attribute__((format(printf, 4, 5)));

/** stats_scope_named - the scope with this kind and label, made if it is not there. */
uint32_t stats_scope_named(struct stats *stats, enum stats_kind kind, uint64_t place,
			   const char *label);

/** stats_add_value - a counter with everything unknown, or NULL (full or no memory). */
struct stats_value *stats_add_value(struct stats *stats, uint32_t scope, const char *name,
				    size_t nr);

/** stats_add_hist - an empty histogram, or NULL; *index receives its place. */
struct stats_hist *stats_add_hist(struct stats *stats, uint32_t *index);

/** stats_add_setting - keep a parameter. Printable characters only are kept. */
void stats_add_setting(struct stats *stats, const char *module, const char *name, size_t name_nr,
		       const char *value, uint64_t place, bool configured);

/** stats_printable - '?' for what is not printable ASCII, in place: messages are for terminals. */
void stats_printable(char *text);

/* --- words (line.c) --------------------------------------------------------------------------- */

/** A word of a line: not terminated. */
struct stats_word {
	const char *text;
	size_t nr;
};

/**
 * stats_line_clean - make a line readable, in place: no escape sequences, carriage returns, quoting
 * marks of mail, byte order mark; blanks of all kinds become spaces, other control characters '?'.
 * Return: its new length.
 */
size_t stats_line_clean(char *line, size_t nr);

/** stats_split - the words of a line, at most STATS_WORDS; *more when there are further ones. */
size_t stats_split(const char *line, size_t nr, char separator, struct stats_word *words,
		   bool *more);

bool stats_word_is(const struct stats_word *word, const char *text);
bool stats_word_begins(const struct stats_word *word, const char *text);

/** stats_identifier - letters, digits, '_', '-', '.', and an argument in brackets: "kvm_exit(HLT)".
 */
bool stats_identifier(const struct stats_word *word);

/** stats_u64 - the whole word is a number. Return: 0, -EINVAL, -ERANGE (beyond 2^64-2). */
int stats_u64(const struct stats_word *word, uint64_t *value);

/** stats_fixed - "29.19", also "29,19": times @scale (a power of ten). 0, -EINVAL, -ERANGE. */
int stats_fixed(const struct stats_word *word, uint64_t scale, uint64_t *value);

/** stats_word_char - a letter, a digit, '_' or '-'. */
bool stats_word_char(char c);

/** stats_copy - copy @nr characters into @room bytes, cut if need be, and terminate them. */
void stats_copy(char *to, size_t room, const char *from, size_t nr);

/** stats_known_counter - is this a counter or event of KVM this project knows by name? */
bool stats_known_counter(const char *name, size_t nr);

/** stats_expand_name - the only known counter that begins so, or NULL. */
const char *stats_expand_name(const char *name, size_t nr);

/* --- text (text.c) ---------------------------------------------------------------------------- */

/** Columns of a kvm_stat log. */
struct stats_log {
	uint32_t *values; /* index of each column's value */
	size_t nr;
	bool csv;
	uint64_t first_s, last_s; /* wall clock, where lines have it */
};

/** Where the reading of a text is. */
struct stats_text {
	struct stats *stats;
	const char *name; /* of the file, for messages */
	const struct trace_diag *diag;
	uint64_t line;
	unsigned reports;
	enum stats_kind section; /* 0: none */
	uint32_t scope;		 /* of the section, UINT32_MAX: none yet */
	uint32_t percent;	 /* kvm_stat: the head names a %Total column */
	struct stats_log log;
	char path[STATS_TEXT_BYTES]; /* listing: whose value the next line is */
	bool path_answered;	     /* listing: hosts have answered for @path, more may follow */
	bool path_remote;	     /* listing: and they do so below headings of their own */
	char options[STATS_NAME_BYTES]; /* listing: module of an "options" line that goes on */
	uint64_t options_line;		/* listing: which ended in a backslash, or 0 */
	uint32_t last[STATS_SLOTS];	/* sets: the latest setting of each name, by hash */
	uint32_t block;			/* sets: the first setting since the list last broke off */
	bool blank;			/* sets: a blank line came since the last setting */
	char host[STATS_NAME_BYTES];	/* sets: whose prompt came last, or "" */
	char heading[STATS_NAME_BYTES]; /* sets: the word above the list, or "" */
	bool prefixed;			/* sets: @host stands before this very line */
	char written[STATS_NAME_BYTES]; /* sets: parameter that a command wrote to last */
	uint64_t written_line;
	char event[STATS_NAME_BYTES]; /* format file: of the name just read */
	bool in_ns;		      /* perf: the layout of 6.4, whose times are in ns */
	char partial[512];	      /* perf: a row that goes on in the next line */
	uint64_t partial_line;
	size_t edge;		       /* kvm_stat: where the rows above ended */
	char domain[STATS_NAME_BYTES]; /* domstats: of the domain's heading, or "" */
	uint64_t domain_line;
	bool no_memory;
	struct stats_word words[STATS_WORDS]; /* of the line at hand; for whoever cuts it */
	char value[STATS_LINE_BYTES];
};

/** stats_text_line - take a clean line, @last and without newline if @cut. */
void stats_text_line(struct stats_text *text, const char *line, size_t nr, bool cut);

/** stats_text_end - after the last line. */
void stats_text_end(struct stats_text *text);

/** stats_damaged - count and report something left out at the present line. */
void stats_damaged(struct stats_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** stats_note - report what was read but should be known, of @line. */
void stats_note(struct stats_text *text, uint64_t line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** stats_add_numbers - a counter of a list at the present line: one number, or a histogram. */
void stats_add_numbers(struct stats_text *text, const char *name, size_t name_nr,
		       const uint64_t *numbers, size_t n);

/* --- places of listed values (place.c) -------------------------------------------------------- */

/** What a list gives a value to. */
struct stats_place {
	char module[STATS_NAME_BYTES]; /* of a setting, else "" */
	char scope[STATS_LABEL_BYTES]; /* of a counter, else "" */
	char name[STATS_NAME_BYTES];
};

/** stats_place_of - where is @path, a file's path or a bare name, to be put? False: not known. */
bool stats_place_of(const struct stats_text *text, const char *path, struct stats_place *place);

/** stats_place_name - is @name known without a path? */
bool stats_place_name(const char *name, struct stats_place *place);

/* --- lists of several hosts (sets.c) ---------------------------------------------------------- */

/** Who says that a setting has a value. */
enum stats_source { STATS_IN_FORCE, STATS_COMMAND_LINE, STATS_MODPROBE };

/** stats_keep_setting - keep a setting of the present line, in the list it belongs to. */
void stats_keep_setting(struct stats_text *text, const char *module, const char *name,
			size_t name_nr, const char *value, enum stats_source source);

/** stats_sets_break - a line that belongs to nothing: perhaps the heading of the next list. */
void stats_sets_break(struct stats_text *text, const char *line, size_t nr);

/**
 * stats_sets_prefix - note the host that pdsh and its like put before each line, "host: /sys/...".
 * Return: how long it is, 0 where there is none.
 */
size_t stats_sets_prefix(struct stats_text *text, const char *line, size_t nr);

/**
 * stats_sets_answer - note the host of "host: value", one answer of many to one question.
 * Return: how long the host's part is, 0 where there is none.
 */
size_t stats_sets_answer(struct stats_text *text, const char *line, size_t nr);

/** stats_sets_remote - is it ansible's heading above a host's answer, "host | CHANGED | rc=0 >>"?
 */
bool stats_sets_remote(struct stats_text *text, const char *line, size_t nr);

/** stats_sets_command - note a prompt's host, and a parameter that the line writes to. */
void stats_sets_command(struct stats_text *text, const char *line, size_t nr);

/** stats_sets_end - after the last line: report which lists contradict each other. */
void stats_sets_end(struct stats_text *text);

/* Each takes a line if it is its own. Return: was it? */
bool stats_kvm_stat_line(struct stats_text *text, const char *line, size_t nr, bool cut);
bool stats_log_line(struct stats_text *text, const char *line, size_t nr, bool cut);
bool stats_perf_line(struct stats_text *text, const char *line, size_t nr, bool cut);
bool stats_listing_line(struct stats_text *text, const char *line, size_t nr);
bool stats_format_line(struct stats_text *text, const char *line, size_t nr);
bool stats_json_line(struct stats_text *text, const char *line, size_t nr);
bool stats_domstats_line(struct stats_text *text, const char *line, size_t nr);

/* --- binary (binary.c) ------------------------------------------------------------------------ */

/** stats_binary_recognised - the head of KVM's binary statistics, in either byte order? */
bool stats_binary_recognised(const uint8_t *bytes, size_t nr);

/** stats_binary_read - all of it. 0 or -ENOMEM, -EPROTO; damage is reported. */
int stats_binary_read(struct stats_text *text, const uint8_t *bytes, size_t nr);

#endif
