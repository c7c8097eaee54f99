#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Policy `kvm` against the kernel itself: every guest under several ceilings, every decision equal.
# Also a case of the emulated rig, where it runs on stock Debian kernels.
set -eu

vhalt=${VHALT:-${BUILD:-build}/vhalt}
seconds=${CONFORMANCE_SECONDS:-5}
ceilings=${CONFORMANCE_CEILINGS:-"30us 200us 1ms"}
at_least=${CONFORMANCE_AT_LEAST:-20000}

[ -e /dev/kvm ] || { echo "no /dev/kvm on this machine"; exit 77; }
[ "$(id -u)" = 0 ] || { echo "needs root for the recorder"; exit 77; }
parameters=/sys/module/kvm/parameters
saved=
dir=$(mktemp -d)
recorder=
clean_up() {
	[ -z "$recorder" ] || kill "$recorder" 2>/dev/null
	[ -z "$saved" ] || set_parameters $saved
	rm -rf "$dir"
}
trap clean_up EXIT

# set_parameters GROW GROW_START SHRINK
set_parameters() {
	echo "$1" >$parameters/halt_poll_ns_grow
	echo "$2" >$parameters/halt_poll_ns_grow_start
	echo "$3" >$parameters/halt_poll_ns_shrink
}

# Remembers them in $saved, and fails if they cannot be written back.
save_parameters() {
	saved="$(cat $parameters/halt_poll_ns_grow) $(cat $parameters/halt_poll_ns_grow_start) \
		$(cat $parameters/halt_poll_ns_shrink)"
	set_parameters $saved
}

# one GUEST CEILING [OPTION...]: records one run of a guest and checks it; adds to $total.
total=0
guests_checked=
one() {
	guest=$1 ceiling=$2
	shift 2
	name=$guest-$ceiling
	"$vhalt" record -o "$dir/$name.vht" >"$dir/$name.record" 2>&1 &
	recorder=$!
	# The recording has its name once every halt is kept.
	until [ -e "$dir/$name.vht" ]; do
		kill -0 "$recorder" 2>/dev/null || { cat "$dir/$name.record"; exit 1; }
		sleep 0.05
	done
	"$vhalt" vm run "$guest" --halt-poll "$ceiling" --for "${seconds}s" "$@" >"$dir/$name.vm" 2>&1 || {
		cat "$dir/$name.vm" "$dir/$name.record"
		exit 1
	}
	kill -INT "$recorder"
	wait "$recorder" || { cat "$dir/$name.record"; exit 1; }
	recorder=
	# A run in which the kernel decided nothing is no failure; that every guest was checked is asked below.
	"$vhalt" replay --check-kernel --policy "kvm:halt_poll_ns=$ceiling" "$dir/$name.vht" \
		>"$dir/$name.check" 2>&1 || grep -q '^0 of 0 ' "$dir/$name.check" || {
		echo "$name:"
		cat "$dir/$name.record" "$dir/$name.check"
		exit 1
	}
	line=$(grep 'kernel decisions reproduced' "$dir/$name.check" | head -n 1)
	echo "$name: $line"
	checked=$(echo "$line" | sed 's/^\([0-9]*\) of .*/\1/')
	[ "$checked" -eq 0 ] || guests_checked="$guests_checked $guest"
	total=$((total + checked))
}

for ceiling in $ceilings; do
	one tick "$ceiling" --hz 1000
	one rr "$ceiling"
	one burst "$ceiling" --seed 7
done
# The idle guest sleeps for milliseconds: ceilings below that leave the kernel nothing to decide.
for ceiling in 8ms 20ms 50ms; do
	one idle "$ceiling" --hz 200
done

# Other settings of the kernel's own, where they can be written.
if [ -w $parameters/halt_poll_ns_grow ] && save_parameters 2>/dev/null; then
	for setting in "3 5000 0" "2 40000 3" "5 1000 1" "0 10000 2"; do
		set_parameters $setting
		echo "grow, grow_start, shrink = $setting:"
		one burst 200us --seed 8
		one rr 1ms
	done
	set_parameters $saved
else
	echo "the parameters of kvm are read-only here: only their present values were checked"
fi
echo "$total kernel decisions reproduced in all"
for guest in tick rr burst idle; do
	case "$guests_checked " in
	*" $guest "*) ;;
	*) echo "no decision of guest $guest was checked"; exit 1 ;;
	esac
done
[ "$total" -ge "$at_least" ] || { echo "fewer than $at_least"; exit 1; }
