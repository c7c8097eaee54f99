#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 700
# Of all yields, those made while the holder runs included: so crowded that holder and spinner seldom run at the same
# time, and in runs that are long enough to learn what kind of lock it is (core/boost_holder.c).
set -eu
. /rig/files/lib.sh
. /rig/files/boost-lib.sh

case $(uname -r) in
6.1.*) want=780 ;;
*) want=700 ;;
esac

pause_exits
load
hogs 8
compare "${VHALT_BOOST_PAIRS:-4}" 8 24
no_hogs
better_by_200 $stock $steered $want
unload
