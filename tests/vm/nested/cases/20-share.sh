#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 400
# What the guest module publishes, read from outside: at load, offline, online, unload, reboot;
# and by hypercall.
files=/rig/files
tracing=/sys/kernel/tracing
fail() { echo "$*"; cat /tmp/log; exit 1; }

# answer LABEL ASKING-CPU VCPU: what was read of that vCPU then, without its name.
answer() {
	grep -A 2 "@share $1: CPU $2\$" /tmp/log | sed -n "s/^guest: share vcpu $3: //p"
}
# want TEXT LABEL ASKING-CPU VCPU
want() {
	got=$(answer "$2" "$3" "$4")
	echo "$got" | grep -qx "$1" || fail "vCPU $4, asked by CPU $3, $2: '$got', not '$1'"
}
sound="version 1 width 4 mask 0x80000000 gpa 0x[0-9a-f]* count"

nested-run -r 1 -t 60 -e RELOADS="${VHALT_SHARE_RELOADS:-50}" -f $files/vhalt_guest.ko -f $files/rig_count.ko \
	$files/inside/20-share.sh >/tmp/log 2>&1 || fail "exit code $?"
for label in boot-1 unloaded off boot-2; do
	want "nothing published" $label 0 0
	want "nothing published" $label 1 1
done
# Each CPU at the count it had when it asked.
for label in loaded-1 online reloaded loaded-2; do
	want "$sound 5" $label 0 0
	want "$sound 6" $label 1 1
done
want "$sound 5" offline 0 0
want "no steal time" offline 0 1
grep '@share loaded-1' -A 2 /tmp/log
# It takes the host's polling, and a reboot gives it back: a kernel started by kexec would know nothing of it.
grep -q '@host_poll_taken 2' /tmp/log || fail "did not take the host's polling"
grep -qx 'guest: reset by vcpu [01], host polls: yes' /tmp/log || fail "$(grep 'reset by' /tmp/log)"

echo 'nr == 0x50434e54' >$tracing/events/kvm/kvm_hypercall/filter
echo 1 >$tracing/events/kvm/kvm_hypercall/enable
nested-run -S -f $files/vhalt_guest.ko $files/inside/21-hypercall.sh >/tmp/log 2>&1 || fail "exit code $?"
echo 0 >$tracing/events/kvm/kvm_hypercall/enable
grep -o 'kvm_hypercall: .*' $tracing/trace >/tmp/calls
echo >$tracing/trace
cat /tmp/calls
told='nr 0x50434e54 a0 0x[0-9a-f]* a1 0x80000000 a2 0x40001 a3 0x744c4856'
[ "$(grep -c "$told" /tmp/calls)" = 2 ] || fail "not told by each CPU"
[ "$(grep -c 'nr 0x50434e54 a0 0x0 .* a3 0x0$' /tmp/calls)" = 2 ] || fail "not withdrawn by each CPU"
[ "$(wc -l </tmp/calls)" = 4 ] || fail "other calls"
