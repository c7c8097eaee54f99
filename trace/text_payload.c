// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What an event of a text trace says: the part behind "kvm_vcpu_wakeup:" and the like.
#include <string.h>

#include "trace/text_line.h"

/* Reading stops for good where text does not fit; how it failed stays. */
struct payload {
	struct text_view view;
	enum text_payload result;
	const char *why;
};

static void fail(struct payload *p, enum text_payload result, const char *why)
{
	if (p->result != TEXT_PAYLOAD_OK)
		return;
	p->result = result;
	p->why = why;
}

/* Is @literal next? Blanks before it do not matter. Takes it if so. */
static bool take_if(struct payload *p, const char *literal)
{
	size_t nr = strlen(literal);

	text_skip_blanks(&p->view);
	if ((size_t)(p->view.end - p->view.at) < nr || memcmp(p->view.at, literal, nr))
		return false;
	p->view.at += nr;
	return true;
}

/* @literal must be next; text that ends within it is cut, other text is wrong. */
static void take(struct payload *p, const char *literal, const char *why)
{
	size_t left;

	if (p->result != TEXT_PAYLOAD_OK || take_if(p, literal))
		return;
	left = (size_t)(p->view.end - p->view.at);
	if (left < strlen(literal) && !memcmp(p->view.at, literal, left))
		fail(p, TEXT_PAYLOAD_PART, "ends too early");
	else
		fail(p, TEXT_PAYLOAD_BAD, why);
}

/* Ends the word just taken here? "valid" is not the beginning of "validity". */
static bool at_word_end(const struct payload *p)
{
	return p->view.at == p->view.end || text_is_blank(*p->view.at);
}

/* A whole number. One at the very end of the text may go on in the next line. */
static uint64_t take_number(struct payload *p, bool may_end, const char *why)
{
	uint64_t value = 0;
	size_t nr;

	if (p->result != TEXT_PAYLOAD_OK)
		return 0;
	text_skip_blanks(&p->view);
	nr = text_digits(p->view);
	if (p->view.at + nr == p->view.end && !(may_end && nr))
		fail(p, TEXT_PAYLOAD_PART, "ends too early");
	else if (!nr)
		fail(p, TEXT_PAYLOAD_BAD, *p->view.at == '-' ? "a number is negative" : why);
	else if (!text_number(p->view.at, nr, &value))
		fail(p, TEXT_PAYLOAD_BAD, "a number exceeds 2^64");
	p->view.at += nr;
	return value;
}

static uint32_t take_u32(struct payload *p, bool may_end, const char *why)
{
	uint64_t value = take_number(p, may_end, why);

	if (value > UINT32_MAX)
		fail(p, TEXT_PAYLOAD_BAD, "a number exceeds 2^32");
	return (uint32_t)value;
}

/* A window. Old kernels print the unsigned value as if it were signed. */
static uint32_t take_window(struct payload *p, struct text_line *line, bool may_end)
{
	uint32_t value;

	text_skip_blanks(&p->view);
	if (p->result != TEXT_PAYLOAD_OK || p->view.at == p->view.end || *p->view.at != '-')
		return take_u32(p, may_end, "a window is no number");
	p->view.at++;
	value = take_u32(p, may_end, "a window is no number");
	if (value > 1U << 31)
		fail(p, TEXT_PAYLOAD_BAD, "a window is below -2^31");
	line->event.flags |= TRACE_EVENT_SIGNED;
	line->hints |= TRACE_HINT_SIGNED;
	return -value;
}

/* "ns=91252 waited=1 valid=1": the fields, where a tool does not know the text. */
static void read_raw_wakeup(struct payload *p, struct text_line *line)
{
	static const char why[] = "not \"ns=N waited=N valid=N\"";
	uint64_t waited, valid = 1;

	line->event.ns = take_number(p, false, why);
	take(p, "waited=", why);
	waited = take_number(p, true, why);
	if (p->result == TEXT_PAYLOAD_OK && take_if(p, "valid="))
		valid = take_number(p, true, why);
	else
		line->event.flags |= TRACE_EVENT_NO_VALID;
	line->event.flags |= (waited ? TRACE_EVENT_WAITED : 0) | (valid ? 0 : TRACE_EVENT_INVALID);
	line->hints |= TRACE_HINT_RAW;
}

static void read_validity(struct payload *p, struct text_line *line)
{
	if (!take_if(p, ",")) {
		if (!at_word_end(p))
			fail(p, TEXT_PAYLOAD_BAD, "the length is not in ns");
		line->event.flags |= TRACE_EVENT_NO_VALID;
		return;
	}
	take(p, "polling", "not \", polling valid\" or \"invalid\"");
	if (p->result == TEXT_PAYLOAD_OK && take_if(p, "invalid"))
		line->event.flags |= TRACE_EVENT_INVALID;
	else
		take(p, "valid", "not \", polling valid\" or \"invalid\"");
	/* "in" is the beginning of "invalid", as far as this line goes. */
	if (p->result == TEXT_PAYLOAD_BAD && p->view.end - p->view.at < 7 &&
	    !memcmp(p->view.at, "invalid", (size_t)(p->view.end - p->view.at))) {
		p->result = TEXT_PAYLOAD_PART;
		p->why = "ends too early";
	}
	if (p->result == TEXT_PAYLOAD_OK && !at_word_end(p))
		fail(p, TEXT_PAYLOAD_BAD, "not \", polling valid\" or \"invalid\"");
}

/* "wait time 91252 ns, polling valid", before Linux 4.7 without what follows the comma. */
static void read_wakeup(struct payload *p, struct text_line *line)
{
	static const char why[] = "not \"wait time N ns\" or \"poll time N ns\"";

	line->event.kind = TRACE_EVENT_WAKEUP;
	if (take_if(p, "ns=")) {
		read_raw_wakeup(p, line);
	} else {
		if (take_if(p, "wait"))
			line->event.flags |= TRACE_EVENT_WAITED;
		else
			take(p, p->view.at < p->view.end && *p->view.at == 'w' ? "wait" : "poll",
			     why);
		take(p, "time", why);
		line->event.ns = take_number(p, false, why);
		take(p, "ns", "the length is not in ns");
		if (p->result == TEXT_PAYLOAD_OK)
			read_validity(p, line);
	}
	if (line->event.ns > INT64_MAX)
		fail(p, TEXT_PAYLOAD_BAD, "a halt of more than 2^63 ns");
	if (line->event.flags & TRACE_EVENT_NO_VALID)
		line->hints |= TRACE_HINT_NO_VALID;
}

/* "halt_poll_ns 10000 (grow 0)" */
static void read_change(struct payload *p, struct text_line *line)
{
	static const char why[] = "not \"halt_poll_ns N (grow N)\" or \"(shrink N)\"";

	take(p, "halt_poll_ns", why);
	line->event.new_ns = take_window(p, line, false);
	take(p, "(", why);
	if (p->result == TEXT_PAYLOAD_OK && take_if(p, "grow"))
		line->event.flags |= TRACE_EVENT_GROW;
	else
		take(p, p->view.at < p->view.end && *p->view.at == 'g' ? "grow" : "shrink", why);
	line->event.old_ns = take_window(p, line, false);
	take(p, ")", why);
}

/* "vcpu 0: halt_poll_ns 10000 (grow 0)" */
static void read_window(struct payload *p, struct text_line *line)
{
	static const char why[] = "not \"vcpu N: halt_poll_ns N (grow N)\"";

	line->event.kind = TRACE_EVENT_WINDOW;
	if (take_if(p, "grow=")) {
		static const char raw[] = "not \"grow=N vcpu_id=N new=N old=N\"";

		line->event.flags |= take_u32(p, false, raw) ? TRACE_EVENT_GROW : 0;
		take(p, "vcpu_id=", raw);
		line->event.vcpu = take_u32(p, false, raw);
		take(p, "new=", raw);
		line->event.new_ns = take_window(p, line, false);
		take(p, "old=", raw);
		line->event.old_ns = take_window(p, line, true);
		line->hints |= TRACE_HINT_RAW;
		return;
	}
	take(p, "vcpu", why);
	line->event.vcpu = take_u32(p, false, why);
	take(p, ":", why);
	read_change(p, line);
}

static void read_guest(struct payload *p, struct text_line *line)
{
	line->event.kind = TRACE_EVENT_GUEST;
	read_change(p, line);
}

/* "vcpu 3", where the layout has it. The line need not go on behind it. */
static bool read_vcpu(struct payload *p, struct text_line *line)
{
	if (!take_if(p, "vcpu"))
		return false;
	line->event.vcpu = take_u32(p, true, "the vCPU is no number");
	take_if(p, ",");
	line->event.flags |= TRACE_EVENT_HAS_VCPU;
	return true;
}

static struct text_view take_word(struct payload *p)
{
	struct text_view word;

	text_skip_blanks(&p->view);
	word = (struct text_view){p->view.at, p->view.at};
	while (word.end < p->view.end && !text_is_blank(*word.end))
		word.end++;
	p->view.at = word.end;
	if (word.at == word.end)
		fail(p, TEXT_PAYLOAD_PART, "ends too early");
	return word;
}

static bool is_word(struct text_view word, const char *text)
{
	return (size_t)(word.end - word.at) == strlen(text) && !memcmp(word.at, text, strlen(text));
}

static bool contains(struct text_view view, const char *text)
{
	return memmem(view.at, (size_t)(view.end - view.at), text, strlen(text));
}

/* The number behind "name=" anywhere in the rest; decimal or 0x. */
static bool raw_field(const struct payload *p, const char *name, uint64_t *value)
{
	size_t nr = strlen(name);
	const char *at = memmem(p->view.at, (size_t)(p->view.end - p->view.at), name, nr);
	struct text_view v;

	if (!at)
		return false;
	v = (struct text_view){at + nr, p->view.end};
	if (v.end - v.at < 3 || v.at[0] != '0' || v.at[1] != 'x')
		return text_number(v.at, text_digits(v), value);
	*value = 0;
	for (v.at += 2; v.at < v.end && *value < 1ULL << 60; v.at++) {
		const char *hex = memchr("0123456789abcdef", *v.at | 0x20, 16);

		if (!hex && !text_is_digit(*v.at))
			break;
		*value = *value * 16 +
			 (uint64_t)(text_is_digit(*v.at) ? *v.at - '0' : (*v.at | 0x20) - 'a' + 10);
	}
	return true;
}

/* "exit_reason=12 guest_rip=0x1 isa=1 ... vcpu_id=0", where a tool does not know the names. */
static bool read_raw_exit(const struct payload *p, struct text_line *line)
{
	enum { VMX = 1, SVM = 2, VMX_HLT = 12, SVM_HLT = 0x78 };
	uint64_t reason, isa, vcpu;

	if (!raw_field(p, "exit_reason=", &reason))
		return false;
	if (raw_field(p, " isa=", &isa) &&
	    ((isa == VMX && reason == VMX_HLT) || (isa == SVM && reason == SVM_HLT)))
		line->event.kind = TRACE_EVENT_HLT;
	if (raw_field(p, " vcpu_id=", &vcpu) && vcpu <= INT32_MAX) {
		line->event.vcpu = (uint32_t)vcpu;
		line->event.flags |= TRACE_EVENT_HAS_VCPU;
	}
	line->hints |= TRACE_HINT_RAW;
	return true;
}

/* "[vcpu 0] reason HLT rip ...", on arm64 "TRAP: HSR_EC: 0x0001 (WFx), PC: ..." */
static void read_exit(struct payload *p, struct text_line *line)
{
	struct text_view reason;

	line->event.kind = TRACE_EVENT_EXIT;
	if (read_raw_exit(p, line))
		return;
	if (read_vcpu(p, line))
		line->hints |= TRACE_HINT_EXIT_VCPU;
	text_skip_blanks(&p->view);
	if (p->result == TEXT_PAYLOAD_OK && take_if(p, "reason")) {
		reason = take_word(p);
		if (is_word(reason, "HLT") || is_word(reason, "hlt") ||
		    is_word(reason, "EXIT_HLT") || is_word(reason, "SVM_EXIT_HLT"))
			line->event.kind = TRACE_EVENT_HLT;
		if (reason.at < reason.end && *reason.at >= 'a' && *reason.at <= 'z')
			line->hints |= TRACE_HINT_LOWER;
		if (!(line->event.flags & TRACE_EVENT_HAS_VCPU))
			line->hints |= TRACE_HINT_EXIT_NO_VCPU;
	} else if (p->view.at == p->view.end) {
		fail(p, TEXT_PAYLOAD_PART, "ends too early");
	} else if (contains(p->view, "(WFx)") || contains(p->view, "WFX") ||
		   contains(p->view, "(WFI)")) {
		line->event.kind = TRACE_EVENT_HLT;
		line->hints |= TRACE_HINT_WFX;
	}
	if (contains(p->view, "info1")) {
		line->event.flags |= TRACE_EVENT_EXIT_INFO1;
		line->hints |= TRACE_HINT_EXIT_INFO1;
	}
}

/* "reason KVM_EXIT_HLT (5)" */
static void read_user(struct payload *p, struct text_line *line)
{
	struct text_view reason;

	take(p, "reason", "not \"reason ...\"");
	reason = take_word(p);
	line->event.kind = is_word(reason, "KVM_EXIT_HLT") ? TRACE_EVENT_USER_HLT
							   : TRACE_EVENT_USER;
}

static void read_entry(struct payload *p, struct text_line *line)
{
	line->event.kind = TRACE_EVENT_ENTRY;
	read_vcpu(p, line);
}

/* "comm=CPU 0/KVM pid=1234 prio=120 ...". The name may hold anything, so it is read backwards. */
static void read_waking(struct payload *p, struct text_line *line)
{
	struct text_view v = p->view;
	const char *at;
	uint64_t tid = 0;

	line->event.kind = TRACE_EVENT_WAKING;
	line->event.name[0] = '\0';
	line->event.pid = TRACE_UNKNOWN_U32;
	for (at = v.end; at > v.at; at--)
		if (v.end - at > 5 && !memcmp(at, " pid=", 5) && text_is_digit(at[5]))
			break;
	if (at == v.at) {
		fail(p, TEXT_PAYLOAD_PART, "has no \"pid=N\"");
		return;
	}
	p->view.at = at + 5;
	tid = take_number(p, false, "has no \"pid=N\"");
	if (tid > INT32_MAX)
		fail(p, TEXT_PAYLOAD_BAD, "the thread id exceeds 2^31");
	line->event.tid = tid ? (uint32_t)tid : TRACE_UNKNOWN_U32;
}

static const struct row {
	const char *name;
	size_t nr;
	void (*read)(struct payload *p, struct text_line *line);
} rows[] = {
	{"kvm_vcpu_wakeup", 15, read_wakeup},
	{"kvm_halt_poll_ns", 16, read_window},
	{"kvm_exit", 8, read_exit},
	{"kvm_entry", 9, read_entry},
	{"kvm_userspace_exit", 18, read_user},
	{"sched_waking", 12, read_waking},
	{"guest_halt_poll_ns", 18, read_guest},
};

int text_payload_kind(const char *name, size_t nr)
{
	for (int i = 0; i < (int)(sizeof(rows) / sizeof(rows[0])); i++)
		if (nr == rows[i].nr && !memcmp(name, rows[i].name, nr))
			return i;
	return -1;
}

enum text_payload text_payload_parse(struct text_line *line, int kind, struct text_view view,
				     const char **why)
{
	struct payload p = {view, TEXT_PAYLOAD_OK, NULL};

	text_trim_end(&p.view);
	take_if(&p, "[FAILED TO PARSE]");
	rows[kind].read(&p, line);
	*why = p.why;
	return p.result;
}
