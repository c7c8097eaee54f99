// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Request and response over loopback TCP, both sides waiting in epoll, a waiter in front of it.
#include "measure/rr.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "measure/clock.h"
#include "util/clock.h"

enum { CLIENT, SERVER, MESSAGE_BYTES = 64 };

/* One end of the connection. */
struct end {
	struct measure_rr *rr;
	int who; /* CLIENT or SERVER */
	int fd, epoll;
	int err;
	pthread_t thread;
};

struct run {
	struct end ends[2];
	uint64_t for_ns;
	struct measure_rr_result *result;
};

static bool end_ready(void *arg)
{
	struct end *end = arg;
	struct epoll_event event;

	return epoll_wait(end->epoll, &event, 1, 0) != 0;
}

static bool end_block(void *arg, uint64_t until_ns)
{
	struct end *end = arg;
	struct epoll_event event;
	struct timespec left;
	uint64_t now_ns = clock_now_ns(), left_ns = until_ns > now_ns ? until_ns - now_ns : 0;

	left.tv_sec = (time_t)(left_ns / 1000000000ULL);
	left.tv_nsec = (long)(left_ns % 1000000000ULL);
	return epoll_pwait2(end->epoll, &event, 1, until_ns == VHALT_NO_DEADLINE_NS ? NULL : &left,
			    NULL) > 0;
}

static void await(struct end *end)
{
	const struct vhalt_source source = {end_ready, end_block, end};

	if (end->rr->bare)
		end_block(end, VHALT_NO_DEADLINE_NS);
	else
		vhalt_waiter_wait_on(&end->rr->waiters[end->who], &source, VHALT_NO_DEADLINE_NS);
}

/* A whole message. Return: 0, -EPIPE (the peer has closed), -errno. */
static int receive(struct end *end)
{
	char message[MESSAGE_BYTES];
	size_t got = 0;

	while (got < sizeof(message)) {
		ssize_t n = recv(end->fd, message + got, sizeof(message) - got, MSG_DONTWAIT);

		if (n > 0)
			got += (size_t)n;
		else if (!n)
			return -EPIPE;
		else if (errno == EAGAIN)
			await(end);
		else if (errno != EINTR)
			return -errno;
	}
	return 0;
}

static int transmit(struct end *end)
{
	static const char message[MESSAGE_BYTES];
	ssize_t n = send(end->fd, message, sizeof(message), MSG_NOSIGNAL);

	return n == MESSAGE_BYTES ? 0 : n < 0 ? -errno : -EIO;
}

static void *server_main(void *arg)
{
	struct end *end = arg;
	int err;

	vhalt_thread_prepare();
	do {
		await(end);
		err = receive(end);
		if (!err)
			err = transmit(end);
	} while (!err);
	end->err = err == -EPIPE ? 0 : err;
	return NULL;
}

static uint64_t cpu_of(pthread_t thread)
{
	clockid_t id;

	return pthread_getcpuclockid(thread, &id) ? 0 : clock_read_ns(id);
}

static uint64_t cpu_of_both(const struct run *run)
{
	return measure_cpu_ns() + cpu_of(run->ends[SERVER].thread);
}

static int round_trip(struct end *end)
{
	int err = transmit(end);

	if (err)
		return err;
	await(end);
	return receive(end);
}

static void *client_main(void *arg)
{
	struct run *run = arg;
	struct end *end = &run->ends[CLIENT];
	struct measure_rr_result *result = run->result;
	uint64_t began_ns = clock_now_ns(), now_ns = began_ns, cpu_ns = 0;
	uint64_t warm_ns = began_ns + run->for_ns / 10, end_ns = warm_ns + run->for_ns;
	bool warm = false;

	vhalt_thread_prepare();
	while (!end->err && now_ns < end_ns) {
		uint64_t before_ns = now_ns;

		if (!warm && now_ns >= warm_ns) {
			warm = true;
			cpu_ns = cpu_of_both(run);
			began_ns = before_ns = clock_now_ns();
		}
		end->err = round_trip(end);
		now_ns = clock_now_ns();
		if (warm && !end->err) {
			uint64_t trip_ns = now_ns - before_ns;

			result->rounds++;
			result->sum_ns += trip_ns;
			replay_hist_add(&result->trips,
					trip_ns > UINT32_MAX ? UINT32_MAX : (uint32_t)trip_ns);
		}
	}
	result->elapsed_ns = now_ns - began_ns;
	result->cpu_ns = cpu_of_both(run) - cpu_ns;
	shutdown(end->fd, SHUT_WR);
	return NULL;
}

/* A connected pair of sockets on 127.0.0.1, client first. */
static int connect_pair(int fds[2])
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof(address);
	const int on = 1;
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	fds[CLIENT] = fds[SERVER] = -1;
	if (listener < 0)
		return -errno;
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &bytes))
		goto err_listener;
	fds[CLIENT] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fds[CLIENT] < 0 || connect(fds[CLIENT], (struct sockaddr *)&address, bytes))
		goto err_listener;
	fds[SERVER] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (fds[SERVER] < 0)
		goto err_listener;
	close(listener);
	for (int i = 0; i < 2; i++)
		setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return 0;

err_listener:;
	int err = -errno;

	close(listener);
	if (fds[CLIENT] >= 0)
		close(fds[CLIENT]);
	fds[CLIENT] = -1;
	return err;
}

static int open_ends(struct run *run, struct measure_rr *rr)
{
	int fds[2], err = connect_pair(fds);

	for (int i = 0; i < 2; i++) {
		struct end *end = &run->ends[i];
		struct epoll_event event = {.events = EPOLLIN};

		*end = (struct end){.rr = rr, .who = i, .fd = fds[i], .epoll = -1};
		if (err)
			continue;
		end->epoll = epoll_create1(EPOLL_CLOEXEC);
		if (end->epoll < 0 || epoll_ctl(end->epoll, EPOLL_CTL_ADD, end->fd, &event))
			err = -errno;
	}
	return err;
}

static void close_ends(struct run *run)
{
	for (int i = 0; i < 2; i++) {
		if (run->ends[i].fd >= 0)
			close(run->ends[i].fd);
		if (run->ends[i].epoll >= 0)
			close(run->ends[i].epoll);
	}
}

void measure_rr_init(struct measure_rr *rr, const struct vhalt_config *config,
		     const unsigned int cpus[2])
{
	rr->bare = !config;
	memcpy(rr->cpus, cpus, sizeof(rr->cpus));
	if (!config)
		return;
	vhalt_engine_init(&rr->engine, config);
	for (int i = 0; i < 2; i++)
		vhalt_waiter_init(&rr->waiters[i], &rr->engine);
}

int measure_rr_run(struct measure_rr *rr, uint64_t for_ns, struct measure_rr_result *result)
{
	struct run run = {.for_ns = for_ns, .result = result};
	pthread_t client;
	int err;

	memset(result, 0, sizeof(*result));
	replay_hist_init(&result->trips);
	err = open_ends(&run, rr);
	if (err)
		goto out;
	err = measure_thread_start(&run.ends[SERVER].thread, rr->cpus[SERVER], server_main,
				   &run.ends[SERVER]);
	if (err)
		goto out;
	err = measure_thread_start(&client, rr->cpus[CLIENT], client_main, &run);
	if (err)
		shutdown(run.ends[CLIENT].fd, SHUT_RDWR);
	else
		pthread_join(client, NULL);
	pthread_join(run.ends[SERVER].thread, NULL);
	if (!err)
		err = run.ends[CLIENT].err ? run.ends[CLIENT].err : run.ends[SERVER].err;
out:
	close_ends(&run);
	return err;
}
