# SPDX-License-Identifier: Apache-2.0
# The one entry to everything: `make help` lists the targets. Sources are found by folder, so a new
# file needs no edit here. Variables: BUILD=dir CC=clang SANITIZE=1 T=name FUZZ_SECONDS=n V=1.

VERSION ?= 0.1.0
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 20
ifeq ($(origin CC),default)
CC := gcc
endif
BUILD ?= build$(if $(SANITIZE),-asan)
Q := $(if $(V),,@)
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
comma := ,

# ---- flags ----

IS_CLANG := $(findstring clang,$(CC))
ARCH := $(shell uname -m)

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wswitch-enum \
	-Wformat=2 -Wimplicit-fallthrough -Werror $(if $(IS_CLANG),-Wthread-safety)
HARDEN := -fstack-protector-strong -fno-strict-aliasing -fno-delete-null-pointer-checks -fPIE
HARDEN_LD := -pie -Wl,-z,relro,-z,now,-z,noexecstack
ifeq ($(ARCH),x86_64)
MARCH ?= -march=x86-64-v2
HARDEN += -fstack-clash-protection -fcf-protection
endif

# SANITIZE=1: ASan and UBSan. SANITIZE=fuzz (set by the fuzz target): the same plus coverage.
ifeq ($(SANITIZE),)
OPT := -O2 -g -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
else
OPT := -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all \
	-fsanitize=address,undefined$(if $(filter fuzz,$(SANITIZE)),$(comma)fuzzer-no-link) \
	$(if $(IS_CLANG),,-Wno-maybe-uninitialized)
SAN_LD := -fsanitize=address,undefined
endif
CFLAGS_ALL = -std=gnu17 -D_GNU_SOURCE -DWEFT_VERSION='"$(VERSION)"' $(MARCH) $(OPT) $(WARN) \
	$(HARDEN) -MMD -MP $(INC) $(EXTRA) $(CFLAGS)
LDFLAGS_ALL = $(OPT) $(SAN_LD) $(HARDEN_LD) -Wl,--as-needed $(LDFLAGS)

# Objects made with other flags are made again.
FLAGS_KEY := $(CC) $(SANITIZE) $(CFLAGS) $(LDFLAGS) $(MARCH) $(VERSION)
ifeq ($(filter clean deps help format,$(MAKECMDGOALS)),)
$(shell mkdir -p $(BUILD); echo '$(FLAGS_KEY)' | cmp -s - $(BUILD)/flags || \
	echo '$(FLAGS_KEY)' > $(BUILD)/flags)
# pkg-config answers, kept in a file: one look-up per build folder, after the packages are there.
include $(BUILD)/pkg.mk
endif
isystem = sed 's/-I/-isystem /g; s/-m[a-z0-9=-]*//g'
$(BUILD)/pkg.mk: tests/deps.sh
	@mkdir -p $(@D)
	@tests/deps.sh >&2 || true
	@{ dpdk=$$(pkg-config --cflags libdpdk) && echo "DPDK_INC := $$dpdk" | $(isystem) && \
	echo "DPDK_LIBS := $$(pkg-config --libs libdpdk)" && \
	echo "NL_INC := $$(pkg-config --cflags libnl-3.0)" | $(isystem); } > $@.tmp && mv $@.tmp $@

JSON_LIBS := -l:libjson-c.a
NL_LIBS := -lnl-3

# ---- include roots: a folder sees its own root and lib/, nothing else ----

roots = $(BUILD)/obj/$(1)/%.o $(BUILD)/hdr/$(1)/%.ok: INC = $(2)
TEST_INC := -Itests -Itests/harness
DP_INC = -Ilib -Idataplane $(DPDK_INC)
$(eval $(call roots,lib,-Ilib))
$(eval $(call roots,lib/netlink,-Ilib $$(NL_INC)))
$(eval $(call roots,cni-plugin,-Ilib -Icni-plugin))
$(eval $(call roots,agent,-Ilib -Iagent))
$(eval $(call roots,dataplane,$$(DP_INC)))
$(eval $(call roots,dataplane/ctl,-Ilib -Idataplane/ctl))
$(eval $(call roots,tests,-Ilib $$(TEST_INC)))
$(eval $(call roots,tests/harness,$$(DP_INC) $$(NL_INC) $$(TEST_INC)))
$(eval $(call roots,tests/packet,$$(DP_INC) $$(TEST_INC)))
$(eval $(call roots,tests/bench/dataplane,$$(DP_INC) $$(TEST_INC)))
$(eval $(call roots,tests/unit/lib,-Ilib $$(NL_INC) $$(TEST_INC)))
$(eval $(call roots,tests/unit/cni-plugin,-Ilib -Icni-plugin $$(TEST_INC)))
$(eval $(call roots,tests/unit/agent,-Ilib -Iagent $$(TEST_INC)))
$(eval $(call roots,tests/unit/dataplane,$$(DP_INC) $$(TEST_INC)))
$(eval $(call roots,tests/unit/dataplane/ctl,-Ilib -Idataplane/ctl $$(TEST_INC)))
# Code that handles packets must say where it narrows an integer.
$(BUILD)/obj/dataplane/packet/%.o $(BUILD)/obj/dataplane/flow/%.o: EXTRA = -Wconversion \
	-Wno-sign-conversion

# ---- sources ----

src_lib = $(wildcard lib/$(1)/*.c)
SRC_cni := $(wildcard cni-plugin/*.c)
SRC_dataplane := $(wildcard $(addprefix dataplane/,$(addsuffix /*.c,main core packet io flow \
	features/*)))
SRC_ctl := $(wildcard dataplane/ctl/*.c)
SRC_agent := $(wildcard agent/*.c agent/*/*.c)
MAIN_weft := cni-plugin/main.c
MAIN_weftd := dataplane/main/main.c
MAIN_weftctl := dataplane/ctl/main.c
MAIN_weft-agent := agent/main.c
SRC_harness := $(wildcard tests/harness/*.c)
SRC_all := $(wildcard lib/*/*.c) $(SRC_cni) $(SRC_dataplane) $(SRC_ctl) $(SRC_agent)
HDR_all := $(wildcard lib/*/*.h cni-plugin/*.h dataplane/*/*.h dataplane/features/*/*.h \
	agent/*.h agent/*/*.h tests/harness/*.h)
SRC_tests := $(shell find tests/unit tests/packet -name '*_test.c' 2>/dev/null)
TESTS := $(patsubst %.c,$(BUILD)/%,$(SRC_tests))
TOOLS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/fake/*.c tests/bench/*.c \
	tests/bench/dataplane/*.c tests/tools/*.c))
FUZZERS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/fuzz/*_fuzz.c))
obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

# ---- archives and programs ----

LIB_A := $(patsubst %,$(BUILD)/lib%.a,api json netlink base)
$(foreach l,api json netlink base,$(eval $(BUILD)/lib$(l).a: $(call obj,$(call src_lib,$(l)))))
$(BUILD)/libcni.a: $(call obj,$(filter-out $(MAIN_weft),$(SRC_cni)))
$(BUILD)/libdataplane.a: $(call obj,$(filter-out $(MAIN_weftd),$(SRC_dataplane)))
$(BUILD)/libctl.a: $(call obj,$(filter-out $(MAIN_weftctl),$(SRC_ctl)))
$(BUILD)/libagent.a: $(call obj,$(filter-out $(MAIN_weft-agent),$(SRC_agent)))
$(BUILD)/libharness.a: $(call obj,$(SRC_harness))
$(BUILD)/lib%.a: $(BUILD)/pkg.mk
	$(Q)rm -f $@; $(AR) qcsD $@ $(filter %.o,$^)

# What each component links: its archive, then the libraries of its own.
LIBS_lib := $(NL_LIBS) $(JSON_LIBS)
LIBS_cni := $(LIBS_lib)
LIBS_ctl := $(LIBS_lib)
LIBS_dataplane = $(DPDK_LIBS) -levent_core -levent_pthreads -lyaml $(LIBS_lib)
LIBS_agent := -levent_core -levent_extra -levent_pthreads -lyaml \
	$(if $(wildcard agent/kube/*.c),-lcurl) $(LIBS_lib)
# Objects, the component's archive, lib, then what lies outside the tree.
link = $(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) \
	-Wl,--end-group $(LIBS_$(1))

PROG_weft := cni
PROG_weftd := dataplane
PROG_weftctl := ctl
PROG_weft-agent := agent
PROGRAMS := $(foreach p,weft weftd weftctl weft-agent,$(if $(wildcard $(MAIN_$(p))),$(p)))
define program
$(BUILD)/$(1): $(call obj,$(MAIN_$(1))) $(BUILD)/lib$(PROG_$(1)).a $(LIB_A)
	@echo "  LINK  $$@"
	$(Q)$$(call link,$(PROG_$(1)))
endef
$(foreach p,weft weftd weftctl weft-agent,$(eval $(call program,$(p))))

$(BUILD)/obj/%.o: %.c Makefile $(BUILD)/flags $(BUILD)/pkg.mk
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(CFLAGS_ALL) -c -o $@ $<

# A header compiles alone, with the flags of its folder.
$(BUILD)/hdr/%.ok: %.h Makefile $(BUILD)/flags $(BUILD)/pkg.mk
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) -MT $@ -MF $@.d -fsyntax-only -x c -include $< /dev/null && touch $@

# ---- tests ----

# A test names the functions it replaces in a comment near its top: `// wrap: sendmmsg recvmmsg`.
head_note = $(shell sed -n '1,5s|^// $(1): *||p' $(2))
tested = $(BUILD)/tests/$(1)/%: $(BUILD)/obj/tests/$(1)/%.o $(BUILD)/libharness.a \
	$(if $(filter lib,$(2)),,$(BUILD)/lib$(2).a) $(LIB_A)
define test_rule
$(tested)
	@mkdir -p $$(@D)
	@echo "  LINK  $$@"
	$(Q)$$(call link,$(2)) -lcmocka $$(addprefix -Wl$$(comma)--wrap=,$$(call \
		head_note,wrap,tests/$(1)/$$*.c))
endef
$(eval $(call test_rule,unit/lib,lib))
$(eval $(call test_rule,unit/cni-plugin,cni))
$(eval $(call test_rule,unit/agent,agent))
$(eval $(call test_rule,unit/dataplane,dataplane))
$(eval $(call test_rule,unit/dataplane/ctl,ctl))
$(eval $(call test_rule,packet,dataplane))
$(eval $(call test_rule,fake,lib))
$(eval $(call test_rule,bench,lib))
$(eval $(call test_rule,bench/dataplane,dataplane))
$(eval $(call test_rule,tools,lib))

# A fuzz target says what it needs: `// needs: dataplane` (or agent, cni, ctl, lib).
fuzz_needs = $(or $(call head_note,needs,tests/fuzz/$(1)_fuzz.c),lib)
fuzz_inc_lib := -Ilib $(TEST_INC)
fuzz_inc_cni := -Icni-plugin $(fuzz_inc_lib)
fuzz_inc_agent := -Iagent $(fuzz_inc_lib)
fuzz_inc_ctl := -Idataplane/ctl $(fuzz_inc_lib)
fuzz_inc_dataplane = $(DP_INC) $(TEST_INC)
define fuzz_rule
$(BUILD)/obj/tests/fuzz/$(1)_fuzz.o: INC = $$(fuzz_inc_$(2))
$(BUILD)/tests/fuzz/$(1)_fuzz: $(BUILD)/obj/tests/fuzz/$(1)_fuzz.o $(BUILD)/libharness.a \
	$(if $(filter lib,$(2)),,$(BUILD)/lib$(2).a) $(LIB_A)
	@mkdir -p $$(@D)
	@echo "  LINK  $$@"
	$(Q)$$(call link,$(2)) -fsanitize=fuzzer
endef
ifeq ($(SANITIZE),fuzz)
$(foreach f,$(patsubst %_fuzz,%,$(notdir $(FUZZERS))),$(eval $(call fuzz_rule,$(f),$(call \
	fuzz_needs,$(f)))))
endif

# ---- targets ----

.PHONY: all objects headers tools tests fuzzers deps test unit smoke fuzz lint metrics format demo \
	bench install clean help
all: $(addprefix $(BUILD)/,$(PROGRAMS)) ## build the programs
	@$(foreach p,$(filter-out $(PROGRAMS),weft weftd weftctl weft-agent),echo \
		"note: $(p) is left out, $(MAIN_$(p)) does not exist";) true
objects: $(call obj,$(SRC_all)) ## compile everything, link nothing
headers: $(patsubst %.h,$(BUILD)/hdr/%.ok,$(HDR_all)) ## compile each header alone
tools: $(TOOLS) ## build the helper programs of the tests
tests: $(TESTS) ## build the unit and packet tests
fuzzers: $(FUZZERS)

deps: ## install missing Debian packages (needs root only then)
	@tests/deps.sh

# The suite runner starts its own builds, so that one broken file fails one test and not the run.
RUN = MAKE='$(MAKE)' CC='$(CC)' BUILD='$(BUILD)' SANITIZE='$(SANITIZE)' T='$(T)' \
	FUZZ_SECONDS='$(FUZZ_SECONDS)' tests/run.sh
test: FUZZ_SECONDS := $(if $(filter file,$(origin FUZZ_SECONDS)),5,$(FUZZ_SECONDS))
test: deps ## the whole suite
	@+$(RUN) all
unit: ## unit and packet tests; T=lib/base/err runs one
	@+$(RUN) unit
smoke: ## smoke tests (root); T=name runs one
	@+$(RUN) smoke
fuzz: ## replay the corpora, then fuzz each target for FUZZ_SECONDS
	@+$(RUN) fuzz
lint: deps ## style, include directions, symbols, both compilers, scripts, commits
	@+$(RUN) lint
metrics: deps ## the table of code metrics; fails on a hard gate
	@tests/lint/metrics.py

format: ## lay out the sources with clang-format; F=files does a few
	clang-format -i $(or $(F),$(SRC_all) $(HDR_all) $(SRC_tests))

demo: deps all tools ## six pods on this machine, no cluster
	@BUILD='$(abspath $(BUILD))' tests/demo/demo.sh
bench: deps all tools ## comparison with peers
	@if [ -x tests/bench/run.sh ]; then BUILD='$(abspath $(BUILD))' tests/bench/run.sh; \
	else echo "no bench yet"; fi

install: all ## DESTDIR= PREFIX=; CNI_BIN_DIR=/opt/cni/bin puts the plugin there as well
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(wildcard $(addprefix $(BUILD)/,weft weftd weftctl weft-agent)) \
		$(DESTDIR)$(PREFIX)/bin
	$(if $(CNI_BIN_DIR),install -D -m 755 $(BUILD)/weft $(DESTDIR)$(CNI_BIN_DIR)/weft)
clean:
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-fuzz $(BUILD)-clang
help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /  \1\t/p' Makefile

-include $(shell find $(BUILD)/obj $(BUILD)/hdr -name '*.d' 2>/dev/null)
