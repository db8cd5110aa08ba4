"""What a transformer's tokenizer does to words: which of its pieces make one word, and how that is spelled.

    WordPiece (BERT)              mis ##pel ##led     a piece that goes on a word has a prefix
    byte-level BPE (RoBERTa)      Ġmis pelled         a piece that begins a word has a space mark
    SentencePiece (XLM-R)         ▁mis pel led        so here; punctuation may hang on the word: it ends it

A word of several pieces is *broken*: the tokenizer does not know it. Pieces without a letter or digit belong to no
word, and one that begins with punctuation ('s) goes on none. A lone space mark belongs to the word behind it.
Entries that are a whole word by themselves are the rows of the input embeddings to mimic.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError

SPACE_MARK = "▁"
NO_WORD = b""
# Thai to Tibetan, Burmese, Khmer, kana and Han: written without spaces, so that a run of letters is no word.
UNSPACED = re.compile(
    "[\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


class Pieces:
    """The vocabulary of a Hugging Face fast tokenizer, entry by entry: what it adds to a word, and whether it begins
    one. Special and added tokens belong to no word."""

    def __init__(self, tokenizer: Any) -> None:
        state = _state(tokenizer)
        refuse_empty(tokenizer)
        vocabulary: dict[str, int] = tokenizer.get_vocab()
        self.text_of = _text_function(state, vocabulary, _name(tokenizer))
        # Unigram shows an unknown piece as it is spelled, the others as [UNK]: the mark, an entry of its own, tells a
        # merged word from it.
        self.mark = SPACE_MARK if state["model"].get("type") == "Unigram" else ""
        self.in_bytes = state["model"].get("type") == "BPE" and _mentions(state, "ByteLevel")
        self.unknown, self.unknown_id = tokenizer.unk_token, tokenizer.unk_token_id
        apart = {*tokenizer.all_special_ids, *tokenizer.added_tokens_decoder}
        size = max(vocabulary.values(), default=-1) + 1
        self.text, self.begins = [NO_WORD] * size, [True] * size
        for entry, number in vocabulary.items():
            if number not in apart and not entry.startswith("[unused"):
                self.text[number], self.begins[number] = self.text_of(entry)
        self.in_word = [_in_word(text) for text in self.text]
        entries = zip(self.begins, self.in_word, self.text, strict=True)
        self.cuts = [begins or not in_word or _starts_outside_word(text) for begins, in_word, text in entries]
        self.goes_on = {number for number, cuts in enumerate(self.cuts) if not cuts}
        self.space = next(
            (number for entry, number in vocabulary.items() if self.text_of(entry) == (NO_WORD, True)), -1
        )

    def words(self, ids: Sequence[int], word_ids: Sequence[int | None]) -> list[tuple[int, int]]:
        """The words of one tokenised text, as positions from, up to: `mis ##pel ##led .` -> [(0, 3)]."""
        spans: list[tuple[int, int]] = []
        low, last = -1, None
        for place, (number, word) in enumerate(zip(ids, word_ids, strict=True)):
            if low >= 0 and (word != last or self.cuts[number]):
                spans.append((low, place))
                low = -1
            if low < 0 and word is not None and self.in_word[number]:
                low = place - (place > 0 and word == last and ids[place - 1] == self.space)
            last = word
        if low >= 0:
            spans.append((low, len(ids)))
        return spans

    def broken_words(self, ids: Sequence[int], word_ids: Sequence[int | None]) -> list[tuple[int, int]]:
        """Those `words` that have several pieces and a letter: numbers are no words to look up by their spelling."""
        if self.goes_on.isdisjoint(ids):
            return []
        spans = self.words(ids, word_ids)
        return [(low, high) for low, high in spans if high - low > 1 and is_word(self.spelling(ids[low:high]))]

    def spelling(self, ids: Iterable[int]) -> str:
        """The word that pieces make, as the tokenizer sees it (an uncased one has it in lower case)."""
        return b"".join([self.text[number] for number in ids]).decode("utf-8", "replace")

    def entry(self, ids: Iterable[int], tokens: Iterable[str]) -> str:
        return "".join(tokens) if self.in_bytes else self.mark + self.spelling(ids)

    def merged_word(self, token: str) -> str:
        """The word of a token that `entry` gave; empty where it stands for a piece that the tokenizer does not know."""
        if token == self.unknown or not token.startswith(self.mark):
            return ""
        return self.text_of(token)[0].decode("utf-8", "replace") if self.in_bytes else token.removeprefix(self.mark)


def whole_words(tokenizer: Any) -> tuple[list[str], NDArray[np.int64]]:
    """The entries of a fast tokenizer's vocabulary that are whole words, in its order, and their row numbers.

        WordPiece                      run, ##ning      -> run
        byte-level BPE, SentencePiece  Ġrun, ▁run, ning -> run

    Pieces that go on a word, special and added tokens and [unused…] rows are left out, and so is what is no text by
    itself: part of a character, nothing but a space mark, several words in one entry. Punctuation stays.
    """
    pieces = Pieces(tokenizer)
    words: list[str] = []
    rows: list[int] = []
    for number, (text, begins) in enumerate(zip(pieces.text, pieces.begins, strict=True)):
        if begins and (word := _as_word(text)):
            words.append(word)
            rows.append(number)
    return words, np.array(rows, dtype=np.int64)


def lowercases(tokenizer: Any) -> bool:
    """Whether the tokenizer lower-cases what it reads, so that its model knows no capitals."""
    normalizer = tokenizer.backend_tokenizer.normalizer
    return normalizer is not None and "abc" in normalizer.normalize_str("ABC")


def refuse_empty(tokenizer: Any) -> None:
    """A folder without a tokenizer gives one that knows special tokens only, and transformers does not say so."""
    if {*tokenizer.get_vocab().values()} <= {*tokenizer.all_special_ids, *tokenizer.added_tokens_decoder}:
        raise LovevecError(
            f"{_name(tokenizer)}: its tokenizer has no vocabulary; is tokenizer.json missing beside the model?"
        )


def _as_word(text: bytes) -> str:
    try:
        word = text.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return word if word.split() == [word] and SPACE_MARK not in word and "\ufffd" not in word else ""


def is_word(spelling: str) -> bool:
    """Whether LOVE may know more of a word than the tokenizer does."""
    return any(map(str.isalpha, spelling)) and not UNSPACED.search(spelling)


def _in_word(text: bytes) -> bool:
    """Whether a piece can be part of a word: it has a letter, a mark on one or a digit, or a part of a character that
    may be one."""
    try:
        return any(unicodedata.category(character)[0] in "LMN" for character in text.decode("utf-8"))
    except UnicodeDecodeError:
        return True


def _starts_outside_word(text: bytes) -> bool:
    first = text.decode("utf-8", "replace")[:1]
    return first != "\ufffd" and unicodedata.category(first or " ")[0] not in "LMN"


def _state(tokenizer: Any) -> dict[str, Any]:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None or not getattr(tokenizer, "is_fast", False):
        raise LovevecError(
            f"{_name(tokenizer)}: is no fast tokenizer, so it does not tell which pieces make a word; "
            "load the model's fast one (tokenizer.json)"
        )
    state: dict[str, Any] = json.loads(backend.to_str())
    return state


def _text_function(state: dict[str, Any], vocabulary: dict[str, int], name: str) -> Any:
    model = state["model"]
    kind = model.get("type")
    if kind == "WordPiece":
        prefix = model["continuing_subword_prefix"]
        return lambda entry: (entry.removeprefix(prefix).encode("utf-8", "replace"), not entry.startswith(prefix))
    if _mentions(state, "ByteLevel") and kind == "BPE" and not model.get("end_of_word_suffix"):
        byte_of = _bytes_by_character()
        return lambda entry: _from_bytes(entry, byte_of)
    if _mentions(state, "Metaspace") and kind in ("BPE", "Unigram") and SPACE_MARK in vocabulary:
        return lambda entry: (entry.removeprefix(SPACE_MARK).encode("utf-8", "replace"), entry.startswith(SPACE_MARK))
    raise LovevecError(
        f"{name}: its tokenizer ({kind or 'of an unknown kind'}) does not mark where words begin in a way that "
        "is known here; WordPiece, byte-level BPE and SentencePiece tokenizers do"
    )


def _mentions(state: dict[str, Any], kind: str) -> bool:
    """Whether the text is cut up, or put together again, in this way."""
    return any(f'"type": "{kind}"' in json.dumps(state.get(part)) for part in ("pre_tokenizer", "decoder"))


def _from_bytes(entry: str, byte_of: dict[str, int]) -> tuple[bytes, bool]:
    """The text of an entry of byte-level BPE, and whether it begins a word: `Ġmis` -> (b"mis", True)."""
    text = bytes(byte_of.get(character, ord("?") if ord(character) > 255 else ord(character)) for character in entry)
    return text.removeprefix(b" "), text.startswith(b" ")


def _bytes_by_character() -> dict[str, int]:
    """The code of byte-level BPE: a printable Latin-1 character stands for its own byte, the other 68 bytes have the
    characters from U+0100 on, in order (so a space is Ġ)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in set(printable)]
    table = {chr(byte): byte for byte in printable}
    return table | {chr(0x100 + number): byte for number, byte in enumerate(others)}


def _name(tokenizer: Any) -> str:
    return str(getattr(tokenizer, "name_or_path", "") or type(tokenizer).__name__)
