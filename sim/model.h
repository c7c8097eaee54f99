/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The simulator's entities: host CPUs, vCPUs, guest threads, locks, VMs, and the world they are in.
 */
#ifndef VHALT_SIM_MODEL_H
#define VHALT_SIM_MODEL_H

#include <vhalt/boost.h>
#include <vhalt/budget.h>
#include <vhalt/policy.h>

#include "sim/config.h"
#include "sim/event.h"
#include "sim/rq.h"
#include "suite/rng.h"

/*
 * Entities are numbered and lie in arrays of the world; they refer to each other by number, so a
 * world is small and runs the same at any address. Layers, each of which calls down and is called
 * back only through events:
 *
 *	workload   what a thread does next				workload_*.c
 *	guest      threads on vCPUs, locks, interrupts			guest*.c lock.c
 *	vcpu       what a vCPU does with its CPU: run, spin, poll	vcpu.c halt.c spin.c
 *	host       vCPUs on pCPUs					host*.c
 *
 * Whatever would call up (a lock handed to a spinning vCPU, a wake-up that preempts) arms an event
 * or marks a pCPU for rescheduling instead, and happens when the present event is done.
 */

enum sim_vcpu_state {
	SIM_VCPU_BLOCKED,  /* halted, off CPU */
	SIM_VCPU_RUNNABLE, /* waits for a pCPU */
	SIM_VCPU_RUNNING,  /* has one; polling for a halt counts */
};

/** What a vCPU does, or would do if it had a pCPU. */
enum sim_act {
	SIM_ACT_RUN,  /* its current thread's segment */
	SIM_ACT_SPIN, /* its current thread waits with PAUSE: lock, mutex owner or IPI answers */
	SIM_ACT_WAKE, /* comes back from a halt */
	SIM_ACT_GUEST_POLL, /* idle, polls inside the guest */
	SIM_ACT_HOST_POLL,  /* halted, the host polls */
	SIM_ACT_SLEEP,	    /* halted, blocked until a planned poll */
	SIM_ACT_BLOCK,	    /* halted, blocked */
};

enum sim_pending {
	SIM_PENDING_TICK = 1 << 0,
	SIM_PENDING_RESCHED = 1 << 1,
	SIM_PENDING_FLUSH = 1 << 2,
};

/** How far the guest's own polling has come in this idle period. */
enum sim_guest_poll { SIM_GUEST_POLL_NONE, SIM_GUEST_POLL_POLLS, SIM_GUEST_POLL_HALTED };

struct sim_vcpu {
	struct sim_rq_node node; /* in its pCPU's queue */
	uint64_t vruntime;	 /* relative to its pCPU's while it waits or runs */
	uint64_t since_ns;	 /* accounted up to here, in whatever state it is */
	uint64_t picked_ns;	 /* got its pCPU then */
	uint64_t busy_until_ns;	 /* host and entry work until then */
	uint64_t end_ns;	 /* what it does now ends then, if it keeps its pCPU */
	uint64_t left_ns;	 /* off CPU: what was left of that */
	uint64_t debt_ns;	 /* interrupt work to be added to the running segment */
	uint64_t ple_ns;	 /* PAUSE window in force */
	uint64_t spun_ns;	 /* of this wait, on CPU, up to spin_ns */
	uint64_t spin_ns;	 /* spinning, and accounted up to here */
	uint64_t halt_ns;	 /* halted then */
	uint64_t wake_ns;	 /* the event that ended the halt, or VHALT_UNKNOWN_NS */
	uint64_t awake_ns;	 /* ran since then, for the policy's hint */
	uint64_t idle_ns;	 /* its guest went idle then */
	uint64_t guest_min;	 /* virtual time of the guest's queue */
	uint64_t guest_since_ns; /* current thread accounted up to here */
	uint64_t guest_picked_ns;
	uint64_t tick_ns; /* next tick, or ~0 when stopped */
	struct sim_rq ready, sleepers;
	uint32_t pcpu, vm, index; /* index: within the VM */
	uint32_t current;	  /* thread, or SIM_NONE: the idle loop */
	uint32_t window_ns;	  /* of the halt in progress */
	uint8_t state, act;
	uint8_t pending;  /* enum sim_pending */
	bool resched;	  /* the guest wants to switch threads */
	bool woken;	  /* the halt's end is under way */
	bool slept;	  /* the event that ended the halt found nobody polling */
	bool forced, cut; /* of the halt in progress: outcome flags */
	bool own_timer;
	bool boots;	    /* not started yet */
	uint8_t guest_poll; /* enum sim_guest_poll */
};

/** Where a thread stands between two calls of its workload. */
enum sim_phase {
	SIM_PHASE_STEP, /* ask the workload */
	SIM_PHASE_WAKE_LOCK,
	SIM_PHASE_WAKE_HOLD,
	SIM_PHASE_SLEEP_LOCK,
	SIM_PHASE_SLEEP_HOLD,
	SIM_PHASE_PREEMPT_LOCK,
	SIM_PHASE_PREEMPT_HOLD,
	SIM_PHASE_MUTEX_QUIT,  /* does not spin for a mutex any more: sleep */
	SIM_PHASE_MUTEX_AGAIN, /* slept for a mutex: try again */
	SIM_PHASE_FLUSH,       /* waits for answers to its flush */
};

enum sim_thread_state {
	SIM_THREAD_SLEEPING,
	SIM_THREAD_READY,
	SIM_THREAD_CURRENT,
	SIM_THREAD_DONE
};

struct sim_thread {
	struct sim_rq_node node; /* in ready or sleepers of its vCPU */
	uint64_t vruntime;
	uint64_t left_ns;  /* of an interrupted segment */
	uint64_t ready_ns; /* FLUSH: all answers are there then */
	uint64_t stamp_ns; /* the workload's own */
	uint32_t vm, vcpu, number;
	uint32_t lock;	  /* waited for, or SIM_NONE */
	uint32_t next;	  /* in that lock's list of spinners */
	uint32_t link;	  /* in a list it sleeps in: a mutex's, a pipe's */
	uint32_t target;  /* WAKE: whom */
	uint32_t place;	  /* WAKE: the vCPU chosen for it */
	uint32_t mutex;	  /* slept for */
	uint32_t acks;	  /* FLUSH: answers missing */
	uint32_t a, b, c; /* the workload's own */
	uint16_t step;	  /* the workload's own */
	uint8_t state, phase, saved_phase;
	uint8_t preempt;  /* preempt_count */
	uint8_t irqs_off; /* depth */
	uint8_t held;	  /* spin locks really held */
	bool user;	  /* the present segment is user code */
	bool token;	  /* woken before it slept */
	bool timed;	  /* it is in sleepers */
	bool pinned;
	bool pv_halted; /* gave up spinning, waits for a kick */
};

enum sim_lock_kind { SIM_LOCK_SPIN, SIM_LOCK_IRQ, SIM_LOCK_MUTEX };

struct sim_lock {
	uint32_t holder;
	uint32_t head, tail;		 /* threads that spin, first come first */
	uint32_t sleep_head, sleep_tail; /* of a mutex */
	uint8_t kind;
};

/** Counters of a VM; differences between two moments are what results are made of. */
struct sim_counters {
	uint64_t run_ns, steal_ns, poll_ns, poll_useful_ns, guest_poll_ns, spin_ns;
	uint64_t halts, polled, blocked, guest_polled, wakes;
	uint64_t wake_latency_ns; /* event to running, sum over halts met asleep */
	uint64_t pause_exits, yields, yields_holder, yields_ran, pv_halts, kicks, ipis, flushes;
	uint64_t flush_wait_ns;
	uint64_t holder_preempted,
		holder_wait_ns; /* lost the CPU with a spin lock; waited for it */
	uint64_t work;		/* messages, records, operations, requests */
	uint64_t work_ns;	/* sum of what a piece took, for latencies */
	uint64_t guest_switches;
};

/** Requests that can wait for a server. */
#define SIM_STAMPS 8U

/** Latencies in 8 steps an octave. */
#define SIM_HIST_BUCKETS 320

struct sim_vm {
	const struct sim_vm_config *config;
	struct vhalt_config policy, guest_policy;
	struct vhalt_boost boost;
	struct vhalt_boost_vcpu *snapshot; /* one per vCPU */
	uint64_t *waiting;		   /* bit per vCPU: waits for a pCPU */
	uint64_t *idle;			   /* bit per vCPU: its guest is idle */
	uint64_t *crowded;		   /* bit per vCPU: threads wait there */
	uint64_t *flushing;		   /* bit per vCPU: it waits for answers to a flush */
	uint64_t *unanswered;		   /* per vCPU a bitmap: whose answers it misses */
	uint32_t kind, first_vcpu, nr_vcpus, first_thread, nr_threads, first_lock, nr_locks;
	uint32_t words; /* of the bitmaps */
	struct sim_counters sum, mark;
	uint32_t hist[SIM_HIST_BUCKETS]; /* of work */
};

struct sim_pcpu {
	struct sim_rq rq;
	uint64_t min_vruntime;
	uint64_t idle_since_ns, avg_idle_ns;
	uint64_t busy_ns, idle_ns, overhead_ns; /* overhead: of busy_ns + idle_ns, blocking */
	uint64_t polled_ns;
	uint64_t since_ns;  /* busy_ns and idle_ns are right up to here */
	uint32_t current;   /* vCPU, or SIM_NONE */
	uint32_t speed_pct; /* less than 100 while an SMT sibling is busy */
	uint32_t buddy;	    /* hint of a directed yield, or SIM_NONE */
	uint32_t skip;	    /* vCPU that yielded, or SIM_NONE */
	bool resched;	    /* in the world's list */
};

/** A queue of messages between hackbench's threads. */
struct sim_pipe {
	uint32_t lock, count, reader, writers_head, writers_tail;
	bool reader_waits;
};

struct sim_world {
	struct sim_queue queue;
	struct suite_rng rng;
	const struct sim_config *config;
	uint64_t now_ns, events, marked_events;
	struct sim_pcpu *pcpu;
	struct sim_vcpu *vcpu;
	struct vhalt_state *state, *guest_state; /* one per vCPU; guest_state NULL: nobody polls */
	struct sim_thread *thread;
	struct sim_lock *lock; /* the first nr_vcpus are the guests' run queue locks */
	struct sim_pipe *pipe;
	uint64_t *stamp; /* SIM_STAMPS a thread: when its requests came */
	struct sim_vm *vm;
	uint64_t *idle_pcpus, *crowded_pcpus; /* bit per pCPU: nothing to run; somebody waits */
	uint32_t *resched;		      /* pCPUs to reschedule after this event */
	uint32_t nr_pcpus, nr_vcpus, nr_threads, nr_locks, nr_pipes, nr_vms, nr_resched;
	uint32_t pcpu_words;
	bool needs_stamps, guests_poll;
	bool fetches; /* larger than the caches: see ahead.h */
	struct sim_rq_nodes vcpu_nodes, thread_nodes;
	struct vhalt_budget budget;
	uint64_t burnt_ns; /* polled since the last budget tick */
	uint64_t factor_sum, factor_ticks;
	uint64_t check_every; /* events between two checks of the invariants, 0: never */
};

/* Handles of the event queue, in this order. */
static inline uint32_t sim_handle_act(uint32_t vcpu)
{
	return vcpu;
}

static inline uint32_t sim_handle_timer(const struct sim_world *w, uint32_t vcpu)
{
	return w->nr_vcpus + vcpu;
}

static inline uint32_t sim_handle_slice(const struct sim_world *w, uint32_t pcpu)
{
	return 2 * w->nr_vcpus + pcpu;
}

enum sim_global {
	SIM_GLOBAL_BALANCE,
	SIM_GLOBAL_BUDGET,
	SIM_GLOBAL_MARK,
	SIM_GLOBAL_END,
	SIM_NR_GLOBAL
};

static inline uint32_t sim_handle_global(const struct sim_world *w, enum sim_global which)
{
	return 2 * w->nr_vcpus + w->nr_pcpus + which;
}

/** A device of vCPU @vcpu's own that raises an interrupt: RR and POISSON. */
static inline uint32_t sim_handle_device(const struct sim_world *w, uint32_t vcpu)
{
	return 2 * w->nr_vcpus + w->nr_pcpus + SIM_NR_GLOBAL + vcpu;
}

static inline struct sim_vm *sim_vm_of(struct sim_world *w, const struct sim_vcpu *v)
{
	return &w->vm[v->vm];
}

static inline uint32_t sim_vcpu_number(const struct sim_world *w, const struct sim_vcpu *v)
{
	return (uint32_t)(v - w->vcpu);
}

static inline void sim_bit_set(uint64_t *map, uint32_t i)
{
	map[i / 64] |= 1ULL << i % 64;
}

static inline void sim_bit_clear(uint64_t *map, uint32_t i)
{
	map[i / 64] &= ~(1ULL << i % 64);
}

static inline bool sim_bit_test(const uint64_t *map, uint32_t i)
{
	return map[i / 64] >> i % 64 & 1;
}

/** sim_bit_next - first set bit of [from, to), or @to. */
static inline uint32_t sim_bit_next(const uint64_t *map, uint32_t from, uint32_t to)
{
	uint64_t word;

	if (from >= to)
		return to;
	word = map[from / 64] >> from % 64 << from % 64;
	while (!word) {
		from = (from / 64 + 1) * 64;
		if (from >= to)
			return to;
		word = map[from / 64];
	}
	from = from / 64 * 64 + (uint32_t)__builtin_ctzll(word);
	return from < to ? from : to;
}

#endif
