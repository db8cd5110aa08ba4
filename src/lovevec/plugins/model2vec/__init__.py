"""model2vec's StaticModel, whose mean over tokens reads damaged words as the words that were meant.

    model = robustify("potion-base-8M")            # a folder, a hub id, or a StaticModel; it stays as it is
    model.encode(["a mispelled sentense"])         # and all other methods of a StaticModel

A text is cut into words by the model's own tokenizer. A word that is one token, or one to keep (80,000 English ones
if not said), counts as in the plain model: text of such words has the plain model's vector, bit for bit. Any other
(words.py finds them) is read by the channel (lovevec.near) over the model's whole words and those to keep. With rows(w)
the tokens' rows that the plain model adds up for a word w, times their weights where it has some, the text's vector is

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
from types import EllipsisType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.damage.languages import ENGLISH, Language
from lovevec.errors import FormatError, LovevecError, MissingExtra
from lovevec.files import atomic_write
from lovevec.files.lines import read_bytes
from lovevec.files.tensors import parse_tensors, tensor_blocks
from lovevec.love import LOVE
from lovevec.near.channel import Channel
from lovevec.near.forms import check_listed, look_up
from lovevec.near.lexicon import Lexicon
from lovevec.near.orthography import Orthography
from lovevec.near.reader import Reader
from lovevec.near.readings import add_known_rows, add_parts
from lovevec.plugins import KeepOption, LoveOption, default_keep, words_to_keep
from lovevec.plugins.model2vec.words import TextTokens, WordFinder, words_and_pieces
from lovevec.progress import Progress
from lovevec.units.ragged import offsets_of

try:
    from model2vec import StaticModel
except ImportError:
    raise MissingExtra("model2vec", "model2vec") from None

ROBUST_FILE, LEXICON_FILE = "lovevec.json", "lexicon.safetensors"  # beside model2vec's own files
TEXTS_PER_READING = 16_384  # whose words are read together

Floats = NDArray[np.float32]


class RobustStaticModel(StaticModel):
    """A StaticModel that reads the words which it does not know whole. `robustify` makes it of a plain one.

    `model` is the plain StaticModel, whose table is shared; `orthography` says how words get damaged and which exist;
    `keep` are words that count as whole though the tokenizer breaks them. Safe to share between threads.

        model.save_pretrained("my-robust-model")
        RobustStaticModel.from_pretrained("my-robust-model").encode(["a mispelled sentense"])
    """

    def __init__(self, model: StaticModel, orthography: Orthography, keep: Sequence[str]) -> None:
        vars(self).update(vars(model))
        self.config = deepcopy(model.config)
        self.tokenizer = deepcopy(model.tokenizer)  # calls change how it truncates
        self.keep = tuple(keep)
        self._finder = WordFinder(model.tokenizer, self.unk_token_id, keep)
        self.reader = Reader(list(dict.fromkeys([*keep, *self._finder.whole_words])), orthography)

    @classmethod
    def from_pretrained(  # type: ignore[override]
        cls, path: str | os.PathLike[str], *, subfolder: str | None = None, **options: Any
    ) -> RobustStaticModel:
        """Load the folder that `save_pretrained` wrote; options are those of `StaticModel.from_pretrained`."""
        file = Path(path, subfolder or "", ROBUST_FILE)
        try:
            raw = json.loads(file.read_text("utf-8"))
            channel, listed, keep = Channel.from_dict(raw["channel"]), check_listed(raw["forms"]), raw["keep"]
            language = Language.from_dict(raw["language"]) if "language" in raw else ENGLISH
            if not (isinstance(keep, list) and all(isinstance(word, str) for word in keep)):
                raise LovevecError("`keep` is no list of words")
        except OSError:
            raise LovevecError(
                f"{path}: holds no {ROBUST_FILE}, so no robust model; robustify makes one of a plain"
            ) from None
        except (ValueError, TypeError, KeyError, LovevecError) as error:
            raise FormatError(file, f"is not what lovevec writes ({error})") from None
        lexicon = file.with_name(LEXICON_FILE)
        try:
            exists = Lexicon.from_tensors(parse_tensors(np.frombuffer(read_bytes(lexicon), dtype=np.uint8)))
        except ValueError as error:
            raise FormatError(lexicon, f"is not what lovevec writes ({error})") from None
        plain = StaticModel.from_pretrained(os.fspath(path), subfolder=subfolder, **options)
        return cls(plain, Orthography(channel, exists, listed, language), keep)

    def save_pretrained(self, path: Any, model_name: str | None = None, subfolder: str | None = None) -> None:
        """Write the plain model, for any model2vec, and beside it what makes it robust."""
        super().save_pretrained(path, model_name, subfolder)
        own = self.reader.orthography
        with atomic_write(Path(path, subfolder or "", LEXICON_FILE)) as file:
            file.writelines(tensor_blocks(own.lexicon.tensors()))
        state = {"channel": own.channel.as_dict(), "forms": own.listed, "keep": list(self.keep)}
        state |= {"language": own.language.as_dict()}
        with atomic_write(Path(path, subfolder or "", ROBUST_FILE)) as file:
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
        dtype = np.dtype(np.float32) if self.embedding.dtype == np.int8 else self.embedding.dtype
        result = np.zeros((len(sentences), self.dim), dtype=dtype)
        done, progress = 0, Progress(quiet=not show_progress_bar)
        with progress, progress.phase("encoding", len(sentences), "texts") as phase:
            for texts, expected in self._batches(sentences, max_length, batch_size):
                self._means(texts, expected, result[done : done + len(texts)])
                done += len(texts)
                phase.advance(len(texts))
        if self.normalize if normalize is None else normalize:
            wide = result.astype(np.float32)
            result = (wide / (np.linalg.norm(wide, axis=1, keepdims=True) + 1e-32)).astype(dtype)
        return result

    def encode_as_sequence(  # type: ignore[override]
        self, sentences: str | Sequence[str], *, max_length: int | None = None, batch_size: int = 1024, **_ignored: Any
    ) -> NDArray[Any] | list[NDArray[Any]]:
        """A row for each token, [tokens, dim] a text; a word that is read has one row: E[sum of rows] / E[number]."""
        if isinstance(sentences, str):
            return self.encode_as_sequence([sentences], max_length=max_length)[0]
        return [
            np.concatenate([np.zeros((0, self.dim), dtype=np.float32), *self._sequence_rows(text, expected)])
            for texts, expected in self._batches(sentences, max_length, batch_size)
            for text in texts
        ]

    def _sequence_rows(self, text: TextTokens, expected: dict[str, Floats]) -> Iterator[NDArray[Any]]:
        for ids, word in text.runs():
            yield self._rows(self._finder.spellable(ids))
            if word and expected[word][-1] > 0:
                yield expected[word][None, :-1] / expected[word][-1]

    def _batches(
        self, sentences: Sequence[str], max_length: int | None, batch_size: int
    ) -> Iterator[tuple[list[TextTokens], dict[str, Floats]]]:
        """Texts, batch by batch, with E[sum of rows] and E[number] of the words that are read: [dim + 1] each."""
        expected: dict[str, Floats] = {}
        max_characters = None if max_length is None else max_length * self.median_token_length
        for first in range(0, len(sentences), TEXTS_PER_READING):
            block = sentences[first : first + TEXTS_PER_READING]
            batches = [
                self._finder.tokens(block[low : low + batch_size], max_characters, max_length)
                for low in range(0, len(block), batch_size)
            ]
            pieces = {
                word: self._finder.spellable(text.ids[low:high])
                for texts in batches for text in texts for low, high, word in text.words if word not in expected
            }  # fmt: skip
            expected |= zip(pieces, self._expectations(list(pieces), list(pieces.values())), strict=True)
            yield from ((texts, expected) for texts in batches)

    def _expectations(self, words: list[str], pieces: list[list[int]]) -> Floats:
        """E[sum of rows] and E[number of rows] of words, whose own pieces are given too: [len(words), dim + 1]."""
        if not words:
            return np.zeros((0, self.dim + 1), dtype=np.float32)
        rows, lacking = look_up(words, self.reader.places)
        result = self._sums(pieces)
        result[rows >= 0] = self._sums_of_known(rows[rows >= 0])
        if lacking:
            readings = self.reader(lacking, in_text=True)
            mixed = result[rows < 0] * readings.new.astype(np.float32)[:, None]
            add_known_rows(mixed, readings, self._sums_of_known)
            add_parts(mixed, readings, self._sums_of_known)
            result[rows < 0] = mixed
        return result

    def _sums_of_known(self, rows: NDArray[np.integer]) -> Floats:
        words = [f" {self.reader.words[row]}" for row in rows.tolist()]
        encodings = self._finder.tokenizer.encode_batch_fast(words, add_special_tokens=False) if words else []
        return self._sums([self._finder.spellable(encoding.ids) for encoding in encodings])

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
        """The rows that the plain model adds up for tokens, times their weights: [len(ids), dim]."""
        numbers = np.array(ids, dtype=np.int64)
        mapping, weights = self.token_mapping, self.weights
        rows: NDArray[Any] = self.embedding[numbers if mapping is None else mapping[numbers]]
        return rows if weights is None else rows * weights[numbers][:, None]

    def _means(self, texts: Sequence[TextTokens], expected: dict[str, Floats], result: NDArray[Any]) -> None:
        """Write the texts' means into `result` [len(texts), dim]. Texts of equally many tokens, none of them read, are
        computed together, by the plain model's own operations; a text without tokens has zeros."""
        buckets: dict[int, list[int]] = defaultdict(list)
        spellable = [self._finder.spellable(text.ids) for text in texts]
        for place, text in enumerate(texts):
            if text.words:
                result[place] = self._mean_with_readings(text, expected)
            elif spellable[place]:
                buckets[len(spellable[place])].append(place)
        for length, places in buckets.items():
            rows = self._rows([number for place in places for number in spellable[place]])
            result[places] = rows.reshape(len(places), length, self.dim).mean(axis=1)

    def _mean_with_readings(self, text: TextTokens, expected: dict[str, Floats]) -> NDArray[np.float64]:
        rows = self._rows(self._finder.spellable([number for ids, _ in text.runs() for number in ids]))
        read = np.array([expected[word] for _, _, word in text.words], dtype=np.float64).sum(axis=0)
        count = len(rows) + read[-1]
        total: NDArray[np.float64] = rows.sum(axis=0, dtype=np.float64) + read[:-1]
        return total / count if count > 0 else np.zeros_like(total)


def robustify(
    model: StaticModel | str | os.PathLike[str], love: LoveOption = None, keep: KeepOption = None
) -> RobustStaticModel:
    """Make a model2vec model that reads the words which it does not know whole.

    model  a StaticModel, or its folder or hub id; it stays as it is, and the robust one shares its table
    love   a LOVE, its folder or name, whose channel reads; the shipped default for None
    keep   words that count as in the plain model though they are broken: a list, or the name of a LOVE whose known
           words they are. By default an English model keeps the 80,000 words of the shipped default, a model of another
           language (the default knows fewer than half of its words) none.

        model = robustify("potion-base-8M")
        model.encode(["a mispelled sentense"])
    """
    if isinstance(model, (str, os.PathLike)):
        try:
            model = StaticModel.from_pretrained(os.fspath(model))
        except (OSError, ValueError, KeyError) as error:
            problem = str(error).splitlines()[0]
            raise LovevecError(f"{model}: no folder or hub id of a model2vec model ({problem})") from None
    if not isinstance(model, StaticModel):
        raise LovevecError(f"model: robustify takes model2vec's StaticModel or its folder, not {type(model).__name__}")
    if isinstance(model, RobustStaticModel):
        raise LovevecError("model: is robust already; robustify the plain model to change how")
    source = love if isinstance(love, LOVE) else LOVE.load(love)
    if source.orthography is None:
        raise LovevecError("love: reads by spelling only, so it has no readings; load it without spelling_only")
    words = words_to_keep(keep)
    if words is None:
        words = default_keep(words_and_pieces(model.tokenizer, model.unk_token_id)[0])
    return RobustStaticModel(model, source.orthography, words)
