/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* For tests: writes the events of event_maker.h as a trace.dat, version 6 of trace-cmd.dat(5). */
#ifndef TESTS_TRACEDAT_MAKER_H
#define TESTS_TRACEDAT_MAKER_H

#include "tests/unit/event_maker.h"

enum { TRACEDAT_PAGE_BYTES = 4096, TRACEDAT_DATA_BYTES = TRACEDAT_PAGE_BYTES - 16 };

/* Numbers of the events; any will do. */
enum {
	TRACEDAT_ID_WAKEUP = 41,
	TRACEDAT_ID_WINDOW = 31,
	TRACEDAT_ID_EXIT = 50,
	TRACEDAT_ID_ENTRY = 52,
	TRACEDAT_ID_USER = 51,
	TRACEDAT_ID_WAKING = 60
};

#define TRACEDAT_COMMON                                                                            \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char *const tracedat_kvm_formats[] = {
	"name: kvm_vcpu_wakeup\nID: 41\n" TRACEDAT_COMMON
	"\tfield:__u64 ns;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:bool waited;\toffset:16;\tsize:1;\tsigned:0;\n"
	"\tfield:bool valid;\toffset:17;\tsize:1;\tsigned:0;\n\n"
	"print fmt: \"%s time %lld ns, polling %s\", REC->waited ? \"wait\" : \"poll\", REC->ns, "
	"REC->valid ? \"valid\" : \"invalid\"\n",
	"name: kvm_halt_poll_ns\nID: 31\n" TRACEDAT_COMMON
	"\tfield:bool grow;\toffset:8;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned int vcpu_id;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned int new;\toffset:16;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned int old;\toffset:20;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"vcpu %u: halt_poll_ns %u (%s %u)\", REC->vcpu_id, REC->new, REC->grow ? "
	"\"grow\" : \"shrink\", REC->old\n",
	"name: kvm_exit\nID: 50\n" TRACEDAT_COMMON
	"\tfield:unsigned int exit_reason;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:u32 isa;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned int vcpu_id;\toffset:16;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"vcpu %u reason %s rip 0x1000\", REC->vcpu_id, REC->exit_reason == 12 ? "
	"\"HLT\" : \"MSR_WRITE\"\n",
	"name: kvm_entry\nID: 52\n" TRACEDAT_COMMON
	"\tfield:unsigned int vcpu_id;\toffset:8;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"vcpu %u\", REC->vcpu_id\n",
	"name: kvm_userspace_exit\nID: 51\n" TRACEDAT_COMMON
	"\tfield:__u32 reason;\toffset:8;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"reason %s (%d)\", REC->reason == 5 ? \"KVM_EXIT_HLT\" : \"KVM_EXIT_IO\", "
	"REC->reason\n",
};

static const char tracedat_waking_format[] =
	"name: sched_waking\nID: 60\n" TRACEDAT_COMMON
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, REC->prio, "
	"REC->target_cpu\n";

static inline void tracedat_u16(struct made *m, uint16_t value)
{
	made_bytes(m, &value, sizeof(value));
}

static inline void tracedat_u32(struct made *m, uint32_t value)
{
	made_bytes(m, &value, sizeof(value));
}

static inline void tracedat_u64(struct made *m, uint64_t value)
{
	made_bytes(m, &value, sizeof(value));
}

/* A text with its length before it. */
static inline void tracedat_block(struct made *m, const char *text)
{
	tracedat_u64(m, strlen(text));
	made_bytes(m, text, strlen(text));
}

static inline void tracedat_headers(struct made *m, const struct made_name *names, uint32_t cpus)
{
	static const char page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				   "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				   "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				   "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
	static const char event[] = "# compressed entry header\n\ttype_len    :    5 bits\n"
				    "\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n"
				    "\tpadding     : type == 29\n\ttime_extend : type == 30\n"
				    "\ttime_stamp : type == 31\n\tdata max type_len  == 28\n";
	struct made lines = {0};

	made_bytes(m, "\x17\x08\x44tracing6\0\0\x08", 14);
	tracedat_u32(m, TRACEDAT_PAGE_BYTES);
	made_bytes(m, "header_page", 12);
	tracedat_block(m, page);
	made_bytes(m, "header_event", 13);
	tracedat_block(m, event);
	tracedat_u32(m, 0); /* formats of ftrace's own events */
	tracedat_u32(m, 2); /* systems */
	made_bytes(m, "kvm", 4);
	tracedat_u32(m, sizeof(tracedat_kvm_formats) / sizeof(tracedat_kvm_formats[0]));
	for (size_t i = 0; i < sizeof(tracedat_kvm_formats) / sizeof(tracedat_kvm_formats[0]); i++)
		tracedat_block(m, tracedat_kvm_formats[i]);
	made_bytes(m, "sched", 6);
	tracedat_u32(m, 1);
	tracedat_block(m, tracedat_waking_format);
	tracedat_u32(m, 0); /* kallsyms */
	tracedat_u32(m, 0); /* printk formats */
	for (; names->name; names++)
		made_text(&lines, "%u %s\n", names->tid, names->name);
	tracedat_block(m, lines.data ? lines.data : "");
	free(lines.data);
	tracedat_u32(m, cpus);
	made_bytes(m, "options  ", 10);
	tracedat_u16(m, 0);
	made_bytes(m, "flyrecord", 10);
}

/* The record of one event. Return: its length, a multiple of 4. */
static inline size_t tracedat_record(uint8_t record[64], const struct made_event *e)
{
	static const uint16_t ids[] = {TRACEDAT_ID_WAKEUP, TRACEDAT_ID_WINDOW, TRACEDAT_ID_EXIT,
				       TRACEDAT_ID_EXIT,   TRACEDAT_ID_ENTRY,  TRACEDAT_ID_USER,
				       TRACEDAT_ID_USER,   TRACEDAT_ID_WAKING};
	uint32_t words[16] = {ids[e->kind], e->tid};
	size_t nr = 3;

	switch (e->kind) {
	case TRACE_EVENT_WAKEUP:
		memcpy(&words[2], &e->ns, 8);
		words[4] = (e->flags & TRACE_EVENT_WAITED ? 1 : 0) |
			   (e->flags & TRACE_EVENT_INVALID ? 0 : 1 << 8);
		nr = 5;
		break;
	case TRACE_EVENT_WINDOW:
		words[2] = e->flags & TRACE_EVENT_GROW ? 1 : 0;
		words[3] = e->vcpu;
		words[4] = e->new_ns;
		words[5] = e->old_ns;
		nr = 6;
		break;
	case TRACE_EVENT_HLT:
	case TRACE_EVENT_EXIT:
		words[2] = e->kind == TRACE_EVENT_HLT ? 12 : 32;
		words[3] = 1; /* VMX */
		words[4] = e->vcpu;
		nr = 5;
		break;
	case TRACE_EVENT_ENTRY: words[2] = e->vcpu; break;
	case TRACE_EVENT_USER_HLT: words[2] = 5; break;
	case TRACE_EVENT_USER: words[2] = 2; break;
	default: /* WAKING */
		memcpy(&words[2], "woken", 6);
		words[6] = e->vcpu;
		words[7] = 120;
		words[8] = e->cpu;
		nr = 9;
	}
	memcpy(record, words, nr * 4);
	return nr * 4;
}

/* A page of the ring buffer as it is filled. */
struct tracedat_page {
	uint8_t data[TRACEDAT_DATA_BYTES];
	size_t used;
	uint64_t begin_ns, last_ns, lost;
};

static inline void tracedat_end_page(struct made *m, struct tracedat_page *page)
{
	uint64_t commit = page->used;

	if (!page->used)
		return;
	if (page->lost)
		commit |= 1U << 31;
	if (page->lost && page->lost != UINT64_MAX) {
		commit |= 1U << 30;
		memcpy(page->data + page->used, &page->lost, 8);
	}
	tracedat_u64(m, page->begin_ns);
	tracedat_u64(m, commit);
	made_bytes(m, page->data, TRACEDAT_DATA_BYTES);
	memset(page, 0, sizeof(*page));
}

static inline void tracedat_put(struct tracedat_page *page, const void *bytes, size_t nr)
{
	memcpy(page->data + page->used, bytes, nr);
	page->used += nr;
}

/* All pages of @cpu. */
static inline void tracedat_pages(struct made *m, const struct made_event *events, size_t nr,
				  uint32_t cpu)
{
	struct tracedat_page page = {.used = 0};
	uint8_t record[64];

	for (const struct made_event *e = events; e < events + nr; e++) {
		size_t bytes = tracedat_record(record, e);
		uint64_t delta_ns;
		uint32_t head[2];

		if (e->cpu != cpu)
			continue;
		/* What is missing is told at the beginning of a page; room for it at the end. */
		if (e->lost || page.used + bytes + 12 + 8 > TRACEDAT_DATA_BYTES)
			tracedat_end_page(m, &page);
		if (!page.used) {
			page.begin_ns = page.last_ns = e->time_ns;
			page.lost = e->lost;
		}
		delta_ns = e->time_ns - page.last_ns;
		if (delta_ns >= 1U << 27) {
			head[0] = 30 | (uint32_t)(delta_ns & ((1U << 27) - 1)) << 5;
			head[1] = (uint32_t)(delta_ns >> 27);
			tracedat_put(&page, head, 8);
			delta_ns = 0;
		}
		head[0] = (uint32_t)(bytes / 4) | (uint32_t)delta_ns << 5;
		tracedat_put(&page, head, 4);
		tracedat_put(&page, record, bytes);
		page.last_ns = e->time_ns;
	}
	tracedat_end_page(m, &page);
}

/** A whole trace.dat; events of one CPU in the order of time. */
static inline void made_tracedat(struct made *m, const struct made_event *events, size_t nr,
				 const struct made_name *names, uint32_t cpus)
{
	struct made pages = {0};
	size_t table, offset;

	tracedat_headers(m, names, cpus);
	table = m->nr;
	offset = (table + cpus * 16 + TRACEDAT_PAGE_BYTES - 1) / TRACEDAT_PAGE_BYTES *
		 TRACEDAT_PAGE_BYTES;
	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		size_t before = pages.nr;

		tracedat_pages(&pages, events, nr, cpu);
		tracedat_u64(m, offset + before);
		tracedat_u64(m, pages.nr - before);
	}
	while (m->nr < offset)
		made_bytes(m, "", 1);
	if (pages.nr)
		made_bytes(m, pages.data, pages.nr);
	free(pages.data);
}

#endif
