"""The unit vocabulary: characters and WordPiece pieces, learned from the target's words or read from a vocab.txt.

The table of unit vectors is almost all of a model, so the paper shrinks it. Its four ways, and none:

    none     every piece has its row                                      30k x d
    stem     stem whole words, drop pieces with numerals (the default)    about 21k x d
    top      keep the pieces that occur most                              20k x d
    hash     pieces share rows by a hash of their spelling                20k x d
    factor   rows of h < d numbers times one h x d matrix                 30k x h + h x d

The matrix of `factor` can go with the other ways too.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import FormatError, LovevecError, MissingExtra, reason
from lovevec.files.lines import read_bytes, split_lines
from lovevec.units.characters import LONGEST

Shrink = Literal["none", "stem", "top", "hash", "factor"]
SHRINKS: tuple[str, ...] = get_args(Shrink)

PAD, UNK, CLS, SEP, SUB = range(5)
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[SUB]")
CONTINUATION = "##"
MAX_CHARACTERS = 1000
MAX_WORDS = 200_000  # that pieces are learned from; a later one would count next to nothing beside the first
LONGEST_PIECE = 10 * LONGEST  # in a file; a piece longer than the words that are read fits none of them
# Pieces whatever the words are: `bec0me` and `e-mail` can be split even if no word of the target had such a character.
ALWAYS = "0123456789-'."


@dataclass(frozen=True)
class UnitVocabulary:
    """Units in the order of their ids. Unit i has table row i, unless `buckets` > 0: then units share rows.
    Behind them come the `ngrams` rows that hashed n-grams share; no word has any where it is 0."""

    units: tuple[str, ...]
    buckets: int = 0
    ngrams: int = 0

    def __post_init__(self) -> None:
        if tuple(self.units[: len(SPECIAL)]) != SPECIAL:
            raise LovevecError(f"a unit vocabulary starts with {' '.join(SPECIAL)}")

    def __len__(self) -> int:
        return len(self.units)

    @property
    def unit_rows(self) -> int:
        """How many rows characters and pieces have; the first n-gram has the row of this number."""
        return len(SPECIAL) + (self.buckets or len(self.units) - len(SPECIAL))

    @property
    def table_rows(self) -> int:
        return self.unit_rows + self.ngrams

    def rows(self) -> NDArray[np.int32]:
        """The table row of each unit: its own, or the bucket that its spelling hashes to."""
        rows = np.arange(len(self.units), dtype=np.int32)
        if self.buckets:
            spelled = (unit.encode("utf-8", "surrogatepass") for unit in self.units[len(SPECIAL) :])
            hashes = np.frombuffer(b"".join(blake2b(text, digest_size=8).digest() for text in spelled), dtype="<u8")
            rows[len(SPECIAL) :] = len(SPECIAL) + (hashes % np.uint64(self.buckets)).astype(np.int32)
        return rows

    def to_json(self) -> str:
        """A Hugging Face tokenizer.json (WordPiece) with these units: other tools can read our files."""
        return str(_tokenizer(self.units).to_str(pretty=True)) + "\n"

    @classmethod
    def from_json(cls, text: str, where: str | Path, buckets: int = 0, ngrams: int = 0) -> UnitVocabulary:
        """Read the tokenizer.json that `to_json` wrote; errors name its path, `where`."""
        try:
            ids = json.loads(text)["model"]["vocab"]
            units = tuple(sorted(ids, key=ids.__getitem__))
            if sorted(ids.values()) != list(range(len(units))):
                raise ValueError("ids are not 0, 1, 2, …")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise FormatError(where, f"not a WordPiece tokenizer.json ({reason(error)})") from None
        longest = max(units, key=len, default="")
        if len(longest) > LONGEST_PIECE:
            raise FormatError(where, f"a piece of {len(longest):,} characters: {LONGEST_PIECE:,} are the most")
        return cls(units, buckets, ngrams)


def _tokenizer(units: Sequence[str]) -> Any:
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece

    ids = {unit: number for number, unit in enumerate(units)}
    return Tokenizer(WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))


def learn_pieces(words: Sequence[str], size: int = 30_000) -> list[str]:
    """WordPiece pieces learned from the first words, most useful first. Vector files list words by falling frequency,
    so word r counts as often as Zipf's law says (about 1/r): common words become pieces of their own."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.trainers import WordPieceTrainer

    letters = sorted({*alphabet(words), *ALWAYS})
    tokenizer = Tokenizer(WordPiece(unk_token="[UNK]"))
    trainer = WordPieceTrainer(
        vocab_size=size,
        min_frequency=1,
        # The trainer breaks ties by ids, and gives ids in the order of a randomly seeded hash map, except to these.
        special_tokens=[*SPECIAL, *(CONTINUATION + letter for letter in letters)],
        initial_alphabet=letters,
        continuing_subword_prefix=CONTINUATION,
        show_progress=False,
    )
    known = frozenset(letters)
    first = list(islice((word for word in words if known.issuperset(word)), MAX_WORDS))
    often = (repeat(word, max(1, len(first) // rank)) for rank, word in enumerate(first, 1))
    tokenizer.train_from_iterator(chain.from_iterable(often), trainer)
    ids: dict[str, int] = tokenizer.get_vocab()
    return sorted(ids, key=ids.__getitem__)


def alphabet(words: Sequence[str]) -> list[str]:
    """The characters of the words, sorted; of more than a thousand the most frequent."""
    counts = Counter(chain.from_iterable(words))
    common = sorted(filter(writable, counts), key=lambda character: (-counts[character], character))
    return sorted(common[:MAX_CHARACTERS])


def writable(text: str) -> bool:
    """Whether a text can stand in a UTF-8 file: lone surrogates cannot."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def read_pieces(path: str | Path) -> list[str]:
    """The pieces of a vocab.txt, one on each line (BERT's format)."""
    try:
        pieces = [line.decode() for line in split_lines(read_bytes(Path(path))) if line]
    except UnicodeDecodeError as error:
        raise LovevecError(f"cannot read the vocabulary {path}: {error}") from None
    if not any(piece.startswith(CONTINUATION) for piece in pieces):
        raise LovevecError(
            f"{path}: no piece starts with {CONTINUATION}; expected a WordPiece vocab.txt, one piece a line"
        )
    return pieces


def build_vocabulary(
    words: Sequence[str],
    pieces: Iterable[str] | None = None,
    size: int = 30_000,
    shrink: Shrink = "stem",
    keep: int = 20_000,
    ngrams: int = 0,
) -> UnitVocabulary:
    """The unit vocabulary for a target's words: learn pieces (or take those given), add characters, shrink."""
    if shrink not in SHRINKS:
        raise LovevecError(f"unknown way to shrink {shrink!r}: choose one of {', '.join(SHRINKS)}")
    pieces = dict.fromkeys(pieces if pieces is not None else learn_pieces(words, size))
    pieces = [piece for piece in pieces if _fits_words(piece)]
    single = dict.fromkeys([*alphabet(words), *(piece for piece in pieces if len(piece) == 1)])
    pieces = [piece for piece in pieces if piece not in single]
    if shrink == "stem":
        pieces = stem_pieces(pieces)
    elif shrink == "top":
        pieces = top_pieces(pieces, words, [*SPECIAL, *single], keep)
    units = tuple(dict.fromkeys([*SPECIAL, *single, *pieces]))
    return UnitVocabulary(units, keep if shrink == "hash" else 0, ngrams)


def _fits_words(piece: str) -> bool:
    special = len(piece) > 2 and piece[0] == "[" and piece[-1] == "]"
    return not special and 0 < len(piece.removeprefix(CONTINUATION)) <= LONGEST


def stem_pieces(pieces: Sequence[str]) -> list[str]:
    """Whole words become their Snowball stems, pieces with numerals go: the paper's way from 30k to about 21k.
    Single digits stay, so that `bec0me` can still be split.

    ["running", "runs", "##ing", "1990", "##0"] -> ["run", "##ing", "##0"]
    """
    try:
        import snowballstemmer
    except ImportError:
        raise MissingExtra("snowballstemmer", "train") from None
    stem = snowballstemmer.stemmer("english").stemWord
    plain = (piece for piece in pieces if len(piece.removeprefix("##")) == 1 or not any(map(str.isnumeric, piece)))
    return list(dict.fromkeys(piece if piece.startswith(CONTINUATION) else stem(piece) for piece in plain))


def top_pieces(pieces: Sequence[str], words: Sequence[str], always: Sequence[str], keep: int) -> list[str]:
    """The pieces that the words use most, each word weighed by Zipf's law: `keep` units, `always` included."""
    tokenizer = _tokenizer((*always, *pieces))
    counts: dict[str, float] = defaultdict(float)
    for rank, split in enumerate(tokenizer.encode_batch([word for word in words if writable(word)]), 1):
        for piece in split.tokens:
            counts[piece] += 1 / rank
    chosen = set(sorted(pieces, key=lambda piece: -counts[piece])[: max(keep - len(always), 0)])
    return [piece for piece in pieces if piece in chosen]
