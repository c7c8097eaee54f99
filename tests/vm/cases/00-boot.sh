#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The machine is what all other cases rely on: real KVM, its tracepoints, its BTF, its parameters.
set -eu

fail() { echo "$*"; exit 1; }

grep -q '^kvm_amd ' /proc/modules || fail "kvm_amd is not loaded"
[ -c /dev/kvm ] || fail "no /dev/kvm"
for event in kvm_vcpu_wakeup kvm_halt_poll_ns kvm_exit; do
	[ -r "/sys/kernel/tracing/events/kvm/$event/format" ] || fail "no tracepoint $event"
done
[ -s /sys/kernel/btf/vmlinux ] || fail "no BTF of the kernel"
[ -s /sys/kernel/btf/kvm ] || fail "no BTF of kvm"
[ -d /sys/kernel/debug/kvm ] || fail "no KVM statistics in debugfs"

p=/sys/module/kvm/parameters
for name in halt_poll_ns halt_poll_ns_grow halt_poll_ns_grow_start halt_poll_ns_shrink; do
	old=$(cat $p/$name)
	echo 12345 >$p/$name || fail "$name cannot be written"
	[ "$(cat $p/$name)" = 12345 ] || fail "$name did not take the value written"
	echo "$old" >$p/$name
	[ "$(cat $p/$name)" = "$old" ] || fail "$name did not take its old value back"
	echo "$name=$old"
done
ip addr show lo 2>/dev/null | grep -q UP || ifconfig lo | grep -q UP || fail "the loopback is down"
