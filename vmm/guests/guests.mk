# SPDX-License-Identifier: GPL-2.0-only OR MIT
# Builds the micro-VMM's guests as flat images and embeds them. Included by the top Makefile.
#
# Always gcc, as and ld, whatever compiles the rest: guest code wants exact code-generation options.

GUEST_CC	?= gcc
GUEST_LD	?= ld
GUEST_OBJCOPY	?= objcopy
GUEST_NAMES	:= tick idle rr burst lock crash
GUEST_DIR	:= $(BUILD)/vmm/guests
GUEST_CFLAGS	:= -std=gnu11 -O2 -ffreestanding -fno-builtin -fno-pic -fno-stack-protector \
		   -fno-asynchronous-unwind-tables -fcf-protection=none -mgeneral-regs-only \
		   -mno-red-zone $(WARN) -MMD -MP -Iinclude -I.

$(GUEST_DIR)/start.o: vmm/guests/start.S
	$(call say,GUEST,$<)
	@mkdir -p $(@D)
	$(Q)$(GUEST_CC) -MMD -MP -I. -c -o $@ $<

$(GUEST_NAMES:%=$(GUEST_DIR)/%.o): $(GUEST_DIR)/%.o: vmm/guests/%.c
	$(call say,GUEST,$<)
	@mkdir -p $(@D)
	$(Q)$(GUEST_CC) $(GUEST_CFLAGS) -c -o $@ $<

# The policies, for guests that poll by themselves: the core once more, as bare-metal code.
GUEST_CORE := $(patsubst core/%.c,$(GUEST_DIR)/core/%.o,$(wildcard core/*.c))
$(GUEST_CORE): $(GUEST_DIR)/core/%.o: core/%.c
	$(call say,GUEST,$<)
	@mkdir -p $(@D)
	$(Q)$(GUEST_CC) $(GUEST_CFLAGS) -c -o $@ $<

$(GUEST_DIR)/core.a: $(GUEST_CORE)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(GUEST_DIR)/%.elf: $(GUEST_DIR)/start.o $(GUEST_DIR)/%.o $(GUEST_DIR)/core.a vmm/guests/guest.lds
	$(Q)$(GUEST_LD) -nostdlib -static --build-id=none -z noexecstack -T vmm/guests/guest.lds \
	  -o $@ $(filter %.o,$^) $(GUEST_DIR)/core.a

$(GUEST_DIR)/%.bin: $(GUEST_DIR)/%.elf
	$(Q)$(GUEST_OBJCOPY) -O binary $< $@

$(GUEST_DIR)/images.o: vmm/guests/images.S $(GUEST_NAMES:%=$(GUEST_DIR)/%.bin)
	$(call say,EMBED,$@)
	$(Q)$(GUEST_CC) -c -Wa,-I$(GUEST_DIR) -o $@ $<

$(LIB): $(GUEST_DIR)/images.o

.SECONDARY: $(GUEST_NAMES:%=$(GUEST_DIR)/%.elf) $(GUEST_NAMES:%=$(GUEST_DIR)/%.bin)
-include $(GUEST_NAMES:%=$(GUEST_DIR)/%.d) $(GUEST_DIR)/start.d $(GUEST_CORE:.o=.d)
