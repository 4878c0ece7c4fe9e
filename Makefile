# kftune: build with GNU make. `make help` lists the targets, docs/building.md explains them.

BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
LIBDIR ?= $(PREFIX)/lib
ZSH_FUNCTIONS ?= $(PREFIX)/share/zsh/site-functions
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin AR),default)
AR := ar
endif

# Every core; JOBS=1 for one at a time. Only the outermost make may say so, the others share its job server.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(JOBS)
endif
MAKEFLAGS += --no-print-directory
.DELETE_ON_ERROR:
# `make V=1` shows the whole command lines.
Q := $(if $(V),,@)
say = $(if $(V),,@echo "  $(1)")
.SUFFIXES:

# The one place of the version; the library's soname has its first number.
VERSION := $(shell sed -n 's/^\#define KF_VERSION "\(.*\)"/\1/p' base/util/program.h)

# --- what is built -----------------------------------------------------------------------------------------

SOURCES := $(wildcard base/*/*.c base/*/*/*.c harness/*/*.c solver/*.c solver/*/*.c scene/*.c results/*.c cost_model/*.c plots/*.c plots/*/*.c)
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o)
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))
# What tests share beside the program: tests/tools/*.c, and the programs among them.
TOOL_PROGRAMS := $(BUILD)/tests/nightly_trials $(BUILD)/tests/cost_surveys $(BUILD)/tests/kernel_code
# Preloaded into the program, which it makes fail (make check-faults).
FAIL_NTH := $(BUILD)/tests/fail_nth.so
TOOLS := $(filter-out tests/tools/fail_nth.c $(TOOL_PROGRAMS:$(BUILD)/tests/%=tests/tools/%.c),$(wildcard tests/tools/*.c))
END_TESTS := $(wildcard tests/e2e/*.sh)
# Tests of a GPU's counters and memory want it for themselves; all others hold beside other work. The longest begin first.
# test_team, which takes what test_team_copies has compiled, is none of them: it would compile the same beside it.
ALONE := test_backend_gpu test_backend_gpu_graphs test_cupti_gpu test_handwritten
TESTS_ALONE := $(ALONE:%=$(BUILD)/tests/%)
LONGEST_TESTS := $(patsubst %,$(BUILD)/tests/test_%,team_copies validation_cases incompressible sph)
UNIT_TESTS_BESIDE := $(LONGEST_TESTS) $(filter-out $(LONGEST_TESTS) $(TESTS_ALONE),$(UNIT_TESTS))
LONGEST_END_TESTS := $(patsubst %,tests/e2e/%.sh,ranks-fail mpi)
END_TESTS_BESIDE := $(LONGEST_END_TESTS) $(filter-out $(LONGEST_END_TESTS),$(END_TESTS))
OUR_C := harness/main.c $(SOURCES) $(wildcard tests/unit/*.c tests/tools/*.c)
OUR_HEADERS := $(wildcard base/*/*.h base/*/*/*.h harness/*/*.h solver/*.h solver/*/*.h scene/*.h results/*.h cost_model/*.h plots/*.h plots/*/*.h tests/unit/*.h tests/tools/*.h)
OUR_KERNELS := $(wildcard kernels/*.h kernels/*/*.h kernels/*/*.cu kernels/*/*.c)
# What the program reads at run time, for install and bundle.
DATA := $(wildcard kernels/*.h kernels/*.cu kernels/*/*.h kernels/t1/c* kernels/t1/hip/* kernels/*/*.cu kernels/*/*.c variants/*.json suites/*.json metrics/*.txt accuracy/* \
	scene/library/*.* scene/library/*/*.* plots/*.gp plots/*.gnuplot plots/*.plt)

# The goals that compile; the others must work before a compiler is there.
COMPILING := all mutants programs library tests fuzz-targets header-check install bundle-files lint-quick lint-static $(BUILD)/%
ifneq ($(filter $(COMPILING),$(or $(MAKECMDGOALS),all)),)
include $(BUILD)/config.mk
endif

WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Werror
# What a library shows to others is said where it is linked (harness/library/exports.map).
BASE_CFLAGS := -std=c17 -O2 -g -fPIC -fno-semantic-interposition -D_GNU_SOURCE -I. $(WARNINGS)
ALL_CFLAGS = $(BASE_CFLAGS) $(SANITIZE) $(LIBRARY_CFLAGS) $(CUDA_CFLAGS) -isystem $(BUILD)/compat $(CPPFLAGS) $(CFLAGS)
# WRAPS: functions that a test stands before. A LDFLAGS of the command line would override an addition to it.
ALL_LDFLAGS = -Wl,--as-needed $(SANITIZE) $(RELOCATABLE) $(WRAPS) $(CFLAGS) $(LDFLAGS)
# The old kind of run path also serves the libraries' own libraries.
RELOCATABLE_FLAGS := -Wl,--disable-new-dtags,-rpath,'$$ORIGIN:$$ORIGIN/lib:$$ORIGIN/../lib:$$ORIGIN/../../lib'
ifeq ($(BUNDLE),yes)
LIBRARY_LIBS := $(LIBRARY_LIBS:-lhdf5=$(STATIC_HDF5))
RELOCATABLE := $(RELOCATABLE_FLAGS)
endif
ALL_LIBS = $(LIBRARY_LIBS) -ldl -lm -lpthread $(LDLIBS)

.PHONY: all programs library tests help packages header-check demo check test check-faults check-sanitize bundle-sanitize check-threads mutants fuzz bundle-fuzz fuzz-targets check-gpu check-gpu-memory check-architectures bench install deb tarball bundle bundle-files lint \
	lint-quick lint-static format clean FORCE

all: programs
	@echo "$(BUILD)/kftune is built. $(CUDA_NOTE)."
programs: $(BUILD)/kftune
tests: $(UNIT_TESTS) $(TOOL_PROGRAMS) $(FAIL_NTH)

# Rewritten only when its content changes, and then everything is built again.
$(BUILD)/config.mk: FORCE
	@mkdir -p $(@D)/compat
	@touch $(@D)/compat/string # for CUPTI, whose C headers include C++'s <string>
	@CC="$(CC)" CUDA="$(CUDA)" CUDA_HOME="$(CUDA_HOME)" sh scripts/configure.sh > $@.new && \
	printf '# %s\n' '$(CC) $(BASE_CFLAGS) $(SANITIZE) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS)' >> $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# Most tests are compiled once and run once: -O1 saves the compiler 40 % of its time.
$(BUILD)/tests/%.o: QUICK := -O1 -g1
$(BUILD)/%.o: %.c $(BUILD)/config.mk
	@mkdir -p $(@D)
	$(call say,CC $<)
	$(Q)$(CC) $(ALL_CFLAGS) $(QUICK) -MMD -MP -c $< -o $@
# Built into the program by the assembler, which the compiler's list of dependencies does not see.
$(BUILD)/results/store_schema.o: $(wildcard results/*.sql results/*/*.sql)
$(BUILD)/base/backend/shared_headers.o: $(wildcard kernels/*.h kernels/*/*.h)
$(BUILD)/libkftune.a: $(OBJECTS)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^
$(BUILD)/kftune: $(BUILD)/harness/main.o $(BUILD)/libkftune.a
	$(call say,LINK $@)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ $(ALL_LIBS:-lhdf5=$(STATIC_HDF5)) -o $@
# The library for others: nothing is seen of it but what kftune.h declares.
EXPORTS := harness/library/exports.map
LIBRARY := $(BUILD)/libkftune.so.$(VERSION)
SONAME := libkftune.so.$(firstword $(subst ., ,$(VERSION)))
library: $(LIBRARY) ## build/libkftune.so.VERSION, for programs (harness/library/kftune.h)
$(LIBRARY): $(BUILD)/harness/library/library.o $(BUILD)/libkftune.a $(EXPORTS)
	$(call say,LINK $@)
	$(Q)$(CC) -shared -Wl,-soname,$(SONAME) -Wl,-z,defs -Wl,--version-script=$(EXPORTS) $(ALL_LDFLAGS) $(BUILD)/harness/library/library.o $(BUILD)/libkftune.a $(ALL_LIBS) -o $@
	@ln -sf $(@F) $(BUILD)/$(SONAME)
	@ln -sf $(SONAME) $(BUILD)/libkftune.so
$(BUILD)/libtools.a: $(TOOLS:%.c=$(BUILD)/%.o)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^
# Tests share one object of the whole program. They wait for it, but are not linked again when it changes: a change
# links once and not 140 times. That nothing is missing in it is found when it is linked, and not again with each test,
# which took nine tenths of a test's link. What is carried to another machine, and what replaces functions of the
# program, is linked whole.
WHOLE := $(BUILD)/libkftune_whole.so
$(WHOLE): $(OBJECTS)
	$(call say,LINK $@)
	$(Q)$(CC) -shared -Wl,-soname,$(@F) -Wl,-z,defs -Wl,-Bsymbolic-functions $(ALL_LDFLAGS) $^ $(ALL_LIBS) -o $@
TESTED := $(if $(BUNDLE)$(SANITIZE),$(BUILD)/libkftune.a,| $(WHOLE))
TESTED_LINK := $(if $(BUNDLE)$(SANITIZE),,-Wl,-rpath,'$$ORIGIN/..' -Wl,--allow-shlib-undefined $(WHOLE))
# A night copies the program that it measures: the tools are linked whole, too.
$(TOOL_PROGRAMS): $(BUILD)/tests/%: $(BUILD)/tests/tools/%.o $(BUILD)/libtools.a $(BUILD)/libkftune.a
	$(call say,LINK $@)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ $(ALL_LIBS) -o $@
$(FAIL_NTH): tests/tools/fail_nth.c $(BUILD)/config.mk
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(CC) $(BASE_CFLAGS) -shared $< -ldl -o $@
# Sees which plans validation cases make, and does not take their steps.
$(BUILD)/tests/test_known_cases: WRAPS := -Wl,--wrap=kf_plan_create,--wrap=kf_plan_advance,--wrap=kf_plan_initialise
$(BUILD)/tests/test_known_cases: $(BUILD)/tests/unit/test_known_cases.o $(BUILD)/libtools.a $(BUILD)/libkftune.a
	$(call say,LINK $@)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ -lcmocka $(ALL_LIBS) -o $@
# Gives validation cases made-up flows to look at.
$(BUILD)/tests/test_case_looks: WRAPS := -Wl,--wrap=kf_plan_advance,--wrap=kf_plan_initialise,--wrap=kf_kinetic_read
$(BUILD)/tests/test_case_looks: $(BUILD)/tests/unit/test_case_looks.o $(BUILD)/libtools.a $(BUILD)/libkftune.a
	$(call say,LINK $@)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ -lcmocka $(ALL_LIBS) -o $@
# Has calls to devices fail (tests/unit/failing_calls.h).
FAILING_CALLS := $(shell awk '/^FAILING_[A-Z]*.kf_/ { sub(/^FAILING_[A-Z]*./, ""); sub(/,.*/, ""); print }' tests/unit/failing_calls.h)
$(BUILD)/tests/test_ranks: WRAPS := $(FAILING_CALLS:%=-Wl,--wrap=%)
$(BUILD)/tests/test_ranks: $(BUILD)/tests/unit/test_ranks.o $(BUILD)/libtools.a $(BUILD)/libkftune.a
	$(call say,LINK $@)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ -lcmocka $(ALL_LIBS) -o $@
$(BUILD)/tests/%: $(BUILD)/tests/unit/%.o $(BUILD)/libtools.a $(TESTED)
	$(call say,LINK $@)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ $(TESTED_LINK) -lcmocka $(ALL_LIBS) -o $@
.SECONDARY: $(UNIT_TESTS:$(BUILD)/tests/%=$(BUILD)/tests/unit/%.o)

-include $(OBJECTS:.o=.d) $(BUILD)/harness/main.d $(UNIT_TESTS:$(BUILD)/tests/%=$(BUILD)/tests/unit/%.d) $(wildcard $(BUILD)/tests/tools/*.d)

# --- what people run ---------------------------------------------------------------------------------------
# Each installs what it needs first, then calls make again, which only then looks for compiler and libraries.

help: ## list the targets
	@echo "make                 build $(BUILD)/kftune"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1#\2/p' $(firstword $(MAKEFILE_LIST)) | awk -F'#' '{printf "%-20s %s\n", $$1, $$2}'
	@echo "Variables: CC, CFLAGS, LDFLAGS, BUILD=folder, PREFIX, DESTDIR, CUDA_HOME=folder, CUDA=no, JOBS=N, V=1. See docs/building.md."

packages: ## install the Debian packages that building and testing need and that are missing
	@sh scripts/packages.sh build check

demo: ## tune the Ahmed body on the cpu and run 200 steps of it, in under 5 minutes
	@sh scripts/packages.sh build demo
	@$(MAKE) all
	@BUILD="$(BUILD)" sh scripts/demo.sh

# A header that compiles alone says everything that it needs.
header-check: $(OUR_HEADERS:%.h=$(BUILD)/headers/%.stamp)
$(BUILD)/headers/%.stamp: %.h $(BUILD)/config.mk
	@mkdir -p $(@D)
	$(Q)echo '#include "$<"' | $(CC) $(ALL_CFLAGS) -fsyntax-only -MMD -MP -MT $@ -MF $(@:.stamp=.d) -x c -
	@touch $@
-include $(OUR_HEADERS:%.h=$(BUILD)/headers/%.d)

check: ## build, run all tests, cppcheck of the program, header check and include lint
	@sh scripts/packages.sh build check
	@$(MAKE) all tests header-check
	@bash scripts/run-tests.sh $(BUILD) $(UNIT_TESTS_BESIDE) scripts/cppcheck.sh scripts/include-lint.sh $(END_TESTS_BESIDE) \
		--alone $(TESTS_ALONE)

T ?=
ONE_TEST = $(patsubst test_%,%,$(patsubst %.sh,%,$(T)))
TEST_NAMES = $(patsubst tests/unit/test_%.c,%,$(wildcard tests/unit/test_*.c)) $(END_TESTS:tests/e2e/%.sh=%)
test: ## build and run one test: T=name, of tests/unit/test_name.c or tests/e2e/name.sh
	@[ "$(words $(T)) $(words $(filter $(subst %,,$(ONE_TEST)),$(TEST_NAMES)))" = "1 1" ] || { echo "make test: say which, as in make test T=file, T=run; there are: $(TEST_NAMES)"; exit 2; }
	@$(MAKE) all $(FAIL_NTH) $(if $(wildcard tests/unit/test_$(ONE_TEST).c),$(BUILD)/tests/test_$(ONE_TEST))
	@KFTUNE_TEST_AGAIN=1 bash scripts/run-tests.sh $(BUILD) $(if $(wildcard tests/unit/test_$(ONE_TEST).c),$(BUILD)/tests/test_$(ONE_TEST),tests/e2e/$(ONE_TEST).sh)

SANITIZE_BUILD := $(BUILD)/sanitize
# Variables that nothing has set hold a pattern, so that what is read of them does not look right by chance. gcc before 12 cannot.
UNSET_SHOWS = $(shell $(CC) -ftrivial-auto-var-init=pattern -E -x c /dev/null >/dev/null 2>&1 && echo -ftrivial-auto-var-init=pattern)
BUILD_SANITIZE = $(MAKE) BUILD=$(SANITIZE_BUILD) BUNDLE=yes SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer $(UNSET_SHOWS)"
check-sanitize: ## all unit tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@sh scripts/packages.sh build check
	@$(BUILD_SANITIZE) programs tests
	@bash scripts/sanitize.sh $(SANITIZE_BUILD) $(UNIT_TESTS_BESIDE:$(BUILD)/%=$(SANITIZE_BUILD)/%) --alone $(TESTS_ALONE:$(BUILD)/%=$(SANITIZE_BUILD)/%)
bundle-sanitize: FOLDER ?= bundle/sanitize
bundle-sanitize: ## make FOLDER=bundle/sanitize, whose tests scripts/sanitize.sh runs on another machine
	@sh scripts/packages.sh build check
	@$(BUILD_SANITIZE) programs tests
	@bash scripts/bundle-programs.sh $(FOLDER)/tests $(UNIT_TESTS:$(BUILD)/%=$(SANITIZE_BUILD)/%) $(TOOL_PROGRAMS:$(BUILD)/%=$(SANITIZE_BUILD)/%)
	@strip -g -o $(FOLDER)/kftune $(SANITIZE_BUILD)/kftune

check-faults: ## fail the n-th allocation, open, write, rename, fsync, mapping and fork of each command, in half an hour (SECONDS, COMMANDS)
	@sh scripts/packages.sh build check
	@$(MAKE) all $(FAIL_NTH)
	@rm -rf $(BUILD)/faults
	@KFTUNE_DATA=. python3 tests/tools/faults.py $(BUILD)/kftune $(FAIL_NTH) $(BUILD)/faults \
		--seconds $(if $(filter command line,$(origin SECONDS)),$(SECONDS),1700) $(if $(COMMANDS),--commands $(COMMANDS)) --table $(BUILD)/faults.md

mutants: all tests ## plant faults one by one and list those that no test notices (IDS="N5 K9": some), in about an hour
	@bash scripts/mutants.sh $(BUILD) $(IDS)

# What runs in more than one thread or talks to another process.
THREADS_BUILD := $(BUILD)/threads
THREAD_TESTS := $(patsubst %,tests/test_%,backend_cpu cache confined device_lock file log measure nightly replay roofs store store_processes tune tune_again worker)
check-threads: ## the tests of driver, workers and cpu backend under ThreadSanitizer
	@sh scripts/packages.sh build check
	@$(MAKE) BUILD=$(THREADS_BUILD) SANITIZE="-fsanitize=thread -fno-omit-frame-pointer" programs $(THREAD_TESTS:%=$(THREADS_BUILD)/%)
	@bash scripts/sanitize.sh $(THREADS_BUILD) --alone $(THREAD_TESTS:%=$(THREADS_BUILD)/%)

# The fuzzer is clang's, which knows _Float16 on x86 only since version 15, and __fp16 with its own runtime library. Everything is built with its counters, the targets are linked with its main.
FUZZ_BUILD := $(BUILD)/fuzzing
bundle-fuzz: FOLDER ?= bundle/fuzzing
SECONDS ?= 60
BUILD_FUZZ = $(MAKE) BUILD=$(FUZZ_BUILD) BUNDLE=yes CC=clang CPPFLAGS="$(CPPFLAGS) -D_Float16=__fp16" CFLAGS="$(CFLAGS) -Wno-error" \
	LDFLAGS="$(LDFLAGS) --rtlib=compiler-rt --unwindlib=libgcc" \
	SANITIZE="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all" fuzz-targets
fuzz: ## run every fuzz target for SECONDS=60 each (TARGETS="mesh scene" for some of them)
	@sh scripts/packages.sh build lint
	@$(BUILD_FUZZ)
	@bash scripts/fuzz.sh $(FUZZ_BUILD) $(SECONDS) $(TARGETS)
bundle-fuzz: ## make FOLDER=bundle/fuzzing, from which scripts/fuzz.sh runs on a machine without clang
	@sh scripts/packages.sh build lint
	@$(BUILD_FUZZ)
	@bash scripts/bundle-programs.sh $(FOLDER)/fuzz $(FUZZ_BUILD)/fuzz/fuzz_*
fuzz-targets: $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
$(BUILD)/fuzz/%: tests/fuzz/%.c tests/fuzz/fuzz_file.h $(BUILD)/libkftune.a
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer $(ALL_LDFLAGS) $< $(BUILD)/libkftune.a $(ALL_LIBS) -o $@

check-gpu: ## run the tests that need a GPU, if there is one
	@sh scripts/packages.sh build check
	@$(MAKE) all tests
	@bash scripts/check-gpu.sh $(BUILD)

check-gpu-memory: ## small configs of every system under compute-sanitizer, in eight minutes (DEVICE=cuda:N); build/gpu-memory/memory.md
	@sh scripts/packages.sh build
	@$(MAKE) all
	@KFTUNE="$(BUILD)/kftune" bash scripts/gpu/memory.sh $(BUILD)/gpu-memory $(or $(DEVICE),cuda:0)

check-architectures: ## compile what presets run for sm_70 to sm_120 with the NVRTC that is there, without a GPU, in ten minutes (ARCHITECTURES)
	@sh scripts/packages.sh build check
	@$(MAKE) $(BUILD)/tests/kernel_code
	@bash scripts/architectures.sh $(BUILD) $(ARCHITECTURES)

bench: ## measure the fixed comparisons (SUITE=name, DEVICE=cpu or cuda:N)
	@sh scripts/packages.sh build
	@$(MAKE) all
	@BUILD="$(BUILD)" DEVICE="$(DEVICE)" sh scripts/bench.sh $(SUITE)

lint: ## clang-format, clang-tidy, cppcheck, and no warning from gcc or clang
	@sh scripts/packages.sh build check lint
	@$(MAKE) lint-static
	@$(MAKE) BUILD=$(BUILD)/lint-gcc CC=gcc programs tests
	@$(MAKE) BUILD=$(BUILD)/lint-clang CC=clang CPPFLAGS="$(CPPFLAGS) $(CLANG_HALF)" $(if $(CLANG_HALF),LDFLAGS="$(LDFLAGS) --rtlib=compiler-rt --unwindlib=libgcc") programs tests
	@sh scripts/cppcheck.sh $(BUILD) tests/unit
	@echo "lint: clean"

# A clang before 15 knows half precision on x86 by another name.
CLANG_HALF = $(shell echo '_Float16 half;' | clang -x c -fsyntax-only - 2>/dev/null || echo -D_Float16=__fp16)
# Nineteen twentieths of clang-tidy's time are its analyzer's: what the other checks find is said first. A file is
# looked at again when it or a header that it includes has changed.
lint-quick: $(OUR_C:%.c=$(BUILD)/tidy/%.quick) ## clang-tidy without its analyzer, in two minutes
lint-static: lint-quick
	@$(MAKE) $(OUR_C:%.c=$(BUILD)/tidy/%.stamp)
	clang-format --dry-run -Werror $(OUR_C) $(OUR_HEADERS) $(OUR_KERNELS)
define TIDY
@mkdir -p $(@D)
$(call say,TIDY $<)
$(Q)clang-tidy --quiet --warnings-as-errors='*' $1 $< -- $(ALL_CFLAGS) $(CLANG_HALF) -Wno-unknown-warning-option 2>$@.said || { cat $@.said; exit 1; }
$(Q)$(CC) $(ALL_CFLAGS) -MM -MP -MT $(basename $@).quick -MT $(basename $@).stamp -MF $(basename $@).d $<
@touch $@
endef
$(BUILD)/tidy/%.quick: %.c .clang-tidy tests/unit/.clang-tidy $(BUILD)/config.mk
	$(call TIDY,--checks=-clang-analyzer-*)
$(BUILD)/tidy/%.stamp: %.c .clang-tidy tests/unit/.clang-tidy $(BUILD)/config.mk
	$(call TIDY)
-include $(wildcard $(OUR_C:%.c=$(BUILD)/tidy/%.d))

format: ## run clang-format over all C files and kernels
	@command -v clang-format >/dev/null || sh scripts/packages.sh lint
	clang-format -i $(OUR_C) $(OUR_HEADERS) $(OUR_KERNELS)

# --- what is installed -------------------------------------------------------------------------------------
# scripts/install.sh knows what goes where; packages call it with a DESTDIR of their own.

install: $(BUILD)/kftune $(LIBRARY) ## install into PREFIX (below DESTDIR): program, library, data, man pages, completion, docs
	@BUILD="$(BUILD)" DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" LIBDIR="$(LIBDIR)" ZSH_FUNCTIONS="$(ZSH_FUNCTIONS)" \
		VERSION="$(VERSION)" SONAME="$(SONAME)" sh scripts/install.sh $(DATA)

deb: ## make build/kftune_VERSION_ARCHITECTURE.deb, for apt install
	@sh scripts/packages.sh build package
	@$(MAKE) all
	+@VERSION="$(VERSION)" bash scripts/deb.sh $(BUILD)

# Linked once more, so that it looks for its libraries beside itself; nothing is compiled again.
$(BUILD)/relocatable/kftune: $(BUILD)/harness/main.o $(BUILD)/libkftune.a
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(CC) $(ALL_LDFLAGS) $(RELOCATABLE_FLAGS) $^ $(patsubst -lhdf5,$(STATIC_HDF5),$(ALL_LIBS)) -o $@
$(BUILD)/relocatable/libkftune.so.$(VERSION): $(BUILD)/harness/library/library.o $(BUILD)/libkftune.a $(EXPORTS)
	@mkdir -p $(@D)
	$(call say,LINK $@)
	$(Q)$(CC) -shared -Wl,-soname,$(SONAME) -Wl,-z,defs -Wl,--version-script=$(EXPORTS) $(ALL_LDFLAGS) $(RELOCATABLE_FLAGS) $(BUILD)/harness/library/library.o $(BUILD)/libkftune.a $(patsubst -lhdf5,$(STATIC_HDF5),$(ALL_LIBS)) -o $@
tarball: ## make build/kftune-VERSION-MACHINE.tar.gz, which runs where it is unpacked
	@sh scripts/packages.sh build
	@$(MAKE) all $(BUILD)/relocatable/kftune $(BUILD)/relocatable/libkftune.so.$(VERSION)
	+@VERSION="$(VERSION)" bash scripts/tarball.sh $(BUILD)

bundle: ## make bundle/, a folder that runs on a GPU machine without installing anything
	@sh scripts/packages.sh build check
	@$(MAKE) BUILD=$(BUILD)/bundle BUNDLE=yes programs tests
	@bash scripts/bundle.sh $(BUILD)/bundle bundle $(DATA)

clean: ## remove everything that was built
	rm -rf $(BUILD) bundle
