// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Putting events back into order: against sorting, at the edges of its reach, without times.
#include "tests/unit/vht_file.h"

#include "trace/event_order.h"

static struct event_order order;

static bool put(uint64_t time_ns, uint64_t place)
{
	const struct trace_event event = {.time_ns = time_ns, .place = place};

	return event_order_put(&order, &event);
}

/* Moved by less than it holds, all come out sorted; those of equal time in order of arrival. */
static void test_sorts(void **state)
{
	enum { EVENTS = 50000 };
	struct rng rng = {31};
	uint64_t last_ns = 0, last_place = 0, taken = 0, place = 0;
	const struct trace_event *e;

	(void)state;
	memset(&order, 0, sizeof(order));
	while (place < EVENTS || (e = event_order_take(&order))) {
		if (place < EVENTS) {
			place++;
			assert_true(put(place / 4 * 10 + 10000 - rng_below(&rng, 10000), place));
			if (!event_order_full(&order))
				continue;
			e = event_order_take(&order);
		}
		assert_true(e->time_ns > last_ns ||
			    (e->time_ns == last_ns && e->place > last_place));
		last_ns = e->time_ns;
		last_place = e->place;
		taken++;
	}
	assert_int_equal(taken, EVENTS);
	assert_null(event_order_take(&order));
}

static void test_too_late(void **state)
{
	(void)state;
	memset(&order, 0, sizeof(order));
	assert_true(put(100, 1));
	assert_true(put(200, 2));
	assert_false(order.moved);
	assert_true(put(150, 3));
	assert_true(order.moved);
	assert_int_equal(event_order_take(&order)->place, 1);
	assert_false(put(99, 4));
	assert_true(put(100, 5));
	assert_int_equal(event_order_take(&order)->place, 5);
	assert_int_equal(event_order_take(&order)->place, 3);
	assert_int_equal(event_order_take(&order)->place, 2);
	assert_null(event_order_take(&order));
	assert_true(put(200, 6));
	assert_int_equal(event_order_take(&order)->place, 6);
}

/* Without a time an event stays where it came. */
static void test_without_time(void **state)
{
	(void)state;
	memset(&order, 0, sizeof(order));
	assert_true(put(VHALT_UNKNOWN_NS, 1));
	assert_true(put(100, 2));
	assert_true(put(VHALT_UNKNOWN_NS, 3));
	assert_true(put(50, 4));
	assert_int_equal(event_order_take(&order)->place, 1);
	assert_int_equal(event_order_take(&order)->place, 4);
	assert_int_equal(event_order_take(&order)->place, 2);
	assert_int_equal(event_order_take(&order)->place, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorts),
		cmocka_unit_test(test_too_late),
		cmocka_unit_test(test_without_time),
	};

	return cmocka_run_group_tests_name("event_order", tests, NULL, NULL);
}
