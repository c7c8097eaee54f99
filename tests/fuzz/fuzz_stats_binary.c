// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Fuzz target: KVM's binary statistics; any bytes, and files whose head is sound but for its
// numbers.
#include <linux/kvm.h>

#include "tests/fuzz/fuzz_file.h"

#include "diagnose/stats.h"
#include "stats/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nr);

static const char *const names[] = {
	"halt_successful_poll",
	"halt_attempted_poll",
	"halt_poll_invalid",
	"halt_wakeup",
	"halt_poll_success_ns",
	"halt_poll_fail_ns",
	"halt_wait_ns",
	"halt_poll_success_hist",
	"halt_poll_fail_hist",
	"halt_wait_hist",
	"exits",
	"halt_exits",
	"blocking",
};

enum { NR_NAMES = sizeof(names) / sizeof(names[0]), NAME_BYTES = 24, DESCRIPTORS = 16 };

static void read_it(const void *bytes, size_t nr)
{
	struct findings findings = {.list = NULL};
	struct stats *stats;
	/* A copy of just the length, for the sanitizer to see a step too far. */
	uint8_t *copy = malloc(nr ? nr : 1);

	if (!copy)
		abort();
	memcpy(copy, bytes, nr);
	if (!stats_read_bytes(&stats, copy, nr, "fuzz", &fuzz_diag)) {
		for (uint32_t i = 0; i < stats->nr_values; i++)
			if (stats->values[i].scope >= stats->nr_scopes)
				abort();
		if (diagnose_stats(stats, NULL, NULL, &findings))
			abort();
		findings_fini(&findings);
		stats_destroy(stats);
	}
	free(copy);
}

/* Descriptors from the input's bytes, eight each; the rest of them is the data. */
static void structured(const uint8_t *data, size_t nr)
{
	static uint8_t file[65536];
	size_t nr_desc = nr / 16 < DESCRIPTORS ? nr / 16 : DESCRIPTORS;
	size_t at = sizeof(struct kvm_stats_header) + NAME_BYTES, rest;
	struct kvm_stats_header h = {
		.flags = 0,
		.name_size = NAME_BYTES,
		.num_desc = (uint32_t)nr_desc,
		.id_offset = sizeof(h),
		.desc_offset = (uint32_t)at,
	};

	memset(file, 0, at);
	memcpy(file + sizeof(h), "kvm-1/vcpu-0", 13);
	h.data_offset = (uint32_t)(at + nr_desc * (sizeof(struct kvm_stats_desc) + NAME_BYTES));
	for (size_t i = 0; i < nr_desc; i++, data += 8, nr -= 8) {
		struct kvm_stats_desc d = {
			.flags = (uint32_t)data[0] | (uint32_t)(data[1] & 15) << 8,
			.exponent = (int16_t)(int8_t)data[2],
			.size = (uint16_t)(data[3] % 70),
			.offset = (uint32_t)data[4] * 8 + (data[5] == 255 ? 0xfffffff0U : 0),
			.bucket_size = data[6],
		};

		memcpy(file + at, &d, sizeof(d));
		strncpy((char *)file + at + sizeof(d), names[data[7] % NR_NAMES], NAME_BYTES);
		at += sizeof(d) + NAME_BYTES;
	}
	memcpy(file, &h, sizeof(h));
	rest = nr < sizeof(file) - at ? nr : sizeof(file) - at;
	memcpy(file + at, data, rest);
	read_it(file, at + rest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nr)
{
	if (!nr)
		return 0;
	if (data[0] & 1)
		read_it(data + 1, nr - 1);
	else
		structured(data + 1, nr - 1);
	return 0;
}
