# `make help` lists the targets. The first use of one sets up .venv with what it needs, from a lock with hashes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# Stamps of what is installed: for computing and tables, with figures and pages, and for developing.
RUN := $(VENV)/.installed
REPORT := $(VENV)/.installed-report
DEV := $(VENV)/.installed-dev
OVERRIDES ?=
KIND ?=

# An artefact of a paper is a YAML file with a script beside it: paul2016/table1, or table1 for short.
FULL := $(patsubst experiments/%.yaml,%,$(filter-out %/claims.yaml %/readings.yaml,$(wildcard experiments/*/*.yaml)))
ARTEFACTS := $(sort $(notdir $(FULL)))
PAPERS := $(sort $(patsubst %/,%,$(dir $(FULL))))
# These neither draw nor read images, which a test checks; the others get the packages for it.
TABLES := $(filter table%,$(ARTEFACTS))

# What `test-lowest` and `test-newest` run: the library, and the statistics of claims, on which other versions tell.
LIBRARY_TESTS := tests/kernels tests/selectors tests/claims tests/test_models.py tests/test_certificates.py

.PHONY: help setup setup-report setup-dev reproduce verify report reference doctor docs bench test test-long test-all coverage test-company test-processors test-lowest test-newest faults screenshots check format lock audit-lock release status clean $(addprefix reproduce-,$(ARTEFACTS) $(FULL) $(PAPERS))

help:
	@echo "make reproduce-ARTEFACT [OVERRIDES='protocol.repeats=1']   one of: $(ARTEFACTS)"
	@echo "make reproduce-PAPER   all of one paper: $(PAPERS)"
	@echo "make reproduce   all artefacts        make status   how much of each is stored"
	@echo "make verify      what becomes of each claim of the papers, from what is stored"
	@echo "make report      results/report/index.html: every number, claim and trace, as pages"
	@echo "make reference   results/reference: what runs at full size gave, small enough to be committed"
	@echo "make doctor      what this installation has and lacks"
	@echo "make docs        docs/_build/html/index.html: guide, gallery and reference, built without warnings"
	@echo "make bench       CPU seconds beside peers and the machine's limits (minutes; a quiet machine): OVERRIDES='-k bss',"
	@echo "                 --benchmark-autosave to store them, --benchmark-compare beside the last stored, or -m '' for all"
	@echo "make test        the tests            make check    format, lint, types, layers"
	@echo "make test-all    with those of faults, hostile input, kinds of processors, clusters and a browser too"
	@echo "                 KIND=avx2 or KIND=baseline: as on a processor without AVX-512, or with neither"
	@echo "make test-processors   the tests that matter there, as both kinds or one"
	@echo "make test-company   every pair of methods side by side: no result depends on its company (minutes)"
	@echo "make test-lowest, test-newest   the library with the lowest versions that are allowed, and with the newest"
	@echo "make faults      an hour of faults at random over a run, which has to end as without: OVERRIDES='--minutes 5'"
	@echo "make coverage    all tests, and which lines they run"
	@echo "make screenshots results/screenshots: the report's pages, and the README's picture of them (minutes)"
	@echo "make setup       .venv for computing and tables; setup-report: figures and pages too; setup-dev: everything"
	@echo "make lock        renew the three locks"
	@echo "make release     what a release still lacks; when nothing, dist/ with sdist and wheel, checked"
	@echo "make audit-lock  known vulnerabilities of what the locks pin (needs the network)"

setup: $(RUN)
setup-report: $(REPORT)
setup-dev: $(DEV)

# The locks have hashes of all packages. One of them has to be compiled, and is left out where that fails.
LIBLINEAR := /^liblinear-official==/,/[^\\]$$/
INSTALL = sed '$(LIBLINEAR)d' $(1) | $(PIP) install --no-compile --require-hashes -r /dev/stdin

$(RUN): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "provsel needs Python 3.11 or newer, this is " + sys.version'
	$(PYTHON) -m venv $(VENV)
	$(call INSTALL,requirements.lock)
	sed -n '$(LIBLINEAR)p' requirements.lock | $(PIP) install --no-compile --no-deps --require-hashes -r /dev/stdin 2>/dev/null \
		|| echo "liblinear-official could not be compiled: scikit-learn's LIBLINEAR serves, and its trials have other keys"
	$(PIP) install --no-deps --no-build-isolation --editable .
	$(PIP) uninstall --yes setuptools
	find $(VENV)/lib \( $(UNUSED) \) -prune -exec rm -r {} +
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -c 'import provlab.cli.artefacts, provlab.cli.run, provlab.run.runner, provlab.core.recipe'
	@touch $@

# A fourth of what the wheels bring is not read by any run: the packages' own tests, C headers, Arrow's network services;
# and Python 3.11 gives setuptools to each environment. Compiled is only what a run imports, and here, as many systems
# forbid Python to leave compiled files later.
UNUSED := -path '*/site-packages/*/tests' -o -path '*/pyarrow/include' -o -path '*/pyarrow/*flight*' -o -path '*/pyarrow/*s3*'

$(REPORT): requirements-report.lock $(RUN)
	$(call INSTALL,requirements-report.lock)
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -c 'import provlab.report.figures.style, provlab.report'
	@touch $@

$(DEV): requirements-dev.lock $(RUN)
	$(call INSTALL,requirements-dev.lock)
	-PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --collect-only -qq >/dev/null
	@touch $@ $(REPORT)

reproduce: $(REPORT)
	$(BIN)/provsel reproduce all $(OVERRIDES)

REPRODUCE := $(addprefix reproduce-,$(ARTEFACTS) $(FULL) $(PAPERS))
LIGHT := $(addprefix reproduce-,$(TABLES) $(filter $(addprefix %/,$(TABLES)),$(FULL)))
$(LIGHT): $(RUN)
$(filter-out $(LIGHT),$(REPRODUCE)): $(REPORT)
$(REPRODUCE):
	$(BIN)/provsel reproduce $(@:reproduce-%=%) $(OVERRIDES)

verify: $(RUN)
	$(BIN)/provsel verify $(OVERRIDES)

report: $(REPORT)
	$(BIN)/provsel report $(OVERRIDES)

status doctor: $(RUN)
	$(BIN)/provsel $@

reference: $(REPORT)
	$(BIN)/provsel reference

# Incremental; examples of the gallery that did not change are not run again.
docs: $(DEV)
	$(BIN)/python -m sphinx --nitpicky --fail-on-warning --keep-going -b html docs docs/_build/html

bench: $(DEV)
	$(BIN)/python -m pytest experiments/benchmarks $(OVERRIDES)

# Three processes for two cores: a sixth of the time tests wait for processes that they started.
PYTEST = $(BIN)/python -m pytest --numprocesses 3 --dist worksteal

# Tests start hundreds of processes, each a second sooner where what it imports is compiled.
test test-long coverage test-company test-processors: export PYTHONDONTWRITEBYTECODE =

# What a user runs. The others are minutes more: faults, hostile input, kinds of processors, clusters, a browser.
LONG_TESTS := $(addprefix tests/,faults hostile processors cluster browser)

test: $(DEV)
	$(if $(KIND),$(BIN)/python tests/kinds.py $(KIND) --) $(PYTEST) $(LONG_TESTS:%=--ignore=%) --durations 25

test-long: $(DEV)
	$(if $(KIND),$(BIN)/python tests/kinds.py $(KIND) --) $(PYTEST) $(LONG_TESTS) --durations 15

test-all: test test-long

# Those whose numbers or files provsel rests on, and polars, of whose newest an old scikit-learn does not find the names.
BOUNDED := numpy|scipy|scikit-learn|joblib|threadpoolctl|pandas|pyarrow|polars

# Environments of their own, in which no lock has a say: pip chooses the newest, or is given the lower bound of each package.
test-lowest test-newest: test-%:
	$(PYTHON) -m venv .venv-$*
	$(PYTHON) -c "import re, tomllib; project = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
		print(*sum(project['optional-dependencies'].values(), project['dependencies']), sep='\n')" \
		| sed -n 's/^\([a-z-]*\)>=\([^,]*\).*/\1==\2/p' | grep -E '^($(BOUNDED))==' > .venv-$*/lowest.txt
	.venv-$*/bin/python -m pip install --quiet --upgrade --upgrade-strategy eager \
		$(if $(filter lowest,$*),--constraint .venv-$*/lowest.txt) ".[report]" pytest hypothesis polars scikit-posthocs
	.venv-$*/bin/python -m pytest $(LIBRARY_TESTS) $(OVERRIDES)

# A run on real data under faults at random; needs the right to mount for a disk that gets full.
faults: $(DEV)
	PYTHONPATH=tests $(BIN)/python tests/faults/hour.py $(OVERRIDES)

# Two thirds more time than the tests alone: for when you add a module.
coverage: $(DEV)
	$(PYTEST) --cov --cov-report=term --cov-fail-under=90

# What another processor can change: numbers, the same bytes everywhere, and what audits say of both. The rest computes the
# same whichever the kind is (executors and Ctrl-C on one trial's numbers, audits and files of a store, which hold what
# they are given): it runs as the kind that is furthest from this one, without FMA and with other exp and BLAS.
# tests/processors choose kinds themselves, so that `test` has run them. Of the reference it is what is computed anew; the
# other tests there compare files with versions, digests of cells and claims, which are the same bytes (test_keys_and_seeds).
ON_BOTH_KINDS := tests/test_reference.py::test_a_sample_of_its_trials_is_what_this_code_computes \
	tests/test_reference.py::test_table_1_is_what_this_code_computes tests/test_determinism.py tests/test_audit.py
ON_ONE_KIND := tests/test_executors.py tests/store

# Minutes: every pair of methods in one task, every executor.
test-company: $(DEV)
	$(PYTEST) tests/evaluation/company_pairs.py

test-processors: $(DEV)
	$(BIN)/python tests/kinds.py avx2 -- $(PYTEST) $(ON_BOTH_KINDS)
	$(BIN)/python tests/kinds.py baseline -- $(PYTEST) $(ON_BOTH_KINDS) $(ON_ONE_KIND)

# Minutes: the picture in the README shows a table by the paper's own protocol.
screenshots: $(DEV)
	PROVSEL_README_SCREENSHOT=1 $(BIN)/python -m pytest tests/browser/test_browser_access.py -k picture

check: $(DEV)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(DEV)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# One after the other, from what is there: what several locks pin, they pin to the same version. Extras that a package asks of
# another stand in the lock, as pip would else look for them in the newest release, whose hash is not pinned.
COMPILE = $(BIN)/pip-compile --quiet --allow-unsafe --generate-hashes --no-emit-index-url --no-emit-trusted-host \
	--no-emit-find-links --no-strip-extras --build-deps-for editable pyproject.toml

lock: $(DEV)
	$(COMPILE) --extra lab --extra liblinear -o requirements.lock
	$(COMPILE) --extra lab --extra liblinear --extra report -c requirements.lock -o requirements-report.lock
	$(COMPILE) --all-extras -c requirements-report.lock -o requirements-dev.lock

# Asks an advisory service about the pinned versions; nothing is resolved, downloaded or installed.
# It fails where a package was skipped, or none was looked at.
audit-lock: $(DEV)
	rm -f $(VENV)/audit.json
	$(BIN)/pip-audit --requirement requirements-dev.lock --require-hashes --disable-pip --strict --progress-spinner off \
		--format json --output $(VENV)/audit.json
	$(BIN)/python -c "import json, re; found = json.load(open('$(VENV)/audit.json'))['dependencies']; \
		pins = re.findall('^[a-z].*==', open('requirements-dev.lock').read(), re.M); \
		seen = sum('vulns' in each for each in found); print(f'{seen} of {len(pins)} packages audited'); \
		raise SystemExit(seen < len(pins))"

VERSION := $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' src/provsel/__init__.py)
REFUSED = { echo "release of $(VERSION): $(1)"; exit 1; }

release:
	@test -z "$$(git status --porcelain)" || $(call REFUSED,expected no changed files$(,) got some; commit them)
	@grep -q '^## $(VERSION)' CHANGELOG.md || $(call REFUSED,expected its section in CHANGELOG.md; rename Unreleased)
	@! grep -E '= *(""|\[\])' owner.toml || $(call REFUSED,expected what owner.toml asks for$(,) got nothing; fill it in)
	@test "$$(git tag --points-at HEAD)" = v$(VERSION) || $(call REFUSED,expected the tag; git tag --annotate v$(VERSION))
	$(PYTHON) -m venv .venv-release
	.venv-release/bin/python -m pip install --quiet build twine
	rm -rf dist
	.venv-release/bin/python -m build
	.venv-release/bin/python -m twine check --strict dist/*
	$(PYTHON) docs/release/write_recipe.py
	@sha256sum dist/*

, := ,

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage*
