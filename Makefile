# Everything works from a fresh clone with Python >= 3.10 and make; `.venv` is made on the way.
PYTHON ?= python3
BIN := .venv/bin
# Test files run side by side in so many processes.
JOBS ?= 2

.PHONY: demo test test-fast test-engines lint bench clean

# torch first and pinned: what comes after finds it in place and takes no other build.
.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

# What a user would install, and the plots: no torch, so it is there in a minute.
.venv/demo: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[plots]'
	touch $@

demo: .venv/demo
	$(BIN)/python demo/demo.py

test: .venv/installed
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile

test-fast: .venv/installed
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile -m 'not slow'

# The engines as lesser processors compute: OpenBLAS rounds otherwise on each.
test-engines: .venv/installed
	for core in Haswell Sandybridge; do \
	  echo "engines on $$core"; OPENBLAS_CORETYPE=$$core $(BIN)/python -m pytest tests/engine || exit 1; \
	done

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/installed
	$(BIN)/python bench/read_vectors.py
	$(BIN)/python bench/augmentation.py
	$(BIN)/python bench/hard_negatives.py
	$(BIN)/python bench/engines.py
	$(BIN)/python bench/startup.py
	$(BIN)/python bench/neighbors.py
	$(BIN)/python bench/stream.py
	$(BIN)/python bench/robustify.py
	$(BIN)/python bench/near.py
	$(BIN)/python bench/bulk.py

clean:
	rm -rf .venv demo/clusters.png .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
