#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The micro-VMM's library on a real /dev/kvm: stops, watchdog, faults, children behind a gate; what
# guest lock publishes, resets; halts in user space.
# rig-limit-s: 180
set -u

bad=0
for test in test_vmm_kvm test_vmm_lock test_vmm_user; do
	command -v $test >/dev/null || { echo "$test was not brought along"; exit 1; }
	output=$($test 2>&1) || bad=1
	echo "$output"
	# Here is a /dev/kvm: a test that skips itself is one that cannot fail.
	case $output in
	*SKIPPED*) echo "tests of $test were skipped"; bad=1 ;;
	esac
done
exit $bad
