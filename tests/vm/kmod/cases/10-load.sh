#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The module loads with good parameters only, changes nothing by itself, and leaves nothing behind.
set -eu
. /rig/files/lib.sh

# refused PARAM TEXT: insmod fails and the kernel's log says why, naming the parameter.
refused() {
	if insmod $ko "$1" 2>/dev/null; then
		fail "loaded with $1"
	fi
	dmesg | tail -n 3 | grep -q "vhalt_kvm: $2" || fail "$1: log says: $(dmesg | tail -n 1)"
}

refused max_vms=0 'max_vms=0 is out of range'
refused max_vms=65537 'max_vms=65537 is out of range'
refused max_vcpus=0 'max_vcpus=0 is out of range'
refused max_vcpus=4000000000 'max_vcpus=4000000000 is out of range'
refused policy=polling 'policy=polling is not a policy'
refused policy= 'policy= is not a policy'
refused max_vms=many '`many. invalid for parameter .max_vms.\|.*max_vms'
[ ! -d /sys/module/vhalt_kvm ] || fail "a refused module stayed"

want_error "vhalt_kvm is not loaded" vhalt ctl set none

load max_vms=1 max_vcpus=1
ctl status
ctl status --json | grep -q '"default":{"params":{},"policy":"kernel"}' || fail "default is not kernel"

# Nothing is changed: KVM's own decisions are those of policy kvm, with the module watching.
echo 2000000 >$params/halt_poll_ns # 200 us is too short to ever meet a wake-up of an emulated CPU
vhalt record -o /tmp/own.vht --for 2s >/dev/null &
recorder=$!
vhalt vm run rr --rounds 1500 >/dev/null
wait $recorder
echo 200000 >$params/halt_poll_ns
vhalt replay --check-kernel /tmp/own.vht || fail "the module changed what KVM decides"

# Bounded: of two VMs only one is known, the other is left to the kernel and counted.
vhalt vm run tick --hz 100 --for 20s >/dev/null &
first=$!
until_true at_least halts 50
[ "$(sum decisions)" = 0 ] || fail "the module decided although told to watch"
ctl set always:max=50us
vhalt vm run tick --hz 500 --for 300ms >/dev/null
ctl status --json | grep -q '"refused":[1-9]' || fail "no refused halt with max_vms=1"
[ "$(ctl status --json | grep -o '"pid"' | wc -l)" = 1 ] || fail "more VMs than max_vms"
kill $first
wait $first || true
until_true no_vms
unload
load policy=auto
ctl status | grep -q 'default policy auto' || fail "policy=auto was not taken"
unload
! grep -q vhalt /proc/slabinfo || fail "a slab cache stayed"
