#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 240
# Comes and goes under load, as the driver and around another, while CPU 1 goes off- and online.
set -eu
. /rig/files/lib.sh
be_guest
cycles=${VHALT_RELOADS:-50}
memory_kib() { awk '/^(Slab|Percpu|VmallocUsed):/ { n += $2 } END { print n }' /proc/meminfo; }
saw_halts() { [ "$(sum halts)" -gt 0 ]; }
until_true() {
	until "$@"; do
		usleep 10000
	done
}

online=/sys/devices/system/cpu/cpu1/online
guest-pingpong -t 200000 >/dev/null &
before=0
i=0
while [ $i -lt "$cycles" ]; do
	case $((i % 4)) in
	0) load ;;
	1) load policy=pv max_ns=1000000 ;;
	2) load policy=guest ;;
	3) load policy=none ;;
	esac
	until_true saw_halts
	# Every sixth cycle with the other driver below, every fifth with a CPU that goes and comes.
	if [ $((i % 5)) = 4 ]; then
		echo 0 >$online
		[ -z "$(of_cpu 1 host_poll_taken | grep 1)" ] || fail "an offline CPU keeps the host from polling"
		until_true saw_halts
		[ $((i % 10)) = 4 ] || unload
		echo 1 >$online
		[ ! -d /sys/module/vhalt_guest ] || until_true [ "$(of_cpu 1 halts)" -gt 0 ]
	fi
	[ ! -d /sys/module/vhalt_guest ] || unload
	if [ -d /sys/module/other_idle ]; then
		rmmod other_idle
	elif [ $((i % 6)) = 0 ]; then
		insmod /rig/files/other_idle.ko
	fi
	i=$((i + 1))
	# A first cycle brings in what stays for good.
	[ $before != 0 ] || before=$(memory_kib)
done
after=$(memory_kib)
echo "$cycles load/unload cycles: Slab+Percpu+VmallocUsed $before -> $after KiB"
[ $((after - before)) -lt 1024 ] || fail "memory grew by $((after - before)) KiB"
kill -0 $! || fail "the load has ended"
