/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The policy engine: how long should a halted vCPU poll before it blocks? */
#ifndef VHALT_POLICY_H
#define VHALT_POLICY_H

#include <vhalt/types.h>

/*
 * Call order, per vCPU:
 *
 *	vhalt_config_init(&config, policy, values)	once per VM or host, slow path
 *	vhalt_state_init(&state, &config)		once per vCPU
 *	for each halt {
 *		plan = vhalt_decide(&state, &config, &hint)	at halt entry
 *		... the driver sleeps plan.sleep_ns, polls for plan.window_ns, then blocks ...
 *		vhalt_update(&state, &config, &outcome)		after the wake-up
 *	}
 *
 * Decide and update touch nothing but their arguments: no clock, allocation, lock, global or
 * floating point, no 64-bit division, no recursion. They cannot fail: values out of range are
 * clamped. They may run in any context, but calls on one state must not overlap. A config may be
 * replaced by another one of the same policy between two calls without resetting the state. A
 * config of another policy needs vhalt_state_init().
 */

/** Windows are 32-bit nanoseconds, as KVM's are. */
#define VHALT_WINDOW_MAX_NS 0xffffffffU

enum vhalt_policy_id {
	VHALT_POLICY_NONE,    /* never poll */
	VHALT_POLICY_ALWAYS,  /* always poll max_ns */
	VHALT_POLICY_TOGGLE,  /* the 2015 adaptive on/off toggle */
	VHALT_POLICY_DYNAMIC, /* the 2015 grow/shrink series */
	VHALT_POLICY_KVM,     /* mainline KVM */
	VHALT_POLICY_GUEST,   /* the cpuidle haltpoll governor */
	VHALT_POLICY_PV,      /* the 2017 paravirt smart idle poll */
	VHALT_POLICY_AUTO,    /* self-tuning by price */
	VHALT_NR_POLICIES,
};

enum vhalt_unit {
	VHALT_UNIT_NS,	   /* a duration in nanoseconds */
	VHALT_UNIT_FACTOR, /* a plain number */
	VHALT_UNIT_BOOL,   /* 0 or 1 */
};

/** One tunable of a policy. Tables of these are the single source of names, defaults and bounds. */
struct vhalt_param {
	const char *name;
	enum vhalt_unit unit;
	uint64_t dflt, min, max; /* inclusive bounds */
	const char *help;	 /* one sentence, lower case, no full stop */
};

/** Most parameters any policy has. */
#define VHALT_PARAMS_MAX 8

/** What a driver knows when a vCPU halts. */
struct vhalt_hint {
	uint64_t run_ns;      /* it ran this long since its last halt ended, or VHALT_UNKNOWN_NS */
	uint64_t deadline_ns; /* from now to its own next timer, or VHALT_NO_DEADLINE_NS */
	bool must_block;      /* another task wants this CPU, or the polling budget is spent */
};

/**
 * What to do with one halt. Both lengths count from the halt's own beginning: a vCPU that sleeps first
 * polls from when it runs again until sleep_ns + window_ns, however long its timer took to wake it.
 */
struct vhalt_plan {
	uint32_t sleep_ns;  /* first block this long (arm a timer); 0: begin to poll at once */
	uint32_t window_ns; /* then poll this long, then block; 0: block without polling */
};

enum vhalt_outcome_flags {
	VHALT_OUTCOME_POLLED = 1 << 0,	  /* the wake-up came while polling (after a planned sleep: or
					   * while its timer was waking the vCPU), not while blocked */
	VHALT_OUTCOME_INVALID = 1 << 1,	  /* the wake-up was spurious (s390) or a signal */
	VHALT_OUTCOME_OWN_TIMER = 1 << 2, /* the vCPU's own timer ended the halt */
	VHALT_OUTCOME_FORCED = 1 << 3,	  /* hint.must_block was set: the window was not the policy's */
	VHALT_OUTCOME_CUT = 1 << 4,	  /* the poll ended early because another task wanted the CPU,
					   * or the wake-up waited for a CPU: length says little */
};

/** How one halt ended. */
struct vhalt_outcome {
	uint64_t halt_ns;   /* halt to running again; includes the wake-up latency L when it blocked */
	uint64_t wake_ns;   /* halt to wake event T by the waker's time stamp, or VHALT_UNKNOWN_NS */
	uint32_t window_ns; /* the window that was really in force */
	uint32_t flags;	    /* enum vhalt_outcome_flags */
};

/** Room for any policy's per-vCPU state: opaque, owned by the caller, no pointers inside. */
struct vhalt_state {
	uint64_t opaque[64];
};

/** Room for any policy's prepared config: opaque behind the policy's index, no pointers inside. */
struct vhalt_config {
	uint32_t policy; /* enum vhalt_policy_id */
	uint32_t reserved;
	uint64_t opaque[31];
};

/** A policy: a table of functions over caller-provided state. */
struct vhalt_policy {
	const char *name;
	const char *summary; /* one sentence, lower case, no full stop */
	uint32_t state_bytes;
	uint32_t nr_params;
	const struct vhalt_param *params;
	void (*prepare)(struct vhalt_config *config, const uint64_t *values);
	void (*init)(struct vhalt_state *state, const struct vhalt_config *config);
	struct vhalt_plan (*decide)(struct vhalt_state *state, const struct vhalt_config *config,
				    const struct vhalt_hint *hint);
	void (*update)(struct vhalt_state *state, const struct vhalt_config *config,
		       const struct vhalt_outcome *outcome);
	uint32_t (*window)(const struct vhalt_state *state, const struct vhalt_config *config);
	/* NULL: the policy has no window of its own */
	void (*set_window)(struct vhalt_state *state, const struct vhalt_config *config,
			   uint32_t window_ns);
};

/** vhalt_policy_get - the policy with this index, or NULL when @id is VHALT_NR_POLICIES or more. */
const struct vhalt_policy *vhalt_policy_get(uint32_t id);

/** vhalt_policy_find - index of the policy called @name, or VHALT_NR_POLICIES. */
uint32_t vhalt_policy_find(const char *name);

/** vhalt_policy_defaults - fill @values (nr_params of them) with the defaults of policy @id. */
void vhalt_policy_defaults(uint32_t id, uint64_t values[VHALT_PARAMS_MAX]);

/**
 * vhalt_config_init - prepare a config; the only place where values are checked.
 * @config:     receives the prepared config, self-contained
 * @id:         enum vhalt_policy_id
 * @values:     one value per parameter, in the order of the policy's table
 * @bad_param:  when not NULL, receives the index of the parameter that is out of bounds
 *
 * Slow path: may divide. Return: 0, -22 (EINVAL: no such policy), -34 (ERANGE: value out of bounds;
 * @config is unchanged).
 */
int vhalt_config_init(struct vhalt_config *config, uint32_t id,
		      const uint64_t values[VHALT_PARAMS_MAX], uint32_t *bad_param);

/** vhalt_state_init - begin a new vCPU under @config: as if it had never halted. */
void vhalt_state_init(struct vhalt_state *state, const struct vhalt_config *config);

/** vhalt_decide - what to do with the halt that begins now. */
struct vhalt_plan vhalt_decide(struct vhalt_state *state, const struct vhalt_config *config,
			       const struct vhalt_hint *hint);

/** vhalt_update - learn from the halt that just ended. */
void vhalt_update(struct vhalt_state *state, const struct vhalt_config *config,
		  const struct vhalt_outcome *outcome);

/**
 * vhalt_window - the window the state holds now, before the next halt's ceiling or hint is applied.
 *
 * This is what KVM's own tracepoint shows as the new window after a grow or shrink; for policies
 * that decide from the hint it is the last window decided.
 */
uint32_t vhalt_window(const struct vhalt_state *state, const struct vhalt_config *config);

/**
 * vhalt_state_set_window - put a known window into the state of a window-keeping policy.
 *
 * For drivers that take over from a running kernel and for checking against one. Policies without a
 * window of their own ignore it.
 */
void vhalt_state_set_window(struct vhalt_state *state, const struct vhalt_config *config,
			    uint32_t window_ns);

#endif
