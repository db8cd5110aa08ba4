"""The robust tokenizer against a plain one whose vocabulary has the broken words as whole words: whatever is asked for,
both give the same positions, and where the plain one has a word's own number the robust one has its spelling."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch
from tests.transformer_factories import NEW, WORDS, mixed_texts, save_tokenizer, tokenizer_below

from lovevec.plugins.transformers import robustify
from lovevec.plugins.transformers.wire_format import to_bytes, to_words

BROKEN = NEW[:60]
KINDS = ("bert", "mpnet", "xlm-roberta", "deberta-v2")
OPTIONS = {
    "nothing": {},
    "no special tokens": {"add_special_tokens": False},
    "padding to the longest": {"padding": True},
    "padding to a length": {"padding": "max_length", "max_length": 20},
    "padding to a multiple": {"padding": True, "pad_to_multiple_of": 8},
    "padding on the left": {"padding": True, "padding_side": "left"},
    "truncation": {"truncation": True, "max_length": 7},
    "truncation and padding": {"truncation": True, "max_length": 7, "padding": True, "return_length": True},
    "overflow": {"truncation": True, "max_length": 6, "stride": 2, "return_overflowing_tokens": True},
    "overflow, padded": {
        "truncation": True,
        "max_length": 6,
        "stride": 1,
        "return_overflowing_tokens": True,
        "padding": "max_length",
    },
}


@pytest.fixture(scope="module", params=KINDS)
def two(request, small, love, tmp_path_factory):
    """The robust tokenizer, the plain one that knows the broken words, and the number of the first of these."""
    _, tokenizer = robustify(small(request.param), love, space="direct")
    folder = tmp_path_factory.mktemp("knowing")
    save_tokenizer(request.param, tokenizer_below(request.param, BROKEN), folder)
    plain = small(request.param)[1]
    return tokenizer, type(plain).from_pretrained(folder), len(plain)


def texts_for(seed=0):
    rng = np.random.default_rng(seed)
    words = [*WORDS[:60], *BROKEN, ",", "(", f"{WORDS[0]}'s", "77"]
    return [" ".join(words[number] for number in rng.integers(len(words), size=size)) for size in (1, 3, 9, 14, 0, 5)]


def words_of(numbers) -> list[str]:
    """The spellings, empty where there is none."""
    numbers = np.array(numbers, dtype=np.int64).reshape(-1, 8)
    return to_words(to_bytes(numbers))


def assert_same(two, given, **options):
    tokenizer, knowing, first = two
    names = ("special_tokens_mask", "offsets_mapping")
    more = {f"return_{name}": True for name in names}
    found, expected = tokenizer(*given, **options, **more), knowing(*given, **options, **more)
    spelled = found.pop("love_words")
    assert set(found) == set(expected)
    for name in set(expected) - {"input_ids"}:
        assert found[name] == expected[name], name
    assert len(found.encodings) == len(expected.encodings)
    rows = [expected["input_ids"]] if isinstance(expected["input_ids"][0], int) else expected["input_ids"]
    mine = [found["input_ids"]] if isinstance(expected["input_ids"][0], int) else found["input_ids"]
    spelled = [spelled] if isinstance(expected["input_ids"][0], int) else spelled
    for number, (row, ids, words) in enumerate(zip(rows, mine, spelled, strict=True)):
        assert ids == [tokenizer.unk_token_id if one >= first else one for one in row]
        names = knowing.convert_ids_to_tokens(row)
        assert words_of(words) == [
            name.removeprefix("▁") if one >= first else "" for one, name in zip(row, names, strict=True)
        ]
        assert found.tokens(number) == names
        assert found.word_ids(number) == expected.word_ids(number)
        assert found.sequence_ids(number) == expected.sequence_ids(number)
        for place in range(len(row)):
            assert found.token_to_chars(number, place) == expected.token_to_chars(number, place)
            assert found.token_to_word(number, place) == expected.token_to_word(number, place)
            assert found.token_to_sequence(number, place) == expected.token_to_sequence(number, place)
        for sequence in {one for one in expected.sequence_ids(number) if one is not None}:
            for place in range(40):
                where = number, place, sequence
                assert found.char_to_token(*where) == expected.char_to_token(*where)
                assert found.char_to_word(*where) == expected.char_to_word(*where)
                assert found.word_to_tokens(*where) == expected.word_to_tokens(*where)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_texts(two, options):
    texts = texts_for()
    assert_same(two, [texts], **options)
    assert_same(two, [texts[2:3]], **options)
    if "return_overflowing_tokens" not in options:
        assert_same(two, [texts[3]], **options)


@pytest.mark.parametrize("strategy", ["longest_first", "only_first", "only_second"])
def test_pairs(two, strategy):
    ones, others = texts_for(1)[2:4] * 2, texts_for(2)[:2] * 2
    if strategy == "only_second":
        ones, others = others, ones
    overflowing = strategy != "longest_first"
    cut = {"truncation": strategy, "max_length": 13, "stride": 2, "return_overflowing_tokens": overflowing}
    for options in ({}, {"padding": True}, cut, cut | {"padding": "max_length"}):
        assert_same(two, [ones, others], **options)
        assert_same(two, [list(zip(ones, others, strict=True))], **options)
        assert_same(two, [list(map(list, zip(ones, others, strict=True)))], **options)
    if not overflowing:
        assert_same(two, [ones[0], others[0]], **cut)


def test_given_words(two):
    ones, others = ([text.split() for text in texts_for(seed) if text] for seed in (3, 4))
    for options in ({}, {"padding": True}, {"truncation": True, "max_length": 9, "stride": 1}):
        assert_same(two, [ones], is_split_into_words=True, **options)
        assert_same(two, [ones, others], is_split_into_words=True, **options)
        assert_same(two, [ones[2]], is_split_into_words=True, **options)


def test_truncation_on_the_left(two):
    two = (copy.deepcopy(two[0]), copy.deepcopy(two[1]), two[2])
    two[0].truncation_side = two[1].truncation_side = "left"
    for options in (OPTIONS["truncation"], OPTIONS["overflow"]):
        assert_same(two, [texts_for(5)], **options)


def test_padding_afterwards_is_padding_at_once(two):
    tokenizer, texts = two[0], texts_for(6)
    for side in ("right", "left"):
        at_once = tokenizer(texts, padding=True, padding_side=side, return_tensors="pt")
        singly = [tokenizer(text) for text in texts]
        afterwards = tokenizer.pad(singly, padding=True, padding_side=side, return_tensors="pt")
        assert set(afterwards) == set(at_once)
        assert all(torch.equal(afterwards[name], at_once[name]) for name in at_once)
    rounded = tokenizer.pad(singly, pad_to_multiple_of=16, return_tensors="np")
    assert rounded["love_words"].shape == (*rounded["input_ids"].shape, 8)
    assert rounded["input_ids"].shape[1] == -(-at_once["input_ids"].shape[1] // 16) * 16


def test_shorter_ways_to_ask(two):
    tokenizer, knowing, first = two
    text = f"{WORDS[0]} {BROKEN[0]}"
    expected = [tokenizer.unk_token_id if one >= first else one for one in knowing.encode(text)]
    assert tokenizer.encode(text) == expected
    assert tokenizer.tokenize(text) == knowing.tokenize(text)
    assert tokenizer.num_special_tokens_to_add() == knowing.num_special_tokens_to_add()
    assert tokenizer.decode(expected) == tokenizer.decode(expected)
    assert set(tokenizer(text)) == set(tokenizer.model_input_names)


def test_a_copy_and_a_pickle_do_the_same(two):
    tokenizer, texts = two[0], texts_for(7)
    expected = tokenizer(texts, padding=True)
    for other in (copy.deepcopy(tokenizer), pickle.loads(pickle.dumps(tokenizer))):
        assert type(other) is type(tokenizer)
        assert dict(other(texts, padding=True)) == dict(expected)


def test_added_tokens_are_whole(small, love):
    _, tokenizer = robustify(small("bert"), love, space="direct")
    assert words_of(tokenizer("qqqxyz qqq")["love_words"]) == ["", "qqqxyz", "qqq", ""]
    tokenizer.add_tokens(["qqqxyz"])
    encoded = tokenizer("qqqxyz qqq")
    assert words_of(encoded["love_words"]) == ["", "", "qqq", ""]
    assert encoded["input_ids"][1] == len(tokenizer) - 1


@pytest.mark.parametrize("kind", ["bert", "roberta", "xlm-roberta"])
def test_odd_texts(kind, small, love):
    plain = small(kind)[1]
    _, tokenizer = robustify(small(kind), love, space="direct")
    untouched = ["", " ", "\n\t", "😀 ☃", "12345 999999", "?!,.", plain.unk_token, plain.mask_token, "我喜欢你 ตัวอย่าง"]
    for text in untouched:
        assert tokenizer(text)["input_ids"] == plain(text)["input_ids"], text
        assert not np.any(tokenizer(text)["love_words"])
    for text in ("a\0b", "zq\0\0", "re\u0301sume\u0301x", "zqx😀zqx", "x" * 1000, f"{plain.mask_token}zqzq"):
        encoded = tokenizer(text)
        assert len(encoded["love_words"]) == len(encoded["input_ids"])
        assert all(len(row) == 8 for row in encoded["love_words"])


def test_a_word_of_a_megabyte(small, love):
    _, tokenizer = robustify(small("roberta"), love, space="direct")
    encoded = tokenizer("ab" * (1 << 19))
    assert words_of(encoded["love_words"]) == ["", "ab" * 32, ""]
    assert encoded.token_to_chars(1) == (0, 1 << 20)


def test_lone_surrogates_are_refused_as_ever(two):
    for tokenizer in two[:2]:
        with pytest.raises((TypeError, ValueError, UnicodeError)):
            tokenizer("a\ud800b")


def test_thousands_of_texts_are_those_of_each_alone(small, love):
    _, tokenizer = robustify(small("bert"), love, space="direct")
    texts = mixed_texts(3000, broken=0.3)
    together = tokenizer(texts)
    for number in range(0, 3000, 101):
        alone = tokenizer(texts[number])
        assert all(together[name][number] == alone[name] for name in alone)


def test_cased_words_keep_their_case_and_uncased_ones_do_not(small, love):
    for kind, expected in (("bert-cased", "ZqxWv"), ("bert", "zqxwv"), ("roberta", "ZqxWv"), ("xlm-roberta", "ZqxWv")):
        _, tokenizer = robustify(small(kind), love, space="direct")
        assert expected in words_of(tokenizer("( ZqxWv )")["love_words"])


def test_the_settings_below_are_left_as_they_were(two):
    tokenizer = two[0]
    tokenizer(["a b c d"], truncation=True, max_length=3, padding=True)
    below = tokenizer.backend_tokenizer
    assert below.truncation["max_length"] == 3
    assert below.padding["direction"] == "right"
    tokenizer(["a b c d"])
    assert below.truncation is None
    assert below.padding is None


def test_other_strategies_keep_all_pieces(small, love):
    plain = small("bert")[1]
    texts = mixed_texts(5, broken=0.5)
    for strategy in ("linear", "add"):
        _, tokenizer = robustify(small("bert"), love, strategy, space="direct")
        found, expected = tokenizer(texts), plain(texts)
        for number, text in enumerate(texts):
            words = words_of(found["love_words"][number])
            numbers = expected.word_ids(number)
            pieces = {word: numbers.count(word) for word in numbers}
            assert words == [text.split()[word] if word is not None and pieces[word] > 1 else "" for word in numbers]
        assert all(found[name] == expected[name] for name in expected)
