"""New words from a few sentences: the sets' files, scores against what they are by hand, the command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.factories import KNOWN_WORDS, random_love
from tests.test_learn import DIM, LOVED, some_texts

from lovevec.cli import main
from lovevec.errors import FormatError, LovevecError
from lovevec.learn import context_of, usual_around
from lovevec_lab.evaluate import new_words
from lovevec_lab.evaluate.a_la_carte import LEAST, WINDOW, ALaCarte
from lovevec_lab.evaluate.new_words import (
    MOST,
    SLOT,
    Chimera,
    Definition,
    by_context,
    chimeras,
    definition_ranks,
    definitions,
    sample_sentences,
    score_chimeras,
    sentences_of,
)

PLAIN = [word for word in KNOWN_WORDS if word.isascii() and word.isalpha() and word.islower()]
UNSEEN = ["blorfgaard", "zolmarket"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The two sets, a model, a target with words that it does not know, and a text."""
    path = tmp_path_factory.mktemp("new")
    (path / "data" / "new-words").mkdir(parents=True)
    for count in (2, 4, 6):
        sentences = " @@ ".join(["the house of a ___ outside"] * (count - 1) + ["no place for it"])
        lines = [f"{number}\t{sentences}\tmouse,horse,bread\t3,2,{number}\n" for number in range(3)]
        (path / "data" / "new-words" / f"chimeras.l{count}.train.txt").write_text("".join(lines))
    defined = "# a comment\n\nhouse\t___ is where people play\nqxzw\t___ is a friend\nmouse\tno place for it\n"
    (path / "data" / "new-words" / "definitions.train.txt").write_text(defined)
    LOVED.save(path / "m")
    random_love(dim=DIM).save(path / "alone")
    words = [*PLAIN[:100], *UNSEEN]
    np.savez(path / "target.npz", words=np.array(words), vectors=np.random.default_rng(0).normal(size=(102, DIM)))
    (path / "text.txt").write_text("\n".join(some_texts(120)), "utf-8")
    return path


def test_the_sets_are_read_as_they_were_published(folder, tmp_path):
    first = chimeras(folder / "data/new-words/chimeras.l4.train.txt")[0]
    assert [one.strip() for one in first.sentences] == ["the house of a ___ outside"] * 3
    assert (first.probes, first.ratings) == (["mouse", "horse", "bread"], [3, 2, 0])
    defined = definitions(folder / "data/new-words/definitions.train.txt")
    assert defined[0] == Definition("house", "___ is where people play")
    assert [one.word for one in defined] == ["house", "qxzw"]
    for name, line in {"a": "1\ta ___ b\tx,y\t1", "b": "1\tno slot\tx\t1", "c": "1\t___\tx\tone", "d": "word"}.items():
        (tmp_path / name).write_text(line + "\n")
        with pytest.raises(FormatError, match=f"{name}:1: a "):
            (chimeras if name != "d" else definitions)(tmp_path / name)


def test_a_word_does_not_see_itself_nor_the_other_words(folder):
    sentences = [["the house of a ___ outside", "people play because of ___"], ["a friend of the ___"]]
    learned = sentences_of(LOVED, sentences)
    assert learned.contexts.tolist() == [2, 1]
    for number, some in enumerate(sentences):
        alone = sentences_of(LOVED, [some])
        assert np.array_equal(alone.expected[0], learned.expected[number])
        assert np.array_equal(alone.around[0], learned.around[number])


def test_scores_are_those_by_hand():
    probes = PLAIN[:8]
    item = Chimera(["the house of a ___ outside"], probes, [])
    usual = usual_around(LOVED, LOVED.parts)
    row = context_of(sentences_of(LOVED, [item.sentences]), usual)[0]
    cosines = LOVED.embed(probes) @ row
    for sign in (1, -1):
        rated = item._replace(ratings=(sign * cosines).tolist())
        assert score_chimeras(LOVED, [rated], by_context(LOVED)) == pytest.approx(sign)
    rank = 1 + int((LOVED.embed(list(LOVED.words)) @ row > LOVED["mouse"] @ row).sum())
    defined = [Definition("mouse", item.sentences[0]), Definition("qxzw", "a ___")]
    ranks = definition_ranks(LOVED, defined, by_context(LOVED))
    assert ranks.tolist() == [rank]


def test_a_la_carte_maps_the_mean_of_the_words_around():
    """By hand: loops over places and words, and the normal equations."""
    rng = np.random.default_rng(5)
    words = [*PLAIN[: DIM + 20], "qxzw"]
    texts = [" ".join(rng.choice(words, rng.integers(1, 30))) + "." for _ in range(200)]
    rows, around = LOVED.embed(PLAIN[: DIM + 20]).astype(np.float64), {word: [] for word in words[:-1]}
    for text in texts:
        known = [word for word in text.rstrip(".").split() if word != "qxzw"]
        for place, word in enumerate(known):
            if others := known[max(place - WINDOW, 0) : place] + known[place + 1 : place + 1 + WINDOW]:
                around[word].append(np.mean([rows[words.index(other)] for other in others], axis=0))
    often = [word for word in words[:-1] if len(around[word]) >= LEAST]
    assert len(often) > DIM
    means, weights = np.stack([np.mean(around[word], axis=0) for word in often]), [len(around[word]) for word in often]
    weights, own = np.log(weights)[:, None], rows[[words.index(word) for word in often]]
    expected = np.linalg.solve(means.T @ (weights * means), means.T @ (weights * own))
    rival = ALaCarte(LOVED, [texts[:120], texts[120:]])
    np.testing.assert_allclose(rival.map, expected, rtol=1e-5, atol=1e-6)
    (vector, nothing) = rival([[f"{words[0]} ___ {words[1]}", f"qxzw {words[2]}"], ["___"]], "___")
    np.testing.assert_allclose(vector, rows[:3].mean(axis=0) @ expected, rtol=1e-4, atol=1e-5)
    assert not nothing.any()
    with pytest.raises(LovevecError, match=f"a map of {DIM} dimensions needs more"):
        ALaCarte(LOVED, [texts[:2]])


def test_sentences_are_drawn_from_all_that_there_are():
    texts = [f"Blorf number {number} and blorf" for number in range(100)]
    found = sample_sentences(texts, ["blorf", "other"], np.random.default_rng(0))
    assert len(set(found["blorf"])) == MOST
    assert found["other"] == []
    assert all(text.startswith(f"{SLOT} number ") and text.endswith("and blorf") for text in found["blorf"])
    assert any(text in found["blorf"] for text in (text.replace("Blorf", SLOT) for text in texts[50:]))


def test_the_command_scores_models_side_by_side(program, folder):
    done = program(
        "evaluate", "new-words", "m", "other=m", "--target", "target.npz", "--corpus", "text.txt", "--data", "data",
        "-o", "results", "-q", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.decode().splitlines()
    assert [line.split("|")[1].strip() for line in lines[2:4]] == ["m", "other"]
    assert "(m: 2; other: 2), by their spelling and 0, 1, 5 and 20 sentences:" in done.stdout.decode()
    kept = json.loads((folder / "results" / "new-words.json").read_text("utf-8"))
    first, second = kept["scores"]
    assert first.keys() == second.keys()
    assert [one["sentences"] for one in first["held_back"]] == [0, 1, 5, 20]
    assert first["definitions"] == 1
    assert {**first, "model": ""} == {**second, "model": ""}
    assert kept["settings"]["models"] == ["m", "other=m"]


def test_models_in_memory_and_what_is_wrong_with_them(folder, capsys):
    result = new_words(LOVED, data=folder / "data")
    assert result.scores[0]["held_back"] == []
    (folder / "long.txt").write_text("\n".join([" ".join(PLAIN[:100])] * LEAST))
    both = new_words(LOVED, data=folder / "data", a_la_carte=folder / "long.txt").scores
    assert both[0] == result.scores[0]
    assert both[1]["model"] == f"{both[0]['model']}, à la carte"
    assert both[1]["chimeras"] != both[0]["chimeras"]
    for arguments, message in {
        ("alone",): "alone: has no model of context",
        ("m", "m"): "two methods are called m",
        ("m", "--target", "target.npz"): "--target and --corpus go together",
        ("m", "--data", "nowhere"): "Chimeras: ",
    }.items():
        paths = [str(folder / one) if (folder / one).exists() else one for one in arguments]
        data = [] if "--data" in paths else ["--data", str(folder / "data")]
        assert main(["evaluate", "new-words", *paths, *data, "-q"]) == 2
        assert message in capsys.readouterr().err
    with pytest.raises(LovevecError, match="nothing to evaluate"):
        new_words()
