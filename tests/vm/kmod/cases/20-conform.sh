#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 420
# Every window the module decides is the one the core decides in user space from the same halts.
set -eu
. /rig/files/lib.sh

want=${VHALT_CONFORM_HALTS:-5000}
load
echo 16384 >$tracing/buffer_size_kb
# An emulated vCPU takes a fraction of a millisecond to wake up: windows must be long to be of use.
echo 2000000 >$params/halt_poll_ns

guests() {
	vhalt vm run rr --rounds 1500 >/dev/null &
	vhalt vm run burst --for 1s >/dev/null
	wait $!
	vhalt vm run tick --hz 2000 --for 500ms --halt-poll 2ms >/dev/null
}

for policy in none always toggle dynamic kvm guest pv auto \
	always:max=2ms toggle:max=2ms dynamic:max=2ms kvm:halt_poll_ns=2ms,shrink=0 \
	auto:price=300,max=1ms; do
	ctl set "$policy" 2>/dev/null || fail "ctl set $policy failed"
	echo >$tracing/trace
	echo 1 >$tracing/events/vhalt/enable
	halts=0
	while [ $halts -lt "$want" ]; do
		before=$halts
		guests
		halts=$(grep -c ' vhalt_window: ' $tracing/trace) || true
		[ "$halts" -gt $before ] || fail "$policy: no more decisions after $halts"
	done
	echo 0 >$tracing/events/vhalt/enable
	cat $tracing/trace >/tmp/trace
	said=$(ctl check /tmp/trace) || { echo "$policy: $said"; ctl check /tmp/trace; exit 1; }
	echo "$policy: $said"
	case $said in *"not checked"*) fail "$policy: events were lost" ;; esac
	polled=$(grep -c ' outcome=1 ' /tmp/trace) || true
	echo "   $polled met by polling"
	[ "$policy" != always:max=2ms ] || [ "$polled" -gt 100 ] || fail "hardly any poll met a wake-up"
done

# Parameters that change, and a price factor that moves, under running vCPUs.
echo >$tracing/trace
echo 1 >$tracing/events/vhalt/enable
ctl set auto:price=200
ctl budget 0.5
guests &
for price in 5 50 500 1000 1 200; do
	usleep 200000
	ctl set auto:price=$price
done
wait
guests
echo 0 >$tracing/events/vhalt/enable
factors=$(sed -n 's/.* factor=\([0-9]*\) .*/\1/p' $tracing/trace | sort -u | wc -l)
cat $tracing/trace >/tmp/trace
ctl check /tmp/trace || fail "decisions under changing parameters differ"
[ "$factors" -gt 1 ] || fail "the price factor never moved: $(ctl status | grep Budget)"
echo "changing prices, $factors price factors: all the same"
ctl reset
unload
