#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 200
# A guest that publishes garbage, ever changing, in the page and by hypercall: errors are counted, the
# host lives, another VM gets its work done.
set -eu
. /rig/files/lib.sh
. /rig/files/boost-lib.sh

seconds=${VHALT_BOOST_HOSTILE_S:-60}
pause_exits
load
hogs 1
for mode in holder critical; do
	ctl boost on --mode $mode
	vhalt vm run tick --hz 100 --for "$((seconds / 2))s" --json >/tmp/tick.json &
	tick=$!
	vhalt vm run lock --vcpus 6 --share hostile --hold 20us --gap 20us --for 180s >/tmp/lock &
	lock=$!
	wait $tick || fail "the other VM: $(cat /tmp/tick.json)"
	until_true boost_at_least read_errors 20
	until_true boost_at_least bad_shares 20
	until_true boost_at_least reads 20
	until_true boost_at_least steers 1
	echo "$mode: $(ctl boost status)"
	kill $lock
	wait $lock || true
	ticks=$(number rounds </tmp/tick.json)
	# It is one of several on a busy CPU; what must not happen is that it is starved.
	[ "$ticks" -gt $((seconds * 5)) ] || fail "only $ticks ticks at 100 Hz in $((seconds / 2)) s"
	echo "   $ticks ticks of the other VM"
done
no_hogs
unload
