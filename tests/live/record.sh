#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Recording real vCPUs of this machine: the very cases which run in the emulated rig.
set -u
cd "$(dirname "$0")/../.." || exit 1

if [ ! -r /dev/kvm ] || [ ! -w /dev/kvm ]; then
	echo "no /dev/kvm on this machine, or no permission for it"
	exit 77
fi
build=$(cd "${BUILD:-build}" && pwd) || exit 1
PATH=$build:$PATH:/usr/sbin
if ! reason=$(vhalt record -o - --for 1ms 2>&1 >/dev/null); then
	echo "this machine does not let vhalt record: $reason"
	exit 77
fi
[ -d /sys/kernel/tracing/instances ] || mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
sh tests/vm/cases/20-record.sh
