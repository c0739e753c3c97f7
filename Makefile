# gpulocw. `make` builds, `make demo` shows, `make check` tests; see README.md.
#
# Files are found by folder: a new file anywhere under engine/ or tui/ is built
# without touching this file, and tests/unit/test_*.c each become a test program.
BUILD   ?= build
TUI     ?= 1
CC      ?= gcc
# Without a compiler one sentence says so; these goals install one, or need none.
ifeq ($(shell command -v $(firstword $(CC)) 2>/dev/null),)
ifneq ($(if $(MAKECMDGOALS),$(filter-out setup demo check check-packages clean dist,$(MAKECMDGOALS)),all),)
$(error there is no C compiler '$(CC)': make setup installs one, or name yours with make CC=COMPILER)
endif
endif
OPT     ?= -O2
CSTD    := -std=c17 -D_GNU_SOURCE
WARN    := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
            -Wconversion -Wsign-conversion -Wpointer-arith -Wwrite-strings -Wundef -Wunused-macros
CFLAGS  ?= $(OPT) -g
ALL_CFLAGS = $(CSTD) $(WARN) $(CFLAGS) -fno-strict-aliasing -ffp-contract=off -fPIC -fvisibility=hidden -I. -MMD -MP $(CPPFLAGS) $(EXTRA_CFLAGS)
LDLIBS  := -lcjson -llz4 -lzstd -lpthread -ldl -lm

ENGINE_SRC := $(sort $(filter-out engine/cmd/main.c engine/dev/inject/% engine/emulate/runtime/% engine/emulate/driver/%,$(shell find engine -name '*.c')))
TUI_SRC    := $(sort $(filter-out tui/term/main.c,$(shell find tui -name '*.c')))
ENGINE_OBJ := $(ENGINE_SRC:%.c=$(BUILD)/%.o) $(BUILD)/gen/embed.o $(BUILD)/gen/inject.o $(BUILD)/gen/emulate.o
TUI_OBJ    := $(TUI_SRC:%.c=$(BUILD)/%.o) $(BUILD)/gen/page.o
PRESETS    := $(sort $(wildcard engine/sim/presets/*.json))

# Only a test looks at CUPTI's and CUDA's headers (are our own declarations still right?); nothing is built with them.
CUPTI_HOME ?= $(firstword $(foreach d,$(CUDA_HOME) /usr/local/cuda /usr/local/cuda/targets/x86_64-linux /usr/local/cuda/extras/CUPTI,$(if $(wildcard $(d)/include/cupti_range_profiler.h),$(d))))

ifeq ($(TUI),1)
MAIN   := tui/term/main.c
TERMLIBS := -lncursesw -ltinfo
else
MAIN   := engine/cmd/main.c
TUI_OBJ :=
endif

# The library: the same objects, the names of engine/api/gpulocw.map.
SONAME := libgpulocw.so.1
.PHONY: all
all: $(BUILD)/gpulocw $(BUILD)/libgpulocw.so

$(BUILD)/libengine.a: $(ENGINE_OBJ)
	@rm -f $@; ar rcs $@ $^
$(BUILD)/libtui.a: $(TUI_OBJ)
	@rm -f $@; ar rcs $@ $^
$(BUILD)/gpulocw: $(BUILD)/$(MAIN:.c=.o) $(if $(TUI_OBJ),$(BUILD)/libtui.a) $(BUILD)/libengine.a
	@echo "  LINK  $@"; $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(TERMLIBS) $(LDLIBS)

$(BUILD)/$(SONAME): $(ENGINE_OBJ) engine/api/gpulocw.map
	@echo "  LINK  $@"; $(CC) $(ALL_CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=engine/api/gpulocw.map $(if $(findstring sanitize,$(ALL_CFLAGS)),,-Wl,-z,defs) -o $@ $(ENGINE_OBJ) $(LDLIBS)
$(BUILD)/libgpulocw.so: $(BUILD)/$(SONAME)
	@ln -sf $(SONAME) $@

# Other flags are another build: what was built with them before is built again.
FLAGS_NOW := $(CC) $(ALL_CFLAGS)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D); printf '%s\n' '$(FLAGS_NOW)' | cmp -s - $@ || printf '%s\n' '$(FLAGS_NOW)' > $@
.PHONY: FORCE
FORCE:

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo "  CC    $<"; $(CC) $(ALL_CFLAGS) $(FILE_CFLAGS) -c -o $@ $<
$(BUILD)/gen/%.o: $(BUILD)/gen/%.c $(BUILD)/flags
	@$(CC) $(ALL_CFLAGS) -c -o $@ $<
# The executor's lane loops are what the speed of the simulated device hangs on.
# (clang says which of them it leaves scalar; that is no defect of the code.) Nobody looks at floating-point
# exceptions; where gcc must keep them, it leaves every loop with a choice between two results scalar.
$(BUILD)/engine/sim/%.o: FILE_CFLAGS := -O3 -fno-math-errno -fno-trapping-math $(if $(findstring clang,$(CC)),-Wno-pass-failed)

# Presets travel inside the binary, so a worker copied to another machine has them.
$(BUILD)/gen/embed.c: $(PRESETS) tests/tool/embed.sh
	@mkdir -p $(@D); sh tests/tool/embed.sh $(PRESETS) > $@.tmp && mv $@.tmp $@
# So do the style and the script of a lesson's page.
PAGE_PARTS := tui/term/lesson_page.css tui/term/lesson_page.js
$(BUILD)/gen/page.c: $(PAGE_PARTS) tests/tool/embed.sh
	@mkdir -p $(@D); sh tests/tool/embed.sh $(PAGE_PARTS) | sed 's/embed_files/page_files/' > $@.tmp && mv $@.tmp $@

# So does the library that capture puts into a program: libc alone, no part of the engine.
INJECT_SRC := $(sort $(wildcard engine/dev/inject/*.c))
$(BUILD)/gen/inject.so: $(INJECT_SRC) $(wildcard engine/dev/inject/*.h engine/dev/inject/*.def)
	@mkdir -p $(@D); $(CC) $(CSTD) $(WARN) -O2 -I. -fPIC -shared -fvisibility=hidden -s -o $@ $(INJECT_SRC) -ldl -lpthread
$(BUILD)/gen/inject.c: $(BUILD)/gen/inject.so
	@{ echo '#include "engine/dev/inject/record.h"'; echo 'const unsigned char live_library[] = {'; \
	    od -An -v -tu1 $< | sed 's/  */,/g; s/^,//; s/$$/,/'; echo '0};'; \
	    echo 'const unsigned long live_library_bytes = sizeof live_library - 1;'; } > $@.tmp && mv $@.tmp $@

# And the library that emulate puts before a program's CUDA runtime and driver: libc alone, too.
EMULATE_SRC := $(sort $(wildcard engine/emulate/runtime/*.c engine/emulate/driver/*.c))
$(BUILD)/gen/emulate.so: $(EMULATE_SRC) engine/base/list.h $(wildcard engine/emulate/runtime/*.h engine/emulate/runtime/*.def engine/emulate/runtime/*.map engine/emulate/driver/*.h engine/emulate/driver/*.def)
	@mkdir -p $(@D); $(CC) $(CSTD) $(WARN) -Wno-missing-prototypes -O2 -I. -fPIC -shared -fvisibility=hidden -s -Wl,-soname,libcudart.so.13 -Wl,-z,initfirst -Wl,--version-script=engine/emulate/runtime/exports.map -o $@ $(EMULATE_SRC) -ldl -lpthread
$(BUILD)/gen/emulate.c: $(BUILD)/gen/emulate.so
	@{ echo '#include "engine/emulate/emulate_int.h"'; echo 'const unsigned char emulate_library[] = {'; \
	    od -An -v -tu1 $< | sed 's/  */,/g; s/^,//; s/$$/,/'; echo '0};'; \
	    echo 'const unsigned long emulate_library_bytes = sizeof emulate_library - 1;'; } > $@.tmp && mv $@.tmp $@

-include tests/tests.mk
-include kernels/kernels.mk
-include $(ENGINE_OBJ:.o=.d) $(TUI_OBJ:.o=.d) $(BUILD)/$(MAIN:.c=.d)

# ---- for people ----
NPROC := $(shell nproc 2>/dev/null || echo 2)
.PHONY: setup demo install
setup:
	@TUI="$(TUI)" CC="$(CC)" sh tests/tool/setup.sh
# The valley demo: in a terminal the workbench, sweeping at once; otherwise the same sweep as text.
demo:
	@TUI="$(TUI)" CC="$(CC)" sh tests/tool/setup.sh
	@$(MAKE) -s --no-print-directory -j$(NPROC) all >&2
	@$(BUILD)/gpulocw demo valley

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
VERSION := $(shell sed -n 's/.*GPULOCW_VERSION "\(.*\)".*/\1/p' engine/base/version.h)
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/gpulocw/kernels $(DESTDIR)$(PREFIX)/share/gpulocw/sessions/lessons \
	    $(DESTDIR)$(PREFIX)/share/gpulocw/themes $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 755 $(BUILD)/gpulocw $(DESTDIR)$(PREFIX)/bin/
	install -m 644 kernels/*.ptx kernels/*.launch.json $(DESTDIR)$(PREFIX)/share/gpulocw/kernels/
	install -m 644 sessions/lessons/*.json $(DESTDIR)$(PREFIX)/share/gpulocw/sessions/lessons/
	install -m 644 themes/*.theme $(DESTDIR)$(PREFIX)/share/gpulocw/themes/
	install -m 644 docs/gpulocw.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	install -d $(DESTDIR)$(PREFIX)/share/doc/gpulocw/guide $(DESTDIR)$(PREFIX)/share/doc/gpulocw/examples
	install -m 644 docs/guide/*.md $(DESTDIR)$(PREFIX)/share/doc/gpulocw/guide/
	install -m 644 docs/examples/* $(DESTDIR)$(PREFIX)/share/doc/gpulocw/examples/
	install -m 644 docs/reference/check.md $(DESTDIR)$(PREFIX)/share/doc/gpulocw/
	install -d $(DESTDIR)$(PREFIX)/share/metainfo
	install -m 644 docs/packaging/gpulocw.metainfo.xml $(DESTDIR)$(PREFIX)/share/metainfo/
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(PREFIX)/include
	install -m 755 $(BUILD)/$(SONAME) $(DESTDIR)$(LIBDIR)/
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libgpulocw.so
	install -m 644 engine/api/gpulocw.h $(DESTDIR)$(PREFIX)/include/
	printf 'prefix=%s\nlibdir=%s\nincludedir=$${prefix}/include\n\nName: gpulocw\nDescription: GPU locality workbench as a library\nVersion: %s\nLibs: -L$${libdir} -lgpulocw\nCflags: -I$${includedir}\n' \
	    '$(PREFIX)' '$(LIBDIR)' '$(VERSION)' > $(DESTDIR)$(LIBDIR)/pkgconfig/gpulocw.pc
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	$(BUILD)/gpulocw completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/gpulocw
	$(BUILD)/gpulocw completion zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_gpulocw
	$(BUILD)/gpulocw completion fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/gpulocw.fish

# The sources as git has them; the same commit gives the same bytes.
.PHONY: dist
dist:
	@git archive --format=tar --prefix=gpulocw-$(VERSION)/ HEAD | gzip -n9 > gpulocw-$(VERSION).tar.gz && sha256sum gpulocw-$(VERSION).tar.gz

# One file for any x86-64 Linux with glibc 2.28 or later.
.PHONY: portable
portable: all
	@sh tests/tool/portable.sh $(BUILD) gpulocw-$(VERSION)-x86_64

# The same as an archive with guide, examples and manual page, and its checksum.
.PHONY: portable-tarball
portable-tarball: portable
	@rm -rf $(BUILD)/tarball; d=$(BUILD)/tarball/gpulocw-$(VERSION)-x86_64; mkdir -p $$d/bin $$d/share/man/man1 $$d/share/doc $$d/share/gpulocw; \
	    cp gpulocw-$(VERSION)-x86_64 $$d/bin/gpulocw; cp docs/gpulocw.1 $$d/share/man/man1/; cp -r docs/guide docs/examples $$d/share/doc/; cp docs/reference/check.md README.md LICENSE $$d/share/doc/; \
	    cp -r kernels themes $$d/share/gpulocw/; mkdir -p $$d/share/gpulocw/sessions; cp -r sessions/lessons $$d/share/gpulocw/sessions/; \
	    tar -C $(BUILD)/tarball --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -c gpulocw-$(VERSION)-x86_64 | gzip -n9 > gpulocw-$(VERSION)-x86_64.tar.gz
	@sha256sum gpulocw-$(VERSION)-x86_64.tar.gz | tee gpulocw-$(VERSION)-x86_64.tar.gz.sha256

# dist/gpulocw-*.whl: the Python module with library and program, for any x86-64 Linux with glibc 2.28 or later.
.PHONY: wheel
wheel: all
	@sh tests/tool/portable.sh $(BUILD) $(BUILD)/portable-program $(BUILD)/portable-library
	@python3 python/wheel.py $(VERSION) $(BUILD)/portable-program $(BUILD)/portable-library dist

.PHONY: clean
clean:
	rm -rf $(BUILD)
