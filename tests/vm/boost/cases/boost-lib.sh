# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=dash disable=SC2034
# Shared by the boost cases (sourced, after lib.sh of the host module's cases).
spy=/sys/module/rig_spy/parameters

# KVM anew, with PAUSE exits; the observer, before any VM runs (kprobes: see README.md, errata).
pause_exits() {
	# A case that was killed for its time could not clean up.
	[ ! -d /sys/module/vhalt_kvm ] || rmmod vhalt_kvm
	[ ! -d /sys/module/rig_pause ] || return 0
	rmmod kvm_amd && rmmod kvm || fail "KVM cannot be removed"
	insmod /rig/files/rig_pause.ko && insmod /rig/ko/kvm.ko && insmod /rig/ko/kvm-amd.ko ||
		fail "KVM cannot be loaded"
	insmod /rig/files/rig_spy.ko || fail "no observer"
}

# hogs N: CPU hogs, one on each of the machine's two CPUs in turn; killed by no_hogs.
hogs=
hogs() {
	i=0
	while [ $i -lt "$1" ]; do
		taskset -c $((i % 2)) sh -c 'while :; do :; done' &
		hogs="$hogs $!"
		i=$((i + 1))
	done
}
no_hogs() {
	# shellcheck disable=SC2086
	[ -z "$hogs" ] || kill $hogs
	hogs=
}

# number KEY: the first one of that name in the JSON on standard input.
number() { grep -o "\"$1\": *[0-9]*" | head -n 1 | grep -o '[0-9]*$'; }

# boost_sum KEY: over all VMs, of a counter of boost.
boost_sum() {
	ctl boost status --json | grep -o "\"$1\":[0-9]*" | cut -d: -f2 | {
		total=0
		while read -r n; do total=$((total + n)); done
		echo $total
	}
}
boost_at_least() { [ "$(boost_sum "$1")" -ge "$2" ]; }

# permille A B: A of B.
permille() { [ "$2" -gt 0 ] && echo $(($1 * 1000 / $2)) || echo 0; }

# median FILE: of one number a line.
median() { sort -n "$1" | sed -n "$((($(wc -l <"$1") + 1) / 2))p"; }

# contend SECONDS [OPTION...]: one run of the guest "lock" under the switch as it is. Sets, by the
# observer, yields; of all, in permille, share: to the lock's holder; reach: the same of those made while
# the holder had no CPU, so that they could reach it; and rounds.
contend() {
	seconds=$1
	shift
	for c in calls yields held hits running; do echo 0 >$spy/$c; done
	vhalt vm run lock --vcpus 6 --for "${seconds}s" --json "$@" >/tmp/lock.json || fail "lock: $(cat /tmp/lock.json)"
	yields=$(cat $spy/yields)
	share=$(permille "$(cat $spy/hits)" "$yields")
	reach=$(permille "$(cat $spy/hits)" $((yields - $(cat $spy/running))))
	rounds=$(number acquisitions </tmp/lock.json)
}

# compare PAIRS STOCK_SECONDS STEERED_SECONDS: stock and steered runs in turn. Sets the medians, in permille: stock and
# steered of all yields, stock_reach and steered_reach of those that could; says them and that of the throughput.
compare() {
	rm -f /tmp/compare.*
	i=0
	while [ $i -lt "$1" ]; do
		ctl boost off
		contend "$2"
		said="pair $i: of all yields $share -> " stock_rounds=$((rounds * $3 / $2)) stock_reach=$reach
		echo "$share" >>/tmp/compare.stock
		echo "$reach" >>/tmp/compare.stock-reach
		ctl boost on
		contend "$3"
		echo "$said$share permille, of those that could $stock_reach -> $reach, acquisitions $stock_rounds -> $rounds"
		echo "$share" >>/tmp/compare.steered
		echo "$reach" >>/tmp/compare.steered-reach
		permille "$rounds" "$stock_rounds" >>/tmp/compare.ratio
		i=$((i + 1))
	done
	stock=$(median /tmp/compare.stock) steered=$(median /tmp/compare.steered)
	stock_reach=$(median /tmp/compare.stock-reach) steered_reach=$(median /tmp/compare.steered-reach)
	echo "medians: of all $stock -> $steered, of those that could $stock_reach -> $steered_reach, of $1 pairs;" \
		"throughput $(median /tmp/compare.ratio) permille of stock"
}

# better_by_200 STOCK STEERED WANTED
better_by_200() {
	[ "$2" -ge "$3" ] || fail "steered share $2 permille, wanted $3"
	[ "$2" -ge $(($1 + 200)) ] || fail "steered share $2 permille, stock $1"
}
