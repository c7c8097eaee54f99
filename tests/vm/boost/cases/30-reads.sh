#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 1500
# So many reads of guest memory, at good addresses, and not one fails.
set -eu
. /rig/files/lib.sh
. /rig/files/boost-lib.sh

want=${VHALT_BOOST_READS:-500000}
pause_exits
load
ctl boost on --mode kernel
hogs 1
vhalt vm run lock --vcpus 8 --for 1400s >/tmp/lock &
lock=$!
until_true boost_at_least reads "$want"
[ "$(boost_sum read_errors)" = 0 ] && [ "$(boost_sum bad_shares)" = 0 ] || fail "errors: $(ctl boost status)"
ctl boost status
kill $lock
wait $lock || true
no_hogs
unload
