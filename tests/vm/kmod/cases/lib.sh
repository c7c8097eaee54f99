# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=dash disable=SC2034
# Shared by the cases of the host module (sourced).
ko=/rig/files/vhalt_kvm.ko
tracing=/sys/kernel/tracing
params=/sys/module/kvm/parameters

# Whatever happens, the next case finds the machine as the first one did.
cleanup() {
	[ ! -d $tracing/events/vhalt ] || echo 0 >$tracing/events/vhalt/enable
	[ ! -d /sys/module/vhalt_kvm ] || rmmod vhalt_kvm
	[ ! -d $params ] || echo 200000 >$params/halt_poll_ns
}
trap cleanup EXIT

fail() { echo "$*"; exit 1; }
load() { insmod $ko "$@" || fail "insmod $* failed"; }
unload() { rmmod vhalt_kvm || fail "rmmod vhalt_kvm failed"; }
ctl() { vhalt ctl "$@"; }

# want_error TEXT COMMAND...: it must fail, and say TEXT.
want_error() {
	text=$1
	shift
	if said=$("$@" 2>&1); then
		fail "should have failed: $*"
	fi
	case $said in
	*"$text"*) ;;
	*) fail "$*: said \"$said\", not \"$text\"" ;;
	esac
}

# until_true COMMAND...: ask again until it is; the case's own time limit ends what never is.
until_true() {
	until "$@"; do
		usleep 20000
	done
}

# sum KEY: over all vCPUs, of a counter in the module's status.
sum() {
	ctl status --json | grep -o "\"$1\":[0-9]*" | cut -d: -f2 | {
		total=0
		while read -r n; do total=$((total + n)); done
		echo $total
	}
}

# at_least KEY N: has the sum over all vCPUs reached N?
at_least() { [ "$(sum "$1")" -ge "$2" ]; }

no_vms() { ctl status --json | grep -q '"vms":\[\]'; }

# random N: sets r to 0..N-1, from $seed (a linear congruence; the caller prints the seed).
random() {
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	r=$((seed / 65536 % $1))
}
