# Every target sets up what it needs. Needed beforehand: Python 3.10 or newer, pip, git, make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTEST_ARGS ?= -n 2 --dist worksteal
# What a developer runs every few minutes: the mathematics, its contracts, files of version 0.1.0, one run of the command.
FAST := tests/test_*.py tests/laplacians tests/schemes tests/networks tests/golden tests/contracts/test_dynamics.py \
	tests/contracts/test_imports.py tests/cli/test_command.py::test_train_then_predict_on_csv

.PHONY: help setup demo docs images report bench bench-scale bench-tables attack test test-fast lint types check build \
	clean

help:
	@echo "make demo    install, then train four models on handwritten digits (under two minutes)"
	@echo "make setup   create .venv with everything"
	@echo "make bench   speed, epochs, many runs, memory, growth: pass or miss beside every target (GWN_DATA=..., BENCH_ARGS=...)"
	@echo "make bench-scale   large graphs: generated, propagated, trained (two hours, 25 GB; BENCH_ARGS=...)"
	@echo "make bench-tables   gwn compare on four pairs of tables, and a large one (an hour; BENCH_ARGS=...)"
	@echo "make report  every table and figure as one page, from the measured results: report/index.html"
	@echo "make docs    the documentation as a site, with an API reference: site/index.html"
	@echo "make images  the pictures of README and docs/ that are stale; slow ones by name: PICTURES=wave.gif (GWN_DATA=...)"
	@echo "make test    the whole test suite (GWN_DATA=... for the tests on benchmark datasets)"
	@echo "make test-fast   the part of it that takes less than a minute"
	@echo "make attack  kills, faults, mutated inputs, flipped bits, crowds: an hour or so (ATTACK_ARGS=--minutes 20)"
	@echo "make lint    ruff; make types: mypy; make build: the wheel; make clean: remove what was made"

setup: $(STAMP)

# torch comes first and alone: with it in place, no other requirement can pull another build of it.
$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
		{ echo "Python 3.10 or newer is needed; $(PYTHON) is older. Try: make PYTHON=python3.11 ..." >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $(STAMP)

demo: setup
	$(BIN)/gwn demo
	@echo "To go on, with your own tables in the place of these:"
	@echo "  source $(BIN)/activate"
	@echo "  gwn train --edges examples/data/wine-edges.csv --nodes examples/data/wine-nodes.csv --label-column cultivar"

docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "The site: site/index.html"

images: setup
	$(BIN)/python docs/pictures.py $(PICTURES)

report: setup
	$(BIN)/gwn report

bench: setup
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

bench-scale: setup
	$(BIN)/python -m benchmarks scale --out results/bench/scale.json $(BENCH_ARGS)
	$(BIN)/python docs/pictures.py scale.png

bench-tables: setup
	$(BIN)/python -m pip install --quiet bokeh-sampledata
	$(BIN)/python -m benchmarks tables --out results/bench/tables.json $(BENCH_ARGS)
	$(BIN)/python -m benchmarks.tables_page

test-fast: setup
	$(BIN)/python -m pytest $(PYTEST_ARGS) -m "not slow" $(FAST)

attack: setup
	$(BIN)/python -m tests.attack $(ATTACK_ARGS)

test: setup
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

check: lint types test

build: setup
	$(BIN)/python -m build

clean:
	rm -rf $(VENV) build dist demo site .mypy_cache .pytest_cache .ruff_cache .hypothesis
