"""Every signal against a plain version of it in float64, word after word."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import log, log1p, sqrt

import numpy as np
import pytest

from lovevec import LOVE
from lovevec.search.meaning import Meaning, coded_query
from lovevec.search.signals import DEPTH, FEATURES, K1, B, Query, highest
from lovevec.search.stems import stem
from lovevec.units.ragged import Ragged
from tests.factories import toy_vectors

TEXTS = [
    "the red lamp and the red chair",
    "a lamp of glass",
    "chairs, tables and lamps",
    "XJ-900 drill, 18 v",
    "drills and saws",
    "green tea",
    "tea for two and two for tea",
]


@pytest.fixture(scope="module")
def state():
    return LOVE.load().index(TEXTS)._built


def bags(state) -> list[Counter]:
    return [Counter(terms) for terms in state.cutter(TEXTS)]


def judged(state, query: str) -> dict[int, dict[str, float]]:
    rows, features = state.signals.candidates(state.queries([query])[0])
    return {
        row: dict(zip(FEATURES, own, strict=True)) for row, own in zip(rows.tolist(), features.tolist(), strict=True)
    }


QUERIES = ["red lamps", "two teas", "lamp lamp glass", "xj 900 drilling", "tee for tow", "lmap zzz"]


@pytest.mark.parametrize("query", QUERIES)
def test_words_are_bm25_over_stems_by_shares(state, query):
    own, (read,) = bags(state), state.queries([query])
    stemmed = [Counter() for _ in own]
    for bag, counted in zip(own, stemmed, strict=True):
        for term, count in bag.items():
            counted[stem(term)] += count
    sizes = [sum(bag.values()) for bag in own]
    mean = sum(sizes) / len(sizes)

    def rarity(one: str | None) -> float:
        within = sum(one in counted for counted in stemmed)
        return log(1 + (len(own) - within + 0.5) / (within + 0.5))

    strings = state.vocabulary.strings
    for row, features in judged(state, query).items():
        counted, damping = stemmed[row], K1 * (1 - B + B * sizes[row] / mean)
        words = covered = exact = total = 0.0
        met_stems: dict[str, float] = {}
        for reading, times in zip(read.readings, read.counts, strict=True):
            shares: Counter = Counter()
            for term, share in zip(reading.terms, reading.shares, strict=True):
                shares[stem(strings[term])] += share
            mass = sum(s * rarity(stem(strings[t])) for t, s in zip(reading.terms, reading.shares, strict=True))
            mass = (mass + max(1 - sum(reading.shares), 0) * rarity(None)) * times
            total += mass
            for one, share in shares.items():
                many = counted[one]
                words += min(share, 1) * times * rarity(one) * many * (K1 + 1) / (many + damping)
                if many:
                    met_stems[one] = max(met_stems.get(one, 0), min(share, 1))
            covered += mass * max((min(share, 1) for one, share in shares.items() if counted[one]), default=0)
            near = zip(reading.terms, reading.shares, strict=True)
            exact += mass * max((share for term, share in near if own[row][strings[term]]), default=0)
        backward = sum(share * rarity(one) for one, share in met_stems.items()) / sum(map(rarity, counted))
        assert features["words"] == pytest.approx(words / total, rel=1e-4, abs=1e-6)
        assert features["coverage"] == pytest.approx(covered / total, rel=1e-4, abs=1e-6)
        assert features["exact"] == pytest.approx(exact / total, rel=1e-4, abs=1e-6)
        assert features["backward"] == pytest.approx(backward, rel=1e-4, abs=1e-6)


def test_words_without_damage_are_scored_as_bm25s_scores_them(state):
    bm25s = pytest.importorskip("bm25s")
    rival = bm25s.BM25(k1=K1, b=B, method="lucene", backend="numpy")
    cut = [[stem(term) for term in terms] for terms in state.cutter(TEXTS)]
    rival.index(cut, show_progress=False)
    query = ["red", "lamp", "tea"]
    scores = rival.get_scores([stem(word) for word in query])
    (read,) = state.queries([" ".join(query)])
    asked = state.signals.asked(read)
    for row, features in judged(state, " ".join(query)).items():
        assert features["words"] * asked.total / (K1 + 1) == pytest.approx(scores[row], rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("query", QUERIES)
def test_letters_are_the_cosine_of_trigrams(state, query):
    def grams(terms) -> Counter:
        return Counter(f" {term} "[at : at + 3] for term in terms for at in range(len(term)))

    strings = state.vocabulary.strings
    having = Counter(gram for term in strings for gram in set(grams([term])))
    rare = log1p(len(having))

    def weighted(counts: Counter) -> dict[str, float]:
        return {g: n * (log1p(len(strings) / having[g]) if g in having else rare) for g, n in counts.items()}

    (read,) = state.queries([query])
    asked = weighted(grams(word for word, count in zip(read.words, read.counts, strict=True) for _ in range(count)))
    for row, features in judged(state, query).items():
        own = weighted(grams(bags(state)[row].elements()))
        product = sum(asked[gram] * own.get(gram, 0) for gram in asked)
        lengths = [sqrt(sum(number**2 for number in one.values())) for one in (asked, own)]
        assert features["letters"] == pytest.approx(product / (lengths[0] * lengths[1]), rel=1e-4, abs=1e-6)


def test_meaning_is_the_cosine_of_the_models_own_vectors_of_texts(state):
    vectors = state.model.encode(TEXTS)
    for query in ("red lamp", "tea for two", "drills"):
        cosines = vectors @ state.model.encode(query)
        for row, features in judged(state, query).items():
            assert features["meaning"] == pytest.approx(float(cosines[row]), abs=0.01)


def test_numbers_are_those_in_common(state):
    found = judged(state, "drill 900 18 7")
    assert found[3]["numbers"] == pytest.approx(2 / 3)
    assert found[3]["numbers_backward"] == 1
    assert found[4]["numbers_backward"] == 1
    assert found[4]["numbers"] == 0


def test_codes_keep_cosines():
    vectors = toy_vectors([f"w{number}" for number in range(200)], 40)
    meaning, (query, scale) = Meaning.of(vectors), coded_query(vectors[7])
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(meaning.cosines(query, scale), unit @ unit[7], atol=0.01)


@pytest.mark.parametrize("shift", [0.0, 1.0, 3.0])
def test_signs_find_the_nearest(shift):
    """Also where all vectors point the same way more or less, as those of some encoders do."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(20_000, 100)).astype(np.float32) @ rng.normal(size=(100, 100)).astype(np.float32) / 10
    vectors += shift
    state = LOVE.load().index(TEXTS)._built
    signals = replace(state.signals, bags=Ragged.from_lengths(np.zeros(0, np.int32), np.zeros(20_000, np.int64)))
    signals = replace(signals, meaning=Meaning.of(vectors), compiled=False)
    found = []
    for row in range(20):
        codes, scale = coded_query(vectors[row] + rng.normal(size=100).astype(np.float32))
        nearest = highest(signals.meaning.cosines(codes, scale), DEPTH)
        found.append(np.isin(nearest, signals.best_by_meaning(Query([], [], [], codes, scale), None)).mean())
    assert np.mean(found) > 0.9


def test_the_highest_come_in_order_and_of_equal_ones_the_first():
    scores = np.random.default_rng(0).integers(0, 9, 500).astype(float)
    for count in (1, 7, 100, 500, 600):
        np.testing.assert_array_equal(highest(scores, count), np.argsort(-scores, kind="stable")[:count])
