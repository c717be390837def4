# What one does with this project, from a fresh Debian 12 with make, apt and a network on. `make help` lists it.

SHELL := /bin/bash
.DELETE_ON_ERROR:
.DEFAULT_GOAL := build
.PHONY: help build install test demo bench study lint format fuzz asan tsan clean install-deps install-build-deps

# The whole list of what is needed, all from Debian 12: to build the program and its tests, to check them,
# and for the study.
BUILD_PACKAGES := cmake ninja-build g++ python3 libtomlplusplus-dev libcli11-dev libfmt-dev nlohmann-json3-dev \
  libeigen3-dev libsqlite3-dev libssl-dev libopenmpi-dev openmpi-bin libgtest-dev librandom123-dev \
  gnuplot-nox
CHECK_PACKAGES := clang clang-format clang-tidy libclang-rt-14-dev gdb mandoc \
  chromium chromium-driver python3-selenium
STUDY_PACKAGES := python3-numpy

# Seconds that each fuzz target runs in `make fuzz` and in `make test`, whose inputs are the same each time.
FUZZ_SECONDS ?= 300
FUZZ_SEED ?= 0
TEST_FUZZ_SECONDS ?= 10

# The part of the study that `make study` runs.
PART ?= all

# Where `make install` puts everything.
PREFIX ?= /usr/local

CORES := $(shell nproc)
SOURCES = $(shell find include src tests bench experiments examples -name '*.cpp' -o -name '*.hpp')

help:  ## this list
	@sed -n 's/^\([a-z -]*\):.*##/\1:/p' Makefile

build: install-build-deps build/build.ninja  ## the program, at build/mckean
	cmake --build --preset release --target mckean_program

install: build  ## the program, its man page, models and documents, and the library for C++, under PREFIX
	cmake --install build --prefix $(PREFIX)

test: install-deps build/build.ninja  ## every test, then the parsers under a fuzzer for a short time
	cmake --build --preset release
	ctest --test-dir build --output-on-failure -j $(CORES)
	$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=$(TEST_FUZZ_SECONDS) FUZZ_SEED=1

demo: build  ## check the Kuramoto model, simulate data from it, their log-likelihood, and a fit
	@set -e; folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; \
	  run() { echo; echo "$$ mckean $$*"; $(CURDIR)/build/mckean "$$@"; }; \
	  cp models/kuramoto.toml "$$folder"; cd "$$folder"; \
	  run check kuramoto.toml; \
	  run simulate kuramoto.toml --times 100 --set theta=0.5; \
	  run loglik kuramoto.toml data.csv; \
	  run loglik kuramoto.toml data.csv --set theta=0.5; \
	  run fit kuramoto.toml data.csv

bench: install-build-deps build/build.ninja  ## how fast it is
	cmake --build --preset release
	@set -e; for program in build/bench/*_bench; do echo "$$program"; "$$program"; done
	/usr/bin/python3 bench/fit_speed.py build/mckean
	/usr/bin/python3 bench/exact_fits.py build/mckean build/mckean_exact

study: install-build-deps build/build.ninja  ## fits against exact answers and truths (long); PART=benchmark|suite|likelihood|starts|linear|zscores|work|coverage|failures
	$(call install,$(STUDY_PACKAGES))
	cmake --build --preset release --target mckean_program mckean_exact
	/usr/bin/python3 experiments/study.py $(PART) --mckean build/mckean --out build/study

lint: install-deps build-lint/build.ninja  ## formatting and clang-tidy; any finding fails
	@clang-format --dry-run -Werror $(SOURCES)
	@cmake --build build-lint --target help >/dev/null  # looks for new files
	@/usr/bin/python3 tools/tidy.py build-lint --jobs $(CORES)

format: install-deps  ## formats all sources in place
	clang-format -i $(SOURCES)

fuzz: install-deps build-fuzz/build.ninja  ## the parsers under a fuzzer, FUZZ_SECONDS each
	cmake --build --preset fuzz --target fuzzers
	tests/fuzz/run build-fuzz $(FUZZ_SECONDS) $(FUZZ_SEED)

asan tsan: install-deps  ## the tests under the sanitizers for memory and undefined behaviour, and for threads
	cmake --preset $@ >/dev/null
	cmake --build --preset $@
	ASAN_OPTIONS=detect_stack_use_after_return=1 ctest --test-dir build-$@ --output-on-failure -j $(CORES)

clean:  ## removes everything that was built
	rm -rf build build-lint build-fuzz build-asan build-tsan

build/build.ninja:
	cmake --preset release

build-%/build.ninja:
	cmake --preset $*

# Installs those of the given packages that are missing.
define install
@if ! command -v dpkg-query >/dev/null; then echo "not Debian: this needs the counterparts of $(1)"; exit 0; fi; \
  missing=$$(comm -23 <(printf '%s\n' $(1) | sort) \
    <(dpkg-query -W -f '$${Package} $${db:Status-Status}\n' $(1) 2>/dev/null | sed -n 's/ installed$$//p' | sort)); \
  [ -n "$$missing" ] || exit 0; \
  echo "installing with apt-get:" $$missing; \
  as_root=; [ "$$(id -u)" = 0 ] || as_root=sudo; \
  if [ -n "$$as_root" ] && ! command -v sudo >/dev/null; then echo "neither root nor sudo: install them first" >&2; exit 1; fi; \
  $$as_root apt-get update -qq && \
  $$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null
endef

install-deps:  ## what building and checking need, from Debian
	$(call install,$(BUILD_PACKAGES) $(CHECK_PACKAGES))

install-build-deps:  ## only what building needs
	$(call install,$(BUILD_PACKAGES))

build/build.ninja: | install-build-deps
build-lint/build.ninja build-fuzz/build.ninja: | install-deps
