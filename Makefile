# Two commands matter: `make demo` shows a whole night, `make test` proves the whole check. Both set up what they need.
VENV ?= .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PY ?= python3

.PHONY: demo test check format clean

demo: $(VENV)/.engine
	$(BIN)/python -m skillopt_sleep demo

test: $(VENV)/.dev
	$(MAKE) check

check:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q -n 2

format:
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(VENV)/.engine: pyproject.toml
	$(PY) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PY=/path/to/python3.11")'
	test -x $(BIN)/python || $(PY) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -e .
	touch $@

$(VENV)/.dev: $(VENV)/.engine
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis .import_linter_cache
