#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 200
# In the guest: every way a CPU begins or ends to publish; what is published is judged outside.
fail() { echo "$*"; exit 1; }
# ask LABEL: have it read, from each CPU, at known counts. The module refuses to stay.
ask() { ! insmod /rig/files/rig_count.ko label="$1" 2>/dev/null; }
load() { insmod /rig/files/vhalt_guest.ko "$@" || fail "cannot load vhalt_guest $*"; }
way() { awk -v cpu="$1" '$1 == cpu { print $2 }' /sys/kernel/debug/vhalt_guest/share; }

ask "boot-$VHALT_BOOT"
load
[ "$(way 0) $(way 1)" = "steal steal" ] || fail "$(cat /sys/kernel/debug/vhalt_guest/share)"
[ "$(cat /sys/module/vhalt_guest/parameters/share)" = Y ] || fail "not on by default"
ask "loaded-$VHALT_BOOT"
[ "$VHALT_BOOT" = 1 ] || exit 0

echo 0 >/sys/devices/system/cpu/cpu1/online || fail "CPU 1 cannot go"
[ "$(way 1)" = none ] || fail "CPU 1 is off and publishes"
ask offline
echo 1 >/sys/devices/system/cpu/cpu1/online || fail "CPU 1 cannot come back"
ask online
rmmod vhalt_guest || fail "cannot unload"
ask unloaded
load share=0
[ ! -e /sys/kernel/debug/vhalt_guest/share ] || fail "a file of what is off"
ask off
rmmod vhalt_guest
i=0
while [ $i -lt "$RELOADS" ]; do
	load
	rmmod vhalt_guest || fail "cannot unload, cycle $i"
	i=$((i + 1))
done
load
ask reloaded
echo "@host_poll_taken $(awk '{ n += $NF } END { print n }' /sys/kernel/debug/vhalt_guest/cpus)"
reboot -f
