#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# In the guest: see ../cases/60-nested.sh, which does something at each step.
set -eu
. /rig/files/lib.sh

step() {
	echo "@step $1"
	sleep 4
}

[ "$(driver)" = none ] || fail "the driver is $(driver)"
step 1
guest-nap 500 500
step 2
load max_ns=100000
[ "$(sum host_poll_taken)" = 1 ] || fail "host_poll_taken: $(cat $files/cpus)"
step 3
guest-nap 500 500
step 4
unload
step 5
guest-nap 500 500

# Naps that are polled through, first alone on the host, then not.
steal() { awk '$1 == "cpu" { print $9 }' /proc/stat; }
# share MS: sets percent to how much of the time was polled, of that stolen meanwhile as well
share() {
	stolen=$(steal)
	begin=$(now_ms)
	polled=$(($(sum useful_ns) + $(sum wasted_ns)))
	guest-nap 500 "$1"
	polled=$(($(sum useful_ns) + $(sum wasted_ns) - polled))
	percent=$((polled / 10000 / ($(now_ms) - begin)))
	echo "$2: polled $percent % of the time, $(($(steal) - stolen)) ticks stolen, gate shut $(sum shuts) times"
}
load policy=pv max_ns=10000000
guest-nap 500 300
share 1000 alone
alone=$percent
[ $alone -ge 8 ] || fail "naps are not polled through: $(cat $files/cpus)"
step 6
guest-nap 500 500
share "$VHALT_HOG_MS" crowded
[ $percent -lt 5 ] || fail "too much polling while the host is crowded: $(cat $files/cpus)"
[ "$(sum shuts)" -gt 0 ] || fail "the gate never shut"
step 7
# At the latest after 8 s polling is tried again.
begin=$(now_ms)
until [ "$(of_cpu 0 shut)" = 0 ]; do
	[ $(($(now_ms) - begin)) -lt 20000 ] || fail "no polling 20 s after the neighbour left: $(cat $files/cpus)"
	guest-nap 500 300
done
echo "the gate opened $(($(now_ms) - begin)) ms after the neighbour left"
share 1000 'alone again'
[ $percent -ge $((alone / 4)) ] || fail "polls less than before: $(cat $files/cpus)"
unload
