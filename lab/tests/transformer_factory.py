"""A small BERT with random weights whose vocabulary is a list of words, then letters."""

from __future__ import annotations

import string
from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

SPECIAL = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
LETTERS = string.ascii_lowercase + string.digits


def save_transformer(folder: Path, words: Sequence[str], dim: int = 16, positions: int = 64) -> Path:
    """Words of the list are whole, every other word is broken into its letters."""
    pieces = [*SPECIAL.values(), *words, *LETTERS, *(f"##{letter}" for letter in LETTERS), ".", ","]
    numbers = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    backend = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    around = [(token, numbers[token]) for token in ("[CLS]", "[SEP]")]
    backend.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=around)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        sizes = {"hidden_size": dim, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
        model = BertModel(BertConfig(vocab_size=len(numbers), max_position_embeddings=positions, **sizes))
    model.save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=backend, **SPECIAL).save_pretrained(folder)
    return folder
