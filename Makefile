# Everything works from a fresh clone with Python >= 3.10 and make; `.venv` is made on the way.
PYTHON ?= python3
BIN := .venv/bin
# How many processes share the test files.
JOBS ?= 2
# Which tests: MARKS='slow or not slow' for all, as CI runs them, in three processes because slow tests wait half of their time.
MARKS ?= not slow

# What the compiled core is made of.
NATIVE := $(wildcard native/*.c native/*.h) hatch_build.py
# Tests that compute with the core, whichever engine does it, and those that run under the sanitizers: one name a line.
ENGINE_TESTS := tests/near tests/engine tests/texts tests/attach
SANITIZED_TESTS := \
  tests/native \
  tests/near/test_compiled.py \
  tests/near/test_context_core.py \
  tests/near/test_love_readings.py \
  tests/near/test_torn.py \
  tests/engine/test_engines.py \
  tests/engine/test_word_map.py \
  tests/search/test_signals.py \
  tests/texts/test_text_vectors.py \
  tests/attach/test_neighbors.py

.PHONY: demo build test test-slow test-engines sanitize fuzz attack lint docs bench lock licences audit dist container versions clean

# torch first and pinned: what comes after finds it in place and takes no other build.
.venv/packages: pyproject.toml lab/pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet torch==2.13.0
	LOVEVEC_BUILD=none $(BIN)/python -m pip install --quiet --editable '.[dev]' --editable lab
	touch $@

# The core on top, in a second or two: new C needs no new packages.
.venv/installed: .venv/packages $(NATIVE)
	$(BIN)/python -m tools.core
	touch $@

# What a user would install, and the plots: no torch, so it is there in a minute. pip keeps the line to itself that the core
# was not built.
.venv/demo: pyproject.toml lab/pyproject.toml $(NATIVE)
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[plots]' --editable lab
	@$(BIN)/python -c 'import lovevec._core' 2>/dev/null || echo 'lovevec: the compiled core was not built; numpy computes instead, several times as slowly. `pip install -v -e .` says why.'
	touch $@

# The compiled core anew, beside the sources.
build: .venv/packages
	$(BIN)/python -m tools.core
	touch .venv/installed

demo: .venv/demo
	$(BIN)/python demo/demo.py

# Files in the order of their names: by the number of their tests the longest come last, and one process waits. A thread
# each: small products of processes that share the cores are slower with more.
test: .venv/installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder -m '$(MARKS)'

# End to end, minutes each: kill -9 and Ctrl-C in the middle of runs, browsers, whole experiments. CI runs them too.
test-slow: .venv/installed
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile -m slow

# The engines as processors without AVX-512 compute (OpenBLAS rounds differently on each), by numpy where the core is there,
# and all that computes where it was never built.
test-engines: .venv/installed
	for core in Haswell Sandybridge; do \
	  echo "engines on $$core"; OPENBLAS_CORETYPE=$$core $(BIN)/python -m pytest -n $(JOBS) --dist loadfile tests/engine || exit 1; \
	done
	echo "engines by numpy"; LOVEVEC_ENGINE=numpy $(BIN)/python -m pytest -n $(JOBS) --dist loadfile tests/engine
	$(BIN)/python -m tools.core none build/without-core
	echo "engines without the core"; PYTHONPATH=$(CURDIR)/build/without-core $(BIN)/python -m pytest -n $(JOBS) --dist loadfile -m 'not slow' $(ENGINE_TESTS)

# The core with ASan and UBSan, in a folder of its own, under the tests that reach it: a read or write beyond a buffer, or
# an overflow, ends the run with a report.
sanitize: .venv/installed
	$(BIN)/python -m tools.core sanitized build/sanitized \
	  $(BIN)/python -m pytest -p no:cacheprovider -n $(JOBS) --dist loadfile -m 'not slow' $(SANITIZED_TESTS)

# Hostile inputs for the compiled core, with the sanitizers in it: libFuzzer on its kernels, Hypothesis on its binding.
fuzz: .venv/installed
	$(BIN)/python -m tools.fuzz $(SECONDS)

# Hostile files for an hour; `make attack SECONDS=60 SEED=2` for other ones. A finding can be repeated by its number.
SECONDS ?= 3600
SEED ?= 1
attack: .venv/installed
	$(BIN)/python -m attacks --seconds $(SECONDS) --seed $(SEED)

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The guide and the API pages as a site: open site/index.html. Pages of results must be what their data gives.
# NO_MKDOCS_2_WARNING keeps an advertisement out.
docs: .venv/installed
	$(BIN)/python lab/runs/check_pages.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: .venv/installed
	$(BIN)/python bench/read_vectors.py
	$(BIN)/python bench/augmentation.py
	$(BIN)/python bench/hard_negatives.py
	$(BIN)/python bench/engines.py
	$(BIN)/python bench/startup.py
	$(BIN)/python bench/neighbors.py
	$(BIN)/python bench/ann.py
	$(BIN)/python bench/stream.py
	$(BIN)/python bench/robustify.py
	$(BIN)/python bench/latency.py
	$(BIN)/python bench/near.py
	$(BIN)/python bench/texts.py
	$(BIN)/python bench/bulk.py
	$(BIN)/python bench/serve.py
	$(BIN)/python bench/page.py
	$(BIN)/python bench/plugins.py
	$(BIN)/python bench/soak.py

# What releases need besides: the lock, the lists of licences and packages, uv.
.venv/release: .venv/installed
	$(BIN)/python -m pip install --quiet --editable '.[release]'
	touch $@

# Versions and hashes of all that the work on lovevec needs. UPGRADE=--upgrade takes new versions; without it, what still fits stays.
lock: .venv/release
	$(BIN)/python -m tools.lock $(UPGRADE)

licences: .venv/release
	$(BIN)/python -m tools.licences

audit: .venv/release
	$(BIN)/python -m tools.audit

# Wheels and sdists of the library and the lab, built twice and compared, tried in empty environments; SBOM and checksums.
dist: .venv/release
	$(BIN)/python -m tools.dist

# What deploy/Dockerfile does, without Docker. PYTHON=/usr/bin/python3 for one that all users may run.
container: .venv/release
	$(BIN)/python -m tools.container

# Old and new Pythons, numpys, extras. PYTHONS='python3.10 /opt/python3.12 …' names interpreters; else those on the path are taken.
versions: .venv/release
	$(BIN)/python -m tools.versions $(PYTHONS)

clean:
	rm -rf .venv site demo/clusters.png .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build src/lovevec/_core*.so
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
