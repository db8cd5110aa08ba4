from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lovevec.errors import LovevecError
from lovevec_lab.evaluate.entities import EntityCounts, count_entities, entities, overall

# What conlleval makes of a sequence; (type, first, last).
CASES = {
    "IOB2": ("B-PER I-PER O B-LOC", [("PER", 0, 1), ("LOC", 3, 3)]),
    "IOB1: I begins, B parts neighbors": ("I-PER I-PER B-PER O I-LOC", [("PER", 0, 1), ("PER", 2, 2), ("LOC", 4, 4)]),
    "IOBES": ("B-PER I-PER E-PER S-LOC O", [("PER", 0, 2), ("LOC", 3, 3)]),
    "IOE: E closes": ("I-PER E-PER I-PER I-PER", [("PER", 0, 1), ("PER", 2, 3)]),
    "I after O": ("O I-ORG I-ORG O", [("ORG", 1, 2)]),
    "type changes inside": ("B-PER I-LOC I-LOC I-PER", [("PER", 0, 0), ("LOC", 1, 2), ("PER", 3, 3)]),
    "B after I of its type": ("B-PER I-PER B-PER I-PER", [("PER", 0, 1), ("PER", 2, 3)]),
    "B after B": ("B-PER B-PER", [("PER", 0, 0), ("PER", 1, 1)]),
    "stray E": ("O E-PER E-PER", [("PER", 1, 1), ("PER", 2, 2)]),
    "I after S": ("S-PER I-PER", [("PER", 0, 0), ("PER", 1, 1)]),
    "S inside": ("B-PER S-PER I-PER", [("PER", 0, 0), ("PER", 1, 1), ("PER", 2, 2)]),
    "E of another type": ("B-PER E-LOC", [("PER", 0, 0), ("LOC", 1, 1)]),
    "no types": ("B I O I", [("", 0, 1), ("", 3, 3)]),
    "a type with a hyphen": ("B-GPE-city I-GPE-city", [("GPE-city", 0, 1)]),
    "nothing": ("O O", []),
    "empty": ("", []),
}


@pytest.mark.parametrize(("tags", "found"), CASES.values(), ids=CASES)
def test_entities_of_regular_and_odd_sequences(tags, found):
    assert entities(tags.split()) == found


def test_a_worked_example():
    gold = [["B-PER", "I-PER", "O", "B-LOC", "O"], ["B-ORG", "O", "B-LOC"], ["O"]]
    guess = [["B-PER", "I-PER", "O", "B-ORG", "O"], ["B-ORG", "I-ORG", "B-LOC"], ["I-PER"]]
    counts = count_entities(gold, guess)
    assert counts == {"LOC": EntityCounts(1, 1, 2), "ORG": EntityCounts(0, 2, 1), "PER": EntityCounts(1, 2, 1)}
    total = overall(counts)
    assert total == EntityCounts(2, 5, 4)
    assert (total.precision, total.recall) == (40, 50)
    assert total.f1 == pytest.approx(2 * 40 * 50 / 90)
    assert (counts["LOC"].precision, counts["LOC"].recall) == (100, 50)


def test_where_nothing_is_there_or_found_all_figures_are_zero():
    nothing = overall(count_entities([["O"]], [["O"]]))
    assert (nothing.precision, nothing.recall, nothing.f1) == (0, 0, 0)
    assert overall(count_entities([["B-PER"]], [["O"]])) == (0, 0, 1)
    assert overall(count_entities([["O"]], [["B-PER"]])) == (0, 1, 0)


def test_what_is_no_tag_is_named():
    with pytest.raises(LovevecError, match="'PER': expected O, or B-"):
        entities(["O", "PER"])


def test_sentences_of_different_length_are_refused():
    with pytest.raises(LovevecError, match="2 tags cannot be compared with one of 1"):
        count_entities([["O", "O"]], [["O"]])


TAGS = st.sampled_from(["O", *(f"{position}-{type}" for position in "BIES" for type in ("PER", "LOC"))])
PAIRS = st.lists(st.lists(st.tuples(TAGS, TAGS), min_size=1, max_size=8), min_size=1, max_size=6)


def columns(pairs):
    return [[gold for gold, _ in pair] for pair in pairs], [[guess for _, guess in pair] for pair in pairs]


@given(PAIRS)
def test_the_right_tags_score_100(pairs):
    gold, _ = columns(pairs)
    total = overall(count_entities(gold, gold))
    there = any(tag != "O" for tags in gold for tag in tags)
    assert (total.precision, total.recall, total.f1) == ((100, 100, 100) if there else (0, 0, 0))


@given(PAIRS, st.randoms(use_true_random=False))
def test_the_order_of_sentences_does_not_count(pairs, random):
    before = count_entities(*columns(pairs))
    random.shuffle(pairs)
    assert count_entities(*columns(pairs)) == before


@given(PAIRS)
def test_gold_and_guess_change_places_with_precision_and_recall(pairs):
    gold, guess = columns(pairs)
    there, back = overall(count_entities(gold, guess)), overall(count_entities(guess, gold))
    assert (there.precision, there.recall, there.f1) == (back.recall, back.precision, back.f1)
    assert 0 <= there.f1 <= 100


@settings(deadline=None)  # seqeval imports for seconds
@given(PAIRS)
def test_figures_are_those_of_seqeval(pairs):
    metrics = pytest.importorskip("seqeval.metrics")
    labeling = pytest.importorskip("seqeval.metrics.sequence_labeling")
    gold, guess = columns(pairs)
    for tags in gold:
        assert [tuple(entity) for entity in entities(tags)] == labeling.get_entities(tags)
    total = overall(count_entities(gold, guess))
    for figure, name in ((total.precision, "precision"), (total.recall, "recall"), (total.f1, "f1")):
        assert figure == pytest.approx(100 * getattr(metrics, f"{name}_score")(gold, guess, zero_division=0))
