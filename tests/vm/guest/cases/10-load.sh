#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The module loads in a guest of KVM with good parameters only, says why not otherwise, leaves nothing behind.
set -eu
. /rig/files/lib.sh

# refused TEXT PARAM...: insmod fails and the kernel's log says why.
refused() {
	text=$1
	shift
	if insmod $ko "$@" 2>/dev/null; then
		fail "loaded with $*"
	fi
	dmesg | tail -n 2 | grep -q "$text" || fail "$*: log says: $(dmesg | tail -n 1)"
	[ ! -d /sys/module/vhalt_guest ] || fail "a refused module stayed"
}

refused 'vhalt_guest: not a guest of KVM'
be_guest
refused 'vhalt_guest: policy=polling is not offered' policy=polling
refused 'vhalt_guest: policy= is not offered' policy=
refused 'vhalt_guest: policy=kvm is not offered' policy=kvm
refused 'vhalt_guest: policy=always is not offered' policy=always
refused 'vhalt_guest: price=1001 is out of range: 0 to 1000' price=1001
refused 'vhalt_guest: price=-2 is out of range' price=-2
refused 'vhalt_guest: price=5: policy pv has no such parameter' policy=pv price=5
refused 'vhalt_guest: max_ns=10000001 is out of range: 0 to 10000000' max_ns=10000001
refused 'vhalt_guest: max_ns=-3 is out of range' policy=pv max_ns=-3
refused 'vhalt_guest: max_ns=1: policy none has no such parameter' policy=none max_ns=1
refused 'max_ns' max_ns=4294967296
refused 'price' price=much

[ "$(driver)" = none ] || fail "this machine has an idle driver already: $(driver)"
load
[ "$(driver)" = vhalt_guest ] || fail "the driver is $(driver)"
grep -qx 'mode driver' $files/settings || fail "mode: $(cat $files/settings)"
grep -qx 'policy auto' $files/settings || fail "policy: $(cat $files/settings)"
grep -qx 'sleep 0' $files/settings || fail "auto sleeps: $(cat $files/settings)"
for file in $files/* /sys/module/vhalt_guest/parameters/*; do
	[ "$(stat -c %a "$file")" = 444 ] || fail "$file is not read-only"
done
if insmod $ko 2>/dev/null; then fail "loaded twice"; fi
unload
[ "$(driver)" = none ] || fail "the driver is $(driver) afterwards"
[ ! -e $files ] || fail "$files stayed"

load policy=pv max_ns=10000000
unload
load policy=auto price=0 max_ns=0
guest-pingpong -r 200 >/dev/null
[ "$(sum polls)" = 0 ] || fail "polls with max_ns=0"
unload
load policy=none
guest-pingpong -r 200 >/dev/null
[ "$(sum polls)" = 0 ] || fail "policy none polls"
[ "$(sum halts)" -gt 100 ] || fail "policy none does not halt"
unload

# Beside the host module, whose core is its own.
if [ -e /rig/files/vhalt_kvm.ko ]; then
	insmod /rig/files/vhalt_kvm.ko policy=auto || fail "vhalt_kvm does not load"
	load
	guest-pingpong -r 200 >/dev/null
	rmmod vhalt_kvm || fail "rmmod vhalt_kvm failed"
	guest-pingpong -r 200 >/dev/null
	unload
fi
