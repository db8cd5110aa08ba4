"""Lines of texts by the compiled core: the same windows, and the same vectors, as text by text in Python."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.factories import KNOWN_WORDS, needs_core, random_love
from tests.nasty import NASTY
from tests.near.test_context_core import some_context
from tests.texts import toy_language

from lovevec import LOVE
from lovevec.engine.compiled import core
from lovevec.near.context import PLACES
from lovevec.near.readings import Readings, in_context
from lovevec.texts import encoder as module
from lovevec.texts.lines import NO_CHUNKS, AskedWords, asked_words
from lovevec.texts.sentence import CERTAIN, is_unknown, is_unsure

pytestmark = needs_core
SIZES = {"dim": 24, "width": 16, "side": 3, "heads": 2, "hidden": 48, "second": 32, "frequent": 64}
CONTEXT = replace(some_context(1, **SIZES), scales=np.array([3e-6, 1e-6, 1e-5, 1.0], np.float32))
PLAIN = [word for word in KNOWN_WORDS if word.isascii() and word.isalpha() and len(word) > 3]


def model(engine: str) -> LOVE:
    return LOVE(replace(random_love().parts, context=CONTEXT), engine=engine)


COMPILED, BY_NUMPY = model("compiled"), model("numpy")
OWN = [*KNOWN_WORDS[:40], "house", "horse", "letter", "people"]
UNKNOWN = ["hotse", "lettre", "poeple", "Hosue", "HOSUE", "blorfingly", "qwrtz", "latterr", "tohught", "thouhg", "x"]
ODD = [
    "500mg",
    "hotse-lettre",
    "poeple's",
    "and/or",
    "hotse/lettre",
    "iPhone",
    "THose",
    "hot_se",
    "#poepleHotse",
    "a.b@c.org",
]
ODD += [
    "Straße",
    "hôtse",
    "naïve",
    "😀",
    "hotse😀lettre",
    "n't",
    "don't",
    "hotse…lettre",
    "東京タワー",
    "3-bedrom",
    "$1,000",
    "12:30",
]
ODD += [
    "rock'n'rol",
    "e\u0301tse",
    "hot\u00adse",
    "letter\u00a0hotse",
    "x" * 101,
    "hotse" * 30,
    "\ud800",
    "a\x00hotse",
    "poeple--hotse",
]
MARKS = [
    "--",
    "-",
    "…",
    ".",
    "!?",
    ",",
    ";",
    ":",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    '"',
    "'",
    "“",
    "”",
    "«",
    "—",
    "*",
    "/",
    "&",
    "\x00",
]
BLANKS = [" ", " ", " ", "  ", "\n", "\t", "\r\n", "\u00a0", "\v", "\u2003"]
TORN = [
    "some thing",
    "to morrow",
    "peo ple",
    "let ter",
    "hou se",
    "iPho ne",
    "and/let ter",
    "peo ple/or",
    "Peo ple",
    "hot peo ple",
]
WORDS = st.one_of(*(st.sampled_from(some) for some in (OWN, UNKNOWN, UNKNOWN, ODD, MARKS, TORN)), st.text(max_size=4))
PIECES = st.tuples(
    st.sampled_from(["", "", "", *MARKS]), WORDS, st.sampled_from(["", "", "", *MARKS]), st.sampled_from(BLANKS)
)
TEXTS = st.lists(PIECES, max_size=12).map(lambda pieces: "".join(map("".join, pieces)))


def by_core(love: LOVE, texts: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[AskedWords | None, np.ndarray]:
    """What the core asks about, and which texts it leaves to Python."""
    seen: list[Any] = [(None, np.zeros(len(texts), dtype=bool))]

    def note(*arguments: Any) -> Any:
        seen.append(asked_words(*arguments))
        return seen[-1]

    with monkeypatch.context() as patch:
        patch.setattr(module, "asked_words", note)
        love.encode(texts)
    result: tuple[AskedWords | None, np.ndarray] = seen[-1]
    return result


def by_python(love: LOVE, texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """The windows of all words whose readings are not certain, and their texts."""
    encoder = love.text_encoder()
    sentences = encoder.source.sentences
    assert sentences is not None
    parts = encoder.parts_of_texts(texts)
    readings = encoder.read_words(parts)
    asked = is_unknown(parts)
    owners = np.repeat(np.arange(len(texts)), [len(one.parts) for one in parts])
    asked[asked] = is_unsure(readings)
    if not asked.any():
        return np.zeros((0, PLACES), np.int32), owners[asked]
    return sentences.windows(parts, readings, asked), owners[asked]


def windows_agree(texts: list[str]) -> int:
    """Compare them; how many texts are left to Python."""
    asked, odd = by_core(COMPILED, texts, pytest.MonkeyPatch())
    windows, owners = by_python(COMPILED, texts)
    kept = ~odd[owners]
    found = np.zeros((0, PLACES), np.int32) if asked is None else asked.windows
    assert np.array_equal(found, windows[kept])
    if asked is not None:
        assert asked.columns[:, 1].tolist() == owners[kept].tolist()
    return int(odd.sum())


@settings(max_examples=150, deadline=None)
@given(st.lists(TEXTS, max_size=5))
def test_windows_are_those_of_python(texts):
    windows_agree(texts)


@pytest.mark.parametrize("odd", ODD)
def test_windows_around_odd_words_are_those_of_python(odd):
    texts = [f"hotse {before}{odd}{behind} lettre" for before in ["", *MARKS] for behind in ["", *MARKS]]
    texts += [f"{odd} lettre", f"hotse {odd}", odd, f"hotse, {odd} {odd} ({odd})"]
    windows_agree(texts)


def test_nasty_texts_have_the_windows_of_python():
    windows_agree([*NASTY, *(f"hotse {text} lettre" for text in NASTY), "hotse " * 2000, "x" * 100_000])


def test_few_texts_are_left_to_python():
    assert windows_agree([f"hotse {word} (lettre), {word}." for word in [*OWN, *UNKNOWN]]) == 0
    assert windows_agree(["the hotse and/let ter", "iPhone lettre", "the hotse", "hotse, iPhone", "hotse/let ter"]) == 2
    assert (
        windows_agree(["hotse let ter/or", "hotse let\ufe0fx let\ufe0fer", "lettre let\u00adter", "hotse Let ter"]) == 3
    )


def test_vectors_of_odd_words_are_those_of_numpy():
    compare_vectors([f"hotse {mark}{odd}{other} lettre" for odd in ODD for mark in MARKS[:9] for other in MARKS[3:7]])


@settings(max_examples=80, deadline=None)
@given(st.lists(TEXTS, max_size=5))
def test_vectors_are_those_of_numpy_and_have_the_same_bits_alone(texts):
    compare_vectors(texts)
    for text, vector in zip(texts, COMPILED.encode(texts), strict=True):
        assert np.array_equal(COMPILED.encode(text), vector)


def compare_vectors(texts: list[str]) -> None:
    for options in ({}, {"normalize_embeddings": False}):
        alone, expected_alone = (love.encode(texts, context=False, **options) for love in (COMPILED, BY_NUMPY))
        # Beside some marks numpy joins torn words that the core does not: also without context.
        same = (np.abs(alone - expected_alone) < 2e-6).all(axis=1)
        found, expected = COMPILED.encode(texts, **options), BY_NUMPY.encode(texts, **options)
        np.testing.assert_allclose(found[same], expected[same], atol=2e-6)
        assert same.sum() > 0.9 * len(texts) or len(texts) < 100


def mistyped(count: int) -> list[str]:
    rng = np.random.default_rng(4)
    words, ends = [*PLAIN[:200], *OWN, *UNKNOWN * 6, *ODD], ["", "", "", ",", ".", "!"]
    return [
        " ".join(f"{rng.choice(words)}{rng.choice(ends)}" for _ in range(rng.integers(0, 15))) for _ in range(count)
    ]


def test_many_texts_by_threads_have_the_same_bits_as_one_by_one():
    texts = mistyped(1200)
    together = COMPILED.encode(texts)
    assert np.array_equal(together, np.stack([COMPILED.encode(text) for text in texts]))
    assert np.array_equal(together, COMPILED.encode(texts, batch_size=100))
    np.testing.assert_allclose(together, BY_NUMPY.encode(texts), atol=2e-6)
    with ThreadPoolExecutor(4) as pool:
        for vectors in pool.map(COMPILED.encode, [texts] * 8):
            assert np.array_equal(vectors, together)


def test_the_sentence_changes_vectors():
    texts = [text for text in mistyped(200) if by_python(COMPILED, [text])[0].size]
    assert len(texts) > 50
    alone, inside = COMPILED.encode(texts, context=False), COMPILED.encode(texts)
    assert (np.abs(alone - inside).max(axis=1) > 1e-4).mean() > 0.8


def test_certain_texts_have_the_same_bits_with_and_without_context():
    texts = [text for text in mistyped(600) if not by_python(COMPILED, [text])[0].size]
    assert len(texts) > 20
    np.testing.assert_allclose(COMPILED.encode(texts, context=False), COMPILED.encode(texts), atol=1e-7)


def test_the_toy_language(toy_in_context):
    love, slow = (LOVE.load(toy_in_context, engine=engine) for engine in ("compiled", "numpy"))
    texts = [text.replace("ou", "uo").replace("tt", "t") for text in toy_language.sentences(150, 3)]
    np.testing.assert_allclose(love.encode(texts), slow.encode(texts), atol=2e-6)


# The functions of the core.


def readings_of(strings: list[str]) -> Readings:
    return COMPILED.text_encoder().source.read(strings)


def weighed(readings: Readings) -> np.ndarray:
    return COMPILED.text_encoder().reading_weights(readings)


STRINGS = [
    *UNKNOWN,
    *(word[:-1] + "q" for word in PLAIN[:40]),
    "thehouse",
    "letterpeople",
    *(a + b for a, b in zip(PLAIN[:51], PLAIN[9:60], strict=True)),
]


def test_weights_of_readings_have_the_bits_of_numpy():
    readings = readings_of(STRINGS)
    assert (readings.parts > 0.1).any()
    assert np.array_equal(weighed(readings), BY_NUMPY.text_encoder().reading_weights(readings))


@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.5, 3.0, 100.0]))
def test_readings_in_context_have_the_bits_of_numpy(seed, strength):
    rng = np.random.default_rng(seed)
    alone = readings_of(STRINGS)
    numbers = rng.integers(0, len(STRINGS), 30)
    scores = rng.normal(size=(30, 11)) * rng.choice([1, 10, 300])
    scores[rng.random(scores.shape) < 0.2] = 0
    places = np.where(rng.random(30) < 0.3, -1, rng.permutation(30))
    found = Readings.empty(30)
    core().in_context(*alone, numbers, places, scores, strength, *found)
    inside, own = places >= 0, alone.some(numbers)
    expected = own.put(inside, in_context(own.some(inside), scores[places[inside]] * strength))
    for name, one, other in zip(Readings._fields, found, expected, strict=True):
        assert np.array_equal(one, other), name


def window_arguments() -> list[Any]:
    """Two texts: a row, a word, a chunk; and a word."""
    alone = readings_of(["hotse", "blorfingly", "lettre"])
    starts, parts = np.array([0, 3], np.int64), np.array([7, -2, -18], np.int32)
    return [
        *(np.array([5, -1, -7, -8, -7], np.int32), np.array([4, 1], np.int64), np.array([0, 1], np.int64)),
        *(np.zeros(1, np.int64), starts, parts, np.full(3, -3, np.int32)),
        *(*alone[:4], CERTAIN, 0.6, np.empty(2, np.uint8)),
    ]


WRONG = {
    "an id that there is not": (0, np.array([5, -10, -7, -8, -7], np.int32)),
    "PAD in a line": (0, np.array([5, -6, -7, -8, -7], np.int32)),
    "more words": (0, np.array([-7, -1, -7, -8, -7], np.int32)),
    "more chunks": (0, np.array([-8, -1, -7, -8, -7], np.int32)),
    "fewer ids": (0, np.array([5, -7, -8, -7], np.int32)),
    "ids of another type": (0, np.zeros(5, np.int64)),
    "lengths that are too large": (1, np.array([4, 2], np.int64)),
    "lengths below 0": (1, np.array([6, -1], np.int64)),
    "lengths that overflow": (1, np.array([2**62, 2**62], np.int64)),
    "a word's number": (2, np.array([0, 3], np.int64)),
    "a word's number below 0": (2, np.array([0, -1], np.int64)),
    "a chunk's number": (3, np.ones(1, np.int64)),
    "starts": (4, np.array([0, 4], np.int64)),
    "starts that fall": (4, np.array([3, 0], np.int64)),
    "no starts": (4, np.zeros(0, np.int64)),
    "a string in a chunk": (5, np.array([7, -2, -19], np.int32)),
    "a word in a chunk": (5, np.array([7, -2, -7], np.int32)),
    "the least number": (5, np.array([7, -2, -(2**31)], np.int32)),
    "signs that are rows": (6, np.zeros(3, np.int32)),
    "signs of marks": (6, np.full(3, -1, np.int32)),
    "fewer signs": (6, np.full(2, -3, np.int32)),
    "fewer readings": (8, np.zeros((2, 10))),
    "no number": (11, None),
    "fewer texts": (13, np.empty(1, np.uint8)),
    "one that is frozen": (13, np.frombuffer(b"ab", np.uint8)),
}


def test_windows_of_two_texts():
    windows, asked, numbers, strings, places = core().windows(*window_arguments())
    columns = np.frombuffer(asked, np.int64).reshape(-1, 4)
    assert columns[:, :3].tolist() in ([[0, 0, 0], [2, 0, -1]], [[0, 0, 0], [2, 0, -1], [1, 1, 1]])
    around = np.frombuffer(windows, np.int32).reshape(-1, PLACES)
    assert around[0, 13:19].tolist() == [-1, 5, -1, 7, -2, around[0, 18]]
    assert np.frombuffer(numbers, np.int64).tolist() == [0, 1]
    assert np.frombuffer(strings, np.int64).tolist() == [0, 1]
    assert len(places) == 16


@pytest.mark.parametrize(("place", "value"), WRONG.values(), ids=WRONG)
def test_lines_that_do_not_fit_are_refused(place, value):
    arguments = window_arguments()
    arguments[place] = value
    with pytest.raises((TypeError, ValueError, BufferError)):
        core().windows(*arguments)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (7, np.array([99], np.int64)),
        (7, np.array([-1], np.int64)),
        (8, np.array([1], np.int64)),
        (8, np.array([-2], np.int64)),
        (8, np.zeros(2, np.int64)),
        (9, np.zeros((1, 10))),
        (10, "strong"),
        (0, np.zeros((1, 10), np.int32)),
        (12, np.zeros((2, 10))),
    ],
)
def test_readings_that_do_not_fit_are_refused(place, value):
    arguments: list[Any] = [*readings_of(["hotse", "lettre"]), np.zeros(1, np.int64), np.zeros(1, np.int64)]
    arguments += [np.zeros((1, 11)), 1.0, *Readings.empty(1)]
    core().in_context(*arguments)
    arguments[place] = value
    with pytest.raises((TypeError, ValueError, IndexError)):
        core().in_context(*arguments)


def test_weights_that_do_not_fit_are_refused():
    readings, result = readings_of(["hotse", "lettre"]), np.empty(2, np.float32)
    core().weigh(*readings, np.ones(len(KNOWN_WORDS), np.float32), 0.5, result)
    for weights, room in ((np.ones(3, np.float32), result), (np.ones(len(KNOWN_WORDS)), result)):
        with pytest.raises((TypeError, ValueError, IndexError)):
            core().weigh(*readings, weights, 0.5, room)
    with pytest.raises((TypeError, ValueError)):
        core().weigh(*readings, np.ones(len(KNOWN_WORDS), np.float32), 0.5, np.empty(3, np.float32))


def test_calls_give_back_what_they_take():
    arguments = window_arguments()
    before = [sys.getrefcount(argument) for argument in arguments]
    for _ in range(20):
        core().windows(*arguments)
        with pytest.raises(ValueError, match="do not fit"):
            core().windows(*arguments[:3], np.ones(1, np.int64), *arguments[4:])
    gc.collect()
    assert [sys.getrefcount(argument) for argument in arguments] == before


def test_no_texts():
    empty = np.zeros(0, np.int64)
    asked, odd = asked_words(np.zeros(0, np.int32), empty, empty, empty, NO_CHUNKS, readings_of([]))
    assert len(asked.windows) == len(odd) == 0
    assert COMPILED.encode([]).shape == (0, 24)


def test_older_processors_have_the_same_bits():
    root = Path(__file__).parents[2]
    program = "import hashlib\nfrom tests.texts.test_text_lines import COMPILED, mistyped\n"
    program += "print(hashlib.sha256(COMPILED.encode(mistyped(100)).tobytes()).hexdigest())"
    outputs = set()
    for processor in ("", "avx2", "base"):
        environment = {**os.environ, "LOVEVEC_PROCESSOR": processor}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(root)]))
        run = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
        )
        outputs.add(run.stdout)
    assert len(outputs) == 1
