#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Around another driver with several states: polls, leaves the choice of states alone, gives all back.
set -eu
. /rig/files/lib.sh
be_guest

usage() { cat /sys/devices/system/cpu/cpu*/cpuidle/state[12]/usage | awk '{ n += $1 } END { print n }'; }

insmod /rig/files/other_idle.ko || fail "the other driver does not load"
load
[ "$(driver)" = other_idle ] || fail "the driver is $(driver)"
grep -qx 'mode wrap' $files/settings || fail "mode: $(cat $files/settings)"
grep -qx 'driver other_idle' $files/settings || fail "settings: $(cat $files/settings)"
used=$(usage)
guest-pingpong -w 200 -r 500 >/dev/null
used=$(($(usage) - used))
halts=$(sum halts)
echo "wrapped: $halts halts, $used times in the states that halt, $(sum hits) hits of $(sum polls) polls"
[ "$halts" -gt 100 ] || fail "the wrapped states are not used: $(cat $files/cpus)"
[ "$(sum hits)" -gt 0 ] || fail "no poll met its end: $(cat $files/cpus)"
sleep 1
[ "$(sum blocked_ns)" -gt 1000000000 ] || fail "the wrapped states never halted: $(cat $files/cpus)"
unload
[ "$(driver)" = other_idle ] || fail "the driver is $(driver) afterwards"
used=$(usage)
guest-pingpong -w 200 -r 500 >/dev/null
[ "$(usage)" -gt "$used" ] || fail "the other driver does not halt any more"

# The other way round: it cannot register while we are the driver.
rmmod other_idle || fail "the other driver does not unload"
load
if insmod /rig/files/other_idle.ko 2>/dev/null; then fail "two drivers at once"; fi
unload
insmod /rig/files/other_idle.ko || fail "the other driver does not load again"

# It goes while wrapped (it has no .owner to hold it by): nothing of it may be touched.
load
rmmod other_idle || fail "the wrapped driver does not unload"
guest-pingpong -r 200 >/dev/null
unload
dmesg | tail -n 2 | grep -q 'idle driver other_idle has gone' || fail "log says: $(dmesg | tail -n 1)"
load
[ "$(driver)" = vhalt_guest ] || fail "the driver is $(driver)"
guest-pingpong -r 200 >/dev/null
