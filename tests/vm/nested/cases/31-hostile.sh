#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 400
# A stock guest whose kernel publishes garbage, ever changing: errors are counted, the host lives.
. /rig/files/lib.sh
. /rig/files/boost-lib.sh
files=/rig/files
seconds=${VHALT_HOSTILE_S:-60}

now_s() { cut -d. -f1 /proc/uptime; }
alive() { kill -0 $guest 2>/dev/null || { cat /tmp/log; fail "the guest has ended: $(ctl boost status)"; }; }
wait_for() { until "$@"; do alive; usleep 100000; done; }
over() { [ "$(now_s)" -ge $until_s ]; }

load
ctl boost on
hogs 1
nested-run -c 3 -t 200 -g /tmp/phase -e SEED=1 -f $files/rig_load.ko -f $files/rig_hostile.ko \
	$files/inside/31-hostile.sh >/tmp/log 2>&1 &
guest=$!
wait_for boost_at_least read_errors 1
until_s=$(($(now_s) + seconds))
for mode in critical holder; do
	ctl boost on --mode $mode
	wait_for boost_at_least read_errors 10
	wait_for boost_at_least bad_shares 10
	wait_for boost_at_least reads 10
done
wait_for over
ctl boost status
ctl boost off
echo 1 >/tmp/phase
rc=0
wait $guest || rc=$?
[ $rc = 0 ] || fail "exit code $rc: $(cat /tmp/log)"
grep lies /tmp/log
no_hogs
unload
