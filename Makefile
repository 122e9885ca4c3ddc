# `make run` and `make test` do all set-up themselves: Python 3.11 or newer and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Where it is set, each process of the tests would compile the plugins of pytest and many modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run setup test check fix bench evidence torture samples lock clean

help:
	@echo "make run      read your agents' histories, show the results, serve the pages (seasoned up)"
	@echo "make setup    set up what the checks and tests need"
	@echo "make test     set up, check and test everything"
	@echo "make check    formatting, lint rules, types"
	@echo "make fix      fix what the checks can fix"
	@echo "make bench    speed and memory, as ratios against named peers, into build/bench"
	@echo "make evidence test whether experience helps the local model (30 minutes), into docs/evidence.md"
	@echo "make torture  kills, races and long fuzzing"
	@echo "make samples  rebuild the sample histories"
	@echo "make lock     update the pinned versions of the dependencies"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/run.stamp: $(BIN)/python requirements/run.lock pyproject.toml
	$(BIN)/python -m pip install -q --require-hashes -r requirements/run.lock
	$(BIN)/python -m pip install -q --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/dev.stamp: $(VENV)/run.stamp requirements/dev.lock
	$(BIN)/python -m pip install -q --require-hashes -r requirements/dev.lock
	@touch $@

run: $(VENV)/run.stamp
	@$(BIN)/seasoned up --serve $(UP)

setup: $(VENV)/dev.stamp

check: $(VENV)/dev.stamp
	$(BIN)/ruff format --check src tests tools bench
	$(BIN)/ruff check src tests tools bench
	$(BIN)/mypy

# Collected beside the checks, which use one processor: what that compiles, the processes of the tests only load.
test: $(VENV)/dev.stamp
	@$(BIN)/python -m pytest --collect-only -qq >/dev/null 2>&1 & \
	  $(MAKE) --no-print-directory check; result=$$?; wait; exit $$result
	$(BIN)/python -m pytest -n auto --dist worksteal

fix: $(VENV)/dev.stamp
	$(BIN)/ruff check --fix src tests tools bench
	$(BIN)/ruff format src tests tools bench

bench: $(VENV)/dev.stamp
	$(BIN)/python -m bench

evidence: $(VENV)/run.stamp
	$(BIN)/python -m pip install -q -e '.[local]'
	$(BIN)/seasoned model fetch
	$(BIN)/python -m tools.make_evidence --model local $(EVIDENCE)

torture: $(VENV)/dev.stamp
	SEASONED_TORTURE=1 $(BIN)/python -m pytest -n auto --dist worksteal tests/history tests/redact tests/store tests/scan tests/stats tests/report tests/lesson tests/example tests/runner tests/review tests/experiment tests/confirm tests/schedule tests/gateway tests/web tests/browser tests/hooks tests/hermes tests/connect tests/mcp tests/cli tests/mine

samples: $(VENV)/run.stamp
	$(BIN)/python tools/make_samples.py

lock: $(BIN)/python
	$(BIN)/python -m pip install -q uv
	for name in run dev; do \
	  $(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
	    --no-annotate --extra agent pyproject.toml requirements/build.in \
	    $$([ $$name = dev ] && echo --extra all requirements/dev.in) \
	    -o requirements/$$name.lock || exit 1; \
	done

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
