#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The micro-VMM's guests run for seconds with sane counts; ends, faults and exit codes are as said.
#
# Needs vhalt in PATH and /dev/kvm; tests/live/vm.sh runs the same file on this machine. Counts
# only: an emulated machine says nothing about speed, so bounds are wide where time decides.
# rig-limit-s: 180
set -u

# The share of its periods a 250 Hz guest must meet. A busy emulator needs milliseconds for one.
met_percent=${VMM_MET_PERCENT:-25}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

note() { echo "$*"; bad=1; }

# vm EXPECTED-CODE ARGUMENT...: vhalt vm ..., its JSON in $work/out, messages in $work/err.
vm() {
	expected=$1
	shift
	what="vhalt vm $*"
	vhalt vm "$@" --json >"$work/out" 2>"$work/err"
	code=$?
	[ $code -eq "$expected" ] && return
	note "$what: exit code $code, not $expected"
	cat "$work/out" "$work/err"
}

# value KEY [NUMBER]: the first (or that) value of KEY in the JSON, without quotes.
value() {
	sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$work/out" |
		sed -n "${2:-1}p"
}

# is KEY VALUE [NUMBER]
is() {
	v=$(value "$1" "${3:-1}")
	[ "$v" = "$2" ] || note "$what: $1 is \"$v\", not \"$2\""
}

# within KEY LOW HIGH [NUMBER]
within() {
	v=$(value "$1" "${4:-1}")
	{ [ "$v" -ge "$2" ] && [ "$v" -le "$3" ]; } 2>/dev/null ||
		note "$what: $1 is \"$v\", not within $2 to $3"
}

# ticks_of HZ PERCENT: the periods met or left out are those of the time it ran, less a start of
# 15 % at most; the guest met at least PERCENT of them.
ticks_of() {
	periods=$(($(value wakeups) + $(value missed)))
	due=$(($(value elapsed_ns) * $1 / 1000000000))
	{ [ $periods -ge $((due * 85 / 100)) ] && [ $periods -le $((due + due / 100 + 1)) ]; } ||
		note "$what: $periods periods, $due were due"
	within wakeups $((periods * $2 / 100)) $((periods + 1))
}

# says TEXT: in the messages or the JSON.
says() {
	grep -qF "$1" "$work/out" "$work/err" && return
	note "$what: does not say \"$1\""
	cat "$work/err"
}

# tick: 250 Hz for 4 s are 1000 wake-ups, less the periods a busy machine left out.
vm 0 run tick --hz 250 --for 4s
is end time
within elapsed_ns 4000000000 9000000000
ticks_of 250 "$met_percent"
within halts "$(value wakeups)" $(($(value wakeups) + 1))
within halt_exits 1 "$(value halts)"

# KVM's clamp of periodic timers (200 us) does not hold one-shot ones back.
vm 0 run tick --hz 10000 --for 1s
ticks_of 10000 1

# idle: one wake-up a second.
vm 0 run idle --for 3500ms
within wakeups 2 3
vm 0 run idle --hz 20 --rounds 10
is end "done"
is wakeups 10

# rr: exactly the rounds asked for, on both sides, each with one wake-up; a think time costs time.
vm 0 run rr --rounds 2000
is end "done"
for n in 1 2; do
	is rounds 2000 $n
	is wakeups 2000 $n
done
is halts 2000
is latency_kind round_trip
is count 2000
[ "$(value latency 2)" = null ] || note "$what: the responder measures round trips"
within p50_ns 1 "$(value p99_ns)"
vm 0 run rr --for 2s --think 1ms
is end time
within rounds 100 2000
within rounds "$(value rounds)" $(($(value rounds) + 1)) 2

# burst: the seed fixes the sequence; the digest is the one tests/unit/test_vmm_draw.c computes.
vm 0 run burst --rounds 100 --seed 1
is rounds 100
is timers_digest 6fd5dc1a7f9bc2a1
vm 0 run burst --rounds 100 --seed 2
other=$(value timers_digest)
[ "$other" != 6fd5dc1a7f9bc2a1 ] || note "$what: the seed does not matter"
vm 0 run burst --rounds 100 --seed 2
is timers_digest "$other"
vm 0 run burst --for 2s --short 50us --long 5ms --short-percent 50
is end time
within wakeups 100 4000

# lock: exactly the acquisitions asked for, by each vCPU; the lock excludes; it waits by spinning.
vm 0 run lock --rounds 300
is end "done"
is acquisitions 1200
for n in 1 2 3 4; do
	is rounds 300 $n
	is count 300 $n
done
is latency_kind lock_wait
is share steal
vm 0 run lock --vcpus 1 --rounds 50 --hold 1ms --gap 0
is acquisitions 50
within elapsed_ns 50000000 60000000000
vm 0 run lock --for 1s --vcpus 6 --hold 0 --gap 0 --share none
is end time
all=0
for n in 1 2 3 4 5 6; do
	all=$((all + $(value rounds $n)))
done
within acquisitions $all $((all + 1))

# Published by hypercall: once by each vCPU, and withdrawn once. The host sees number and arguments.
trace=/sys/kernel/tracing/instances/vhalt-vm-case
if [ -w /sys/kernel/tracing/events/kvm/kvm_hypercall/enable ]; then
	mkdir $trace || note "no trace instance"
	echo 1 >$trace/events/kvm/kvm_hypercall/enable
	vm 0 run lock --rounds 50 --vcpus 3 --share hypercall
	echo 0 >$trace/events/kvm/kvm_hypercall/enable
	# a1: the mask, a2: version and width, a3: the magic, or 0.
	for magic in 0x744c4856 0x0; do
		n=$(grep -c "nr 0x50434e54 a0 0x710[048]0 a1 0x80000000 a2 0x40001 a3 $magic" $trace/trace)
		[ "$n" -eq 3 ] || { note "$what: $n hypercalls with a3 $magic, not 3"; grep hypercall $trace/trace; }
	done
	rmdir $trace
fi

# Resets in the middle, and a guest that publishes garbage: the host stands it, the guest goes on.
vm 0 run lock --for 1s --vcpus 3 --reset 200ms
is end time
within resets 1 5
vm 0 run lock --for 2s --vcpus 3 --share hostile --seed 3 --reset 500ms
is end time
within resets 1 4
within acquisitions 1 2000000
vm 2 run tick --reset 1s
says 'guest tick cannot be reset'
vm 2 run lock --vcpus 9

# A ceiling of 0 stops KVM's polling; without one the counters are KVM's own business.
vm 0 run tick --for 1s --halt-poll 0
is halt_attempted_poll 0
vm 0 run tick --for 1s --halt-poll 50ms
within halt_successful_poll 1 300

# Interrupt controllers in user space: the same guests, their halts wait in our engine.
vm 0 run tick --hz 250 --for 1500ms --irqchip user --policy none
is end time
is irqchip user
is policy none
ticks_of 250 $((met_percent / 10))
is halt_attempted_poll 0
within halts "$(value wakeups)" $(($(value wakeups) + 1))
within deadlines 1 "$(value halts)"
vm 0 run tick --hz 250 --for 1s --irqchip user --policy always:max_ns=20ms
within halt_attempted_poll 1 "$(value halts)"
within halt_successful_poll 1 "$(value halts)"
vm 0 run idle --hz 20 --rounds 10 --irqchip user
is end "done"
is wakeups 10
is policy auto
for policy in none always auto:sleep=1; do
	vm 0 run rr --rounds 100 --irqchip user --policy $policy
	is end "done"
	for n in 1 2; do
		is rounds 100 $n
		is wakeups 100 $n
	done
	is count 100
done
vm 0 run burst --rounds 100 --seed 1 --irqchip user
is timers_digest 6fd5dc1a7f9bc2a1
vm 0 run lock --rounds 100 --irqchip user
is acquisitions 400
vm 0 run lock --for 500ms --vcpus 3 --reset 100ms --irqchip user
within resets 1 5
vm 1 run crash:port tick --rounds 50 --irqchip user
says 'guest crash, vCPU 0: unexpected exit 2 (IO), OUT to port 0x52, 1 byte(s) at RIP 0x10'
is end "done" 2

# The guests' own polling, under either.
vm 0 run tick --hz 250 --for 1s --guest-policy always:max_ns=20ms --halt-poll 0
is guest_policy always
within attempted 1 "$(value halts)"
within successful 1 "$(value halts)"
within halts "$(value wakeups)" $(($(value wakeups) + 1))
vm 0 run burst --rounds 100 --seed 1 --guest-policy auto --irqchip user --policy none
is timers_digest 6fd5dc1a7f9bc2a1
for irqchip in kernel user; do
	vm 0 run rr --rounds 200 --guest-policy always:max_ns=1s --irqchip $irqchip
	is end "done"
	for n in 1 2; do
		is rounds 200 $n
		within attempted 199 201 $n
		within halts 0 100 $n
	done
done
vm 0 run rr --rounds 200 --guest-policy none
is rounds 200
is attempted 0

# A guest that dies says how, and takes only its own VM with it.
vm 1 run crash:port tick --rounds 200
is end failed
says 'guest crash, vCPU 0: unexpected exit 2 (IO), OUT to port 0x52, 1 byte(s) at RIP 0x10'
is end "done" 2
is wakeups 200 2
vm 1 run crash:exception
says 'guest crash, vCPU 0: exception 6, error code 0x0, CS 0x23, RSP 0x23f'
vm 1 run crash:triple
says 'guest crash, vCPU 0: unexpected exit 8 (SHUTDOWN), triple fault at RIP 0x'
vm 0 run crash:spin --for 300ms
is end time
is halts 0

# A signal ends the run early; the result is printed all the same.
what='vhalt vm run, ended by SIGTERM'
vhalt vm run tick rr --for 60s --json >"$work/out" 2>"$work/err" &
pid=$!
waited=0
until grep -qs vhalt-rr/1 /proc/$pid/task/*/comm || [ $waited -ge 200 ]; do
	sleep 0.1
	waited=$((waited + 1))
done
kill -TERM $pid
wait $pid || note "$what: exit code $?"
is end stopped
is end stopped 2
within elapsed_ns 1 50000000000

# Also when all vCPUs are halted, and in user space.
what='vhalt vm run idle --irqchip user, ended by SIGTERM'
vhalt vm run idle --for 60s --irqchip user --json >"$work/out" 2>"$work/err" &
pid=$!
waited=0
until grep -qs vhalt-idle/0 /proc/$pid/task/*/comm || [ $waited -ge 200 ]; do
	sleep 0.1
	waited=$((waited + 1))
done
kill -TERM $pid
wait $pid || note "$what: exit code $?"
is end stopped
within elapsed_ns 1 50000000000

# Pinning: rr apart by default, as listed, or not at all.
if [ "$(grep -c '^processor' /proc/cpuinfo)" -ge 2 ]; then
	vm 0 run rr --rounds 10
	[ "$(value cpu)" != "$(value cpu 2)" ] || note "$what: both vCPUs on CPU $(value cpu)"
	is note null
fi
cpu=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)
vm 0 run rr --rounds 10 --pin "$cpu"
is cpu "$cpu"
is cpu "$cpu" 2
says '2 vCPUs share 1 CPU'
vm 0 run rr --rounds 10 --pin none
is cpu null
vm 1 run tick --pin 1023
says 'cannot pin vCPU 0 to CPU 1023'

# Wrong usage.
vm 2 run nobody
says 'no guest is called "nobody"'
vm 2 run
vm 2 run rr --policy auto
says 'policy needs --irqchip user'
vm 2 run rr --irqchip user --policy nobody
says 'nobody'
vm 2 run rr --irqchip kvm
vm 2 run tick --guest-policy auto:sleep=1
says 'sleep must be 0'
vm 2 run lock --guest-policy auto
says 'never idles'
vm 2 run burst --short 3ms
says 'long_ns 2000000 is out of range'

[ $bad -eq 0 ] && echo "all as expected"
exit $bad
