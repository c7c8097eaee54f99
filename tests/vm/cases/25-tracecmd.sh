#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Other tools' traces of the same run: trace.dat, its report and the kernel's own text give vhalt's halts and advice.
#
# rig-limit-s: 240
#
# Needs vhalt and trace-cmd in PATH, /dev/kvm, tracefs and root.
set -u

work=$(mktemp -d)
cd "$work" || exit 1
tracing=/sys/kernel/tracing
parameters=/sys/module/kvm/parameters
instance=
recorders=
bad=0

clean_up() {
	for pid in $recorders; do kill "$pid" 2>/dev/null; done
	[ -z "$instance" ] || rmdir "$instance" 2>/dev/null
	rm -rf "$work"
}
trap clean_up EXIT

note() { echo "$*"; bad=1; }
command -v trace-cmd >/dev/null || { echo "no trace-cmd here"; exit 77; }

# wait_for COMMAND...: until it succeeds, 30 s at most.
wait_for() {
	tries=0
	until "$@" 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || { note "waited in vain: $*"; return 1; }
		sleep 0.05
	done
}
is_on() { [ "$(cat $tracing/events/kvm/kvm_vcpu_wakeup/enable)" = 1 ] && [ "$(cat $tracing/tracing_on)" = 1 ]; }

# halts FILE: "TID HALT_NS blocked invalid WINDOW DECISION OLD NEW" a line, in the order of each thread.
halts() {
	vhalt dump --json "$1" 2>>dump.err | awk '
	function get(key) {
		if (!match($0, "\"" key "\":[^,}]*")) return "?"
		text = substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3)
		gsub(/"/, "", text)
		return text
	}
	/"type":"vcpu"/ { tid[get("vcpu")] = get("tid") }
	/"type":"halt"/ { print tid[get("vcpu")], get("halt_ns"), get("blocked"), get("invalid"), get("window_ns"),
			get("decision"), get("old_ns"), get("new_ns") }' | sort -s -n -k 1,1
}

# vms FILE: "TID PID" of each vCPU.
vms() {
	vhalt dump --json "$1" 2>>dump.err | awk '
	function get(key) { match($0, "\"" key "\":[^,}]*"); return substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) }
	/"type":"vm"/ { pid[get("vm")] = get("pid") }
	/"type":"vcpu"/ { vm[get("tid")] = get("vm") }
	END { for (t in vm) print t, pid[vm[t]] }' | sort -n
}

# advice FILE: what is to be set, the best setting found, the gain and how sure it is: at the default price, and
# at one that makes longer polling pay. Shares of a CPU are left out, for recordings begin and end at their own time.
advice() {
	for price in '' '--price 1000 --max 10ms'; do
		vhalt advise $price --json -o /dev/null "$1" 2>>advise.err | awk '
		index($0, "\"recommendation\":") { inside = 1 }
		index($0, "\"auto\":") { inside = 0 }
		inside && /"(change|verdict|gain_pct|halt_poll_ns|grow|grow_start|shrink)":/ { print $1, $2 }'
	done
}

# same NAME: its halts are those of vhalt's own recording. Windows: a trace does not say what the kernel's
# parameters cap, so one that is unknown, or was not yet seen capped, may differ.
same() {
	halts "$1" >"$1.halts"
	cut -d' ' -f1-4,6-8 "$1.halts" >"$1.cut"
	cut -d' ' -f1-4,6-8 own.vht.halts >own.cut
	cmp -s own.cut "$1.cut" || { note "$1: not the halts vhalt recorded"; diff own.cut "$1.cut" | head -n 20; }
	paste -d' ' own.vht.halts "$1.halts" | awk '
		$5 != $13 && $5 != "null" && $13 != "null" && $13 < $5 { print "window: " $0; bad = 1 }
		$5 == $13 { equal++ }
		END { if (equal * 10 < NR * 9) { print "only " equal + 0 " of " NR " windows are the same"; bad = 1 } exit bad }' ||
		note "$1: not the windows vhalt recorded"
	advice "$1" >"$1.advice"
	cmp -s own.vht.advice "$1.advice" || { note "$1: not the advice of vhalt's recording"; diff own.vht.advice "$1.advice"; }
}

# A trace does not tell the parameters: these are what is assumed then.
old=$(cd $parameters && grep -H . halt_poll_ns halt_poll_ns_grow halt_poll_ns_grow_start halt_poll_ns_shrink)
put_back() { echo "$old" | while IFS=: read -r name value; do echo "$value" >$parameters/$name; done; }
if ! { echo 200000 >$parameters/halt_poll_ns && echo 2 >$parameters/halt_poll_ns_grow &&
	echo 10000 >$parameters/halt_poll_ns_grow_start && echo 2 >$parameters/halt_poll_ns_shrink; } 2>/dev/null; then
	echo "the parameters of kvm are read-only here"
	exit 77
fi

# All three watch the same whole run: the VMs begin after the last of them and end before the first.
instance=$tracing/instances/vhalt-tracecmd-$$
mkdir "$instance" || { note "no tracefs instance"; exit 1; }
echo 16384 >"$instance/buffer_size_kb"
echo 1 >"$instance/options/record-tgid"
echo 1 >"$instance/events/kvm/kvm_halt_poll_ns/enable"
echo 1 >"$instance/events/kvm/kvm_vcpu_wakeup/enable"
trace-cmd record -o trace.dat -b 16384 -e kvm:kvm_vcpu_wakeup -e kvm:kvm_halt_poll_ns >record.txt 2>&1 &
tracecmd=$!
recorders=$tracecmd
wait_for is_on || { cat record.txt; exit 1; }
vhalt record -o own.vht --json >own.json 2>own.err &
own=$!
recorders="$recorders $own"
wait_for [ -e own.vht ] || { cat own.err; exit 1; }
vhalt vm run tick burst rr --hz 500 --for "${TRACE_FOR:-2s}" --pin none >vm.txt 2>&1 || { note "vhalt vm failed"; cat vm.txt; }
vhalt vm run burst --for 1s --pin none >vm.txt 2>&1 || { note "vhalt vm failed"; cat vm.txt; }
kill -INT $own
wait $own || { note "vhalt record failed"; cat own.err; }
kill -INT $tracecmd
wait $tracecmd || { note "trace-cmd record failed"; cat record.txt; }
recorders=
echo 0 >"$instance/events/kvm/enable"
cat "$instance/trace" >ftrace
rmdir "$instance"
instance=
put_back

echo "recorded after $(cut -d. -f1 /proc/uptime) s"
trace-cmd report -N trace.dat >report 2>report.err || { note "trace-cmd report failed"; cat report.err; }
halts own.vht >own.vht.halts
advice own.vht >own.vht.advice
[ "$(wc -l <own.vht.halts)" -ge 500 ] || note "only $(wc -l <own.vht.halts) halts"
grep -q change own.vht.advice || { note "no advice to compare"; cat advise.err; }
echo "$(wc -l <own.vht.halts) halts, compared from $(cut -d. -f1 /proc/uptime) s on"
same trace.dat
same report
same ftrace
vms own.vht >own.vms
vms ftrace >ftrace.vms
cmp -s own.vms ftrace.vms || { note "ftrace's text with process ids: not the VMs vhalt recorded"; diff own.vms ftrace.vms; }
for file in trace.dat report ftrace; do
	vhalt replay --json $file 2>>replay.err | grep -q '"damaged_frames": 0' || { note "$file: damaged, or not replayed"; cat replay.err; }
done
[ $bad = 1 ] || echo "the same in trace.dat, trace-cmd's report and ftrace's text; the advice: $(tr -s ' \n' ' ' <own.vht.advice)"
[ -z "${OUT:-}" ] || { [ $bad = 0 ] && [ -z "${KEEP:-}" ]; } || cp -- own.vht trace.dat report ftrace ./*.err ./*.advice "$OUT" 2>/dev/null
exit $bad
