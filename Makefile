# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Builds, runs and tests vhalt. `make help` lists the targets.
#
# Variables: BUILD=dir (default build), CC=gcc|clang, V=1 (show commands), WERROR=1, SAN=1 (ASan+UBSan).

comma  := ,
BUILD  ?= build
CC     ?= gcc
CLANG  ?= clang
Q      := $(if $(filter 1,$(V)),,@)
say     = @$(if $(filter 1,$(V)),true,printf '  %-7s %s\n' '$(1)' '$(2)')

ifeq ($(origin CC),default)
CC := gcc
endif

WARN   := -Wall -Wextra -Wshadow -Wpointer-arith -Wcast-qual -Wwrite-strings -Wvla
WARN   += $(if $(filter 1,$(WERROR)),-Werror)
OPT    ?= -O2 -g
SANITIZE := $(if $(filter 1,$(SAN)),-fsanitize=address$(comma)undefined -fno-sanitize-recover=all \
	      -fno-omit-frame-pointer)

# libtracecmd's headers include each other without a folder.
TRACECMD_INC := $(addprefix -isystem /usr/include/,trace-cmd tracefs traceevent)
CPPFLAGS := -D_GNU_SOURCE -Iinclude -I. -I$(BUILD) $(TRACECMD_INC)
CFLAGS  = -std=c11 $(OPT) $(WARN) $(SANITIZE) -pthread -MMD -MP
LDLIBS := -lbpf -lmnl -ltracecmd -ltracefs -ltraceevent -lzstd -ljansson -linih -lz -lelf -lm -pthread

# MPI=1: `vhalt sim --mpi` shares its work among the ranks of mpirun (libopenmpi-dev).
ifeq ($(MPI),1)
CPPFLAGS += -DVHALT_MPI $(shell pkg-config --cflags-only-I ompi-c | sed 's/-I/-isystem /g')
LDLIBS   += $(shell pkg-config --libs ompi-c)
endif

# The core is compiled the way the kernel modules compile it: freestanding, no floating point.
CORE_CFLAGS := -ffreestanding -fno-builtin
ifneq ($(filter 1,$(SAN)),1)
CORE_CFLAGS += -mgeneral-regs-only
endif

COMPONENTS := util core lib trace stats diagnose replay suite sim vmm ctl measure
SRC     := $(filter-out %.bpf.c,$(foreach c,$(COMPONENTS),$(wildcard $(c)/*.c)))
TOOLSRC := $(wildcard tool/*.c)
OBJ     := $(SRC:%.c=$(BUILD)/%.o)
TOOLOBJ := $(TOOLSRC:%.c=$(BUILD)/%.o)
LIB     := $(BUILD)/libvhalt-parts.a

.PHONY: all run check check-vm bench bench-guest bench-programs unit clean help deps fuzz
all: $(BUILD)/vhalt

help:
	@printf '%s\n' 'make          build $(BUILD)/vhalt' \
	  'make deps     install the Debian packages this tree needs, only those missing (root)' \
	  'make run      deps, build, and the main job: vhalt advise --demo' \
	  'make check    deps, build with gcc and clang, all tests' \
	  'make check-vm  both kernel modules on emulated stock kernels, all cases in full (about 2 hours)' \
	  'make unit     the unit tests alone' \
	  'make bench    the benchmarks, JSON on stdout' \
	  'make bench-guest  context switches of a guest against the bound of its polling, emulated' \
	  'make install  the tool, libvhalt, its headers and the manuals; DESTDIR=, PREFIX=/usr/local' \
	  'make clean    remove $(BUILD)'

deps:
	$(Q)scripts/deps

$(BUILD)/vhalt: $(TOOLOBJ) $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(SANITIZE) -o $@ $^ $(LDLIBS)

$(LIB): $(OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/core/%.o: core/%.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(CORE_CFLAGS) -c -o $@ $<

$(BUILD)/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

# --- eBPF recorder: compiled for the bpf target, embedded as a libbpf skeleton -------------------
BPF_CFLAGS := -O2 -g -target bpf -mcpu=v3 -Wall -Werror -I. -Iinclude \
	      -I/usr/include/$(shell uname -m)-linux-gnu
# Kept, between source and skeleton.
.PRECIOUS: $(BUILD)/%.bpf.o
$(BUILD)/%.bpf.o: %.bpf.c $(wildcard trace/*_shared.h)
	$(call say,BPF,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c -o $@ $<

$(BUILD)/%.skel.h: $(BUILD)/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)PATH=$$PATH:/usr/sbin bpftool gen skeleton $< name $(notdir $*)_bpf > $@.tmp && mv $@.tmp $@

$(BUILD)/trace/recorder_probe.o: $(BUILD)/trace/recorder.skel.h
$(BUILD)/bench/recorder_bench: $(BUILD)/bench/recorder_peer.skel.h

# --- guests of the micro-VMM: flat images, embedded ---------------------------------------------
-include vmm/guests/guests.mk

# --- libvhalt, and make install ------------------------------------------------------------------
-include lib/libvhalt.mk

# --- tests --------------------------------------------------------------------------------------
UNIT := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))
$(BUILD)/tests/%: tests/unit/%.c $(LIB)
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -o $@ $< $(LIB) -lcmocka $(LDLIBS)

unit: $(UNIT)
	$(Q)tests/run $(BUILD) unit

FUZZ := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
fuzz: $(FUZZ) $(BUILD)/fuzz/seeds
$(BUILD)/fuzz/seeds: tests/fuzz/seeds.c $(LIB)
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -o $@ $< $(LIB) $(LDLIBS)
# What reads foreign bytes, instrumented once for all targets.
FUZZ_FLAGS := -std=c11 -O1 -g $(WARN) -fno-sanitize-recover=all -pthread -MMD -MP
FUZZ_SRC := $(wildcard util/*.c core/*.c stats/*.c diagnose/*.c) trace/recorder_names.c \
	    $(foreach part,vht ns reader diag text event tracedat,$(wildcard trace/$(part)*.c)) \
	    $(addprefix sim/,scenario.c config.c metric.c) lib/spec.c
FUZZ_OBJ := $(FUZZ_SRC:%.c=$(BUILD)/fuzz/obj/%.o)
$(BUILD)/fuzz/obj/%.o: %.c
	$(call say,FUZZ,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(CPPFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link$(comma)address$(comma)undefined -c -o $@ $<
$(BUILD)/fuzz/parts.a: $(FUZZ_OBJ)
	$(Q)rm -f $@ && $(AR) rcs $@ $^
# Reading a scenario needs the names of metrics, and their file the model, which reads nothing.
$(BUILD)/fuzz/fuzz_scenario: $(LIB)
$(BUILD)/fuzz/%: tests/fuzz/%.c $(BUILD)/fuzz/parts.a
	$(call say,FUZZ,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(CPPFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer$(comma)address$(comma)undefined -o $@ $^ \
	  -ltracecmd -ltracefs -ltraceevent -lzstd -ljansson -linih -lz

# --- benchmarks ---------------------------------------------------------------------------------
BENCH := $(patsubst bench/%.c,$(BUILD)/bench/%,$(wildcard bench/*_bench.c))
bench-programs: $(BENCH)
$(BUILD)/bench/%: bench/%.c $(LIB)
	$(call say,BENCH,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -o $@ $< $(LIB) $(LDLIBS)

run: deps
	$(Q)$(MAKE) --no-print-directory all
	$(BUILD)/vhalt advise --demo

check:
	$(Q)scripts/deps check
	$(Q)BUILD=$(BUILD) tests/check

check-vm: all
	$(Q)scripts/deps check
	$(Q)for suite in kmod guest boost nested; do BUILD=$(BUILD) tests/vm/$$suite/run full || exit 1; done

bench-guest:
	$(Q)scripts/deps check
	$(Q)BUILD=$(BUILD) tests/vm/guest/run bench

bench: all
	$(Q)bench/run $(BUILD)

clean:
	rm -rf $(BUILD)

-include $(OBJ:.o=.d) $(TOOLOBJ:.o=.d) $(FUZZ_OBJ:.o=.d)
