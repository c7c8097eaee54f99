#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The micro-VMM's library on a real /dev/kvm: stops, watchdog, faults, children behind a gate.
set -u

command -v test_vmm_kvm >/dev/null || { echo "test_vmm_kvm was not brought along"; exit 1; }
output=$(test_vmm_kvm 2>&1)
code=$?
echo "$output"
[ $code -eq 0 ] || exit 1
# Here is a /dev/kvm: a test that skips itself is one that cannot fail.
case $output in
*SKIPPED*) echo "tests were skipped"; exit 1 ;;
esac
