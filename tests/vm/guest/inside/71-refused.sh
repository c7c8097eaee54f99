#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# In a guest whose kernel was told how to be idle: refused, with the reason.
set -eu
. /rig/files/lib.sh
if insmod $ko 2>/dev/null; then fail "loaded: $(cat /proc/cmdline)"; fi
dmesg | tail -n 2
dmesg | tail -n 2 | grep -q "vhalt_guest: $REASON" || fail "the reason is not in the log"
