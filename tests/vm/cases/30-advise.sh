#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Advice on real vCPUs: the demo, the kernel check, setting parameters and putting them back, stopping early.
#
# rig-limit-s: 240
#
# Needs vhalt in PATH, /dev/kvm and root.
set -u

work=$(mktemp -d)
cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
parameters=/sys/module/kvm/parameters
bad=0
note() { echo "$*"; bad=1; }
settings() { cat $parameters/halt_poll_ns $parameters/halt_poll_ns_grow $parameters/halt_poll_ns_grow_start $parameters/halt_poll_ns_shrink; }
nothing_left() {
	! grep -qs vhalt- /proc/[0-9]*/task/[0-9]*/comm || note "$1: a VM is left"
	[ "$(echo ./*.tmp)" = './*.tmp' ] || note "$1: left $(echo ./*.tmp)"
}

# The demo, from end to end.
before=$(settings)
began=$(cut -d. -f1 /proc/uptime)
vhalt advise --demo --for "${DEMO_FOR:-6s}" >demo.txt 2>demo.err || { note "demo failed"; cat demo.err; }
took=$(($(cut -d. -f1 /proc/uptime) - began))
cat demo.txt
cat demo.err
[ $took -le 60 ] || note "the demo took $took s"
[ -s demo.vht ] && [ -s advice.json ] || note "demo.vht or advice.json is missing"
grep -q '"source": "demo"' advice.json || note "advice.json is not from the demo"
grep -q '^NOW ' demo.txt || note "no advice in the text"
[ "$(settings)" = "$before" ] || note "the demo changed a parameter"
nothing_left demo
vhalt replay --check-kernel demo.vht || note "the kernel decides otherwise than policy kvm"

# Interrupted: advice from what there is, or a plain word that there is nothing; nothing left.
for signal in INT TERM; do
	vhalt advise --demo >stop.txt 2>stop.err &
	pid=$!
	sleep 3
	kill -$signal $pid
	wait $pid
	code=$?
	[ $code -le 1 ] || note "SIG$signal: exit code $code"
	grep -q 'ended by a signal\|no vCPU halted\|interrupted' stop.txt stop.err || { note "SIG$signal: says nothing"; cat stop.txt stop.err; }
	vhalt dump demo.vht >/dev/null || note "SIG$signal: demo.vht is not readable"
	nothing_left "SIG$signal"
done

# Setting what is recommended, and back. A ceiling of 10 ms for a guest that halts for 5 ms is easy to beat.
if echo 10000000 >$parameters/halt_poll_ns 2>/dev/null; then
	old=$(settings)
	vhalt vm run tick tick --hz 200 --for 120s >/dev/null 2>&1 &
	vm=$!
	# An emulated machine may be slow: as long as it takes to have enough halts for advice.
	seconds=5
	while [ $seconds -le 40 ]; do
		vhalt advise --for ${seconds}s --apply --price 1 --keep host.vht >apply.txt 2>apply.err || note "advise --apply failed"
		[ "$(settings)" = "$old" ] || break
		seconds=$((seconds * 2))
	done
	cat apply.txt apply.err
	kill -TERM $vm
	wait $vm
	[ "$(settings)" != "$old" ] || note "nothing was set"
	vhalt ctl status
	vhalt ctl restore || note "ctl restore failed"
	[ "$(settings)" = "$old" ] || note "not put back: $(settings)"
	vhalt ctl restore 2>/dev/null && note "a second restore found something"
	vhalt replay --check-kernel host.vht || note "host.vht: the kernel decides otherwise"
	echo 200000 >$parameters/halt_poll_ns
else
	vhalt advise --for 1s --apply 2>apply.err
	grep -q 'read-only' apply.err || { note "does not say that parameters are read-only"; cat apply.err; }
fi
exit $bad
