// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Buffered input that can be looked at before it is consumed, from files and pipes alike.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/reader_format.h"

enum {
	READ_BYTES = 1 << 17, /* at a time: what was read is still in the cache when it is used */
};

/* Moves what is in view to the front, for room behind it and to stay in few pages. */
static void move_to_front(struct reader_input *input)
{
	if (input->begin)
		memmove(input->data, input->data + input->begin, input->end - input->begin);
	input->end -= input->begin;
	input->begin = 0;
}

/* Room for @wanted bytes in view, and to read a good piece behind what is there. */
static int make_room(struct reader_input *input, size_t wanted)
{
	size_t size = input->size ? input->size : 2 * READ_BYTES;
	uint8_t *data;

	if (input->size - input->end < READ_BYTES || input->size - input->begin < wanted)
		move_to_front(input);
	while (size < wanted || size - input->end < READ_BYTES)
		size *= 2;
	if (size == input->size)
		return 0;
	data = realloc(input->data, size);
	if (!data)
		return -ENOMEM;
	input->data = data;
	input->size = size;
	return 0;
}

size_t reader_input_fill(struct reader_input *input, size_t wanted)
{
	while (input->end - input->begin < wanted && !input->eof) {
		ssize_t nr;

		input->error = make_room(input, wanted);
		if (input->error) {
			input->eof = true;
			break;
		}
		nr = read(input->fd, input->data + input->end, READ_BYTES);
		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0)
			input->error = -errno;
		if (nr <= 0)
			input->eof = true;
		else
			input->end += (size_t)nr;
	}
	return input->end - input->begin;
}

/* Steps behind the newline of a line whose beginning was consumed. */
static void skip_line(struct reader_input *input)
{
	size_t view;

	while (input->midline && (view = reader_input_fill(input, 1))) {
		const uint8_t *begin = reader_input_view(input);
		const uint8_t *newline = memchr(begin, '\n', view);

		reader_input_consume(input, newline ? (size_t)(newline - begin) + 1 : view);
		input->midline = !newline;
	}
}

const char *reader_input_line(struct reader_input *input, size_t limit, size_t *nr, bool *whole)
{
	const uint8_t *line, *newline;
	size_t view;

	skip_line(input);
	view = reader_input_fill(input, 1);
	if (!view)
		return NULL;
	newline = memchr(reader_input_view(input), '\n', view);
	if (!newline)
		view = reader_input_fill(input, limit + 1);
	line = reader_input_view(input);
	newline = memchr(line, '\n', view);
	*nr = newline ? (size_t)(newline - line) : view;
	input->midline = *nr > limit;
	if (input->midline)
		*nr = limit + 1;
	if (whole)
		*whole = newline;
	reader_input_consume(input, *nr + (newline && !input->midline));
	return (const char *)line;
}
