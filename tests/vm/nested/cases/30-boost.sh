#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 400
# A stock guest that publishes, on a host that boosts: good addresses never fail, preemptions in
# critical sections
# are seen, a reboot in the middle changes nothing.
. /rig/files/lib.sh
. /rig/files/boost-lib.sh
files=/rig/files
reads=${VHALT_NESTED_READS:-500}

# more KEY N: has the sum over all VMs grown by N since $base?
more() { [ "$(boost_sum "$1")" -ge $((base + $2)) ]; }
ran() { grep -q "load runs, boot $1" /tmp/log; }
# alive: nobody waits for a guest that has ended.
alive() { kill -0 $guest 2>/dev/null || { cat /tmp/log; fail "the guest has ended: $(ctl boost status)"; }; }
wait_for() { until "$@"; do alive; usleep 50000; done; }

load
ctl boost on
hogs 1
: >/tmp/log
nested-run -c 3 -r 1 -t 100 -g /tmp/phase -f $files/vhalt_guest.ko -f $files/rig_load.ko \
	$files/inside/30-boost.sh >/tmp/log 2>&1 &
guest=$!
for boot in 1 2; do
	wait_for ran $boot
	base=$(boost_sum reads)
	wait_for more reads "$reads"
	base=$(boost_sum critical)
	wait_for more critical 20
	# Before it publishes there is nothing; what it publishes can be read, over the reboot as well.
	[ "$(boost_sum read_errors)" = 0 ] && [ "$(boost_sum bad_shares)" = 0 ] || fail "errors: $(ctl boost status)"
	ctl boost status
	echo $boot >/tmp/phase
done
rc=0
wait $guest || rc=$?
grep 'sections' /tmp/log
[ $rc = 0 ] || fail "exit code $rc: $(cat /tmp/log)"
no_hogs
unload
