#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Policy `kvm` decides what this kernel decides; the same file checks real hosts (tests/live).
#
# rig-limit-s: 300
set -eu

VHALT=vhalt CONFORMANCE_SECONDS=3 CONFORMANCE_AT_LEAST=10000 sh /rig/files/conformance.sh
