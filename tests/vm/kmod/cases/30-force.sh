#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 180
# Forced policies do what they say to a real KVM, and reset gives the kernel's own behaviour back.
set -eu
. /rig/files/lib.sh

attempts=/sys/kernel/debug/kvm/halt_attempted_poll

# cpu_percent: CPU time of the vCPU thread of a 200 Hz guest (5 ms timer), in percent of the time.
cpu_percent() {
	vhalt vm run tick --hz 200 --for 3s | sed -n 's/.*CPU time [^ ]* (\([0-9]*\)\.[0-9]* %).*/\1/p'
}

own=$(cpu_percent)
load

# none: a guest that KVM polls for, until it is told not to. Steady 200 us waits under a ceiling of 2 ms.
echo 2000000 >$params/halt_poll_ns
vhalt vm run tick --hz 1000 --for 60s >/dev/null &
guest=$!
polls() { [ "$(cat $attempts)" -ge "$1" ]; }
until_true polls 20
ctl set none
until_true at_least decisions 10
before=$(cat $attempts)
decided=$(sum decisions)
until_true at_least decisions $((decided + 500))
after=$(cat $attempts)
[ "$before" = "$after" ] || fail "policy none: attempted polls went from $before to $after"
echo "none: $before attempted polls before and after 500 halts"
ctl reset
until_true polls $((after + 20))
echo "reset: KVM polls again"
kill $guest
wait $guest || true
echo 200000 >$params/halt_poll_ns

# always: with the ceiling raised it burns nearly a whole CPU; without, the status says it is cut.
ctl set always:max=10ms 2>/dev/null
cut=$(cpu_percent)
vhalt vm run tick --hz 200 --for 30s >/dev/null &
guest=$!
until_true at_least clipped 20
kill $guest
wait $guest || true
ctl set --raise always:max=10ms
[ "$(cat $params/halt_poll_ns)" = 10000000 ] || fail "--raise left $(cat $params/halt_poll_ns)"
burnt=$(cpu_percent)
[ "$burnt" -gt 90 ] || fail "always:max=10ms with raised ceiling uses $burnt %"
[ "$cut" -lt 60 ] || fail "under a ceiling of 200 us always:max=10ms uses $cut %"
ctl reset
ctl restore
[ "$(cat $params/halt_poll_ns)" = 200000 ] || fail "restore left $(cat $params/halt_poll_ns)"
again=$(cpu_percent)
echo "200 Hz guest: own $own %, always under the ceiling $cut %, raised $burnt %, after reset $again %"
# Noise of this figure between runs of the emulated machine: a few points.
[ $((again - own)) -le 10 ] && [ $((own - again)) -le 10 ] || fail "after reset $again %, before $own %"

# And decision for decision: after a reset in the middle of a VM's life KVM decides as it always does.
echo 2000000 >$params/halt_poll_ns
vhalt vm run rr --for 20s >/dev/null &
guest=$!
ctl set always:max=1ms 2>/dev/null
until_true at_least decisions 200
ctl reset
decided=$(sum decisions)
halts=$(sum halts)
until_true at_least halts $((halts + 50))
vhalt record -o /tmp/own.vht --for 2s >/dev/null
[ "$(sum decisions)" = "$decided" ] || fail "decisions went on after reset"
kill $guest
wait $guest || true
vhalt replay --check-kernel /tmp/own.vht || fail "after reset KVM does not decide as KVM does"
unload
