# SPDX-License-Identifier: GPL-2.0-only OR MIT
# libvhalt: the library a VMM embeds, shared and static, and what `make install` puts where.
#
# Variables: DESTDIR= (a root to install under), PREFIX=/usr/local, LIBDIR, INCLUDEDIR, MANDIR.

PREFIX     ?= /usr/local
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR     ?= $(PREFIX)/share/man

# The file name's version is the release; the ABI's is apart from it, and grows when a symbol goes.
VHALT_RELEASE := $(shell sed -n 's/^\#define VHALT_VERSION "\(.*\)"/\1/p' tool/version.h)
VHALT_SONAME  := libvhalt.so.0

LIBVHALT_SRC := $(wildcard core/*.c lib/*.c) util/units.c
LIBVHALT_OBJ := $(LIBVHALT_SRC:%.c=$(BUILD)/pic/%.o)
LIBVHALT     := $(BUILD)/libvhalt.a $(BUILD)/$(VHALT_SONAME) $(BUILD)/libvhalt.pc

.PHONY: library install
library: $(LIBVHALT)

$(BUILD)/pic/core/%.o: core/%.c
	$(call say,CC,$< (pic))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(CORE_CFLAGS) -fPIC -c -o $@ $<

$(BUILD)/pic/%.o: %.c
	$(call say,CC,$< (pic))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -c -o $@ $<

$(BUILD)/$(VHALT_SONAME): $(LIBVHALT_OBJ) lib/libvhalt.map
	$(call say,LD,$@)
	$(Q)$(CC) $(SANITIZE) -shared -pthread -Wl,-soname,$(VHALT_SONAME) -Wl,-z,defs \
	  -Wl,--version-script=lib/libvhalt.map -o $@ $(LIBVHALT_OBJ)

# One object in which only the public names are global: an archive has no version script.
$(BUILD)/libvhalt.a: $(LIBVHALT_OBJ) lib/libvhalt.map
	$(call say,AR,$@)
	$(Q)sed -n 's/^\t\(vhalt_[a-z_]*\);$$/\1/p' lib/libvhalt.map >$(BUILD)/libvhalt.symbols
	$(Q)$(LD) -r -o $(BUILD)/libvhalt.o $(LIBVHALT_OBJ)
	$(Q)objcopy --keep-global-symbols=$(BUILD)/libvhalt.symbols $(BUILD)/libvhalt.o
	$(Q)rm -f $@ && $(AR) rcs $@ $(BUILD)/libvhalt.o

# Rebuilt each time: the folders come from the command line.
.PHONY: $(BUILD)/libvhalt.pc
$(BUILD)/libvhalt.pc: lib/libvhalt.pc.in
	@mkdir -p $(@D)
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@INCLUDEDIR@|$(INCLUDEDIR)|' \
	  -e 's|@VERSION@|$(VHALT_RELEASE)|' $< >$@

install: $(BUILD)/vhalt library
	$(call say,INSTALL,$(DESTDIR)$(PREFIX))
	$(Q)install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(LIBDIR)/pkgconfig \
	  $(DESTDIR)$(INCLUDEDIR)/vhalt $(DESTDIR)$(PREFIX)/share/vhalt/scenarios \
	  $(foreach n,1 3 4 5 7,$(DESTDIR)$(MANDIR)/man$(n))
	$(Q)install -m 755 $(BUILD)/vhalt $(DESTDIR)$(PREFIX)/bin/vhalt
	$(Q)install -m 644 $(BUILD)/libvhalt.a $(DESTDIR)$(LIBDIR)/libvhalt.a
	$(Q)install -m 755 $(BUILD)/$(VHALT_SONAME) $(DESTDIR)$(LIBDIR)/libvhalt.so.$(VHALT_RELEASE)
	$(Q)ln -sf libvhalt.so.$(VHALT_RELEASE) $(DESTDIR)$(LIBDIR)/$(VHALT_SONAME)
	$(Q)ln -sf $(VHALT_SONAME) $(DESTDIR)$(LIBDIR)/libvhalt.so
	$(Q)install -m 644 $(BUILD)/libvhalt.pc $(DESTDIR)$(LIBDIR)/pkgconfig/libvhalt.pc
	$(Q)install -m 644 include/vhalt/*.h $(DESTDIR)$(INCLUDEDIR)/vhalt/
	$(Q)install -m 644 demo/demo.vht $(DESTDIR)$(PREFIX)/share/vhalt/demo.vht
	$(Q)install -m 644 sim/scenarios/*.ini $(DESTDIR)$(PREFIX)/share/vhalt/scenarios/
	$(Q)$(foreach n,1 3 4 5 7,install -m 644 $(wildcard man/*.$(n)) $(DESTDIR)$(MANDIR)/man$(n) &&) true

-include $(LIBVHALT_OBJ:.o=.d)
