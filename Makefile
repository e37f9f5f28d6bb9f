# noderay: everything is built here and nowhere else. SPDX-License-Identifier: MIT
#
#   make            build/noderay                 make test     deps, then every test
#   make deps       install what is needed (apt)  make fuzz     the fuzz targets, for long
#   make demo       deps, then a guided tour      make lint     style and static checks
#   make bench      measure beside the peers      make install  PREFIX= DESTDIR=
#   make test-kernel  tracing on Debian 12's kernel   make clean   make test SUITES=unit   one suite
#
# A new source, test or man page needs no line here: all are found by name.

CC      ?= cc
CLANG   ?= clang
PREFIX  ?= /usr/local
CFLAGS  ?= -O2 -g
STRICT  := -std=gnu17 -D_GNU_SOURCE -Isrc -Ibuild -Wall -Wextra -Wshadow -Wvla -Wmissing-prototypes -Werror
LIBS    := -Wl,--as-needed -lbpf -lZydis -ldw -lelf -ljansson -lzstd -llz4 -lz -llzma -liberty -lm

SOURCES := $(filter-out src/cmd/main.c,$(filter-out %.bpf.c,$(wildcard src/*/*.c)))
UNITS   := $(patsubst tests/unit/%.c,build/asan/%,$(wildcard tests/unit/test_*.c))
KERNELS := $(patsubst tests/unit/%.c,build/%,$(wildcard tests/unit/test_kern_*.c))
FUZZERS := $(patsubst tests/fuzz/%.c,build/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))

# make V=1 shows the commands.
Q        := $(if $(V),,@)
JOBS     := $(shell nproc)
# Under the sanitizers gcc sees overflows that are none; the plain build's warnings are the errors.
SANITIZE := -Wno-error -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer

.DELETE_ON_ERROR:
.PHONY: all deps demo test test-kernel units fuzzers bench soak lint format fuzz install install-links uninstall clean

all: build/noderay build/dtrace

# Three builds of the same sources, each a library that a program takes what it needs from:
# $(1) its directory, $(2) the compiler, $(3) its flags.
define variant
$(1)/obj/%.o: %.c Makefile
	@mkdir -p $$(@D)
	@$$(if $$(V),,echo '  CC   $$@')
	$(Q)$(2) $(STRICT) $(3) -MMD -MP -c -o $$@ $$<
$(1)/libnoderay.a: $(SOURCES:%.c=$(1)/obj/%.o)
	$(Q)rm -f $$@ && ar qcs $$@ $$^   # q, not r: two directories may have a core.o
-include $(SOURCES:%.c=$(1)/obj/%.d)
endef
$(eval $(call variant,build,$$(CC),$$(CFLAGS)))
$(eval $(call variant,build/asan,$$(CC),-O1 -g $(SANITIZE)))
$(eval $(call variant,build/fuzz,$$(CLANG),-O1 -g $(SANITIZE) -fsanitize=fuzzer-no-link))
-include build/obj/src/cmd/main.d build/asan/obj/src/cmd/main.d

build/noderay: build/obj/src/cmd/main.o build/libnoderay.a
	@$(if $(V),,echo '  LINK $@')
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

build/dtrace: build/noderay
	$(Q)ln -sf noderay $@

# The binary that the tests run: with a watchdog for main loops (src/base/heartbeat.h).
build/test/noderay: build/obj/src/cmd/main.o build/obj/tests/watchdog.o build/libnoderay.a
	@$(if $(V),,echo '  LINK $@')
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -rdynamic -pthread -o $@ $^ $(LIBS)
-include build/obj/tests/watchdog.d

# The same program with the sanitizers in it.
build/asan/noderay: build/asan/obj/src/cmd/main.o build/asan/libnoderay.a
	@$(if $(V),,echo '  LINK $@')
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ $(LIBS)

# The kernel side: one object for BPF, embedded whole. -mcpu=v3: what Debian 12's own kernel takes too.
build/runtime.bpf.o: src/kern/runtime.bpf.c $(wildcard src/kern/*.h) Makefile
	@mkdir -p $(@D)
	@$(if $(V),,echo '  BPF  $@')
	$(Q)$(CLANG) -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Werror -Isrc -idirafter /usr/include/$(shell uname -m)-linux-gnu -c -o $@ $<
$(foreach dir,build build/asan build/fuzz,$(dir)/obj/src/kern/runtime.o): build/runtime.bpf.o

# The programs of verbs, embedded as texts.
SCRIPTS := $(sort $(wildcard scripts/*.d))
build/scripts.list: $(SCRIPTS) Makefile
	@mkdir -p $(@D)
	$(Q)printf 'SCRIPT(%s)\n' $(notdir $(basename $(SCRIPTS))) > $@
$(foreach dir,build build/asan build/fuzz,$(dir)/obj/src/cmd/scripts.o): build/scripts.list

# The page of the HTML report: its scripts as one, and what its policy knows them by.
REPORT := src/profile/report
build/report.js: $(sort $(wildcard $(REPORT)/*.js)) Makefile
	@mkdir -p $(@D)
	$(Q){ echo '(() => {'; echo "'use strict';"; cat $(filter-out %/app.js Makefile,$^) $(REPORT)/app.js; echo '})();'; } > $@
build/report.css: $(REPORT)/report.css
	@mkdir -p $(@D)
	$(Q)cp $< $@
build/report.%.hash: build/report.%
	$(Q)sha256sum $< | cut -c1-64 | tr a-f A-F | basenc --base16 -di | base64 | tr -d '\n' > $@
$(foreach dir,build build/asan build/fuzz,$(dir)/obj/src/profile/write_html.o): \
	$(REPORT)/report.html $(foreach part,js css,build/report.$(part) build/report.$(part).hash)
$(foreach dir,build build/asan build/fuzz,$(dir)/obj/src/profile/svg.o): $(wildcard src/profile/svg/*)

units: $(UNITS)
build/asan/test_%: build/asan/obj/tests/unit/test_%.o build/asan/libnoderay.a
	@$(if $(V),,echo '  LINK $@')
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ -lcmocka $(LIBS)
-include $(wildcard build/asan/obj/tests/unit/*.d)
# The test makes calloc() fail.
build/asan/test_base_hashmap: LDFLAGS += -Wl,--wrap=calloc

# Those of the kernel side without the sanitizers: tools/test-kernel runs them on an emulated machine.
build/test_kern_%: build/obj/tests/unit/test_kern_%.o build/libnoderay.a
	@$(if $(V),,echo '  LINK $@')
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(LIBS)
-include $(wildcard build/obj/tests/unit/*.d)

fuzzers: $(FUZZERS)
build/fuzz/fuzz_%: build/fuzz/obj/tests/fuzz/fuzz_%.o build/fuzz/libnoderay.a
	@$(if $(V),,echo '  LINK $@')
	$(Q)$(CLANG) $(SANITIZE) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(LIBS)
-include $(wildcard build/fuzz/obj/tests/fuzz/*.d)

.SECONDARY:

deps:
	@tools/deps build test

# deps may bring the compiler itself, so it comes before anything is built.
test: deps
	@tools/nodes
	@tools/packages browser
	@$(MAKE) --no-print-directory -j$(JOBS) build/noderay build/test/noderay
	@tests/run $(SUITES)

demo:
	@tools/deps build
	@$(MAKE) --no-print-directory -s -j$(JOBS) build/noderay
	@examples/demo

bench: deps
	@tools/deps bench
	@tools/nodes
	@$(MAKE) --no-print-directory -s -j$(JOBS) build/noderay
	@$$(tools/nodes --dir)/22.23.3/bin/node bench/run.mjs $(BENCH)

# A long recording: does it stay as small and as exact as it was? MINUTES=30
soak: deps
	@tools/nodes
	@$(MAKE) --no-print-directory -s -j$(JOBS) build/noderay
	@$$(tools/nodes --dir)/22.23.3/bin/node bench/soak.mjs $(MINUTES)

# Tracing on Debian 12's own kernel, under qemu: minutes, so not part of `test`.
test-kernel: deps
	@tools/nodes 22.23.3
	@$(MAKE) --no-print-directory -j$(JOBS) build/noderay build/dtrace $(KERNELS)
	@tools/test-kernel

fuzz: deps
	@tools/nodes
	@$(MAKE) --no-print-directory -j$(JOBS) build/noderay fuzzers
	@tests/fuzz/all

lint:
	@tools/deps build lint
	@tools/lint

format:
	@clang-format -i $(wildcard src/*/*.[ch] tests/*/*.[ch])

# The shells' own directories for completions, below the prefix.
BASHDIR := $(PREFIX)/share/bash-completion/completions
ZSHDIR  := $(PREFIX)/share/zsh/site-functions
FISHDIR := $(PREFIX)/share/fish/vendor_completions.d
MANDIR  := $(PREFIX)/share/man

install: build/noderay
	install -D -m 755 build/noderay $(DESTDIR)$(PREFIX)/bin/noderay
	install -d $(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(MANDIR)/man7 $(DESTDIR)$(BASHDIR) $(DESTDIR)$(ZSHDIR) $(DESTDIR)$(FISHDIR)
	install -m 644 docs/man/*.1 $(DESTDIR)$(MANDIR)/man1
	install -m 644 docs/man/*.7 $(DESTDIR)$(MANDIR)/man7
	build/noderay completion bash > $(DESTDIR)$(BASHDIR)/noderay
	build/noderay completion zsh > $(DESTDIR)$(ZSHDIR)/_noderay
	build/noderay completion fish > $(DESTDIR)$(FISHDIR)/noderay.fish

# Apart from install: a distribution has programs of these names too (procps' pmap, gdb's gcore).
install-links:
	@for name in pstack pmap pfiles penv pargs gcore dtrace; do \
		link=$(DESTDIR)$(PREFIX)/bin/$$name; \
		if [ -e $$link ] && [ "$$(readlink $$link)" != noderay ]; then echo "$$link is there already: left alone"; \
		else ln -sf noderay $$link; fi; \
	done

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/noderay $(addprefix $(DESTDIR)$(MANDIR)/man1/,$(notdir $(wildcard docs/man/*.1))) \
		$(addprefix $(DESTDIR)$(MANDIR)/man7/,$(notdir $(wildcard docs/man/*.7))) \
		$(DESTDIR)$(BASHDIR)/noderay $(DESTDIR)$(ZSHDIR)/_noderay $(DESTDIR)$(FISHDIR)/noderay.fish
	for name in pstack pmap pfiles penv pargs gcore dtrace; do \
		[ "$$(readlink $(DESTDIR)$(PREFIX)/bin/$$name)" != noderay ] || rm $(DESTDIR)$(PREFIX)/bin/$$name; \
	done

clean:
	rm -rf build
