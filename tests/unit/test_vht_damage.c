// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Damaged .vht files: a flipped bit, a cut tail or a missing piece costs its own frame and no
// other.
#include "tests/unit/vht_file.h"

#include <errno.h>

enum { FRAMES = 4, PER_FRAME = 12, VCPUS = 3, MAX_FRAMES = 16 };

/** A small recording, and where its frames are. */
struct sample {
	struct bytes file;
	struct reading *whole; /* what it reads as */
	unsigned nr_frames;
	size_t begin[MAX_FRAMES + 1];
	struct vht_frame frame[MAX_FRAMES];
};

static void find_frames(struct sample *s)
{
	size_t at = 0;

	s->nr_frames = 0;
	while (at < s->file.nr) {
		struct vht_frame *f = &s->frame[s->nr_frames];

		assert_true(s->nr_frames < MAX_FRAMES);
		assert_int_equal(vht_frame_decode(f, s->file.data + at), 0);
		s->begin[s->nr_frames++] = at;
		at += VHT_HEADER_BYTES + f->stored_bytes;
	}
	s->begin[s->nr_frames] = s->file.nr;
}

/* vCPU 2 halts in the first and the last frame only. */
static struct sample make_sample(void)
{
	struct sample s;
	int fd = memory_file();
	struct vht_writer *w = begin_recording(fd, &test_info, 1, VCPUS);
	struct kvm_vcpu vcpus[VCPUS] = {{0, 0, 200000}, {7, 0, 200000}, {9, 0, 200000}};
	struct rng rng = {2024};

	for (unsigned f = 0; f < FRAMES; f++) {
		for (unsigned i = 0; i < PER_FRAME; i++) {
			uint32_t v = f % (FRAMES - 1) ? i % 2 : i % 3;
			struct trace_halt h = kvm_halt(&vcpus[v], v, 4000 + rng_below(&rng, 2000),
						       5000 + rng_below(&rng, 300000));

			assert_int_equal(vht_writer_add(w, &h), 0);
		}
		assert_int_equal(vht_writer_flush(w), 0);
	}
	assert_int_equal(vht_writer_close(w, 1000000, 0), 0);
	s.file = bytes_of(fd);
	s.whole = read_fd(fd);
	assert_int_equal(s.whole->nr, FRAMES * PER_FRAME);
	assert_int_equal(s.whole->nr_batches, FRAMES);
	assert_int_equal(s.whole->nr_reports, 0);
	find_frames(&s);
	/* info, VMs, vCPUs, the halts, VMs and vCPUs once more, end */
	assert_int_equal(s.nr_frames, 3 + FRAMES + 3);
	return s;
}

static void free_sample(struct sample *s)
{
	reading_free(s->whole);
	free(s->file.data);
}

/* Index of the frame that holds @offset. */
static unsigned frame_at(const struct sample *s, size_t offset)
{
	unsigned f = 0;

	while (s->begin[f + 1] <= offset)
		f++;
	return f;
}

static bool holds_halts(const struct sample *s, unsigned frame)
{
	return s->frame[frame].type == VHT_FRAME_HALTS;
}

/* The batch that frame @frame gives, or -1. */
static int batch_of(const struct sample *s, unsigned frame)
{
	return holds_halts(s, frame) ? (int)frame - 3 : -1;
}

/*
 * @r must hold all batches but @lost (-1: none is), halt for halt; where halts of a vCPU are lost,
 * its next one says so, and no other does.
 */
static void assert_lost_only(const struct sample *s, const struct reading *r, int lost)
{
	bool gap[VCPUS] = {false};
	size_t at = 0;

	for (size_t i = 0; i < s->whole->nr; i++) {
		struct trace_halt expected = s->whole->halts[i];

		if ((int)(i / PER_FRAME) == lost) {
			gap[expected.vcpu] = true;
			continue;
		}
		if (gap[expected.vcpu]) {
			expected.flags |= TRACE_HALT_GAP;
			expected.run_ns = VHALT_UNKNOWN_NS;
			gap[expected.vcpu] = false;
		}
		assert_true(at < r->nr);
		assert_halt_equal(&expected, &r->halts[at++]);
	}
	assert_int_equal(at, r->nr);
}

static void assert_names(const struct reading *r)
{
	assert_int_equal(r->info.nr_vms, 1);
	assert_int_equal(r->info.nr_vcpus, VCPUS);
	assert_string_equal(r->info.vms[0].name, "vm0");
	assert_string_equal(r->info.vcpus[1].name, "CPU 1/KVM");
	assert_int_equal(r->info.vcpus[1].tid, 2001);
}

static void test_every_bit_flip(void **state)
{
	struct sample s = make_sample();
	int fd = memory_file();

	(void)state;
	assert_int_equal(pwrite(fd, s.file.data, s.file.nr, 0), s.file.nr);
	for (size_t bit = 0; bit < s.file.nr * 8; bit++) {
		off_t at = (off_t)bit / 8;
		uint8_t flipped = (uint8_t)(s.file.data[at] ^ 1U << bit % 8);
		unsigned frame = frame_at(&s, (size_t)at);
		char place[40];
		struct reading *r;

		assert_int_equal(pwrite(fd, &flipped, 1, at), 1);
		r = read_fd(dup(fd));
		assert_int_equal(pwrite(fd, &s.file.data[at], 1, at), 1);

		assert_int_equal(r->open_error, 0);
		assert_int_equal(r->last, 0);
		assert_lost_only(&s, r, batch_of(&s, frame));
		assert_int_equal(r->info.damaged_frames, 1);
		snprintf(place, sizeof(place), "file: offset %zu: ", s.begin[frame]);
		assert_non_null(strstr(r->text, place));
		/* Each definition stands twice in the file. */
		assert_names(r);
		reading_free(r);
	}
	close(fd);
	free_sample(&s);
}

static void test_every_truncation(void **state)
{
	struct sample s = make_sample();

	(void)state;
	for (size_t nr = 1; nr < s.file.nr; nr++) {
		unsigned frame = frame_at(&s, nr), whole = 0;
		struct reading *r = read_bytes(s.file.data, nr);
		char place[40];

		while (whole < FRAMES && s.begin[3 + whole + 1] <= nr)
			whole++;
		snprintf(place, sizeof(place), "file: offset %zu: ", s.begin[frame]);
		if (nr < VHT_MAGIC_BYTES) {
			assert_int_equal(r->open_error, -EPROTO);
		} else if (!frame) {
			assert_int_equal(r->open_error, 0);
			assert_int_equal(r->last, -ENODATA);
			assert_non_null(strstr(r->text, place));
		} else {
			assert_int_equal(r->last, 0);
			assert_int_equal(r->nr, whole * PER_FRAME);
			for (size_t i = 0; i < r->nr; i++)
				assert_halt_equal(&s.whole->halts[i], &r->halts[i]);
			assert_int_equal(r->info.damaged_frames, nr > s.begin[frame]);
			assert_int_equal(r->nr_reports, 1);
			assert_non_null(strstr(r->text, place));
		}
		reading_free(r);
	}
	free_sample(&s);
}

/* Puts bytes [from, to) of the sample behind @to_file. */
static void append(struct bytes *to_file, const struct sample *s, size_t from, size_t to)
{
	memcpy(to_file->data + to_file->nr, s->file.data + from, to - from);
	to_file->nr += to - from;
}

static struct bytes room_for(const struct sample *s)
{
	struct bytes b = {malloc(3 * s->file.nr), 0};

	assert_non_null(b.data);
	return b;
}

static void test_missing_frame(void **state)
{
	struct sample s = make_sample();

	(void)state;
	for (unsigned f = 0; f < s.nr_frames; f++) {
		struct bytes b = room_for(&s);
		struct reading *r;

		append(&b, &s, 0, s.begin[f]);
		append(&b, &s, s.begin[f + 1], s.file.nr);
		r = read_bytes(b.data, b.nr);
		assert_int_equal(r->last, 0);
		assert_lost_only(&s, r, batch_of(&s, f));
		assert_names(r);
		assert_int_equal(r->nr_reports, 1);
		assert_int_equal(r->info.damaged_frames, f + 1 < s.nr_frames);
		reading_free(r);
		free(b.data);
	}
	free_sample(&s);
}

/* A run of bytes goes missing within a frame: lengths are right, places are not. */
static void test_missing_bytes(void **state)
{
	struct sample s = make_sample();

	(void)state;
	for (unsigned f = 3; f < 3 + FRAMES; f++) {
		struct bytes b = room_for(&s);
		struct reading *r;

		append(&b, &s, 0, s.begin[f] + VHT_HEADER_BYTES + 5);
		append(&b, &s, s.begin[f] + VHT_HEADER_BYTES + 9, s.file.nr);
		r = read_bytes(b.data, b.nr);
		assert_int_equal(r->last, 0);
		assert_lost_only(&s, r, batch_of(&s, f));
		assert_int_equal(r->nr_reports, 1);
		assert_int_equal(r->info.damaged_frames, 1);
		reading_free(r);
		free(b.data);
	}
	free_sample(&s);
}

/* Bytes of nobody, frames again, and another recording behind: reported, and nothing is lost. */
static void test_extra_bytes(void **state)
{
	struct sample s = make_sample();
	struct bytes b = room_for(&s);
	struct reading *r;

	(void)state;
	append(&b, &s, 0, s.begin[3]);
	append(&b, &s, s.begin[2], s.begin[4]);
	memset(b.data + b.nr, 0x89, 1000); /* the magic's first byte, over and over */
	b.nr += 1000;
	append(&b, &s, s.begin[4], s.begin[5]);
	append(&b, &s, s.begin[3], s.begin[5]);
	append(&b, &s, s.begin[5], s.file.nr);
	append(&b, &s, 0, s.begin[6]);
	r = read_bytes(b.data, b.nr);
	assert_int_equal(r->last, 0);
	assert_lost_only(&s, r, -1);
	assert_int_equal(r->info.damaged_frames, 0);
	assert_int_equal(r->nr_reports, 4);
	assert_non_null(strstr(r->text, "frame 2 again"));
	assert_non_null(strstr(r->text, "no sound frame header: 1000 bytes left out, nothing"));
	assert_non_null(strstr(r->text, "frame 3 again"));
	assert_non_null(strstr(r->text, "another recording"));
	reading_free(r);
	free(b.data);
	free_sample(&s);
}

/* A longer recording in pieces of other sizes: damage in the middle of large frames. */
static void test_large_frames(void **state)
{
	enum { HALTS = 3 * VHT_HALTS_WRITTEN };
	int fd = memory_file();
	struct vht_writer *w = begin_recording(fd, &test_info, 1, 1);
	struct kvm_vcpu vcpu = {0, 0, 200000};
	struct rng rng = {5};
	struct bytes file;
	struct reading *r;

	(void)state;
	for (uint32_t i = 0; i < HALTS; i++) {
		struct trace_halt h = kvm_halt(&vcpu, 0, rng_below(&rng, 10000),
					       rng_below(&rng, 9000));

		assert_int_equal(vht_writer_add(w, &h), 0);
	}
	assert_int_equal(vht_writer_close(w, 1, 0), 0);
	file = bytes_of(fd);
	close(fd);
	memset(file.data + file.nr / 2, 0, 100);
	r = read_bytes(file.data, file.nr);
	assert_int_equal(r->nr, 2 * VHT_HALTS_WRITTEN);
	assert_int_equal(r->info.damaged_frames, 1);
	assert_non_null(strstr(r->text, "payload checksum mismatch"));
	assert_non_null(strstr(r->text, "1 frame with 4096 halts lost"));
	assert_true(r->halts[VHT_HALTS_WRITTEN].flags & TRACE_HALT_GAP);
	assert_int_equal(r->halts[VHT_HALTS_WRITTEN].run_ns, VHALT_UNKNOWN_NS);
	reading_free(r);
	free(file.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_bit_flip), cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_missing_frame),  cmocka_unit_test(test_missing_bytes),
		cmocka_unit_test(test_extra_bytes),    cmocka_unit_test(test_large_frames),
	};

	return cmocka_run_group_tests_name("vht_damage", tests, NULL, NULL);
}
