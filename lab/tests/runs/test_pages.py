"""What the published pages say of their numbers. That they are what their data gives, `make docs` checks."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / f"lab/runs/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


pages = script("pages")


def test_every_claim_is_a_difference_of_the_two_numbers_that_stand_beside_it():
    for claim in pages.claims():
        one, other = (float(number) for number in claim.shown.split(" and "))
        assert claim.ours == pytest.approx(one - other, abs=0.11), claim.text
        assert claim.noise >= 0


def test_jobs_in_bulk_gave_the_same_bytes_by_any_number_of_workers():
    hashes = {}
    for job in script("scale").jobs():
        assert hashes.setdefault((job["once"], job["precision"], job["words"]), job["sha256"]) == job["sha256"]
