/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The handshake of the waiter (lib/wait_internal.h): no kick is lost, whoever is where.
 *
 * KICKERS threads each do KICKS times: leave a message, kick. One waiter waits, with or without its
 * time running out, and takes all messages it finds after each wait that a kick ended. It ends when
 * it has them all. Should a kick be lost, it sleeps for ever with messages left: spin reports an
 * invalid end state. Also asserted: a wait that says "kick" consumes one.
 *
 * Memory is that of a machine with store buffers (x86, and what matters here of weaker ones): the
 * plain stores of a kicker, message and kick, wait in its buffer, in order, until they are flushed
 * some time; its loads do not wait for them; its read-modify-writes do. The waiter's membarrier()
 * waits until each kicker's buffer has been empty once.
 *
 * -D names a mutant, each a mistake the check must find:
 *	MUTANT_NO_MEMBARRIER	the waiter leaves the fast mode without one
 *	MUTANT_LATE_SLOW	it says SLOW only after the membarrier
 *	MUTANT_MODE_FIRST	a kicker looks at the mode before its store, and never again
 *	MUTANT_PLAIN_SLEEP	the waiter looks for a kick, then says it sleeps
 *	MUTANT_NO_COMPARE	futex_wait() does not compare before it sleeps
 *	MUTANT_NO_WAKE		a kicker that finds the waiter asleep does not wake it
 *	MUTANT_TRUST_WAKE	the waiter takes being woken for being kicked
 *	MUTANT_LATE_CONSUME	the waiter takes the messages first, then consumes the kick
 */

#ifndef KICKERS
#define KICKERS 2
#endif
#ifndef KICKS
#define KICKS 2
#endif

/* The three words, as all see them. */
bool kick = false;	/* a kick is pending */
bool sleeping = false;	/* the futex: the waiter is, or is about to be, in futex_wait() */
bool fast = false;	/* mode: kickers need not look at `sleeping` */

bool asleep = false;	/* the waiter is inside futex_wait() */
byte left[KICKERS];	/* messages not taken yet, as the waiter sees them */
byte todo = KICKERS * KICKS;

/* A kicker's store buffer: 2 message and kick, 1 the kick alone, 0 empty. */
byte buffer[KICKERS];

active [KICKERS] proctype flusher() {
	byte me = _pid;

end:	do
	:: atomic { buffer[me] == 2 -> left[me]++; buffer[me] = 1 }
	:: atomic { buffer[me] == 1 -> kick = true; buffer[me] = 0 }
	od
}

/* Both paths of vhalt_waiter_kick() in one: the first look at the mode is only a hint, so it may
 * say anything. */
proctype kicker(byte me) {
	byte n = 0;
	bool was;

	do
	:: n < KICKS ->
		buffer[me] == 0;
#ifdef MUTANT_MODE_FIRST
		was = fast;
		buffer[me] = 2;
		if
		:: was -> goto kicked
		:: else
		fi;
#else
		if
		:: buffer[me] = 2;		/* plain stores ... */
			if
			:: fast -> goto kicked	/* ... and the mode, while they may be in flight */
			:: else
			fi
		:: buffer[me] = 2; buffer[me] == 0 /* exchange: flushed when it is done */
		fi;
#endif
		atomic { /* exchange: needs the buffer empty */
			buffer[me] == 0;
			was = sleeping;
			sleeping = false
		}
		if
#ifndef MUTANT_NO_WAKE
		:: was -> asleep = false	/* futex_wake() */
#endif
		:: else
		fi;
kicked:		n++
	:: else -> break
	od
}

inline take_messages() {
	i = 0;
	do
	:: i < KICKERS ->
		atomic { todo = todo - left[i]; left[i] = 0 }
		i++
	:: else -> i = 0; break
	od
}

/* A wait that a kick has ended. */
inline consume() {
#ifdef MUTANT_LATE_CONSUME
	take_messages();
#endif
	atomic { assert(kick); kick = false } /* exchange */
#ifndef MUTANT_LATE_CONSUME
	take_messages()
#endif
}

inline leave_fast() {
	if
	:: fast ->
#ifndef MUTANT_LATE_SLOW
		fast = false;
#endif
#ifndef MUTANT_NO_MEMBARRIER
		i = 0;
		do
		:: i < KICKERS -> buffer[i] == 0; i++
		:: else -> i = 0; break
		od;
#endif
		fast = false
	:: else
	fi
}

proctype waiter() {
	byte i = 0;
	bool timed, up;

	do
	:: todo == 0 -> break
	:: else ->
		if
		:: timed = true
		:: timed = false
		fi;
		/* Any time it runs or polls it may turn fast. */
		if
		:: fast = true
		:: skip
		fi;
		/* Poll: look once or more, then block. */
		if
		:: kick -> consume(); goto next
		:: skip
		fi;
		leave_fast();
again:
#ifdef MUTANT_PLAIN_SLEEP
		if
		:: kick -> consume(); goto next
		:: else
		fi;
		sleeping = true;
#else
		sleeping = true;		/* exchange */
		if
		:: kick -> sleeping = false; consume(); goto next
		:: else
		fi;
#endif
		up = false;
		atomic { /* futex_wait(): the kernel compares and sleeps as one */
#ifdef MUTANT_NO_COMPARE
			asleep = true
#else
			asleep = sleeping
#endif
		}
		if
		:: !asleep			/* woken, or not slept at all */
		:: timed -> asleep = false; up = true
		fi;
#ifdef MUTANT_TRUST_WAKE
		if
		:: !up -> consume(); goto next
		:: else
		fi;
#endif
		if
		:: kick -> sleeping = false; consume()
		:: !kick && up -> sleeping = false
		:: !kick && !up -> goto again
		fi;
next:		skip
	od
}

init {
	byte k = 0;

	atomic {
		run waiter();
		do
		:: k < KICKERS -> run kicker(k); k++
		:: else -> break
		od
	}
}
