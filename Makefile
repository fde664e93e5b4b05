# The front door. Every line here is one that a person could have typed; the work is in scripts/.
.DEFAULT_GOAL := help
PREFIX ?= /usr/local
PYTHON := .venv/bin/python

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

setup: ## install all that the targets below need, and build nothing
	@scripts/setup race test lint bench

build: ## leave bin/regatta, bin/regatta-server and bin/regatta-client
	@scripts/setup race
	@scripts/build

race: build ## race the designs of studies/quick.toml, or of STUDY=FILE
	@bin/regatta race $(if $(STUDY),"$(STUDY)")

test: ## build and run every test but the long ones (under 10 minutes)
	@scripts/setup race test
	@scripts/build
	@scripts/test

test-long: ## run the long tests only
	@scripts/setup race test
	@scripts/build
	@$(PYTHON) -m pytest -m long

test-fresh: ## make race and make test on a fresh Debian 12 (as root)
	@scripts/setup fresh
	@scripts/test-fresh

bench: ## measure ours side by side with its peers (15 minutes), or with BENCH='--only nginx'
	@scripts/setup race test bench
	@scripts/build
	@$(PYTHON) -m bench $(BENCH)

lint: ## check format, warnings, types and scripts; change nothing
	@scripts/setup race test lint
	@scripts/lint

format: ## put C and Python into the project's format
	@scripts/setup race test lint
	@scripts/format

sanitize: ## run the C tests under address, undefined and thread sanitizers
	@scripts/setup race test
	@scripts/sanitize

install: wheel ## install the programs and their manuals into PREFIX=/usr/local
	@scripts/install "$(PREFIX)"

wheel: ## leave a wheel with all three programs in dist/
	@scripts/setup race wheel
	@scripts/wheel

clean: ## remove what was built; keep .venv, .tools and races/
	@rm -rf bin build build-*/ dist

.PHONY: help setup build race test test-long test-fresh bench lint format sanitize install wheel clean
