// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Whole event traces as text: from lines to halts, what is said of them, and what is refused.
#include "tests/unit/vht_file.h"

#include <errno.h>

#define WAKE(thread, time, text) thread " [001] d..1. " time ": kvm_vcpu_wakeup: " text "\n"
#define STEP(thread, time, text) thread " [001] d..1. " time ": kvm_halt_poll_ns: " text "\n"
#define EXIT(thread, time, text) thread " [001] d..1. " time ": kvm_exit: " text "\n"
#define VALID			 ", polling valid"

/* What a reading found, and all it saw. */
static struct trace_events found;
static struct trace_event seen[64];
static size_t nr_seen;

static void see(void *context, const struct trace_event *event)
{
	(void)context;
	if (nr_seen < sizeof(seen) / sizeof(seen[0]))
		seen[nr_seen++] = *event;
}

/* As read_bytes(), with the events. */
static struct reading *read_text(const char *text)
{
	struct reading *r = calloc(1, sizeof(*r));
	const struct trace_diag diag = {reading_report, r};
	const struct trace_event_watch watch = {see, NULL};
	const struct trace_halt *batch;
	struct trace_reader *reader;
	int fd = memory_file();

	nr_seen = 0;
	memset(&found, 0, sizeof(found));
	assert_non_null(r);
	assert_int_equal(pwrite(fd, text, strlen(text), 0), strlen(text));
	lseek(fd, 0, SEEK_SET);
	r->open_error = trace_reader_open_fd(&reader, fd, "file", &diag);
	if (r->open_error)
		return r;
	trace_reader_watch(reader, &watch);
	while ((r->last = trace_reader_next(reader, &batch)) > 0) {
		r->halts = realloc(r->halts, (r->nr + (size_t)r->last) * sizeof(*batch));
		assert_non_null(r->halts);
		memcpy(r->halts + r->nr, batch, (size_t)r->last * sizeof(*batch));
		r->nr += (size_t)r->last;
	}
	snprintf(r->format, sizeof(r->format), "%s", trace_reader_format(reader));
	r->info = *trace_reader_info(reader);
	r->info.vms = copy_of(r->info.vms, r->info.nr_vms * sizeof(*r->info.vms));
	r->info.vcpus = copy_of(r->info.vcpus, r->info.nr_vcpus * sizeof(*r->info.vcpus));
	found = *trace_reader_events(reader);
	trace_reader_close(reader);
	return r;
}

static void assert_says(const struct reading *r, const char *text)
{
	if (!strstr(r->text, text))
		fail_msg("\"%s\" is not said; but: %s", text, r->text);
}

/* Decisions belong to the next wake-up of their thread; windows carry over, capped as learnt. */
static void test_windows(void **state)
{
	static const uint32_t windows[] = {0, 10000, 10000, 20000, 200000, 200000};
	struct reading *r = read_text(
		STEP("a-5", "1.000000", "vcpu 0: halt_poll_ns 10000 (grow 0)")
		WAKE("b-6", "1.000001", "poll time 7 ns" VALID)
		WAKE("a-5", "1.000002", "wait time 50000 ns" VALID)
		WAKE("a-5", "1.000020", "poll time 5000 ns" VALID)
		STEP("a-5", "1.000100", "vcpu 0: halt_poll_ns 20000 (grow 10000)")
		WAKE("a-5", "1.000101", "wait time 30000 ns" VALID)
		STEP("a-5", "1.000200", "vcpu 0: halt_poll_ns 320000 (grow 20000)")
		WAKE("a-5", "1.000201", "wait time 50000 ns" VALID)
		STEP("a-5", "1.010000", "vcpu 0: halt_poll_ns 320000 (grow 200000)")
		WAKE("a-5", "1.010001", "wait time 500 ns" VALID)
		WAKE("a-5", "1.020000", "poll time 500 ns" VALID));
	size_t a = 0;

	(void)state;
	assert_string_equal(r->format, "text");
	assert_int_equal(r->nr, 7);
	assert_int_equal(r->info.nr_vcpus, 2);
	for (size_t i = 0; i < r->nr; i++) {
		if (r->info.vcpus[r->halts[i].vcpu].tid == 6) {
			assert_int_equal(r->halts[i].window_ns, TRACE_UNKNOWN_U32);
			continue;
		}
		assert_int_equal(r->halts[i].window_ns, windows[a++]);
	}
	assert_int_equal(a, 6);
	assert_int_equal(found.count[TRACE_EVENT_WAKEUP], 7);
	assert_int_equal(found.count[TRACE_EVENT_WINDOW], 4);
	assert_string_equal(found.layout, "ftrace text");
	assert_int_equal(found.flags_width, 5);
	reading_free(r);
}

/* After a loss the window is unknown, also where the ceiling has been learnt. */
static void test_window_behind_loss(void **state)
{
	static const uint32_t windows[] = {10000, 50000, 25000, TRACE_UNKNOWN_U32,
					   TRACE_UNKNOWN_U32, 20000, 50000};
	struct reading *r = read_text(
		STEP("a-5", "1.000000", "vcpu 0: halt_poll_ns 80000 (grow 10000)")
		WAKE("a-5", "1.000001", "wait time 50 ns" VALID)
		STEP("a-5", "1.000100", "vcpu 0: halt_poll_ns 25000 (shrink 50000)")
		WAKE("a-5", "1.000101", "wait time 50 ns" VALID)
		WAKE("a-5", "1.000200", "wait time 50 ns" VALID)
		"CPU:1 [LOST 7 EVENTS]\n"
		WAKE("a-5", "1.000300", "wait time 50 ns" VALID)
		WAKE("a-5", "1.000400", "wait time 50 ns" VALID)
		STEP("a-5", "1.000500", "vcpu 0: halt_poll_ns 80000 (grow 20000)")
		WAKE("a-5", "1.000501", "wait time 50 ns" VALID)
		WAKE("a-5", "1.000600", "wait time 50 ns" VALID));

	(void)state;
	assert_int_equal(r->nr, 7);
	for (size_t i = 0; i < r->nr; i++)
		assert_int_equal(r->halts[i].window_ns, windows[i]);
	reading_free(r);
}

static void test_times(void **state)
{
	struct reading *r = read_text(
		WAKE("a-5", "2.000100", "wait time 60000 ns" VALID)
		WAKE("a-5", "2.000180", "wait time 30000 ns, polling invalid")
		WAKE("a-5", "2.000190", "poll time 10500 ns" VALID));

	(void)state;
	assert_int_equal(r->nr, 3);
	assert_int_equal(r->halts[0].start_ns, 2000040000);
	assert_int_equal(r->halts[0].run_ns, VHALT_UNKNOWN_NS);
	assert_int_equal(r->halts[1].run_ns, 50000);
	assert_int_equal(r->halts[1].flags, TRACE_HALT_WAITED | TRACE_HALT_INVALID);
	/* Half a microsecond too early is the clock's step, not an overlap. */
	assert_int_equal(r->halts[2].start_ns, 2000180000);
	assert_int_equal(r->halts[2].run_ns, 0);
	assert_int_equal(found.overlaps, 0);
	assert_int_equal(r->info.duration_ns, 150000);
	reading_free(r);
}

/* A loss: nothing carries over, an exit's end is unknown, a wake-up keeps its length. */
static void test_losses(void **state)
{
	struct reading *r = read_text(
		STEP("a-5", "3.000000", "vcpu 0: halt_poll_ns 10000 (grow 0)")
		WAKE("a-5", "3.000010", "wait time 5000 ns" VALID)
		EXIT("b-6", "3.000020", "reason HLT rip 0x1 info 0 0")
		STEP("a-5", "3.000030", "vcpu 0: halt_poll_ns 20000 (grow 10000)")
		"CPU:1 [LOST 702 EVENTS]\n"
		WAKE("a-5", "3.900000", "wait time 6000 ns" VALID)
		EXIT("b-6", "3.900001", "reason MSR_WRITE rip 0x1 info 0 0")
		WAKE("a-5", "3.900020", "poll time 2000 ns" VALID)
		WAKE("c-7", "3.900030", "poll time 2000 ns" VALID));

	(void)state;
	assert_int_equal(r->nr, 4);
	assert_int_equal(r->info.lost, 702);
	assert_int_equal(r->halts[1].halt_ns, 6000);
	assert_int_equal(r->halts[1].flags, TRACE_HALT_WAITED | TRACE_HALT_GAP);
	assert_int_equal(r->halts[1].run_ns, VHALT_UNKNOWN_NS);
	assert_int_equal(r->halts[1].window_ns, TRACE_UNKNOWN_U32);
	assert_int_equal(r->halts[2].flags, 0);
	assert_int_equal(r->halts[2].run_ns, 18000);
	assert_int_equal(r->halts[3].flags, 0); /* a thread that was not there before */
	assert_int_equal(found.unknown_halts, 1);
	assert_int_equal(found.lost_place, 5);
	assert_says(r,
		    "file: line 5: 702 events lost in 1 place, here; nothing carries over a loss; "
		    "1 halt under way then: unknown");
	reading_free(r);
}

/* While one CPU loses events, a thread may have been there between any two of its own. */
static void test_loss_of_one_cpu(void **state)
{
#define ON(cpu, time, text) "a-5 [00" cpu "] d..1. " time ": kvm_vcpu_wakeup: " text "\n"
	static const bool gaps[] = {false, false, true, true, true, false};
	struct reading *r = read_text(
		ON("1", "3.000000", "wait time 100 ns" VALID)
		ON("1", "3.000010", "wait time 100 ns" VALID)
		ON("2", "3.000020", "wait time 100 ns" VALID)
		ON("2", "3.000030", "wait time 100 ns" VALID)
		"CPU:1 [LOST 9 EVENTS]\n"
		ON("1", "3.000040", "wait time 100 ns" VALID)
		ON("2", "3.000050", "wait time 100 ns" VALID));

	(void)state;
	assert_int_equal(r->nr, 6);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(!!(r->halts[i].flags & TRACE_HALT_GAP), gaps[i]);
	assert_int_equal(found.count[TRACE_EVENT_LOST], 1);
	assert_int_equal(nr_seen, 7); /* a loss is seen once */
	reading_free(r);
}

/* Threads are told apart by id: two VMs may call theirs the same, and one may change its name. */
static void test_identity(void **state)
{
	struct reading *r = read_text(
		WAKE("CPU 0/KVM-50 (49)", "4.000000", "poll time 10 ns" VALID)
		WAKE("CPU 0/KVM-60 (59)", "4.000001", "poll time 20 ns" VALID)
		WAKE("<...>-51 (49)", "4.000002", "poll time 30 ns" VALID)
		WAKE("CPU 1/KVM-51 (49)", "4.000003", "poll time 40 ns" VALID)
		WAKE("other-60 (77)", "4.000004", "poll time 50 ns" VALID));

	(void)state;
	assert_int_equal(r->info.nr_vms, 3);
	assert_int_equal(r->info.nr_vcpus, 4);
	assert_int_equal(r->info.vms[0].pid, 49);
	assert_int_equal(r->info.vcpus[2].vm, 0);
	assert_string_equal(r->info.vcpus[2].name, "CPU 1/KVM");
	assert_int_equal(r->info.vcpus[2].number, 1);
	assert_int_equal(r->info.vcpus[3].tid, 60); /* the id came back in another process */
	assert_int_equal(r->info.vms[r->info.vcpus[3].vm].pid, 77);
	assert_int_equal(r->halts[4].run_ns, VHALT_UNKNOWN_NS);
	reading_free(r);

	r = read_text(
		WAKE("CPU 0/KVM-50", "4.000000", "poll time 10 ns" VALID)
		WAKE("CPU 0/KVM-60", "4.000001", "poll time 20 ns" VALID));
	assert_int_equal(r->info.nr_vms, 2);
	assert_int_equal(r->info.vms[0].pid, 0);
	assert_says(r, "which threads are one VM is not in it");
	reading_free(r);
}

static void test_latency(void **state)
{
	struct reading *r = read_text(
		/* Woken before it is known as a vCPU. */
		"x-9 [002] d.h1. 4.999999: sched_waking: comm=a pid=5 prio=120 target_cpu=001\n"
		WAKE("a-5", "5.000000", "wait time 2000 ns" VALID)
		"x-9 [002] d.h1. 5.000190: sched_waking: comm=a pid=5 prio=120 target_cpu=001\n"
		WAKE("a-5", "5.000200", "wait time 50000 ns" VALID)
		"x-9 [002] d.h1. 5.000230: sched_waking: comm=a pid=5 prio=120 target_cpu=001\n"
		WAKE("a-5", "5.000300", "wait time 50000 ns" VALID)
		"x-9 [002] d.h1. 5.000390: sched_waking: comm=a pid=5 prio=120 target_cpu=001\n"
		WAKE("a-5", "5.000400", "poll time 50000 ns" VALID));

	(void)state;
	assert_true(r->info.has_latency);
	assert_int_equal(r->halts[0].latency_ns, 1000);
	assert_int_equal(r->halts[1].latency_ns, 10000);
	assert_int_equal(r->halts[2].latency_ns, TRACE_UNKNOWN_U32); /* before the halt */
	assert_int_equal(r->halts[3].latency_ns, TRACE_UNKNOWN_U32); /* never blocked */
	reading_free(r);
}

static void test_order(void **state)
{
	struct reading *r = read_text(
		WAKE("a-5", "6.000300", "poll time 3 ns" VALID)
		WAKE("a-5", "6.000100", "poll time 1 ns" VALID)
		WAKE("b-6", "6.000400", "poll time 4 ns" VALID)
		WAKE("a-5", "6.000200", "poll time 2 ns" VALID));

	(void)state;
	assert_int_equal(r->nr, 4);
	assert_int_equal(found.out_of_order, 2);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(r->halts[i].halt_ns, i + 1);
	assert_int_equal(r->halts[1].run_ns, 100000 - 2);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(seen[i].ns, i + 1);
	assert_says(r, "2 events out of order, put in place");
	reading_free(r);
}

/* Mail: quoted, wrapped at blanks, and with text around it. */
static void test_mail(void **state)
{
	struct reading *r = read_text(
		"On Monday somebody wrote:\n"
		"> CPU 0/KVM-50 [001] d..1. 7.000100:\n"
		"> kvm_vcpu_wakeup: wait time 10 ns, polling\n"
		"> valid\n"
		"> CPU 0/KVM-50 [001]\n"
		"> d..1. 7.000200: kvm_vcpu_wakeup: poll time 20\n"
		"> ns, polling valid\n"
		">\n"
		"> CPU 0/KVM-50 [001] d..1. 7.000300: kvm_halt_poll_ns: vcpu\n"
		"> 0: halt_poll_ns 10000 (grow 0)\n"
		"> CPU 0/KVM-50 [001] d..1. 7.000301: kvm_vcpu_wakeup: wait time\n"
		"> CPU 0/KVM-50 [001] d..1. 7.000400: kvm_vcpu_wakeup: poll time 40 ns, polling valid\n");

	(void)state;
	assert_int_equal(r->nr, 3);
	assert_int_equal(r->halts[0].halt_ns, 10);
	assert_int_equal(r->halts[1].halt_ns, 20);
	assert_int_equal(r->halts[2].halt_ns, 40);
	assert_int_equal(r->halts[2].old_ns, 0);
	assert_int_equal(found.hints & (TRACE_HINT_QUOTED | TRACE_HINT_WRAPPED),
			 TRACE_HINT_QUOTED | TRACE_HINT_WRAPPED);
	assert_int_equal(found.unreadable, 1);
	assert_int_equal(found.unreadable_place, 11);
	assert_int_equal(found.unknown, 1);
	assert_says(r,
		    "file: line 11: \"> CPU 0/KVM-50 [001] d..1. 7.000301: kvm_vcpu_wakeup: wait "
		    "time\": ends too early; left out");
	assert_says(r, "file: line 1: not understood; 1 such line in all, left out");
	reading_free(r);
}

/* The last line is cut: what it says is not guessed, even where it looks whole. */
static void test_cut(void **state)
{
	static const char whole[] = WAKE("a-5", "8.000100", "wait time 12345 ns" VALID)
		WAKE("a-5", "8.000200", "wait time 22345 ns" VALID);
	size_t first = (size_t)(strchr(whole, '\n') - whole) + 1;

	(void)state;
	for (size_t nr = first; nr < sizeof(whole) - 1; nr++) {
		char text[sizeof(whole)];
		struct reading *r;

		memcpy(text, whole, nr);
		text[nr] = '\0';
		r = read_text(text);
		/* All but the newline is there: so is the event. */
		assert_int_equal(r->nr, nr == sizeof(whole) - 2 ? 2 : 1);
		assert_int_equal(r->halts[0].halt_ns, 12345);
		reading_free(r);
	}
}

static void test_damaged(void **state)
{
	struct reading *r = read_text(
		WAKE("a-5", "9.000100", "wait time 1 ns" VALID)
		WAKE("a-5", "9.000200", "wait time -2 ns" VALID)
		WAKE("a-5", "9.000300", "wait time 3 ns" VALID));

	(void)state;
	assert_int_equal(r->nr, 2);
	assert_int_equal(r->info.damaged_frames, 1);
	assert_says(r,
		    "file: line 2: \"a-5 [001] d..1. 9.000200: kvm_vcpu_wakeup: wait time -2 ns, "
		    "polling valid\": a number is negative; left out");
	reading_free(r);
}

/* A clock that does not measure time, or lines that are there twice. */
static void test_overlaps(void **state)
{
	struct reading *r = read_text(
		WAKE("a-5", "10.000100", "wait time 50000 ns" VALID)
		WAKE("a-5", "10.000100", "wait time 50000 ns" VALID)
		WAKE("a-5", "10.000200", "wait time 50000 ns" VALID));

	(void)state;
	assert_int_equal(r->nr, 3);
	assert_int_equal(found.overlaps, 1);
	assert_int_equal(r->halts[1].run_ns, VHALT_UNKNOWN_NS);
	assert_says(r, "1 halt begins before the one before it ended");
	reading_free(r);
}

/* Recognised, and refused with the reason. */
static void test_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{"5500112233: kvm_halt_poll_ns: vcpu 3: halt_poll_ns 20000 (grow 10000)\n"
		 "5500112244: kvm_halt_poll_ns: vcpu 3: halt_poll_ns 10000 (shrink 20000)\n",
		 "halts cannot be replayed: 2 window changes (kvm_halt_poll_ns), but no wake-ups"},
		{"... kvm:kvm_halt_poll_ns: vcpu 0: halt_poll_ns 22000 (grow 11000)\n",
		 "halts cannot be replayed: 1 window change (kvm_halt_poll_ns), but no wake-ups"},
		{EXIT("a-5", "1.1", "reason HLT rip 0x1 info 0 0")
		 "a-5 [001] .... 1.2: kvm_userspace_exit: reason KVM_EXIT_HLT (5)\n",
		 "1 of 1 HLT exits go on to user space"},
		{EXIT("a-5", "1.1", "reason HLT rip 0x1 info 0 0"),
		 "halts cannot be replayed: 1 HLT exit, but no wake-ups"},
		{EXIT("a-5", "1.1", "reason MSR_WRITE rip 0x1 info 0 0"),
		 "KVM exits and entries, but neither halts nor wake-ups"},
		{" qemu 83 [090] 10892345.982869:\nkvm:kvm_userspace_exit: reason KVM_EXIT_IO (2)\n",
		 "KVM exits and entries, but neither halts nor wake-ups"},
		{"a-5 [001] .... 1.2: guest_halt_poll_ns: halt_poll_ns 60000 (grow 30000)\n",
		 "only a guest's own window"},
		{"a-5 [001] .... 1.2: sched_switch: prev_comm=a\nCPU:1 [LOST 5 EVENTS]\n",
		 "none of its 1 events is KVM's"},
		{"[001] .... 1.2: kvm_vcpu_wakeup: wait time 7 ns, polling valid\n",
		 "cannot be replayed: 1 wake-up (kvm_vcpu_wakeup) without a thread id"},
		{"# tracer: nop\n#\n", "none of its 0 events is KVM's"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct reading *r = read_text(rows[i].text);

		assert_int_equal(r->open_error, 0);
		assert_string_equal(r->format, "text");
		assert_int_equal(r->nr, 0);
		assert_int_equal(r->last, -ENODATA);
		assert_says(r, rows[i].says);
		reading_free(r);
	}
}

/* Lists of numbers stay lists, and prose stays unknown, whatever words are in it. */
static void test_not_traces(void **state)
{
	static const struct {
		const char *text, *format;
	} rows[] = {
		{"# ns per halt\n1000 20\n2000 30 400\n", "ns"},
		{"4242 17\n83801 90\n", "ns"},
		{"1000\nkvm_exit: reason\n2000\n3000\n", "ns"},
		{"we see kvm_exit: reason HLT often\nand kvm_vcpu_wakeup too\n", NULL},
		{"guest_halt_poll_ns: 200000\n", NULL},
		{"kvm_exit: 12345\nkvm_entry: 12345\n", NULL},
		{"kvm statistics - summary\n\n kvm_exit  123  45\n", NULL},
		{"name: kvm_vcpu_wakeup\nID: 41\nformat:\n", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct reading *r = read_bytes(rows[i].text, strlen(rows[i].text));

		assert_int_equal(r->open_error, rows[i].format ? 0 : -EPROTO);
		if (rows[i].format)
			assert_string_equal(r->format, rows[i].format);
		reading_free(r);
	}
}

/* What could not be read, or was left out by who pasted it, is a gap of those it may concern. */
static void test_holes(void **state)
{
	static const struct {
		const char *between;
		bool gap_a, gap_b;
	} rows[] = {
		{"", false, false},
		{WAKE("a-5", "1.000500", "wait time 3x0 ns" VALID), true, false},
		{WAKE("a-5", "1.000500", "wait time 300"), true, true},
		{STEP("a-5", "1.000500", "vcpu 0: halt_poll_ns 4z0 (grow 0)"), true, false},
		{"[...]\n", true, true},
		{"<snip>\n", true, true},
		{"...\n", true, true},
		{"-----\n", false, false},
		{"  <idle>-0 [001] d..2. 1.0005: sched_wakeup: comm=a pid=5\n", false, false},
		{"\033[1m# comment\033[0m\n", false, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[1024];
		struct reading *r;

		snprintf(text, sizeof(text), "%s%s%s%s%s",
			 WAKE("a-5", "1.000100", "wait time 5000 ns" VALID),
			 WAKE("b-6", "1.000200", "wait time 5000 ns" VALID), rows[i].between,
			 WAKE("\033[31ma-5\033[m", "1.001100", "wait time 5000 ns" VALID),
			 WAKE("b-6\xc2\xa0", "1.001200", "wait time 5000 ns" VALID));
		r = read_text(text);
		assert_int_equal(r->nr, 4);
		/* They come thread by thread. */
		assert_int_equal(!!(r->halts[1].flags & TRACE_HALT_GAP), rows[i].gap_a);
		assert_int_equal(!!(r->halts[3].flags & TRACE_HALT_GAP), rows[i].gap_b);
		assert_int_equal(r->halts[1].run_ns == VHALT_UNKNOWN_NS, rows[i].gap_a);
		assert_int_equal(r->halts[3].run_ns == VHALT_UNKNOWN_NS, rows[i].gap_b);
		assert_int_equal(found.unknown, 0);
		reading_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holes),
		cmocka_unit_test(test_windows),	   cmocka_unit_test(test_times),
		cmocka_unit_test(test_window_behind_loss),
		cmocka_unit_test(test_losses),	   cmocka_unit_test(test_loss_of_one_cpu),
		cmocka_unit_test(test_identity),   cmocka_unit_test(test_latency),
		cmocka_unit_test(test_order),	   cmocka_unit_test(test_mail),
		cmocka_unit_test(test_cut),	   cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_overlaps),   cmocka_unit_test(test_refused),
		cmocka_unit_test(test_not_traces),
	};

	return cmocka_run_group_tests_name("event_text", tests, NULL, NULL);
}
