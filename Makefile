# stackbuild. README.md describes its use, and CONTRIBUTING.md the structure of the code.
#
# The layers, lowest first. A file includes headers of its own directory, of base/, and the header X/X.h of a
# lower layer X. `make lint` checks this: ci/check-layers reads these two lines.
LAYERS := base python cuda solve facts fetch inspect harvest host recipe resolve init lock plan render uv store mirror build verify doctor diagnose watch report
PURE := base python cuda solve facts recipe resolve init lock plan render

BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
CC ?= cc
CFLAGS ?= -O2 -g
PYTHON3 ?= python3
VENV ?= $(BUILD)/venv
FUZZ_S ?= 60
INJECT_N ?= 1000000
RANDOM_N ?= 20000
FUZZ_CC ?= clang
VERSION := $(shell sed -n '1s/^. stackbuild //p' NEWS.md)

# Without the tables for stack unwinding, the program is 3 % smaller; a debugger reads .debug_frame.
std = -std=c11 -fno-asynchronous-unwind-tables -ffunction-sections -D_GNU_SOURCE -DSTACKBUILD_VERSION='"$(VERSION)"' $(if $(BUILD_ID),-DSTACKBUILD_BUILD='"$(BUILD_ID)"') -Isrc -I$(BUILD)/gen
warn = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
ifdef DEVELOPER
warn += -Werror
endif
# Prints one short line for each file; V=1 prints the commands.
ifdef V
Q =
else
Q = @printf '  %-4s %s\n' "$(if $(filter %.o,$@),CC,MAKE)" $@;
endif
compile = $(Q)$(CC) $(std) $(warn) $(CFLAGS) $(SAN) -MMD -MP

# The pure layers are one library. The two programs add their main functions.
lib_c := $(filter-out src/facts/generate%.c,$(foreach l,$(PURE),$(wildcard src/$(l)/*.c)))
lib_o := $(lib_c:src/%.c=$(BUILD)/%.o)
program_o := $(patsubst src/%.c,$(BUILD)/%.o,$(filter-out %main.c src/world_%.c,$(wildcard src/*.c)))
# Only the second program contains the other layers, and the verbs that need them.
world := $(filter-out $(PURE),$(LAYERS))
world_o := $(patsubst src/%.c,$(BUILD)/%.o,$(wildcard src/world_*.c))
world_lib_o := $(patsubst src/%.c,$(BUILD)/%.o,$(foreach l,$(world),$(wildcard src/$(l)/*.c)))
gen_o := $(BUILD)/gen/knowledge.o $(BUILD)/gen/templates.o

# Uses static archives if they exist, because each shared library slows down the start (libcrypto by milliseconds).
# LIBDIR= names a directory with all archives for another machine (ci/dist/build creates such directories).
archive = $(if $(LIBDIR),$(LIBDIR)/lib$(1).a,$(firstword $(filter /%,$(shell $(CC) -print-file-name=lib$(1).a 2>/dev/null)) -l$(1)))
libs := $(call archive,pcre2-8) $(call archive,yaml) $(call archive,crypto)
# Links statically if every archive is installed: the dynamic linker would take a tenth of the time of a render.
# With muldefs, base/arena.c can replace malloc.
whole := $(if $(SAN)$(filter -l%,$(libs) $(call archive,c)),,-static -Wl,-z,muldefs)
world_libs = $(if $(LIBDIR),$(patsubst %,$(LIBDIR)/lib%.a,git2 http_parser curl ssl crypto archive elf jansson z) -lpthread,\
	-Wl,--as-needed -lgit2 -lcurl -larchive -lelf -ljansson -lz) -ldl -lm

.PHONY: all install uninstall demo deps deps-test test lint asan fuzz bench clean FORCE
.DELETE_ON_ERROR:

all: stackbuild $(BUILD)/stackbuild-world

# `make` creates the link ./stackbuild; with another BUILD=, the program is only in that directory.
ifeq ($(BUILD),build)
stackbuild: $(BUILD)/stackbuild
	@ln -f $< $@ 2>/dev/null || cp -f $< $@
else
.PHONY: stackbuild
stackbuild: $(BUILD)/stackbuild
endif

$(BUILD)/%.o: src/%.c
	@mkdir -p $(@D)
	$(compile) -c -o $@ $<

$(BUILD)/gen/%.o: $(BUILD)/gen/%.c
	$(compile) -c -o $@ $<

$(BUILD)/libstack.a: $(lib_o) $(gen_o)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(BUILD)/stackbuild: $(BUILD)/main.o $(program_o) $(BUILD)/libstack.a
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -Wl,--gc-sections $(whole) -o $@ $^ $(libs)

$(BUILD)/libworld.a: $(world_lib_o) $(BUILD)/gen/torch_symbols.o
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(BUILD)/stackbuild-world: $(world_o) $(program_o) $(BUILD)/libworld.a $(BUILD)/libstack.a
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ $(libs) $(world_libs)

# --- files that src/facts/generate.c compiles into the program: knowledge/ and templates/ ---

# A build for another machine uses the generator of a build for this machine.
GENERATE ?= $(BUILD)/generate

generate_o := $(filter $(BUILD)/base/% $(BUILD)/python/% $(BUILD)/cuda/% $(BUILD)/facts/%,$(lib_o))
knowledge := $(wildcard knowledge/*.yaml $(foreach d,extensions packages releases,knowledge/$(d)/*.yaml))
# GitLab expects its component check.yml in this directory.
templates := $(filter-out templates/check.yml,$(sort $(shell find templates -name "*.py[co]" -prune -o -type f -print 2>/dev/null)))

$(BUILD)/libgenerate.a: $(generate_o)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(BUILD)/generate: $(BUILD)/facts/generate.o $(BUILD)/libgenerate.a
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ $(libs)

# The lists are in separate files, so that make also notices removed files.
$(BUILD)/gen/knowledge.list $(BUILD)/gen/templates.list: FORCE | $(BUILD)/gen
	@$(file >$@.new,$($(basename $(@F)))) cmp -s $@.new $@ || cp $@.new $@

$(BUILD)/gen:
	@mkdir -p $@

$(BUILD)/gen/knowledge.c: $(GENERATE) $(knowledge) $(BUILD)/gen/knowledge.list
	$(Q)$(GENERATE) knowledge knowledge > $@

$(BUILD)/gen/templates.c: $(GENERATE) $(templates) $(BUILD)/gen/templates.list
	$(Q)$(GENERATE) templates $(templates) > $@

# Only in stackbuild-world: it would enlarge stackbuild by a tenth.
$(BUILD)/gen/torch_symbols.c: $(GENERATE) src/inspect/torch_symbols.txt
	@mkdir -p $(@D)
	$(Q)$(GENERATE) text torch_symbols src/inspect/torch_symbols.txt > $@

# --- installing ---

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/libexec/stackbuild \
		$(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/bash-completion/completions \
		$(DESTDIR)$(PREFIX)/share/zsh/site-functions $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d \
		$(DESTDIR)$(PREFIX)/share/doc/stackbuild/recipes $(DESTDIR)$(PREFIX)/share/doc/stackbuild/pictures
	install -m 755 $(BUILD)/stackbuild $(DESTDIR)$(PREFIX)/bin/stackbuild
	install -m 755 $(BUILD)/stackbuild-world $(DESTDIR)$(PREFIX)/libexec/stackbuild/stackbuild-world
	$(BUILD)/stackbuild man > $(DESTDIR)$(PREFIX)/share/man/man1/stackbuild.1
	$(BUILD)/stackbuild completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/stackbuild
	$(BUILD)/stackbuild completion zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_stackbuild
	$(BUILD)/stackbuild completion fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/stackbuild.fish
	install -m 644 recipes/*.yaml $(DESTDIR)$(PREFIX)/share/doc/stackbuild/recipes
	install -m 644 docs/*.md docs/*.json docs/*.txt $(DESTDIR)$(PREFIX)/share/doc/stackbuild
	install -m 644 docs/pictures/*.svg $(DESTDIR)$(PREFIX)/share/doc/stackbuild/pictures

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/stackbuild $(DESTDIR)$(PREFIX)/share/man/man1/stackbuild.1 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/stackbuild \
		$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_stackbuild \
		$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/stackbuild.fish
	rm -rf $(DESTDIR)$(PREFIX)/libexec/stackbuild $(DESTDIR)$(PREFIX)/share/doc/stackbuild

# Packages of Debian and Ubuntu that builds need, and packages that only tests need.
deps:
	@ci/deps gcc libc6-dev libpcre2-dev libyaml-dev zlib1g-dev libssl-dev libgit2-dev libcurl4-openssl-dev libarchive-dev libelf-dev libjansson-dev

# ca-certificates, curl and build-essential are what a rendered script would install; no test installs a package.
deps-test: deps
	@ci/deps build-essential g++ libcmocka-dev python3 python3-dev python3-venv ca-certificates curl shellcheck git patch chromium tidy zstd

demo: deps
	@$(MAKE) --no-print-directory -j2 all
	@ci/demo

# --- tests ---

units := $(patsubst tests/unit/%.c,$(BUILD)/test/%,$(wildcard tests/unit/*_test.c))

$(BUILD)/test/%_test: tests/unit/%_test.c $(BUILD)/libworld.a $(BUILD)/libstack.a
	@mkdir -p $(@D)
	$(compile) -o $@ $< $(LDFLAGS) $(BUILD)/libworld.a $(BUILD)/libstack.a $(libs) $(world_libs) -lcmocka

# Installs the Python packages of the tests from pip's default index; ok is newer than the lists of requirements.
# Environments that the tests make with this Python take pip from a copy: tests/lib/quick_venv.py.
$(VENV)/ok: tests/requirements.txt
	@test -x $(VENV)/bin/python || $(PYTHON3) -m venv $(VENV)
	$(VENV)/bin/python -m pip install -q --disable-pip-version-check -r $<
	@for d in $(VENV)/lib/python3*/site-packages; do echo 'import sys; sys.orig_argv[1:3] == ["-m", "venv"] and' \
		'__import__("runpy").run_path("$(CURDIR)/tests/lib/quick_venv.py")' > $$d/quick_venv.pth; done
	@touch $@

# Test programs with a command line: `%_bench` and `%_cli`. They read JSON with jansson.
tools := $(patsubst tests/tools/%.c,$(BUILD)/%,$(wildcard tests/tools/*.c))

$(tools): $(BUILD)/%: tests/tools/%.c $(BUILD)/libworld.a $(BUILD)/libstack.a
	@mkdir -p $(@D)
	$(compile) -o $@ $< $(LDFLAGS) $(BUILD)/libworld.a $(BUILD)/libstack.a $(libs) $(world_libs)

# stackbuild with a shared C library, so that tests/suites/faults can preload functions that fail.
$(BUILD)/stackbuild_shared: $(BUILD)/main.o $(program_o) $(BUILD)/libstack.a
	$(Q)$(CC) $(CFLAGS) $(SAN) $(LDFLAGS) -o $@ $^ $(libs)

# Docker's daemon and buildah for tests/suites/buildkit, unpacked in $(BUILD). The suite is skipped if they
# cannot be downloaded.
.PHONY: engines
engines:
	@ci/engines $(BUILD)/engines

# The older Modal client, in a separate environment.
$(VENV)-modal15/ok: tests/requirements-modal15.txt
	@test -x $(@D)/bin/python || $(PYTHON3) -m venv $(@D)
	$(@D)/bin/python -m pip install -q --disable-pip-version-check -r $<
	@touch $@

# The programs that validate bills of materials, in a separate environment.
$(VENV)-sbom/ok: tests/requirements-sbom.txt
	@test -x $(@D)/bin/python || $(PYTHON3) -m venv $(@D)
	$(@D)/bin/python -m pip install -q --disable-pip-version-check -r $<
	@touch $@

test_needs = engines all $(units) $(tools) $(BUILD)/stackbuild_shared $(VENV)/ok $(VENV)-modal15/ok $(VENV)-sbom/ok

# Without -j, the programs are built with all processors.
jobs = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))

test: deps-test
	@$(MAKE) --no-print-directory $(jobs) test-needs
	@$(MAKE) --no-print-directory test-run

# Also the suites that take minutes, and larger numbers of generated cases. REST= names the output of `make test` on
# another machine: then only what was skipped there.
test-all: deps-test
	@$(MAKE) --no-print-directory $(jobs) test-needs
	@$(MAKE) --no-print-directory test-run TEST="--all $(if $(REST),--rest $(REST))"

.PHONY: test-all test-needs test-run
test-needs: $(test_needs)

# TEST= has options and names for tests/run.
test-run: $(test_needs)
	@BUILD=$(BUILD) PYTHON=$(abspath $(VENV))/bin/python tests/run $(TEST)

lint: $(BUILD)/generate $(BUILD)/gen/templates.c
	@BUILD=$(BUILD) CC="$(CC)" ci/lint

# Runs the tests with the program and the C tests under ASan and UBSan.
asan: deps-test
	@INJECT_N=$${INJECT_N:-2000} $(MAKE) --no-print-directory $(jobs) test-run BUILD=$(BUILD)/asan VENV=$(VENV) \
		CFLAGS="-O1 -g -fno-omit-frame-pointer" SAN="-fsanitize=address,undefined -fno-sanitize-recover=all"

# Writes the generated parts of README.md and docs/.
.PHONY: docs
docs: all $(BUILD)/progress_cli $(BUILD)/proof_cli $(VENV)/ok
	@BUILD=$(BUILD) $(VENV)/bin/python ci/docs

# --- fuzzing: libFuzzer with ASan and UBSan, for FUZZ_S CPU seconds per target ---

fuzzers := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/*.c))
fuzz_san = -fsanitize=$(1),address,undefined -fno-sanitize-recover=all
fuzz_objects := $(BUILD)/fuzz/objects
fuzz_libs := $(fuzz_objects)/libworld.a $(fuzz_objects)/libstack.a

# Compiles both libraries once for all targets; the recursive make finds outdated objects.
$(fuzz_libs) &: FORCE
	@$(MAKE) --no-print-directory BUILD=$(fuzz_objects) CC=$(FUZZ_CC) CFLAGS="-O1 -g" \
		SAN="$(call fuzz_san,fuzzer-no-link)" $(fuzz_libs)

$(fuzzers): $(BUILD)/fuzz/%: tests/fuzz/%.c $(fuzz_libs)
	$(Q)$(FUZZ_CC) $(std) -I$(fuzz_objects)/gen $(warn) -g -O1 $(call fuzz_san,fuzzer) -MMD -MP -o $@ $< \
		$(LDFLAGS) $(fuzz_libs) $(libs) $(world_libs)

# The hostile recipes run even if a target has failed. INJECT_N= and RANDOM_N= set smaller numbers of hostile and random recipes (default: a million hostile ones).
fuzz: deps-fuzz
	@$(MAKE) --no-print-directory fuzz-run

.PHONY: fuzz-run deps-fuzz
deps-fuzz: deps-test
	@ci/deps clang libclang-rt-14-dev

fuzz-run: $(fuzzers) all $(VENV)/ok
	@status=0; export BUILD=$(BUILD) ROOT=$(CURDIR) PYTHON=$(abspath $(VENV))/bin/python; \
	FUZZ_S=$(FUZZ_S) $(PYTHON3) ci/fuzz $(notdir $(fuzzers)) || status=1; \
	export STACKBUILD=$(abspath $(BUILD)/stackbuild); \
	INJECT_N=$(INJECT_N) tests/suites/injection || status=1; \
	RANDOM_N=$(RANDOM_N) $(PYTHON3) tests/suites/random || status=1; \
	exit $$status

# Runs tests/suites/faults with at least ten thousand faults of the host, one in each run.
.PHONY: faults faults-run
faults: deps-test
	@$(MAKE) --no-print-directory faults-run

faults-run: all $(BUILD)/store_cli $(BUILD)/stackbuild_shared
	@FAULTS_EACH=350 FAULTS_MIN=10000 BUILD=$(BUILD) $(PYTHON3) tests/suites/faults

# --- targets that use the network: whole builds, and comparisons with peers ---

# Renders recipes, builds them with docker and another engine, and runs the script: one hour, 40 GB.
deps-e2e: deps-test
	@ci/deps docker.io docker-registry skopeo debootstrap iptables iproute2 buildah podman

e2e: all
	@BUILD=$(BUILD) ci/e2e

# Changes a real stack into good and broken ones. TRUTH_VENV=DIR; TRUTH="-j2", "--gpu" or names of cases.
.PHONY: truth
truth: all
	@STACKBUILD=$(abspath $(BUILD)/stackbuild) tests/truth/run $(TRUTH_VENV) $(TRUTH)

# Resolves 40 stacks with uv, under their rendered constraints, with a torch index on loopback; it uses the network.
.PHONY: truth-resolve
truth-resolve: all $(VENV)/ok
	@STACKBUILD=$(abspath $(BUILD)/stackbuild) BUILD=$(abspath $(BUILD)) PYTHONDONTWRITEBYTECODE=1 \
		$(abspath $(VENV))/bin/python tests/truth/resolve $(TRUTH)

$(VENV)/bench-ok: tests/requirements-bench.txt $(VENV)/ok
	$(VENV)/bin/python -m pip install -q --disable-pip-version-check -r $<
	@touch $@

bench: deps-test
	@$(MAKE) --no-print-directory bench-run

.PHONY: bench-run deps-e2e e2e
bench-run: all $(tools) $(VENV)/ok $(VENV)/bench-ok
	@BUILD=$(BUILD) STACKBUILD=$(abspath $(BUILD)/stackbuild) PYTHON=$(abspath $(VENV))/bin/python \
		PYTHONDONTWRITEBYTECODE=1 tests/bench/run

# Compares `inspect` on 50 wheels of PyPI with auditwheel, zipfile, packaging and cuobjdump: one minute.
$(VENV)-referees/ok: tests/requirements-referees.txt
	@test -x $(@D)/bin/python || $(PYTHON3) -m venv $(@D)
	$(@D)/bin/python -m pip install -q --disable-pip-version-check -r $<
	@touch $@

.PHONY: inspect-wheels
inspect-wheels: all $(VENV)-referees/ok
	@BUILD=$(BUILD) $(VENV)-referees/bin/python tests/inspect/wheels

# Compiles mamba-ssm: one hour; needs root and a CUDA toolkit. STACK_VENV= names an environment with torch, and
# BENCH_BUILD="--files ... --jobs ..." compiles fewer files.
.PHONY: bench-build
bench-build: all $(tools) $(VENV)/ok
	@BUILD=$(BUILD) PYTHON=$(abspath $(VENV))/bin/python $(PYTHON3) tests/bench/bench-build $(BENCH_BUILD)

# --- packages: wheels, tar.gz, .deb, SBOM and checksums in dist/, for each architecture in ARCHES ---

DIST ?= dist
ARCHES ?= x86_64 aarch64

.PHONY: dist test-dist deps-dist
deps-dist:
	@ci/deps cmake ninja-build dpkg-dev patch xz-utils bzip2 perl python3 python3-venv git debian-archive-keyring python-apt-common

dist: deps-dist
	@BUILD=$(BUILD) PYTHON3=$(PYTHON3) ci/dist/build $(DIST) $(ARCHES)

# Installs the packages in venvs on Debian 11 to 13 and under an emulator, and compares them with the native build:
# some minutes, root.
test-dist: deps dist all
	@ci/deps debootstrap qemu-user-static lintian docker.io docker-registry skopeo iptables iproute2
	@BUILD=$(BUILD) PYTHON3=$(PYTHON3) tests/dist/run $(DIST)

# Builds a matrix of 24 environments on this host and with a Slurm cluster of one node: half an hour, root.
.PHONY: test-matrix
test-matrix: deps-test all $(VENV)/ok $(BUILD)/matrix_sim
	@ci/deps slurm-wlm
	@MATRIX=1 BUILD=$(BUILD) PYTHON=$(abspath $(VENV))/bin/python tests/run tests/suites/matrix tests/suites/slurm

# Runs the Triton kernels of mamba-ssm and causal-conv1d in Triton's interpreter, and the probes of `verify` on a
# simulated GPU: more than ten minutes, 5 GB for torch. It installs only the Python files of the two packages.
$(VENV)-triton/ok: tests/requirements-triton.txt
	@test -x $(@D)/bin/python || $(PYTHON3) -m venv $(@D)
	$(@D)/bin/python -m pip install -q --disable-pip-version-check -r $<
	MAMBA_FORCE_BUILD=TRUE MAMBA_SKIP_CUDA_BUILD=TRUE CAUSAL_CONV1D_FORCE_BUILD=TRUE CAUSAL_CONV1D_SKIP_CUDA_BUILD=TRUE \
		$(@D)/bin/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation \
		--no-binary mamba-ssm,causal-conv1d mamba-ssm==2.3.1 causal-conv1d==1.6.2.post1
	@touch $@

.PHONY: test-triton
test-triton: deps-test all $(VENV)-triton/ok
	PYTHONPATH=tests/triton/standin $(VENV)-triton/bin/python tests/triton/run
	STACKBUILD=$(abspath $(BUILD)/stackbuild) $(VENV)-triton/bin/python tests/triton/probes

clean:
	rm -rf $(BUILD) $(DIST) stackbuild

-include $(shell find $(BUILD) \( -name "testbed*" -o -name dist -o -name engines -o -name clean-root -o -name e2e -o -name venv \) -prune \
	-o -name '*.d' -type f -print 2>/dev/null)
