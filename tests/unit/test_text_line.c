// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Lines of event traces: each layout, and each way people damage them, to the event it says.
#include "tests/unit/vht_file.h"

#include "trace/text_line.h"

#define NO    TRACE_UNKNOWN_U32
#define NO_NS VHALT_UNKNOWN_NS

/* What a line says: identity, time, and up to three numbers of the event. */
struct row {
	const char *line;
	enum text_kind kind;
	uint32_t event; /* enum trace_event_kind */
	uint64_t time_ns;
	uint32_t tid, pid, cpu;
	const char *name;
	uint64_t ns;	/* WAKEUP: length; WINDOW: new; else vCPU */
	uint32_t flags; /* enum trace_event_flags */
	uint32_t old;	/* WINDOW */
};

static uint64_t main_number(const struct trace_event *e)
{
	if (e->kind == TRACE_EVENT_WAKEUP || e->kind == TRACE_EVENT_LOST)
		return e->ns;
	return e->kind == TRACE_EVENT_WINDOW || e->kind == TRACE_EVENT_GUEST ? e->new_ns : e->vcpu;
}

static void check_rows(const struct row *rows, size_t nr)
{
	for (const struct row *r = rows; r < rows + nr; r++) {
		struct text_line line;
		enum text_kind kind = text_line_parse(&line, r->line, strlen(r->line));

		if (kind != r->kind)
			fail_msg("\"%s\": kind %d, not %d", r->line, kind, r->kind);
		if (kind != TEXT_EVENT && kind != TEXT_LOST)
			continue;
		if (line.event.kind != r->event || line.event.time_ns != r->time_ns ||
		    line.event.tid != r->tid || line.event.pid != r->pid ||
		    line.event.cpu != r->cpu || strcmp(line.event.name, r->name) ||
		    main_number(&line.event) != r->ns || line.event.flags != r->flags ||
		    line.event.old_ns != r->old)
			fail_msg("\"%s\": event %u, time %llu, tid %u, pid %u, cpu %u, \"%s\", "
				 "%llu, flags %#x, old %u",
				 r->line, line.event.kind, (unsigned long long)line.event.time_ns,
				 line.event.tid, line.event.pid, line.event.cpu, line.event.name,
				 (unsigned long long)main_number(&line.event), line.event.flags,
				 line.event.old_ns);
	}
}

#define CHECK(rows) check_rows(rows, sizeof(rows) / sizeof(rows[0]))

#define WAKEUP TRACE_EVENT_WAKEUP
#define WINDOW TRACE_EVENT_WINDOW
#define WAITED TRACE_EVENT_WAITED
#define GROW   TRACE_EVENT_GROW

/* Names may hold anything: the thread is found by what stands behind it. */
static void test_names(void **state)
{
	static const struct row rows[] = {
		{"     fc_vcpu 3-551234 [012] .... 4321.000777: kvm_vcpu_wakeup: wait time 8123 "
		 "ns, "
		 "polling valid",
		 TEXT_EVENT, WAKEUP, 4321000777000, 551234, NO, 12, "fc_vcpu 3", 8123, WAITED, 0},
		{"       CPU 1/KVM-772   [003] d..1.  5.000001: kvm_vcpu_wakeup: poll time 12 ns, "
		 "polling invalid",
		 TEXT_EVENT, WAKEUP, 5000001000, 772, NO, 3, "CPU 1/KVM", 12, TRACE_EVENT_INVALID,
		 0},
		{"a-1-22 3-44-5 [0] .... 6.0: kvm_vcpu_wakeup: poll time 1 ns, polling valid",
		 TEXT_EVENT, WAKEUP, 6000000000, 5, NO, 0, "a-1-22 3-44", 1, 0, 0},
		{"9-8 [000] 6.5: kvm_vcpu_wakeup: poll time 1 ns, polling valid", TEXT_EVENT,
		 WAKEUP, 6500000000, 8, NO, 0, "9", 1, 0, 0},
		{"<...>-2201  [001] .... 7.000100: kvm_vcpu_wakeup: poll time 1 ns, polling valid",
		 TEXT_EVENT, WAKEUP, 7000100000, 2201, NO, 1, "", 1, 0, 0},
		{"-77 [001] .... 7.000100: kvm_vcpu_wakeup: poll time 1 ns, polling valid",
		 TEXT_EVENT, WAKEUP, 7000100000, 77, NO, 1, "", 1, 0, 0},
		/* Names that look like events, times and CPUs. */
		{"1: kvm_exit: x-31 [000] .... 8.5: kvm_vcpu_wakeup: poll time 3 ns, polling valid",
		 TEXT_EVENT, WAKEUP, 8500000000, 31, NO, 0, "kvm_exit: x", 3, 0, 0},
		{"[001] 1.5:-31 [000] .... 8.5: kvm_vcpu_wakeup: poll time 3 ns, polling valid",
		 TEXT_EVENT, WAKEUP, 8500000000, 31, NO, 0, "[001] 1.5:", 3, 0, 0},
		{"kvm_exit:-31 [000] .... 8.5: kvm_vcpu_wakeup: poll time 3 ns, polling valid",
		 TEXT_EVENT, WAKEUP, 8500000000, 31, NO, 0, "kvm_exit:", 3, 0, 0},
		{"\x1b]0;x\x07-31 [000] .... 8.5: kvm_vcpu_wakeup: poll time 3 ns, polling valid",
		 TEXT_EVENT, WAKEUP, 8500000000, 31, NO, 0, "?]0;x?", 3, 0, 0},
		/* perf: a blank before the id, or a process and a thread. */
		{"   CPU 0/KVM  9911 [002] 7712345.000001: kvm:kvm_vcpu_wakeup: wait time 5 ns, "
		 "polling valid",
		 TEXT_EVENT, WAKEUP, 7712345000001000, 9911, NO, 2, "CPU 0/KVM", 5, WAITED, 0},
		{" qemu-kvm-2  9900/9911 [002] 1.000000009:     1 kvm:kvm_vcpu_wakeup: poll time 5 "
		 "ns, "
		 "polling valid",
		 TEXT_EVENT, WAKEUP, 1000000009, 9911, 9900, 2, "qemu-kvm-2", 5, 0, 0},
		{"vm 4 12-7  31 1.5: kvm:kvm_vcpu_wakeup: poll time 5 ns, polling valid",
		 TEXT_EVENT, WAKEUP, 1500000000, 31, NO, NO, "vm 4 12-7", 5, 0, 0},
		{"  4242 [009] 1.5: kvm:kvm_vcpu_wakeup: poll time 5 ns, polling valid", TEXT_EVENT,
		 WAKEUP, 1500000000, 4242, NO, 9, "", 5, 0, 0},
		/* A swapper has no thread id of its own. */
		{"<idle>-0 [000] 1.5: kvm_vcpu_wakeup: poll time 5 ns, polling valid", TEXT_EVENT,
		 WAKEUP, 1500000000, NO, NO, 0, "<idle>", 5, 0, 0},
	};

	(void)state;
	CHECK(rows);
}

static void test_columns(void **state)
{
	static const struct row rows[] = {
		/* Process id, before or behind the CPU; unknown ones are dashes. */
		{"CPU 0/KVM-41    (     40) [001] d.... 9.1: kvm_vcpu_wakeup: poll time 2 ns, "
		 "polling "
		 "valid",
		 TEXT_EVENT, WAKEUP, 9100000000, 41, 40, 1, "CPU 0/KVM", 2, 0, 0},
		{"CPU 0/KVM-41    [001] (40) d... 9.1: kvm_vcpu_wakeup: poll time 2 ns, polling "
		 "valid",
		 TEXT_EVENT, WAKEUP, 9100000000, 41, 40, 1, "CPU 0/KVM", 2, 0, 0},
		{"CPU 0/KVM-41    (-------) [001] d.... 9.1: kvm_vcpu_wakeup: poll time 2 ns, "
		 "polling "
		 "valid",
		 TEXT_EVENT, WAKEUP, 9100000000, 41, NO, 1, "CPU 0/KVM", 2, 0, 0},
		/* Four to seven flags, or none; glued to the CPU by latency tracers and dumps. */
		{"v-41 [001] 1234 9.1: kvm_vcpu_wakeup: poll time 2 ns, polling valid", TEXT_EVENT,
		 WAKEUP, 9100000000, 41, NO, 1, "v", 2, 0, 0},
		{"v-41 [001] dNh3.21 9.1: kvm_vcpu_wakeup: poll time 2 ns, polling valid",
		 TEXT_EVENT, WAKEUP, 9100000000, 41, NO, 1, "v", 2, 0, 0},
		{"fc_vcpu -41      12dNh2. 77001122us : kvm_vcpu_wakeup: poll time 2 ns, polling "
		 "valid",
		 TEXT_EVENT, WAKEUP, 77001122000, 41, NO, 12, "fc_vcpu", 2, 0, 0},
		{"v-41 [001] 9.1: kvm_vcpu_wakeup: poll time 2 ns, polling valid", TEXT_EVENT,
		 WAKEUP, 9100000000, 41, NO, 1, "v", 2, 0, 0},
		{"v-41 9.1: kvm_vcpu_wakeup: poll time 2 ns, polling valid", TEXT_EVENT, WAKEUP,
		 9100000000, 41, NO, NO, "v", 2, 0, 0},
		{"v-41 d..1. 9.1: kvm_vcpu_wakeup: poll time 2 ns, polling valid", TEXT_EVENT,
		 WAKEUP, 9100000000, 41, NO, NO, "v", 2, 0, 0},
		/* No thread, no CPU, no time: then these are unknown. */
		{"[001] 9.1: kvm_vcpu_wakeup: poll time 2 ns, polling valid", TEXT_EVENT, WAKEUP,
		 9100000000, NO, NO, 1, "", 2, 0, 0},
		{"5500112233445566: kvm_halt_poll_ns: vcpu 3: halt_poll_ns 20000 (grow 10000)",
		 TEXT_EVENT, WINDOW, 5500112233445566, NO, NO, NO, "", 20000, GROW, 10000},
		{"... kvm:kvm_halt_poll_ns: vcpu 0: halt_poll_ns 0 (shrink 12000)", TEXT_EVENT,
		 WINDOW, NO_NS, NO, NO, NO, "", 0, 0, 12000},
		{"kvm_halt_poll_ns: vcpu 0: halt_poll_ns 0 (shrink 12000)", TEXT_EVENT, WINDOW,
		 NO_NS, NO, NO, NO, "", 0, 0, 12000},
		{"v-41 [001] .... kvm_vcpu_wakeup: poll time 2 ns, polling valid", TEXT_EVENT,
		 WAKEUP, NO_NS, 41, NO, 1, "v", 2, 0, 0},
		/* trace-cmd report pads the event's name. */
		{"  CPU 0/KVM-41    [001] 9.000123456: kvm_vcpu_wakeup:      poll time 2 ns, "
		 "polling "
		 "valid",
		 TEXT_EVENT, WAKEUP, 9000123456, 41, NO, 1, "CPU 0/KVM", 2, 0, 0},
		/* Numbers somebody gave the lines. */
		{"  17: v-41 [001] 9.1: kvm_vcpu_wakeup: poll time 2 ns, polling valid", TEXT_EVENT,
		 WAKEUP, 9100000000, 41, NO, 1, "v", 2, 0, 0},
		{"    17\tv-41 [001] 9.1: kvm_vcpu_wakeup: poll time 2 ns, polling valid",
		 TEXT_EVENT, WAKEUP, 9100000000, 41, NO, 1, "v", 2, 0, 0},
		/* A thread id beyond the kernel's: none. */
		{"v-99999999999 [001] 9.1: kvm_vcpu_wakeup: poll time 2 ns, polling valid",
		 TEXT_EVENT, WAKEUP, 9100000000, NO, NO, 1, "v", 2, 0, 0},
	};

	(void)state;
	CHECK(rows);
}

static void test_clocks(void **state)
{
	static const struct {
		const char *time;
		uint64_t ns;
		uint32_t hint;
	} rows[] = {
		{"12.000345:", 12000345000, TRACE_HINT_CLOCK_S},
		{"12.000345678:", 12000345678, TRACE_HINT_CLOCK_S},
		{"12.5:", 12500000000, TRACE_HINT_CLOCK_S},
		{"0.0000000019:", 1, TRACE_HINT_CLOCK_S},
		{"10892345.982869:", 10892345982869000, TRACE_HINT_CLOCK_S},
		{"9223372036.854775807:", INT64_MAX, TRACE_HINT_CLOCK_S},
		{"77000111222us :", 77000111222000, TRACE_HINT_CLOCK_US},
		{"42us+:", 42000, TRACE_HINT_CLOCK_US},
		{"42us!:", 42000, TRACE_HINT_CLOCK_US},
		{"87000111222333:", 87000111222333, TRACE_HINT_CLOCK_NS},
		{"4294967297:", 4294967297, TRACE_HINT_CLOCK_NS},
		{"87000111222333[ns]:", 87000111222333, TRACE_HINT_CLOCK_NS},
		{"87000111222333 [ns]:", 87000111222333, TRACE_HINT_CLOCK_NS},
		{"87000111222333ns:", 87000111222333, TRACE_HINT_CLOCK_NS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct text_line line;
		char text[200];

		snprintf(text, sizeof(text), "v-41 [001] .... %s kvm_exit: reason HLT rip 0x1",
			 rows[i].time);
		assert_int_equal(text_line_parse(&line, text, strlen(text)), TEXT_EVENT);
		if (line.event.time_ns != rows[i].ns || !(line.hints & rows[i].hint) ||
		    line.event.tid != 41)
			fail_msg("\"%s\": %llu ns, hints %#x, tid %u", rows[i].time,
				 (unsigned long long)line.event.time_ns, line.hints,
				 line.event.tid);
	}
}

static void test_payloads(void **state)
{
#define PREFIX "v-41 [001] .... 9.1: "
	static const struct row rows[] = {
		/* Before Linux 4.7 nothing tells whether a wake-up was valid. */
		{PREFIX "kvm_vcpu_wakeup: wait time 777 ns", TEXT_EVENT, WAKEUP, 9100000000, 41, NO,
		 1, "v", 777, WAITED | TRACE_EVENT_NO_VALID, 0},
		{PREFIX "kvm_vcpu_wakeup: wait time 9223372036854775807 ns, polling valid",
		 TEXT_EVENT, WAKEUP, 9100000000, 41, NO, 1, "v", INT64_MAX, WAITED, 0},
		{PREFIX "kvm_vcpu_wakeup: wait time 0 ns, polling valid  ", TEXT_EVENT, WAKEUP,
		 9100000000, 41, NO, 1, "v", 0, WAITED, 0},
		{PREFIX "kvm_vcpu_wakeup: ns=777 waited=1 valid=0", TEXT_EVENT, WAKEUP, 9100000000,
		 41, NO, 1, "v", 777, WAITED | TRACE_EVENT_INVALID, 0},
		{PREFIX "kvm_vcpu_wakeup: [FAILED TO PARSE] ns=777 waited=0 valid=1", TEXT_EVENT,
		 WAKEUP, 9100000000, 41, NO, 1, "v", 777, 0, 0},
		{PREFIX "kvm_exit: [FAILED TO PARSE] exit_reason=12 guest_rip=0x1 isa=1 vcpu_id=3",
		 TEXT_EVENT, TRACE_EVENT_HLT, 9100000000, 41, NO, 1, "v", 3, TRACE_EVENT_HAS_VCPU,
		 0},
		{PREFIX "kvm_exit: exit_reason=0x78 guest_rip=0x1 isa=2", TEXT_EVENT,
		 TRACE_EVENT_HLT, 9100000000, 41, NO, 1, "v", NO, 0, 0},
		{PREFIX "kvm_vcpu_wakeup: wait time -5 ns, polling valid", TEXT_BAD, 0, 0, 0, 0, 0,
		 "", 0, 0, 0},
		{PREFIX "kvm_vcpu_wakeup: wait time 9223372036854775808 ns, polling valid",
		 TEXT_BAD, 0, 0, 0, 0, 0, "", 0, 0, 0},
		{PREFIX "kvm_vcpu_wakeup: wait time 99999999999999999999 ns, polling valid",
		 TEXT_BAD, 0, 0, 0, 0, 0, "", 0, 0, 0},
		{PREFIX "kvm_vcpu_wakeup: wait time 7 us, polling valid", TEXT_BAD, 0, 0, 0, 0, 0,
		 "", 0, 0, 0},
		{PREFIX "kvm_vcpu_wakeup: wait time 7.5 ns, polling valid", TEXT_BAD, 0, 0, 0, 0, 0,
		 "", 0, 0, 0},
		{PREFIX "kvm_vcpu_wakeup: slept time 7 ns, polling valid", TEXT_BAD, 0, 0, 0, 0, 0,
		 "", 0, 0, 0},
		{PREFIX "kvm_vcpu_wakeup: wait time 7 ns, polling validity", TEXT_BAD, 0, 0, 0, 0,
		 0, "", 0, 0, 0},
		/* Cut at any place: it may go on in the next line. */
		{PREFIX "kvm_vcpu_wakeup:", TEXT_PART, 0, 0, 0, 0, 0, "", 0, 0, 0},
		{PREFIX "kvm_vcpu_wakeup: wa", TEXT_PART, 0, 0, 0, 0, 0, "", 0, 0, 0},
		{PREFIX "kvm_vcpu_wakeup: wait time 77", TEXT_PART, 0, 0, 0, 0, 0, "", 0, 0, 0},
		{PREFIX "kvm_vcpu_wakeup: wait time 77 ns,", TEXT_PART, 0, 0, 0, 0, 0, "", 0, 0, 0},
		{PREFIX "kvm_vcpu_wakeup: wait time 77 ns, polling inv", TEXT_PART, 0, 0, 0, 0, 0,
		 "", 0, 0, 0},
		{PREFIX "kvm_halt_poll_ns: vcpu 0: halt_poll_ns 400", TEXT_PART, 0, 0, 0, 0, 0, "",
		 0, 0, 0},
		{PREFIX "kvm_halt_poll_ns: vcpu 0: halt_poll_ns 40000 (grow 20000", TEXT_PART, 0, 0,
		 0, 0, 0, "", 0, 0, 0},
		/* Old kernels print windows signed. */
		{PREFIX "kvm_halt_poll_ns: vcpu 7: halt_poll_ns -294967296 (grow 2000000000)",
		 TEXT_EVENT, WINDOW, 9100000000, 41, NO, 1, "v", 4000000000,
		 GROW | TRACE_EVENT_SIGNED, 2000000000},
		{PREFIX "kvm_halt_poll_ns: vcpu 7: halt_poll_ns -3000000000 (grow 20000)", TEXT_BAD,
		 0, 0, 0, 0, 0, "", 0, 0, 0},
		{PREFIX "kvm_halt_poll_ns: vcpu 7: halt_poll_ns 4294967296 (grow 20000)", TEXT_BAD,
		 0, 0, 0, 0, 0, "", 0, 0, 0},
		{PREFIX "kvm_halt_poll_ns: vcpu -1: halt_poll_ns 1 (grow 20000)", TEXT_BAD, 0, 0, 0,
		 0, 0, "", 0, 0, 0},
		{PREFIX "guest_halt_poll_ns: halt_poll_ns 60000 (grow 30000)", TEXT_EVENT,
		 TRACE_EVENT_GUEST, 9100000000, 41, NO, 1, "v", 60000, GROW, 30000},
		/* Exits of all generations. */
		{PREFIX "kvm_exit: reason HLT rip 0x201 info 0 0", TEXT_EVENT, TRACE_EVENT_HLT,
		 9100000000, 41, NO, 1, "v", NO, 0, 0},
		{PREFIX "kvm_exit: vcpu 3 reason HLT rip 0x201 info1 0x0 info2 0x0", TEXT_EVENT,
		 TRACE_EVENT_HLT, 9100000000, 41, NO, 1, "v", 3,
		 TRACE_EVENT_HAS_VCPU | TRACE_EVENT_EXIT_INFO1, 0},
		{PREFIX "kvm_exit: vcpu 3 reason hlt rip 0x201 info 0 0", TEXT_EVENT,
		 TRACE_EVENT_HLT, 9100000000, 41, NO, 1, "v", 3, TRACE_EVENT_HAS_VCPU, 0},
		{PREFIX "kvm_exit: vcpu 3 reason EPT_VIOLATION rip 0x201 info 384 0", TEXT_EVENT,
		 TRACE_EVENT_EXIT, 9100000000, 41, NO, 1, "v", 3, TRACE_EVENT_HAS_VCPU, 0},
		{PREFIX "kvm_exit: TRAP: HSR_EC: 0x0001 (WFx), PC: 0xffff800010", TEXT_EVENT,
		 TRACE_EVENT_HLT, 9100000000, 41, NO, 1, "v", NO, 0, 0},
		{PREFIX "kvm_userspace_exit: reason KVM_EXIT_HLT (5)", TEXT_EVENT,
		 TRACE_EVENT_USER_HLT, 9100000000, 41, NO, 1, "v", NO, 0, 0},
		{PREFIX "kvm_userspace_exit: reason KVM_EXIT_IO (2)", TEXT_EVENT, TRACE_EVENT_USER,
		 9100000000, 41, NO, 1, "v", NO, 0, 0},
		{PREFIX "kvm_entry: vcpu 2, rip 0x100", TEXT_EVENT, TRACE_EVENT_ENTRY, 9100000000,
		 41, NO, 1, "v", 2, TRACE_EVENT_HAS_VCPU, 0},
		/* The thread of sched_waking is the one that is woken. */
		{PREFIX "sched_waking: comm=a pid=7 b pid=812 prio=120 target_cpu=003", TEXT_EVENT,
		 TRACE_EVENT_WAKING, 9100000000, 812, NO, 1, "", NO, 0, 0},
		{PREFIX "sched_waking: comm=a prio=120", TEXT_PART, 0, 0, 0, 0, 0, "", 0, 0, 0},
		/* Other events are events, and no more. */
		{PREFIX "sched_switch: prev_comm=kvm_vcpu_wakeup: prev_pid=2", TEXT_OTHER, 0, 0, 0,
		 0, 0, "", 0, 0, 0},
		{PREFIX "kvm_fpu: unload", TEXT_OTHER, 0, 0, 0, 0, 0, "", 0, 0, 0},
	};

	(void)state;
	CHECK(rows);
}

static void test_lines_around(void **state)
{
	static const struct row rows[] = {
		{"", TEXT_EMPTY, 0, 0, 0, 0, 0, "", 0, 0, 0},
		{"  > \t\r", TEXT_EMPTY, 0, 0, 0, 0, 0, "", 0, 0, 0},
		{"# tracer: nop", TEXT_NOTE, 0, 0, 0, 0, 0, "", 0, 0, 0},
		{"cpus=8", TEXT_NOTE, 0, 0, 0, 0, 0, "", 0, 0, 0},
		{"CPU 3 is empty", TEXT_NOTE, 0, 0, 0, 0, 0, "", 0, 0, 0},
		{"[  1.5] ---------------------------------", TEXT_NOTE, 0, 0, 0, 0, 0, "", 0, 0,
		 0},
		{"[  1.5] Dumping ftrace buffer:", TEXT_NOTE, 0, 0, 0, 0, 0, "", 0, 0, 0},
		{"\tffffffff810a1b2c kvm_vcpu_halt+0x1c ([kernel.kallsyms])", TEXT_NOTE, 0, 0, 0, 0,
		 0, "", 0, 0, 0},
		{" => kvm_vcpu_block", TEXT_NOTE, 0, 0, 0, 0, 0, "", 0, 0, 0},
		{"CPU:3 [LOST 412 EVENTS]", TEXT_LOST, TRACE_EVENT_LOST, NO_NS, NO, NO, 3, "", 412,
		 0, 0},
		{"> [ 10.5] CPU:3 [LOST 412 EVENTS]", TEXT_LOST, TRACE_EVENT_LOST, NO_NS, NO, NO, 3,
		 "", 412, 0, 0},
		{"CPU:12 [412 EVENTS DROPPED]", TEXT_LOST, TRACE_EVENT_LOST, NO_NS, NO, NO, 12, "",
		 412, 0, 0},
		{"CPU:1 [EVENTS DROPPED]", TEXT_LOST, TRACE_EVENT_LOST, NO_NS, NO, NO, 1, "", 0, 0,
		 0},
		{"CPU:1 [LOST EVENTS]", TEXT_LOST, TRACE_EVENT_LOST, NO_NS, NO, NO, 1, "", 0, 0, 0},
		{"v 41 [001] 9.1: PERF_RECORD_LOST lost 17", TEXT_LOST, TRACE_EVENT_LOST, NO_NS, NO,
		 NO, 1, "", 17, 0, 0},
		{"Processed 90001 events and lost 3 chunks!", TEXT_LOST, TRACE_EVENT_LOST, NO_NS,
		 NO, NO, NO, "", 3, 0, 0},
		{"[ 1.5] ** 12 printk messages dropped **", TEXT_LOST, TRACE_EVENT_LOST, NO_NS, NO,
		 NO, NO, "", 12, 0, 0},
		{"CPU 0: 0 events lost", TEXT_UNKNOWN, 0, 0, 0, 0, 0, "", 0, 0, 0},
		{"I lost my keys", TEXT_UNKNOWN, 0, 0, 0, 0, 0, "", 0, 0, 0},
		{"hello, world", TEXT_UNKNOWN, 0, 0, 0, 0, 0, "", 0, 0, 0},
		{"we see kvm_exit: reason HLT often", TEXT_UNKNOWN, 0, 0, 0, 0, 0, "", 0, 0, 0},
		{"/sys/module/haltpoll/parameters/guest_halt_poll_ns: 200000", TEXT_UNKNOWN, 0, 0,
		 0, 0, 0, "", 0, 0, 0},
		{"name: kvm_vcpu_wakeup", TEXT_UNKNOWN, 0, 0, 0, 0, 0, "", 0, 0, 0},
		/* Beginnings of an event, put on a line of their own by a mailer. */
		{" qemu-system-x86 83801 [090] 10892345.982869:", TEXT_PART, 0, 0, 0, 0, 0, "", 0,
		 0, 0},
		{"   <...>-2677  [001] ", TEXT_PART, 0, 0, 0, 0, 0, "", 0, 0, 0},
		{"   <...>-2677  [001] d..1.", TEXT_PART, 0, 0, 0, 0, 0, "", 0, 0, 0},
		{"[  10.5] x-70 1dN.3. 10607us : kvm_v", TEXT_PART, 0, 0, 0, 0, 0, "", 0, 0, 0},
		/* What others put before lines. */
		{"\xef\xbb\xbfv-41 [001] 9.1: kvm_exit: reason HLT rip 1", TEXT_EVENT,
		 TRACE_EVENT_HLT, 9100000000, 41, NO, 1, "v", NO, 0, 0},
		{"> > v-41 [001] 9.1: kvm_exit: reason HLT rip 1\r", TEXT_EVENT, TRACE_EVENT_HLT,
		 9100000000, 41, NO, 1, "v", NO, 0, 0},
		{"<4>[   10.5] v-41 [001] 9.1: kvm_exit: reason HLT rip 1", TEXT_EVENT,
		 TRACE_EVENT_HLT, 9100000000, 41, NO, 1, "v", NO, 0, 0},
		{"[   10.5][  T123] v-41 [001] 9.1: kvm_exit: reason HLT rip 1", TEXT_EVENT,
		 TRACE_EVENT_HLT, 9100000000, 41, NO, 1, "v", NO, 0, 0},
		{"Nov 30 13:45:01 host kernel: [   10.5] v-41 [001] 9.1: kvm_exit: reason HLT rip "
		 "1",
		 TEXT_EVENT, TRACE_EVENT_HLT, 9100000000, 41, NO, 1, "v", NO, 0, 0},
	};

	(void)state;
	CHECK(rows);
}

static void test_overwritten(void **state)
{
	static const char header[] = "# entries-in-buffer/entries-written: 205/1229   #P:4";
	struct text_line line;

	(void)state;
	assert_int_equal(text_line_parse(&line, header, strlen(header)), TEXT_NOTE);
	assert_int_equal(line.overwritten, 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),	     cmocka_unit_test(test_columns),
		cmocka_unit_test(test_clocks),	     cmocka_unit_test(test_payloads),
		cmocka_unit_test(test_lines_around), cmocka_unit_test(test_overwritten),
	};

	return cmocka_run_group_tests_name("text_line", tests, NULL, NULL);
}
