#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Goes wrong when asked to (RIG_ON_PURPOSE), so that the rig's own reporting can be tested.
set -eu

[ -d /rig/cases ] || { echo "only inside the rig"; exit 1; }

case ${RIG_ON_PURPOSE:-} in
'') echo "RIG_ON_PURPOSE does not ask for anything"; exit 77 ;;
fail) echo "failing as asked"; exit 1 ;;
panic) echo c >/proc/sysrq-trigger; exit 1 ;;
*) echo "unknown RIG_ON_PURPOSE=$RIG_ON_PURPOSE"; exit 1 ;;
esac
