#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 400
# Two CPUs that really run at the same time (the rig's -j): 90 % of the halts met by polling, and round trips at
# least twice as fast as without the module; in the emulated machine, then in a guest of KVM inside it.
set -eu
. /rig/files/lib.sh
if [ "$(nproc)" != 2 ]; then echo "needs two CPUs that run at the same time"; exit 77; fi
be_guest
. /rig/files/inside/80-speed.sh
rmmod as_guest
# A wake-up between its emulated CPUs takes three hundred us, ten times what it takes out here, and more than the
# default bound.
nested-run -P 0,1 -t 200 -p guest-pingpong -f /rig/files/lib.sh -f $ko -e WHERE=nested -e MAX_NS=2000000 \
	-e VHALT_ROUNDS="${VHALT_ROUNDS:-2000}" /rig/files/inside/80-speed.sh
