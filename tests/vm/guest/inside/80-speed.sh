#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Sourced by ../cases/80-speed.sh, and run in a guest. In turn, so that a noisy neighbour disturbs both sides;
# the medians are compared.
set -eu
. /rig/files/lib.sh
rounds=${VHALT_ROUNDS:-2000}
median() { sort -n "$1" | sed -n 3p; }

for policy in auto pv; do
	rm -f /tmp/fast /tmp/slow /tmp/hits
	for i in 1 2 3 4 5; do
		value round_ns "$(guest-pingpong -r "$rounds")" >>/tmp/slow
		load policy=$policy ${MAX_NS:+max_ns=$MAX_NS}
		guest-pingpong -r 300 >/dev/null # learn
		hit_share guest-pingpong -r "$rounds"
		value round_ns "$said" >>/tmp/fast
		echo $hits_percent >>/tmp/hits
		unload
	done
	fast=$(median /tmp/fast) slow=$(median /tmp/slow) hits=$(median /tmp/hits)
	echo "${WHERE:-emulated} $policy: $hits % of halts met by polling, a round trip takes $fast ns, without $slow ns"
	echo "  (with: $(tr '\n' ' ' </tmp/fast), without: $(tr '\n' ' ' </tmp/slow), %: $(tr '\n' ' ' </tmp/hits))"
	[ "$hits" -ge 90 ] || fail "$policy met too few by polling"
	[ "$fast" -le $((slow / 2)) ] || fail "$policy is not twice as fast"
done
