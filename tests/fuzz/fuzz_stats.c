// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Fuzz target: statistics as text; any bytes, and lines put together from the words of each layout.
#include <stdio.h>

#include "tests/fuzz/fuzz_file.h"

#include "diagnose/stats.h"
#include "stats/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nr);

/* Words of each layout; a composed file is a row of them. */
static const char *const table_words[] = {
	"kvm statistics - summary\n",
	"kvm statistics - pid 7 (a b)\n",
	" Event ",
	"Total ",
	"Current\n",
	"%Total CurAvg/s\n",
	" Guest Name ",
	"kvm_exit ",
	"  kvm_exit(HLT) ",
	"halt_exits ",
	"halt_attempted_poll ",
	"halt_successful_poll ",
	"kvm_vcpu_wakeup ",
	"12 ",
	"0 ",
	"16.4 ",
	"100.0 ",
	"18446744073709551615 ",
	"99999999999999999999 ",
	"-3 ",
	"\n",
	"  ",
	"\r\n",
	"kvm_",
};
static const char *const log_words[] = {
	"timestamp,",
	"kvm_exit,",
	"halt_exits,",
	"halt_wakeup\n",
	"kvm_exit ",
	"kvm_entry ",
	"kvm_msr\n",
	" halt_succ ",
	" halt_atte ",
	" halt_exit\n",
	"2021-03-04 12:34:56,",
	"1,",
	"2\n",
	"      3 ",
	"         4\n",
	"18446744073709551614 ",
	"x ",
	"\n",
	",",
	"2021-03-04 12:34:56 ",
};
static const char *const perf_words[] = {
	"Analyze events for pid(s) 6, all VCPUs:\n",
	" VM-EXIT Samples Samples% Time% Min Time Max Time Avg time\n",
	" HLT ",
	" hlt ",
	"WFx ",
	"EPT_VIOLATION ",
	"40 ",
	"99.69% ",
	"1.74% ",
	"0.32us ",
	"19528.58us ",
	"29.19us ( +- 5.93% )\n",
	"29,19us\n",
	"5.93% )\n",
	"\n",
	"Total Samples:40960, Total events handled time:1213240.92us.\n",
	"Lost events: 7\n",
	"Processed 9 events and lost 7 chunks!\n",
	"nan% ",
	"18446744073709551615 ",
	"9999999999999999999.99us ",
};
static const char *const listing_words[] = {
	"/sys/module/kvm/parameters/",
	"/sys/kernel/debug/kvm/",
	"12-3/",
	"vcpu0/",
	"halt_poll_ns",
	"halt_poll_ns_grow",
	"halt_exits",
	"halt_poll_fail_hist",
	"guest_halt_poll_ns",
	":",
	": ",
	"=",
	" = ",
	" ",
	"==> ",
	" <==\n",
	"200000",
	"Y",
	"-1",
	"1 2 3 4",
	"(error)",
	"\n",
	"\n\n",
	"options kvm halt_poll_ns=",
	"kvm.halt_poll_ns=",
	"parm: halt_poll_ns:uint\n",
	"vermagic: 6.1.0\n",
	"CONFIG_HZ=",
	"1000",
	"# cat ",
	"vcpu (qom path: /m)\n",
	"  provider: kvm\n",
	" (cumulative, ns): ",
	"current_governor",
	"menu",
	"/sys/devices/system/cpu/cpuidle/",
	"/sys/devices/system/cpu/cpu3/cpuidle/state1/",
	"hosta: ",
	"root@hostb:~# ",
	"=== hostc ===\n",
	"ssh hostd cat ",
	"echo 0 > /sys/module/kvm/parameters/halt_poll_ns\n",
	"options haltpoll guest_halt_poll_ns=",
};
static const char *const other_words[] = {
	"{\"name\": \"",
	"halt_exits",
	"halt_wait_hist",
	"\", \"value\": ",
	"12",
	"[1, 2, 3]",
	"[1, ",
	"}, ",
	"}\n",
	"\"qom-path\": ",
	"\n",
	"true",
	"name: kvm_vcpu_wakeup\n",
	"ID: 5\n",
	"format:\n",
	"\tfield:__u64 ns;",
	"\toffset:8;",
	"\tsize:8;",
	"\tsigned:0;\n",
	"print fmt: \"x\"\n",
	"field:a;\n",
	"> ",
	"\033[31m",
	"\302\240",
	"\357\273\277",
	"x: kvm_exit: y\n",
	"\033]0;",
	"Domain: 'a b'\n",
	"  vcpu.",
	"0.",
	"1.",
	"halt_exits.",
	"sum=",
	"cur=yes",
	"  vm.",
	"cpu.haltpoll.fail.time=",
};

static const struct {
	const char *const *words;
	size_t nr;
} layouts[] = {
	{table_words, sizeof(table_words) / sizeof(table_words[0])},
	{log_words, sizeof(log_words) / sizeof(log_words[0])},
	{perf_words, sizeof(perf_words) / sizeof(perf_words[0])},
	{listing_words, sizeof(listing_words) / sizeof(listing_words[0])},
	{other_words, sizeof(other_words) / sizeof(other_words[0])},
};

enum { NR_LAYOUTS = sizeof(layouts) / sizeof(layouts[0]), COMPOSED_BYTES = 1 << 16 };

static void check_text(const char *text, size_t room)
{
	const char *end = memchr(text, '\0', room);

	if (!end)
		abort();
	for (; text < end; text++)
		if (*text < ' ' || *text > '~')
			abort();
}

static void check(const struct stats *s)
{
	for (uint32_t i = 0; i < s->nr_values; i++) {
		const struct stats_value *v = &s->values[i];

		if (v->scope >= s->nr_scopes ||
		    (v->hist != STATS_NO_HIST && v->hist >= s->nr_hists))
			abort();
		check_text(v->name, sizeof(v->name));
	}
	for (uint32_t i = 0; i < s->nr_hists; i++)
		if (s->hists[i].nr > STATS_BUCKETS)
			abort();
	for (uint32_t i = 0; i < s->nr_scopes; i++)
		check_text(s->scopes[i].label, sizeof(s->scopes[i].label));
	check_text(s->kernel, sizeof(s->kernel));
	for (uint32_t i = 0; i < s->nr_sets; i++)
		check_text(s->sets[i].label, sizeof(s->sets[i].label));
	for (uint32_t i = 0; i < s->nr_settings; i++) {
		if (s->settings[i].set >= (s->nr_sets ? s->nr_sets : 1))
			abort();
		check_text(s->settings[i].module, sizeof(s->settings[i].module));
		check_text(s->settings[i].name, sizeof(s->settings[i].name));
		check_text(s->settings[i].value, sizeof(s->settings[i].value));
	}
}

static void read_it(const void *bytes, size_t nr)
{
	struct findings findings = {.list = NULL};
	struct stats_kernel kernel;
	struct stats *stats;

	if (stats_read_bytes(&stats, bytes, nr, "fuzz", &fuzz_diag))
		return;
	check(stats);
	stats_guess_kernel(&kernel, stats);
	if (diagnose_stats(stats, NULL, "fuzz", &findings))
		abort();
	diagnose_settings(stats, NULL, &findings);
	findings_fini(&findings);
	stats_destroy(stats);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nr)
{
	static char composed[COMPOSED_BYTES];
	size_t used = 0;

	if (!nr)
		return 0;
	if (data[0] % (NR_LAYOUTS + 1) == NR_LAYOUTS) {
		read_it(data + 1, nr - 1);
		return 0;
	}
	for (size_t i = 1; i < nr; i++) {
		/* Mostly of the chosen layout, now and then of another. */
		size_t layout = data[i] >= 250 ? data[i] % NR_LAYOUTS : data[0] % (NR_LAYOUTS + 1);
		const char *word = layouts[layout].words[data[i] % layouts[layout].nr];

		if (used + strlen(word) > sizeof(composed))
			break;
		memcpy(composed + used, word, strlen(word));
		used += strlen(word);
	}
	read_it(composed, used);
	return 0;
}
