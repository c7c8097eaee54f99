# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash disable=SC2034
# Shared by the rig's scripts (sourced, not run): where things are, and how to give up.

rig_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rig_root=$(cd "$rig_dir/../.." && pwd)
rig_build=${BUILD:-$rig_root/build}
rig_cache=${VHALT_RIG_CACHE:-$rig_build/rig}
rig_lines=(6.1 6.12)

die() {
	printf '%s: %s\n' "$(basename "$0")" "$*" >&2
	exit 1
}

usage_error() {
	printf '%s: %s\n' "$(basename "$0")" "$*" >&2
	exit 2
}

# need COMMAND PACKAGE: a tool that must be there, and the Debian package that has it.
need() {
	command -v "$1" >/dev/null || die "$1 is missing: install $2"
}
