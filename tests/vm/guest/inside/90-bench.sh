#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# In the guest: one row after the other, see ../cases/90-bench.sh. A round trip is two context switches.
set -eu
. /rig/files/lib.sh

# row LETTER NAME BOUND [PARAM...]: measure with the module loaded so, or without it
row() {
	letter=$1 name=$2 bound=$3
	shift 3
	[ $# = 0 ] || load "$@"
	guest-pingpong -r 300 >/dev/null # learn
	echo "@begin $letter"
	hits_percent=0
	if [ $# = 0 ]; then
		said=$(guest-pingpong -t "${VHALT_ROW_MS:-3000}")
	else
		hit_share guest-pingpong -t "${VHALT_ROW_MS:-3000}"
	fi
	echo "@end $letter $name $bound $(($(value round_ns "$said") / 2)) $hits_percent"
	sleep 1
	[ $# = 0 ] || unload
}

row a without -
row b pv 0 policy=pv max_ns=0
row c pv 10 policy=pv max_ns=10000
row d pv 20 policy=pv max_ns=20000
row e pv 50 policy=pv max_ns=50000
row f pv 100 policy=pv max_ns=100000
row g pv 200 policy=pv max_ns=200000
row h pv 500 policy=pv max_ns=500000
row i auto 200 policy=auto
