"""`love.index`: what is found, what it says of itself, and that an index is the same however it came to be."""

from __future__ import annotations

import pickle
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lovevec import LOVE, LovevecError
from lovevec.damage.misspell import misspell
from lovevec.progress import Progress
from lovevec.search import FEATURES, Index
from tests.factories import at_once, random_love
from tests.nasty import NASTY

TEXTS = [
    "stainless steel kettle 1.7 l",
    "cordless drill with two batteries",
    "wireless headphones, noise cancelling",
    "leather wallet with coin pocket",
    "Hemnes oak bookshelf",
    "running shoes for women",
    "Vestergaard Frandsen Group SA",
    "Sony WH-1000XM4 headphones",
    "steel kettles and a copper kettle",
    "",
]
QUERIES = ["cordles dril", "hedphones wirless", "Vestergard", "wh1000xm4", "kettle", "hemmnes", "", "qqqq", "two shoes"]
QUICK = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
texts_of = st.lists(st.text(alphabet="abcdeinrst 0129-.", max_size=30), max_size=8)


@pytest.fixture(scope="module")
def love() -> LOVE:
    return LOVE.load()


@pytest.fixture(scope="module")
def index(love) -> Index:
    return love.index(TEXTS)


def same(one: Index, other: Index, queries: list[str] = QUERIES) -> None:
    """Both give the same hits with the same features, to the bit."""
    assert one.ids == other.ids
    assert list(one.texts) == list(other.texts)
    if len(one):
        for mine, his in zip(one.candidates(queries, 5), other.candidates(queries, 5), strict=True):
            np.testing.assert_array_equal(mine, his)
    assert one.search(queries) == other.search(queries)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("cordles dril", 1),
        ("hedphones wirless", 2),
        ("shooes for joging", 5),
        ("Vestergard", 6),
        ("wh1000xm4", 7),
        ("hemmnes", 4),
        ("kettles", 8),
        ("wallets", 3),
    ],
)
def test_what_is_meant_comes_first(index, query, text):
    assert index.search(query, k=1)[0].text == TEXTS[text]


def test_scores_are_in_order_and_between_0_and_1(index):
    for hits in index.search(QUERIES):
        scores = [hit.score for hit in hits]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)


def test_a_better_answer_has_a_higher_score_in_another_query_too(index):
    assert index.search("hemnes oak bookshelf", 1)[0].score > index.search("table of glass", 1)[0].score


def test_why_names_the_words_that_met_and_adds_up(index):
    hit = index.search("hedphones wirless", 1)[0]
    assert {(met.query, met.word, met.reading) for met in hit.why.met} == {
        ("hedphones", "headphones", "near"),
        ("wirless", "wireless", "near"),
    }
    assert hit.why.words + hit.why.letters + hit.why.meaning == pytest.approx(hit.score)
    assert index.search("wallets", 1)[0].why.met[0][:3] == ("wallets", "wallet", "form")


def test_a_hit_can_be_sent_to_another_process(index):
    hit = index.search("kettle", 1)[0]
    other = pickle.loads(pickle.dumps(hit))
    assert other == hit
    assert other.why == hit.why


def test_a_query_has_the_same_hits_alone_and_in_a_list(index):
    together = index.search(QUERIES)
    assert [index.search(query) for query in QUERIES] == together
    rows, features = index.candidates(QUERIES, 4)
    for place, query in enumerate(QUERIES):
        own_rows, own_features = index.candidates([query], 4)
        np.testing.assert_array_equal(rows[place], own_rows[0])
        np.testing.assert_array_equal(features[place], own_features[0])


@pytest.mark.parametrize(("chunk", "near"), [(65_536, 1024), (150, 24), (64, 3)])
def test_numpy_and_the_core_give_the_same_bits(love, monkeypatch, chunk, near):
    """Of the same vectors, which are the same to 1e-6 themselves."""
    monkeypatch.setattr("lovevec.search.signals.TEXTS_PER_CHUNK", chunk)
    monkeypatch.setattr("lovevec.search.signals.NEAR_BY_SIGNS", near)
    monkeypatch.setattr("lovevec.search.signals.LEAST_PER_CHUNK", 2)
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(love.words[100:3000], 6).tolist()) + f" {number % 7}" for number in range(400)]
    queries = [" ".join([*misspell(text.split()[:3], rng), text[-1]]) for text in texts[:40]]
    state, mask = love.index(texts)._built, rng.random(400) < 0.3
    by_numpy = replace(state.signals, compiled=False)
    for query in state.queries([*queries, "", "zzzz"]):
        for allowed in (None, mask):
            for mine, other in zip(
                state.signals.candidates(query, allowed), by_numpy.candidates(query, allowed), strict=True
            ):
                np.testing.assert_array_equal(mine, other)


def test_threads_share_an_index(index):
    wanted = index.search(QUERIES)
    fresh = index.love.index(TEXTS)  # its state is built by the first
    assert all(one == wanted for one in at_once(lambda: fresh.search(QUERIES), 3))


def test_only_leaves_the_others_out(index):
    mask = np.zeros(len(TEXTS), dtype=np.bool_)
    mask[[0, 3]] = True
    assert {hit.id for hit in index.search("a kettle of steel", only=mask)} <= {0, 3}
    assert index.search("kettle", only=mask) == index.search("kettle", only=[0, 3])
    assert index.search("kettle", only=[]) == []
    assert index.search("kettle", only=np.ones(len(TEXTS), dtype=np.bool_)) == index.search("kettle")


def test_added_is_as_built_at_once(love, index):
    other = love.index(TEXTS[:3])
    other.search("kettle")
    other.add(TEXTS[3:5])
    other.add(TEXTS[5:])
    same(other, index)


def test_removed_is_as_never_there(love):
    index = love.index([*TEXTS, "wireless kettle", "Vestergarde"], ids=[*range(10), "x", "y"])
    index.search("kettle")
    index.remove("x")
    index.remove(["y"])
    same(index, love.index(TEXTS))
    index.remove(index.ids)
    assert len(index) == 0
    assert index.search("kettle") == []


@QUICK
@given(texts_of, texts_of, st.lists(st.integers(0, 15), max_size=6, unique=True))
def test_any_way_to_the_same_texts_is_the_same_index(first, second, gone):
    love = LOVE.load()
    index = love.index(first)
    index.add(second)
    index.remove([one for one in gone if one < len(index)])
    left = [(one, text) for one, text in enumerate([*first, *second]) if one not in gone]
    same(index, love.index([text for _, text in left], ids=[one for one, _ in left]), [*first[:2], "rain 12", "stern"])


def test_progress_names_what_takes_long(love):
    shown = StringIO()
    index = love.index(TEXTS, progress=Progress(stream=shown))
    assert "reading texts: 10 texts" in " ".join(shown.getvalue().split())
    index.search("kettle")
    phases = [line.split(":")[0] for line in shown.getvalue().splitlines()]
    assert phases == ["reading texts", "learning words", "comparing letters", "vectors"]
    assert "vectors: 10 texts" in " ".join(shown.getvalue().split())


def test_new_ids_go_on_from_the_highest(love):
    index = love.index(["a b", "c d"])
    index.remove(0)
    index.add(["e f"])
    assert index.ids == [1, 2]


def test_fields_count_by_their_weights(love):
    records = [{"title": "red lamp", "body": "a green chair"}, {"title": "green chair", "body": "a red lamp"}]
    index = love.index(records, fields={"title": 5.0, "body": 1.0})
    assert [index.search(query, 1)[0].id for query in ("red lamp", "green chair")] == [0, 1]
    assert index.texts[0] == "red lamp a green chair"


@pytest.mark.parametrize("module", ["pandas", "polars", "pyarrow"])
def test_frames_and_their_columns(love, index, module):
    library = pytest.importorskip(module)
    data = {"name": TEXTS, "more": [None, *["a"] * 9]}
    frame = library.table(data) if module == "pyarrow" else library.DataFrame(data)
    same(love.index(frame["name"]), index)
    assert love.index(frame, fields={"name": 1.0, "more": 0.5}).texts[:2] == [TEXTS[0], f"{TEXTS[1]} a"]


def test_an_encoder_of_ones_own_takes_the_place_of_encode(love):
    class Encoder:
        def encode(self, texts):
            return np.array([[text.count("a"), text.count("e"), 1.0] for text in texts], dtype=np.float32)

    index = love.index(TEXTS, encoder=Encoder())
    _, features = index.candidates(["bean"], 1)
    assert features.shape == (1, 1, len(FEATURES))
    index.add(["beans"])
    same(index, love.index([*TEXTS, "beans"], encoder=Encoder()))


def test_rare_misspellings_in_the_collection_do_not_swallow_a_word(love):
    index = love.index([*["wireless headphones"] * 3, "wireles mouse"])
    assert len(index.search("wireles")) == 4


@pytest.mark.parametrize("engine", ["auto", "numpy"])
def test_nasty_strings(love, engine):
    index = love.copy(engine=engine).index(NASTY)
    for query, hits in zip(NASTY, index.search(NASTY), strict=True):
        assert all(np.isfinite(hit.score) and hit.text in NASTY for hit in hits), repr(query)[:40]


def test_no_texts(love):
    index = love.index([])
    assert (len(index), index.search("a"), index.search(["a", "b"])) == (0, [], [[], []])
    assert index.candidates(["a"], 2)[0].tolist() == [[-1, -1]]
    index.add(["a lamp"])
    assert index.search("lamp", 1)[0].id == 0


def test_a_model_without_rows_searches_too():
    love = random_love()
    index = love.index(["bread and butter", "a lamp"])
    assert index.search("bread", 1)[0].id == 0


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda love, index: index.search("a", k=0), "k is 0"),
        (lambda love, index: index.search("a", k=True), "k is True"),
        (lambda love, index: index.search([1]), "query 0 is not a string"),
        (lambda love, index: index.search("a", only=[99]), "99 is not in the index"),
        (lambda love, index: index.search("a", only=np.ones(3, dtype=bool)), "mask of shape"),
        (lambda love, index: index.remove("no"), "'no' is not in the index"),
        (lambda love, index: index.add(["a"], ids=[0]), "0 is in the index already"),
        (lambda love, index: love.index(["a", None]), "text 1 is not a string"),
        (lambda love, index: love.index("a text"), "list of texts"),
        (lambda love, index: love.index(["a", "b"], ids=["x", "x"]), "'x' stands there twice"),
        (lambda love, index: love.index(["a"], ids=[1, 2]), "2 for 1 texts"),
        (lambda love, index: love.index(["a"], ids=[1.5]), "must be a string or a whole number"),
        (lambda love, index: love.index([{"a": "b"}]), "which of their fields"),
        (lambda love, index: love.index([{"a": "b"}], fields={"c": 1.0}), "no text has the field 'c'"),
        (lambda love, index: love.index([{"a": 3}], fields={"a": 1.0}), "'a' of text 0 is not a string"),
        (lambda love, index: love.index([{"a": "b"}], fields={"a": 0}), "weight of 'a'"),
        (lambda love, index: love.index(["a"], encoder=3), "must have a method `encode`"),
    ],
)
def test_bad_input_is_one_clear_error(love, index, call, says):
    with pytest.raises(LovevecError, match=says):
        call(love, index)


def test_more_hits_than_texts_are_all_that_have_to_do_with_it(index):
    assert 0 < len(index.search("kettle", k=1000)) <= len(TEXTS)
