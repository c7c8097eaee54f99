#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 600
# A second VM that does not share: the CPU time it gets beside a boosted one, and beside the same one left
# to KVM, in turn. It fails if the median of the pairs is more than 2 % less beyond doubt: by its interval of 95 %. Work
# per CPU time is only printed: in an emulated machine that follows the load of the host (docs/boost.md).
set -eu
. /rig/files/lib.sh
. /rig/files/boost-lib.sh

pairs=${VHALT_BOOST_NEIGHBOUR_PAIRS:-25}
seconds=${VHALT_BOOST_SECONDS:-3}
pause_exits
load

# beside on|off: one run; sets cpu_us, and rate: acquisitions, of a lock nobody contends, per CPU second.
beside() {
	ctl boost "$1"
	vhalt vm run lock --vcpus 6 --for 120s >/tmp/lock &
	lock=$!
	[ "$1" = off ] || until_true boost_at_least steers 1
	vhalt vm run lock --vcpus 1 --share none --pin 0 --for "${seconds}s" --json >/tmp/neighbour.json
	kill $lock
	wait $lock || true
	cpu_us=$(($(number cpu_ns </tmp/neighbour.json) / 1000))
	rate=$(($(number acquisitions </tmp/neighbour.json) * 1000000 / cpu_us))
}

i=0
while [ $i -lt "$pairs" ]; do
	beside off
	stock=$cpu_us stock_rate=$rate
	beside on
	permille "$cpu_us" "$stock" >>/tmp/cpu
	permille "$rate" "$stock_rate" >>/tmp/rates
	echo "pair $i: CPU time $stock -> $cpu_us us, work per CPU second $stock_rate -> $rate"
	i=$((i + 1))
done
# Ranks (n + 1 +- 2 sqrt(n)) / 2 of the sorted pairs.
interval=$(sort -n /tmp/cpu | awk '{ v[NR] = $1 } END { d = 2 * sqrt(NR); print v[int((NR + 1 - d) / 2)], v[int((NR + 2 + d) / 2)] }')
echo "beside a boosted VM, permille of beside the same VM left to KVM: CPU time $(median /tmp/cpu) (95 %: $interval)," \
	"work per CPU time $(median /tmp/rates)"
[ "${interval#* }" -ge 980 ] || fail "the neighbour got less of the CPU's time"
unload
