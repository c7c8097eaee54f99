#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Nested guests themselves: that one runs, and that what goes wrong inside is seen outside.
# rig-limit-s: 400
fail() { echo "$*"; exit 1; }

# guest WANTED-CODE TEXT OPTION-OR-SCRIPT...: one guest; its output must have TEXT.
guest() {
	wanted=$1 text=$2
	shift 2
	rc=0
	nested-run "$@" >/tmp/log 2>&1 || rc=$?
	if [ $rc != "$wanted" ] || ! grep -q "$text" /tmp/log; then
		cat /tmp/log
		fail "exit code $rc, wanted $wanted and '$text': nested-run $*"
	fi
}

# script NAME: for the guest, from standard input.
script() {
	{ printf '#!/bin/sh\n'; cat; } >"/tmp/$1"
}

script good <<'END'
set -x
grep -q hypervisor /proc/cpuinfo || exit 1
[ "$(grep -c ^processor /proc/cpuinfo)" = "$CPUS" ] || exit 1
[ "$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)" = kvm-clock ] || exit 1
dmesg | grep -q 'Hypervisor detected: KVM' || exit 1
[ "$(cat /rig/files/greeting)" = hello ] || exit 1
[ "$(phase)" = 7 ] || exit 1
phase 7
[ "$VHALT_BOOT" = 1 ] || [ "$VHALT_BOOT" = 2 ] || exit 1
printf '@%s\n' share # so that what set -x says of it does not ask as well
echo "boot $VHALT_BOOT says hello"
[ "$VHALT_BOOT" = 2 ] || reboot -f
exit 0
END
script bad <<'END'
echo "on purpose"
exit 3
END
script defect <<'END'
echo "<4>WARNING: CPU: 0 PID: 1 at kernel/rig.c:1 rig+0x0/0x1" >/dev/kmsg
END
script skip <<'END'
echo "nothing to do in there"
exit 77
END
script hang <<'END'
# rig-limit-s: 2
while :; do sleep 1000; done
END
script panic <<'END'
echo 1 >/proc/sys/kernel/panic_on_oops
echo c >/proc/sysrq-trigger
END
echo hello >/tmp/greeting
echo 7 >/tmp/phase
guest 0 'boot 2 says hello' -c 3 -r 1 -e CPUS=3 -f /tmp/greeting -g /tmp/phase -T /tmp/threads /tmp/good
grep -q 'boot 1 says hello' /tmp/log || fail "the first boot is not in the report"
[ "$(grep -c 'share vcpu [012]: nothing published' /tmp/log)" = 6 ] || fail "$(cat /tmp/log)"
[ "$(grep -c '^vcpu [012] tid [0-9]*$' /tmp/threads)" = 3 ] || fail "$(cat /tmp/threads)"
guest 1 'kernel defect line' /tmp/bad /tmp/hang /tmp/defect /tmp/skip
grep -q 'not ok 1 - bad .*exit code 3' /tmp/log || fail "a failing script: $(cat /tmp/log)"
grep -q 'not ok 2 - hang .*still running after 2 s' /tmp/log || fail "a hanging script: $(cat /tmp/log)"
grep -q 'not ok 3 - defect .*WARNING' /tmp/log || fail "a defect: $(cat /tmp/log)"
grep -q 'ok 4 - skip # SKIP nothing to do' /tmp/log || fail "a skip: $(cat /tmp/log)"
guest 77 '^nothing to do in there$' -c 1 -S /tmp/skip
guest 4 'the guest reset itself in boot 1 (a panic' -c 1 /tmp/panic
# Its kernel cannot end it in time: the machine is ended, and says where it stood.
NESTED_BOOT_S=1 guest 3 'vcpu 0: ' -c 1 -t 1 /tmp/skip
guest 2 'no such file' /tmp/there-is-none
exit 0
