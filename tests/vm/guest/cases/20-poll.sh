#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 120
# Polling meets the halts of a ping-pong, and an idle guest does not poll. Also run inside a guest.
set -eu
. /rig/files/lib.sh
be_guest

# idle: 2 s of nothing to do. Sets exits to how often the CPUs left the idle loop (two events each), and
# with the module polled_us, passed_us (of both CPUs).
idle() {
	echo >$tracing/trace
	sleep 1
	polled_us=0
	[ ! -e $files ] || polled_us=$(($(polled_ns) / 1000))
	passed_us=$(now_ms)
	echo 1 >$tracing/events/power/cpu_idle/enable
	sleep 2
	echo 0 >$tracing/events/power/cpu_idle/enable
	passed_us=$((($(now_ms) - passed_us) * 2000))
	[ ! -e $files ] || polled_us=$(($(polled_ns) / 1000 - polled_us))
	exits=$(cat $tracing/per_cpu/cpu*/stats | awk '/^(entries|overrun):/ { n += $2 } END { print int(n / 2) }')
}

# In turn, so that what else the machine does falls on both.
without=0 with=0
for _ in $(seq "${VHALT_IDLES:-3}"); do
	idle
	without=$((without + exits)) n=$exits
	load
	sleep 2
	idle
	with=$((with + exits))
	echo "idle: $n exits without, $exits with auto, which polled $polled_us of $passed_us us"
	[ $polled_us -lt $((passed_us / 100)) ] || fail "an idle guest polls: $(cat $files/cpus)"
	wakes=$(sum timer_wakes)
	[ "$wakes" -gt 0 ] || fail "no timer ended a halt: $(cat $files/cpus)"
	late_us=$(($(sum timer_late_ns) / wakes / 1000))
	echo "  $wakes halts ended by a timer, $late_us us late"
	[ $late_us -lt 2000 ] || fail "a wake-up cannot take so long: $(cat $files/cpus)"
	unload
done
# Of a few dozen exits in 6 s some are the cases' own and chance: the sum may be an eighth and 6 more.
[ $with -le $((without + without / 8 + 6)) ] || fail "idle exits: $with, without the module $without"

for policy in auto pv; do
	load policy=$policy
	echo >$tracing/trace
	echo 1 >$tracing/events/vhalt_guest/enable
	guest-pingpong -r 300 >/dev/null # learn
	echo 0 >$tracing/events/vhalt_guest/enable
	# Each change begins where the last one of that CPU ended.
	sed -n 's/.*\(\[...\]\).*vhalt_guest_window: old_ns=\([0-9]*\) new_ns=\([0-9]*\) .*/\1 \2 \3/p' $tracing/trace |
		awk '$1 in at && at[$1] != $2 { bad = 1 } { at[$1] = $3 } END { exit bad || !NR }' ||
		fail "window changes as traced: $(head -n 20 $tracing/trace)"
	hit_share guest-pingpong -r "${VHALT_ROUNDS:-2000}"
	echo "$policy: $hits_percent % of $halts halts met by polling"
	[ $hits_percent -ge 90 ] || fail "$policy: $(cat $files/cpus)"

	# After a busy time it must calm down again.
	sleep 2
	idle
	echo "$policy: 3 s after that, polled $polled_us of $passed_us us"
	[ $policy != auto ] || [ $polled_us -lt $((passed_us / 100)) ] ||
		fail "auto polls although idle: $(cat $files/cpus)"
	unload
done
