"""What speaks for a word of its own: each feature against its description, by sets and loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.factories import KNOWN_WORDS, toy_words
from tests.near.strings import ORTHOGRAPHY, OTHER_WORDS, STRINGS, lexicons

from lovevec.damage.misspell import misspell
from lovevec.near.lexicon import Lexicon
from lovevec.near.novelty import CHOSEN, FEATURES, MAX_LIKENESS, MIN_LIKENESS, features, likeness, score
from lovevec.near.reader import Reader
from lovevec.units.characters import to_codes

READER = Reader(KNOWN_WORDS, ORTHOGRAPHY)
LEXICON = ORTHOGRAPHY.lexicon
FLAGS = st.tuples(*[st.booleans()] * 4)


def by_name(string: str, lexicon: Lexicon, flags: tuple[bool, ...]) -> dict[str, float]:
    """As the file's first lines have them, for a string in the form in which it is compared."""
    codes, size = to_codes([string]), max(len(string), 1)
    begin = max((cut for cut in range(2, len(string)) if string[:cut] in lexicon), default=0)
    end = max((cut for cut in range(2, len(string)) if string[-cut:] in lexicon), default=0)
    return {
        "constant": 1.0,
        "likeness": min(max(int(lexicon.likeness(codes)[0]) * lexicon.scale, -6.0), 4.0),
        "letters": math.log(size),
        "short": max(4 - size, 0),
        "begin": begin / size,
        "end": end / size,
        "sibling": int(lexicon.siblings(codes)[0]) / size,
        "listed": string in lexicon and not flags[0],
        **dict(zip(("digits", "name", "capitals"), map(float, flags[1:]), strict=True)),
    }


@given(st.lists(st.tuples(st.text("abdeghinorstu", max_size=12), FLAGS), min_size=1, max_size=6), lexicons())
@settings(max_examples=60)
def test_features_are_what_their_names_say(strings, lexicon):
    flags = np.array([flags for _, flags in strings])
    found = features(lexicon, to_codes([string for string, _ in strings]), *flags.T)
    for (string, own), row in zip(strings, found.tolist(), strict=True):
        expected = by_name(string, lexicon, own)
        assert row == pytest.approx([float(expected[name]) for name in FEATURES], abs=1e-12), string


@given(st.lists(STRINGS, min_size=1, max_size=8), st.lists(st.floats(-64, 64), min_size=11, max_size=11))
def test_the_score_is_the_weighted_sum_added_from_the_first(strings, weights):
    found = READER.features(READER.strings(strings))
    assert found.shape == (len(strings), len(FEATURES))
    assert np.isfinite(found).all()
    for row, total in zip(found.tolist(), score(found, np.array(weights)).tolist(), strict=True):
        expected = row[0] * weights[0]
        for value, weight in zip(row[1:], weights[1:], strict=True):
            expected += value * weight
        assert total == expected


def test_what_a_string_is_like_is_told_by_name():
    strings = ["housing", "mp9x", "Berlinn", "NATO", "TOOLONG", "iPhone", "ab", "the", "É", "Xy", "house"]
    found = dict(zip(strings, READER.features(READER.strings(strings)), strict=True))
    column = {name: {string: row[place] for string, row in found.items()} for place, name in enumerate(FEATURES)}
    assert [string for string, one in column["digits"].items() if one] == ["mp9x"]
    assert [string for string, one in column["name"].items() if one] == ["Berlinn", "É", "Xy"]
    assert [string for string, one in column["capitals"].items() if one] == ["NATO", "É"]
    assert [string for string, one in column["listed"].items() if one] == ["the", "house"]
    assert column["short"] == {**dict.fromkeys(strings, 0), "ab": 2, "Xy": 2, "the": 1, "É": 3}
    assert CHOSEN == ("name", "capitals")


@given(st.lists(STRINGS, max_size=6), lexicons())
@settings(max_examples=40)
def test_likeness_has_its_bounds(strings, lexicon):
    found = likeness(lexicon, to_codes(strings))
    assert ((found >= MIN_LIKENESS) & (found <= MAX_LIKENESS)).all()
    raw = lexicon.likeness(to_codes(strings)) * lexicon.scale
    inside = (raw >= MIN_LIKENESS) & (raw <= MAX_LIKENESS)
    assert np.array_equal(found[inside], raw[inside])
    assert (found[raw < MIN_LIKENESS] == MIN_LIKENESS).all()
    assert (found[raw > MAX_LIKENESS] == MAX_LIKENESS).all()


def test_words_are_likelier_words_than_misspellings_and_letters_by_chance():
    """By a lexicon that has met neither."""
    unseen = [word for word in toy_words(1200, seed=21) if len(word) > 4 and word not in {*KNOWN_WORDS, *OTHER_WORDS}]
    rng = np.random.default_rng(5)
    noise = ["".join(rng.permutation(list(word))) for word in unseen]
    of_words, of_typos, of_noise = (READER.likeness(strings) for strings in (unseen, misspell(unseen, rng), noise))
    assert (of_words > of_noise).mean() > 0.8
    assert of_words.mean() > of_typos.mean() + 0.4


def test_a_string_that_cannot_be_read_has_features_too():
    nothing = to_codes(["", "a"])
    none = np.zeros(2, dtype=bool)
    found = features(LEXICON, nothing, none, none, none, none)
    assert np.isfinite(found).all()
    assert found[0, 0] == 1
    assert features(LEXICON, to_codes([]), *[none[:0]] * 4).shape == (0, len(FEATURES))
