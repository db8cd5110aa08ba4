"""The paper's tables and figures end to end on made-up data: what is written, what it says, that it goes on."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from lab_factories import make_data
from tests.factories import toy_vectors, toy_words

from lovevec.cli import main
from lovevec.train import Settings
from lovevec_lab.reproduce import published
from lovevec_lab.reproduce.augmentation import KINDS, VARIANTS, grid_of, shares
from lovevec_lab.reproduce.experiments import EXPERIMENTS, experiment
from lovevec_lab.reproduce.pages import PAPER, beside

pytestmark = pytest.mark.usefixtures("on_one_thread")


def lovevec(*arguments: object, apart: bool = False) -> subprocess.CompletedProcess[str]:
    """`lovevec reproduce …`, in this process: torch takes seconds to import. Or `apart`, in one of its own."""
    command = ["reproduce", *map(str, arguments)]
    if apart:
        whole = [sys.executable, "-m", "lovevec.cli", *command]
        return subprocess.run(whole, capture_output=True, text=True, timeout=240)
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as error:
        code = main(command)
    return subprocess.CompletedProcess(command, code, out.getvalue(), error.getvalue())


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> tuple[Path, Path]:
    """The data folder and the target file."""
    folder = tmp_path_factory.mktemp("reproduce")
    words = [*toy_words(220), "become", "oxygen", "leukemia", "architect"]
    vectors = toy_vectors(words, 16)
    np.savez(folder / "made.npz", words=np.array(words), vectors=vectors)
    return make_data(folder / "data", words, vectors), folder / "made.npz"


def run(place, name: str, folder: Path, *more: object) -> str:
    data, target = place
    done = lovevec(name, "--target", target, "--data", data, "-o", folder, "--quick", "--device", "cpu", *more)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# ")
    assert done.stdout.rstrip("\n") == (folder / f"{name}.md").read_text().rstrip("\n")
    return done.stdout


def scores(folder: Path, name: str) -> dict:
    kept = json.loads((folder / f"{name}.json").read_text())
    assert kept["settings"]["quick"] is True
    assert {"python", "numpy", "torch", "lovevec"} <= set(kept["versions"])
    return kept["scores"]


def test_intrinsic_has_the_papers_rows_beside_ours(place, tmp_path):
    page = run(place, "intrinsic", tmp_path, "--methods", "target,BoS,LOVE")
    found = scores(tmp_path, "intrinsic")["methods"]
    assert list(found) == ["Target", "BoS", "LOVE"]
    assert page.count(PAPER) == 3
    assert "62.0" in page  # the paper's LOVE on MTurk
    sets = found["Target"]["similarity"]
    # The made sets are the target's own cosines, so the target alone is right about all of them.
    assert min(sets["all"].values()) > 99
    assert sets["covered"] == sets["pairs"]
    assert all(found[name]["words_per_second"] > 0 for name in found)
    assert f"{np.mean(list(found['LOVE']['similarity']['all'].values())):.1f}" in page


@pytest.mark.parametrize(
    ("methods", "more", "tasks"),
    [
        ("Target,Target + LOVE", ("--tasks", "sst2"), ["sst2"]),
        pytest.param(
            *("Target,UNK,CharCNN,Target + LOVE,LOVE + near", (), ["sst2", "mr", "conll03", "bc2gm"]),
            marks=pytest.mark.slow,
        ),
    ],
    ids=["one task", "all tasks"],
)
def test_robustness_goes_on_and_redraws(place, tmp_path, methods, more, tasks):
    page = run(place, "robustness", tmp_path, "--methods", methods, *more)
    found = scores(tmp_path, "robustness")
    assert found["tasks"] == tasks
    for name in methods.split(","):
        for task in found["tasks"]:
            assert list(found["methods"][name]["tasks"][task]["test"])[:2] == ["original", "ocr 10 %"]
            assert len(found["methods"][name]["tasks"][task]["test"]) == len(published.NOISES) + 3
    sst2 = {name: list(row["tasks"]["sst2"]["test"].values()) for name, row in found["methods"].items()}
    assert sst2["Target"][0] > 80  # words of a mood have vectors of a mood
    assert "- Target + LOVE: " in page
    assert "3 typos" in page
    picture = tmp_path / "robustness.png"
    assert picture.read_bytes()[:4] == b"\x89PNG"

    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").iterdir()}
    picture.unlink()
    run(place, "robustness", tmp_path, "--methods", methods, *more)
    again = scores(tmp_path, "robustness")["methods"]
    assert {name: row["tasks"] for name, row in again.items()} == {
        name: row["tasks"] for name, row in found["methods"].items()
    }
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").iterdir()} == kept
    assert picture.is_file()

    picture.unlink()
    done = lovevec("robustness", "--redraw", "-o", tmp_path, apart=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip("\n") == (tmp_path / "robustness.md").read_text().rstrip("\n")
    assert done.stdout.splitlines()[0] == page.splitlines()[0]
    assert picture.is_file()


def test_extrinsic_on_one_task(place, tmp_path):
    page = run(place, "extrinsic", tmp_path, "--methods", "Target,Edit Distance,LOVE", "--tasks", "mr,bc2gm")
    found = scores(tmp_path, "extrinsic")["methods"]
    assert list(found["LOVE"]["tasks"]) == ["mr", "bc2gm"]
    assert all(0 <= x <= 100 for row in found.values() for task in row["tasks"].values() for x in task["test"].values())
    assert "| Edit Distance" in page
    assert "74.4" in page  # the paper's LOVE on MR
    assert "81.4" not in page  # and on SST2, which was not asked for


@pytest.mark.parametrize(
    ("name", "methods", "rows"),
    [
        ("ablation", "LOVE,MSE,characters only", 3),
        ("shrink", "stem,hash", 2),
        ("temperature", "τ = 0.07,τ = 0.5", 2),
    ],
)
def test_small_tables(place, tmp_path, name, methods, rows):
    page = run(place, name, tmp_path, "--methods", methods, "--tasks", "none")
    found = scores(tmp_path, name)["variants"]
    assert len(found) == rows
    assert page.count(PAPER) == rows
    seeds = [row["seeds"] for row in found.values()]
    assert all(len(one) == 1 and "sst2" not in one[0] for one in seeds)
    assert all(0 <= one[0]["misspellings"] <= 100 for one in seeds)
    assert len({json.dumps(one[0]["similarity"]["all"]) for one in seeds}) == rows  # each its own model


def test_augmentation_heatmap(place, tmp_path):
    page = run(place, "augmentation", tmp_path, "--methods", "swap,synonym,synonym + swap,all five", "--tasks", "none")
    found = scores(tmp_path, "augmentation")
    grid = grid_of(found, "RareWord")
    assert np.isfinite(grid).sum() == 3
    assert f"{grid[4, 0]:.1f}" in page
    assert (tmp_path / "augmentation.png").is_file()


def test_figures_of_clusters_and_attention(place, tmp_path):
    run(place, "clusters-figure", tmp_path, "--methods", "LOVE,KVQ-FH")
    run(place, "attention-figure", tmp_path)
    found = scores(tmp_path, "attention-figure")
    positional, own = np.array(found["positional"]), np.array(found["attention"])
    assert found["units"][0] == "[CLS]"
    assert "0" in found["units"]
    np.testing.assert_allclose(positional.sum(axis=1), 1, atol=1e-4)
    np.testing.assert_allclose(own.sum(axis=1), 1, atol=1e-4)
    for name in ("clusters-figure", "attention-figure"):
        assert (tmp_path / f"{name}.png").is_file()
        assert (tmp_path / f"{name}.svg").is_file()


def test_bad_input_is_told_before_anything_is_trained(place, tmp_path):
    data, target = place
    nothing = lovevec("intrinsic", "--target", target, "--data", data, "-o", tmp_path / "r", "--methods", "GPT")
    assert nothing.returncode == 2
    assert "--methods GPT" in nothing.stderr
    some = lovevec("intrinsic", "--target", target, "--data", data, "-o", tmp_path / "r", "--methods", "LOVE,GPT")
    assert some.returncode == 2
    assert "there are Target, MIMICK" in some.stderr
    task = lovevec("shrink", "--target", target, "--data", data, "-o", tmp_path / "r", "--tasks", "SST3")
    assert task.returncode == 2
    assert "--tasks SST3: no such dataset" in task.stderr
    missing = lovevec("intrinsic", "--target", target, "--data", tmp_path, "-o", tmp_path / "r", "-q")
    assert missing.returncode == 2
    assert "rw.txt" in missing.stderr
    assert missing.stderr.count("\n") == 1
    assert not (tmp_path / "r" / "models").exists()
    no_target = lovevec("shrink", "--data", tmp_path, "-o", tmp_path / "r")
    assert no_target.returncode == 2
    assert "glove840b-300d-34k.npz" in no_target.stderr
    no_results = lovevec("shrink", "--redraw", "-o", tmp_path / "r")
    assert no_results.returncode == 2
    assert "shrink.json" in no_results.stderr


def test_the_commands_names_are_the_experiments():
    from lovevec_lab.cli.reproduce import NAMES

    assert [*EXPERIMENTS, "all"] == list(NAMES)
    for name in EXPERIMENTS:
        assert {"measure", "page", "pictures"} <= set(dir(experiment(name)))


def test_the_papers_means_are_those_it_prints():
    """The averages of its tables, from the numbers that we typed in."""
    printed = {"Target": 55.9, "MIMICK": 33.2, "BoS": 43.7, "KVQ-FH": 41.6, "LOVE": 49.7}
    for name, row in published.INTRINSIC.items():
        assert abs(np.mean(row[2:]) - printed[name]) < 0.06, name
    printed = {"Target": 69.5, "MIMICK": 64.2, "BoS": 71.5, "KVQ-FH": 66.5, "LOVE": 71.6}
    for name, mean in printed.items():
        numbers = [x for pair in published.EXTRINSIC[name].values() for x in pair]
        assert abs(np.mean(numbers) - mean) < 0.11, name
    for name, mean in {"Target": 70.0, "Target + LOVE": 76.8}.items():
        numbers = [x for row in published.ROBUSTNESS[name].values() for x in row]
        assert abs(np.mean(numbers) - mean) < 0.06, name


def test_augmentation_variants_are_all_pairs_and_add_up():
    assert len(VARIANTS) == 5 + 10 + 1
    for changes in VARIANTS.values():
        mix = Settings(**changes).augmentation
        assert math.isclose(sum(mix.values()), 1)
        assert math.isclose(mix["none"], 0.36)
    assert shares("swap", "synonym")["swap"] == shares("swap", "synonym")["synonym"] == 0.32
    assert {kind for changes in VARIANTS.values() for kind, share in changes.items() if share} - {"none"} == set(KINDS)


def test_beside_puts_the_papers_row_below_ours():
    table = beside(("m", "a", "b"), {"x": [1.0, 2.0], "y": [3.0, 4.0]}, {"y": [9.0]})
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    assert lines[2:] == [["x", "1.0", "2.0"], ["y", "3.0", "4.0"], [PAPER, "9.0", "-"]]
