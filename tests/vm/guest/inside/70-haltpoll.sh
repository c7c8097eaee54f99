#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# In a guest that has bound haltpoll: it is wrapped, and given back as it was.
set -eu
. /rig/files/lib.sh
[ "$(driver)" = haltpoll ] || fail "the driver is $(driver)"
usage() { cat /sys/devices/system/cpu/cpu*/cpuidle/state1/usage | awk '{ n += $1 } END { print n }'; }

load policy=pv max_ns=10000000
grep -qx 'mode wrap' $files/settings || fail "$(cat $files/settings)"
grep -qx 'driver haltpoll' $files/settings || fail "$(cat $files/settings)"
[ "$(sum host_poll_taken)" = 0 ] || fail "took from haltpoll what was its own"
guest-nap 5000 1000
sleep 1
cat $files/cpus
[ "$(sum polls)" -gt 0 ] || fail "never polled"
[ "$(sum blocked_ns)" -gt 0 ] || fail "haltpoll's state never halted"
unload
[ "$(driver)" = haltpoll ] || fail "the driver is $(driver) afterwards"
used=$(usage)
sleep 1
[ "$(usage)" -gt "$used" ] || fail "haltpoll does not halt any more"

i=0
guest-nap 2000 60000 >/dev/null &
while [ $i -lt "${VHALT_WRAPS:-10}" ]; do
	load
	guest-nap 1000 50
	unload
	i=$((i + 1))
done
echo "wrapped and unwrapped $i times under load"
kill -0 $! || fail "the load has ended"
