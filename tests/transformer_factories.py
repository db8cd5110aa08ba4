"""Small transformers with random weights, tokenizers of every kind for them, and texts with words that they break."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    AutoConfig,
    AutoModel,
    AutoTokenizer,
    BertConfig,
    BertModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaModel,
)

from tests.factories import toy_words

WORDS = toy_words(300)
DIM = 16
NEW = [word for word in toy_words(400, seed=5) if word not in set(WORDS)]  # they break
KINDS = {
    "bert": "wordpiece",
    "bert-cased": "wordpiece",
    "distilbert": "wordpiece",
    "electra": "wordpiece",
    "mpnet": "wordpiece",
    "roberta": "bytes",
    "modernbert": "bytes",
    "xlm-roberta": "unigram",
    "albert": "unigram",
    "deberta-v2": "unigram",
}
# In this order: MPNet and RoBERTa take it for granted that padding has the number 1.
NAMES = ("cls_token", "pad_token", "sep_token", "unk_token", "mask_token")
BERT = dict(zip(NAMES, ("[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"), strict=True))
ROBERTA = dict(zip(NAMES, ("<s>", "<pad>", "</s>", "<unk>", "<mask>"), strict=True))
CLASS = {
    "bert": "BertTokenizer",
    "bert-cased": "BertTokenizer",
    "distilbert": "BertTokenizer",
    "electra": "BertTokenizer",
    "mpnet": "MPNetTokenizer",
    "roberta": "RobertaTokenizer",
    "modernbert": "PreTrainedTokenizerFast",
    "xlm-roberta": "XLMRobertaTokenizer",
    "albert": "AlbertTokenizer",
    "deberta-v2": "DebertaV2Tokenizer",
}
SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
TRAINING_TEXTS = [" ".join(toy_words(200, seed)) for seed in range(3)]


def specials(kind: str) -> dict[str, str]:
    if kind == "mpnet":
        return ROBERTA | {"unk_token": "[UNK]"}
    return ROBERTA if kind in ("roberta", "xlm-roberta") else BERT


def tokenizer_below(kind: str, more: Sequence[str] = ()) -> Tokenizer:
    """Knows the first 300 made-up words as a whole, and all letters; and `more` words (not that of bytes)."""
    names = specials(kind)
    corpus = [" " + " ".join(WORDS[low : low + 10]) + " . , it's ( 12 ) !" for low in range(0, 300, 10)] * 3
    marks = list(names.values())
    if KINDS[kind] == "wordpiece":
        letters = [chr(code) for code in range(33, 127)]
        entries = dict.fromkeys(
            [*marks, *letters, *(f"##{letter}" for letter in letters), "##ing", "##er", *WORDS, *more]
        )
        made = Tokenizer(
            models.WordPiece({entry: number for number, entry in enumerate(entries)}, unk_token=names["unk_token"])
        )
        made.normalizer = normalizers.BertNormalizer(lowercase=kind != "bert-cased")
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        made.decoder = decoders.WordPiece()
    elif KINDS[kind] == "bytes":
        made = Tokenizer(models.BPE(unk_token=names["unk_token"]))
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        made.train_from_iterator(
            corpus,
            trainers.BpeTrainer(vocab_size=1200, special_tokens=marks, initial_alphabet=alphabet, show_progress=False),
        )
    else:
        scores = [*((mark, 0.0) for mark in marks), ("▁", -3.0), ("ing", -5.0), ("er", -5.0)]
        scores += [(chr(code), -9.0) for code in range(33, 127)] + [(f"▁{word}", -1.0) for word in (*WORDS, *more)]
        made = Tokenizer(models.Unigram(scores, unk_id=3))
        made.pre_tokenizer = pre_tokenizers.Metaspace()
        made.decoder = decoders.Metaspace()
    first, last = names["cls_token"], names["sep_token"]
    made.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {last} $B:1 {last}:1",
        special_tokens=[(first, made.token_to_id(first)), (last, made.token_to_id(last))],
    )
    return made


def save_small(kind: str, folder: Path) -> None:
    """Write config, random weights and tokenizer of a small model."""
    below = tokenizer_below(kind)
    sizes: dict[str, Any] = {
        "hidden_size": DIM,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": 64,
        "vocab_size": below.get_vocab_size(),
        "pad_token_id": below.token_to_id(specials(kind)["pad_token"]),
    }
    if kind == "distilbert":
        sizes |= {"dim": DIM, "n_layers": 2, "n_heads": 2, "hidden_dim": 32}
        sizes = {name: value for name, value in sizes.items() if not name.startswith(("hidden_size", "num_", "inter"))}
    if kind == "modernbert":
        sizes |= {f"{name}_token_id": below.token_to_id("[CLS]") for name in ("bos", "cls")}
        sizes |= {f"{name}_token_id": below.token_to_id("[SEP]") for name in ("eos", "sep")}
    if kind in ("albert", "electra"):
        sizes |= {"embedding_size": DIM, "hidden_size": 2 * DIM}
    torch.manual_seed(0)
    model = AutoModel.from_config(AutoConfig.for_model(kind.removesuffix("-cased"), **sizes)).eval()
    model.save_pretrained(folder)
    save_tokenizer(kind, below, folder)


def save_tokenizer(kind: str, below: Tokenizer, folder: Path) -> None:
    below.save(str(folder / "tokenizer.json"))
    metadata = {"tokenizer_class": CLASS[kind], "model_max_length": 64, "do_lower_case": kind != "bert-cased"}
    (folder / "tokenizer_config.json").write_text(json.dumps(metadata | specials(kind)))


def load_small(folder: Path, auto: Any = AutoModel, **options: Any) -> tuple[Any, Any]:
    return auto.from_pretrained(folder, **options).eval(), AutoTokenizer.from_pretrained(folder)


def mixed_texts(count: int, broken: float, seed: int = 0, words: int = 8) -> list[str]:
    """Texts of known words, of which a share is exchanged for words that break; lengths differ."""
    rng = np.random.default_rng([seed, count])
    return [
        " ".join(
            NEW[rng.integers(len(NEW))] if rng.random() < broken else WORDS[rng.integers(len(WORDS))]
            for _ in range(rng.integers(1, words + 1))
        )
        for _ in range(count)
    ]


def add_borders(backend: Tokenizer, first: str, last: str) -> None:
    ids = [(token, backend.token_to_id(token)) for token in (first, last)]
    backend.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}", pair=f"{first} $A {last} $B {last}", special_tokens=ids
    )


def wordpiece(lowercase: bool = True) -> PreTrainedTokenizerFast:
    backend = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    texts = TRAINING_TEXTS if lowercase else [*TRAINING_TEXTS, "The Cat THE cat The Cat"]
    special = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    backend.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=400, special_tokens=special))
    add_borders(backend, "[CLS]", "[SEP]")
    return PreTrainedTokenizerFast(tokenizer_object=backend, **BERT)


def byte_level() -> PreTrainedTokenizerFast:
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=500, special_tokens=special, initial_alphabet=alphabet)
    backend.train_from_iterator(TRAINING_TEXTS, trainer)
    add_borders(backend, "<s>", "</s>")
    return PreTrainedTokenizerFast(tokenizer_object=backend, **ROBERTA, bos_token="<s>", eos_token="</s>")


def sentencepiece() -> PreTrainedTokenizerFast:
    backend = Tokenizer(models.Unigram())
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.decoder = decoders.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trainer = trainers.UnigramTrainer(vocab_size=300, special_tokens=special, unk_token="<unk>")
    backend.train_from_iterator(TRAINING_TEXTS, trainer)
    add_borders(backend, "<s>", "</s>")
    return PreTrainedTokenizerFast(tokenizer_object=backend, **ROBERTA, bos_token="<s>", eos_token="</s>")


def bert(tokenizer: PreTrainedTokenizerFast, **more: int) -> BertModel:
    torch.manual_seed(0)
    config = BertConfig(vocab_size=len(tokenizer), max_position_embeddings=32, initializer_range=0.5, **SIZES | more)
    return BertModel(config).eval()


def roberta(tokenizer: PreTrainedTokenizerFast) -> RobertaModel:
    torch.manual_seed(0)
    config = RobertaConfig(vocab_size=len(tokenizer), max_position_embeddings=34, initializer_range=0.5, **SIZES)
    return RobertaModel(config).eval()


def save_transformer(folder: Path, model: torch.nn.Module, tokenizer: PreTrainedTokenizerFast) -> Path:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
