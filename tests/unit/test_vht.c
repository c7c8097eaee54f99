// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The .vht file format: what is written is read back, exactly, whatever it is.
#include "tests/unit/vht_file.h"

static void test_empty_recording(void **state)
{
	int fd = memory_file();
	struct trace_info info = test_info;
	struct vht_writer *w;
	struct reading *r;

	(void)state;
	info.has_latency = true;
	assert_int_equal(vht_writer_create(&w, fd, &info), 0);
	assert_int_equal(vht_writer_close(w, 123456789012ULL, 42), 0);
	r = read_fd(fd);
	assert_int_equal(r->open_error, 0);
	assert_int_equal(r->last, 0);
	assert_int_equal(r->nr_reports, 0);
	assert_string_equal(r->format, "vht");
	assert_string_equal(r->info.host, test_info.host);
	assert_string_equal(r->info.kernel, test_info.kernel);
	assert_memory_equal(&r->info.params, &test_info.params, sizeof(test_info.params));
	assert_int_equal(r->info.origin_unix_ns, test_info.origin_unix_ns);
	assert_int_equal(r->info.duration_ns, 123456789012ULL);
	assert_int_equal(r->info.lost, 42);
	assert_int_equal(r->info.damaged_frames, 0);
	assert_true(r->info.has_latency);
	reading_free(r);
}

static void test_unknown_parameters(void **state)
{
	const struct trace_info info = {.params = {TRACE_UNKNOWN_U32, 0, TRACE_UNKNOWN_U32, 1}};
	int fd = memory_file();
	struct vht_writer *w;
	struct reading *r;

	(void)state;
	assert_int_equal(vht_writer_create(&w, fd, &info), 0);
	assert_int_equal(vht_writer_close(w, 0, 0), 0);
	r = read_fd(fd);
	assert_memory_equal(&r->info.params, &info.params, sizeof(info.params));
	assert_string_equal(r->info.host, "");
	assert_false(r->info.has_latency);
	reading_free(r);
}

static uint64_t any_u64(struct rng *rng)
{
	switch (rng_below(rng, 8)) {
	case 0: return rng_next(rng);
	case 1: return ~0ULL - rng_below(rng, 3);
	case 2: return rng_below(rng, 3);
	default: return rng_next(rng) >> rng_below(rng, 64);
	}
}

static uint32_t any_u32(struct rng *rng)
{
	return (uint32_t)any_u64(rng);
}

/* A halt that keeps to no rule but the types'. */
static struct trace_halt wild_halt(struct rng *rng, uint32_t nr_vcpus)
{
	struct trace_halt h = {
		.start_ns = any_u64(rng),
		.halt_ns = any_u64(rng),
		.run_ns = any_u64(rng),
		.deadline_ns = any_u64(rng),
		.latency_ns = any_u32(rng),
		.window_ns = any_u32(rng),
		.old_ns = any_u32(rng),
		.new_ns = any_u32(rng),
		.vcpu = (uint32_t)rng_below(rng, nr_vcpus),
		.flags = (uint32_t)rng_below(rng, 32),
	};

	return h;
}

/* A halt as a host has it, with a rare surprise in one field. */
static struct trace_halt tame_halt(struct rng *rng, struct kvm_vcpu *vcpus, uint32_t nr_vcpus)
{
	uint32_t vcpu = (uint32_t)rng_below(rng, nr_vcpus);
	struct trace_halt h = kvm_halt(&vcpus[vcpu], vcpu, 3000 + rng_below(rng, 4000),
				       rng_below(rng, 4) ? 10000 + rng_below(rng, 40000)
							 : rng_below(rng, 5000000));

	switch (rng_below(rng, 40)) {
	case 0: h.run_ns = VHALT_UNKNOWN_NS; break;
	case 1: h.window_ns = TRACE_UNKNOWN_U32; break;
	case 2: h.old_ns ^= 1; break;
	case 3: h.new_ns ^= 2; break;
	case 4: h.flags |= TRACE_HALT_GAP; break;
	case 5: h.flags |= TRACE_HALT_INVALID; break;
	case 6: h.deadline_ns = rng_below(rng, 4000000); break;
	case 7: h.latency_ns = (uint32_t)rng_below(rng, 20000); break;
	}
	return h;
}

/* Compares vCPU by vCPU: the file keeps the order of each, not that between them. */
static void assert_same_halts(const struct trace_halt *wrote, size_t nr, const struct reading *r,
			      uint32_t nr_vcpus)
{
	assert_int_equal(r->nr, nr);
	for (uint32_t vcpu = 0; vcpu < nr_vcpus; vcpu++) {
		size_t at = 0;

		for (size_t i = 0; i < nr; i++) {
			if (wrote[i].vcpu != vcpu)
				continue;
			while (at < r->nr && r->halts[at].vcpu != vcpu)
				at++;
			assert_true(at < r->nr);
			assert_halt_equal(&wrote[i], &r->halts[at++]);
		}
	}
}

static void round_trip(uint64_t seed, bool wild)
{
	struct rng rng = {seed};
	uint32_t nr_vcpus = 1 + (uint32_t)rng_below(&rng, rng_below(&rng, 4) ? 4 : 60);
	size_t nr = 1 + rng_below(&rng, rng_below(&rng, 3) ? 200 : 20000);
	struct trace_halt *halts = malloc(nr * sizeof(*halts));
	struct kvm_vcpu vcpus[60];
	int fd = memory_file();
	struct vht_writer *w = begin_recording(fd, &test_info, 1, nr_vcpus);
	struct reading *r;

	assert_non_null(halts);
	for (uint32_t i = 0; i < nr_vcpus; i++)
		vcpus[i] = (struct kvm_vcpu){rng_below(&rng, 1000000), 0,
					     50000 + 50000 * (uint32_t)rng_below(&rng, 4)};
	for (size_t i = 0; i < nr; i++) {
		halts[i] = wild ? wild_halt(&rng, nr_vcpus) : tame_halt(&rng, vcpus, nr_vcpus);
		assert_int_equal(vht_writer_add(w, &halts[i]), 0);
		if (!rng_below(&rng, 3000))
			assert_int_equal(vht_writer_flush(w), 0);
	}
	assert_int_equal(vht_writer_close(w, 1, 0), 0);
	r = read_fd(fd);
	assert_int_equal(r->nr_reports, 0);
	assert_int_equal(r->last, 0);
	assert_same_halts(halts, nr, r, nr_vcpus);
	reading_free(r);
	free(halts);
}

static void test_round_trip_tame(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		print_message("# seed %u\n", (unsigned)seed);
		round_trip(seed, false);
	}
}

static void test_round_trip_wild(void **state)
{
	(void)state;
	for (uint64_t seed = 1001; seed <= 1060; seed++) {
		print_message("# seed %u\n", (unsigned)seed);
		round_trip(seed, true);
	}
}

/* Ceilings come to light, rise and fall; each window is read back as it was. */
static void test_ceilings(void **state)
{
	static const uint32_t in_force[] = {TRACE_UNKNOWN_U32,
					    0,
					    10000,
					    320000,
					    320000,
					    90000,
					    90000,
					    120000,
					    120000,
					    320000,
					    70000,
					    80000,
					    TRACE_UNKNOWN_U32,
					    80000,
					    70000,
					    0};
	enum { HALTS = sizeof(in_force) / sizeof(in_force[0]) };

	(void)state;
	/* Every window once with and once without a decision after it. */
	for (uint32_t decided = 0; decided < 1U << HALTS; decided += 211) {
		int fd = memory_file();
		struct vht_writer *w = begin_recording(fd, &test_info, 1, 1);
		struct trace_halt halts[HALTS];
		struct reading *r;

		for (uint32_t i = 0; i < HALTS; i++) {
			halts[i] = (struct trace_halt){.start_ns = 100 * i,
						       .halt_ns = 50,
						       .run_ns = i ? 50 : 0,
						       .deadline_ns = VHALT_NO_DEADLINE_NS,
						       .latency_ns = TRACE_UNKNOWN_U32,
						       .window_ns = in_force[i]};
			if (decided >> i & 1) {
				halts[i].flags = TRACE_HALT_WINDOW | TRACE_HALT_GROW;
				halts[i].old_ns = in_force[i];
				halts[i].new_ns = 320000;
			}
			assert_int_equal(vht_writer_add(w, &halts[i]), 0);
		}
		assert_int_equal(vht_writer_close(w, 1, 0), 0);
		r = read_fd(fd);
		assert_same_halts(halts, HALTS, r, 1);
		reading_free(r);
	}
}

/* Frames are cut at a fixed number of halts; one less, one more and many vCPUs change nothing. */
static void test_frame_boundaries(void **state)
{
	static const size_t counts[] = {1, VHT_HALTS_WRITTEN - 1, VHT_HALTS_WRITTEN,
					VHT_HALTS_WRITTEN + 1};

	(void)state;
	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		int fd = memory_file();
		struct vht_writer *w = begin_recording(fd, &test_info, 1, 1);
		struct kvm_vcpu vcpu = {0, 0, 200000};
		struct reading *r;

		for (size_t i = 0; i < counts[c]; i++) {
			struct trace_halt h = kvm_halt(&vcpu, 0, 5000 + i % 7, 30000 + i % 11);

			assert_int_equal(vht_writer_add(w, &h), 0);
		}
		assert_int_equal(vht_writer_close(w, 1, 0), 0);
		r = read_fd(fd);
		assert_int_equal(r->nr, counts[c]);
		assert_int_equal(r->nr_batches, counts[c] > VHT_HALTS_WRITTEN ? 2 : 1);
		assert_int_equal(r->nr_reports, 0);
		reading_free(r);
	}
}

static void test_many_vcpus(void **state)
{
	enum { VCPUS = 20000 };
	int fd = memory_file();
	struct vht_writer *w = begin_recording(fd, &test_info, 1, VCPUS);
	struct reading *r;

	(void)state;
	for (uint32_t i = 0; i < VCPUS; i++) {
		struct trace_halt h = {.start_ns = i,
				       .halt_ns = 5,
				       .run_ns = i,
				       .vcpu = i,
				       .deadline_ns = VHALT_NO_DEADLINE_NS,
				       .latency_ns = TRACE_UNKNOWN_U32,
				       .window_ns = TRACE_UNKNOWN_U32};

		assert_int_equal(vht_writer_add(w, &h), 0);
	}
	assert_int_equal(vht_writer_close(w, 1, 0), 0);
	r = read_fd(fd);
	assert_int_equal(r->nr_reports, 0);
	assert_int_equal(r->nr, VCPUS);
	assert_int_equal(r->info.nr_vcpus, VCPUS);
	reading_free(r);
}

/* The promise of the format: four bytes for all that is known of a halt. */
static void test_size(void **state)
{
	enum { HALTS = 200000 };
	int fd = memory_file();
	struct vht_writer *w = begin_recording(fd, &test_info, 1, 2);
	struct kvm_vcpu vcpus[2] = {{0, 0, 200000}, {0, 0, 200000}};
	struct rng rng = {4711};
	off_t bytes;

	(void)state;
	for (uint32_t i = 0; i < HALTS; i++) {
		uint64_t run_ns = 0, t_ns = 0;
		struct trace_halt h;

		/* Sums of twelve: near enough to normal. */
		for (int k = 0; k < 12; k++) {
			run_ns += rng_below(&rng, 1500);
			t_ns += rng_below(&rng, 6750);
		}
		h = kvm_halt(&vcpus[i % 2], i % 2, run_ns, t_ns);
		assert_int_equal(vht_writer_add(w, &h), 0);
	}
	assert_int_equal(vht_writer_close(w, 1, 0), 0);
	bytes = lseek(fd, 0, SEEK_END);
	print_message("# %.3f bytes per halt\n", (double)bytes / HALTS);
	assert_true(bytes < 4 * HALTS);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_recording), cmocka_unit_test(test_unknown_parameters),
		cmocka_unit_test(test_round_trip_tame), cmocka_unit_test(test_round_trip_wild),
		cmocka_unit_test(test_ceilings),	cmocka_unit_test(test_frame_boundaries),
		cmocka_unit_test(test_many_vcpus),	cmocka_unit_test(test_size),
	};

	return cmocka_run_group_tests_name("vht", tests, NULL, NULL);
}
