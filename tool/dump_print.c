// SPDX-License-Identifier: GPL-2.0-only OR MIT
// How vhalt dump writes a recording: text for people, JSON lines for programs.
#include "tool/dump_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

enum { NUMBER_BYTES = 24 };

/* A number in decimal, or @unknown. */
static const char *number(uint64_t value, bool known, const char *unknown, char buf[NUMBER_BYTES])
{
	if (!known)
		return unknown;
	snprintf(buf, NUMBER_BYTES, "%" PRIu64, value);
	return buf;
}

static const char *number_u32(uint32_t value, const char *unknown, char buf[NUMBER_BYTES])
{
	return number(value, value != TRACE_UNKNOWN_U32, unknown, buf);
}

static const char *number_ns(uint64_t value, const char *unknown, char buf[NUMBER_BYTES])
{
	return number(value, value != VHALT_UNKNOWN_NS, unknown, buf);
}

/* --- text ------------------------------------------------------------------------------------ */

static void text_info(const struct trace_info *info, const char *format)
{
	char a[NUMBER_BYTES], b[NUMBER_BYTES], c[NUMBER_BYTES], d[NUMBER_BYTES], day[32];
	time_t seconds = (time_t)(info->origin_unix_ns / 1000000000);
	struct tm tm;

	printf("# format %s, host %s, kernel %s\n", format, *info->host ? info->host : "-",
	       *info->kernel ? info->kernel : "-");
	if (info->origin_unix_ns && gmtime_r(&seconds, &tm) &&
	    strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm))
		printf("# start_ns 0 is %s.%09" PRIu64 "Z\n", day,
		       info->origin_unix_ns % 1000000000);
	printf("# kvm halt_poll_ns %s, grow %s, grow_start %s, shrink %s; latency %s\n",
	       number_u32(info->params.halt_poll_ns, "-", a), number_u32(info->params.grow, "-", b),
	       number_u32(info->params.grow_start_ns, "-", c),
	       number_u32(info->params.shrink, "-", d),
	       info->has_latency ? "measured" : "not measured");
	printf("#%15s %6s %13s %13s %10s %10s %13s  %s\n", "start_ns", "vcpu", "halt_ns", "run_ns",
	       "window_ns", "latency_ns", "deadline_ns", "what");
}

static void text_vm(uint32_t index, const struct trace_vm *vm)
{
	char ceiling[NUMBER_BYTES];

	printf("# vm %" PRIu32 ": pid %" PRIu32 ", ceiling %s, %s\n", index, vm->pid,
	       number_u32(vm->ceiling_ns, "-", ceiling), vm->name);
}

static void text_vcpu(uint32_t index, const struct trace_vcpu *vcpu)
{
	char nr[NUMBER_BYTES];

	printf("# vcpu %" PRIu32 ": vm %" PRIu32 ", tid %" PRIu32 ", number %s, %s\n", index,
	       vcpu->vm, vcpu->tid, number_u32(vcpu->number, "-", nr), vcpu->name);
}

static void text_halt(const struct trace_halt *h)
{
	char run[NUMBER_BYTES], window[NUMBER_BYTES], latency[NUMBER_BYTES], deadline[NUMBER_BYTES];

	printf("%16" PRIu64 " %6" PRIu32 " %13" PRIu64 " %13s %10s %10s %13s  %s%s%s", h->start_ns,
	       h->vcpu, h->halt_ns, number_ns(h->run_ns, "-", run),
	       number_u32(h->window_ns, "-", window), number_u32(h->latency_ns, "-", latency),
	       number_ns(h->deadline_ns, "-", deadline),
	       h->flags & TRACE_HALT_WAITED ? "blocked" : "polled",
	       h->flags & TRACE_HALT_INVALID ? " invalid" : "",
	       h->flags & TRACE_HALT_GAP ? " gap" : "");
	if (h->flags & TRACE_HALT_WINDOW)
		printf(" %s %" PRIu32 " to %" PRIu32,
		       h->flags & TRACE_HALT_GROW ? "grow" : "shrink", h->old_ns, h->new_ns);
	putchar('\n');
}

static void text_end(const struct trace_info *info, uint64_t printed)
{
	char duration[NUMBER_BYTES];

	printf("# %" PRIu64 " halts printed; recorded for %s ns, %" PRIu64 " events lost, %" PRIu64
	       " damaged parts left out\n",
	       printed, number(info->duration_ns, info->duration_ns, "-", duration), info->lost,
	       info->damaged_frames);
}

const struct dump_style dump_style_text = {
	.info = text_info,
	.vm = text_vm,
	.vcpu = text_vcpu,
	.halt = text_halt,
	.end = text_end,
};

/* --- JSON lines ------------------------------------------------------------------------------ */

/* Readers give printable UTF-8 only, so two characters need care. */
static void put_string(const char *key, const char *text)
{
	printf(",\"%s\":\"", key);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
	putchar('"');
}

static void put_u32(const char *key, uint32_t value)
{
	char buf[NUMBER_BYTES];

	printf(",\"%s\":%s", key, number_u32(value, "null", buf));
}

static void json_info(const struct trace_info *info, const char *format)
{
	printf("{\"type\":\"info\",\"format\":\"%s\"", format);
	put_string("host", info->host);
	put_string("kernel", info->kernel);
	if (info->origin_unix_ns)
		printf(",\"origin_unix_ns\":%" PRIu64, info->origin_unix_ns);
	else
		printf(",\"origin_unix_ns\":null");
	put_u32("halt_poll_ns", info->params.halt_poll_ns);
	put_u32("grow", info->params.grow);
	put_u32("grow_start_ns", info->params.grow_start_ns);
	put_u32("shrink", info->params.shrink);
	printf(",\"has_latency\":%s}\n", info->has_latency ? "true" : "false");
}

static void json_vm(uint32_t index, const struct trace_vm *vm)
{
	printf("{\"type\":\"vm\",\"vm\":%" PRIu32 ",\"pid\":%" PRIu32, index, vm->pid);
	put_u32("ceiling_ns", vm->ceiling_ns);
	put_string("name", vm->name);
	puts("}");
}

static void json_vcpu(uint32_t index, const struct trace_vcpu *vcpu)
{
	printf("{\"type\":\"vcpu\",\"vcpu\":%" PRIu32 ",\"vm\":%" PRIu32 ",\"tid\":%" PRIu32, index,
	       vcpu->vm, vcpu->tid);
	put_u32("number", vcpu->number);
	put_string("name", vcpu->name);
	puts("}");
}

static const char *flag_text(const struct trace_halt *h, uint32_t flag)
{
	return h->flags & flag ? "true" : "false";
}

static void json_halt(const struct trace_halt *h)
{
	char run[NUMBER_BYTES], deadline[NUMBER_BYTES];

	printf("{\"type\":\"halt\",\"vcpu\":%" PRIu32 ",\"start_ns\":%" PRIu64
	       ",\"halt_ns\":%" PRIu64 ",\"run_ns\":%s,\"deadline_ns\":%s",
	       h->vcpu, h->start_ns, h->halt_ns, number_ns(h->run_ns, "null", run),
	       number_ns(h->deadline_ns, "null", deadline));
	put_u32("latency_ns", h->latency_ns);
	put_u32("window_ns", h->window_ns);
	printf(",\"blocked\":%s,\"invalid\":%s,\"gap\":%s", flag_text(h, TRACE_HALT_WAITED),
	       flag_text(h, TRACE_HALT_INVALID), flag_text(h, TRACE_HALT_GAP));
	if (h->flags & TRACE_HALT_WINDOW)
		printf(",\"decision\":\"%s\",\"old_ns\":%" PRIu32 ",\"new_ns\":%" PRIu32 "}\n",
		       h->flags & TRACE_HALT_GROW ? "grow" : "shrink", h->old_ns, h->new_ns);
	else
		printf(",\"decision\":null,\"old_ns\":null,\"new_ns\":null}\n");
}

static void json_end(const struct trace_info *info, uint64_t printed)
{
	char duration[NUMBER_BYTES];

	printf("{\"type\":\"end\",\"halts\":%" PRIu64 ",\"duration_ns\":%s,\"lost\":%" PRIu64
	       ",\"damaged\":%" PRIu64 "}\n",
	       printed, number(info->duration_ns, info->duration_ns, "null", duration), info->lost,
	       info->damaged_frames);
}

const struct dump_style dump_style_json = {
	.info = json_info,
	.vm = json_vm,
	.vcpu = json_vcpu,
	.halt = json_halt,
	.end = json_end,
};
