# What one can do here. Each target sets up what it needs, so a fresh clone with Rust, Python 3 and make is enough.

CARGO ?= cargo
OUT ?= out/demo
# More words for the programs behind the targets: make fuzz FUZZ_ARGS="--seconds 600 config".
FUZZ_ARGS ?= --seconds 30
BENCH_ARGS ?=

.PHONY: help demo test nightly lint bench fuzz site dist

help:
	@echo 'make demo    build, compare four schedulers on a two-tenant scenario, write a report'
	@echo 'make test    everything that is checked: lint, then all tests and what short runs cost'
	@echo 'make nightly the tests that take long, of which make test runs short forms (NIGHTLY=1 make test: both)'
	@echo 'make lint    formatting, clippy without warnings, the rules of the project (xtask tidy)'
	@echo 'make bench   measure speed, start-up and memory into dev/bench/tables (BENCH_ARGS=--quick: a look)'
	@echo 'make fuzz    feed mangled input to every reader (FUZZ_ARGS="--seconds 600 NAME" for one, longer)'
	@echo 'make site    the documentation as a site in target/site, with the gallery; fails at a dead link'
	@echo 'make dist    a program and a Python wheel that install without compiling, in target/dist'

demo:
	@$(CARGO) build --release --locked -p flashlane-cli
	@$(CARGO) run --quiet --release --locked -p flashlane-cli --bin flashlane -- \
		compare scenarios/two-tenants.toml --out '$(OUT)' --report '$(OUT)/report.html'
	@echo
	@echo 'The report: $(OUT)/report.html (open it in any browser; it needs no network)'

# By --bin and not by package: so libraries get the features of the whole workspace, as in its tests, and are compiled once.
lint:
	@tools/setup.sh rust
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(CARGO) run --quiet --locked --bin xtask -- tidy
	@$(CARGO) metadata --quiet --locked --format-version 1 --manifest-path faces/python/Cargo.toml > /dev/null

test:
	@tools/setup.sh rust
	@tools/setup.sh browser axe python valgrind fio disks $(if $(filter 1,$(NIGHTLY)),guest) & setup=$$!; \
		$(MAKE) --no-print-directory lint; lint=$$?; wait $$setup && exit $$lint
	@$(CARGO) run --quiet --locked --bin xtask -- test

nightly:
	@tools/setup.sh rust browser axe python valgrind fio disks guest
	@$(CARGO) run --quiet --locked --bin xtask -- nightly

bench:
	@tools/setup.sh rust valgrind
	@$(CARGO) build --quiet --release --locked -p flashlane-cli -p flashlane-bench
	@$(if $(strip $(BENCH_ARGS)),,$(CARGO) run --quiet --release --locked -p flashlane-bench -- whole --write dev/bench/tables)
	@$(CARGO) run --quiet --release --locked -p flashlane-bench -- \
		$(if $(strip $(BENCH_ARGS)),$(BENCH_ARGS),--write dev/bench/tables)

fuzz:
	@tools/setup.sh rust
	@$(CARGO) run --quiet --locked -p flashlane-fuzz -- $(FUZZ_ARGS)

site:
	@tools/setup.sh rust python
	@$(CARGO) build --quiet --release --locked -p flashlane-cli
	@test -x target/site-python/bin/python || python3 -m venv target/site-python
	@target/site-python/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r tools/site/requirements.txt
	@target/site-python/bin/python tools/site/build.py

dist:
	@tools/setup.sh rust python
	@$(CARGO) build --quiet --release --locked -p flashlane-cli
	@tools/dist.sh
