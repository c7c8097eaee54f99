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

# fetch_package NAME [VERSION]: from apt's archives into the cache, whole or not at all; prints the file.
fetch_package() {
	local want=$1${2:+=$2} into file options=(-qq)
	# Root's downloads go to a folder that apt's own user cannot write: do not try, then warn.
	[[ $(id -u) != 0 ]] || options+=(-o APT::Sandbox::User=root)
	mkdir -p "$rig_cache/debs"
	into=$(mktemp -d "$rig_cache/debs/fetching.XXXXXX")
	printf '%s: fetching %s\n' "$(basename "$0")" "$want" >&2
	(cd "$into" && apt-get "${options[@]}" download "$want" >&2) ||
		die "cannot fetch $want (apt-get download failed)"
	file=$(find "$into" -name "$1_*.deb" -size +0)
	[[ -n $file ]] || die "apt-get download did not leave $want"
	mv "$file" "$rig_cache/debs/"
	rm -r "$into"
	echo "$rig_cache/debs/${file##*/}"
}

# built LOG COMMAND...: run it; neither failure nor a warning is let through.
built() {
	local log=$1
	shift
	if ! "$@" >"$log" 2>&1; then
		cat "$log" >&2
		die "does not build: $*"
	fi
	! grep -E 'warning:|error:' "$log" >&2 || die "warnings from: $*"
}

# product_modules RELEASE KDIR: vhalt_kvm.ko and vhalt_guest.ko into $rig_build/kmod/RELEASE, checked by sparse
# where it is installed, without KVM's symbols.
product_modules() {
	local out=$rig_build/kmod/$1 check=0 used
	! command -v sparse >/dev/null || check=1
	mkdir -p "$out"
	built "$rig_build/kmod/build-$1.log" make -s -j"$(nproc)" -C "$rig_root/kmod" KDIR="$2" OUT="$out" C=$check
	used=$(nm -u "$out/vhalt_kvm.ko" | grep -E ' (kvm_|__traceiter_kvm|__tracepoint_kvm|halt_poll_ns)' || true)
	[[ -z $used ]] || die "the module uses symbols of KVM: $used"
}

# test_modules RELEASE KDIR SUITE: the modules of SUITE/modules, helpers of its cases, into $rig_build/SUITE/RELEASE.
test_modules() {
	local out=$rig_build/$3/$1 file
	mkdir -p "$out"
	for file in "$rig_dir/$3"/modules/*; do ln -sfn "$file" "$out/"; done
	built "$rig_build/$3/build-$1.log" make -s -j"$(nproc)" -C "$2" M="$out" ROOT="$rig_root" modules
}

# on_all_lines NAME FUNCTION: FUNCTION LINE for all kernels at the same time. Their reports as TAP: "6.1.192: ok 1 -
# 10-load.sh # 0.5 s" becomes "ok NAME 6.1.192 10-load.sh # 0.5 s". Return: 1 if one of them failed.
on_all_lines() {
	local line bad=0
	mkdir -p "$rig_build/rig"
	for line in "${rig_lines[@]}"; do
		"$2" "$line" >"$rig_build/rig/$1-$line.log" 2>&1 &
	done
	for line in "${rig_lines[@]}"; do
		wait -n || bad=1
	done
	sed -E "s/^([0-9.]+): (ok|not ok) [0-9]+ - /\2 $1 \1 /; s/^([0-9.]+): /# \1: /" "$rig_build/rig/$1"-[0-9]*.log
	return $bad
}
