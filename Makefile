# Every target makes .venv and installs what it needs the first time, and again only when
# pyproject.toml or constraints.txt changes.

PYTHON  ?= python3
WORKERS ?= 2
ARGS    ?=

VENV   := .venv
PY     := $(VENV)/bin/python
PYTEST := $(PY) -m pytest

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help test test-fast test-soak lint bench train play tournament ladder clean

help:
	@echo "make test       lint, all tests, and the uncompiled layer"
	@echo "make test-fast  the unit layer only: no lint, no test marked thorough or slow"
	@echo "make test-soak  the long runs that make test leaves out"
	@echo "make lint       ruff, mypy, import-linter"
	@echo "make bench      speed beside the peers, into the README; or ARGS=\"--only kernel --json out.json\""
	@echo "make train      an opponent of your own in ten minutes; ARGS=\"players=3 seed=2\", ARGS=--help for all"
	@echo "make play       a game in the terminal; ARGS=\"--players 3 --opponents greedy-turn\", ARGS=--help for all"
	@echo "make tournament who is stronger? ARGS=\"--agents random greedy-turn --games 1000\", ARGS=--help for all"
	@echo "make ladder     the standing field, into the README: an hour or two; ARGS=--quick: minutes, prints alone"
	@echo "make clean      remove caches and build products; .venv and runs/ stay"
	@echo
	@echo "PYTHON=$(PYTHON) makes the venv; WORKERS=$(WORKERS) test processes."

test: lint
	$(PYTEST) -n $(WORKERS)
	NUMBA_DISABLE_JIT=1 $(PYTEST) -n $(WORKERS) -m "uncompiled and not slow"

test-fast: $(VENV)/.stamp-dev
	$(PYTEST) -m "not slow and not thorough" $(ARGS)

test-soak: $(VENV)/.stamp-dev
	$(PYTEST) -n $(WORKERS) -m slow $(ARGS)

lint: $(VENV)/.stamp-dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports --no-logo

bench: $(VENV)/.stamp-bench
	$(PY) -m experiments.bench $(or $(ARGS),--markdown README.md --picture docs/pictures/bench.svg)

play: $(VENV)/.stamp-tools
	$(PY) -m experiments.play $(ARGS)

tournament: $(VENV)/.stamp-tools
	$(PY) -m experiments.tournament $(or $(ARGS),--help)

ladder: $(VENV)/.stamp-tools
	$(PY) -m experiments.ladder $(or $(ARGS),--markdown README.md)

train: $(VENV)/.stamp-train
	$(PY) -m experiments.train $(ARGS)

clean:
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .cache
	find . -path "./$(VENV)" -prune -o -name __pycache__ -type d -exec rm -rf {} +

# One stamp an extra: .venv/.stamp-dev says that ".[dev]" is installed.
$(VENV)/.stamp-dev $(VENV)/.stamp-tools $(VENV)/.stamp-bench $(VENV)/.stamp-train: $(VENV)/.stamp-%: pyproject.toml constraints.txt | $(PY)
	@echo "Installing tollero-env[$*] into $(VENV) ..."
	@$(PY) -m pip install -qq --disable-pip-version-check -c constraints.txt -e ".[$*]"
	@touch $@

$(PY):
	@command -v "$(PYTHON)" >/dev/null && "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed, and $(PYTHON) is not that. Name one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "Making $(VENV) with $$("$(PYTHON)" --version) ..."
	@"$(PYTHON)" -m venv "$(VENV)"
