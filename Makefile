# Entry points. Each recipe is a command that you could also type; the work is done in scripts/.
.DEFAULT_GOAL := help
PREFIX ?= /usr/local
PYTHON := .venv/bin/python

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

setup: ## install the packages that the targets below need, without building
	@scripts/setup race test lint bench fuzz

build: ## build bin/regatta, bin/regatta-server and bin/regatta-client
	@scripts/setup race
	@scripts/build

race: build ## race the designs of studies/quick.toml, or of STUDY=FILE
	@bin/regatta race $(if $(STUDY),"$(STUDY)")

test: ## build and run all tests except the long ones (under 10 minutes)
	@scripts/setup race test
	@scripts/build
	@scripts/test

test-long: ## run the long tests only
	@scripts/setup race test guests
	@scripts/build
	@$(PYTHON) -m pytest -m long

test-soak: ## run each design for SOAK_MINUTES=30 under mixed load: no leak, no wrong answer
	@scripts/setup race test
	@scripts/build
	@scripts/soak

test-real: ## race real servers beside an independent measurement (an hour); REAL='--pairs go:node'
	@scripts/setup race test real
	@scripts/build
	@tests/real/build .tools/real
	@$(PYTHON) -m tests.real $(REAL)

hostile: ## measure the latency of ordinary clients under attack, for each design (an hour)
	@scripts/setup race test
	@scripts/build
	@$(PYTHON) -m tests.hostile $(HOSTILE)

test-fresh: ## run `make race` and `make test` on a fresh Debian 12 (as root)
	@scripts/setup fresh
	@scripts/test-fresh

bench: ## compare our programs with peers (25 minutes); BENCH='--only nginx' for some rows
	@scripts/setup race test bench
	@scripts/build
	@$(PYTHON) -m bench $(BENCH)

lint: ## check format, warnings, types and scripts; change nothing
	@scripts/setup race test lint
	@scripts/lint

analyze: ## run gcc's static analyser on src/ (clang's is part of lint)
	@scripts/setup race
	@scripts/analyze

format: ## format C and Python
	@scripts/setup race test lint
	@scripts/format

sanitize: ## run the C tests under address, undefined and thread sanitizers
	@scripts/setup race test
	@scripts/sanitize

fuzz: ## fuzz each parser for a minute, or for FUZZ_SECONDS=N (clang)
	@scripts/setup race fuzz
	@scripts/fuzz

install: wheel ## install the programs and their manuals into PREFIX=/usr/local
	@scripts/install "$(PREFIX)"

wheel: ## build a wheel with all three programs in dist/
	@scripts/setup race wheel
	@scripts/wheel

clean: ## remove build results; keep .venv, .tools and races/
	@rm -rf bin build build-*/ dist

.PHONY: help setup build race test test-long test-soak test-real hostile test-fresh bench lint analyze format sanitize fuzz install wheel clean
