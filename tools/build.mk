# SPDX-License-Identifier: GPL-2.0
# What the Makefiles of the tools share: compilers and their flags, and rules for objects out of src/ (or SOURCE_DIR) and
# kernel/proto/. To be included after HERE, TOP, O and PACKAGES (of pkg-config) are set.
# MODEL_O: where libpibmodel and the tests' test_prefix.h are compiled. A call that gives it to several tools compiles them once.

VERSION ?= $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' $(TOP)/dkms.conf)
PKG_CONFIG ?= pkg-config
CC ?= gcc
CXX ?= g++
# The tests' compiler: where there is clang, it takes half the time.
TEST_CXX ?= $(firstword $(foreach c,clang++ $(CXX),$(shell command -v $(c))))
TEST_CC ?= $(if $(findstring clang,$(TEST_CXX)),clang,$(CC))

CFLAGS ?= -O2 -g
# The lines of a backtrace; variables and types (-g) would take the compiler two thirds as long again.
CXXFLAGS ?= -O2 -g1
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
CPPFLAGS += -I$(TOP)/tools -I$(TOP)/kernel/uapi $(shell $(PKG_CONFIG) --cflags $(PACKAGES))
LDLIBS += $(shell $(PKG_CONFIG) --libs $(PACKAGES))
COMPILE = $(CXX) -std=c++20 $(CXXFLAGS) $(WARNINGS) $(CPPFLAGS) $(SANITIZE) $(PREFIX) -MD -MP -c -o $@ $<
COMPILE_C = $(CC) -std=gnu11 $(CFLAGS) -Wall -Wextra -Wno-unused-parameter $(SANITIZE) -MD -MP -c -o $@ $<
LINK = $(CXX) $(CXXFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
LINK_TEST = $(TEST_CXX) $(SANITIZE) $(LDFLAGS) -o $@ $^ $(LDLIBS) -lgtest -lgtest_main -lpthread

# tests_in FOLDER, sources_in FOLDER: what belongs to tests, and what does not; without FOLDER/ and .cc.
tests_in = $(patsubst $(1)/%.cc,%,$(wildcard $(foreach f,*_test fake_*,$(1)/$(f).cc $(1)/*/$(f).cc)))
sources_in = $(filter-out $(call tests_in,$(1)),$(patsubst $(1)/%.cc,%,$(wildcard $(1)/*.cc $(1)/*/*.cc)))

SOURCE_DIR ?= $(HERE)src
MODEL_O ?= $(O)/model

# Tests run under sanitizers, so they have objects of their own. -fPIC: all of them take the same test_prefix.h.
TEST_CXXFLAGS := -O0 -g1 -fPIC
$(O)/test/%: SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all
$(O)/test/%.o: CXX := $(TEST_CXX)
$(O)/test/%.o: CC := $(TEST_CC)
$(O)/test/%.o: CXXFLAGS := $(TEST_CXXFLAGS)
$(O)/test/%.o: CFLAGS := -O1 -g1

# Both compilers take NAME.gch where they are told to include NAME.
TEST_PREFIX := $(MODEL_O)/test/test_prefix.h
TEMPLATES := $(if $(findstring clang,$(TEST_CXX)),-fpch-instantiate-templates)
$(O)/test/%.o: PREFIX := -include $(TEST_PREFIX) $(TEMPLATES)

# rules FOLDER [PREFIX]
define rules
$(1)/%.o: $(SOURCE_DIR)/%.cc $(2)
	@mkdir -p $$(@D)
	$$(COMPILE)
$(1)/proto/%.o: $(TOP)/kernel/proto/%.c
	@mkdir -p $$(@D)
	$$(COMPILE_C)
endef
# The first target of the Makefile that includes this is to be its default.
.DEFAULT_GOAL := all
# What names the version is compiled again when that changes.
VERSIONED := $(patsubst $(SOURCE_DIR)/%.cc,%.o,$(shell grep -rlsE 'PIB(CTL|NETD)_VERSION' --include='*.cc' $(SOURCE_DIR)))
$(VERSIONED:%=$(O)/%) $(VERSIONED:%=$(O)/test/%): $(TOP)/dkms.conf
$(eval $(call rules,$(O)/test,$(TEST_PREFIX).gch))
$(eval $(call rules,$(O)))

# Calls that have MODEL_O in common wait for each other.
ifneq ($(O),$(MODEL_O))
.PHONY: always
$(MODEL_O)/libpibmodel.a $(MODEL_O)/test/libpibmodel.a $(TEST_PREFIX).gch: always
	@mkdir -p $(MODEL_O) && flock $(MODEL_O)/lock $(MAKE) --no-print-directory -C $(TOP)/tools/model O=$(abspath $(MODEL_O)) $(abspath $@)
endif

.PHONY: clean
clean:
	rm -rf $(O)

-include $(foreach d,* */* */*/* */*/*/*,$(wildcard $(O)/$(d).d))
