"""model2vec's StaticModel, whose mean over tokens reads damaged words as the words that were meant.

    model = robustify("potion-base-8M")            # a folder, a hub id, or a StaticModel; it stays as it is
    model.encode(["a mispelled sentense"])         # and all else as ever

A text is cut into words by the model's own tokenizer. A word that is one token, or one to keep (80,000 English ones
if not said), counts as it always did: text of such words has the plain model's vector, bit for bit. Any other is read
by the channel (lovevec.near) over the model's whole words and those to keep. With rows(w) the tokens' rows that
the plain model adds up for a word w, times their weights where the model has some, the text's vector is

    Σ over words of E[sum of rows] / Σ over words of E[number of rows]

    E[f] = Σ p(wordᵢ) · f(rows(wordᵢ)) + p(new) · f(the word's own pieces)          of a word that is read
         = f(rows(word))                                                            of any other

A plain mean, that is, where what was written is not certain. LOVE's own vectors take no part: they live elsewhere.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from types import EllipsisType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.engine import numba_is_there
from lovevec.errors import FormatError, LovevecError, MissingExtra
from lovevec.files import atomic_write
from lovevec.love import LOVE
from lovevec.near.channel import Channel
from lovevec.near.forms import look_up
from lovevec.near.reader import Reader
from lovevec.near.readings import add_known_rows
from lovevec.plugins import KeepOption, LoveOption, default_keep, normalized_forms, words_to_keep
from lovevec.progress import Progress
from lovevec.transformer.pieces import UNSPACED, Pieces, whole_words
from lovevec.units.ragged import offsets_of

try:
    from model2vec import StaticModel
except ImportError:
    raise MissingExtra("model2vec", "model2vec") from None

FILE = "lovevec.json"  # beside model2vec's own files
AT_ONCE = 16_384  # texts whose words are read together

Floats = NDArray[np.float32]


class Text(NamedTuple):
    """The tokens of a text as the plain model sees them, and those words of it that are read, as positions from, up to
    and as they are written."""

    ids: list[int]
    read: list[tuple[int, int, str]]


class RobustStaticModel(StaticModel):
    """A StaticModel with a channel for the words that it does not know whole; `keep` are known though they are broken.
    The table is shared with the model given. Made by `robustify`; safe to share between threads."""

    def __init__(self, model: StaticModel, channel: Channel, keep: Sequence[str]) -> None:
        vars(self).update(vars(model))
        self.config = deepcopy(model.config)
        self.tokenizer = deepcopy(model.tokenizer)  # calls change how it truncates
        self.keep = tuple(keep)
        self._cutter = deepcopy(model.tokenizer)
        self._cutter.no_truncation()
        self._cutter.no_padding()
        whole, self._pieces = words_and_pieces(self._cutter, self.unk_token_id)
        self._kept = normalized_forms(keep, self._cutter.normalizer)
        self._suspect = {self.unk_token_id} | (self._pieces.goes_on if self._pieces else set())
        self.reader = Reader(list(dict.fromkeys([*keep, *whole])), channel)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_pieces"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._pieces = words_and_pieces(self._cutter, self.unk_token_id)[1]

    @classmethod
    def from_pretrained(  # type: ignore[override]
        cls, path: str | os.PathLike[str], *, subfolder: str | None = None, **options: Any
    ) -> RobustStaticModel:
        """What `save_pretrained` wrote to a folder; options are those of `StaticModel.from_pretrained`."""
        file = Path(path, subfolder or "", FILE)
        try:
            raw = json.loads(file.read_text("utf-8"))
            channel, keep = Channel.from_dict(raw["channel"]), raw["keep"]
            if not (isinstance(keep, list) and all(isinstance(word, str) for word in keep)):
                raise LovevecError("`keep` is no list of words")
        except OSError:
            raise LovevecError(f"{path}: holds no {FILE}, so no robust model; robustify makes one of a plain") from None
        except (ValueError, TypeError, KeyError, LovevecError) as error:
            raise FormatError(file, f"is not what lovevec writes ({error})") from None
        return cls(StaticModel.from_pretrained(os.fspath(path), subfolder=subfolder, **options), channel, keep)

    def save_pretrained(self, path: Any, model_name: str | None = None, subfolder: str | None = None) -> None:
        """The plain model, for any model2vec, and beside it what makes it robust."""
        super().save_pretrained(path, model_name, subfolder)
        state = {"channel": self.reader.channel.as_dict(), "keep": list(self.keep)}
        with atomic_write(Path(path, subfolder or "", FILE)) as file:
            file.write(json.dumps(state, ensure_ascii=False).encode("utf-8"))

    def encode(  # type: ignore[override]
        self,
        sentences: str | Sequence[str],
        *,
        show_progress_bar: bool = False,
        max_length: int | EllipsisType | None = ...,
        normalize: bool | None = None,
        batch_size: int = 1024,
        **_ignored: Any,
    ) -> NDArray[Any]:
        """Vectors of texts, [len(sentences), dim]; of one text [dim]. `max_length` and `normalize` are the model's own
        if not said. One process computes: options for several are ignored, as model2vec ignores what it does not know.
        """
        if isinstance(sentences, str):
            vector: NDArray[Any] = self.encode([sentences], max_length=max_length, normalize=normalize)[0]
            return vector
        if isinstance(max_length, EllipsisType):
            max_length = self.max_length
        kind = np.dtype(np.float32) if self.embedding.dtype == np.int8 else self.embedding.dtype
        result = np.zeros((len(sentences), self.dim), dtype=kind)
        done, progress = 0, Progress(quiet=not show_progress_bar)
        with progress, progress.phase("encoding", len(sentences), "texts") as phase:
            for texts, parts in self._read(sentences, max_length, batch_size):
                self._means(texts, parts, result[done : done + len(texts)])
                done += len(texts)
                phase.advance(len(texts))
        if self.normalize if normalize is None else normalize:
            wide = result.astype(np.float32)
            result = (wide / (np.linalg.norm(wide, axis=1, keepdims=True) + 1e-32)).astype(kind)
        return result

    def encode_as_sequence(  # type: ignore[override]
        self, sentences: str | Sequence[str], *, max_length: int | None = None, batch_size: int = 1024, **_ignored: Any
    ) -> NDArray[Any] | list[NDArray[Any]]:
        """A row for each token, [tokens, dim] a text; a word that is read has one row: E[sum of rows] / E[number]."""
        if isinstance(sentences, str):
            return self.encode_as_sequence([sentences], max_length=max_length)[0]
        return [
            np.concatenate([np.zeros((0, self.dim), dtype=np.float32), *self._in_order(text, parts)])
            for texts, parts in self._read(sentences, max_length, batch_size)
            for text in texts
        ]

    def _in_order(self, text: Text, parts: dict[str, Floats]) -> Iterator[NDArray[Any]]:
        behind = 0
        for low, high, word in [*text.read, (len(text.ids), len(text.ids), "")]:
            yield self._rows(self._known(text.ids[behind:low]))
            if word and parts[word][-1] > 0:
                yield parts[word][None, :-1] / parts[word][-1]
            behind = high

    def _read(
        self, sentences: Sequence[str], max_length: int | None, batch_size: int
    ) -> Iterator[tuple[list[Text], dict[str, Floats]]]:
        """Texts, batch by batch, with E[sum of rows] and E[number] of the words that are read: [dim + 1] each."""
        parts: dict[str, Floats] = {}
        for first in range(0, len(sentences), AT_ONCE):
            some = sentences[first : first + AT_ONCE]
            batches = [self._texts(some[low : low + batch_size], max_length) for low in range(0, len(some), batch_size)]
            found = {
                word: self._known(text.ids[low:high])
                for texts in batches for text in texts for low, high, word in text.read if word not in parts
            }  # fmt: skip
            parts |= zip(found, self._expected(list(found), list(found.values())), strict=True)
            yield from ((texts, parts) for texts in batches)

    def _texts(self, sentences: Sequence[str], max_length: int | None) -> list[Text]:
        """As the plain model has them, cut where it cuts: first characters, then tokens."""
        most = None if max_length is None else max_length * self.median_token_length
        try:
            cut = [sentence[:most] for sentence in sentences]
            tokens = self._cutter.encode_batch_fast(cut, add_special_tokens=False)
        except TypeError:
            cut = [_readable(sentence)[:most] for sentence in sentences]
            tokens = self._cutter.encode_batch_fast(cut, add_special_tokens=False)
        texts = [Text(one.ids[:max_length], []) for one in tokens]
        doubtful = [place for place, text in enumerate(texts) if self._has_strange(text.ids)]
        if doubtful:
            again = self._cutter.encode_batch([cut[place] for place in doubtful], add_special_tokens=False)
            for place, encoding in zip(doubtful, again, strict=True):
                texts[place].read.extend(self._strange(encoding, cut[place], len(texts[place].ids), most))
        return texts

    def _has_strange(self, ids: list[int]) -> bool:
        """Whether there may be a word to read, by the tokens alone: most texts have none, and offsets take time."""
        if self._suspect.isdisjoint(ids):
            return False
        if self.unk_token_id in ids or self._pieces is None:
            return True
        return any(not self._is_kept(ids[low:high]) for low, high in self._pieces.broken_words(ids, [0] * len(ids)))

    def _is_kept(self, ids: list[int]) -> bool:
        assert self._pieces is not None
        return self._pieces.spelling(ids).lower() in self._kept

    def _strange(self, encoding: Any, text: str, count: int, most: int | None) -> list[tuple[int, int, str]]:
        """The words to read among the first `count` tokens: broken ones and those that the tokenizer cannot spell, but
        for one that reaches the place where the text was cut. A capital that begins a sentence is not a name's."""
        ids, word_ids, offsets = encoding.ids, encoding.word_ids, encoding.offsets
        broken = self._pieces.broken_words(ids, word_ids) if self._pieces else []
        spans = [(low, high) for low, high in broken if not self._is_kept(ids[low:high])]
        if self.unk_token_id is not None and self.unk_token_id in ids:
            around = [-1, *word_ids, -1]
            alone = [place for place, number in enumerate(ids) if number == self.unk_token_id
                     and around[place] != word_ids[place] != around[place + 2]]  # fmt: skip
            spans = sorted(spans + [(place, place + 1) for place in alone])
        found = []
        for low, high in spans:
            first, end = offsets[low][0], offsets[high - 1][1]
            word = text[first:end].strip()
            letters = any(map(str.isalpha, word)) and not UNSPACED.search(word)
            if high <= count and end != most and letters and word.lower() not in self._kept:
                found.append((low, high, word.lower() if _begins_sentence(text, first) else word))
        return found

    def _expected(self, words: list[str], pieces: list[list[int]]) -> Floats:
        """E[sum of rows] and E[number of rows] of words with such pieces, [len(words), dim + 1]."""
        if not words:
            return np.zeros((0, self.dim + 1), dtype=np.float32)
        rows, lacking = look_up(words, lambda form, _: self.reader.row(form))
        result = self._sums(pieces)
        result[rows >= 0] = self._meant(rows[rows >= 0])
        if lacking:
            reading = self.reader.by(lacking, "numba" if numba_is_there() else "numpy").in_text()
            mixed = result[rows < 0] * reading.new.astype(np.float32)[:, None]
            add_known_rows(mixed, reading, self._meant)
            result[rows < 0] = mixed
        return result

    def _meant(self, rows: NDArray[np.integer]) -> Floats:
        """What the plain model has for known words, rows of the reader's."""
        words = [f" {self.reader.words[row]}" for row in rows.tolist()]
        encodings = self._cutter.encode_batch_fast(words, add_special_tokens=False) if words else []
        return self._sums([self._known(encoding.ids) for encoding in encodings])

    def _sums(self, pieces: Sequence[list[int]]) -> Floats:
        """The sum of the rows of each list of tokens, and their number: [len(pieces), dim + 1]."""
        lengths = np.array([len(ids) for ids in pieces], dtype=np.int64)
        result = np.zeros((len(pieces), self.dim + 1), dtype=np.float32)
        result[:, -1] = lengths
        flat = self._rows([number for ids in pieces for number in ids]).astype(np.float32, copy=False)
        some = lengths > 0
        if some.any():
            result[some, :-1] = np.add.reduceat(flat, offsets_of(lengths)[:-1][some], axis=0)
        return result

    def _rows(self, ids: list[int]) -> NDArray[Any]:
        """What the plain model adds up for tokens, [len(ids), dim]."""
        numbers = np.array(ids, dtype=np.int64)
        mapping, weights = self.token_mapping, self.weights
        rows: NDArray[Any] = self.embedding[numbers if mapping is None else mapping[numbers]]
        return rows if weights is None else rows * weights[numbers][:, None]

    def _known(self, ids: list[int]) -> list[int]:
        """Without what the tokenizer could not spell, which the plain model leaves out."""
        return [number for number in ids if number != self.unk_token_id] if self.unk_token_id in ids else ids

    def _means(self, texts: Sequence[Text], parts: dict[str, Floats], result: NDArray[Any]) -> None:
        """Into `result` [len(texts), dim]. Texts of equally many tokens, none of them read, are computed together, by
        the plain model's own operations; zeros where there is nothing."""
        buckets: dict[int, list[int]] = defaultdict(list)
        known = [self._known(text.ids) for text in texts]
        for place, text in enumerate(texts):
            if text.read:
                result[place] = self._mean_with_read(text, parts)
            elif known[place]:
                buckets[len(known[place])].append(place)
        for length, places in buckets.items():
            rows = self._rows([number for place in places for number in known[place]])
            result[places] = rows.reshape(len(places), length, self.dim).mean(axis=1)

    def _mean_with_read(self, text: Text, parts: dict[str, Floats]) -> NDArray[np.float64]:
        outside: list[int] = []
        behind = 0
        for low, high, _ in text.read:
            outside += text.ids[behind:low]
            behind = high
        rows = self._rows(self._known(outside + text.ids[behind:]))
        read = np.array([parts[word] for _, _, word in text.read], dtype=np.float64).sum(axis=0)
        number = len(rows) + read[-1]
        total: NDArray[np.float64] = rows.sum(axis=0, dtype=np.float64) + read[:-1]
        return total / number if number > 0 else np.zeros_like(total)


def robustify(
    model: StaticModel | str | os.PathLike[str], love: LoveOption = None, keep: KeepOption = None
) -> RobustStaticModel:
    """A model2vec model that reads the words which it does not know whole: a StaticModel with the same table. `model`
    is one, or its folder or hub id; it stays as it is.

    The channel is that of `love`, by default of the shipped one. `keep` are words that count as ever though they are
    broken: a list, or the name of a LOVE whose known words they are. If not said, an English model keeps the 80,000
    words of the shipped default, a model of another language (the default knows fewer than half of its words) none.
    """
    if isinstance(model, (str, os.PathLike)):
        model = _load(os.fspath(model))
    if not isinstance(model, StaticModel):
        raise LovevecError(f"model: robustify takes model2vec's StaticModel or its folder, not {type(model).__name__}")
    if isinstance(model, RobustStaticModel):
        raise LovevecError("model: is robust already; robustify the plain model to change how")
    loaded = love if isinstance(love, LOVE) else LOVE.load(love)
    if loaded.channel is None:
        raise LovevecError("love: reads by spelling only, so it has no channel; load it without spelling_only")
    words = words_to_keep(keep)
    if words is None:
        words = default_keep(words_and_pieces(model.tokenizer, model.unk_token_id)[0])
    return RobustStaticModel(model, loaded.channel, words)


def words_and_pieces(tokenizer: Any, unknown: int | None) -> tuple[list[str], Pieces | None]:
    """The whole words of a tokenizer's vocabulary, and what its pieces are; None where it has words alone."""
    state, vocabulary = json.loads(tokenizer.to_str()), tokenizer.get_vocab()
    added = {number: token.special for number, token in tokenizer.get_added_tokens_decoder().items()}
    if state["model"].get("type") == "WordLevel":
        in_order = sorted(vocabulary, key=vocabulary.__getitem__)
        return [word for word in in_order if vocabulary[word] not in {*added, unknown}], None
    special = {number for number, is_special in added.items() if is_special} | ({unknown} - {None})
    as_transformers_has_it = SimpleNamespace(
        backend_tokenizer=tokenizer, is_fast=True, name_or_path="model", get_vocab=lambda: vocabulary,
        all_special_ids=[*special], added_tokens_decoder=added, unk_token_id=unknown,
        unk_token=None if unknown is None else tokenizer.id_to_token(unknown),
    )  # fmt: skip
    return whole_words(as_transformers_has_it)[0], Pieces(as_transformers_has_it)


def _load(path: str) -> StaticModel:
    try:
        return StaticModel.from_pretrained(path)
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).splitlines()[0]
        raise LovevecError(f"{path}: no folder or hub id of a model2vec model ({reason})") from None


def _begins_sentence(text: str, place: int) -> bool:
    before = text[max(0, place - 5) : place].rstrip(" \t\r\n\"'([{“‘«")
    return before[-1] in ".!?…" if before else place <= 5


def _readable(text: object) -> str:
    """The text with a mark for what is no character: lone surrogates."""
    if not isinstance(text, str):
        raise LovevecError(f"sentences: a text is not a string but {type(text).__name__}: {text!r:.60}")
    return text.encode("utf-8", "replace").decode("utf-8")
