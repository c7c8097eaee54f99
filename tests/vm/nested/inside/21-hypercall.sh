#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# In a guest without steal time: the host is told by hypercall.
insmod /rig/files/vhalt_guest.ko || exit 1
[ "$(grep -c ' hypercall 0x' /sys/kernel/debug/vhalt_guest/share)" = 2 ] || exit 1
cat /sys/kernel/debug/vhalt_guest/share
rmmod vhalt_guest
