"""Small transformers with random weights and tokenizers of the three kinds, all made on the spot."""

from __future__ import annotations

from pathlib import Path

import torch
from tests.conftest import made_words
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast, RobertaConfig, RobertaModel

BERT = {
    "unk_token": "[UNK]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
ROBERTA = {
    "bos_token": "<s>",
    "pad_token": "<pad>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "mask_token": "<mask>",
    "cls_token": "<s>",
    "sep_token": "</s>",
}
SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
TEXTS = [" ".join(made_words(200, seed)) for seed in range(3)]


def around(backend: Tokenizer, first: str, last: str) -> None:
    ids = [(token, backend.token_to_id(token)) for token in (first, last)]
    backend.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}", pair=f"{first} $A {last} $B {last}", special_tokens=ids
    )


def wordpiece(lowercase: bool = True) -> PreTrainedTokenizerFast:
    backend = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    texts = TEXTS if lowercase else [*TEXTS, "The Cat THE cat The Cat"]
    special = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    backend.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=400, special_tokens=special))
    around(backend, "[CLS]", "[SEP]")
    return PreTrainedTokenizerFast(tokenizer_object=backend, **BERT)


def byte_level() -> PreTrainedTokenizerFast:
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=500, special_tokens=special, initial_alphabet=alphabet)
    backend.train_from_iterator(TEXTS, trainer)
    around(backend, "<s>", "</s>")
    return PreTrainedTokenizerFast(tokenizer_object=backend, **ROBERTA)


def sentencepiece() -> PreTrainedTokenizerFast:
    backend = Tokenizer(models.Unigram())
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.decoder = decoders.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trainer = trainers.UnigramTrainer(vocab_size=300, special_tokens=special, unk_token="<unk>")
    backend.train_from_iterator(TEXTS, trainer)
    around(backend, "<s>", "</s>")
    return PreTrainedTokenizerFast(tokenizer_object=backend, **ROBERTA)


def bert(tokenizer: PreTrainedTokenizerFast, **more: int) -> BertModel:
    torch.manual_seed(0)
    config = BertConfig(vocab_size=len(tokenizer), max_position_embeddings=32, initializer_range=0.5, **SIZES | more)
    return BertModel(config).eval()


def roberta(tokenizer: PreTrainedTokenizerFast) -> RobertaModel:
    torch.manual_seed(0)
    config = RobertaConfig(vocab_size=len(tokenizer), max_position_embeddings=34, initializer_range=0.5, **SIZES)
    return RobertaModel(config).eval()


def save(folder: Path, model: torch.nn.Module, tokenizer: PreTrainedTokenizerFast) -> Path:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
