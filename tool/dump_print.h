/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* How vhalt dump writes a recording: text for people, JSON lines for programs. */
#ifndef VHALT_TOOL_DUMP_PRINT_H
#define VHALT_TOOL_DUMP_PRINT_H

#include "trace/halt.h"

/** One way to write a recording on stdout. Write errors stay in stdout's error flag. */
struct dump_style {
	void (*info)(const struct trace_info *info, const char *format);
	void (*vm)(uint32_t index, const struct trace_vm *vm);
	void (*vcpu)(uint32_t index, const struct trace_vcpu *vcpu);
	void (*halt)(const struct trace_halt *halt);
	void (*end)(const struct trace_info *info, uint64_t printed);
};

extern const struct dump_style dump_style_text, dump_style_json;

#endif
