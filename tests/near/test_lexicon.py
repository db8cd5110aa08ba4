"""The lexicon: its filter against sets of words, its weights of n-grams against a dict, all of it in Python's own
numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.factories import random_parts, toy_words
from tests.near.strings import LETTERS, NASTY, STRINGS, UNREADABLE

from lovevec.model.folder import LEXICON, read_model, write_model
from lovevec.near.lexicon import (
    BEGIN,
    END,
    GRAM_BITS,
    MAX_CUT,
    MAX_FILL,
    MAX_GRAM,
    MIN_GRAM,
    MIN_STEM,
    PROBES,
    Lexicon,
    usual_endings,
    word_hashes,
)
from lovevec.near.orthography import Orthography
from lovevec.units.characters import normalise, to_codes

WORDS = [*toy_words(500), "unfriended", "friend", "naïve", "москва", "don't", "a", "x" * 100]
ANY = st.one_of(st.text(max_size=12), STRINGS, st.sampled_from([*WORDS, *NASTY, *UNREADABLE]))
LOW, BASE, MIX, SALT = (1 << 64) - 1, 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xC2B2AE3D27D4EB4F


def hashed(codes: list[int]) -> int:
    """In Python's own numbers."""
    state = 0
    for code in codes:
        state = (state * BASE + code + 1) & LOW
    return state


def mixed(state: int) -> int:
    for _ in range(2):
        state = ((state ^ state >> 32) * MIX) & LOW
    return state ^ state >> 32


def codes_of(word: str, lowercase: bool = True) -> list[int]:
    return list(map(ord, normalise(word, lowercase)))


def bits_of(word: str, size: int, lowercase: bool = True) -> set[int]:
    """The bits that stand for a word in a filter of `size` bits."""
    state = mixed(hashed(codes_of(word, lowercase)))
    first, step = state & 0xFFFFFFFF, state >> 32 | 1
    return {(first + step * probe) % size for probe in range(PROBES)}


def bits_in(lexicon: Lexicon) -> set[int]:
    return set(np.flatnonzero(np.unpackbits(lexicon.filter, bitorder="little")).tolist())


@given(st.lists(ANY, max_size=8))
def test_hashes_are_those_of_the_formula(words):
    assert word_hashes(to_codes(words)).tolist() == [hashed(codes_of(word)) for word in words]


@given(st.lists(ANY, max_size=12), st.lists(ANY, max_size=12), st.booleans())
def test_the_filter_has_the_bits_of_its_words_and_no_others(words, others, lowercase):
    """So it says yes for each of them, and for another word exactly if all its bits are set."""
    lexicon = Lexicon.of(words, lowercase)
    size = 8 * len(lexicon.filter)
    bits = set().union(*(bits_of(word, size, lowercase) for word in words))
    assert bits_in(lexicon) == bits
    for one in [*words, *others]:
        assert bool(lexicon.has(word_hashes(to_codes([one], lowercase)))[0]) == (bits_of(one, size, lowercase) <= bits)
        if lowercase:
            assert (one in lexicon) == (bits_of(one, size) <= bits)


@given(st.lists(st.lists(ANY, max_size=12), min_size=1, max_size=3))
def test_words_that_come_later_are_in_it_and_none_is_lost(batches):
    lexicon, held = Lexicon.empty(), []
    for batch in batches:
        before, lexicon = lexicon, lexicon.with_words(batch)
        held += batch
        assert all(word in lexicon for word in held)
        size = 8 * len(lexicon.filter)
        doubled = {bit + turn for bit in bits_in(before) for turn in range(0, size, 8 * len(before.filter))}
        assert bits_in(lexicon) == doubled.union(*(bits_of(word, size) for word in batch))
        assert len(bits_in(before)) + PROBES * len(batch) <= size * MAX_FILL or size == 8 * len(before.filter)


def test_a_filter_grows_with_its_words_and_stays_half_empty():
    """Each time by as many words as it has."""
    letters = np.random.default_rng(0).choice([*LETTERS], (16_000, 7)).tolist()
    words = list(dict.fromkeys(map("".join, letters)))
    lexicon, held = Lexicon.of(words[:1000]), 1000
    while held < len(words):
        lexicon = lexicon.with_words(words[held : 2 * held])
        held *= 2
        assert lexicon.has(word_hashes(to_codes(words[:held]))).all()
        assert np.unpackbits(lexicon.filter).mean() <= MAX_FILL


def test_of_other_words_next_to_none_is_taken_for_one_that_is_in_it():
    """The documented one in a thousand or so, of 40,000 words that are not in it."""
    rng = np.random.default_rng(1)
    words = list(dict.fromkeys("".join(letters) for letters in rng.choice([*LETTERS], (60_000, 7)).tolist()))
    lexicon = Lexicon.of(words[:20_000])
    assert lexicon.has(word_hashes(to_codes(words[:20_000]))).all()
    assert lexicon.has(word_hashes(to_codes(words[20_000:]))).mean() < 1 / 1000
    assert 8 * len(lexicon.filter) <= 2 * 16 * 20_000


@pytest.mark.parametrize("lexicon", [Lexicon.empty(), Lexicon.of([]), Lexicon.empty().with_words([])])
def test_nothing_is_in_an_empty_one(lexicon):
    assert lexicon.is_empty
    assert not any(word in lexicon for word in ["", "a", *WORDS[:50], *NASTY])
    rows = to_codes(WORDS)
    assert not lexicon.likeness(rows).any()
    assert not lexicon.siblings(rows).any()
    assert [part.any() for part in lexicon.begins_and_ends(rows)] == [False, False]
    assert not lexicon.with_words(["x"]).is_empty


# --- n-grams ---

SIGNED = np.random.default_rng(3).integers(-128, 128, 1 << GRAM_BITS).astype(np.int8)
LEXICON_OF_CHANCE = Lexicon(np.zeros(8, np.uint8), SIGNED, 0.25, ())


def grams_of(word: str) -> Counter[tuple[int, ...]]:
    """With the begin and the end of the word."""
    text = [BEGIN, *codes_of(word), END]
    sizes = range(MIN_GRAM, MAX_GRAM + 1)
    return Counter(tuple(text[place : place + n]) for n in sizes for place in range(len(text) - n + 1))


def place_of(gram: tuple[int, ...]) -> int:
    return mixed((hashed([*gram]) + SALT * len(gram)) & LOW) >> 64 - GRAM_BITS


@given(st.lists(ANY, max_size=8))
@settings(max_examples=60)
def test_likeness_is_the_sum_over_a_dict_of_n_grams(words):
    weights = {gram: int(SIGNED[place_of(gram)]) for word in words for gram in grams_of(word)}
    expected = [sum(weights[gram] * count for gram, count in grams_of(word).items()) for word in words]
    assert LEXICON_OF_CHANCE.likeness(to_codes(words)).tolist() == expected


def test_one_letter_has_the_n_grams_with_begin_and_end():
    grams = np.zeros(1 << GRAM_BITS, np.int8)
    for number, gram in enumerate([(BEGIN, ord("a")), (ord("a"), END), (BEGIN, ord("a"), END)]):
        grams[place_of(gram)] += 10**number
    found = Lexicon(np.zeros(8, np.uint8), grams, 1.0, ()).likeness(to_codes(["a", "", "b", "ab", "ba"]))
    assert found.tolist() == [111, 0, 0, 1, 10]


# --- words at the begin and at the end, siblings ---

SHORT = st.text("abst", max_size=9)


@given(st.lists(SHORT, max_size=12), st.lists(st.one_of(SHORT, st.text(max_size=6)), min_size=1, max_size=6))
def test_begins_and_ends_are_those_of_all_prefixes_and_suffixes(words, strings):
    lexicon = Lexicon.of(words)
    begins, ends = lexicon.begins_and_ends(to_codes(strings))
    for string, begin, end in zip(map(normalise, strings), begins.tolist(), ends.tolist(), strict=True):
        sizes = range(2, len(string))
        assert begin == max((size for size in sizes if string[:size] in lexicon), default=0)
        assert end == max((size for size in sizes if string[-size:] in lexicon), default=0)


def sibling(string: str, lexicon: Lexicon) -> int:
    """The letters that begin a word with another ending: the most, of the whole and of what stands before an ending."""
    endings = lexicon.endings
    for cut in range(MAX_CUT + 1):
        stem, own = string[: len(string) - cut], string[len(string) - cut :]
        if len(stem) < MIN_STEM or len(string) < cut or (cut and own not in endings):
            continue
        if any(stem + ending in lexicon for ending in endings if ending != own):
            return len(stem)
    return 0


@given(
    st.lists(st.text("abst", min_size=2, max_size=9), max_size=20),
    st.lists(st.sampled_from(["s", "ed", "ing", "tion", "t", "ab", "st"]), max_size=5, unique=True),
    st.lists(SHORT, min_size=1, max_size=6),
)
def test_siblings_are_those_of_all_endings(stems, endings, strings):
    lexicon = Lexicon.of([*stems, *(stem + ending for stem in stems[:9] for ending in endings[:2])], endings=endings)
    strings = [*strings, *stems, *(stem + ending for stem in stems for ending in endings)]
    assert lexicon.siblings(to_codes(strings)).tolist() == [sibling(string, lexicon) for string in strings]


def test_siblings_by_example():
    lexicon = Lexicon.of(["unfriended", "walks", "walk", "cat"], endings=["ed", "ing", "s"])
    strings = ["unfriending", "unfriends", "unfriend", "unfriended", "walking", "cats", "cating", "unfriende", "", "a"]
    assert lexicon.siblings(to_codes(strings)).tolist() == [8, 8, 8, 0, 4, 0, 0, 0, 0, 0]
    assert lexicon.begins_and_ends(to_codes(["walkscat", "catwalk", "cat", "xcat"]))[0].tolist() == [5, 3, 0, 0]
    assert lexicon.begins_and_ends(to_codes(["walkscat", "catwalk", "cat", "xcat"]))[1].tolist() == [3, 4, 0, 3]


@given(st.lists(st.text("abst", min_size=1, max_size=8), max_size=30))
def test_the_usual_endings_are_those_that_most_often_make_a_word_of_a_word(words):
    there, counts = set(words), Counter[str]()
    for word in there:
        counts.update(
            word[len(stem) :] for stem in there if word.startswith(stem) and 0 < len(word) - len(stem) <= 4 <= len(stem)
        )
    assert usual_endings(words) == sorted(counts, key=lambda ending: (-counts[ending], ending))[:12]


def test_endings_are_short_in_the_form_in_which_they_are_compared():
    """One character of Devanagari is two in composed form: four of them would be eight letters."""
    stems = ["कमलज" + letter for letter in "अआइ"]
    words = [*stems, *(stem + "\u0958" * count for stem in stems for count in (1, 2, 3, 4))]
    assert all(map(str.isalpha, words))
    lexicon = Lexicon.of(words)
    assert to_codes(lexicon.endings, lowercase=False).lengths.max(initial=0) <= 4
    strings = to_codes([*words, *stems])
    assert lexicon.siblings(strings).tolist() == [sibling(normalise(word), lexicon) for word in [*words, *stems]]


# --- its file ---


def made() -> Lexicon:
    return Lexicon.of([*WORDS, "walks", "walked"], grams=SIGNED, scale=0.015625, endings=["s", "ed", "é"])


def same(one: Lexicon, other: Lexicon) -> bool:
    alike = np.array_equal(one.filter, other.filter) and np.array_equal(one.grams, other.grams)
    return alike and (one.scale, tuple(one.endings)) == (other.scale, tuple(other.endings))


@pytest.mark.parametrize("lexicon", [made(), Lexicon.empty(), Lexicon.of(["a"])])
def test_what_is_written_is_read(lexicon):
    assert same(Lexicon.from_tensors(lexicon.tensors()), lexicon)


@given(st.lists(st.text("abcé🙂\u0301", min_size=1, max_size=4), max_size=16, unique=True), st.floats(0, 1, width=32))
@settings(max_examples=30)
def test_any_endings_and_scale_are_read_back_or_refused(endings, scale):
    assume(all(ending.split() == [ending] for ending in endings))
    lexicon = Lexicon(np.zeros(8, np.uint8), SIGNED, scale, tuple(endings))
    assert same(Lexicon.from_tensors(lexicon.tensors()), lexicon)


def test_a_model_folder_keeps_it_and_an_empty_one_has_no_file(tmp_path):
    parts = replace(random_parts(), orthography=Orthography(lexicon=made()))
    write_model(tmp_path, parts, "card")
    assert same(read_model(tmp_path).orthography.lexicon, made())
    write_model(tmp_path, random_parts(), "card")
    assert not (tmp_path / LEXICON).exists()
    assert read_model(tmp_path).orthography.lexicon.is_empty


def changed(**change: Any) -> dict[str, Any]:
    tensors = {**made().tensors(), **change}
    return {name: tensor for name, tensor in tensors.items() if tensor is not None}


def text(endings: str) -> np.ndarray:
    return np.frombuffer(endings.encode("utf-8", "surrogatepass"), np.uint8)


GRAMS = np.zeros(1 << GRAM_BITS, np.int8)
WRONG = [
    ({"filter": None}, "tensors are not"),
    ({"grams": None}, "tensors are not"),
    ({"scale": None}, "tensors are not"),
    ({"endings": None}, "tensors are not"),
    ({"more": GRAMS}, "tensors are not"),
    *(({"filter": np.zeros(size, np.uint8)}, "power of two") for size in (0, 1, 4, 9, 24, 1000)),
    ({"filter": np.zeros(16, np.int8)}, "power of two"),
    ({"filter": np.zeros((4, 4), np.uint8)}, "power of two"),
    ({"grams": GRAMS[:-1]}, "grams of the shape"),
    ({"grams": GRAMS.view(np.uint8)}, "grams of the shape"),
    ({"grams": GRAMS.reshape(2, -1)}, "grams of the shape"),
    ({"scale": np.ones(2, np.float32)}, "grams of the shape"),
    ({"scale": np.ones(1, np.float64)}, "grams of the shape"),
    ({"scale": np.float32(1).reshape(())}, "grams of the shape"),
    *(({"scale": np.array([bad], np.float32)}, "from 0 to 1") for bad in (np.nan, np.inf, -1, 1.5, -np.inf)),
    ({"endings": text("s").view(np.int8)}, "no text"),
    ({"endings": text("sed").reshape(3, 1)}, "no text"),
    ({"endings": text("\ud800")}, "utf-8"),
    ({"endings": np.array([255], np.uint8)}, "utf-8"),
    ({"endings": text(" ".join(map(chr, range(97, 97 + 17))))}, "more than 16 endings"),
    ({"endings": text("tions")}, "more than 4 letters"),
    ({"endings": text("\u0958" * 4)}, "more than 4 letters"),
]


@pytest.mark.parametrize(("change", "says"), WRONG, ids=lambda part: str(part)[:40])
def test_other_tensors_are_refused(change, says):
    with pytest.raises(ValueError, match=says):
        Lexicon.from_tensors(changed(**change))


@pytest.mark.parametrize("name", ["filter", "grams"])
def test_nobody_can_change_it(name):
    lexicon = made()
    with pytest.raises(ValueError, match="read-only"):
        getattr(lexicon, name)[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        getattr(lexicon.with_words(["more"]), name)[0] = 1
