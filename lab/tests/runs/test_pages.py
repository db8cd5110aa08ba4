"""The pages of docs/results with the paper's tables are what lab/runs/pages.py makes of the data beside them."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / f"lab/runs/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


made = script("pages")
PAGES = made.pages()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_what_its_data_gives(name):
    assert (made.RESULTS / f"{name}.md").read_text("utf-8") == PAGES[name].text, "run: python lab/runs/pages.py"


@pytest.mark.parametrize("name", PAGES)
def test_links_and_pictures_of_a_page_are_there(name):
    for link in re.findall(r"\]\(([^)#:]+)\)", PAGES[name].text):
        assert (made.RESULTS / link).exists(), link


def test_every_claim_is_a_difference_of_the_two_numbers_that_stand_beside_it():
    for claim in made.claims():
        one, other = (float(number) for number in claim.shown.split(" and "))
        assert claim.ours == pytest.approx(one - other, abs=0.11), claim.text
        assert claim.noise >= 0


def test_jobs_in_bulk_gave_the_same_bytes_by_any_number_of_workers():
    hashes = {}
    for job in script("scale").jobs():
        assert hashes.setdefault((job["once"], job["precision"], job["words"]), job["sha256"]) == job["sha256"]
