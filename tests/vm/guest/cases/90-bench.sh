#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 400
# Context-switch time of a guest, and the CPU it takes from its host, against the bound of the window: the
# table of the smart-idle-poll discussion of 2017, and `auto`. In the emulated machine, then in a guest of
# KVM inside it, where a wake-up takes ten times as long. Look at ratios only.
set -eu
. /rig/files/lib.sh
report=/tmp/report

# table WHERE <ROWS: "NAME BOUND SWITCH_NS HITS_PERCENT CPU_PERCENT" each. Shows it, and adds it to the JSON.
table() {
	awk -v where="$1" -v json="$OUT/tables" '
		NR == 1 {
			first = $3
			printf "%-8s %8s %9s %9s %6s %11s %12s\n", "where", "policy", "bound_us", "switch_ns", "ratio", "cpu_percent", "hits_percent"
		}
		{
			printf "%-8s %8s %9s %9d %6.2f %11d %12d\n", where, $1, $2, $3, $3 / first, $5, $4
			printf "%s{\"where\":\"%s\",\"policy\":\"%s\",\"bound_us\":%s,\"switch_ns\":%d,\"ratio\":%.3f,\"cpu_percent\":%d,\"hits_percent\":%d}\n",
				(where == "nested" || NR != 1 ? "," : ""), where, $1, ($2 == "-" ? "null" : $2), $3, $3 / first, $5, $4 >>json
		}'
}

# used_ns: by the vCPUs so far
used_ns() {
	sed -n 's/^vcpu .* tid //p' /tmp/threads | while read -r tid; do
		cat "/proc/$tid/schedstat"
	done | awk '{ n += $1 } END { printf "%.0f\n", n }'
}

if [ "$(nproc)" != 2 ]; then echo "needs two CPUs that run at the same time"; exit 77; fi
be_guest
export WHERE=emulated
. /rig/files/inside/90-bench.sh >/tmp/emulated
sed -n 's/^@end [0-9]* //p' /tmp/emulated | table emulated
rmmod as_guest

# Read as it comes: looking for it again and again would take the vCPUs' time, and the module would notice.
nested-run -P 0,1 -t 250 -T /tmp/threads -p guest-pingpong -f /rig/files/lib.sh -f $ko -e MORE_US=2000 \
	/rig/files/inside/90-bench.sh | while read -r line; do
	case $line in
	*@begin*) used=$(used_ns) began=$(now_ms) ;;
	*@end*)
		used=$(($(used_ns) - used))
		line=${line#*@end * }
		echo "${line% -} $((used / ($(now_ms) - began) / 10000))"
		;;
	*@done*) echo "done" ;;
	*) echo "$line" >>$report ;;
	esac
done >/tmp/nested
grep -q "^done$" /tmp/nested || { cat $report; fail "the guest has ended early"; }
sed '$d' /tmp/nested | table nested
{
	printf '{"bench":"guest","kernel":"%s","rows":[\n' "$(uname -r)"
	cat "$OUT/tables"
	echo ']}'
} >"$OUT/bench.json"
rm "$OUT/tables"
