# Every target makes the environment it needs in .venv: Python 3.11 or newer, git and make are enough.
# It is made from requirements-dev.lock, by uv where uv is installed, else by venv and pip, and made anew when that file changes.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
# Extras stay in the lock, because pip wants them pinned too.
COMPILE := uv pip compile --quiet --universal --generate-hashes --no-strip-extras --no-header --no-annotate --python-version 3.11
WORKFLOWS := $(wildcard .github/workflows/*.yml)

.DEFAULT_GOAL := help
.PHONY: help environment demo test lint format check adversary proof-exam matrix soak bench screenshots wheel lock clean
# The older generation of the CLI, which kills background work at the end of a turn: Sessions are tested on both.
OLDER := $(VENV)/older/claude_agent_sdk

help: ## What can be made
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

environment: ## Make or renew .venv
	@$(PYTHON) -I bot/bootstrap.py $(VENV) requirements-dev.lock

demo: environment ## Three short stories on real parts, as a person would read them
	$(PY) -m bot demo

$(OLDER): requirements-older-claude.lock environment
	@if command -v uv >/dev/null; then install="uv pip install --python $(PY)"; else install="$(PY) -m pip install"; fi; \
	test -d $@ || $$install --quiet --no-deps --require-hashes --target $(VENV)/older -r $<

test: environment $(OLDER) ## The tests
	$(PY) -m pytest -n 4 --dist worksteal

lint: environment ## Style, types, workflows and the action
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/zizmor --offline --quiet --persona=auditor .
	$(BIN)/actionlint $(WORKFLOWS)
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows $(WORKFLOWS)
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action.yml

format: environment ## Put the code in the style that lint asks for
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

check: lint test ## lint, then test: what CI runs

adversary: environment ## Sessions that try to get out, as three users: one line an attempt, and what `env` prints to them
	$(PY) -m tests.adversary

proof-exam: environment ## Sessions that cheat, that are lazy and that are honest: what a reviewer is told of each
	$(PY) -m tests.exam $(EXAM)

matrix: environment ## A Run killed at every save and request, and every request gone wrong in every way (half an hour)
	$(PY) -m tests.matrix $(MATRIX)

soak: environment $(OLDER) ## Thousands of Sessions with ends in awkward moments (`make soak SOAK="--player 200 --real 20"` for fewer)
	$(PY) -m bench.soak $(SOAK)

bench: environment ## What it costs: folding a stream, driving a Session, watching CI, reading a log, a Proof, the Run page
	$(PY) -m bench.fold
	$(PY) -m bench.session
	$(PY) -m bench.ci_watch
	$(PY) -m bench.excerpt
	$(PY) -m bench.parked
	$(PY) -m bench.forwarder
	$(PY) -m bench.proof
	$(PY) -m bench.page

screenshots: environment ## The README's pictures of the Run page (needs Debian's chromium)
	$(PY) -m tests.page.screenshots

wheel: ## Build the wheel into dist/ and try it in an empty environment (`STORY= make wheel`: without a story of the demo)
	PYTHON=$(PYTHON) .ci/wheel

lock: ## Renew the lock files (needs uv; `make lock UPGRADE=--upgrade` for newer versions)
	$(COMPILE) $(UPGRADE) pyproject.toml -o requirements.lock
	$(COMPILE) $(UPGRADE) --extra dev -c requirements.lock pyproject.toml -o requirements-dev.lock

clean: ## Remove what was made here
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist demo/out
	find bot tests -name __pycache__ -type d -prune -exec rm -rf {} +
