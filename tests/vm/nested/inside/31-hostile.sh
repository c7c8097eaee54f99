#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 200
# In the guest: garbage instead of shares, and a load, until the host has seen enough.
insmod /rig/files/rig_load.ko hold_us=200 fighters=2 || exit 1
insmod /rig/files/rig_hostile.ko seed="$SEED" || exit 1
phase 1
shares=$(cat /sys/module/rig_hostile/parameters/shares)
rmmod rig_hostile && rmmod rig_load || exit 1
echo "$shares lies"
[ "$shares" -gt 1000 ]
