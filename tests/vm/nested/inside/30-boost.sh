#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 200
# In the guest: critical sections, published, until the host has seen enough; then once more after
# a reboot.
insmod /rig/files/vhalt_guest.ko || exit 1
insmod /rig/files/rig_load.ko hold_us=200 fighters=3 || exit 1
echo "load runs, boot $VHALT_BOOT"
phase "$VHALT_BOOT"
echo "sections $(cat /sys/module/rig_load/parameters/sections)"
[ "$VHALT_BOOT" = 2 ] || reboot -f
rmmod rig_load && rmmod vhalt_guest
