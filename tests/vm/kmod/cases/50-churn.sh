#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 300
# VMs start and die at random while two controllers change policies; afterwards nothing is left.
set -eu
. /rig/files/lib.sh

vms=${VHALT_CHURN_VMS:-64}
seed=${VHALT_SEED:-20261130}
echo "seed $seed"
load

# controller SEED: changes at random for as long as /tmp/churn is there. Errors of VMs that just died
# are part of the game; anything else is not.
controller() {
	seed=$1
	while [ -e /tmp/churn ]; do
		random 8
		victim=$(grep -lx vhalt /proc/[0-9]*/comm 2>/dev/null | tail -n +$((r + 1)) | head -n 1 |
			cut -d/ -f3)
		random 100
		price=$((r + 1))
		random 8
		case $r in
		0) set -- set auto ;;
		1) set -- set --vm "${victim:-999999}" always:max=100us ;;
		2) set -- set --vm "${victim:-999999}" "auto:price=$price" ;;
		3) set -- reset --vm "${victim:-999999}" ;;
		4) set -- budget $((price % 5)) ;;
		5) set -- set --vm "${victim:-999999}" kvm ;;
		6) set -- status --json ;;
		7) set -- reset ;;
		esac
		if ! said=$(ctl "$@" 2>&1); then
			case $said in
			*"no such process"* | *"no VM of this pid"*) ;;
			*) echo "vhalt ctl $*: $said" >>/tmp/churn-errors ;;
			esac
		fi
		echo . >>/tmp/churn-changes
	done
}
: >/tmp/churn
: >/tmp/churn-errors
: >/tmp/churn-changes
controller $((seed + 1)) &
one=$!
controller $((seed + 2)) &
two=$!

alive=
n=0
i=0
while [ $i -lt "$vms" ]; do
	random 900
	hz=$((r + 100))
	random 3
	case $r in
	0) set -- tick --hz $hz ;;
	1) set -- rr ;;
	2) set -- burst ;;
	esac
	vhalt vm run "$@" --for 200s >/dev/null 2>>/tmp/churn-vms &
	alive="$alive $!"
	n=$((n + 1))
	i=$((i + 1))
	random 10
	usleep $((r * 10000))
	# Kill about as many as there are new ones.
	while random 2 && [ $n -gt 0 ] && { [ $n -gt 12 ] || [ $r = 0 ]; }; do
		random $n
		# shellcheck disable=SC2086
		set -- $alive
		shift "$r"
		victim=$1
		random 2
		case $r in
		0) set -- -KILL ;;
		1) set -- -TERM ;;
		esac
		kill "$1" "$victim" 2>/dev/null || fail "a VM ended by itself: $(cat /tmp/churn-vms)"
		left=
		for pid in $alive; do [ "$pid" = "$victim" ] || left="$left $pid"; done
		alive=$left
		n=$((n - 1))
	done
done
vhalt vm run tick --hz 500 --for 200s >/dev/null 2>>/tmp/churn-vms &
alive="$alive $!"
echo "$i VMs started, $((n + 1)) left"
until_true at_least halts 1
enough() { [ "$(wc -l </tmp/churn-changes)" -ge $((vms * 2)) ]; }
until_true enough
# shellcheck disable=SC2086
kill $alive
rm /tmp/churn
wait $one
wait $two
echo "controllers ended after $(wc -l </tmp/churn-changes) requests"
wait
echo "VMs ended"
[ ! -s /tmp/churn-errors ] || fail "controllers: $(cat /tmp/churn-errors)"
until_true no_vms
ctl status
ctl status --json | grep -q '"unknown":0' || fail "halts of unknown vCPUs"
objects=$(awk '/^vhalt_v/ { print $1, $2 }' /proc/slabinfo)
echo "objects in use: $objects (spares included)"
unload
! grep -q vhalt /proc/slabinfo || fail "a slab cache stayed"
