"""`lovevec reproduce bert` end to end on a small encoder: shared out, collected, drawn again."""

from __future__ import annotations

import json

import numpy as np
import pytest
from lab_factories import make_data
from tests.factories import toy_vectors, toy_words
from transformer_factory import save_transformer

from lovevec.cli import main
from lovevec.train import Settings, train
from lovevec_lab.reproduce import published
from lovevec_lab.reproduce.bert import page
from lovevec_lab.reproduce.pages import OCR, PAPER, TYPOS

ROWS = ["BERT", "BERT + SymSpell", "BERT + Add", "BERT + Linear", "BERT + Replacement"]


@pytest.fixture(scope="module")
def flags(tmp_path_factory) -> list[str]:
    """Data, encoder and LOVE."""
    folder = tmp_path_factory.mktemp("bert")
    words = [word for word in toy_words(300) if len(word) >= 4]
    vectors = toy_vectors(words, 16)
    make_data(folder / "data", words, vectors)
    save_transformer(folder / "encoder", words)
    settings = Settings(vocabulary_size=300, epochs=1, negatives=10, device="cpu")
    train((words, vectors), settings, output=folder / "love")
    where = [
        "--data",
        str(folder / "data"),
        "--transformer",
        f"tiny={folder / 'encoder'}",
        "--love",
        str(folder / "love"),
    ]
    return [*where, "--device", "cpu", "--quick", "-q", "--learning-rates", "1e-2,1e-3"]


def kept_runs(folder) -> dict:
    return {path: path.stat().st_mtime_ns for path in (folder / "cache").iterdir()}


def test_shares_fill_the_folder_and_one_command_collects(flags, tmp_path, capsys):
    for share in ("1/3", "2/3", "3/3"):
        assert main(["reproduce", "bert", *flags, "-o", str(tmp_path), "--share", share]) == 0
    assert capsys.readouterr().out == ""
    assert not (tmp_path / "bert.json").exists()
    kept = kept_runs(tmp_path)
    assert len(kept) == 2 * len(ROWS)  # two tasks; --quick has one rate and one seed
    assert main(["reproduce", "bert", *flags, "-o", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert kept_runs(tmp_path) == kept
    result = json.loads((tmp_path / "bert.json").read_text())
    assert result["settings"]["transformer"] == "tiny"
    scores = result["scores"]
    assert list(scores["methods"]) == ROWS
    assert scores["tasks"] == ["sst2", "conll03"]
    for row in scores["methods"].values():
        for task in row["tasks"].values():
            assert set(task["test"]) == {*OCR, *TYPOS}
            assert all(0 <= score <= 100 for score in task["test"].values())
    assert "Transformer: tiny" in told
    assert told.count(PAPER) == 2 + 4 + 2  # SST2: sweep and strategies; CoNLL-03: sweep
    assert "81.4" in told  # the paper's Replacement at one typo
    assert str(tmp_path.parent) not in (tmp_path / "bert.json").read_text()
    for name in ("bert.png", "bert-typos.png"):
        assert (tmp_path / name).read_bytes()[:4] == b"\x89PNG"
        (tmp_path / name).unlink()
    assert main(["reproduce", "bert", "--redraw", "-q", "-o", str(tmp_path)]) == 0
    assert capsys.readouterr().out == told
    assert (tmp_path / "bert.png").is_file()


def test_rows_on_request_and_what_cannot_be_had(flags, tmp_path, capsys):
    ask = ["reproduce", "bert", *flags, "-o", str(tmp_path), "--tasks", "bc2gm"]
    assert main([*ask, "--methods", "BERT + Replacement (LOVE trained)"]) == 0
    assert "BC2GM, entity F1" in capsys.readouterr().out
    for more, told in (
        (["--methods", "BERT + Add (distilled)"], "there are BERT, BERT + SymSpell, BERT + Add"),
        (["--share", "4/3"], "--share 4/3: K/N expected"),
        (["--precision", "int4"], "--precision int4"),
        (["--love", "nowhere"], "nowhere: no such model folder"),
        (["--transformer", str(tmp_path / "nothing")], "no such folder, and not to be had as a hub id"),
        (["--data", str(tmp_path)], "bc2gm/train.tsv is not there"),
        (["--seeds", "0"], "--seeds: must be at least 1, a whole number, not 0"),
        (["--seeds", "0", "--share", "1/2"], "--seeds: must be at least 1, a whole number, not 0"),
        (["--tested", "0"], "--tested: must be at least 1, a whole number, not 0"),
        (["--epochs", "-1"], "--epochs: must be at least 1, a whole number, not -1"),
        (["--tasks", "bc2gm,sst3"], "--tasks sst3: not all of them are here; there are sst2, mr"),
    ):
        assert main([*ask, *more]) == 2
        error = capsys.readouterr().err
        assert told in error, error
        assert error.count("\n") == 1
    assert main(["reproduce", "shrink", "--share", "1/2", "-o", str(tmp_path)]) == 2
    assert main(["reproduce", "bert", "-o", str(tmp_path)]) == 2
    assert "--transformer" in capsys.readouterr().err


def made_scores(seeds: int) -> dict:
    """The paper's numbers as if they were ours."""
    rates = [1e-4] * seeds
    methods = {
        name: {
            "tasks": {
                "sst2": {
                    "rates": rates,
                    "test": dict(
                        zip([*OCR, *TYPOS[1:]], [*numbers["sst2"], *published.BERT_TYPOS[name][1:]], strict=True)
                    ),
                    "spread": dict.fromkeys([*OCR, *TYPOS], 0.5),
                    "dev_noisy": dict.fromkeys([*OCR, *TYPOS], 50.0),
                    "runs": [{"rate": 1e-4}, {"rate": 3e-5}],
                }
            }
        }
        for name, numbers in published.BERT_ROBUSTNESS.items()
    }
    return {"transformer": {"name": "BERT-base", "quick": False}, "tasks": ["sst2"], "methods": methods}


def test_the_page_has_means_gains_and_spreads():
    lines = page(made_scores(1)).splitlines()
    ours = next(line for line in lines if line.startswith("| BERT + Replacement"))
    theirs = lines[lines.index(ours) + 1]
    cells = [[cell.strip() for cell in line.split("|")[2:-1]] for line in (ours, theirs)]
    assert cells[0][:-1] == cells[1][:-1]  # all but dev, which the paper has not
    assert cells[0][6:] == ["79.5", "+2.4", "50.0"]
    assert "Learning rates chosen, of 0.0001, 3e-05: BERT 0.0001; BERT + Replacement 0.0001." in lines
    assert "88.3 ± 0.5" in page(made_scores(3))
    assert "Means over 3 seeds" in page(made_scores(3))


def test_the_papers_means_are_those_it_prints():
    for name, printed in {"BERT": 80.7, "BERT + Replacement": 82.1}.items():
        numbers = [x for row in published.BERT_ROBUSTNESS[name].values() for x in row]
        assert abs(np.mean(numbers) - printed) < 0.09, name  # 80.78 is printed as 80.7
    assert all(len(row) == 4 for row in published.BERT_TYPOS.values())
    assert published.BERT_TYPOS["BERT"][0] == published.BERT_ROBUSTNESS["BERT"]["sst2"][0]


def test_less_of_it_by_flags(flags, tmp_path, capsys):
    asked = [flag for flag in flags if flag != "--quick"]
    less = ["--epochs", "1", "--sentences", "20", "--tested", "10", "--tasks", "sst2", "--methods", "BERT"]
    assert main(["reproduce", "bert", *asked, *less, "-o", str(tmp_path)]) == 0
    capsys.readouterr()
    settings = json.loads((tmp_path / "bert.json").read_text())["settings"]
    assert (settings["epochs"], settings["sentences"], settings["tested"]) == (1, 20, 10)
    (run, _) = (json.loads(path.read_text()) for path in (tmp_path / "cache").iterdir())
    assert run["result"]["epoch"] == 1
    assert {round(score * 10) % 100 for score in run["result"]["test"].values()} == {0}  # tenths of ten sentences
