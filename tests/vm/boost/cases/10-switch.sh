#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# rig-limit-s: 240
# The switch: off by default, per VM, wrong requests refused; both ways of publishing; a guest that
# does not publish; nothing is watched when nobody is boosted.
set -eu
. /rig/files/lib.sh
. /rig/files/boost-lib.sh

want_error "vhalt_kvm is not loaded" vhalt ctl boost on
pause_exits
load

watching() { ctl boost status --json | grep -q "\"watching\":$1"; }
is() { ctl boost status --json | grep -q "\"boost\":\"$1\",.*\"own\":$2,\"pid\":$3,"; }

watching false || fail "watching although nobody asked for it"
ctl boost status --json | grep -q '"default":"off"' || fail "not off by default"
want_error 'not on, off, status' vhalt ctl boost maybe
want_error 'not on, off, status' vhalt ctl boost default
want_error '"all" is not kernel, critical or holder' vhalt ctl boost on --mode all
want_error 'goes with boost on' vhalt ctl boost off --mode holder
want_error 'no such process' vhalt ctl boost on --vm 999999
want_error 'no VM of this pid is known' vhalt ctl boost status --vm 999999
watching false || fail "a refused request left something on"

# One VM's own choice; it goes with the VM, and the probes with the last one.
vhalt vm run lock --vcpus 4 --for 230s >/tmp/one &
one=$!
# A VM is known from its first exit while it is to be boosted: that is how its process is found here.
found() { pid=$(ctl boost status --json | number pid) && [ -n "$pid" ]; }
ctl boost on --mode kernel
until_true found
ctl boost off
watching false || fail "still watching, though off"
ctl boost on --vm "$pid"
until_true boost_at_least steers 1
until_true boost_at_least reads 200
watching true || fail "not watching"
is holder true "$pid" || fail "not its own choice: $(ctl boost status --json)"
ctl boost on --vm "$pid" --mode critical
is critical true "$pid" || fail "mode not taken: $(ctl boost status --json)"
[ "$(boost_sum reads)" -ge 200 ] || fail "counts were lost with the mode"
ctl boost off --vm "$pid"
watching false || fail "still watching"
before=$(boost_sum reads)
[ "$before" -ge 200 ] || fail "counts were lost when boost went off"
ctl boost on
watching true || fail "the default does not count"
is off true "$pid" || fail "its own choice was overridden"
[ "$(boost_sum reads)" = "$before" ] || fail "read although off"
ctl boost default --vm "$pid"
is holder false "$pid" || fail "does not follow the default: $(ctl boost status --json)"
until_true boost_at_least reads $((before + 200))
ctl boost off
ctl boost on --vm "$pid" --mode kernel
steers=$(boost_sum steers)
until_true boost_at_least reads $(($(boost_sum reads) + 200))
[ "$(boost_sum steers)" = "$steers" ] || fail "mode kernel steered"
ctl boost status
kill $one
wait $one || true
until_true watching false

# By hypercall: told once, so the switch must be on before. Then not at all.
ctl boost on
vhalt vm run lock --vcpus 4 --share hypercall --for 230s >/tmp/two &
two=$!
until_true boost_at_least reads 200
[ "$(boost_sum read_errors)" = 0 ] || fail "errors by hypercall: $(ctl boost status)"
until_true boost_at_least steers 1
kill $two
wait $two || true
no_boost() { [ "$(ctl boost status --json | grep -o '"pid"' | wc -l)" = 0 ]; }
until_true no_boost
vhalt vm run lock --vcpus 4 --share none --for 230s >/tmp/three &
three=$!
until_true boost_at_least unshared 200
[ "$(boost_sum reads)" = 0 ] && [ "$(boost_sum steers)" = 0 ] || fail "of nothing: $(ctl boost status)"
kill $three
wait $three || true
ctl boost off
unload
! grep -q vhalt /proc/slabinfo || fail "a slab cache stayed"
