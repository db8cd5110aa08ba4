"""The task `search`: figures, sets, methods."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from lovevec.errors import FormatError, LovevecError
from lovevec_lab.evaluate import search
from lovevec_lab.evaluate.search import figures_of, mistyped, read_set

TEXTS = {"a": "a steel kettle", "b": "wireless headphones", "c": "running shoes for women", "d": "a kettle of copper"}
QUERIES = {"1": "headphones", "2": "kettle", "3": "shoes for running"}
GAINS = [("1", "b", 1), ("2", "a", 2), ("2", "d", 1), ("3", "c", 1), ("3", "a", 0)]


@pytest.fixture
def folder(tmp_path):
    lines = [{"_id": key, "title": "", "text": text} for key, text in TEXTS.items()]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    lines = [{"_id": key, "text": text} for key, text in QUERIES.items()]
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    rows = [("query-id", "corpus-id", "score"), *GAINS]
    (tmp_path / "qrels.tsv").write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
    return tmp_path


def test_ndcg_is_sklearns():
    rng = np.random.default_rng(0)
    for _ in range(20):
        gains = rng.integers(0, 3, 30)
        gains[3] = 1
        rows = rng.permutation(30)
        scores = np.empty(30)
        scores[rows] = np.arange(30, 0, -1)
        wanted = ndcg_score([gains], [scores], k=10)
        own = figures_of(rows, {row: float(gain) for row, gain in enumerate(gains) if gain})
        assert own[0] == pytest.approx(wanted)
        assert own[1] == (gains[rows[0]] > 0)


def test_a_folder_is_read(folder):
    (one,) = read_set(str(folder))
    assert one.texts == list(TEXTS.values())
    assert one.relevant == [{1: 1.0}, {0: 2.0, 3: 1.0}, {2: 1.0}]


def test_all_methods_find_what_stands_there(folder):
    methods = ["index", "bm25", "bm25-trigrams", "trigrams", "rapidfuzz", "default", "both=bm25,default"]
    result = search(methods, [str(folder)])
    clean = {one["method"]: one for one in result.scores if one["kind"] == "clean"}
    assert set(clean) == {*methods[:-1], "both"}
    assert clean["index"]["ndcg"] == pytest.approx(100)
    assert clean["bm25"]["first"] == pytest.approx(100)
    assert "| both" in result.markdown()


def test_a_share_of_the_longer_words_is_mistyped():
    texts = ["some longer words of an ordinary text", "x y z"] * 50
    changed = mistyped(texts, 0)
    assert changed == mistyped(texts, 0)
    assert changed[1] == texts[1]
    differ = [
        one != other
        for a, b in zip(texts, changed, strict=True)
        for one, other in zip(a.split(), b.split(), strict=False)
    ]
    assert 0.1 < np.mean(differ) < 0.4


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("corpus.jsonl", "{}\n", "_id and text expected"),
        ("queries.jsonl", "no\n", "_id and text expected"),
        ("qrels.tsv", "1 b 1\n", "with tabs between"),
        ("qrels.tsv", "1\tz\t1\n", "no query has a relevant text"),
    ],
)
def test_a_bad_folder_is_one_error(folder, name, content, says):
    (folder / name).write_text(content)
    with pytest.raises(FormatError, match=says):
        search(["bm25"], [str(folder)])
    (folder / name).unlink()
    with pytest.raises(LovevecError):
        search(["bm25"], [str(folder)])
