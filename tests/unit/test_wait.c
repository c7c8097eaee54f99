// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The waiter: kicks, deadlines, polling, sources, signals, statistics. One case per promise of
// vhalt/wait.h. Bounds hold however busy the machine is: a cut poll is counted as such.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "wait_rig.h"

static void pending_kick_ends_next_wait_once(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig, "auto");
	assert_false(vhalt_waiter_kicked(&rig.waiter));
	vhalt_waiter_kick(&rig.waiter);
	vhalt_waiter_kick(&rig.waiter);
	assert_true(vhalt_waiter_kicked(&rig.waiter));
	assert_int_equal(vhalt_waiter_wait(&rig.waiter, VHALT_NO_DEADLINE_NS), VHALT_WAKE_KICK);
	assert_false(vhalt_waiter_kicked(&rig.waiter));
	assert_int_equal(vhalt_waiter_wait(&rig.waiter, 0), VHALT_WAKE_DEADLINE);
	assert_int_equal(rig_stats(&rig).immediate, 2);
	assert_int_equal(rig_stats(&rig).halts, 0);
}

static void passed_deadline_takes_pending_kick(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig, "none");
	vhalt_waiter_kick(&rig.waiter);
	assert_int_equal(vhalt_waiter_wait(&rig.waiter, 1), VHALT_WAKE_KICK);
	assert_int_equal(vhalt_waiter_wait(&rig.waiter, 1), VHALT_WAKE_DEADLINE);
}

static void none_blocks_to_its_deadline(void **state)
{
	struct vhalt_waiter_stats stats;
	struct rig rig;
	uint64_t deadline_ns;

	(void)state;
	rig_init(&rig, "none");
	deadline_ns = now_ns() + 2 * MS;
	assert_int_equal(vhalt_waiter_wait(&rig.waiter, deadline_ns), VHALT_WAKE_DEADLINE);
	assert_true(now_ns() >= deadline_ns);
	stats = rig_stats(&rig);
	assert_int_equal(stats.halts, 1);
	assert_int_equal(stats.halt_wakeup, 1);
	assert_int_equal(stats.deadlines, 1);
	assert_int_equal(stats.halt_attempted_poll, 0);
	assert_int_equal(stats.halt_poll_success_ns + stats.halt_poll_fail_ns, 0);
	assert_true(stats.halt_wait_ns >= 1 * MS);
	assert_int_equal(hist_sum(stats.wait_hist), 1);
	/* Late by what waking took, and counted so. */
	assert_true(stats.latency_ns > 0 && stats.latency_ns < stats.halt_wait_ns);
}

static void short_deadline_is_polled_for(void **state)
{
	struct vhalt_waiter_stats stats;
	struct rig rig;
	uint64_t deadline_ns;

	(void)state;
	rig_init(&rig, "always:max=1s");
	deadline_ns = now_ns() + 1 * MS;
	assert_int_equal(vhalt_waiter_wait(&rig.waiter, deadline_ns), VHALT_WAKE_DEADLINE);
	assert_true(now_ns() >= deadline_ns);
	stats = rig_stats(&rig);
	assert_int_equal(stats.halt_attempted_poll, 1);
	assert_int_equal(stats.halt_successful_poll + stats.cuts, 1);
	assert_int_equal(stats.window_ns, 1000 * MS);
	if (!stats.cuts)
		assert_int_equal(stats.halt_wait_ns, 0);
}

static void poll_ends_with_its_window(void **state)
{
	struct vhalt_waiter_stats stats;
	struct rig rig;

	(void)state;
	rig_init(&rig, "always:max=300us");
	assert_int_equal(vhalt_waiter_wait(&rig.waiter, now_ns() + 20 * MS), VHALT_WAKE_DEADLINE);
	stats = rig_stats(&rig);
	assert_int_equal(stats.halt_attempted_poll, 1);
	assert_int_equal(stats.halt_wakeup, 1);
	assert_true(stats.halt_poll_fail_ns >= 300 * US || stats.cuts == 1);
	assert_int_equal(hist_sum(stats.poll_fail_hist), 1);
	assert_int_equal(hist_sum(stats.poll_success_hist), 0);
	assert_true(stats.halt_wait_ns > 0);
}

/* A peer that kicks once the test says so. */
struct peer {
	struct vhalt_waiter *waiter;
	uint32_t go, message;
};

static void *peer_main(void *arg)
{
	struct peer *peer = arg;

	await(&peer->go, 1);
	__atomic_store_n(&peer->message, 42, __ATOMIC_RELAXED);
	vhalt_waiter_kick(peer->waiter);
	return NULL;
}

static void kicks_end_waits_of(const char *policy, struct vhalt_waiter_stats *stats)
{
	struct rig rig;

	rig_init(&rig, policy);
	for (int i = 0; i < 50; i++) {
		struct peer peer = {.waiter = &rig.waiter};
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, peer_main, &peer), 0);
		post(&peer.go);
		assert_int_equal(vhalt_waiter_wait(&rig.waiter, VHALT_NO_DEADLINE_NS),
				 VHALT_WAKE_KICK);
		assert_int_equal(__atomic_load_n(&peer.message, __ATOMIC_RELAXED), 42);
		pthread_join(thread, NULL);
	}
	*stats = rig_stats(&rig);
	assert_int_equal(stats->halts + stats->immediate, 50);
	assert_int_equal(stats->halts, stats->halt_wakeup + stats->halt_successful_poll);
	assert_int_equal(stats->deadlines, 0);
	assert_int_equal(hist_sum(stats->poll_success_hist), stats->halt_successful_poll);
	assert_int_equal(hist_sum(stats->poll_success_hist) + hist_sum(stats->poll_fail_hist),
			 stats->halt_attempted_poll);
}

static void kick_ends_a_blocked_wait(void **state)
{
	struct vhalt_waiter_stats stats;

	(void)state;
	kicks_end_waits_of("none", &stats);
	assert_int_equal(stats.halt_attempted_poll, 0);
	assert_true(stats.latency_ns <= stats.halt_wait_ns);
}

static void kick_ends_a_poll(void **state)
{
	struct vhalt_waiter_stats stats;

	(void)state;
	kicks_end_waits_of("always:max=4s", &stats);
	/* Met by polling, or the poll was cut and it blocked, or it was not to poll after cuts. */
	assert_true(stats.halt_wakeup <= stats.cuts + stats.forced);
}

static void every_policy_waits(void **state)
{
	const struct vhalt_policy *policy;

	(void)state;
	for (uint32_t id = 0; (policy = vhalt_policy_get(id)); id++) {
		struct vhalt_waiter_stats stats;

		kicks_end_waits_of(policy->name, &stats);
	}
}

/* Stage 2: the deadline is known, so it sleeps first; never back too early. */
static void auto_sleeps_before_a_known_deadline(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig, "auto:sleep=2,latency=20us");
	assert_int_equal(vhalt_thread_prepare(), 0);
	for (int i = 0; i < 100; i++) {
		uint64_t deadline_ns = now_ns() + 1 * MS;

		assert_int_equal(vhalt_waiter_wait(&rig.waiter, deadline_ns), VHALT_WAKE_DEADLINE);
		assert_true(now_ns() >= deadline_ns);
	}
	assert_true(rig_stats(&rig).sleeps > 0);
	assert_int_equal(rig_stats(&rig).deadlines, 100);
}

static void on_signal(int number)
{
	(void)number;
}

static struct vhalt_waiter *to_kick;

static void kick_on_signal(int number)
{
	(void)number;
	errno = 5;
	vhalt_waiter_kick(to_kick);
}

static void set_handler(int number, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler};

	assert_int_equal(sigaction(number, &action, NULL), 0);
}

struct signaller {
	pthread_t target;
	uint32_t waiting;
};

static void *signaller_main(void *arg)
{
	struct signaller *s = arg;

	await(&s->waiting, 1);
	for (int i = 0; i < 20; i++)
		pthread_kill(s->target, SIGUSR1);
	pthread_kill(s->target, SIGUSR2);
	return NULL;
}

static void signals_do_not_end_it_but_may_kick(void **state)
{
	struct signaller s = {.target = pthread_self()};
	pthread_t thread;
	struct rig rig;

	(void)state;
	rig_init(&rig, "none");
	to_kick = &rig.waiter;
	set_handler(SIGUSR1, on_signal);
	set_handler(SIGUSR2, kick_on_signal);
	assert_int_equal(pthread_create(&thread, NULL, signaller_main, &s), 0);
	post(&s.waiting);
	assert_int_equal(vhalt_waiter_wait(&rig.waiter, VHALT_NO_DEADLINE_NS), VHALT_WAKE_KICK);
	pthread_join(thread, NULL);
}

static void errno_is_kept(void **state)
{
	struct rig rig;

	(void)state;
	rig_init(&rig, "none");
	errno = 77;
	assert_int_equal(vhalt_waiter_wait(&rig.waiter, now_ns() + 1 * MS), VHALT_WAKE_DEADLINE);
	assert_int_equal(errno, 77);
	vhalt_waiter_kick(&rig.waiter);
	assert_int_equal(errno, 77);
}

/* --- sources --- */

struct event {
	int fd;
	uint32_t looked, blocked;
};

static bool event_ready(void *arg)
{
	struct event *event = arg;
	uint64_t value;

	event->looked++;
	return read(event->fd, &value, sizeof(value)) == sizeof(value);
}

/* Returning early is allowed: the waiter blocks again. */
static bool event_block(void *arg, uint64_t until_ns)
{
	struct event *event = arg;

	(void)until_ns;
	return ++event->blocked == 3;
}

static void source_is_waited_for(void **state)
{
	struct event event = {.fd = eventfd(0, EFD_NONBLOCK)};
	struct vhalt_source source = {event_ready, event_block, &event};
	struct rig rig;

	(void)state;
	rig_init(&rig, "always:max=50us");
	vhalt_waiter_kick(&rig.waiter);
	assert_int_equal(vhalt_waiter_wait_on(&rig.waiter, &source, VHALT_NO_DEADLINE_NS),
			 VHALT_WAKE_READY);
	assert_int_equal(event.blocked, 3);
	assert_true(event.looked > 1);
	assert_true(vhalt_waiter_kicked(&rig.waiter));
	assert_int_equal(rig_stats(&rig).halt_wakeup, 1);
	assert_int_equal(rig_stats(&rig).latency_ns, 0);

	assert_int_equal(eventfd_write(event.fd, 1), 0);
	assert_int_equal(vhalt_waiter_wait_on(&rig.waiter, &source, 0), VHALT_WAKE_READY);
	event.blocked = 100;
	assert_int_equal(vhalt_waiter_wait_on(&rig.waiter, &source, now_ns() + 1 * MS),
			 VHALT_WAKE_DEADLINE);
	close(event.fd);
}

/* --- configs --- */

static void configs_are_checked(void **state)
{
	struct vhalt_config config, before;
	char error[200] = "";

	(void)state;
	assert_int_equal(vhalt_config_parse(NULL, &config, NULL, 0), 0);
	assert_int_equal(config.policy, VHALT_POLICY_AUTO);
	before = config;
	assert_int_equal(vhalt_config_parse("magic", &config, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "magic"));
	assert_int_equal(vhalt_config_parse("kvm:shrink=x", &config, error, 8), -EINVAL);
	assert_true(strlen(error) < 8);
	assert_int_equal(vhalt_config_parse("auto:price=9999", &config, error, sizeof(error)),
			 -ERANGE);
	assert_memory_equal(&config, &before, sizeof(config));
}

static void waiter_is_one_kib(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct vhalt_waiter), 1024);
	assert_int_equal(_Alignof(struct vhalt_waiter), 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pending_kick_ends_next_wait_once),
		cmocka_unit_test(passed_deadline_takes_pending_kick),
		cmocka_unit_test(none_blocks_to_its_deadline),
		cmocka_unit_test(short_deadline_is_polled_for),
		cmocka_unit_test(poll_ends_with_its_window),
		cmocka_unit_test(kick_ends_a_blocked_wait),
		cmocka_unit_test(kick_ends_a_poll),
		cmocka_unit_test(every_policy_waits),
		cmocka_unit_test(auto_sleeps_before_a_known_deadline),
		cmocka_unit_test(signals_do_not_end_it_but_may_kick),
		cmocka_unit_test(errno_is_kept),
		cmocka_unit_test(source_is_waited_for),
		cmocka_unit_test(configs_are_checked),
		cmocka_unit_test(waiter_is_one_kib),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
