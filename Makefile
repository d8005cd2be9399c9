# SPDX-License-Identifier: GPL-2.0
# Builds, installs and tests pib. The kernel's own build reads kernel/Kbuild.

VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
KDIR ?= /lib/modules/$(shell uname -r)/build
O ?= $(CURDIR)/build
PREFIX ?= /usr
SYSCONFDIR ?= /etc
# The kernels that get the module on installation; default: all that have headers.
KVERS ?= $(notdir $(patsubst %/build,%,$(wildcard /lib/modules/*/build)))

# What is given to this make (O=, -j) is not meant for the kernel's build.
DKMS := env -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES -u O dkms

PIBSRC := $(DESTDIR)/usr/src/pib-$(VERSION)

.PHONY: all module provider pibctl pibnetd clean
all: module pibctl pibnetd provider

module:
	@[ -d '$(KDIR)' ] || { \
		echo "make: no kernel headers in $(KDIR)." >&2; \
		echo "make: install the headers of this kernel, or name another one: make KDIR=/lib/modules/VERSION/build" >&2; \
		echo "make: ('make provider pibctl pibnetd' needs none, and the lab in selftests/vm brings its own)" >&2; \
		exit 1; }
	$(MAKE) -C $(KDIR) O= M=$(CURDIR)/kernel CONFIG_INFINIBAND_PIB=m modules

provider:
	provider/build $(O)/provider

pibctl:
	$(MAKE) -C tools/pibctl O=$(O)/pibctl MODEL_O=$(O)/model

# With pibping.
pibnetd:
	$(MAKE) -C tools/pibnetd O=$(O)/pibnetd MODEL_O=$(O)/model

.PHONY: install install-module install-user uninstall
# What is missing is said before anything is built or changed.
install:
	@packaging/check-needs '$(DESTDIR)' '$(KVERS)' module user
	$(MAKE) install-module install-user

# DKMS builds from its own copy, now and whenever a kernel is installed.
install-module:
	@packaging/check-needs '$(DESTDIR)' '$(KVERS)' module
	-[ -n '$(DESTDIR)' ] || $(DKMS) remove pib/$(VERSION) --all >/dev/null 2>&1
	rm -rf $(PIBSRC)
	install -d $(PIBSRC)
	cd kernel && find . -name '*.mod.c' -o \( -name '*.[ch]' -o -name Kbuild \) -print | cpio -pdm --quiet $(PIBSRC)/kernel
	install -m 644 dkms.conf Kconfig $(PIBSRC)
ifeq ($(DESTDIR),)
	$(DKMS) add pib/$(VERSION)
	@set -e; for k in $(KVERS); do $(DKMS) install pib/$(VERSION) -k $$k || { \
		cat /var/lib/dkms/pib/$(VERSION)/build/make.log; exit 1; }; done
endif

install-user: provider pibctl pibnetd
	packaging/install-user '$(O)' '$(DESTDIR)' '$(PREFIX)' '$(SYSCONFDIR)'

uninstall:
	-[ -n '$(DESTDIR)' ] || $(DKMS) remove pib/$(VERSION) --all
	rm -rf $(PIBSRC)
	packaging/uninstall-user '$(DESTDIR)' '$(PREFIX)'

.PHONY: run check check-long check-verbs check-top check-debug bench
run:
	selftests/vm/demo

check:
	selftests/check

# Suites of fabric/ that are too long for "make check", and two on other kernels.
check-long:
	LONG=1 CHECK='$(CHECK)' selftests/check

check-verbs:
	VERBS=1 CHECK='lab verbs-*' selftests/check

# What runs on top of pib, on every kernel; build/compatibility.md tells of it, if CHECK chooses no part.
check-top:
	TOP=$(if $(CHECK),part,all) CHECK='$(or $(CHECK),lab consumers-*)' selftests/check

# Every suite on a kernel with KASAN, lockdep and more; KERNEL=race: on one with KCSAN.
check-debug:
	DEBUG=$(or $(KERNEL),debug) CHECK='$(or $(CHECK),lab fabric-* machines-* verbs-* consumers-* stress-* hostile-* soak-*)' selftests/check

bench:
	selftests/bench/run

# Longer than "make check": RUNS of the simulator, RUNS executions of each fuzz target, MINUTES
# of traffic over bad cables in the lab.
.PHONY: sim fuzz soak
sim fuzz:
	$(MAKE) -C selftests/unit $@ $(if $(RUNS),RUNS=$(RUNS)) $(if $(SEED),SEED=$(SEED)) $(if $(NAME),NAME=$(NAME))

soak:
	selftests/soak/run -- $(or $(MINUTES),1) $(LOSS)

# The lab's root takes minutes to make and changes seldom: "make distclean" drops it as well.
.PHONY: distclean
clean:
	find kernel \( -name '*.o' -o -name '*.ko' -o -name '*.mod' -o -name '*.mod.c' -o -name '.*.cmd' \
		-o -name Module.symvers -o -name modules.order \) -delete
	rm -rf $(O)/model $(O)/pibctl $(O)/pibnetd $(O)/provider $(O)/unit $(O)/lab/layer-* $(O)/lab/runs

distclean: clean
	rm -rf $(O)
