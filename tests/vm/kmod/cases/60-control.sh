#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 120
# Requests that are wrong are refused by the module itself, naming the field; vCPUs come late.
set -eu
. /rig/files/lib.sh

load
kmod-requests
kmod-vcpus
until_true no_vms
unload
