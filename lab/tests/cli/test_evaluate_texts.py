"""`lovevec evaluate texts`, end to end, on made texts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from lab_factories import cosine
from scipy import stats

from lovevec import LOVE


@pytest.fixture(scope="module")
def folder(tiny_target, tmp_path_factory) -> Path:
    """GoldPairs of texts that share some words, and texts to be found again."""
    words, path, rng = tiny_target[0], tmp_path_factory.mktemp("texts"), np.random.default_rng(0)
    lines = []
    for _ in range(60):
        one, other, shared = rng.choice(words, 6).tolist(), rng.choice(words, 6).tolist(), int(rng.integers(7))
        lines.append((" ".join(one).capitalize() + ".", " ".join(one[:shared] + other[shared:]), shared))
    (path / "pairs.csv").write_text("".join(f"{one},{other},{score}\n" for one, other, score in lines))
    (path / "finds.txt").write_text("".join(f"{one}\n" for one, _, _ in lines))
    (path / "bad.csv").write_text("a,b,1\nc,d\n")
    np.savez(path / "mine.npz", words=np.array(words), vectors=tiny_target[1])
    return path


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_encoders_side_by_side(program, folder, tiny_model):
    done = program(
        "evaluate", "texts", f"tiny={tiny_model}", "--sets", "pairs.csv", "finds.txt", "--noise", "clean", "typo:30",
        "--resamples", 50, "--plot", "-o", "results", "-q", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    lines = done.stdout.decode().splitlines()
    names = [f"{name}, {noise}" for name in ("pairs", "finds") for noise in ("clean", "typo 30 %")]
    assert cells(lines[0]) == ["encoder", "MB", "texts/s", "mistyped/s", *names]
    kept = json.loads((folder / "results" / "texts.json").read_text("utf-8"))
    assert (folder / "results" / "texts.md").read_text("utf-8") == done.stdout.decode()
    assert (folder / "results" / "texts.png").read_bytes().startswith(b"\x89PNG")
    (tiny,) = kept["scores"]
    assert cells(lines[2])[4:] == [f"{score['score']:.1f}" for score in tiny["scores"]]
    love = LOVE.load(tiny_model)
    rows = [line.split(",") for line in (folder / "pairs.csv").read_text().splitlines()]
    near = [round(cosine(*love.encode([one, other]).astype(float)), 9) for one, other, _ in rows]
    expected = 100 * stats.spearmanr(near, [float(score) for *_, score in rows]).statistic
    assert tiny["scores"][0]["score"] == pytest.approx(expected, abs=0.5)
    assert tiny["scores"][2]["score"] == 100
    assert len(tiny["curve"]) == 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing to evaluate: name a model, a vector file"),
        (("nosuch",), "nosuch: no such file or folder, nor a shipped model"),
        (("default", "--noise", "typo:x"), "--noise typo:x: per cent of the words expected"),
        (("default", "--sets", "bad.csv"), "bad.csv:2: sentence1, sentence2, score with commas between expected"),
        (("default", "--sets", "nowhere.txt"), "nowhere.txt: no such file, nor one of the sets stsb"),
        (("default", "--speller", "hunspell"), "--speller hunspell: there are symspell, aspell"),
        (("default", "--plot"), "--plot: name a folder for the picture with -o"),
        (("default+robust",), "default+robust: has LOVE in it as it is"),
        (("default", "default"), "two methods are called default"),
    ],
)
def test_mistakes_are_one_line(program, folder, arguments, message):
    sets = () if "--sets" in arguments else ("--sets", "pairs.csv")
    done = program("evaluate", "texts", *arguments, *sets, "-q", cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


def test_help_teaches_without_loading_anything(program):
    done = program("evaluate", "texts", "--help")
    assert done.returncode == 0
    for part in (b"symspell+NAME", b"typo:30", b"my-pairs.csv", b"pip install 'lovevec[model2vec]'"):
        assert part in done.stdout
