"""Misspellings in texts: words side by side, counts by hand, models against their own answers, rivals, bad files."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.factories import random_love

from lovevec import LOVE
from lovevec.errors import FormatError, LovevecError
from lovevec_lab.evaluate import context
from lovevec_lab.evaluate.context import (
    CorruptTexts,
    chunks,
    context_tables,
    corrupt_texts,
    in_places,
    line_counts,
    models_of,
    speeds_of,
    unknown_words,
)
from lovevec_lab.evaluate.correctors import Corrector, Replacement, replacements, rivals_of

pytestmark = pytest.mark.usefixtures("on_one_thread")
WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "house", "with", "window", "often", "ten", "of", "garden"]
CORRECT = ["The cat sat, often.", "a house with garden", "(the) window of ten", "and the cat"] * 3
CORRUPT = ["The caat sat, oftn.", "a hous with gardne", "(teh) widow of ten", "and the cat"] * 3


def made(text: str, corrected: str) -> list[Replacement]:
    return list(replacements(text, corrected))


def put(folder: Path, corrupt: list[str], correct: list[str], name: str = "mine") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.correct.txt").write_text("".join(f"{line}\n" for line in correct), "utf-8")
    file = folder / f"{name}.corrupt.txt"
    file.write_text("".join(f"{line}\n" for line in corrupt), "utf-8")
    return file


# Words side by side


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a tset of ten", "a test often", [(2, 6, "test"), (7, 13, "often")]),
        ("tobe, or", "to be, or", [(0, 5, "to be,")]),
        ("str ing and", "string and", [(0, 7, "string")]),
        ("the same", "the same", []),
        ("teh", "the", [(0, 3, "the")]),
        ("", "", []),
        ("a  b c", "a  x c", [(3, 4, "x")]),
    ],
)
def test_what_turns_a_text_into_another(before, after, expected):
    assert made(before, after) == [Replacement(*one) for one in expected]


def test_the_replacements_of_any_text_make_the_other():
    rng = np.random.default_rng(0)
    for _ in range(300):
        before, after = ("".join(rng.choice(list("ab  c,"), rng.integers(0, 20))) for _ in range(2))
        text, end = "", 0
        for one in made(before, after):
            text += before[end : one.start] + one.after
            end = one.end
        assert text + before[end:] == after


def test_each_chunk_has_what_stands_in_its_place():
    text = "Ths str ing, tobe fair"
    some = chunks(text, "This str ing, to fair")
    edits = [Replacement(0, 3, "This"), Replacement(4, 11, "string"), Replacement(13, 17, "to be")]
    assert in_places(text, some, edits) == ["This", "string", ",", "to be", "fair"]
    assert in_places(text, some, []) == [one.corrupt for one in some]


def test_the_counts_of_a_line_are_those_of_the_worked_example():
    corrupt, correct = "Ths reslt, tobe fair, is find.", "This result, to fair, is fine."
    clean = made(correct, "This results, to fair, is fine.")
    counts = line_counts(corrupt, correct, made(corrupt, "this resolt, to be fair, was find."), clean)
    # wrong: Ths reslt tobe find; corrected: Ths, by other capitals; broken: is; changed: Ths reslt tobe is
    assert counts == (4, 1, 2, 1, 4, 6, 1)
    assert line_counts(corrupt, correct, [], []) == (4, 0, 2, 0, 0, 6, 0)
    assert line_counts("the Cat", "The cat", [], []) == (0, 0, 2, 0, 0, 2, 0)


def test_unknown_words_have_one_string_in_both():
    love = random_love(WORDS)
    texts = CorruptTexts(
        "x", ["(teh) cat/mat widow-cat", "sat Gardne, nowhre"], ["(the) cat/cat window", "sat Garden, nowhere"]
    )
    found = [(one.line, one.start, one.end, one.text, one.right) for one in unknown_words(love, texts)]
    assert (0, 1, 4, "teh", "the") in found
    assert (1, 4, 10, "Gardne", "garden") in found
    assert {right for *_, right in found} <= {"the", "garden", "window"}  # nowhere is not known, cat/mat are two
    assert unknown_words(love, CorruptTexts("x", ["the cat"], ["the cat"])) == []


# Scores


def test_scores_of_rivals_by_hand():
    """A corrector that knows one word only, on texts whose errors were counted by hand."""
    fixed = Corrector("fixed", lambda texts: [text.replace("caat", "cat").replace("the", "a") for text in texts])
    love = random_love(WORDS)
    texts = CorruptTexts("made", CORRUPT, CORRECT)
    from lovevec_lab.evaluate.context import _Scorer

    (unknown, *_), correction = _Scorer(texts, unknown_words(love, texts), 50, 0).scores_of_rival(fixed)
    assert (correction.errors, correction.right_words) == (3 * 6, 3 * 9)
    assert correction.corrected.percent == pytest.approx(100 / 6)
    assert correction.false_alarms.percent == pytest.approx(100 / 9)  # and the cat
    assert correction.precision.percent == pytest.approx(50)
    assert correction.clean.percent == pytest.approx(100 * 2 / 15)
    assert correction.corrected.low <= correction.corrected.percent <= correction.corrected.high
    assert unknown.alone_first is None
    assert unknown.first.percent == pytest.approx(100 / unknown.words * 3)


def test_a_model_scores_as_its_own_candidates_and_corrections_say(tmp_path, shipped_love):
    love = shipped_love
    correct = ["She opened the window of the house.", "They live in a small village near the river."] * 4
    corrupt = ["She opned the windwo of the houze.", "They live in a smal vilage near the rivver."] * 4
    file = put(tmp_path, corrupt, correct)
    result = context({"mine": love}, [str(file)], part="all", thresholds=[0.9, 0.3], resamples=20)
    rows = [one for one in result.scores["unknown"] if one["method"] == "mine" and one["letters"] == 1]
    misspelled = {
        "opned": "opened",
        "windwo": "window",
        "houze": "house",
        "smal": "small",
        "vilage": "village",
        "rivver": "river",
    }
    unknown = {word: right for word, right in misspelled.items() if word not in love}
    first = [love.near(word, 1)[0][0] == right for word, right in unknown.items()]
    assert rows[0]["words"] == 4 * len(unknown)
    assert rows[0]["alone_first"]["percent"] == pytest.approx(100 * np.mean(first))
    limits = [one["threshold"] for one in result.scores["correction"] if one["method"] == "mine"]
    assert limits == [0.3, 0.9]
    for one in result.scores["correction"]:
        if one["method"] == "mine":
            pairs = zip(love.correct(corrupt, threshold=one["threshold"]), correct, strict=True)
            right = sum(
                word == other and word != wrong
                for (made, other_text), wrong_text in zip(pairs, corrupt, strict=True)
                for word, other, wrong in zip(made.text.split(), other_text.split(), wrong_text.split(), strict=True)
            )
            assert one["corrected"]["percent"] == pytest.approx(100 * right / one["errors"])


def test_the_parts_are_every_other_line(tmp_path):
    file = put(tmp_path, CORRUPT, CORRECT)
    love = random_love(WORDS)
    words = {
        part: sum(
            one["errors"] + one["right_words"]
            for one in context(love, [str(file)], part=part, thresholds=0.5, resamples=5).scores["correction"]
        )
        for part in ("dev", "test", "all")
    }
    assert words["all"] == words["dev"] + words["test"] == sum(len(line.split()) for line in CORRECT)
    with pytest.raises(LovevecError, match="part=train: there are dev, test, all"):
        context(love, [str(file)], part="train")


def test_a_model_of_context_is_a_second_row(shipped_love):
    names = [name for name, _ in models_of(["one=default"])]
    assert names == (["one", "one, words alone"] if LOVE.load().parts.context is not None else ["one"])
    plain = shipped_love.copy(parts=replace(shipped_love.parts, context=None))
    assert [name for name, _ in models_of({"plain": plain})] == ["plain"]


def test_results_can_be_published_and_drawn(tmp_path):
    file = put(tmp_path, CORRUPT, CORRECT)
    result = context(
        random_love(WORDS), [str(file)], part="all", rivals="symspell,symspell-compound", plot=True, quick=True
    )
    result.write(tmp_path / "results")
    kept = json.loads((tmp_path / "results" / "context.json").read_text("utf-8"))
    assert (
        context_tables(kept["scores"]) == result.markdown() == (tmp_path / "results" / "context.md").read_text("utf-8")
    )
    assert (tmp_path / "results" / "context.png").read_bytes().startswith(b"\x89PNG")
    assert {one["method"] for one in kept["scores"]["speed"]} == {"LOVE", "symspell", "symspell-compound"}
    by_method = {one["method"]: one for one in kept["scores"]["correction"]}
    assert by_method["symspell"]["corrected"]["percent"] > 60  # caat, oftn, hous, gardne, teh


def test_speeds_are_of_texts_met_once():
    met: list[str] = []

    def correct(texts):
        met.extend(texts)
        return list(texts)

    (speed,) = speeds_of([], [Corrector("one", correct)], [f"text {n}" for n in range(40)])
    assert len(met) == len(set(met))
    assert speed.words_per_second == pytest.approx(2 * speed.texts_per_second, rel=0.5)


# Rivals


def test_rivals_by_name():
    made_ones, missing = rivals_of("symspell", WORDS)
    assert ([one.name for one in made_ones], missing) == (["symspell"], [])
    assert made_ones[0].suggest(["gardne"]) == [["garden"]]
    assert made_ones[0].correct(["Gardne, the CAAT"]) == ["Garden, the CAT"]
    with pytest.raises(LovevecError, match="rivals=nosuch: there are all, symspell"):
        rivals_of("nosuch", WORDS)
    with pytest.raises(LovevecError, match="jamspell is not there: pip install jamspell"):
        rivals_of("jamspell:nowhere.bin", WORDS)
    everyone, missing = rivals_of("all", WORDS)
    assert {one.name for one in everyone} >= {"symspell", "symspell-compound"}
    told = " ".join(missing)
    for name in ("pyspellchecker", "autocorrect", "textblob"):
        package = {"pyspellchecker": "spellchecker"}.get(name, name)
        assert (name in told) == (importlib.util.find_spec(package) is None)
    assert "jamspell: pip install jamspell" in told  # it needs a model that nobody named


def test_marks_stay_when_words_are_joined_and_parted():
    (compound,), _ = rivals_of("symspell-compound", WORDS)
    assert compound.correct(["The gar den, (oftn) thecat 5!"]) == ["The garden, (often) the cat 5!"]


# Files


def test_own_files_and_listed_ones(tmp_path):
    file = put(tmp_path, CORRUPT, CORRECT)
    put(tmp_path / "context", ["teh"], ["the"], "wikidump")
    assert corrupt_texts(str(file)).corrupt == CORRUPT
    assert corrupt_texts("wikidump", tmp_path).correct == ["the"]
    assert corrupt_texts(str(file)).name == "mine"
    assert corrupt_texts(str(file)).digest != corrupt_texts("wikidump", tmp_path).digest


def test_bad_files_are_one_error_each(tmp_path):
    with pytest.raises(LovevecError, match=r"wikidump: .*wikidump\.corrupt\.txt is not there; the set comes from"):
        corrupt_texts("wikidump", tmp_path)
    with pytest.raises(LovevecError, match="no such file, nor one of the sets wikidump, bookcorpus"):
        corrupt_texts("nosuch", tmp_path)
    with pytest.raises(FormatError, match=r"short\.corrupt\.txt: has 1 lines, and short\.correct\.txt 2"):
        corrupt_texts(str(put(tmp_path, ["teh"], ["the", "cat"], "short")))
    with pytest.raises(FormatError, match=r"words\.corrupt\.txt:2: has 1 words where words\.correct\.txt has 2"):
        corrupt_texts(str(put(tmp_path, ["teh", "tobe"], ["the", "to be"], "words")))
    with pytest.raises(FormatError, match="holds no words"):
        corrupt_texts(str(put(tmp_path, ["", " "], ["", ""], "empty")))
    (tmp_path / "lines.txt").write_text("the\n")
    with pytest.raises(LovevecError, match=r"a file that ends in \.corrupt\.txt expected"):
        corrupt_texts(str(tmp_path / "lines.txt"))
    (tmp_path / "alone.corrupt.txt").write_text("the\n")
    with pytest.raises(LovevecError, match=r"alone\.correct\.txt"):
        corrupt_texts(str(tmp_path / "alone.corrupt.txt"))
