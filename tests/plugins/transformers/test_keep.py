"""Words to keep stay in pieces: they, and only they, are seen as the plain model sees them."""

from __future__ import annotations

import pickle

import pytest
import torch
from tests.plugins.transformers.made_models import NEW, WORDS
from transformers import AutoTokenizer

from lovevec import LOVE, LovevecError
from lovevec.plugins.transformers import robustify

KEPT, OTHERS = NEW[:4], NEW[10:14]
STRATEGIES = ("replace", "linear", "add")


@pytest.mark.parametrize("kind", ["bert", "roberta", "xlm-roberta"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_text_of_kept_words_is_bit_equal_to_the_plain_model(small, love, kind, strategy):
    plain, plain_tokenizer = small(kind)
    robust, tokenizer = robustify((plain, plain_tokenizer), love, strategy, space="direct", keep=[*KEPT, WORDS[3]])
    texts = [f"{WORDS[3]} {' '.join(KEPT)}", f"{KEPT[0].title()} {WORDS[5]} {KEPT[1]}"]
    for text in texts[: 2 if kind == "bert" else 1]:  # the others know no capitals; RoBERTa breaks a first word
        given, expected = tokenizer(text, return_tensors="pt"), plain_tokenizer(text, return_tensors="pt")
        assert given["input_ids"].tolist() == expected["input_ids"].tolist()
        assert not given["love_words"].any()
        with torch.no_grad():
            assert torch.equal(robust(**given)[0], plain(**expected)[0])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_other_broken_words_are_seen_as_without_keep(small, love, strategy):
    _, keeping = robustify(small("bert"), love, strategy, space="direct", keep=KEPT)
    _, usual = robustify(small("bert"), love, strategy, space="direct")
    text = " ".join([*WORDS[:4], *OTHERS])
    assert keeping(text) == usual(text)
    assert keeping(" ".join(KEPT)) != usual(" ".join(KEPT))


def test_it_is_saved_pickled_and_loaded(small, love, tmp_path):
    _, tokenizer = robustify(small("bert"), love, space="direct", keep=KEPT)
    text = " ".join([*KEPT, *OTHERS])
    tokenizer.save_pretrained(tmp_path / "m")
    for again in (AutoTokenizer.from_pretrained(tmp_path / "m"), pickle.loads(pickle.dumps(tokenizer))):
        assert again(text) == tokenizer(text)


def test_a_name_stands_for_the_known_words_of_a_love(minilm):
    _, tokenizer = robustify(minilm, keep="default")
    words = ["pretentious", "tedious", "pretentoius"]
    assert [word in LOVE.load() for word in words] == [True, True, False]
    assert [bool(torch.any(tokenizer(word, return_tensors="pt")["love_words"])) for word in words] == [
        False,
        False,
        True,
    ]


def test_what_is_no_word_is_told(small, love):
    with pytest.raises(LovevecError, match="7"):
        robustify(small("bert"), love, space="direct", keep=["good", 7])
