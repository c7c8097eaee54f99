#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The rows of the table, one after the other: sourced by ../cases/90-bench.sh, and run in a guest. A round trip is two
# context switches.
set -eu
. /rig/files/lib.sh

# halted_us: by the stand-in driver, where it is bound; what the module polled within its states was not halted.
halted_us() {
	polled=0
	[ ! -e $files ] || polled=$(($(sum useful_ns) + $(sum wasted_ns)))
	cat /sys/devices/system/cpu/cpu*/cpuidle/state[12]/time |
		awk -v polled=$polled '{ n += $1 } END { printf "%.0f\n", n - polled / 1000 }'
}

# row NAME BOUND [PARAM...]: measure with the module loaded so, or without it.
# Says "@begin N", and "@end N NAME BOUND SWITCH_NS HITS_PERCENT CPU_PERCENT": that of the CPUs not halted,
# of both, or - where only a host can tell.
nr=0
row() {
	nr=$((nr + 1)) name=$1 bound=$2
	shift 2
	[ $# = 0 ] || load "$@"
	guest-pingpong -r 300 >/dev/null # learn
	echo "@begin $nr"
	hits_percent=0 cpu_percent=-
	[ "$(driver)" != other_idle ] || cpu_percent=$(halted_us)
	if [ $# = 0 ]; then
		said=$(guest-pingpong -t "${VHALT_ROW_MS:-3000}")
	else
		hit_share guest-pingpong -t "${VHALT_ROW_MS:-3000}"
	fi
	[ $cpu_percent = - ] ||
		cpu_percent=$((200 - ($(halted_us) - cpu_percent) / 10 / $(value elapsed_ns "$said" | sed 's/......$//')))
	echo "@end $nr $name $bound $(($(value round_ns "$said") / 2)) $hits_percent $cpu_percent"
	sleep 1
	[ $# = 0 ] || unload
}

if [ "${WHERE:-}" = emulated ]; then
	insmod /rig/files/other_idle.ko
	# Its polling state, which the governor would choose, is not ours.
	for state in /sys/devices/system/cpu/cpu*/cpuidle/state0; do echo 1 >$state/disable; done
fi
row without -
for us in 0 10 20 50 100 200 500 ${MORE_US:-}; do
	row pv $us policy=pv max_ns=${us}000
done
for us in 200 ${MORE_US:-}; do
	row auto $us policy=auto max_ns=${us}000
done
[ "${WHERE:-}" != emulated ] || rmmod other_idle
echo "@done"
