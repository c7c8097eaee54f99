#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The micro-VMM on this machine's /dev/kvm: the very cases which run in the emulated rig.
set -u
cd "$(dirname "$0")/../.." || exit 1

if [ ! -e /dev/kvm ]; then
	echo "no /dev/kvm on this machine"
	exit 77
fi
if [ ! -r /dev/kvm ] || [ ! -w /dev/kvm ]; then
	echo "no permission for /dev/kvm"
	exit 77
fi
build=$(cd "${BUILD:-build}" && pwd) || exit 1
# Real vCPUs are late by microseconds; leave room for a machine with other work.
export VMM_MET_PERCENT=90
PATH=$build:$build/tests:$PATH
sh tests/vm/cases/10-vmm.sh && sh tests/vm/cases/11-vmm-api.sh
