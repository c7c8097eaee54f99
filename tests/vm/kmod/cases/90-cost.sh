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

round_trip >/dev/null
i=0
while [ $i -lt 7 ]; do
	round_trip >>/tmp/without
	load policy=auto
	ctl set auto:max=0
	round_trip >>/tmp/with
	unload
	i=$((i + 1))
done
echo "round trips without: $(sort -n /tmp/without | tr '\n' ' ')ns"
echo "round trips with auto: $(sort -n /tmp/with | tr '\n' ' ')ns"
a=$(sort -n /tmp/without | sed -n 4p)
b=$(sort -n /tmp/with | sed -n 4p)
echo "medians of $i: $a ns without, $b ns with auto: $(((b - a) * 1000 / a)) per mille (two halts each)"
