# `make help` lists the targets. The first use of any sets up .venv from requirements.lock.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
OVERRIDES ?=

ARTEFACTS := $(notdir $(basename $(wildcard conf/experiment/*/*.yaml)))
PAPERS := $(notdir $(wildcard conf/experiment/*))

.PHONY: help setup reproduce verify report reference doctor bench bench-scaling test screenshots check format lock audit-lock status clean $(addprefix reproduce-,$(ARTEFACTS) $(PAPERS))

help:
	@echo "make reproduce-ARTEFACT [OVERRIDES='protocol.repeats=1']   one of: $(ARTEFACTS)"
	@echo "make reproduce-PAPER   all of one paper: $(PAPERS)"
	@echo "make reproduce   all artefacts        make status   how much of each is stored"
	@echo "make verify      what becomes of each claim of the papers, from what is stored"
	@echo "make report      results/report/index.html: every number, claim and trace, as pages"
	@echo "make reference   results/reference: what a full run gave, small enough to be committed"
	@echo "make doctor      what this installation has and lacks"
	@echo "make bench       speed and memory beside peers, the machine's limits and the last run (minutes; a quiet machine);"
	@echo "                 OVERRIDES='--full', '--quick', '--against FILE', '--strict', or names of benchmarks"
	@echo "make bench-scaling   cost against sizes, with fitted exponents: results/benchmarks/scaling.svg"
	@echo "make test        all tests            make check    format, lint, types, layers"
	@echo "make screenshots results/screenshots: the report's pages, and the README's picture of them (minutes)"
	@echo "make lock        renew requirements.lock"
	@echo "make audit-lock  known vulnerabilities of what requirements.lock pins (needs the network)"

setup: $(STAMP)

# The lock has hashes of all packages; liblinear-official is compiled, which needs a C and C++ compiler.
$(STAMP): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "provsel needs Python 3.11 or newer, this is " + sys.version'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

reproduce: $(addprefix reproduce-,$(ARTEFACTS))

$(addprefix reproduce-,$(ARTEFACTS)): reproduce-%: $(STAMP)
	$(BIN)/python $(wildcard experiments/*/$*.py) $(OVERRIDES)

.SECONDEXPANSION:
$(addprefix reproduce-,$(PAPERS)): reproduce-%: $$(addprefix reproduce-,$$(notdir $$(basename $$(wildcard conf/experiment/$$*/*.yaml))))

verify: $(STAMP)
	$(BIN)/provsel verify $(OVERRIDES)

report: $(STAMP)
	$(BIN)/provsel report $(OVERRIDES)

status doctor reference: $(STAMP)
	$(BIN)/provsel $@

bench: $(STAMP)
	$(BIN)/python experiments/benchmarks/run.py $(OVERRIDES)

bench-scaling: $(STAMP)
	$(BIN)/python experiments/benchmarks/scaling.py $(OVERRIDES)

test: $(STAMP)
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal --durations 25 --cov --cov-report=term --cov-fail-under=90

# Minutes: the picture in the README shows a table by the paper's own protocol.
screenshots: $(STAMP)
	PROVSEL_README_SCREENSHOT=1 $(BIN)/python -m pytest tests/browser/test_browser_access.py -k picture

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: $(STAMP)
	$(BIN)/pip-compile --quiet --allow-unsafe --generate-hashes --no-emit-index-url --no-emit-trusted-host \
		--no-emit-find-links --strip-extras --extra dev --extra dask --extra slurm --extra sweeps -o requirements.lock pyproject.toml

# Asks an advisory service about the pinned versions; nothing is resolved, downloaded or installed.
audit-lock: $(STAMP)
	$(BIN)/pip-audit --requirement requirements.lock --require-hashes --disable-pip --strict --progress-spinner off

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage*
