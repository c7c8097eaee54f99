#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 600
# The module, KVM, the guest and the switch come and go while boost is at work.
set -eu
. /rig/files/lib.sh
. /rig/files/boost-lib.sh

cycles=${VHALT_BOOST_RELOADS:-30}
kvm_cycles=${VHALT_BOOST_KVM_RELOADS:-5}
pause_exits
steered() { boost_at_least steers $((${1:-0} + 1)); }

# Guests that are reset all the time, so their shares go and come back, in both ways of publishing.
guests() {
	vhalt vm run lock --vcpus 4 --reset 200ms --for 280s >/tmp/a &
	pids=$!
	vhalt vm run lock --vcpus 3 --reset 300ms --share hypercall --for 280s >/tmp/b &
	pids="$pids $!"
}
guests
i=0
while [ $i -lt "$cycles" ]; do
	load
	ctl boost on
	until_true steered
	[ $((i % 3)) = 0 ] || ctl boost off
	[ $((i % 3)) != 2 ] || ctl boost on --mode critical
	unload
	i=$((i + 1))
done
echo "$cycles load/unload cycles under running, resetting guests"
load
ctl boost on
until_true steered
[ "$(boost_sum read_errors)" = 0 ] || fail "errors after resets: $(ctl boost status)"
i=0
while [ $i -lt "$cycles" ]; do
	ctl boost off
	before=$(boost_sum steers)
	ctl boost on
	until_true steered "$before"
	i=$((i + 1))
done
echo "$cycles times off and on"
# shellcheck disable=SC2086
kill -KILL $pids
wait || true
gone() { [ "$(ctl boost status --json | grep -o '"pid"' | wc -l)" = 0 ]; }
until_true gone
i=0
while [ $i -lt "$kvm_cycles" ]; do
	rmmod kvm_amd && rmmod kvm || fail "KVM cannot be removed (cycle $i)"
	ctl boost status --json | grep -q '"watching":false' || fail "watching without KVM"
	insmod /rig/ko/kvm.ko && insmod /rig/ko/kvm-amd.ko || fail "KVM cannot be loaded (cycle $i)"
	ctl boost status --json | grep -q '"watching":true' || fail "not watching the new KVM"
	guests
	until_true steered
	# shellcheck disable=SC2086
	kill $pids
	wait || true
	until_true gone
	i=$((i + 1))
done
echo "$kvm_cycles reloads of KVM"
ctl boost off
unload
! grep -q vhalt /proc/slabinfo || fail "a slab cache stayed"
