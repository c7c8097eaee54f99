#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 240
# What the probe costs: round trips of a guest without the module, and with policy auto deciding the
# same windows as the kernel (none), in turn. Figures for people; an emulated machine proves no speed.
set -eu
. /rig/files/lib.sh

echo 0 >$params/halt_poll_ns
# The median round trip of a run in ns; each takes two halts.
round_trip() {
	vhalt vm run rr --rounds 4000 --json | grep -o '"p50_ns": *[0-9]*' | head -n 1 | grep -o '[0-9]*$'
}

without=0 with=0 i=0
round_trip >/dev/null
while [ $i -lt 5 ]; do
	a=$(round_trip)
	load policy=auto
	ctl set auto:max=0
	b=$(round_trip)
	unload
	echo "round trip: $a ns without, $b ns with auto"
	without=$((without + a))
	with=$((with + b))
	i=$((i + 1))
done
echo 200000 >$params/halt_poll_ns
echo "mean of $i: $((without / i)) ns without, $((with / i)) ns with auto: $(((with - without) * 1000 / without)) per mille (two halts each)"
