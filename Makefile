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

CPPFLAGS := -D_GNU_SOURCE -Iinclude -I. -I$(BUILD)
CFLAGS  = -std=c11 $(OPT) $(WARN) $(SANITIZE) -pthread -MMD -MP
LDLIBS := -lbpf -lmnl -lzstd -ljansson -lz -lelf -lm -pthread

# The core is compiled the way the kernel modules compile it: freestanding, no floating point.
CORE_CFLAGS := -ffreestanding -fno-builtin
ifneq ($(filter 1,$(SAN)),1)
CORE_CFLAGS += -mgeneral-regs-only
endif

COMPONENTS := util core lib trace replay suite vmm ctl
SRC     := $(filter-out %.bpf.c,$(foreach c,$(COMPONENTS),$(wildcard $(c)/*.c)))
TOOLSRC := $(wildcard tool/*.c)
OBJ     := $(SRC:%.c=$(BUILD)/%.o)
TOOLOBJ := $(TOOLSRC:%.c=$(BUILD)/%.o)
LIB     := $(BUILD)/libvhalt-parts.a

.PHONY: all run check check-vm bench bench-programs unit clean help deps fuzz
all: $(BUILD)/vhalt

help:
	@printf '%s\n' 'make          build $(BUILD)/vhalt' \
	  'make deps     install the Debian packages this tree needs, only those missing (root)' \
	  'make run      deps, build, and the main job: vhalt advise --demo' \
	  'make check    deps, build with gcc and clang, all tests' \
	  'make check-vm  the host module on emulated stock kernels, all cases in full (about 15 minutes)' \
	  'make unit     the unit tests alone' \
	  'make bench    the benchmarks, JSON on stdout' \
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
$(BUILD)/%.bpf.o: %.bpf.c $(wildcard trace/*_shared.h)
	$(call say,BPF,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c -o $@ $<

# Keep the objects between source and skeleton.
.SECONDARY:

$(BUILD)/%.skel.h: $(BUILD)/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)PATH=$$PATH:/usr/sbin bpftool gen skeleton $< name $(notdir $*)_bpf > $@.tmp && mv $@.tmp $@

$(BUILD)/trace/recorder_probe.o: $(BUILD)/trace/recorder.skel.h
$(BUILD)/bench/recorder_bench: $(BUILD)/bench/recorder_peer.skel.h

# --- guests of the micro-VMM: flat images, embedded ---------------------------------------------
-include vmm/guests/guests.mk

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
$(BUILD)/fuzz/%: tests/fuzz/%.c $(SRC)
	$(call say,FUZZ,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(CPPFLAGS) -std=c11 -O1 -g $(WARN) -fsanitize=fuzzer$(comma)address$(comma)undefined \
	  -fno-sanitize-recover=all -pthread -o $@ $< \
	  $(wildcard util/*.c core/*.c trace/vht*.c trace/ns*.c trace/reader*.c trace/diag*.c) -lzstd -ljansson -lz

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
	$(Q)BUILD=$(BUILD) tests/vm/kmod/run full

bench: all
	$(Q)bench/run $(BUILD)

clean:
	rm -rf $(BUILD)

-include $(OBJ:.o=.d) $(TOOLOBJ:.o=.d)
