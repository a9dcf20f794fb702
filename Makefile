# Every task a person runs here. Each makes the environment it needs; nothing has to be installed first
# but Python 3.11 or later.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
POSTGRES ?= embedded

.PHONY: help run demo test check lint format types imports fuzz lock clean

help:  ## what there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(STAMP): requirements-dev.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or later is needed; this is " + sys.version if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index -e .
	@touch $@

run: $(STAMP)  ## start everything on this machine: Postgres, migrations, tokens, the API
	$(BIN)/agreement-log dev

demo: $(STAMP)  ## load a sample into the service that `make run` started
	$(BIN)/agreement-log demo

format: $(STAMP)  ## put the code in the house's form
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format .

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(STAMP)
	$(BIN)/mypy

imports: $(STAMP)
	$(BIN)/lint-imports

check: lint types imports  ## format, lint, types, imports

test: check  ## everything CI runs (POSTGRES=container: on the Postgres image; TEST_DATABASE_URL=…: on another)
	$(BIN)/pytest -n 2 -m "not alone" --postgres=$(POSTGRES)
	$(BIN)/pytest -m alone --postgres=$(POSTGRES) tests

fuzz: $(STAMP)  ## run 20,000 random pairs of statements and compare the rows of those called equivalent
	$(BIN)/python tests/core/consensus/consensus_soundness.py 20000 1000

lock:  ## pin the dependencies anew (needs uv on the PATH)
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --no-emit-index-url --no-emit-find-links --quiet -o requirements.lock
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --no-emit-index-url --no-emit-find-links --quiet -c requirements.lock -o requirements-dev.lock
	echo hatchling | uv pip compile - --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --no-emit-index-url --no-emit-find-links --quiet -c requirements-dev.lock -o requirements-build.lock

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
