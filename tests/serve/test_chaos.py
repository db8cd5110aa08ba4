"""attacks/ against a running server: a share of what `python -m attacks.chaos` and `attacks.clients` do."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.serve.test_processes import linux

ROOT = Path(__file__).parents[2]
pytestmark = [linux, pytest.mark.slow]


def run(*arguments: str) -> str:
    done = subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_killed_workers_replaced_models_full_disks_and_signals_give_no_wrong_vector():
    said = run("attacks.chaos", "--seconds", "30", "--seed", "3")
    assert "; 0 findings" in said
    counts = {name: int(count.replace(",", "")) for count, name in re.findall(r"([\d,]+) ([a-z ]+)(?:,|;)", said)}
    assert counts["vectors"] > 1000
    assert min(counts["servers"], counts["workers killed"], counts["models replaced"]) > 1
    assert "wrong" not in counts


def test_a_polite_client_is_answered_among_hostile_ones():
    said = run("attacks.clients", "--seconds", "4")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in said.splitlines()[2:]]
    assert [row[0] for row in rows] == ["", "zeros", "book", "joined", "unread", "trailers", "all of them"]
    assert all(int(row[1]) > 10 and row[5] == "0" for row in rows)
    assert all(int(row[6].replace(",", "")) < 1000 for row in rows)
