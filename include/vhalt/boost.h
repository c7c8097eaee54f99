/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Directed yield: which vCPU of its VM gets the time of one that spins? */
#ifndef VHALT_BOOST_H
#define VHALT_BOOST_H

#include <vhalt/types.h>

/*
 * Call order, per VM; array, bitmap and state are the caller's:
 *
 *	vhalt_boost_init(&boost, mode)
 *	when vCPU `self` spins {
 *		vhalt_boost_spin_enter(&vcpus[self])
 *		index = vhalt_boost_first(&scan, &boost, &request)
 *		while (index != VHALT_BOOST_NONE) {
 *			result = ... give the time of self to vcpus[index] ...
 *			if (result > 0)				it took it
 *				vhalt_boost_done(&boost, &request, index), leave
 *			if (result < 0 && !vhalt_boost_refused(&scan))
 *				leave				it cannot, nor could two before it
 *			index = vhalt_boost_next(&scan, &boost, &request)
 *		}
 *		... self runs again ...
 *		vhalt_boost_spin_leave(&vcpus[self])
 *	}
 *	when vCPU i spins, or loses its CPU for any reason
 *		vhalt_boost_ran(&boost, &vcpus[i], ... time since it got it ...)
 *
 * A driver that can only steer (it does not see how a yield ends) calls vhalt_boost_first(), and
 * vhalt_boost_done() if it acts on the answer.
 *
 * Nothing but the arguments is touched: no clock, allocation, lock, global, floating point, 64-bit
 * division or recursion. No call can fail, whatever the snapshot holds and even if it changes
 * meanwhile: an answer is VHALT_BOOST_NONE or below request.nr and a candidate when it was looked
 * at. Any context, atomic ones too; calls on one struct vhalt_boost should not overlap (if they do,
 * a boost may go uncounted). Cost: O(nr) per first or next, a few ns for each candidate.
 */

/** No vCPU. */
#define VHALT_BOOST_NONE (-1)

/** Failed yields after which a scan ends, as in KVM. */
#define VHALT_BOOST_TRIES 3

/**
 * Mode `holder`: at most one boost in so long goes to the vCPU that waits longest, whatever it
 * does, and only if it waits longer than this.
 */
#define VHALT_BOOST_FAIR_NS 100000000ULL

/** Mode `holder`: one boost in so many is chosen as if nothing had been learnt. */
#define VHALT_BOOST_EXPLORE 64

/** Boosts over which what one was worth is averaged, as a power of two. */
#define VHALT_BOOST_WORTH_SHIFT 5

/** One octave (a run twice as long) in vhalt_boost.worth. */
#define VHALT_BOOST_WORTH_OCTAVE (1U << 16)

enum vhalt_boost_mode {
	VHALT_BOOST_KERNEL,   /* what KVM does today */
	VHALT_BOOST_CRITICAL, /* the same, but only vCPUs inside critical sections: the 2022 filter
			       */
	VHALT_BOOST_HOLDER,   /* ours: learns which of those are worth it */
	VHALT_NR_BOOST_MODES,
};

/** Two kinds of vCPUs that wait for a CPU inside a critical section. */
enum vhalt_boost_class {
	VHALT_BOOST_PREEMPTS, /* preempted there, not in a yield: a holder, or a waiter too early */
	VHALT_BOOST_YIELDS,   /* gave its time away: a waiter, or was handed the lock since */
	VHALT_NR_BOOST_CLASSES,
};

/** What is known of a vCPU now. SPINNING and DY_ELIGIBLE are kept by the calls below. */
enum vhalt_boost_flags {
	VHALT_BOOST_RUNNABLE = 1 << 0,	  /* not blocked, or blocked with an event pending */
	VHALT_BOOST_RUNNING = 1 << 1,	  /* on a CPU */
	VHALT_BOOST_PREEMPTED = 1 << 2,	  /* lost its CPU involuntarily and has not run since */
	VHALT_BOOST_IN_KERNEL = 1 << 3,	  /* was in guest kernel mode then */
	VHALT_BOOST_IRQS_OFF = 1 << 4,	  /* had interrupts disabled then */
	VHALT_BOOST_IRQ_PENDING = 1 << 5, /* an interrupt waits for it to run */
	VHALT_BOOST_SHARED = 1 << 6,	  /* preempt_count is known: the guest shares it */
	VHALT_BOOST_SPINNING = 1 << 7,	  /* it gave its time away and has not returned from that */
	VHALT_BOOST_DY_ELIGIBLE = 1
				  << 8, /* KVM's dy_eligible: it may be chosen although it spins */
};

/** One vCPU of the snapshot; 40 bytes. All zero but ipi_from, boosted_by: one that is blocked. */
struct vhalt_boost_vcpu {
	uint64_t since_ns; /* it waits for a CPU since then (any clock that request.now_ns uses) */
	uint64_t boosted_ns;	/* last boosted then, 0: never; written by vhalt_boost_done() */
	uint32_t flags;		/* enum vhalt_boost_flags */
	uint32_t preempt_count; /* the guest's, need_resched bits cleared; 0 without SHARED */
	int32_t ipi_from;	/* vCPU that last sent it an IPI it has not taken, or NONE */
	int32_t boosted_by;	/* vCPU whose time it got last, or NONE; by vhalt_boost_done() */
	uint32_t named_as;	/* enum vhalt_boost_class + 1 when named last; 0: neither */
	uint32_t boosted_as;	/* the same of its last boost, until vhalt_boost_ran() */
};

/** Per VM; read-only for the caller, except that @mode may be changed between two scans. */
struct vhalt_boost {
	uint32_t mode;	       /* enum vhalt_boost_mode; others count as `kernel` */
	uint32_t last_boosted; /* KVM's last_boosted_vcpu */
	uint32_t boosts;       /* counted by vhalt_boost_done(); wraps */
	int32_t fair;	       /* vCPU named last for fairness, or NONE */
	uint64_t fair_ns;      /* boosted last for fairness then */
	uint32_t worth[VHALT_NR_BOOST_CLASSES]; /* decayed mean of octaves of ns; 0: unknown */
};

/** Who spins, and where the snapshot is. */
struct vhalt_boost_request {
	struct vhalt_boost_vcpu *vcpus;
	const uint64_t *candidates; /* bit i (word i / 64) clear: leave vCPU i out; NULL: none is
				     * left out. Bits from nr on are not looked at */
	uint32_t nr;		    /* vCPUs in the array, up to 2^31-1 */
	int32_t self;		    /* the vCPU that spins, or NONE: whoever will */
	bool want_kernel; /* it spins in kernel mode, so the holder was preempted in kernel mode */
	uint64_t now_ns;  /* used by mode `holder` only */
};

/** Where a scan stands: private, on the caller's stack. */
struct vhalt_boost_scan {
	uint64_t key_ns;
	int32_t index;
	uint32_t next, start, rank;
	uint32_t tries;
	uint32_t preferred; /* class, as vhalt_boost_preferred() said */
	int32_t ahead;	    /* named first, out of order, or NONE */
	bool wrapped;
};

/**
 * vhalt_boost_mode_find - index of the mode called @name, or VHALT_NR_BOOST_MODES.
 */
uint32_t vhalt_boost_mode_find(const char *name);

/** vhalt_boost_mode_name - "kernel", "critical", "holder"; NULL when @mode is none. */
const char *vhalt_boost_mode_name(uint32_t mode);

/** vhalt_boost_mode_summary - one sentence, lower case, no full stop; NULL when @mode is none. */
const char *vhalt_boost_mode_summary(uint32_t mode);

/** vhalt_boost_init - begin a VM that has boosted nobody, in @mode (enum vhalt_boost_mode). */
void vhalt_boost_init(struct vhalt_boost *boost, uint32_t mode);

/** vhalt_boost_vcpu_init - a vCPU that is blocked and was never boosted. */
static inline void vhalt_boost_vcpu_init(struct vhalt_boost_vcpu *vcpu)
{
	vcpu->since_ns = 0;
	vcpu->boosted_ns = 0;
	vcpu->flags = 0;
	vcpu->preempt_count = 0;
	vcpu->ipi_from = VHALT_BOOST_NONE;
	vcpu->boosted_by = VHALT_BOOST_NONE;
	vcpu->named_as = 0;
	vcpu->boosted_as = 0;
}

/** vhalt_boost_spin_enter - @vcpu begins to look for somebody to give its time to. */
static inline void vhalt_boost_spin_enter(struct vhalt_boost_vcpu *vcpu)
{
	vcpu->flags |= VHALT_BOOST_SPINNING;
}

/** vhalt_boost_spin_leave - it runs again. The next time it spins it is not eligible at first. */
static inline void vhalt_boost_spin_leave(struct vhalt_boost_vcpu *vcpu)
{
	vcpu->flags &= ~(uint32_t)(VHALT_BOOST_SPINNING | VHALT_BOOST_DY_ELIGIBLE);
}

/** vhalt_boost_critical - by what is known, is @vcpu inside a critical section? */
static inline bool vhalt_boost_critical(const struct vhalt_boost_vcpu *vcpu)
{
	return vcpu->flags & VHALT_BOOST_IRQS_OFF ||
	       (vcpu->flags & VHALT_BOOST_SHARED && vcpu->preempt_count);
}

/**
 * vhalt_boost_preferred - the class whose boosts proved worth more than eight times the other's.
 *
 * Return: enum vhalt_boost_class, or VHALT_NR_BOOST_CLASSES: neither, not known, or this boost is
 * to find out. A driver with masks of its own may leave the other class out of a scan.
 */
uint32_t vhalt_boost_preferred(const struct vhalt_boost *boost);

/**
 * vhalt_boost_first - begin a scan and name the first vCPU to try.
 * @scan:     receives where the scan stands
 * @boost:    mode `holder` notes in @fair whom it named for fairness
 * @request:  scans by turns toggle DY_ELIGIBLE of spinning vCPUs they look at, as KVM does, and
 * `holder` writes named_as of whom it names; nothing else of the array is written
 *
 * Return: an index into request->vcpus, or VHALT_BOOST_NONE: nobody is worth it.
 */
int32_t vhalt_boost_first(struct vhalt_boost_scan *scan, struct vhalt_boost *boost,
			  const struct vhalt_boost_request *request);

/** vhalt_boost_next - the next best, after the one named before could not take the time. */
int32_t vhalt_boost_next(struct vhalt_boost_scan *scan, const struct vhalt_boost *boost,
			 const struct vhalt_boost_request *request);

/** vhalt_boost_refused - count a yield that failed. Return: may the scan go on? */
static inline bool vhalt_boost_refused(struct vhalt_boost_scan *scan)
{
	return ++scan->tries < VHALT_BOOST_TRIES;
}

/**
 * vhalt_boost_done - vCPU @index took the time of request->self.
 *
 * Writes boosted_ns, boosted_by and boosted_as of that vCPU, and @boost. An @index that is none is
 * ignored.
 */
void vhalt_boost_done(struct vhalt_boost *boost, const struct vhalt_boost_request *request,
		      int32_t index);

/**
 * vhalt_boost_ran - @vcpu, one of the VM, had a CPU for @ran_ns and now spins or has lost it.
 *
 * What a boost of its class was worth: the longer it ran before it spun, the more. Ignored if it
 * was not boosted since the last call, so it may be called each time. Calls that are missing, come
 * late or overlap cost quality only.
 */
void vhalt_boost_ran(struct vhalt_boost *boost, struct vhalt_boost_vcpu *vcpu, uint64_t ran_ns);

#endif
