from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lovevec.units.characters import to_codes
from lovevec.units.mixed_input import Units
from lovevec.units.ngrams import ngram_buckets, ngram_names
from lovevec.units.vocabulary import SPECIAL, UnitVocabulary


def plainly(word: str, buckets: int) -> list[int]:
    """The same hash in plain Python integers, run by run."""
    framed = [2, *map(ord, word), 3]
    found = []
    for length in (3, 4):
        for low in range(len(framed) - length + 1):
            state = length
            for character in framed[low : low + length]:
                state = (state * 1099511628211 & (2**64 - 1)) ^ character
            found.append(((state * 0x9E3779B97F4A7C15 & (2**64 - 1)) >> 33) % buckets)
    return found


@given(st.lists(st.text(max_size=12), max_size=20), st.integers(1, 50_000))
def test_buckets_are_those_of_the_definition(words, buckets):
    made = ngram_buckets(to_codes(words, lowercase=False), buckets)
    codes = to_codes(words, lowercase=False)
    spelled = ["".join(map(chr, codes.row(i).tolist())) for i in range(len(words))]
    assert [made.row(i).tolist() for i in range(len(words))] == [plainly(word, buckets) for word in spelled]


def test_names_stand_in_the_order_of_the_buckets():
    assert ngram_names("knife") == ["<kn", "kni", "nif", "ife", "fe>", "<kni", "knif", "nife", "ife>"]
    assert ngram_names("a") == ["<a>"]
    assert ngram_names("") == []
    assert len(ngram_names("knife")) == len(plainly("knife", 9))


def test_equal_runs_share_a_row_and_typos_keep_most_of_them():
    rows = [set(plainly(word, 10**9)) for word in ("misspelling", "mispelling", "elephants")]
    assert len(rows[0] & rows[1]) > len(rows[0]) / 2
    assert not rows[0] & rows[2]


def test_they_follow_the_other_units_in_rows_of_their_own():
    vocabulary = UnitVocabulary((*SPECIAL, *"abc", "ab", "##c"), ngrams=7)
    plain = Units(UnitVocabulary(vocabulary.units)).encode(["abc", "", "b"])
    both = Units(vocabulary).encode(["abc", "", "b"])
    units, bag = both.split(vocabulary.unit_rows)
    assert vocabulary.table_rows == vocabulary.unit_rows + 7
    assert units.values.tolist() == plain.values.tolist()
    assert [(bag.row(i) - vocabulary.unit_rows).tolist() for i in range(3)] == [plainly(w, 7) for w in ("abc", "", "b")]
    assert Units(vocabulary).names("Abc")[-3:] == ["bc>", "<abc", "abc>"]
