#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Recording real vCPUs: every halt the kernel's own trace shows, to the nanosecond; stopping; nothing left.
#
# rig-limit-s: 180
#
# Needs vhalt in PATH, /dev/kvm and root; tests/live/record.sh runs the same file on this machine. In
# the rig, and only there, it also unloads KVM at its end and loads it again.
set -u

work=$(mktemp -d)
cd "$work" || exit 1
tracing=/sys/kernel/tracing
instance=
bad=0

clean_up() {
	[ -z "$instance" ] || rmdir "$instance"
	rm -rf "$work"
}
trap clean_up EXIT

note() { echo "$*"; bad=1; }

# value FILE KEY: of a summary, without quotes.
value() { sed -n "s/^ *\"$2\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$1"; }

# is FILE KEY VALUE
is() { [ "$(value "$1" "$2")" = "$3" ] || note "$1: $2 is \"$(value "$1" "$2")\", not \"$3\""; }

# at_least FILE KEY LEAST
at_least() { [ "$(value "$1" "$2")" -ge "$3" ] 2>/dev/null || note "$1: $2 is \"$(value "$1" "$2")\", below $3"; }

# wait_for COMMAND...: until it succeeds, 20 s at most.
wait_for() {
	tries=0
	until "$@" 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt 400 ] || { note "waited in vain: $*"; return 1; }
		sleep 0.05
	done
}

# start NAME [OPTION...]: records into NAME.vht; $! is the recorder. The file has its name once it began.
start() {
	name=$1
	shift
	vhalt record -o "$name.vht" --json "$@" >"$name.json" 2>"$name.err" &
	wait_for [ -e "$name.vht" ] || cat "$name.err"
}

# ended NAME PID [CODE]: its exit code is 0 (or CODE).
ended() {
	wait "$2"
	code=$?
	[ $code -eq "${3:-0}" ] || { note "record $1: exit code $code"; cat "$1.err"; }
}

# halts FILE: "TID HALT_NS wait|poll valid|invalid DECISION" a line, in the order of each vCPU.
halts() {
	vhalt dump --json "$1" | awk '
	function get(key) {
		if (!match($0, "\"" key "\":[^,}]*")) return "?"
		text = substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3)
		gsub(/"/, "", text)
		return text
	}
	/"type":"vcpu"/ { tid[get("vcpu")] = get("tid"); number[get("vcpu")] = get("number") }
	/"type":"halt"/ {
		v = get("vcpu")
		decision = get("decision")
		if (decision == "null") decision = "-"
		else decision = decision " " get("old_ns") " to " get("new_ns")
		print tid[v], get("halt_ns"), get("blocked") == "true" ? "wait" : "poll",
			get("invalid") == "true" ? "invalid" : "valid", decision
	}' | sort -s -n -k 1,1
}

# traced: the same from the kernel's own trace.
traced() {
	awk '
	match($0, /-[0-9]+ +\[/) { tid = substr($0, RSTART + 1) + 0 }
	/ kvm_halt_poll_ns: / {
		match($0, /halt_poll_ns [0-9]+ \((grow|shrink) [0-9]+\)/)
		split(substr($0, RSTART, RLENGTH), w, /[ ()]+/)
		decision[tid] = w[3] " " w[4] " to " w[2]
	}
	/ kvm_vcpu_wakeup: / {
		match($0, /(wait|poll) time [0-9]+ ns, polling (valid|invalid)/)
		split(substr($0, RSTART, RLENGTH), w, /[ ,]+/)
		print tid, w[3], w[1], w[6], decision[tid] ? decision[tid] : "-"
		delete decision[tid]
	}' "$1" | sort -s -n -k 1,1
}

# trace_on, trace_off FILE: a tracing instance of our own, so that others are not disturbed.
trace_on() {
	instance=$tracing/instances/vhalt-record-$$
	mkdir "$instance" || { instance=; return 1; }
	echo 16384 >"$instance/buffer_size_kb"
	echo 1 >"$instance/events/kvm/kvm_halt_poll_ns/enable"
	echo 1 >"$instance/events/kvm/kvm_vcpu_wakeup/enable"
}
trace_off() {
	echo 0 >"$instance/events/kvm/enable"
	cat "$instance/trace" >"$1"
	rmdir "$instance"
	instance=
}

# same FILE FILE: the halts are the same, and not few.
same() {
	cmp -s "$1" "$2" || { note "$1 and $2 differ"; diff "$1" "$2" | head -n 20; }
	[ "$(wc -l <"$1")" -ge 500 ] || note "$1: only $(wc -l <"$1") halts"
}

# references: how many users kvm has; nothing where it is built in.
references() { cat /sys/module/kvm/refcnt 2>/dev/null; }
references_before=$(references)

# Two recordings at once and the kernel's own trace agree on every halt of whole VMs. Several VMs on
# two CPUs, so that vCPUs are preempted and moved between a decision and its halt.
if trace_on; then
	start one --stats
	one=$!
	start two
	two=$!
	vhalt vm run tick burst rr --hz 500 --for 3s --pin none >vm.out 2>&1 || { note "vhalt vm failed"; cat vm.out; }
	vhalt vm run burst rr --for 2s --halt-poll 50us >vm.out 2>&1 || { note "vhalt vm failed"; cat vm.out; }
	kill -INT $one
	ended one $one
	kill -TERM $two
	ended two $two
	trace_off trace.txt
	traced trace.txt >traced.txt
	for name in one two; do
		is $name.json lost 0
		is $name.json file $name.vht
		at_least $name.json vcpus 7
		at_least $name.json vms 2
		halts $name.vht >$name.txt
		same $name.txt traced.txt
		[ "$(value $name.json halts)" = "$(wc -l <$name.txt)" ] || note "$name: counts differ"
	done
	at_least one.json probe_runs "$(value one.json halts)"
	grep -q grow one.txt || note "no window decision came up"
	vhalt dump --json one.vht | grep '"type":"vcpu"' >vcpus.txt
	grep -q '"number":1,"name":"vhalt-rr/1"' vcpus.txt || { note "rr's second vCPU is not named"; cat vcpus.txt; }
	! vhalt dump --json one.vht | grep -q '"gap":true' || note "a gap without a loss"
	echo "$(wc -l <one.txt) halts, $(grep -c 'grow\|shrink' one.txt) decisions, all as the kernel traced them"
else
	echo "no tracefs instance here: not compared with the kernel's own trace"
fi

# Only the VM asked for, here from before it is one, and the recording ends with it.
vhalt vm run tick --hz 200 --for 60s >/dev/null 2>&1 &
other=$!
is_running() { grep -qs "$2" /proc/"$1"/task/*/comm; }
wait_for is_running $other vhalt-tick/0
mkfifo gate
sh -c 'read -r go <gate && exec vhalt vm run rr --rounds 300' >/dev/null 2>&1 &
vm=$!
start only --pid $vm
only=$!
echo go >gate
wait $vm || note "vhalt vm run rr failed"
ended only $only
is only.json vms 1
is only.json vcpus 2
at_least only.json halts 500
[ "$(vhalt dump --json only.vht | grep -c "\"type\":\"vm\".*\"pid\":$vm,.*\"name\":\"vhalt\"")" = 1 ] || {
	note "not the VM that was asked for"
	vhalt dump --json only.vht | grep '"type":"vm"'
}

# A VM that halts all along is part of a recording from its first whole halt on; --for ends it.
start for --for 1s
ended for $!
at_least for.json duration_ns 1000000000
at_least for.json halts 20

# Wake-up latency: of blocked halts, within the halt.
start latency --latency --for 1s
ended latency $!
vhalt dump --json latency.vht | awk '
	function get(key) { match($0, "\"" key "\":[^,}]*"); return substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) }
	/"type":"info"/ && get("has_latency") != "true" { print "no latency in the file"; bad = 1 }
	/"type":"halt"/ {
		l = get("latency_ns")
		if (l == "null") next
		known++
		if (get("blocked") != "true" || l + 0 > get("halt_ns") + 0 || l + 0 == 0) { print "latency " l ": " $0; bad = 1 }
	}
	END { if (known < 20) { print "only " known + 0 " latencies"; bad = 1 } exit bad }' || note "latencies are wrong"

# Interrupted in the middle, and again by kill -9: readable, no partial name, no event left enabled.
start interrupted
interrupted=$!
sleep 0.5
kill -INT $interrupted
ended interrupted $interrupted
vhalt dump interrupted.vht >/dev/null || note "interrupted.vht is not readable"
vhalt dump --json interrupted.vht | grep -q '"type":"end".*"duration_ns":[1-9]' || note "no closing frame after SIGINT"
start killed
killed=$!
sleep 0.5
kill -KILL $killed
ended killed $killed 137
vhalt dump killed.vht >/dev/null 2>killed.txt || { note "killed.vht is not readable"; cat killed.txt; }

# A recording that was there keeps its halts under another name; a failed start touches nothing.
cp for.vht before.vht
vhalt record -o for.vht --for 100ms >/dev/null 2>for.err || note "recording again failed"
cmp -s for.vht.old before.vht || note "the earlier recording is not for.vht.old"
grep -q 'the earlier for.vht is now for.vht.old' for.err || note "it does not say that it renamed a file"
[ "$(echo ./*.tmp)" = './*.tmp' ] || note "left: $(echo ./*.tmp)"
vhalt record -o - --for 200ms 2>/dev/null | vhalt dump - >/dev/null || note "standard output is not a recording"
vhalt record -o full.vht --for 100ms --pid 999999 2>pid.err && note "a pid that is not there is accepted"
grep -q 999999 pid.err || note "the message does not name the pid"
[ ! -e full.vht ] || note "a failed start left a file"
vhalt record -o /dev/full --for 100ms 2>full.err && note "a full device goes unnoticed"
grep -q 'No space left' full.err || { note "a full device is not named"; cat full.err; }

kill -TERM $other
wait $other

# Nothing of it is left in the kernel.
if command -v bpftool >/dev/null; then
	bpftool prog list >progs.txt
	! grep -q 'on_wakeup\|on_decision' progs.txt || { note "BPF programs are left"; cat progs.txt; }
fi
[ "$(references)" = "$references_before" ] || note "kvm is still referred to"
if [ -e /rig/ko/kvm-amd.ko ] && [ "$(cat /sys/module/kvm_amd/refcnt)" = 0 ]; then
	{ rmmod kvm_amd && rmmod kvm; } || note "kvm is still in use"
	vhalt record -o none.vht --for 100ms 2>none.err && note "recorded without KVM"
	grep -q 'KVM is not loaded' none.err || { note "does not say that KVM is missing"; cat none.err; }
	[ ! -e none.vht ] || note "left a file without KVM"
	{ insmod /rig/ko/kvm.ko && insmod /rig/ko/kvm-amd.ko; } || note "kvm does not load again"
	vhalt vm run tick --for 1s >/dev/null || note "no VM after loading KVM again"
fi
exit $bad
