"""Words that arrive in texts: what is learned of them does not depend on how texts come, and nothing else changes."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import numpy as np
import pytest

from lovevec import LOVE, Attached
from lovevec.attach import PlainModel
from lovevec.errors import FormatError, LovevecError
from lovevec.learn import Learner, LearnOptions
from lovevec.model.folder import CONFIG, LEARNED, write_model
from lovevec.model.learned import KNOWN, Learned
from lovevec.near.context import LAYERS, MOST, PLACES, SIGN_ROWS, Context, Layer
from lovevec.near.lexicon import Lexicon
from tests.factories import KNOWN_WORDS, random_love

NEW = ["blorfgaard", "quenbyx", "zolmarket"]
DIM = 24


def random_context(dim: int = DIM, width: int = 8, hidden: int = 12, heads: int = 2, side: int = 2) -> Context:
    """Weights by chance, and scales by which whole numbers are some hundreds all the way."""
    rng = np.random.default_rng(5)

    def weights(*shape: int) -> np.ndarray:
        return np.clip(np.rint(rng.normal(size=shape) * 30), -127, 127).astype(np.int8)

    def floats(size: float, *shape: int) -> np.ndarray:
        return (rng.normal(size=shape) * size).astype(np.float32)

    sizes = {"first": (2 * side * width, hidden), "query": (hidden, heads * width)}
    sizes |= {"second": (hidden + heads * width, 10), "third": (10, hidden), "row": (hidden, dim)}
    sizes |= {"frequent": (hidden, width), "new": (hidden, 1)}
    layers = {name: Layer(weights(*sizes[name]), floats(1 / 60, sizes[name][1]), floats(200, sizes[name][1]))
              for name in LAYERS}  # fmt: skip
    return Context(
        projection=weights(dim, width),
        projection_scale=floats(1000 / 4096 / 30, width),
        own=weights(30, width),
        own_scale=floats(10, width),
        own_bias=floats(1, 30),
        signs=rng.integers(-MOST, MOST + 1, (SIGN_ROWS, width)).astype(np.int16),
        layers=layers,
        position_bias=floats(1, heads, PLACES),
        scales=np.array([1e-6, 1e-6, 1e-5, 1.0], np.float32),
    )


def model_in_context() -> LOVE:
    love = random_love(dim=DIM)
    return love.copy(parts=replace(love.parts, context=random_context()))


LOVED = model_in_context()


def some_texts(count: int = 60, seed: int = 0) -> list[str]:
    """Sentences of known words with a new one, capitals, marks and numbers among them."""
    rng = np.random.default_rng(seed)
    able = [word for word in KNOWN_WORDS if word.isascii() and word.isalpha() and word.islower()]
    texts = []
    for number in range(count):
        words = [able[place] for place in rng.integers(0, len(able), 12).tolist()]
        new = NEW[number % len(NEW)] if number % 4 else NEW[0]
        words[5] = (new, new.capitalize(), f"{new}'s", f"({new})")[number % 4 if number % 3 else 0]
        words[9] = ("500mg", "well-known", "recieve", words[9])[number % 4]
        texts.append(" ".join(words) + ".")
    return texts


TEXTS = some_texts()


@pytest.fixture(scope="module")
def learned() -> LOVE:
    return LOVED.learn(TEXTS, words=NEW)


def same(one: LOVE, other: LOVE) -> bool:
    assert one.parts.rows is not None
    assert other.parts.rows is not None
    rows = np.array_equal(one.parts.rows.codes, other.parts.rows.codes)
    rows = rows and np.array_equal(one.parts.rows.scale, other.parts.rows.scale)
    return rows and list(one.words) == list(other.words) and one.learned.counts == other.learned.counts


def test_words_that_are_named_are_known_from_then_on(learned):
    assert set(learned.words) - set(LOVED.words) == set(NEW)
    assert learned.readings(NEW) == ["known"] * 3
    counts = dict(learned.learned.counts)
    assert sum(counts.values()) == len(TEXTS)
    assert list(learned.learned) == sorted(NEW, key=lambda word: -counts[word])
    assert learned.metadata["learned"]["words"] == 3
    assert learned.metadata["learned"]["texts"] == len(TEXTS)
    near = learned.near("blorfgard", 1)
    assert near
    assert near[0][0] == "blorfgaard"
    assert LOVED.readings("blorfgaard") != "known"  # the model itself stays as it is


def test_rows_say_what_the_spelling_says_and_what_the_sentences_say(learned):
    imputed = LOVED.impute(NEW)
    cosines = (learned.embed(NEW) * imputed).sum(axis=1)
    assert (cosines > 0.3).all()
    assert (cosines < 0.98).all()
    one = learned.learned["blorfgaard"]
    assert (one.word, one.count, one.contexts) == ("blorfgaard", *[dict(learned.learned.counts)["blorfgaard"]] * 2)
    assert len(one.sentences) == len(one.spelling) == 5
    assert "blorfgaard" not in [word for word, _ in [*one.sentences, *one.spelling]]
    assert "blorfgaard" in repr(learned.learned)
    with pytest.raises(KeyError):
        learned.learned["house"]


def test_what_was_known_stays_bit_for_bit(learned):
    assert np.array_equal(learned.embed(KNOWN_WORDS), LOVED.embed(KNOWN_WORDS))
    assert list(learned.words)[: len(LOVED)] == list(LOVED.words)
    texts = ["the house of a friend", "people because of the hospital"]
    assert np.array_equal(learned.encode(texts), LOVED.encode(texts))


def test_the_way_in_which_texts_come_does_not_matter(learned, monkeypatch):
    assert same(LOVED.learn((text for text in TEXTS), words=NEW), learned)
    assert same(LOVED.learn(TEXTS[::-1], words=reversed(NEW)), learned)
    assert same(LOVED.learn(np.array(TEXTS), words=set(NEW)), learned)
    monkeypatch.setattr("lovevec.learn.TEXTS_PER_BATCH", 7)
    monkeypatch.setattr("lovevec.learn.WINDOWS_PER_BATCH", 3)
    monkeypatch.setattr("lovevec.learn.STRINGS_KEPT", 5)
    assert same(LOVED.learn(iter(TEXTS), words=NEW), learned)


def test_numpy_and_the_core_learn_the_same(learned):
    other = LOVED.copy(engine="numpy").learn(TEXTS, words=NEW)
    assert other.learned.counts == learned.learned.counts
    np.testing.assert_allclose(other.embed(NEW), learned.embed(NEW), atol=0.02)  # at the precision of rows
    for name in ("expected", "around"):
        assert np.array_equal(getattr(other.parts.learned, name), getattr(learned.parts.learned, name))


@pytest.mark.parametrize("cut", [1, 23, 59])
def test_two_goes_are_as_good_as_one(learned, tmp_path, cut):
    first = LOVED.learn(TEXTS[:cut], words=NEW)
    first.save(tmp_path / "m")
    for one in (first, LOVE.load(tmp_path / "m")):
        assert same(one.learn(TEXTS[cut:], words=NEW), learned)
    if cut > len(NEW):
        assert same(first.learn(iter(TEXTS[cut:])), learned)  # what was named and came once need not be named again


def test_min_count_is_honoured_over_several_goes():
    texts = [f"the house of {NEW[0]} outside", f"a friend of {NEW[0]}", f"play with {NEW[1]}"]
    counts = {least: LOVED.learn(texts, words=NEW, min_count=least).learned.counts for least in (1, 2, 3)}
    assert counts == {1: [(NEW[0], 2), (NEW[1], 1)], 2: [(NEW[0], 2)], 3: []}
    waiting = LOVED.learn(texts, words=NEW, min_count=3)
    assert list(waiting.words) == list(LOVED.words)
    assert waiting.learn([f"the bread of {NEW[0]}"], words=NEW, min_count=3).learned.counts == [(NEW[0], 3)]
    kept = LOVED.learn(texts, words=NEW, min_count=1).learn([f"the bread of {NEW[0]}"], words=NEW, min_count=9)
    assert kept.learned.counts == [(NEW[0], 3), (NEW[1], 1)]  # what was learned stays


def test_new_words_are_found_and_misspellings_numbers_and_parts_are_not():
    lexicon = Lexicon.of([*KNOWN_WORDS, "blorfgaard"], True)
    parts = replace(LOVED.parts, orthography=replace(LOVED.parts.orthography, lexicon=lexicon))
    love, certain = LOVED.copy(parts=parts), "blorfgaard"
    if love.lookup([certain], in_text=True).new[0] < 0.9:
        pytest.skip("the model does not take it for a new word")
    texts = [f"the house of {certain} and recieve 500mg in well-{certain} http://{certain}.com McBlorf"] * 6
    assert love.learn(texts).learned.counts == [(certain, 6)]


def test_what_was_learned_can_be_forgotten(learned, tmp_path):
    again = learned.forget()
    assert same(again, LOVED)
    assert again.parts.learned is None
    assert again.metadata == LOVED.metadata
    again.save(tmp_path / "again")
    LOVED.save(tmp_path / "before")
    for name in ("rows.safetensors", "words.json"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "before" / name).read_bytes()
    assert not (tmp_path / "again" / LEARNED).exists()
    less = learned.forget(NEW[1].upper())
    assert list(less.learned) == [word for word in learned.learned if word != NEW[1]]
    assert NEW[1] not in less
    others = [word for word in NEW if word != NEW[1]]
    assert np.array_equal(less.embed(others), learned.embed(others))
    with pytest.raises(LovevecError, match="'house' was not learned"):
        learned.forget(["house"])
    assert LOVED.forget().learned.counts == []


def test_own_words_and_learned_ones_live_together(learned):
    both = learned.with_words(["vestergaard"])
    more = both.learn(some_texts(9, seed=4), words=NEW)
    assert "vestergaard" in more
    assert np.array_equal(more["vestergaard"], both["vestergaard"])
    assert "vestergaard" in more.forget()
    assert more.metadata["own_words"] == 1


def test_what_was_learned_is_saved_and_loaded(learned, tmp_path):
    learned.save(tmp_path / "m")
    again = LOVE.load(tmp_path / "m")
    assert same(again, learned)
    assert again.learned["quenbyx"] == learned.learned["quenbyx"]
    assert np.array_equal(again.embed(NEW), learned.embed(NEW))
    learned.save(tmp_path / "m", rows="none")
    assert not (tmp_path / "m" / LEARNED).exists()
    assert len(LOVE.load(tmp_path / "m").learned) == 0


def test_rare_strings_are_dropped_when_there_are_too_many():
    words = [f"new{chr(97 + number % 26)}{chr(97 + number // 26)}x" for number in range(200)]
    options = LearnOptions(frozenset([*words, *NEW]), 1, tracked=20)
    assert LOVED._sentence_reader is not None
    learner = Learner(LOVED, LOVED.parts, LOVED._sentence_reader, Learned.nothing(random_context()), options)
    texts = [[f"the house of {NEW[0]} outside", f"a friend of {NEW[0]} and {word}"] for word in words]
    for some in texts:
        learner.read(some)
        assert len(learner.place) <= 20
    assert len(learner.expected) <= 128
    found = learner.learned().in_order()
    assert (found.words[0], int(found.counts[0])) == (NEW[0], 400)
    alone = LOVED.learn(chain.from_iterable(texts), words=NEW[:1])
    assert alone.parts.learned is not None
    assert np.array_equal(alone.parts.learned.expected[0], found.expected[0])


def hostile(learned: Learned) -> dict[str, dict[str, np.ndarray]]:
    good = learned.tensors()
    one = good["expected"].copy()
    one[0, 0] = 2**15 - 1
    return {
        "no sums": {name: array for name, array in good.items() if name != "around"},
        "other types": good | {"counts": good["counts"].astype(np.int32)},
        "too few rows": good | {"expected": good["expected"][1:]},
        "other dimensions": good | {"around": good["around"][:, 1:]},
        "huge sums": good | {"expected": one},
        "no count": good | {"counts": np.zeros_like(good["counts"])},
        "negative contexts": good | {"contexts": -good["contexts"]},
        "more contexts than places": good | {"contexts": good["contexts"] + np.int32(10**6)},
        "odd status": good | {"status": good["status"] + np.uint8(200)},
        "no words": good | {"words": np.frombuffer(b"[1, 2, 3]", np.uint8)},
        "twice": good | {"words": np.frombuffer(b'["a", "a", "b"]', np.uint8)},
        "no json": good | {"words": np.frombuffer(b"[[[", np.uint8)},
        "negative texts": good | {"read": np.array([-1, 5])},
        "short origin": good | {"origin": good["origin"][:5]},
    }


def test_hostile_files_are_refused(learned, tmp_path, monkeypatch):
    for name, tensors in hostile(learned.parts.learned).items():
        with monkeypatch.context() as patch:
            patch.setattr(Learned, "tensors", lambda self, tensors=tensors: tensors)
            write_model(tmp_path / name, learned.parts, "")
        with pytest.raises(FormatError, match=rf"{LEARNED}: damaged"):
            LOVE.load(tmp_path / name)
    learned.save(tmp_path / "m")
    content = bytearray((tmp_path / "m" / LEARNED).read_bytes())
    content[-1] ^= 1
    (tmp_path / "m" / LEARNED).write_bytes(content)
    with pytest.raises(FormatError, match="SHA-256"):
        LOVE.load(tmp_path / "m")


def test_a_forged_list_of_words_never_crashes(learned):
    """What is said to have a row and is not known."""
    forged = replace(learned.parts.learned, words=("absent", *learned.parts.learned.words[1:]))
    odd = learned.copy(parts=replace(learned.parts, learned=forged))
    assert len(odd.forget()) == len(LOVED) + 1
    assert "absent" in odd.learn(["the house"])


def test_mistakes_are_told(learned):
    with pytest.raises(LovevecError, match=r"no model of context.*lovevec context"):
        random_love().learn(TEXTS)
    with pytest.raises(LovevecError, match="by spelling only"):
        LOVED.copy(spelling_only=True).learn(TEXTS)
    for bad in (0, -1, 1.5, True, "5", None):
        with pytest.raises(LovevecError, match="min_count"):
            LOVED.learn(TEXTS, min_count=bad)
    with pytest.raises(LovevecError, match="words is one string"):
        LOVED.learn(TEXTS, words="blorfgaard")
    with pytest.raises(LovevecError, match="1"):
        LOVED.learn(["a text", 1])
    other = replace(learned.parts, context=replace(random_context(), own_bias=np.zeros(30, np.float32)))
    with pytest.raises(LovevecError, match="another model of context"):
        learned.copy(parts=other).learn(TEXTS)
    assert learned.copy(parts=other).forget().learn(TEXTS, words=NEW).learned.counts == learned.learned.counts


@pytest.mark.parametrize("texts", [[], [""], "the house of blorfgaard", ["\ud800 \x00 blorfgaard"], ["x" * 100_000]])
def test_any_text_will_do(texts):
    more = LOVED.learn(texts, words=NEW, min_count=1)
    assert np.isfinite(more.embed(list(more.words)[-3:])).all()


def test_a_word_that_stands_alone_has_the_vector_of_its_spelling():
    more = LOVED.learn([NEW[0]] * 5, words=NEW)
    np.testing.assert_allclose(more[NEW[0]], LOVED.impute(NEW[0]), atol=0.02)
    assert more.learned[NEW[0]].contexts == 0


def test_a_table_of_any_space_learns_words(tmp_path):
    words = list(LOVED.words)[:300]
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(DIM, DIM)))[0].astype(np.float32)
    for vectors in (LOVED.embed(words), 3 * LOVED.embed(words) @ turn):
        robust = LOVED.attach((words, vectors))
        more = robust.learn(TEXTS, words=NEW)
        assert list(more.words) == [*words, *more.learned]
        assert np.array_equal(more.vectors[:300], robust.vectors)
        assert more.readings(NEW) == ["known"] * 3
        assert np.isfinite(more.embed(NEW)).all()
        more.save(tmp_path / "t")
        again = Attached.load(tmp_path / "t")
        assert np.array_equal(again.vectors, more.vectors)
        later = robust.learn(TEXTS[:20], words=NEW).learn(TEXTS[20:], words=NEW)
        assert np.array_equal(later.vectors, more.vectors)
        assert list(again.forget().words) == words
    plain = Attached(PlainModel(words, DIM, LOVED.embed), (words, LOVED.embed(words)))
    for call in (lambda: plain.learn(TEXTS), plain.forget, lambda: plain.learned):
        with pytest.raises(LovevecError, match="only a table with a LOVE"):
            call()


def test_a_table_before_a_model_that_has_learned_has_its_rows(learned):
    words = list(LOVED.words)[:300]
    robust = Attached(learned, (words, LOVED.embed(words)), space="direct", by_confidence=False)
    assert not robust.known(NEW).any()
    np.testing.assert_allclose(robust.embed(NEW), learned.embed(NEW), atol=1e-6)
    np.testing.assert_allclose(robust.embed([NEW[0].title()])[0], learned[NEW[0]], atol=1e-6)
    np.testing.assert_allclose(robust.impute(NEW), LOVED.impute(NEW), atol=1e-6)  # by the spelling, as it says
    assert np.isfinite(robust.encode([f"the house of {NEW[0]}"])).all()


def test_status_and_order_are_what_they_say(learned):
    kept = learned.parts.learned
    assert (kept.status & KNOWN).all()
    assert kept.counts.tolist() == sorted(kept.counts.tolist(), reverse=True)
    assert (learned.parts.rows.ranks[-3:] >= 0).all()


def test_the_command_learns_lists_and_says_what_is_wrong(program, tmp_path):
    LOVED.save(tmp_path / "m")
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS[:30]), "utf-8")
    (tmp_path / "more.csv").write_text("id,text\n" + "\n".join(f"1,{text}" for text in TEXTS[30:]), "utf-8")
    (tmp_path / "words.txt").write_text("\n".join(NEW), "utf-8")
    done = program("learn", "texts.txt", "--words", "words.txt", "-m", "m", "-o", "mine", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b""), done.stderr
    assert b"3 words learned, 3 of them new; mine: " in done.stderr
    more = ("more.csv", "--column", "text", "--words", "words.txt", "-m", "mine", "-o", "mine", "--overwrite", "-q")
    done = program("learn", *more, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert same(LOVE.load(tmp_path / "mine"), LOVED.learn(TEXTS, words=NEW))
    done = program("learn", "--list", "-m", "mine", cwd=tmp_path)
    lines = [line.split("\t") for line in done.stdout.decode().splitlines()]
    assert [(word, int(count)) for word, count, _ in lines] == LOVED.learn(TEXTS, words=NEW).learned.counts
    random_love(dim=DIM).save(tmp_path / "alone")
    for arguments, message in {
        ("texts.txt", "-m", "alone", "-o", "new"): "`lovevec context corpus.txt -m MODEL -o NEW`",
        ("texts.txt", "-m", "m", "-o", "mine"): "mine: holds a model already",
        ("texts.txt", "-m", "m"): "name the folder of the new model with --output",
        ("texts.txt", "-m", "m", "-o", "new", "--min-count", "0"): "--min-count is 0: must be at least 1",
        ("absent.txt", "-m", "m", "-o", "new"): "absent.txt",
        ("texts.txt", "--list", "-m", "m"): "--list shows what a model has learned",
    }.items():
        done = program("learn", *arguments, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, b"")
        assert message in done.stderr.decode()
        assert done.stderr.count(b"\n") == 1
        assert not (tmp_path / "new" / CONFIG).exists()
