#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 420
# Yields go to the lock's holder, by the observer: stock and steered in turn, in one boot. What must hold is
# asked of the yields made while the holder had no CPU: no yield can reach one that is running.
set -eu
. /rig/files/lib.sh
. /rig/files/boost-lib.sh

pairs=${VHALT_BOOST_PAIRS:-5}
seconds=${VHALT_BOOST_SECONDS:-4}
case $(uname -r) in
6.1.*) want=${VHALT_BOOST_WANT:-850} ;;
*) want=${VHALT_BOOST_WANT:-700} ;;
esac

pause_exits
load
hogs "${VHALT_BOOST_HOGS:-2}"
i=0
while [ $i -lt "$pairs" ]; do
	ctl boost off
	contend "$seconds" ${VHALT_BOOST_LOCK:-}
	stock=$share stock_reach=$reach stock_rounds=$rounds
	echo "$reach" >>/tmp/stock
	ctl boost on
	contend "$seconds" ${VHALT_BOOST_LOCK:-}
	echo "$reach" >>/tmp/steered
	permille "$rounds" "$stock_rounds" >>/tmp/ratio
	echo "pair $i: of all yields $stock -> $share permille, of those that could $stock_reach -> $reach, acquisitions $stock_rounds -> $rounds"
	i=$((i + 1))
done
no_hogs
a=$(median /tmp/stock) b=$(median /tmp/steered)
echo "medians: $a stock, $b steered, of $i pairs; throughput $(median /tmp/ratio) permille of stock"
[ "$b" -ge $want ] || fail "steered share $b permille, wanted $want"
[ "$b" -ge $((a + 200)) ] || fail "steered share $b permille, stock $a"
unload
