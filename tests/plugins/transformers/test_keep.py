"""Words to keep stay in pieces: they, and only they, are seen as the plain model sees them."""

from __future__ import annotations

import pickle

import pytest
import torch
from tests.transformer_factories import NEW, WORDS
from transformers import AutoModel, AutoTokenizer

from lovevec import LovevecError
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
    robust, tokenizer = robustify(small("bert"), love, space="direct", keep=KEPT)
    text = " ".join([*KEPT, *OTHERS, KEPT[0][:-1]])
    tokenizer.save_pretrained(tmp_path / "m")
    robust.save_pretrained(tmp_path / "m")
    loaded = AutoModel.from_pretrained(tmp_path / "m")
    assert loaded.love.words == [*love.words, *KEPT]
    with torch.no_grad():
        batch = tokenizer(text, return_tensors="pt")
        assert torch.equal(loaded(**batch)[0], robust(**batch)[0])
        with pytest.warns(UserWarning, match="without love_words"):
            loaded(batch["input_ids"])
    for again in (AutoTokenizer.from_pretrained(tmp_path / "m"), pickle.loads(pickle.dumps(tokenizer))):
        assert again(text) == tokenizer(text)


def goes_to_love(tokenizer, words):
    return [bool(torch.any(tokenizer(word, return_tensors="pt")["love_words"])) for word in words]


def test_what_is_spelled_right_stays_in_pieces_by_default(minilm, robust_minilm, shipped_love):
    """Known words, in any case and with accents that the tokenizer leaves out; not their misspellings."""
    words, typo = ["pretentious", "Tedious", "DÉCOR", "fiancée"], "pretentoius"
    assert [word in shipped_love for word in (*words, typo)] == [True] * 4 + [False]
    assert all(len(minilm[1].tokenize(word)) > 1 for word in words[:2])
    text = " ".join(words)
    for robust, tokenizer in (robust_minilm, robustify(minilm, keep="default")):
        assert goes_to_love(tokenizer, [*words, typo]) == [False] * 4 + [True]
        with torch.no_grad():
            found = robust(**tokenizer(text, return_tensors="pt"))[0]
            assert torch.equal(found, minilm[0](**minilm[1](text, return_tensors="pt"))[0])


def test_misspellings_of_kept_words_are_read_as_the_mean_of_their_pieces(minilm, robust_minilm):
    robust, _ = robust_minilm
    pieces = minilm[1]("pretentious", add_special_tokens=False)["input_ids"]
    mean = minilm[0].get_input_embeddings().weight.detach()[pieces].mean(dim=0)
    (word, chance), *_ = robust.love.near("pretentoius")
    assert (word, chance > 0.8) == ("pretentious", True)
    made = torch.from_numpy(robust.robust_embeddings.imputer(["pretentoius"])[0])
    assert torch.cosine_similarity(made, mean, dim=0) > 0.95
    assert "pretentious" not in robustify(minilm, keep=())[0].love


def test_with_nothing_to_keep_every_broken_word_goes_to_love(minilm):
    _, tokenizer = robustify(minilm, keep=())
    assert goes_to_love(tokenizer, ["pretentious", "pretentoius", "film"]) == [True, True, False]


@pytest.mark.slow
def test_a_model_of_another_language_keeps_nothing_unless_told(small, love):
    text = "pretentious " + NEW[0]
    pair = small("bert")  # its words are made up
    choices: tuple[dict[str, object], ...] = ({}, {"keep": ()}, {"keep": "default"})
    unsaid, nothing, told = (robustify(pair, love, space="direct", **choice)[1] for choice in choices)
    assert unsaid(text) == nothing(text) != told(text)
    assert goes_to_love(told, text.split()) == [False, True]


def test_what_is_no_word_is_told(small, love):
    with pytest.raises(LovevecError, match="7"):
        robustify(small("bert"), love, space="direct", keep=["good", 7])
