#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 300
# The module comes and goes under running vCPUs, KVM comes and goes under the module; nothing leaks.
set -eu
. /rig/files/lib.sh

cycles=${VHALT_RELOADS:-100}
kvm_cycles=${VHALT_KVM_RELOADS:-20}
saw_halts() { [ "$(sum halts)" -gt 0 ]; }
slab_kib() { awk '/^(Slab|Percpu|VmallocUsed):/ { n += $2 } END { print n }' /proc/meminfo; }

guests=
for g in "rr --for 280s" "tick --hz 500 --for 280s" "burst --for 280s"; do
	# shellcheck disable=SC2086
	vhalt vm run $g >/dev/null &
	guests="$guests $!"
done

# A first cycle brings in what stays for good (tracing's buffers and the like).
load policy=auto
until_true saw_halts
unload
before=$(slab_kib)
i=0
while [ $i -lt "$cycles" ]; do
	case $((i % 4)) in
	0) load policy=auto ;;
	1) load policy=always ;;
	2) load ;;
	3) load policy=kvm; echo 1 >$tracing/events/vhalt/enable ;;
	esac
	until_true saw_halts
	unload
	i=$((i + 1))
done
after=$(slab_kib)
echo "$cycles load/unload cycles: Slab+Percpu+VmallocUsed $before -> $after KiB"
! grep -q vhalt /proc/slabinfo || fail "a slab cache stayed"
# A leak of one vCPU's record per cycle would be over 100 KiB, of a pool's spares over 5 MiB.
[ $((after - before)) -lt 1024 ] || fail "memory grew by $((after - before)) KiB"

load policy=auto
until_true saw_halts
# KVM in use cannot go, with the module or without.
rmmod kvm_amd 2>/dev/null && fail "kvm_amd could be removed under running guests"
# shellcheck disable=SC2086
kill $guests
wait
until_true no_vms
i=0
while [ $i -lt "$kvm_cycles" ]; do
	rmmod kvm_amd && rmmod kvm || fail "KVM cannot be removed (cycle $i)"
	# Its exit code says that there are no parameters of KVM to show.
	said=$(ctl status --json 2>/dev/null) && fail "status found parameters of KVM without KVM"
	echo "$said" | grep -q '"attached":false' || fail "still attached without KVM: $said"
	insmod /rig/ko/kvm.ko && insmod /rig/ko/kvm-amd.ko || fail "KVM cannot be loaded (cycle $i)"
	ctl status --json | grep -q '"attached":true' || fail "not attached to the new KVM"
	ctl status --json | grep -q '"ceiling_ns":200000' || fail "the new KVM's parameter is not seen"
	vhalt vm run tick --hz 500 --for 20s >/dev/null &
	until_true saw_halts
	at_least decisions 1 || fail "no decision after reload $i"
	kill $!
	wait
	until_true no_vms
	i=$((i + 1))
done
echo "$kvm_cycles reloads of KVM"
ctl status --json | grep -q '"unknown":0' || fail "halts of unknown vCPUs: $(ctl status)"
unload
