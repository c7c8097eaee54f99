// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Reads traced decisions of the module and makes each of them again with the core.
#include "ctl/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <vhalt/auto.h>
#include <vhalt/policy.h>

/* One line of the trace. */
struct event {
	uint64_t vm, vcpu, seq, factor;
	uint32_t policy, nr_values;
	uint64_t values[VHALT_PARAMS_MAX];
	struct vhalt_outcome outcome;
	struct vhalt_hint hint;
	uint32_t new_ns;
};

/* A vCPU as the module has it. */
struct vcpu {
	uint64_t vm, number;
	bool known;	   /* its state is that of the module */
	uint64_t next_seq; /* with known */
	struct event last; /* with known: the config is of its policy, values and factor */
	struct vhalt_config config;
	struct vhalt_state state;
};

struct checker {
	const char *name;
	uint64_t line;
	struct ctl_check *result;
	struct vcpu *vcpus;
	size_t nr_vcpus, room, last;
};

/* --- reading ------------------------------------------------------------------------------- */

/* The text after " key=", or NULL. The first key follows "vhalt_window: ". */
static const char *find(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (const char *at = strstr(text, key); at; at = strstr(at + 1, key))
		if (at[-1] == ' ' && at[n] == '=')
			return at + n + 1;
	return NULL;
}

static bool read_number(const char *text, const char *key, uint64_t most, uint64_t *value)
{
	const char *at = find(text, key);
	char *end;

	if (!at || *at < '0' || *at > '9')
		return false;
	errno = 0;
	*value = strtoull(at, &end, 10);
	return !errno && (*end == ' ' || *end == '\n' || !*end) && *value <= most;
}

/* "{0xa,0x30d40}"; "{}" for none. */
static bool read_values(const char *text, struct event *e)
{
	const char *at = find(text, "values");
	char *end;

	if (!at || *at++ != '{')
		return false;
	for (e->nr_values = 0; *at != '}'; at = end + (*end == ',')) {
		if (e->nr_values == VHALT_PARAMS_MAX)
			return false;
		e->values[e->nr_values++] = strtoull(at, &end, 0);
		if (end == at || (*end != ',' && *end != '}'))
			return false;
	}
	return true;
}

static bool read_policy(const char *text, struct event *e)
{
	const char *at = find(text, "policy");
	char name[32];
	size_t n = at ? strcspn(at, " \n") : 0;

	if (!n || n >= sizeof(name))
		return false;
	memcpy(name, at, n);
	name[n] = '\0';
	e->policy = vhalt_policy_find(name);
	return e->policy < VHALT_NR_POLICIES && read_values(text, e) &&
	       e->nr_values == vhalt_policy_get(e->policy)->nr_params;
}

static bool read_event(const char *text, struct event *e)
{
	uint64_t window_ns, flags, must_block, new_ns;

	memset(e, 0, sizeof(*e));
	if (!read_policy(text, e) || !read_number(text, "vm", INT32_MAX, &e->vm) ||
	    !read_number(text, "vcpu", INT32_MAX, &e->vcpu) ||
	    !read_number(text, "seq", UINT64_MAX, &e->seq) ||
	    !read_number(text, "factor", UINT32_MAX, &e->factor) ||
	    !read_number(text, "halt_ns", UINT64_MAX, &e->outcome.halt_ns) ||
	    !read_number(text, "run_ns", UINT64_MAX, &e->hint.run_ns) ||
	    !read_number(text, "window_ns", UINT32_MAX, &window_ns) ||
	    !read_number(text, "outcome", UINT32_MAX, &flags) ||
	    !read_number(text, "must_block", 1, &must_block) ||
	    !read_number(text, "new_ns", UINT32_MAX, &new_ns))
		return false;
	e->outcome.wake_ns = VHALT_UNKNOWN_NS;
	e->outcome.window_ns = (uint32_t)window_ns;
	e->outcome.flags = (uint32_t)flags;
	e->hint.deadline_ns = VHALT_NO_DEADLINE_NS;
	e->hint.must_block = must_block;
	e->new_ns = (uint32_t)new_ns;
	return true;
}

/* --- checking ------------------------------------------------------------------------------ */

static struct vcpu *find_vcpu(struct checker *c, const struct event *e)
{
	struct vcpu *v;

	for (size_t i = 0; i < c->nr_vcpus; i++) {
		/* Events of one vCPU tend to follow each other. */
		v = &c->vcpus[(c->last + i) % c->nr_vcpus];
		if (v->vm == e->vm && v->number == e->vcpu) {
			c->last = (size_t)(v - c->vcpus);
			return v;
		}
	}
	if (c->nr_vcpus == c->room) {
		size_t room = c->room ? c->room * 2 : 16;

		v = realloc(c->vcpus, room * sizeof(*v));
		if (!v)
			return NULL;
		c->vcpus = v;
		c->room = room;
	}
	c->last = c->nr_vcpus;
	v = memset(&c->vcpus[c->nr_vcpus++], 0, sizeof(*v));
	v->vm = e->vm;
	v->number = e->vcpu;
	return v;
}

static bool same_config(const struct event *a, const struct event *b)
{
	return a->policy == b->policy && a->factor == b->factor &&
	       !memcmp(a->values, b->values, sizeof(a->values));
}

static int prepare(struct vcpu *v, const struct event *e)
{
	if (v->known && same_config(&v->last, e))
		return 0;
	if (vhalt_config_init(&v->config, e->policy, e->values, NULL))
		return -EINVAL;
	vhalt_auto_scale(&v->config, (uint32_t)e->factor);
	return 0;
}

static void remember_first(struct checker *c, const char *what)
{
	if (!*c->result->first)
		snprintf(c->result->first, sizeof(c->result->first), "%s: line %" PRIu64 ": %s",
			 c->name, c->line, what);
}

static void compare(struct checker *c, const struct event *e, uint32_t here_ns)
{
	char text[160];

	if (e->new_ns == here_ns) {
		c->result->same++;
		return;
	}
	c->result->different++;
	snprintf(text, sizeof(text),
		 "vm %" PRIu64 " vcpu %" PRIu64 " decision %" PRIu64 ": the module chose %" PRIu32
		 " ns, the core here %" PRIu32 " ns",
		 e->vm, e->vcpu, e->seq, e->new_ns, here_ns);
	remember_first(c, text);
}

static int check(struct checker *c, const struct event *e)
{
	struct vcpu *v = find_vcpu(c, e);

	if (!v)
		return -ENOMEM;
	if (e->seq && (!v->known || v->next_seq != e->seq || v->last.policy != e->policy)) {
		v->known = false;
		c->result->unchecked++;
		return 0;
	}
	if (prepare(v, e)) {
		v->known = false;
		c->result->malformed++;
		remember_first(c, "values out of the bounds of this policy");
		return 0;
	}
	if (e->seq) {
		vhalt_update(&v->state, &v->config, &e->outcome);
	} else {
		vhalt_state_init(&v->state, &v->config);
		c->result->vcpus++;
	}
	compare(c, e, vhalt_decide(&v->state, &v->config, &e->hint).window_ns);
	v->known = true;
	v->next_seq = e->seq + 1;
	v->last = *e;
	return 0;
}

/* The next line, or the begin of one that is too long for an event. Return: false at the end. */
static bool next_line(FILE *in, char *line, int bytes)
{
	int c = 0;

	if (!fgets(line, bytes, in))
		return false;
	if (!strchr(line, '\n'))
		while (c != EOF && c != '\n')
			c = getc(in);
	return true;
}

int ctl_check_stream(FILE *in, const char *name, struct ctl_check *result)
{
	enum { LINE_BYTES = 4096 };
	struct checker c = {.name = name, .result = result};
	static const char mark[] = "vhalt_window:";
	char text[LINE_BYTES];
	int err = 0;

	memset(result, 0, sizeof(*result));
	errno = 0;
	while (!err && next_line(in, text, LINE_BYTES)) {
		const char *at = strstr(text, mark);
		struct event e;

		c.line++;
		if (!at)
			continue;
		result->events++;
		if (read_event(at + sizeof(mark) - 1, &e)) {
			err = check(&c, &e);
		} else {
			result->malformed++;
			remember_first(&c, "not a decision this program can read");
		}
	}
	if (!err && ferror(in))
		err = errno ? -errno : -EIO;
	free(c.vcpus);
	return err;
}
