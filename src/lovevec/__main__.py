"""`python -m lovevec`: the command line."""

from __future__ import annotations

from runpy import run_module

if __name__ == "__main__":
    run_module("lovevec.cli", run_name="__main__", alter_sys=True)
