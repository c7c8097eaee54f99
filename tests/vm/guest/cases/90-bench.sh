#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 280
# Context-switch time of a guest, and the CPU it takes from its host, against the bound of the window: the
# table of the smart-idle-poll discussion of 2017, and `auto`. An emulated machine: look at ratios only.
set -eu
. /rig/files/lib.sh
report=/tmp/report
nested-run -P 0,1 -t 250 -T /tmp/threads -p guest-pingpong -f /rig/files/lib.sh -f $ko \
	/rig/files/inside/90-bench.sh >$report 2>&1 &
vm=$!

# What the vCPUs have used so far, in ns.
used_ns() {
	sed -n 's/^vcpu .* tid //p' /tmp/threads | while read -r tid; do
		cat "/proc/$tid/schedstat"
	done | awk '{ n += $1 } END { printf "%.0f\n", n }'
}
wait_for() {
	until grep -q "@$1" $report; do
		kill -0 $vm 2>/dev/null || { cat $report; fail "the guest has ended before $1"; }
		usleep 20000
	done
}

rows=
for row in a b c d e f g h i; do
	wait_for "begin $row"
	used=$(used_ns)
	began=$(now_ms)
	wait_for "end $row"
	used=$(($(used_ns) - used))
	passed=$(($(now_ms) - began))
	# "@end ROW NAME BOUND SWITCH_NS HITS_PERCENT"
	line=$(sed -n "s/.*@end $row //p" $report)
	rows="$rows$line $((used / passed / 10000))
"
done
wait $vm

printf '%-8s %9s %10s %7s %10s %8s\n' policy bound_us switch_ns ratio cpu_percent hits_percent
printf '%s' "$rows" | awk -v json="$OUT/bench.json" -v kernel="$(uname -r)" '
	NR == 1 { first = $3; printf "{\"bench\":\"guest\",\"kernel\":\"%s\",\"rows\":[", kernel >json }
	{
		printf "%-8s %9s %10d %7.2f %10d %8d\n", $1, $2, $3, $3 / first, $5, $4
		printf "%s{\"policy\":\"%s\",\"bound_us\":%s,\"switch_ns\":%d,\"ratio\":%.3f,\"cpu_percent\":%d,\"hits_percent\":%d}",
			NR > 1 ? "," : "", $1, $2 == "-" ? "null" : $2, $3, $3 / first, $5, $4 >json
	}
	END { print "]}" >json }'
cat "$OUT/bench.json"
