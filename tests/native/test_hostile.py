"""Whatever is handed to the compiled core, it answers or raises an error of Python's; it never reads or writes beyond
an array. `make sanitize` runs this file with ASan and UBSan in the core, `make fuzz` for longer."""

from __future__ import annotations

import gc
import os
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

core = pytest.importorskip("lovevec._core")

SIZES = core.CONSTANTS
EXAMPLES = int(os.environ.get("LOVEVEC_FUZZ_EXAMPLES", "60"))
HOSTILE = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
REFUSALS = (TypeError, ValueError, BufferError, IndexError, OverflowError)
CODE_POINTS = sys.maxunicode + 1
SYMBOLS, SPELLINGS, UNITS, DIM, KEY_WIDTH = 40, 5, 60, 12, 4


def prepare(word: str) -> tuple[str, bool]:
    """What Python does for words that are not plain: cut, lower-cased, and how it is written."""
    written = SIZES["IS_NAME"] * word[:1].isupper() | SIZES["IS_CAPITALS"] * word.isupper()
    return word[: SIZES["LONGEST"]].lower()[: SIZES["LONGEST"]], written


def index_options(seed: int = 0) -> dict[str, object]:
    """What an Index is made of: an alphabet and costs by chance, words of 2 to 32 letters."""
    chance = np.random.default_rng(seed)
    symbol_of = np.zeros(CODE_POINTS, np.uint8)
    symbol_of[ord("a") : ord("z") + 1] = np.arange(1, 27)
    symbol_of[ord("0") : ord("9") + 1] = np.arange(27, 37)
    lengths = chance.integers(2, SIZES["MAX_WORD_LENGTH"] + 1, 500)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    # few letters: many words share their buckets and are candidates of each other
    letters = chance.integers(1, 4, offsets[-1]).astype(np.uint8)
    is_digit = np.zeros(SYMBOLS, np.uint8)
    is_digit[27:37] = 1
    is_letter = np.zeros(SYMBOLS, np.uint8)
    is_letter[1:27] = 1
    costs = chance.integers(0, 257, SIZES["KINDS"] + 1).astype(np.int16)
    costs[-1] = SIZES["DIGIT_COST"]  # of a digit, whatever befalls it
    return {
        **lexicon_options(chance),
        **joined_options(chance),
        **form_options(chance),
        "prepare": prepare,
        "lowercase": 1,
        "letter_e": 5,
        "symbol_of": symbol_of,
        "folded": np.arange(SYMBOLS, dtype=np.uint8),
        "sound": chance.integers(0, 10, SYMBOLS).astype(np.uint8),
        "classes": chance.integers(0, 4, SYMBOLS).astype(np.uint8),
        "is_letter": is_letter,
        "is_digit": is_digit,
        "one": chance.integers(0, SPELLINGS, SYMBOLS).astype(np.uint8),
        "two": chance.integers(0, SPELLINGS, (SYMBOLS, SYMBOLS)).astype(np.uint8),
        "costs": costs,
        "substitution": chance.integers(0, 257, (SYMBOLS, SYMBOLS)).astype(np.int16),
        "respelling": chance.integers(0, SIZES["FAR_COST"] + 1, (SPELLINGS, SPELLINGS)).astype(np.int16),
        "new_weights": chance.normal(size=SIZES["FEATURES"]),
        "letters": letters,
        "offsets": offsets,
        "rank_bits": chance.integers(0, 256, len(lengths)).astype(np.int32),
        "rank_costs": chance.integers(0, 500, len(lengths)).astype(np.int32),
        "part_costs": chance.integers(0, 500, len(lengths)).astype(np.int32),
        "table_rows": np.arange(len(lengths), dtype=np.int32),
    }


def hash_of(letters: str) -> int:
    """As near/lexicon.py hashes words."""
    state = 0
    for letter in letters:
        state = (state * 0x9E3779B97F4A7C15 + ord(letter) + 1) % (1 << 64)
    return state


def hashes_of(words: list[str]) -> np.ndarray:
    return np.array([hash_of(word) for word in words], np.uint64)


def lexicon_options(chance: np.random.Generator) -> dict[str, object]:
    """A filter that is half full, weights of n-grams, three endings."""
    return {
        "filter": chance.integers(0, 256, 64).astype(np.uint8),
        "grams": chance.integers(-128, 128, 1 << SIZES["GRAM_BITS"]).astype(np.int8),
        "gram_scale": 0.01,
        "ending_hashes": hashes_of(["a", "bc", "cccc"]),
        "ending_sizes": np.array([1, 2, 4]),
    }


def joined_options(chance: np.random.Generator) -> dict[str, object]:
    """Words of a few letters, of which strings of these have many cuts."""
    words = [one + two + three for one in "abc" for two in ["", *"abc"] for three in ["", *"abc"]]
    return {
        "joined_hashes": hashes_of(list(dict.fromkeys(words))),
        "joined_rows": chance.integers(0, 500, len(set(words))).astype(np.int32),
        "joined_costs": chance.integers(0, 99, len(set(words))).astype(np.int32),
        "joined_constant": 3.0,
        "join_cost": 20,
    }


def form_options(chance: np.random.Generator) -> dict[str, object]:
    """Four listed forms: of one word, of several, of both, of none."""
    forms, words, parts = ["ab", "abc", "é", "🙂"], SIZES["WORDS_PER_READING"], SIZES["MAX_PARTS"]
    rows, part_rows = np.full((4, words), -1, np.int32), np.full((4, parts), -1, np.int32)
    probabilities, part_ends = np.zeros((4, words)), np.zeros((4, parts), np.int32)
    rows[[0, 2], 0], probabilities[[0, 2], 0] = [7, 499], 0.5
    part_rows[1:3, :2], part_ends[1:3, :2] = [3, 4], [1, 2]
    order = np.argsort(hashes_of(forms), kind="stable")
    arrays = {
        "hashes": hashes_of(forms),
        "rows": rows,
        "probabilities": probabilities,
        "new": np.array([0.5, 0.5, 0.25, 1]),
        "parts": np.array([0, 0.5, 0.25, 0]),
        "part_rows": part_rows,
        "part_ends": part_ends,
        "evidence": chance.normal(size=4),
    }
    return {f"form_{name}": np.ascontiguousarray(array[order]) for name, array in arrays.items()}


def fold_options(seed: int = 0, is_int8: bool = True, hidden: int = 6, ngrams: int = 20) -> dict[str, object]:
    """What a Fold is made of: units by chance, a trie with free slots."""
    chance = np.random.default_rng(seed)
    most, nodes, slots = SIZES["MAX_UNITS"], 30, 64
    rows = UNITS + ngrams

    def numbers(*shape: int) -> np.ndarray:
        return chance.integers(-127, 128, shape).astype(np.int8) if is_int8 else floats(*shape)

    def floats(*shape: int) -> np.ndarray:
        return chance.normal(size=shape).astype(np.float32)

    keys = chance.integers(0, nodes << 21, slots)
    keys[::2] = -1
    head = {"head_0": (DIM, hidden), "head_1": (hidden,), "head_2": (hidden, DIM), "head_3": (DIM,)}
    return {
        "prepare": prepare,
        "lowercase": 1,
        "is_int8": int(is_int8),
        "with_characters": 1,
        "with_pieces": 1,
        "is_mixed": 1,
        "dim": DIM,
        "key_width": KEY_WIDTH,
        "ngrams": ngrams,
        "hidden": hidden,
        "character": chance.integers(0, UNITS, CODE_POINTS).astype(np.int32),
        "row_of_unit": np.arange(UNITS, dtype=np.int32),
        "trie_keys": keys,
        "trie_values": chance.integers(0, nodes, slots).astype(np.int32),
        "piece_at": chance.integers(-1, UNITS, nodes).astype(np.int32),
        "out": numbers(rows, DIM),
        "out_scale": floats(rows),
        "features": numbers(UNITS, 2 * KEY_WIDTH),
        "features_scale": floats(UNITS),
        "positions": floats(most, most),
        "shares": floats(most + 1, most),
        **({name: floats(*shape) for name, shape in head.items()} if hidden else {}),
    }


def rows_options(kind: int) -> dict[str, object]:
    """What Rows are made of: float32, float16, int8, int4."""
    types, width = (np.float32, np.float16, np.int8, np.uint8), (DIM + 1) // 2 if kind == 3 else DIM
    options = {"kind": kind, "dim": DIM, "codes": np.ones((9, width), types[kind]), "scale": np.ones(9, np.float32)}
    return options | {"levels": np.linspace(-1, 1, 16, dtype=np.float32)}


def map_options() -> dict[str, object]:
    """What a WordMap is made of: nine words in UTF-8."""
    words = ["abc", "Abc", "é", "🙂", "", "a-b", "don't", "x" * 90, "abcabc"]
    sizes = [len(word.encode()) for word in words]
    text = np.frombuffer("".join(words).encode(), np.uint8).copy()
    return {"text": text, "offsets": np.append(0, np.cumsum(sizes)), "seed": 5}


def signature_options() -> dict[str, object]:
    """What Signatures are made of."""
    directions = np.random.default_rng(0).integers(-1, 2, (1 << SIZES["PAIR_BITS"], DIM)).astype(np.int8)
    return {"prepare": prepare, "lowercase": 1, "directions": directions}


def room_for(count: int) -> list[np.ndarray]:
    """Arrays for the readings of so many strings."""
    words, parts = (count, SIZES["WORDS_PER_READING"]), (count, SIZES["MAX_PARTS"])
    numbers = np.empty(words, np.int32), np.empty(words), np.empty(count), np.empty(count)
    return [*numbers, np.empty(parts, np.int32), np.empty(parts, np.int32), np.empty(count)]


def some_readings(count: int) -> list[np.ndarray]:
    """Readings of nine words' rows: three of ten places, two parts of six."""
    rows, _, _, _, part_rows, part_ends, evidence = room_for(count)
    rows[:], part_rows[:], part_ends[:], evidence[:] = -1, -1, 1, 0
    rows[:, :3], part_rows[:, :2] = [0, 1, 8], [8, 2]
    return [
        rows,
        np.full(rows.shape, 0.1),
        np.full(count, 0.4),
        np.full(count, 0.3),
        part_rows,
        part_ends,
        evidence,
    ]


def read(index: object, words: object) -> list[np.ndarray]:
    """Readings of all words, into arrays of the right sizes."""
    arrays = room_for(len(words))
    index.read(words, *arrays, 1.0)
    return arrays


def embed(fold: object, words: object) -> tuple[np.ndarray, np.ndarray]:
    """Vectors and norms of all words."""
    vectors, norms = np.empty((len(words), DIM), np.float32), np.empty(len(words), np.float32)
    fold.embed(words, vectors, norms)
    return vectors, norms


INDEX, FOLD, MAP = core.Index(**index_options()), core.Fold(**fold_options()), core.WordMap(**map_options())
SIGNATURES = core.Signatures(**signature_options())
TORN = (
    np.arange(9, 0, -1, dtype=np.int32) * 40,
    40,
    200,
)  # what each word of the map counts, the frequent and the rare ones
LETTERS = st.text("abc", max_size=60)  # which come near the words of the index
WORDS = st.one_of(
    LETTERS, st.text(st.characters(), max_size=120), st.text(st.sampled_from("aA0éİß\ud800\U0010ffff🙂\0"))
)


@HOSTILE
@given(st.lists(WORDS, max_size=80))
def test_any_words_are_read_and_one_is_read_as_in_a_list(words):
    together = read(INDEX, words)
    rows, probabilities, new, parts, part_rows, part_ends, _ = together
    assert ((rows >= -1) & (rows < 500)).all()
    assert ((part_rows >= -1) & (part_rows < 500)).all()
    assert ((part_ends >= 0) & (part_ends <= SIZES["LONGEST"])).all()
    np.testing.assert_allclose(probabilities.sum(1) + new + parts, 1)
    vectors, norms = embed(FOLD, words)
    odds = np.empty(len(words))
    INDEX.likeness(words, odds)
    assert ((odds >= SIZES["MIN_LIKENESS"]) & (odds <= SIZES["MAX_LIKENESS"])).all()
    for place, word in enumerate(words[:3]):
        assert [one.tobytes() for one in read(INDEX, [word])] == [
            all_[place : place + 1].tobytes() for all_ in together
        ]
        assert [one.tobytes() for one in embed(FOLD, [word])] == [
            vectors[place : place + 1].tobytes(),
            norms[place : place + 1].tobytes(),
        ]


@pytest.mark.parametrize(
    "word", ["a" * 1_000_000, "ab" * 500_000, "🙂" * 1_000_000, "\ud800" * 1_000_000, "É" * 101, ""]
)
def test_strings_of_a_megabyte(word):
    for words in ([word], [word] * 50):
        rows, _, new, parts, part_rows, _, _ = read(INDEX, words)
        assert (rows == -1).all()
        assert (part_rows == -1).all()
        assert (new == 1).all()
        assert (parts == 0).all()
        embed(FOLD, words)


STRANGE = st.sampled_from(
    [None, 1, b"bytes", 1.5, ["list"], ("a",), object(), np.str_("word"), np.zeros(3), type, float("nan")]
)


@HOSTILE
@given(st.lists(st.one_of(STRANGE, LETTERS), min_size=1, max_size=40), st.booleans())
def test_words_that_are_no_strings(words, as_array):
    given_ = np.array(words, dtype=object) if as_array else words
    for call in (read, embed):
        if all(isinstance(word, str) for word in words):
            call(INDEX if call is read else FOLD, given_)
        else:
            with pytest.raises(TypeError):
                call(INDEX if call is read else FOLD, given_)


@pytest.mark.parametrize("answer", [None, "word", ("word",), ("a" * 101, 0), (b"word", 0), ("word", 0, 0), 7])
def test_a_prepare_that_answers_wrongly(answer):
    options = index_options() | {"prepare": lambda word: answer}
    with pytest.raises((TypeError, ValueError)):
        read(core.Index(**options), ["é"])


def test_a_prepare_that_raises_or_calls_back():
    def call_back(word: str) -> tuple[str, bool]:
        if word == "é":
            raise KeyError(word)
        read(held[0], ["abc"] * 40)
        return prepare(word)

    held = [core.Index(**index_options() | {"prepare": call_back})]
    with pytest.raises(KeyError):
        read(held[0], ["abc", "é"])
    assert read(held[0], ["ü", "abc"])[0].tobytes() == read(INDEX, ["ü", "abc"])[0].tobytes()


@pytest.mark.parametrize("made", [index_options, fold_options])
@pytest.mark.parametrize("strange", [None, 7, "prepare"])
def test_a_prepare_that_is_no_function_is_left_as_it_was(made, strange):
    """None and other lasting objects too: each refusal must leave their number of references alone."""
    strange = [strange]
    before = sys.getrefcount(strange)
    for _ in range(100):
        with pytest.raises((TypeError, ValueError)):
            (core.Index if made is index_options else core.Fold)(**made() | {"prepare": strange})
    gc.collect()
    assert sys.getrefcount(strange) == before


def damaged(array: np.ndarray, how: str, chance: np.random.Generator) -> object:
    """An array as it should not be, or might just be."""
    flat = array.reshape(-1).copy()
    if how == "number" and flat.size:
        for place in chance.integers(0, flat.size, chance.integers(1, 4)):
            limits = np.iinfo(flat.dtype) if flat.dtype.kind in "iu" else np.finfo(flat.dtype)
            near = (
                [flat[place] + 1, flat[place] - 1]
                if flat.dtype.kind == "f" or limits.min < flat[place] < limits.max
                else []
            )
            choices = [limits.min, limits.max, 0, *near]
            flat[place] = choices[chance.integers(len(choices))]
        return flat.reshape(array.shape)
    if how == "nan" and flat.dtype.kind == "f":
        flat[chance.integers(0, flat.size)] = chance.choice([np.nan, np.inf, -np.inf])
        return flat.reshape(array.shape)
    with np.errstate(invalid="ignore", over="ignore"):
        other_type = flat.astype(chance.choice(["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "?"]))
    return {
        "shorter": flat[:-1].copy(),
        "longer": np.append(flat, flat[:1]),
        "empty": flat[:0],
        "none": None,
        "list": flat[:9].tolist(),
        "bytes": flat.tobytes(),
        "type": other_type,
        "order": array.astype(array.dtype.newbyteorder(">")),
        "strided": np.repeat(flat, 2)[::2],
        "fortran": np.asfortranarray(array),
        "backwards": flat[::-1],
        "wide": np.zeros((2, 0, 3), array.dtype),
        "scalar": array.dtype.type(1),
        "memoryview": memoryview(flat),
    }.get(how, array)


HOWS = ["number"] * 6 + [
    "nan",
    "shorter",
    "longer",
    "empty",
    "none",
    "list",
    "bytes",
    "type",
    "order",
    "strided",
    "fortran",
]
HOWS += ["backwards", "wide", "scalar", "memoryview", "missing"]


def damage(options: dict[str, object], data: st.DataObject) -> dict[str, object]:
    """Options of which one or two are wrong."""
    options, chance = dict(options), np.random.default_rng(data.draw(st.integers(0, 2**32)))
    for name in data.draw(st.lists(st.sampled_from(sorted(options)), min_size=1, max_size=2, unique=True)):
        how = data.draw(st.sampled_from(HOWS))
        if how == "missing" or name not in options:
            options.pop(name, None)
        elif isinstance(options[name], np.ndarray):
            options[name] = damaged(options[name], how, chance)
        elif name != "prepare":
            strange = st.sampled_from([-1, 0, 1, 2, 3, 255, 256, 2**20, 2**31, 2**62, 2**63, -(2**63), None, "1", 1.5])
            options[name] = data.draw(strange)
    return options


NASTY = ["abc", "abcabcabc", "a" * 33, "cba" * 11, "é", "🙂", "Abc", "a1b2", "\ud800", "", "ab" * 50]


@HOSTILE
@given(st.data())
def test_an_index_of_wrong_arrays_is_refused_or_reads(data):
    try:
        index = core.Index(**damage(index_options(), data))
    except REFUSALS:
        return
    read(index, NASTY)
    index.likeness(NASTY, np.empty(len(NASTY)))


@HOSTILE
@given(st.data(), st.booleans(), st.sampled_from([0, 6]), st.sampled_from([0, 20]))
def test_a_fold_of_wrong_arrays_is_refused_or_embeds(data, is_int8, hidden, ngrams):
    options = damage(fold_options(0, is_int8, hidden, ngrams), data)
    try:
        fold = core.Fold(**options)
    except REFUSALS:
        return
    vectors = np.empty((len(NASTY), options["dim"]), np.float32)
    fold.embed(NASTY, vectors, np.empty(len(NASTY), np.float32))


@HOSTILE
@given(st.data(), st.integers(0, 3))
def test_rows_of_wrong_arrays_are_refused_or_taken(data, kind):
    options = damage(rows_options(kind), data)
    try:
        rows = core.Rows(**options)
    except REFUSALS:
        return
    for wanted in ([0, 1], [8], [-1], [2**40], [9], []):
        chosen = np.array(wanted, np.int64)
        try:
            rows.take(chosen, np.empty((len(wanted), options["dim"]), np.float32))
        except REFUSALS:
            continue


@HOSTILE
@given(st.data())
def test_a_map_of_wrong_arrays_is_refused_or_looks_up(data):
    try:
        words = core.WordMap(**damage(map_options(), data))
    except REFUSALS:
        return
    for word in [*NASTY, None, 7, "x" * 1_000_000]:
        assert -1 <= words.get(word, -1) < 10
    for lowercase in (False, True):
        rows = np.empty(len(NASTY), np.int64)
        odd = words.look_up(NASTY, rows, lowercase)
        assert ((rows >= -1) & (rows < 10)).all()
        assert all(rows[place] < 0 and not (NASTY[place].isascii() and NASTY[place].isalnum()) for place in odd)


TORN_TEXTS = ["abc abc", "ab cabc", "Abc abc abc abc", "x" * 45 + " " + "x" * 45, " ".join(["abc"] * 50)]


@HOSTILE
@given(
    st.lists(st.one_of(WORDS, st.text("abcA é🙂.-'1(\n", max_size=40), st.sampled_from(TORN_TEXTS)), max_size=20),
    *(st.booleans(), st.booleans(), st.booleans()),
)
def test_any_texts_are_added_up_and_what_is_left_is_theirs(texts, lowercase, signed, torn):
    sums, totals = np.full((len(texts), DIM), np.nan, np.float32), np.full(len(texts), np.nan)
    rows, signatures = core.Rows(**rows_options(1)), SIGNATURES if signed else None
    options = np.ones(9, np.float32), 0.5, lowercase, TORN if torn else None
    words, chunks = core.sum_texts(MAP, rows, signatures, *options, texts, sums, totals)
    assert np.isfinite(sums).all()
    for left, owners in (words, chunks):
        numbers = np.frombuffer(owners, np.int64).tolist()
        assert all(chunk and chunk in texts[owner] for chunk, owner in zip(left, numbers, strict=True))
        assert numbers == sorted(numbers)
    assert all(word.isascii() and word.isalpha() for word in words[0])


@HOSTILE
@given(st.data(), st.sampled_from([None, (), (1, 2, 3), [], 7, "torn"]))
def test_costs_of_torn_words_that_do_not_fit_are_refused_or_taken(data, strange):
    named = damage({"costs": TORN[0].copy(), "frequent": TORN[1], "rare": TORN[2]}, data)
    arguments = MAP, core.Rows(**rows_options(1)), None, np.ones(9, np.float32), 0.5, True
    texts = ["abc Abc", *TORN_TEXTS]
    for torn in (tuple(named.values()), strange, (*TORN, 1)):
        try:
            core.sum_texts(*arguments, torn, texts, np.empty((6, DIM), np.float32), np.empty(6))
        except REFUSALS:
            continue


def test_known_words_and_unknown_ones_are_torn():
    totals, texts = np.empty(4), ["abc abc", "ab cabc", "abc Abc", "abcabc abc"]
    options = np.ones(9, np.float32), 0.5, True
    for torn, expected in ((TORN, [1, 1, 2, 2]), (None, [2, 0, 2, 2])):
        core.sum_texts(
            MAP, core.Rows(**rows_options(1)), None, *options, torn, texts, np.empty((4, DIM), np.float32), totals
        )
        assert totals.tolist() == expected


def test_texts_that_are_no_strings():
    arguments = MAP, core.Rows(**rows_options(1)), None, np.ones(9, np.float32), 0.5, True, None
    for texts in (["a", None], [b"a"], None, 7, [1.5]):
        with pytest.raises(TypeError):
            core.sum_texts(*arguments, texts, np.empty((2, DIM), np.float32), np.empty(2))


WEIGHTS = np.ones(9, np.float32)
FUNCTIONS = {
    "mean": (
        core.mean,
        [
            *(
                INDEX,
                FOLD,
                core.Rows(
                    **rows_options(2) | {"codes": np.ones((500, DIM), np.int8), "scale": np.ones(500, np.float32)}
                ),
            ),
            *(NASTY, np.empty((11, DIM), np.float32), np.empty(11, np.float32), *room_for(11)),
            *(0.01, 2.0, np.ones(500, np.float32), 0.5),
        ],
    ),
    "sum_texts": (
        core.sum_texts,
        [
            *(MAP, core.Rows(**rows_options(2)), SIGNATURES, WEIGHTS, 0.5, True, TORN),
            *(NASTY, np.empty((11, DIM), np.float32), np.empty(11)),
        ],
    ),
    "signatures": (SIGNATURES.add, [NASTY, np.ones(11, np.float32), np.ones((11, DIM), np.float32)]),
    "read": (INDEX.read, [NASTY, *room_for(11), 2.0]),
    "likeness": (INDEX.likeness, [NASTY, np.empty(11)]),
    "look_up": (MAP.look_up, [NASTY, np.empty(11, np.int64), True]),
    "count": (FOLD.count, [NASTY, np.empty((11, 4), np.int64)]),
    "embed": (FOLD.embed, [NASTY, np.empty((11, DIM), np.float32), np.empty(11, np.float32)]),
    "mix": (
        core.Rows(**rows_options(2)).mix,
        [np.ones((3, DIM), np.float32), *some_readings(3), WEIGHTS, 1.0, 0.01],
    ),
    "mix alone": (
        core.Rows(**rows_options(1)).mix,
        [np.ones((1, DIM), np.float32), *some_readings(1), WEIGHTS, None, 0.01],
    ),
    "take": (core.Rows(**rows_options(3)).take, [np.arange(9), np.empty((9, DIM), np.float32)]),
    "normalize": (core.normalize, [np.ones((5, DIM), np.float32)]),
    "sum_rows": (
        core.sum_rows,
        [np.ones((7, DIM), np.float32), np.array([0, 6, 3, 3]), np.array([0, 2, 2, 4]), np.ones((3, DIM), np.float32)],
    ),
    "join": (
        core.join,
        [
            np.array([0, 3, 3, 5]),
            np.array([0, 2, 3, 1, 3], np.int32),
            np.array([5, 1, SIZES["MAX_JOIN_WEIGHT"]], np.int32),
            np.ones(4, np.float32),
            np.array([0, 2, 2], np.int32),
            np.array([0, 2, 2, 3]),
            np.empty((3, 2), np.int32),
            np.empty((3, 2), np.int32),
        ],
    ),
    "search": (
        core.search,
        [
            np.ones((4, 64), np.int16),
            np.ones((3, 64), np.int8),
            np.ones((20, 64), np.int8),
            np.array([0, 5, 5, 20]),
            np.empty((4, 6), np.int32),
            2,
            2,
            2,
        ],
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@HOSTILE
@given(st.data())
def test_arguments_that_do_not_fit_are_refused_or_answered(name, data):
    function, arguments = FUNCTIONS[name]
    function(*[argument.copy() if isinstance(argument, np.ndarray) else argument for argument in arguments])
    by_place = {str(place): argument for place, argument in enumerate(arguments) if argument is not NASTY}
    by_place = damage({key: a.copy() if isinstance(a, np.ndarray) else a for key, a in by_place.items()}, data)
    wrong = [by_place.get(str(place), argument) for place, argument in enumerate(arguments)]
    if data.draw(st.booleans()):
        wrong = wrong[: data.draw(st.integers(0, len(wrong)))]
    try:
        function(*wrong)
    except REFUSALS:
        return


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_written_to_has_to_be_writable(name):
    function, arguments = FUNCTIONS[name]
    frozen = [argument.copy() if isinstance(argument, np.ndarray) else argument for argument in arguments]
    for argument in frozen:
        if isinstance(argument, np.ndarray):
            argument.flags.writeable = False
    with pytest.raises((BufferError, ValueError)):
        function(*frozen)


def collection_options() -> dict[str, object]:
    """What a Collection is made of: five texts of seven terms."""
    chance = np.random.default_rng(0)
    bags = [np.sort(chance.choice(7, size, replace=False)) for size in (3, 0, 5, 1, 7)]
    owners, terms = np.repeat(np.arange(5), list(map(len, bags))), np.concatenate(bags)
    order = np.argsort(terms, kind="stable")
    return {
        "dim": DIM,
        "bags": terms.astype(np.int32),
        "bag_ends": np.cumsum([0, *map(len, bags)]).astype(np.int64),
        "counts": np.ones(len(terms), np.float32),
        "stem_of": np.array([0, 1, 1, 2, 3, 3, 4], np.int32),
        "is_number": np.array([0, 0, 0, 0, 0, 1, 1], np.uint8),
        "damping": np.ones(5, np.float32),
        "norms": np.ones(5, np.float32),
        "masses": np.ones(5),
        "posting_texts": owners[order].astype(np.int32),
        "posting_ends": np.cumsum([0, *np.bincount(terms, minlength=7)]).astype(np.int64),
        "posting_counts": np.ones(len(terms), np.float32),
        "codes": chance.integers(-127, 128, (5, DIM)).astype(np.int8),
        "scale": np.ones(5, np.float32),
        "signs": chance.integers(0, 2**63, (5, -(-DIM // 64))).astype(np.uint64),
    }


def query_options() -> dict[str, object]:
    """What `judge` takes, in its order."""
    longs = {
        name: np.array(own, np.int64) for name, own in {"rows": [0, 2, 4], "terms": [1, 6], "stems": [1, 4]}.items()
    }
    entries = {"ends": np.array([0, 1, 2], np.int64), "places": np.array([0, 1], np.int64), "shares": np.ones(2)}
    return {
        "total": 1.0,
        "length": 1.0,
        "steepness": 2.2,
        "scale": 0.1,
        "rows": longs["rows"],
        "result": np.zeros((3, 9), np.float32),
        "masses": np.ones(2),
        "is_number": np.array([0, 1], np.uint8),
        "terms": longs["terms"],
        "stems": longs["stems"],
        "is_asked": np.array([0, 1], np.uint8),
        "weights": np.ones(2),
        "best": np.ones(2),
        "rarity": np.ones(2),
        **{f"term_{name}": own for name, own in entries.items()},
        **{f"stem_{name}": own.copy() for name, own in entries.items()},
        "products": np.ones(7, np.float32),
        "codes": np.ones(DIM, np.int16),
    }


def search(collection: object, query: dict[str, object]) -> None:
    """Whatever a search calls."""
    rows, cosines, every = np.empty(3, np.int64), np.empty(3, np.float32), np.zeros(0, np.uint8)
    signs = np.full(3 * -(-DIM // 64), 2**63 + 5, np.uint64)
    for call in (
        lambda: collection.best(query["terms"], query["weights"], False, every, rows),
        lambda: collection.best(query["terms"], query["weights"], True, np.ones(5, np.uint8), rows),
        lambda: collection.nearest(query["codes"], 0.1, signs, every, 0, 5, 2, rows, cosines),
        lambda: collection.nearest(query["codes"], 0.1, signs, np.ones(5, np.uint8), 1, 5, 2**60, rows, cosines),
        lambda: collection.nearest(query["codes"], 0.1, signs, every, 2, 2**40, 2, rows, cosines),
        lambda: collection.nearest(query["codes"], 0.1, signs[1:], every, 0, 5, 2, rows, cosines),
        lambda: collection.nearest(query["codes"], 0.1, signs, every, 0, 5, -1, rows, cosines),
        lambda: collection.judge(*query.values()),
    ):
        try:
            call()
        except REFUSALS:
            continue


@HOSTILE
@given(st.data())
def test_a_collection_of_wrong_arrays_is_refused_or_searched(data):
    try:
        collection = core.Collection(**damage(collection_options(), data))
    except REFUSALS:
        return
    search(collection, query_options())


@HOSTILE
@given(st.data())
def test_queries_of_wrong_arrays_are_refused_or_answered(data):
    wrong = damage(query_options(), data)
    search(core.Collection(**collection_options()), query_options() | wrong)


def test_postings_out_of_order_are_refused():
    options = collection_options()
    options["posting_texts"] = np.ascontiguousarray(options["posting_texts"][::-1])
    with pytest.raises(ValueError, match="posting_texts"):
        core.Collection(**options)


def test_a_search_of_good_arrays_fills_its_features():
    query = query_options()
    search(core.Collection(**collection_options()), query)
    assert np.isfinite(query["result"]).all()
    assert query["result"].any()
