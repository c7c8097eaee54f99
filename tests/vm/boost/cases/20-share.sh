#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 420
# Yields go to the lock's holder, by the observer: stock and steered in turn, in one boot. What must hold is
# asked of the yields made while the holder had no CPU: no yield can reach one that is running.
set -eu
. /rig/files/lib.sh
. /rig/files/boost-lib.sh

seconds=${VHALT_BOOST_SECONDS:-4}
case $(uname -r) in
6.1.*) want=${VHALT_BOOST_WANT:-850} ;;
*) want=${VHALT_BOOST_WANT:-700} ;;
esac

pause_exits
load
hogs 2
compare "${VHALT_BOOST_PAIRS:-5}" "$seconds" "$seconds"
no_hogs
better_by_200 $stock_reach $steered_reach $want
unload
