#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# On recordings of real vCPUs `auto` never costs more than 1.01 times what the kernel's own policy costs,
# learning apart.
#
# rig-limit-s: 120
#
# An emulated wake-up takes so long that blocking costs 10 to 20 times the largest window, and a new vCPU
# tries some 40 windows of 200 us, once, before it is sure that none pays: 50 are allowed.
#
# Needs vhalt in PATH, /dev/kvm and root.
set -eu

work=$(mktemp -d)
cd "$work"
recorder=
trap '[ -z "$recorder" ] || kill "$recorder" 2>/dev/null; rm -rf "$work"' EXIT
bad=0

# compare NAME GUEST [OPTION...]: record a run, replay both policies at the default price.
compare() {
	name=$1
	shift
	vhalt record -o "$name.vht" --latency >"$name.record" 2>&1 &
	recorder=$!
	until [ -e "$name.vht" ]; do
		kill -0 "$recorder" || { cat "$name.record"; exit 1; }
		sleep 0.05
	done
	vhalt vm run "$@" >"$name.vm" 2>&1 || { cat "$name.vm"; exit 1; }
	kill -INT "$recorder"
	wait "$recorder"
	recorder=
	vhalt replay --policy kvm --policy auto --json "$name.vht" >"$name.json"
	set -- $(sed -n 's/^ *"cost_ns": \([0-9]*\),*$/\1/p' "$name.json")
	awk -v name="$name" -v halts="$(sed -n 's/^ *"halts": \([0-9]*\),*$/\1/p' "$name.json")" -v kvm="$1" -v auto="$2" \
		'BEGIN { printf "%s: %d halts, auto costs %.3f times kvm\n", name, halts, auto / kvm
			 exit !(halts >= 400 && auto <= 1.01 * kvm + 50 * 200000) }' || bad=1
}

compare tick250 tick --for 6s
compare tick1000 tick --hz 1000 --for 4s
compare rr rr --for 4s
compare burst burst --for 4s
compare idle idle --hz 100 --for 6s
exit $bad
