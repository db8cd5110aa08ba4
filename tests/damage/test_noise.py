"""Damage is what it says: decided by the seed, nested, of its kind, and on no other words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA, Levenshtein
from tests.factories import toy_words

from lovevec.damage.confusions import table_of
from lovevec.damage.edits import WORD_KINDS
from lovevec.damage.noise import NOISE_KINDS, Noise, damaged, damaged_longer_words, damaged_texts, lowest, words_of
from lovevec.errors import LovevecError

WORDS = st.one_of(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=14), st.text(max_size=6))
TEXTS = st.lists(st.lists(WORDS, max_size=8), max_size=6)
FEW = settings(max_examples=50, deadline=None)
ENGLISH_KINDS = [kind for kind in NOISE_KINDS if kind not in WORD_KINDS]  # the others change no word of a to z
KIND, SEED, SHARE = st.sampled_from(NOISE_KINDS), st.integers(0, 9), st.floats(0, 1)


def text(sentences: int, words: int, seed: int = 0) -> list[list[str]]:
    """Sentences of words of many lengths."""
    known, rng = toy_words(400), np.random.default_rng(seed)
    return [[known[row] for row in rng.integers(0, len(known), words)] for _ in range(sentences)]


def changes(clean: list[list[str]], worse: list[list[str]]) -> list[tuple[str, str]]:
    return [(a, b) for left, right in zip(clean, worse, strict=True) for a, b in zip(left, right, strict=True)]


@given(TEXTS, KIND, SHARE, SEED)
@FEW
def test_the_same_seed_damages_in_the_same_way_and_keeps_the_number_of_words(clean, kind, share, seed):
    worse = damaged(clean, Noise(kind, share), seed)
    assert [len(sentence) for sentence in worse] == [len(sentence) for sentence in clean]
    assert worse == damaged(clean, Noise(kind, share), seed)


@given(TEXTS, KIND, SHARE, SHARE, SEED)
@FEW
def test_words_hit_at_a_low_share_are_hit_in_the_same_way_at_a_high_one(clean, kind, one, other, seed):
    few, many = (damaged(clean, Noise(kind, share), seed) for share in sorted((one, other)))
    for (word, low), (_, high) in zip(changes(clean, few), changes(clean, many), strict=True):
        assert low in (word, high)


@given(TEXTS, KIND, st.integers(0, 4), SEED)
@FEW
def test_words_hit_by_few_typos_a_sentence_are_hit_in_the_same_way_by_more(clean, kind, count, seed):
    few, many = (damaged(clean, Noise(kind, per_sentence=k), seed) for k in (count, count + 1))
    for (word, low), (_, high) in zip(changes(clean, few), changes(clean, many), strict=True):
        assert low in (word, high)


@given(TEXTS, TEXTS, st.sampled_from([kind for kind in NOISE_KINDS if kind not in ("sound", *WORD_KINDS)]), SEED)
@FEW
def test_a_sentence_is_damaged_by_its_number_whatever_else_is_in_the_text(clean, behind, kind, seed):
    noise = Noise(kind, 0.7)
    assert damaged(clean + behind, noise, seed)[: len(clean)] == damaged(clean, noise, seed)
    if clean:
        others = [[*sentence, "x"] for sentence in clean[:-1]]
        assert damaged([*others, clean[-1]], noise, seed)[-1] == damaged(clean, noise, seed)[-1]


@pytest.mark.parametrize("kind", ["ocr", "scan", "keyboard", "swap", "drop", "insert", "typo"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_so_many_words_are_hit(kind, share):
    clean = [["abcd"] * 20 for _ in range(200)]
    hit = sum(a != b for a, b in changes(clean, damaged(clean, Noise(kind, share), 3)))
    assert abs(hit - 4000 * share) < 5 * np.sqrt(4000 * share * (1 - share))


@pytest.mark.parametrize("count", [0, 1, 2, 3, 50])
def test_exactly_so_many_words_of_a_sentence_are_hit(count):
    clean = [["of", "a", ",", "movie", "42", "about", "the", "sea", "🙂🙂🙂🙂"] for _ in range(100)]
    worse = damaged(clean, Noise("typo", per_sentence=count), 0)
    for left, right in zip(clean, worse, strict=True):
        hit = [a for a, b in zip(left, right, strict=True) if a != b]
        assert len(hit) == min(count, 4)
        assert all(word in ("movie", "about", "the", "sea") for word in hit)
    if 0 < count < 4:
        assert len({tuple(map(str.__eq__, left, right)) for left, right in zip(clean, worse, strict=True)}) > 3


def test_every_edit_is_of_its_kind_and_makes_another_word():
    clean = text(100, 20)
    for kind, distance in {"swap": OSA.distance, "drop": Levenshtein.distance, "insert": Levenshtein.distance}.items():
        for old, new in changes(clean, damaged(clean, Noise(kind, 1.0), 1)):
            assert distance(old, new) == 1
            assert len(new) - len(old) == {"swap": 0, "drop": -1, "insert": 1}[kind]
            assert kind != "swap" or sorted(old) == sorted(new)
    for kind, name in {"ocr": "ocr", "scan": "scan", "keyboard": "keyboard"}.items():
        table = table_of(name)
        for old, new in changes(clean, damaged(clean, Noise(kind, 1.0), 1)):
            changed = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
            assert len(changed) == min(max(1, int(0.3 * len(old))), sum(a in table for a in old))
            assert all(b in table[a] for a, b in changed)
    lengths = [len(new) - len(old) for old, new in changes(clean, damaged(clean, Noise("typo", 1.0), 1))]
    np.testing.assert_allclose(np.bincount(np.add(lengths, 1)) / len(lengths), [0.25, 0.5, 0.25], atol=0.05)


def test_characters_are_at_most_ten_and_a_setting():
    long = [["o" * 60]]
    assert sum(map(str.__ne__, long[0][0], damaged(long, Noise("ocr", 1.0), 0)[0][0])) == 10
    assert sum(map(str.__ne__, long[0][0], damaged(long, Noise("ocr", 1.0, characters=0.1), 0)[0][0])) == 6
    assert sum(map(str.__ne__, long[0][0], damaged(long, Noise("ocr", 1.0, characters=0.0), 0)[0][0])) == 1


def test_swapped_letters_differ_wherever_that_can_be():
    clean = [["llama", "aab", "zzz", "ee"] for _ in range(50)]
    worse = damaged(clean, Noise("swap", 1.0), 0)
    assert all(right[1:] == ["aba", "zzz", "ee"] for right in worse)
    assert {right[0] for right in worse} == {"lalma", "llmaa", "llaam"}


def test_every_place_is_hit():
    clean = [["abcdef"]] * 600
    assert {b for _, b in changes(clean, damaged(clean, Noise("drop", 1.0), 0))} == {
        "bcdef", "acdef", "abdef", "abcef", "abcdf", "abcde",
    }  # fmt: skip
    inserted = [b for _, b in changes(clean, damaged(clean, Noise("insert", 1.0), 0))]
    assert {next(i for i in range(7) if b[:i] + b[i + 1 :] == "abcdef") for b in inserted} == set(range(7))


def test_what_holds_no_letter_stays():
    clean = [["", ",", "...", "''", "🙂", "\ud800", "--"]]
    for kind in ENGLISH_KINDS:
        assert damaged(clean, Noise(kind, 1.0), 0) == clean


def test_seeds_differ_and_the_global_generator_is_left_alone():
    clean, state = text(20, 10), np.random.get_state()[1].tolist()  # noqa: NPY002  the one we must not touch
    for kind in ENGLISH_KINDS:
        assert damaged(clean, Noise(kind, 0.5), 0) != damaged(clean, Noise(kind, 0.5), 1)
    assert np.random.get_state()[1].tolist() == state  # noqa: NPY002


@given(st.lists(st.lists(st.tuples(SHARE, st.booleans()), max_size=6), max_size=5), st.integers(0, 4))
@FEW
def test_lowest_chooses_as_a_sort_of_each_group_would(groups, most):
    rolls = np.array([roll for group in groups for roll, _ in group])
    able = np.array([fit for group in groups for _, fit in group], dtype=bool)
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    chosen = lowest(rolls, able, sizes, np.full(len(groups), most)).tolist()
    for group in groups:
        mine, chosen = chosen[: len(group)], chosen[len(group) :]
        assert sorted(roll for (roll, _), it in zip(group, mine, strict=True) if it) == sorted(
            roll for roll, fit in group if fit
        )[:most]  # fmt: skip


@pytest.mark.parametrize(
    ("noise", "label"),
    [
        (Noise(), "original"),
        (Noise("ocr", 0.3), "ocr 30 %"),
        (Noise("keyboard", 0.125), "keyboard 12.5 %"),
        (Noise("scan", 0.9, characters=0.05), "scan 90 %, 5 % each"),
        (Noise("typo", per_sentence=2), "2 typos"),
        (Noise("swap", per_sentence=0), "0 typos (swap)"),
    ],
)
def test_labels_say_what_happens(noise, label):
    assert noise.label == label


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Noise("fog", 0.1), "known kinds are ocr, scan, keyboard"),
        (lambda: Noise("ocr", 30), "between 0 and 1"),
        (lambda: Noise("ocr", -0.1), "between 0 and 1"),
        (lambda: Noise("ocr", 0.1, per_sentence=1), "not both"),
        (lambda: Noise("ocr", per_sentence=-1), "from 0 up"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(LovevecError, match=message):
        make()


def test_only_longer_words_are_mistyped():
    sentences = [words_of("Some rather longer words, and 1234567 more.")] * 300
    hit = changes(sentences, damaged_longer_words(sentences, Noise("typo", 0.3), seed=0))
    assert {old for old, new in hit if old != new} == {"rather", "longer", "words"}
    shares = [old != new for old, new in hit if old in ("rather", "longer", "words")]
    assert np.mean(shares) == pytest.approx(0.3, abs=0.05)


@given(st.lists(st.text(max_size=20), max_size=6), KIND, SHARE, SEED)
@FEW
def test_running_text_keeps_its_marks_and_blanks(texts, kind, share, seed):
    words = [words_of(text) for text in texts]
    expected = (damaged_longer_words if kind == "typo" else damaged)(words, Noise(kind, share), seed)
    worse = damaged_texts(texts, Noise(kind, share), seed)
    for text, before, after, new in zip(texts, words, expected, worse, strict=True):
        gaps, rest = [], text
        for word in before:
            gap, _, rest = rest.partition(word)
            gaps.append(gap)
        assert new == "".join(gap + word for gap, word in zip(gaps, after, strict=True)) + rest
    assert damaged_texts(texts, Noise(kind, 0.0), seed) == texts
