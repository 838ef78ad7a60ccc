# Each target sets up all that it needs, in .venv, from the package index that pip is configured for.
# Python is the newest from 3.11 on that is here and can make one; PYTHON names another. Where none from
# 3.12 on answers, those that pyenv has are asked: its shims fail for versions that are not chosen.
USABLE := -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, int(sys.argv[1])))'
PYTHON ?= $(shell \
  try() { "$$1" $(USABLE) $$2 2>/dev/null && echo "$$1" && exit; }; \
  for oldest in 12 11; do minors=`seq 29 -1 $$oldest`; \
    for minor in $$minors; do try python3.$$minor $$oldest; done; try python3 $$oldest; \
    for minor in $$minors; do \
      for name in "$$PYENV_ROOT"/versions/3.$$minor.*[0-9]/bin/python ~/.pyenv/versions/3.$$minor.*[0-9]/bin/python; do \
        try "$$name" $$oldest; done; done; done)
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# Tests start Python hundreds of times: each would compile every module that it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo fast test test-all check lint types layers tests quick every recipes format lock perf clean

demo: .venv/run.ok                  ## solve a few problems with a real model on this machine
	@echo 'print(1 + 1)' | $(BIN)/cfr program --time 10 - >/dev/null || true  # makes the sandbox's snapshot
	$(BIN)/cfr demo --context 2048
	@rm -f .venv/demo.db*
	$(BIN)/cfr eval constraintbench-mini --limit 2 --runs 1 --context 1536 --method direct --method auto --store .venv/demo.db

fast: .venv/dev.ok                  ## lint, types and the tests of a minute, for a person at work
	@$(MAKE) --no-print-directory --jobs=2 quick lint types

# Tests leave a core idle now and then, on which the other checks run.
test: .venv/dev.ok                  ## what CI runs: all but the proofs of minutes
	@$(MAKE) --no-print-directory --jobs=2 tests lint types layers

test-all: .venv/dev.ok              ## everything: many kills, clusters, thousands of draws
	@$(MAKE) --no-print-directory --jobs=2 every lint types layers

check: lint types layers tests

lint: .venv/dev.ok
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/vulture

types: .venv/dev.ok
	$(BIN)/basedpyright --pythonpath $(BIN)/python

layers: .venv/dev.ok
	$(BIN)/lint-imports

# One process more than there are cores: many tests wait for a timer or for another process.
PYTEST := $(BIN)/python -m pytest --numprocesses $$(($$(getconf _NPROCESSORS_ONLN) + 1)) --maxprocesses 4 --dist worksteal

tests: .venv/dev.ok
	$(PYTEST) -m "not long"

every: .venv/dev.ok
	$(PYTEST)

# Rooms without processes, servers or browsers.
quick: .venv/dev.ok
	$(PYTEST) -m "not long and not slow" $(wildcard $(addprefix tests/,answer constraint file method store)) tests/test_p*.py

# In an environment of its own: DSPy holds openai back, lm-eval brings half a gigabyte.
recipes: .venv/recipes.ok           ## DSPy and lm-evaluation-harness, as docs/dspy.md and docs/lm-eval.md say
	.venv/recipes/bin/python -m pytest tests/adapter/test_dspy_module.py tests/adapter/test_dspy_served.py tests/adapter/test_lm_eval.py

format: .venv/dev.ok
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

perf: .venv/dev.ok                  ## the speed measurements, each beside a peer or a floor
	for script in perf/*.py; do $(BIN)/python $$script || exit 1; done

# Plain name==version lines with hashes and no index address, for every platform and Python >= 3.11.
lock:
	$(PYTHON) -m venv .venv/lock && .venv/lock/bin/pip install --quiet uv
	.venv/lock/bin/uv pip compile pyproject.toml --extra local --extra programs --group pyproject.toml:build \
	  --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-annotate --upgrade -o lock/run.txt
	.venv/lock/bin/uv pip compile pyproject.toml --extra inspect --extra llm --extra local --extra mcp --extra parquet --extra postgres --extra programs --extra ray --extra report --extra serve --group pyproject.toml:dev \
	  --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-annotate --upgrade -c lock/run.txt -o lock/dev.txt
	.venv/lock/bin/uv pip compile pyproject.toml --extra programs --extra serve --group pyproject.toml:recipes \
	  --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-annotate --upgrade -c lock/run.txt -o lock/recipes.txt

.venv/bin/python:
	@python="$(PYTHON)"; \
	if [ -z "$$python" ]; then echo "make: no Python from 3.11 on that has venv is here; install one (Debian, Ubuntu: apt install python3-venv), or name it: make PYTHON=/path/to/python3"; exit 1; fi; \
	if ! "$$python" $(USABLE) 11 2>/dev/null; then echo "make: $$python is not here, older than 3.11 or without venv; name another (make PYTHON=/path/to/python3), or none for the newest that is here"; exit 1; fi; \
	echo "make: .venv is made with $$python, the $$("$$python" --version)"; \
	"$$python" $(USABLE) 12 2>/dev/null || echo "make: programs run without sympy there; Python 3.12 or newer has it"; \
	"$$python" -m venv .venv

.venv/recipes.ok: lock/recipes.txt pyproject.toml | .venv/bin/python
	$(BIN)/python -m venv .venv/recipes
	.venv/recipes/bin/pip install --quiet --require-hashes --no-deps -r lock/recipes.txt
	.venv/recipes/bin/pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

.venv/%.ok: lock/%.txt pyproject.toml | .venv/bin/python
	$(BIN)/pip install --quiet --no-compile --require-hashes -r lock/$*.txt
	$(BIN)/pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

clean:
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis .import_linter_cache
