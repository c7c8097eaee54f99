#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 600
# Beyond the hint: do these get a preempted holder running sooner? In turn, so that drift of the machine
# falls on all alike. Figures for people (docs/boost.md); an emulated machine proves no speed.
set -eu
. /rig/files/lib.sh
. /rig/files/boost-lib.sh

rounds_of=${VHALT_BOOST_PAIRS:-4}
seconds=${VHALT_BOOST_SECONDS:-3}
sched=/sys/kernel/debug/sched

pause_exits
load
hogs 2

# knob ON: the scheduler's: 6.12 honours the buddy hint only with NEXT_BUDDY; up to 6.5 only if it is
# not ahead by more than the wake-up granularity.
if [ -e $sched/wakeup_granularity_ns ]; then
	granularity=$(cat $sched/wakeup_granularity_ns)
	knob() { if [ "$1" = 1 ]; then echo 20000000; else echo "$granularity"; fi >$sched/wakeup_granularity_ns; }
	echo "knob: wakeup_granularity_ns from $granularity to 20000000"
else
	knob() { if [ "$1" = 1 ]; then echo NEXT_BUDDY; else echo NO_NEXT_BUDDY; fi >$sched/features; }
	echo "knob: NEXT_BUDDY"
fi

# run NAME: a run under boost as it is set, with the module's own counters of it, read while it runs.
run() {
	ctl boost "$2" ${3:+--mode "$3"}
	contend "$seconds" &
	w=$!
	look=
	while kill -0 $w 2>/dev/null; do
		now=$(ctl boost status --json)
		case $now in *'"vms":[]'*) ;; *) look=$now ;; esac
		usleep 100000
	done
	wait $w
	rounds=$(number acquisitions </tmp/lock.json)
	waits=$(echo "$look" | number waits)
	echo "$rounds" >>"/tmp/rounds-$1"
	echo $(($(echo "$look" | number wait_ns) / (waits + 1) / 1000)) >>"/tmp/wait-$1"
	permille "$(echo "$look" | number handed)" "$(echo "$look" | number yields)" >>"/tmp/handed-$1"
	permille "$(cat $spy/hits)" "$(cat $spy/yields)" >>"/tmp/share-$1"
}

i=0
while [ $i -lt "$rounds_of" ]; do
	run stock on kernel
	run hint on holder
	echo 10 >$spy/lift
	run lift on holder
	echo 0 >$spy/lift
	knob 1
	run knob on holder
	knob 0
	i=$((i + 1))
done
for m in stock hint lift knob; do
	echo "$m: acquisitions $(median /tmp/rounds-$m), holder's wait $(median /tmp/wait-$m) us, handed over $(median /tmp/handed-$m) permille, share $(median /tmp/share-$m) permille; acquisitions of each: $(sort -n /tmp/rounds-$m | tr '\n' ' ')"
done
echo "raised $(cat $spy/lifted) times"
no_hogs
unload
