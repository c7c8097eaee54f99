#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# vhalt bench: every row of `halt` has its figures on real vCPUs, KVM's parameters are as before, also
# after an interrupt; ctxsw and rr run; the waiter keeps its promises on this kernel.
# rig-limit-s: 240
#
# An emulated machine says nothing about speed: rows, keys and exit codes only.
set -u

parameters=/sys/module/kvm/parameters
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

note() { echo "$*"; bad=1; }
halt_parameters() { (cd $parameters && grep . halt_poll_ns*); }

# rows_of: names of the rows in $work/out that have a figure of that key.
rows_with() {
	awk -v key="\"$1\": {" '/"name":/ { name = $0; gsub(/.*"name": "|",?$/, "", name) }
		index($0, key) { print name }' "$work/out"
}

before=$(halt_parameters)
if ! vhalt bench halt --rounds 1 --for 300ms --policy none --policy auto --json >"$work/out" 2>"$work/err"; then
	note "bench halt failed"
	cat "$work/err" "$work/out"
fi
for key in idle_cpu_pct tick_cpu_pct tick_late_us trip_mean_us trip_p99_us mixed_cost_us; do
	rows_with $key >"$work/rows"
	for row in "kernel none" "kernel always" "kernel dynamic" "user none" "user auto" "in guest auto"; do
		grep -qx "$row" "$work/rows" || note "bench halt: $key: no figure in row \"$row\""
	done
done
[ $bad -eq 0 ] || cat "$work/out"
[ "$(halt_parameters)" = "$before" ] || note "bench halt: parameters changed: $(halt_parameters)"

# Interrupted in the row that changes the parameters, which this one makes likely: they are put back.
vhalt bench halt --rounds 50 --for 1s --policy none >"$work/out" 2>"$work/err" &
pid=$!
tries=0
while [ "$(cat $parameters/halt_poll_ns_shrink)" != 1 ] && [ $tries -lt 1200 ]; do
	usleep 50000
	tries=$((tries + 1))
done
[ $tries -lt 1200 ] || note "bench halt: row \"kernel always\" never began"
kill -TERM $pid
wait $pid
code=$?
[ $code -eq 1 ] || note "interrupted bench halt: exit code $code, not 1"
grep -q interrupted "$work/err" || note "interrupted bench halt says nothing of it"
[ "$(halt_parameters)" = "$before" ] || note "after the interrupt the parameters are $(halt_parameters)"

for bench in ctxsw rr; do
	vhalt bench $bench --rounds 1 --for 100ms --policy auto:max=50us --json >"$work/out" 2>"$work/err" ||
		note "bench $bench failed: $(cat "$work/err")"
	grep -q '"auto:max_ns=50us"' "$work/out" || note "bench $bench: no row auto:max_ns=50us"
done
# The waiter's own tests, where they were brought along: rseq, futex and membarrier of this kernel.
for program in test_wait test_wait_polite; do
	command -v $program >/dev/null || continue
	$program >"$work/out" 2>&1 || { note "$program failed"; grep -E 'ERROR|LINE|FAILED' "$work/out"; }
done
exit $bad
