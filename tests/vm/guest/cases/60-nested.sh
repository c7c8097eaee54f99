#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 280
# A real guest of KVM with one CPU, seen from both sides: the host's own polling stops while the module is
# loaded and returns; a crowded host stops the guest's polling, and it returns as well.
set -eu
. /rig/files/lib.sh
params=/sys/module/kvm/parameters
report=/tmp/report

attempted() { cat /sys/kernel/debug/kvm/*-*/halt_attempted_poll | head -n 1; }
stop_hogs() {
	# shellcheck disable=SC2086
	[ -z "$hogs" ] || kill $hogs
	hogs=
}
hogs=
nested-run -c 1 -t 240 -p guest-nap -f /rig/files/lib.sh -f $ko \
	-e VHALT_HOG_MS="${VHALT_HOG_MS:-8000}" /rig/files/inside/60-nested.sh >$report 2>&1 &
vm=$!
tail -f $report &

# The guest says "@step N" and then does nothing for 4 s, in which things are done here. Looking
# for it must not take the only CPU: the guest would see it as a neighbour.
step() {
	until grep -q "@step $1" $report; do
		kill -0 $vm 2>/dev/null || { stop_hogs; wait $vm; fail "the guest has ended before step $1"; }
		sleep 1
	done
}

# Long enough for an emulated CPU's wake-ups.
echo 4000000 >$params/halt_poll_ns
step 1
before=$(attempted)
step 2 # without the module
without=$(($(attempted) - before))
step 3 # it is loaded
before=$(attempted)
step 4 # it has been used
with=$(($(attempted) - before))
step 5 # it is unloaded
before=$(attempted)
step 6 # and the guest was busy again
after=$(($(attempted) - before))
echo "the host polled $without times before, $with times while the module was loaded, $after times after"
[ $without -gt 5 ] || fail "the host did not poll without the module"
[ $with = 0 ] || fail "both sides poll"
[ $after -gt 5 ] || fail "the host does not poll any more"
echo 200000 >$params/halt_poll_ns
sh -c 'while :; do :; done' &
hogs=$!
step 7
stop_hogs
wait $vm
grep "alone again" $report
