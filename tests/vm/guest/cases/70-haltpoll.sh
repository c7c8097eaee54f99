#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 200
# Guests whose kernel has its own opinion on idling: haltpoll is bound, cpuidle is off.
set -eu
. /rig/files/lib.sh
nested-run -t 90 -p guest-nap -f /rig/files/lib.sh -f $ko -a cpuidle_haltpoll.force=1 \
	/rig/files/inside/70-haltpoll.sh
nested-run -c 1 -t 30 -f /rig/files/lib.sh -f $ko -a cpuidle.off=1 -e REASON='cpuidle is off' \
	/rig/files/inside/71-refused.sh
[ -z "${VHALT_ALL_BOOTS:-}" ] || nested-run -c 1 -t 30 -f /rig/files/lib.sh -f $ko -a idle=halt \
	-e REASON='idle= on the kernel' /rig/files/inside/71-refused.sh
