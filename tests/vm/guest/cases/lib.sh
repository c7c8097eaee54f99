# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=dash disable=SC2034,SC2086
# Shared by the cases of the guest module (sourced): in the emulated machine and in guests inside it.
ko=/rig/files/vhalt_guest.ko
files=/sys/kernel/debug/vhalt_guest
cpuidle=/sys/devices/system/cpu/cpuidle
tracing=/sys/kernel/tracing

fail() { echo "FAILED: $*"; exit 1; }

# Whatever happens, the next case finds the machine as the first one did.
cleanup() {
	rc=$?
	trap - EXIT
	# shellcheck disable=SC2046
	kill $(jobs -p) 2>/dev/null || true
	[ ! -e /sys/devices/system/cpu/cpu1/online ] || echo 1 >/sys/devices/system/cpu/cpu1/online
	[ ! -d /sys/module/vhalt_guest ] || rmmod vhalt_guest
	[ ! -d /sys/module/other_idle ] || rmmod other_idle
	[ ! -d /sys/module/as_guest ] || rmmod as_guest
	exit $rc
}
trap cleanup EXIT

# An emulated machine is no guest of KVM: make it pass for one. A real guest is left as it is. What it takes
# to load there is kept when a script that this one sources reads this file again.
fooled=${fooled-}
be_guest() {
	! insmod $ko policy=none 2>/dev/null || { rmmod vhalt_guest; return 0; }
	insmod /rig/files/as_guest.ko \
		address="0x$(sed -n 's/ . kvm_cpuid_base\(\.[0-9]*\)\?$//p' /proc/kallsyms)" ||
		fail "this kernel does not let itself be fooled"
	# There is no host that would take a hypercall.
	fooled=share=0
}

load() { insmod $ko $fooled "$@" || fail "insmod $* failed: $(dmesg | tail -n 1)"; }
unload() { rmmod vhalt_guest || fail "rmmod vhalt_guest failed"; }
driver() { cat $cpuidle/current_driver; }

# sum COLUMN: over all CPUs, of the module's table.
sum() {
	awk -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; if (!c) exit 1 }
		NR > 1 { n += $c } END { printf "%.0f\n", n }' $files/cpus || fail "no column $1"
}

# of_cpu N COLUMN
of_cpu() {
	awk -v cpu="$1" -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i }
		NR > 1 && $1 == cpu { print $c }' $files/cpus
}

# Time polled within the windows: an emulated or preempted CPU may not get to see their end for long.
polled_ns() {
	awk 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		NR > 1 { n += $at["useful_ns"] + $at["wasted_ns"] - $at["late_ns"] }
		END { printf "%.0f\n", n }' $files/cpus
}
now_ms() { awk '{ printf "%d\n", $1 * 1000 }' /proc/uptime; }

# value NAME TEXT: the number after NAME in "NAME number" lines.
value() { echo "$2" | sed -n "s/^$1 //p"; }

# hit_share COMMAND...: run it; sets said to its output, hits_percent to how many halts polling met.
hit_share() {
	halts=$(sum halts)
	hits=$(sum hits)
	said=$("$@")
	halts=$(($(sum halts) - halts))
	hits=$(($(sum hits) - hits))
	[ $halts -gt 0 ] || fail "no halts"
	hits_percent=$((hits * 100 / halts))
}
