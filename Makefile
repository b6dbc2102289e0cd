# The front door to the CMake build.  `make help` lists the targets.
#
#   JOBS=n              compile and test with n processes (default: one for each processor)
#   BUILD=dir           build folder (default: build)
#   MINUTES=n           how long make fuzz runs each target (default: 1), TARGETS="csv npy" which; how long make soak runs
#                       (default: 60)
#   PYTHON=path         the interpreter for the golden values and the faults
#   KILLS=n             how often make kills kills (default: 200)
#   WERROR=1            make test compiles with warnings as errors, so that make check need not compile all once more for gcc
#   NADE_NO_INSTALL=1   never install packages, only say which are missing

BUILD ?= build
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
KILLS ?= 200
# Debian's own interpreter, the one that its python3-numpy belongs to, whichever is first in PATH.
export PYTHON ?= /usr/bin/python3

# cmake --build runs make itself; our flags and jobs are not meant for that one.
unexport MAKEFLAGS
.NOTPARALLEL:
.DEFAULT_GOAL := build

# $(call configure,folder,options): messages only when something is wrong.
configure = cmake -S . -B $(1) --log-level=WARNING $(2) >/dev/null
compile = cmake --build $(1) -j $(JOBS) --target $(2) -- -s --no-print-directory
run_tests = ctest --test-dir $(1) -j $(JOBS) --output-on-failure --no-tests=error --no-label-summary

# Builds that only a check looks at: they say nothing while all is well.
strict = -DCMAKE_RULE_MESSAGES=OFF -DNADE_TESTS=ON -DNADE_WERROR=ON $(mpi_too)
# Instrumented code compiles faster, and runs fast enough, with -O1.
sanitized = -DCMAKE_RULE_MESSAGES=OFF -DNADE_TESTS=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -g" -DNADE_SANITIZE=$(1)
# Lines are enough to read a report, and keep the programs small enough to send elsewhere.
fuzzed = -DCMAKE_RULE_MESSAGES=OFF -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -gline-tables-only" -DNADE_FUZZ=ON
c_files = $$(find include src cli paper tests bench -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh')
# Where there is an MPI, when a recipe runs: it may have been installed just before.
mpi_too = $$(! command -v mpicc >/dev/null || echo -DNADE_MPI=ON)
# Empty where there is no CUDA toolkit: what needs it is then left out.
nvcc := $(shell PATH="$$PATH:/usr/local/cuda/bin" command -v nvcc)

.PHONY: build
build: ## build the command, libnade.so and libnade.a in build/ (never installs packages)
	@NADE_NO_INSTALL=1 tools/dependencies build
	@$(call configure,$(BUILD))
	@$(call compile,$(BUILD),all)

.PHONY: cuda
cuda: ## build the CUDA backend libnade_cuda.so too (needs nvcc)
	@NADE_NO_INSTALL=1 tools/dependencies build
	@$(call configure,$(BUILD),-DNADE_CUDA=ON)
	@$(call compile,$(BUILD),all)

.PHONY: mpi
mpi: ## build libnade_mpi.so too, for runs on several machines (needs an MPI, docs/cluster.md)
	@NADE_NO_INSTALL=1 tools/dependencies mpi
	@$(call configure,$(BUILD),-DNADE_MPI=ON)
	@$(call compile,$(BUILD),all)

.PHONY: demo
demo: ## build the command and run nade demo (as root without a terminal, missing packages are installed first)
	@tools/dependencies build
	@$(call configure,$(BUILD))
	@$(call compile,$(BUILD),nade_command)
	@$(BUILD)/nade demo
	@echo "(The program is $(BUILD)/nade; make install puts it where the shell finds it.)"

.PHONY: test-programs
test-programs:
	@tools/dependencies test
	@tools/dependencies mpi || echo "test-programs: the tests of ranks are skipped"
	@tools/dependencies hosts || echo "test-programs: the test of ranks on two hosts is skipped"
	@$(call configure,$(BUILD),-DNADE_TESTS=ON $(mpi_too) $(if $(WERROR),-DNADE_WERROR=ON))
	@$(call compile,$(BUILD),all nade_tests)

.PHONY: test
test: test-programs ## build and run all tests, Python's too (as root without a terminal, missing packages are installed first)
	$(call run_tests,$(BUILD))
	@tools/dependencies python || echo "make test: Python's tests go on without"
	tools/python-test $(abspath $(BUILD))

.PHONY: python-test
python-test: ## the Python package's tests, in a virtual environment in the build folder; says what it skipped (tools/python-test)
	@tools/dependencies build
	@tools/dependencies python || echo "python-test: goes on without"
	@$(call configure,$(BUILD))
	@$(call compile,$(BUILD),nade_shared nade_command)
	tools/python-test $(abspath $(BUILD))

.PHONY: python-wheel
python-wheel: ## the Python package as a wheel in build/wheels, with the library inside (docs/python.md)
	$(PYTHON) -m pip wheel . --no-deps --wheel-dir $(BUILD)/wheels

.PHONY: test-cuda
test-cuda: cuda ## the CUDA backend's tests; without a device they are skipped, or fail with NADE_REQUIRE_GPU=1
	@tools/dependencies test
	@$(call configure,$(BUILD),-DNADE_TESTS=ON)
	@$(call compile,$(BUILD),nade_cuda_tests)
	$(call run_tests,$(BUILD)) -L cuda

.PHONY: cuda-mutants
cuda-mutants: cuda ## the CUDA backend once with each of its seeded faults, for tests/cuda/mutants.sh on a device (needs nvcc)
	@$(call compile,$(BUILD),nade_cuda_mutants)

.PHONY: bench
bench: $(if $(nvcc),cuda,build) ## build the programs that bench/measure times backends with (docs/benchmarks.md)
	@$(call compile,$(BUILD),updates one_row arrow_speed read_speed $(if $(nvcc),parts tune_products))

.PHONY: check
check: check-packages check-format check-layers check-docs check-evidence check-lint check-warnings check-cuda check-hardening \
       check-install check-golden check-address check-threads mutants ## all checks below, one after the other
	@echo "make check: all passed"

.PHONY: check-packages
check-packages:
	@tools/dependencies check

.PHONY: check-format
check-format: ## clang-format would change nothing
	clang-format --dry-run -Werror $(c_files)

.PHONY: check-layers
check-layers: ## who may include what, and what library code may not do (tools/check-layers)
	tools/check-layers

.PHONY: check-docs
check-docs: ## links and names of files in the pages lead somewhere (tools/check-docs)
	tools/check-docs

.PHONY: check-evidence
check-evidence: ## the log of the CUDA backend's tests is of these sources; docs/benchmarks.md and the pages of experiments are what the results say
	tools/check-evidence
	bench/write-benchmarks --check
	experiments/samples --check
	experiments/heads --check
	experiments/tables --check
	experiments/published --check
	experiments/published-folds --check
	experiments/ten-seeds --check
	experiments/predict --check
	experiments/imputation --check
	experiments/outliers --check
	experiments/python-peers --check
	$(PYTHON) experiments/impute-coverage --check

.PHONY: check-lint
check-lint: ## clang-tidy finds nothing in the library and the programs; the CUDA backend and what knows MPI are left out
	@$(call configure,$(BUILD)/lint,-DCMAKE_C_COMPILER=clang)
	find src cli paper -name '*.c' -not -path 'src/backend/cuda/*' -not -path 'src/world/mpi/*' -print0 | xargs -0 -n 1 -P $(JOBS) clang-tidy -p $(BUILD)/lint --quiet 2>$(BUILD)/lint/stderr \
	    || { cat $(BUILD)/lint/stderr; exit 1; }

.PHONY: check-warnings
check-warnings: ## gcc compiles everything without a warning, clang has none either, and a C++ compiler the header
ifeq ($(WERROR),)
	@$(call configure,$(BUILD)/gcc,$(strict) -DCMAKE_C_COMPILER=gcc)
	@$(call compile,$(BUILD)/gcc,all nade_tests)
endif
	@$(call configure,$(BUILD)/clang,$(strict) -DCMAKE_C_COMPILER=clang)
	$(PYTHON) tools/check-warnings $(BUILD)/clang $(JOBS)
	echo '#include "nade/replication.h"' | clang++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Iinclude -x c++ -
	echo '#include "nade/arrow.h"' | clang++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Iinclude -x c++ -
	echo '#include "nade/check.h"' | clang++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Iinclude -x c++ -

.PHONY: check-cuda
check-cuda: ## the CUDA backend and its benchmarks compile without a warning, where there is an nvcc
ifeq ($(nvcc),)
	@echo "check-cuda: skipped, there is no nvcc"
else
	@$(call configure,$(BUILD)/cuda,-DCMAKE_RULE_MESSAGES=OFF -DNADE_WERROR=ON -DNADE_CUDA=ON)
	@$(call compile,$(BUILD)/cuda,nade_cuda parts tune_products)
endif

.PHONY: check-hardening
check-hardening: build ## the built files are hardened (cmake/Hardening.cmake, tools/check-hardening)
	tools/check-hardening $(BUILD)

.PHONY: check-install
check-install: build check-cuda ## install into a scratch folder and use it from there; what libraries export and share (tools/check-install)
	tools/check-install $(BUILD) $(if $(nvcc),$(BUILD)/cuda/libnade_cuda.so)

.PHONY: check-golden
check-golden: ## the NumPy reference is right by itself, and the stored golden values are what it gives
	$(PYTHON) tests/golden/test_reference.py
	$(PYTHON) tests/golden/make_golden.py --check

.PHONY: check-address
check-address: ## all tests but the stand-ins for a device and the two longest trainings under AddressSanitizer and UndefinedBehaviorSanitizer
	@$(call configure,$(BUILD)/asan,$(call sanitized,address$(comma)undefined) -DCMAKE_C_COMPILER=gcc)
	@$(call compile,$(BUILD)/asan,nade_tests)
	ASAN_OPTIONS=detect_leaks=1 $(call run_tests,$(BUILD)/asan) -LE stand_in -E 'cli.(paper_grid|demo_digits)'

.PHONY: check-threads
check-threads: ## the tests about threads under ThreadSanitizer
	@$(call configure,$(BUILD)/tsan,$(call sanitized,thread) -DCMAKE_C_COMPILER=clang)
	@$(call compile,$(BUILD)/tsan,nade_thread_tests)
	$(call run_tests,$(BUILD)/tsan) -L threads

.PHONY: mutants
mutants: test-programs ## the tests notice every seeded fault of src/base/fault.h
	tools/mutants $(BUILD) $(JOBS)

.PHONY: fuzz
fuzz: ## run every fuzz target MINUTES (default 1) of processor time, or those of TARGETS="csv npy" (CONTRIBUTING.md)
	@tools/dependencies fuzz
	@$(call configure,$(BUILD)/fuzz,$(fuzzed))
	@$(call compile,$(BUILD)/fuzz,nade_fuzz)
	tests/fuzz/run_targets $(BUILD)/fuzz/bin $(or $(MINUTES),1) $(JOBS) $(TARGETS)

.PHONY: faults
faults: test-programs ## every request for memory and every system call on files fails once, in every verb (tools/faults; an hour)
	$(PYTHON) tools/faults all --build $(BUILD) --jobs $(JOBS)

.PHONY: kills
kills: test-programs ## training killed at KILLS=200 random moments and resumed to the same bytes (tools/kills)
	$(PYTHON) tools/kills --build $(BUILD) --kills $(KILLS)

.PHONY: soak
soak: test-programs ## the library used for MINUTES=60 by several threads, failures in between; its memory may not grow
	@mkdir -p $(BUILD)/tests/scratch/soak
	$(BUILD)/tests/soak $(or $(MINUTES),60) $(BUILD)/tests/scratch/soak

.PHONY: ais
ais: test-programs ## log Z by annealed importance sampling beside the exact one, 100 times (docs/paper.md)
	$(BUILD)/tests/test_rbm_ais 100

.PHONY: golden
golden: ## compute the golden values anew with the NumPy reference
	@tools/dependencies test
	$(PYTHON) tests/golden/make_golden.py

.PHONY: format
format: ## let clang-format rewrite all C files
	clang-format -i $(c_files)

.PHONY: install
install: build ## install under PREFIX (default /usr/local), staged in DESTDIR
	DESTDIR="$(DESTDIR)" cmake --install $(BUILD) --prefix "$(PREFIX)"

.PHONY: clean
clean: ## remove the build folder
	rm -rf $(BUILD)

.PHONY: help
help: ## this list
	@sed -n -e ':again' -e '/\\$$/{N; s/\\\n//; b again' -e '}' -e 's/^\([a-z-]*\):[^#]*## \(.*\)/\1\t\2/p' Makefile | expand -t 18

comma := ,
