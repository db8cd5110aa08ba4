"""`love.match`: which records of two tables are the same thing."""

from __future__ import annotations

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA, LCSseq
from scipy.optimize import linear_sum_assignment

from lovevec import LovevecError
from lovevec.damage.misspell import misspell
from lovevec.progress import Progress
from lovevec.search import Match
from lovevec.search.alignment import common_letters, edits
from lovevec.search.assignment import assign
from lovevec.search.blocking import Blocks, Candidates, keys_of
from lovevec.search.comparison import compare
from lovevec.search.judge import Judge, of_one, surest
from lovevec.search.pairs import FEATURES
from lovevec.search.records import Vocabulary, letters_of, plain, table_of
from tests.nasty import NASTY

LEFT = [
    "Vestergaard Foods Ltd",
    "Vestergaard Textiles",
    "Kowalski Systems Inc",
    "Okonkwo & Daughters Shipping",
    "Zentora Robotics GmbH",
    "Lindqvist Marine",
    "Statue of Margaret Thatcher, Palace of Westminster",
    "1962 World Chess Final",
    "1963 World Chess Final",
    "Étoile du Nord (magazine)",
]
RIGHT = ["Vestergard Food Limited", "kowalsky systems", "World Chess Final 1963", "etoile du nord", "Zentora Robotic"]
TRUTH = [0, 2, 8, 9, 4]
FIRSTS = "Alder Birch Cedar Dogwood Elder Fir Gorse Hazel Ivy Juniper Kapok Larch Maple Nutmeg Oak Pine"
LASTS = "Bakery Capital Dairies Energy Foundry Gardens Hotels Insurance Joinery Kitchens Logistics Motors"
STRINGS = st.lists(st.text("abcdé 1", max_size=70), min_size=1, max_size=30)


@pytest.fixture(scope="module")
def names() -> tuple[list[str], list[str]]:
    """Names of three words, and eighty of them mistyped."""
    rng = np.random.default_rng(5)
    firsts, lasts = FIRSTS.split(), LASTS.split()
    listed = sorted({f"{first} {rng.choice(firsts)} {last}" for first in firsts for last in lasts})
    listed = [listed[row] for row in rng.permutation(len(listed))]
    asked = [" ".join([misspell([words[0]], rng)[0], *words[1:]]) for words in map(str.split, listed[:80])]
    return listed, asked


def test_each_right_record_finds_its_own(shipped_love):
    matches = shipped_love.match(LEFT, RIGHT)
    assert [(match.left, match.right) for match in matches] == list(zip(TRUTH, range(5), strict=True))
    assert all(match.left_text == LEFT[match.left] and match.right_text == RIGHT[match.right] for match in matches)
    assert all(0.5 < match.probability <= 1 for match in matches)
    assert matches.unmatched == []


def test_a_table_finds_itself(shipped_love, names):
    matches = shipped_love.match(names[0], names[0])
    assert [match.left for match in matches] == [match.right for match in matches] == list(range(len(names[0])))
    assert min(match.probability for match in matches) > 0.9


def test_mistyped_names_find_their_own(shipped_love, names):
    matches = shipped_love.match(*names)
    assert np.mean([match.left == match.right for match in matches]) > 0.95


def test_what_is_not_there_is_improbable(shipped_love, names):
    matches = shipped_love.match(names[0], ["Xylophone Zebra Quarry", "quite something else", "ZZZ"])
    assert all(match.probability < 0.2 for match in matches)


def test_precision_keeps_the_surest(shipped_love, names):
    asked = [*names[1], "Alder Oak Mining", "Quince Pine Motors", "Nutmeg"]
    every = shipped_love.match(names[0], asked)
    sure = shipped_love.match(names[0], asked, precision=0.97)
    assert set(sure) <= set(every)
    assert sure.expected_precision >= 0.97
    left_out = [match.probability for match in every if match not in set(sure)]
    assert max(left_out, default=0) <= min(match.probability for match in sure)
    assert sorted([*sure.unmatched, *(match.right for match in sure)]) == list(range(len(asked)))


@given(st.lists(st.floats(0, 1), max_size=30), st.floats(0.01, 1))
@settings(deadline=None)
def test_the_surest_are_as_many_as_can_be(chances, precision):
    probabilities = np.array(chances)
    kept = probabilities[surest(probabilities, precision)]
    assert not len(kept) or kept.mean() >= precision - 1e-9
    more = np.sort(probabilities)[::-1]
    more = more[more >= more[len(kept)]] if len(kept) < len(more) else more[:0]
    assert not len(more) or more.mean() < precision + 1e-9


def test_the_order_of_records_does_not_matter(shipped_love, names):
    left, right = names
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(len(left)), rng.permutation(len(right))
    plain_ = {(match.left, match.right): match.probability for match in shipped_love.match(left, right)}
    mixed = shipped_love.match([left[row] for row in rows], [right[row] for row in columns])
    turned = {(int(rows[match.left]), int(columns[match.right])): match.probability for match in mixed}
    assert turned.keys() == plain_.keys()
    assert all(abs(turned[pair] - chance) < 1e-6 for pair, chance in plain_.items())


def test_a_record_is_judged_alike_in_any_company(shipped_love):
    together = {match.right: match for match in shipped_love.match(LEFT, RIGHT)}
    for row, text in enumerate(RIGHT):
        (alone,) = shipped_love.match(LEFT, [text])
        assert alone.left == together[row].left
        assert abs(alone.probability - together[row].probability) < 0.05  # known words of the right are the same


def test_one_to_one(shipped_love):
    left, right = (
        ["Lindqvist Marine", "Lindqvist Marine Supply"],
        ["Lindqvist Marine", "Lindquist Marine", "Lindqvist Marin"],
    )
    matches = shipped_love.match(left, right, one_to_one=True)
    assert len({match.left for match in matches}) == len(matches) <= 2
    assert Match(0, 0, left[0], right[0], matches[0].probability) == matches[0]


@given(st.integers(0, 10_000))
@settings(deadline=None, max_examples=150)
def test_an_assignment_is_the_best_there_is(seed):
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 20, 2)
    gains = rng.random(size) if seed % 2 else rng.integers(1, 4, size) / 4
    gains = np.where(rng.random(size) < rng.random(), gains, 0)
    queries, records = np.nonzero(gains)
    chosen = assign(Candidates(queries, records, gains[queries, records]), gains[queries, records])
    best = linear_sum_assignment(-gains)
    assert gains[queries, records][chosen].sum() == pytest.approx(gains[best].sum())
    assert len(set(queries[chosen])) == len(set(records[chosen])) == chosen.sum()


@given(STRINGS, STRINGS)
@settings(deadline=None, max_examples=60)
def test_alignments_are_those_of_rapidfuzz(left, right):
    pairs = [(one[:64], other[:64]) for one in left for other in [*right, one[1:], one[1::-1] + one[2:]]]
    arrays = (*letters_of([one for one, _ in pairs]), *letters_of([other for _, other in pairs]))
    assert common_letters(*arrays).tolist() == [LCSseq.similarity(*pair) for pair in pairs]
    assert edits(*arrays).tolist() == [OSA.distance(*pair) for pair in pairs]


@given(STRINGS, STRINGS, st.integers(1, 8))
@settings(deadline=None, max_examples=60)
def test_the_core_joins_as_numpy_does_and_as_all_pairs_say(left, right, most):
    pytest.importorskip("lovevec._core")
    vocabulary = Vocabulary()
    words = vocabulary.words_of(table_of(left, None, "left")), vocabulary.words_of(table_of(right, None, "right"))
    keys = [keys_of(one, vocabulary.strings) for one in words]
    found = [Blocks(keys[0], compiled).candidates(keys[1], most) for compiled in (False, True)]
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
    blocks = Blocks(keys[0])
    weight = dict(zip(blocks.keys.tolist(), blocks.weights.tolist(), strict=True))
    for query in range(len(right)):
        sums = {
            record: sum(weight[key] for key in set(keys[0].row(record).tolist()) & set(keys[1].row(query).tolist()))
            for record in range(len(left))
        }
        shares = {record: total * float(blocks.scales[record]) for record, total in sums.items() if total}
        best = sorted(shares, key=lambda record: (-shares[record], record))[:most]
        assert found[0].records[found[0].queries == query].tolist() == best


def test_probabilities_are_those_of_the_formula(shipped_love):
    pairs = compare(shipped_love, table_of(LEFT, None, "left"), table_of(RIGHT, None, "right"), 5, Progress(quiet=True))
    judge = Judge.load("match")
    found = of_one(judge.utilities(pairs.features), pairs.candidates.queries)
    assert pairs.features.shape == (len(found), len(FEATURES))
    for query in range(len(RIGHT)):
        own = pairs.candidates.queries == query
        odds = np.exp(pairs.features[own].astype(np.float64) @ judge.weights + judge.bias)
        np.testing.assert_allclose(found[own], odds / (1 + odds.sum()), rtol=1e-9)


def test_columns_count_by_what_they_tell_apart(shipped_love):
    """Names that differ a little decide, a country that all have does not; and a column of another name is found."""
    left = pandas.DataFrame(
        {
            "name": ["Springfield Museum", "Springfield Museum", "Ogdenville Museum", "Shelbyville Museum"],
            "city": ["Springfield Illinois", "Springfield Oregon", "Ogdenville", None],
            "country": ["United States"] * 4,
            "visitors": [1, 2, 3, 4],
        },
        index=[7, 7, 1, 0],
    )
    right = left.iloc[[1, 0, 3]].reset_index(drop=True)
    right["name"] = ["Springfeild Museum", "Springfield Museum", "Shelbyvile Museum"]
    assert [match.left for match in shipped_love.match(left, right)] == [1, 0, 3]
    for frame in (polars.from_pandas(right), pyarrow.Table.from_pandas(right)):
        assert shipped_love.match(left, frame) == shipped_love.match(left, right)
    other = right.rename(columns={"name": "title"})
    pairs = [("name", "title"), "city"]
    assert [match.left for match in shipped_love.match(left, other, columns=pairs)] == [1, 0, 3]
    assert [match.left for match in shipped_love.match(left.to_dict("records"), right.to_dict("records"))] == [1, 0, 3]
    assert shipped_love.match(left["name"], right["name"], columns=None)[2].left == 3


def test_frames_of_matches(shipped_love):
    matches = shipped_love.match(LEFT, RIGHT)
    frame = matches.to_pandas()
    assert list(frame.columns) == list(Match._fields)
    assert frame["left"].tolist() == TRUTH
    assert matches.to_arrow().to_pandas().equals(frame)
    assert matches[0] is next(iter(matches))
    assert matches[1:3] == list(matches)[1:3]
    assert repr(matches) == "Matches(5 matches, 0 right records without one)"
    assert shipped_love.match([], []).to_arrow().num_rows == 0


@pytest.mark.parametrize(
    ("left", "right"), [([], ["a"]), (["a"], []), ([], []), ([""], ["", " ", "!"]), (["a"], ["", None])]
)
def test_what_is_empty_matches_nothing(shipped_love, left, right):
    matches = shipped_love.match(left, right)
    assert len(matches) == 0
    assert matches.unmatched == list(range(len(right)))


def test_missing_cells_are_empty(shipped_love):
    left = pandas.Series(["Lindqvist Marine", None, float("nan"), "Kowalski Systems"], index=[3, 3, 2, 1])
    matches = shipped_love.match(left, ["lindqvist marin", "kowalski system"])
    assert [(match.left, match.right) for match in matches] == [(0, 0), (3, 1)]


def test_one_record_and_its_twins(shipped_love):
    assert shipped_love.match(["Lindqvist Marine"], ["Lindqvist Marine"])[0].probability > 0.9
    twins = shipped_love.match(
        ["Lindqvist Marine", "lindqvist marine", "LINDQVIST MARINE!", *LEFT], ["Lindqvist Marine"]
    )
    assert twins[0].left == 0
    assert twins[0].probability > 0.9


def test_nasty_strings(shipped_love):
    matches = shipped_love.match(NASTY, NASTY)
    assert all(0 <= match.probability <= 1 and np.isfinite(match.probability) for match in matches)
    with_words = [row for row, text in enumerate(NASTY) if any(map(str.isalnum, plain(text)))]
    assert {match.right for match in matches} <= set(with_words)
    assert shipped_love.match(NASTY, NASTY) == matches


@pytest.mark.parametrize(
    ("left", "right", "options", "problem"),
    [
        ("one string", ["a"], {}, "left is one string"),
        (["a", 5], ["a"], {}, "left: record 1 is not a string but int"),
        (["a"], ["a"], {"precision": 95}, "precision is 95"),
        (["a"], ["a"], {"precision": True}, "precision is True"),
        (["a"], ["a"], {"columns": ["name"]}, None),
        ([{"a": "x"}], [{"b": "x"}], {"columns": ["a"]}, "right: there is no column 'a' but 'b'"),
        ([{"a": "x", "c": "y"}], [{"b": "x", "d": "y"}], {}, "no column of text is in both tables"),
        ([{"a": 5}], [{"a": "x"}], {}, "left: no column holds text"),
        ([{"a": "x"}, "y"], ["x"], {}, "record 1 is no mapping but str"),
        (pandas.DataFrame({"a": ["x"]}), ["x"], {"columns": []}, "columns is []"),
    ],
)
def test_bad_input_is_one_clear_error(shipped_love, left, right, options, problem):
    if problem is None:
        assert len(shipped_love.match(left, right, **options)) == 1
        return
    with pytest.raises(LovevecError, match=problem.replace("[", r"\[")):
        shipped_love.match(left, right, **options)
