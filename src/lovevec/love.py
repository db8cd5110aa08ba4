"""LOVE: a vector for any word. Load a model, index it with a string.

love = LOVE.load()                    # the shipped default; or a folder, or a hub id
love["mispelling"]                    # float32, unit length
love.embed(["oxgen", "archiitect"])   # (2, dim)
love.near("recieve")                  # [("receive", 0.93), …]: which known words may be meant, how probably
love.neighbors("leukamia")            # [("leukemia", 0.95), …]
love.explain("bec0me")                # its reading, its units, what each counts, attention, confidence, neighbors
robust = love.attach(vectors)         # your own vectors, with a row for every word they lack

A string has three readings. *Known*: its vector is the word's own row, that of the target. *Near*: probably a known
word, damaged. *New*: a word of its own, imputed from its spelling. What is not known has the mean over its readings:

    v(s) = Σ p(word | s) · own vector + p(new | s) · imputed(s), at unit length

`LOVE.load(spelling_only=True)` is the LOVE of the paper: every vector is made from the spelling.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from lovevec.confidence import Confidence, measure
from lovevec.encoders.torch_engine import TorchEngine
from lovevec.engine.engine import Engine, FoldEngine, Mode
from lovevec.engine.fold import Precision
from lovevec.engine.nearest import NeighborIndex
from lovevec.engine.threads import in_chunks
from lovevec.errors import LovevecError, MissingExtra
from lovevec.files.lines import printable
from lovevec.model.find import find_model
from lovevec.model.folder import CARD, ModelParts, read_model, write_model
from lovevec.model.hub import hub_card, to_hub
from lovevec.model.known_rows import LEVELS, RowPrecision
from lovevec.near.channel import Channel
from lovevec.near.forms import known_form, look_up
from lovevec.near.reader import MIN_STRINGS_FOR_NUMBA, Reader, ReadsStrings
from lovevec.near.readings import MIN_PROBABILITY, WORDS_PER_READING, Readings, add_known_rows, all_new, reading_names
from lovevec.progress import Progress, wanted
from lovevec.texts.encoder import EncodesTexts, Source, TextEncoder
from lovevec.units.words import check_words, in_batches, refuse_other_than_words, repeats, word_list
from lovevec.vectors.rows import normalized

if TYPE_CHECKING:
    from lovevec.attach import Attached
    from lovevec.encoders.torch_love import TorchLOVE
    from lovevec.explain import Explanation

Floats = NDArray[np.float32]
BATCH = 16_384
CHUNK = 4_096  # words that a thread takes at a time
# Shorter lists are done before anybody would look at a progress line.
LONG = 250_000


class LOVE(EncodesTexts, ReadsStrings):
    """A trained model: immutable, safe to share between threads. Inference needs no torch."""

    def __init__(
        self,
        parts: ModelParts,
        card: str = "",
        engine: Mode = "auto",
        *,
        spelling_only: bool = False,
        low_memory: bool = False,
    ) -> None:
        self.parts = parts
        self.card = card
        self.dim = parts.spec.dim
        self.engine: Engine = _engine(parts, engine)
        self.spelling_only = spelling_only or parts.rows is None
        self.low_memory = low_memory
        coded = None if self.spelling_only or not low_memory else parts.rows
        self._known = NeighborIndex(parts.words, self._known_vectors if coded is None else coded)
        self._reader = Reader(parts.words, parts.channel, parts.units.lowercase)

    @classmethod
    def load(
        cls,
        name: str | os.PathLike[str] | None = None,
        engine: Mode = "auto",
        *,
        spelling_only: bool = False,
        low_memory: bool = False,
    ) -> LOVE:
        """Read a model, checked by size and hash: the shipped default, a shipped model by its name, a model folder, or
        a hub id `owner/name` (looked for in the local cache first). `engine`: auto, numpy or numba. With
        `spelling_only` every vector is made from the spelling, as in the paper: known words too. With `low_memory`
        neighbors are found among rows as they are stored (90 MB less for the default, but several times as slow), and
        `encode` remembers fewer words; every result is the same."""
        return cls._read(find_model(name), engine, spelling_only, low_memory)

    @classmethod
    def from_pretrained(
        cls,
        name: str | os.PathLike[str] | None = None,
        engine: Mode = "auto",
        *,
        spelling_only: bool = False,
        low_memory: bool = False,
        revision: str | None = None,
        token: str | bool | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        force_download: bool = False,
        local_files_only: bool = False,
    ) -> LOVE:
        """The same as `load`, with huggingface_hub's options for a model on the hub: which `revision`, by which
        `token`, into which `cache_dir`; anew, or from the cache only."""
        hub = {"revision": revision, "token": token, "cache_dir": cache_dir}
        folder = find_model(name, force_download=force_download, local_files_only=local_files_only, **hub)
        return cls._read(folder, engine, spelling_only, low_memory)

    @classmethod
    def _read(cls, folder: Path, engine: Mode, spelling_only: bool, low_memory: bool) -> LOVE:
        card = folder / CARD
        text = card.read_text("utf-8", "replace") if card.is_file() else ""
        return cls(read_model(folder), text, engine, spelling_only=spelling_only, low_memory=low_memory)

    def save(
        self, folder: str | os.PathLike[str], precision: Precision | None = None, rows: RowPrecision | None = None
    ) -> None:
        """Write the model folder, whole or not at all: as it is, or its folded tables as float16 or int8, and the known
        words' own rows as float16, int8, int4, or none."""
        write_model(Path(folder), self.parts, self.card, precision, rows)

    def save_pretrained(
        self,
        folder: str | os.PathLike[str],
        precision: Precision | None = None,
        rows: RowPrecision | None = None,
        *,
        repo_id: str | None = None,
        push_to_hub: bool = False,
        **options: Any,
    ) -> str | None:
        """The same as `save`, with a model card as the hub wants it; with `push_to_hub` also sent there, as `repo_id`
        or else under the folder's name, by the options of that method."""
        name = repo_id or Path(folder).name
        write_model(Path(folder), self.parts, hub_card(self.card, name, len(self), self.dim), precision, rows)
        return self.push_to_hub(name, precision=precision, rows=rows, **options) if push_to_hub else None

    def push_to_hub(
        self,
        repo_id: str,
        *,
        precision: Precision | None = None,
        rows: RowPrecision | None = None,
        commit_message: str = "A LOVE model, by lovevec",
        **options: Any,
    ) -> str:
        """Send the model to the Hugging Face hub as `owner/name`, and give the address of the commit. `options` are
        huggingface_hub's: private, token, branch, create_pr, allow_patterns, ignore_patterns, delete_patterns."""

        def save(folder: Path) -> None:
            self.save_pretrained(folder, precision, rows, repo_id=repo_id)

        return to_hub(repo_id, save, commit_message=commit_message, **options)

    def __repr__(self) -> str:
        name = self.parts.target.get("name")
        mimics = printable(name) if isinstance(name, str) and name else "a target that is not stated"
        how = ", by spelling only" if self.spelling_only else ""
        known = f"{len(self.words):,} known words"
        return f"LOVE({self.dim} dimensions, {known}, {self.parts.precision}{how}; mimics {mimics})"

    def __reduce__(self) -> tuple[Any, ...]:
        made = partial(LOVE, spelling_only=self.spelling_only, low_memory=self.low_memory)
        return made, (self.parts, self.card, self.engine.mode)

    @property
    def words(self) -> Sequence[str]:
        """The known words: those of the target, in its order."""
        return self.parts.words

    @property
    def channel(self) -> Channel | None:
        """How words get damaged, as it was learned; None for a model that reads by spelling only."""
        return None if self.spelling_only else self.parts.channel

    @property
    def metadata(self) -> dict[str, Any]:
        """Where the model comes from: settings, target, parameter counts, scores. The caller's own copy."""
        return deepcopy(self.parts.metadata)

    @overload
    def __getitem__(self, word: str) -> Floats: ...
    @overload
    def __getitem__(self, word: Sequence[str] | NDArray[Any]) -> Floats: ...
    def __getitem__(self, word: str | Sequence[str] | NDArray[Any]) -> Floats:
        """The vector of one word, whatever it is: [dim]; of a list of words: [len(list), dim]."""
        if isinstance(word, str):
            vector: Floats = self._rows([word])[0]
            return vector
        return self.embed(word)

    def __len__(self) -> int:
        """How many words are known."""
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        """Whether the word is known, or a form of a known word (in lower case, in quotes …; near/forms.py)."""
        return isinstance(word, str) and self._spelled(word) in self._known.place

    @overload
    def embed(self, words: Iterator[str], *, batch: int = ..., progress: bool | None = ...) -> Iterator[Floats]: ...
    @overload
    def embed(
        self, words: Sequence[str] | NDArray[Any], *, batch: int = ..., progress: bool | None = ...
    ) -> Floats: ...
    def embed(
        self, words: Iterable[str] | NDArray[Any], *, batch: int = BATCH, progress: bool | None = None
    ) -> Floats | Iterator[Floats]:
        """Vectors of unit length for any strings. A list, tuple or array of words: one array [len(words), dim]. An
        iterator: an iterator of arrays of up to `batch` rows, in constant memory.

        A progress line on stderr is shown with `progress=True`, and for long lists on a terminal unless it is False.
        """
        if not isinstance(batch, int) or batch < 1:
            raise LovevecError(f"batch is {batch!r}: must be at least 1, a whole number")
        if isinstance(words, Iterator):
            return self._stream(words, batch)
        listed = word_list(words)
        if wanted(progress, len(listed), LONG):
            return self._with_progress(listed)
        return self._rows(listed)

    def _stream(self, words: Iterator[str], batch: int) -> Iterator[Floats]:
        done = 0
        for part in in_batches(words, batch):
            yield self._rows(part, done)
            done += len(part)

    def _with_progress(self, words: Sequence[str]) -> Floats:
        result = np.empty((len(words), self.dim), dtype=np.float32)
        with Progress() as progress, progress.phase("embedding", len(words)) as phase:
            for low in range(0, len(words), BATCH):
                part = words[low : low + BATCH]
                result[low : low + len(part)] = self._rows(part, low)
                phase.advance(len(part))
        return result

    def _rows(self, words: Sequence[str], first: int = 0) -> Floats:
        """[len(words), dim]; running text, in which words come again and again, is computed once a word. `first` is
        the place of the first word in what the caller gave, for the error's sake."""
        try:
            if repeats(words):
                place: dict[str, int] = {}
                where = [place.setdefault(word, len(place)) for word in words]
                return self._vectors(list(place))[where]
            return self._vectors(words)
        except (TypeError, AttributeError):  # so that good words need not be looked at one by one
            refuse_other_than_words(words, first)
            raise

    def embed_in_text(self, words: Sequence[str]) -> Floats:
        """As `embed` for words of running text, where what is unknown is a misspelling more often than in a list."""
        refuse_other_than_words(words)
        return self._vectors(words, in_text=True)

    def _vectors(self, words: Sequence[str], in_text: bool = False) -> Floats:
        """A known word's own row; the mean over its readings for any other."""
        if self.spelling_only or self.parts.rows is None:
            return self.engine.embed(words)
        rows, unknown = self._look_up(words)
        reading = self.read(unknown)
        return self._placed(rows, unknown, reading.in_text() if in_text else reading)

    def embed_and_read(self, words: Iterable[str]) -> tuple[Floats, list[str]]:
        """What `embed` and `readings` give, at the cost of `embed`."""
        listed = check_words(words)
        rows, unknown = self._look_up(listed)
        reading = self.read(unknown)
        vectors = self.engine.embed(listed) if self.spelling_only else self._placed(rows, unknown, reading)
        return vectors, reading_names(listed, rows, reading)

    def _placed(self, rows: NDArray[np.int64], unknown: Sequence[str], reading: Readings) -> Floats:
        """The own rows of known words; where -1 stands the mean over the next string's readings."""
        if not unknown:
            return self._own_rows(rows)
        if len(unknown) == len(rows):
            return self._mean_of_readings(unknown, reading)
        result = np.empty((len(rows), self.dim), dtype=np.float32)
        have = rows >= 0
        result[have] = self._own_rows(rows[have])
        result[~have] = self._mean_of_readings(unknown, reading)
        return result

    def _look_up(self, words: Sequence[str]) -> tuple[NDArray[np.int64], list[str]]:
        """The row of each known word, -1 for others; and the others, as they are to be read."""
        return look_up(words, self._known.place.get)

    def read(self, strings: Sequence[str]) -> Readings:
        """What strings may stand for, each as an unknown one: rows of the known words, their probabilities, and that
        of new (see near/reader.py)."""
        return self._reader.by(strings, self.engine.for_many, self.engine.threads)

    def warm_up(self) -> None:
        """Make now what the first call with many unknown words makes; a few at a time are read several times as fast
        with it, too. For servers: other threads may go on meanwhile."""
        self._reader.warm_up()

    def _mean_of_readings(self, strings: Sequence[str], reading: Readings) -> Floats:
        """[len(strings), dim] of unit length."""
        vectors, table = self.engine.embed(strings), self.parts.rows
        assert table is not None
        compiled = (
            self.engine.for_many == "numba" and len(strings) >= MIN_STRINGS_FOR_NUMBA and table.precision == "int4"
        )

        def mix(part: slice) -> None:
            mixed, chances = vectors[part], reading.part(part)
            if compiled:
                from lovevec.near.mean import add_packed_readings

                add_packed_readings(mixed, *chances, table.codes, table.scale, LEVELS, MIN_PROBABILITY)
            else:
                mixed *= chances.new.astype(np.float32)[:, None]
                add_known_rows(mixed, chances, self._own_rows)
            vectors[part] = normalized(mixed)

        in_chunks(mix, len(strings), CHUNK, self.engine.threads or 1)
        return vectors

    def _own_rows(self, rows: NDArray[np.integer]) -> Floats:
        """The known words' own vectors: [len(rows), dim]."""
        table = self.parts.rows
        assert table is not None
        if len(rows) <= CHUNK:
            return table[rows]
        result = np.empty((len(rows), self.dim), dtype=np.float32)

        def take(part: slice) -> None:
            result[part] = table[rows[part]]

        in_chunks(take, len(rows), CHUNK, self.engine.threads or 1)
        return result

    @cached_property
    def _texts(self) -> TextEncoder:
        rows, known = self.parts.rows, (self.words, self.dim, self._known.place, self.__contains__, self._look_up)
        if rows is None or self.spelling_only:
            spelled = Source(*known, lambda strings: all_new(len(strings)), self._spelled_rows, self.impute)
            return TextEncoder(spelled, None, self.engine.for_many == "numba", self.low_memory)
        read = Source(*known, self.read, self._own_rows, self.impute)
        return TextEncoder(read, rows.weights, self.engine.for_many == "numba", self.low_memory)

    def _spelled_rows(self, rows: NDArray[np.integer]) -> Floats:
        """What the spelling of known words gives."""
        return self.impute([self.words[row] for row in rows.tolist()])

    def impute(self, words: Sequence[str], lengths: Floats | None = None) -> Floats:
        """Unit rows made from the spelling alone, of known words too. `lengths` [len(words)] receives what each was
        long before; an engine that has no fold leaves it as it is."""
        return self.engine.embed(words, lengths) if self.engine.fold is not None else self.engine.embed(words)

    def _known_vectors(self) -> Floats:
        """The known words' vectors, all of them."""
        if self.spelling_only or self.parts.rows is None:
            return self.engine.embed_once(self.parts.words)
        return self.parts.rows.all()

    @overload
    def neighbors(self, word: str, k: int = ..., approximate: bool | None = ...) -> list[tuple[str, float]]: ...  # type: ignore[overload-overlap]
    @overload
    def neighbors(self, word: NDArray[Any], k: int = ..., approximate: bool | None = ...) -> list[Any]: ...
    @overload
    def neighbors(
        self, word: Iterable[str], k: int = ..., approximate: bool | None = ...
    ) -> list[list[tuple[str, float]]]: ...
    def neighbors(
        self, word: str | Iterable[str] | NDArray[Any], k: int = 5, approximate: bool | None = None
    ) -> list[tuple[str, float]] | list[list[tuple[str, float]]]:
        """The k known words whose vectors are nearest, with their cosine; the word itself is left out. Of words
        equally near the first in the target comes first. For a list of words a list for each; an empty word has none.

        An array of numbers is a vector, [dim], or several, [n, dim], of any length: nothing is left out then.

        With `approximate=True` (extra `ann`) an index, built when first asked for, finds nearly all neighbors of many
        words; their cosines are exact. By default that is done for 500 words or more among 200,000 known ones or more.
        """
        return self._known.neighbors(word, k, self._rows, self._spelled, approximate)

    def analogy(self, a: str, b: str, c: str, k: int = 5) -> list[tuple[str, float]]:
        """a is to b as c is to what? The k known words nearest to b - a + c, with their cosine; the three are left out.

        love.analogy("man", "king", "woman")    # [("queen", …), …]
        """
        refuse_other_than_words([a, b, c])
        return self._known.analogy([a, b, c], k, self._rows, self._spelled)

    @overload
    def similar(self, one: str, other: str) -> float: ...  # type: ignore[overload-overlap]
    @overload
    def similar(self, one: Iterable[str], other: Iterable[str]) -> NDArray[np.float64]: ...
    def similar(self, one: str | Iterable[str], other: str | Iterable[str]) -> float | NDArray[np.float64]:
        """The cosine of two words' vectors; nan when one of them is empty. For two lists of the same length the cosines
        pair by pair: [len(one)]."""
        if isinstance(one, str) and isinstance(other, str):
            return float(self.similar([one], [other])[0])
        if isinstance(one, str) or isinstance(other, str):
            raise LovevecError("similar takes two words, or two lists of words; one of these is a word, one is not")
        left, right = check_words(one), check_words(other)
        if len(left) != len(right):
            raise LovevecError(
                f"pairs of words need two lists of the same length, not {len(left):,} and {len(right):,}"
            )
        cosines = np.empty(len(left))
        for low in range(0, len(left), BATCH):
            part = slice(low, low + BATCH)
            rows = self._rows(left[part]).astype(np.float64), self._rows(right[part]).astype(np.float64)
            cosines[part] = np.clip(np.einsum("ij,ij->i", *rows), -1, 1)
        cosines[[not (a.strip() and b.strip()) for a, b in zip(left, right, strict=True)]] = np.nan
        return cosines

    def attach(self, vectors: Any, **options: Any) -> Attached:
        """Your own word vectors (gensim, a dict, a file, …), with an imputed row for every word that they lack."""
        from lovevec.attach import Attached

        attached = Attached(self, vectors, **options)
        if attached.warning:
            warnings.warn(attached.warning, stacklevel=2)
        return attached

    def to_torch(self) -> TorchLOVE:
        """The model as torch's nn.Module (encoders/torch_love.py): words to vectors, with weights that learn; its own,
        so that this LOVE stays as it is."""
        try:
            from lovevec.encoders.torch_love import TorchLOVE
        except ImportError:
            raise MissingExtra("torch", "torch") from None

        return TorchLOVE(self.parts, self._look_up, self.read, self.spelling_only, self.card)

    @classmethod
    def from_torch(cls, module: TorchLOVE, engine: Mode = "auto") -> LOVE:
        """The model that a module of `to_torch` has become. Weights that changed are float32, the known words' rows
        float16: `save(folder, precision="int8", rows="int4")` makes them small again."""
        return cls(module.parts(), module.model_card(), engine, spelling_only=module.spelling_only)

    def confidence(self, words: Iterable[str] | NDArray[Any]) -> NDArray[np.float64]:
        """The probability that each word's vector is right: that its own target vector is among the 10 nearest (see
        `lovevec.confidence`). Known words have the share measured for known words, empty ones 0. A model that was not
        calibrated has NaN for all; `love.metadata["confidence"]` says why."""
        listed = check_words(words)
        result = np.empty(len(listed))
        for low in range(0, len(listed), BATCH):
            part = listed[low : low + BATCH]
            rows, unknown = self._look_up(part)
            reading = all_new(len(unknown)) if self.spelling_only else self.read(unknown)
            result[low : low + BATCH] = self._sureness(part, rows, unknown, reading)
        return result

    def _sureness(
        self, words: Sequence[str], rows: NDArray[np.int64], unknown: Sequence[str], reading: Readings
    ) -> NDArray[np.float64]:
        if self._calibration is None:
            return np.full(len(words), np.nan)
        found = np.full(len(words), self._calibration.known)
        if unknown:
            found[rows < 0] = self.judge(unknown, reading)
        found[[not word.strip() for word in words]] = 0.0
        return found

    def judge(self, strings: Sequence[str], reading: Readings, quality: float = 1.0) -> NDArray[np.float64]:
        """The confidence of unknown strings that are read so; `quality` is that of imputed vectors where they were
        brought into another space."""
        if self._calibration is None:
            return np.full(len(strings), np.nan)
        measured = self.measure(strings)
        imputed = self._calibration(measured) * quality
        if self.spelling_only:
            return imputed
        return self._calibration.of_reading(reading, imputed) * (1 - measured["unread"])

    def imputed_confidence(self, words: Sequence[str], lengths: Floats | None = None) -> NDArray[np.float64]:
        """The same of the vectors that `impute` gives: without a look at what is spelled alike. Who has the `lengths`
        that it gave saves making the vectors once more."""
        if self._calibration is None:
            return np.full(len(words), np.nan)
        rows, unknown = self._look_up(words)
        if lengths is not None and unknown != [word for word, row in zip(words, rows.tolist(), strict=True) if row < 0]:
            lengths = None  # of the words as they stand, not as they are read
        found = np.full(len(words), self._calibration.known)
        found[rows < 0] = self._calibration(self.measure(unknown, None if lengths is None else lengths[rows < 0]))
        return found

    def measure(self, words: Sequence[str], lengths: Floats | None = None) -> dict[str, NDArray[np.float64]]:
        """The features that the confidence of imputed vectors is judged by, [len(words)] each; `lengths` as `impute`
        gives them."""
        refuse_other_than_words(words)
        if self.engine.fold is None:
            lengths = None
        elif lengths is None:
            lengths = np.empty(len(words), dtype=np.float32)
            self.engine.embed(words, lengths)
        familiar = self._reader.likelihood(words, a_letter=True, for_many=self.engine.for_many)
        return measure(self.parts.units, words, lengths) | {"familiar": familiar}

    def explain(self, word: str, k: int = 5) -> Explanation:
        """What the word's vector is made of: units, how much each counts, attention, confidence, k nearest words (for
        0 they are not looked for)."""
        from lovevec.explain import explain

        (reading,), (near,), (sure,) = self.read_in_full([word], WORDS_PER_READING)
        neighbors = self.neighbors(word, k) if k != 0 else []
        return explain(word, self.parts, self.engine.fold, reading, near, float(sure), neighbors)

    def _spelled(self, word: str) -> str:
        """The known word that a string is a form of, else the string itself."""
        row = known_form(word, self._known.place.get)[0]
        return self.words[row] if row >= 0 else word

    @cached_property
    def _calibration(self) -> Confidence | None:
        return Confidence.from_metadata(self.parts.metadata)


def _engine(parts: ModelParts, mode: Mode) -> Engine:
    """The fold without torch, or torch for an encoder that does not fold."""
    if parts.spec.foldable:
        return FoldEngine(parts.spec, parts.folded, parts.units, mode)
    return TorchEngine(parts)
