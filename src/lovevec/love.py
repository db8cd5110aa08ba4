"""LOVE: a vector for any word. Load a model, index it with a string.

love = LOVE.load()                    # the shipped default, English; or "fr", a folder, a hub id
love["mispelling"]                    # float32, unit length
love.embed(["oxgen", "archiitect"])   # (2, dim)
love.near("recieve")                  # [("receive", 0.93), …]: which known words may be meant, how probably
love.lookup(words)                    # vectors, readings, near words and confidence, computed as they are asked for
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
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lovevec.arguments import check_flags, new_folder
from lovevec.confidence import Confidence, SpellingJudge
from lovevec.damage.languages import Language
from lovevec.encoders.torch_engine import TorchEngine
from lovevec.encoders.torch_model import TorchModel
from lovevec.engine.compiled import Mode, core, is_compiled
from lovevec.engine.engine import Engine, FoldEngine
from lovevec.engine.fold import Precision
from lovevec.engine.nearest import NeighborIndex, is_zero
from lovevec.engine.threads import in_chunks
from lovevec.engine.word_map import CompiledWordMap
from lovevec.errors import LovevecError, shown
from lovevec.files.lines import printable
from lovevec.learn import LearnsWords
from lovevec.model.find import find_model
from lovevec.model.folder import ModelParts, read_card, read_model, write_model
from lovevec.model.known_rows import RowPrecision
from lovevec.model.pretrained import HubModel
from lovevec.near.context import SentenceReader
from lovevec.near.forms import Listed, known_form, look_up
from lovevec.near.orthography import Orthography
from lovevec.near.parts import UNKNOWN, Composite, take_all_apart
from lovevec.near.reader import Reader
from lovevec.near.readings import MIN_PROBABILITY, NEW_DIVISOR_IN_TEXT, Readings, all_new, mix_readings
from lovevec.own_words import with_lexicon, with_weights_by, with_weights_of, with_words
from lovevec.texts.encoder import TextEncoder
from lovevec.texts.sentence import Sentences
from lovevec.texts.text_reader import WordSource
from lovevec.units.words import refuse_other_than_words
from lovevec.vectors.rows import normalized
from lovevec.word_vectors import Lookup, WordsWithScores, WordVectors

if TYPE_CHECKING:
    from lovevec.attach import Attached
    from lovevec.explain import Explanation
    from lovevec.progress import Progress
    from lovevec.search import Groups, Index, Matches
    from lovevec.search.match import Columns

Floats = NDArray[np.float32]
WORDS_PER_CHUNK = 1024  # that a thread takes at a time


class LOVE(HubModel, TorchModel, LearnsWords, WordVectors):
    """A trained model, which `LOVE.load` reads. Inference needs no torch. `parts` are what a model is in memory
    (model/folder.py), `card` its README; the other arguments are those of `LOVE.load`."""

    def __init__(
        self,
        parts: ModelParts,
        card: str = "",
        engine: Mode = "auto",
        *,
        spelling_only: bool = False,
        low_memory: bool = False,
    ) -> None:
        if not isinstance(parts, ModelParts):
            raise LovevecError(f"parts is {shown(parts)}: a model is read by its name or folder with LOVE.load(name)")
        check_flags(spelling_only=spelling_only, low_memory=low_memory)
        self.parts = parts
        self.card = card
        self.dim = parts.spec.dim
        self.engine: Engine = _engine(parts, engine)
        self._compiled = is_compiled(self.engine.mode)
        self.spelling_only = spelling_only or parts.rows is None
        self.low_memory = low_memory
        coded = None if self.spelling_only or not low_memory else parts.rows
        self._known = NeighborIndex(parts.words, self._known_vectors if coded is None else coded)
        ranks = None if parts.rows is None else parts.rows.ranks
        lowercase, known = parts.units.lowercase, self._known
        self._reader = Reader(parts.words, parts.orthography, lowercase, self._compiled, ranks, lambda: known.place)

    @classmethod
    def load(
        cls,
        name: str | os.PathLike[str] | None = None,
        engine: Mode = "auto",
        *,
        spelling_only: bool = False,
        low_memory: bool = False,
    ) -> LOVE:
        """Read a model, checked by size and hash.

        :param name: the shipped default, which is English, if not named; the name of a shipped model or of an installed
            one (`fr`, by pip install lovevec-fr), a model folder, or a hub id `owner/name` (looked for in the local
            cache first).
        :param engine: auto, numpy or compiled; auto is compiled where the compiled core is there, unless the
            environment says LOVEVEC_ENGINE=numpy.
        :param spelling_only: makes every vector from the spelling, as in the paper: known words too.
        :param low_memory: finds neighbors among rows as they are stored: 90 MB less for the default, but several times
            as slow; every result is the same.
        :return: the model.

        >>> len(LOVE.load())
        78578
        """
        return cls._read_folder(find_model(name), engine, spelling_only, low_memory)

    @classmethod
    def _read_folder(cls, folder: Path, engine: Mode, spelling_only: bool, low_memory: bool) -> LOVE:
        return cls(read_model(folder), read_card(folder), engine, spelling_only=spelling_only, low_memory=low_memory)

    def save(
        self, folder: str | os.PathLike[str], precision: Precision | None = None, rows: RowPrecision | None = None
    ) -> None:
        """Write the model folder, whole or not at all.

        :param folder: is made if it is not there; a model in it is replaced.
        :param precision: of the folded tables: float32, float16 or int8; by default the model is written as it is.
        :param rows: of the known words' own rows: float16, int8, int4, or none.
        """
        write_model(new_folder(folder), self.parts, self.card, precision, rows)

    def copy(
        self,
        *,
        parts: ModelParts | None = None,
        card: str | None = None,
        engine: str | None = None,
        spelling_only: bool | None = None,
        low_memory: bool | None = None,
    ) -> LOVE:
        """The same model with other options, or with other parts; what is not named stays as it is. Nothing large is
        copied."""
        return type(self)(
            self.parts if parts is None else parts,
            self.card if card is None else card,
            self.engine.mode if engine is None else engine,  # type: ignore[arg-type]
            spelling_only=self.spelling_only if spelling_only is None else spelling_only,
            low_memory=self.low_memory if low_memory is None else low_memory,
        )

    def _with_parts(self, parts: ModelParts) -> LOVE:
        """The same model with other parts."""
        return self.copy(parts=parts)

    def __repr__(self) -> str:
        name = self.parts.target.get("name")
        mimics = printable(name) if isinstance(name, str) and name else "a target that is not stated"
        how = ", by spelling only" if self.spelling_only else ""
        return f"LOVE({self.dim} dimensions, {len(self):,} known words, {self.parts.precision}{how}; mimics {mimics})"

    def __reduce__(self) -> tuple[Any, ...]:
        constructor = partial(type(self), spelling_only=self.spelling_only, low_memory=self.low_memory)
        return constructor, (self.parts, self.card, self.engine.mode)

    @property
    def _threads(self) -> int:
        return self.engine.threads or 1

    @property
    def _tells_lengths(self) -> bool:
        """Whether `_impute` gives lengths, by which confidence is judged."""
        return self.engine.fold is not None

    @property
    def _language(self) -> Language:
        return self.parts.orthography.language

    @property
    def orthography(self) -> Orthography | None:
        """By what strings are read: channel, lexicon, listed forms; None for a model that reads by spelling only."""
        return None if self.spelling_only else self.parts.orthography

    @property
    def metadata(self) -> dict[str, Any]:
        """Where the model comes from: settings, target, parameter counts, scores. The caller's own copy."""
        return deepcopy(self.parts.metadata)

    def __contains__(self, word: object) -> bool:
        """Whether the word is known, or a form of a known word (in lower case, in quotes …; near/forms.py)."""
        return isinstance(word, str) and self._known_word(word) in self._known.place

    def _known_word(self, word: str) -> str:
        row = known_form(word, self._known.place.get, self._language)[0]
        return self.words[row] if row >= 0 else word

    def _look_up(self, words: Sequence[str]) -> tuple[NDArray[np.int64], list[str]]:
        return look_up(words, self._known.place, language=self._language)

    def _take_apart(self, strings: Sequence[str]) -> Sequence[str | Composite]:
        if self.spelling_only or not strings:
            return strings
        return self._reader.take_apart(strings, self._row_of, self._threads)

    def _row_of(self, word: str) -> int:
        return known_form(word, self._known.place.get, self._language)[0]

    def _read(self, strings: Sequence[str], in_text: bool = False) -> Readings:
        return self._reader(strings, self._threads, in_text)

    def warm_up(self) -> None:
        """Make now what the first call with an unknown word makes. For servers: other threads may go on meanwhile."""
        self._reader.warm_up()

    def _vectors_of(self, lookup: Lookup) -> Floats:
        return self.engine.embed(lookup.words) if self.spelling_only else super()._vectors_of(lookup)

    def _one(self, word: str) -> Floats:
        if not self._by_core:
            return super()._one(word)
        row, form = known_form(word, self._known.place.get, self._language)
        if row < 0:
            if not (form.isalpha() and form[1:].islower()):
                return super()._one(word)
            mean: Floats = self._compiled_mean([form], self._texts.weights)[0][0]
            return mean
        vector = np.empty(self.dim, dtype=np.float32)
        self._core_rows.take(row, vector)
        return vector

    def _mean_over_readings(self, lookup: Lookup) -> Floats:
        """[len(lookup.unknown), dim] of unit length."""
        if self._by_core and not lookup.is_read:
            mean = self._compiled_mean(lookup.unknown, self._texts.weights)
            vectors, lookup.imputed_lengths, lookup.probabilities = mean
            return vectors
        readings = lookup.probabilities
        vectors, lookup.imputed_lengths = self._impute(lookup.unknown)

        def mix(part: slice) -> None:
            mix_readings(vectors[part], readings.some(part), self._own_vectors, self._texts.weights)
            vectors[part] = normalized(vectors[part])

        in_chunks(mix, len(vectors), WORDS_PER_CHUNK, self._threads)
        return vectors

    def _compiled_mean(
        self, strings: Sequence[str], weights: Floats, new_weight: float | None = None
    ) -> tuple[Floats, Floats, Readings]:
        """The vectors of unknown strings by one call of the compiled core, how long the imputed ones were, and how the
        strings were read. With a `new_weight` the strings are words of a text, and vectors have weights multiplied in;
        else they are of unit length."""
        options = MIN_PROBABILITY, 1.0 if new_weight is None else NEW_DIVISOR_IN_TEXT, weights, new_weight
        readings, count = Readings.empty(len(strings)), len(strings)
        vectors, lengths = np.empty((count, self.dim), dtype=np.float32), np.empty(count, dtype=np.float32)
        parts, mean = self._core_parts, core().mean

        def run(part: slice) -> None:
            mean(*parts, strings[part], vectors[part], lengths[part], *readings.some(part), *options)

        in_chunks(run, count, WORDS_PER_CHUNK, self._threads)
        return vectors, lengths, readings

    @cached_property
    def _by_core(self) -> bool:
        """Whether the compiled core makes the vectors of this model from the strings on."""
        has_rows = not self.spelling_only and self.parts.rows is not None
        return has_rows and isinstance(self.engine, FoldEngine) and self._compiled

    @cached_property
    def _core_rows(self) -> Any:
        assert self.parts.rows is not None
        return self.parts.rows.core

    @cached_property
    def _core_parts(self) -> tuple[Any, Any, Any]:
        """Index, fold and known rows as the compiled core has them; the index is made now."""
        assert isinstance(self.engine, FoldEngine)
        return self._reader.core_index(), self.engine.core_fold, self._core_rows

    def _own_vectors(self, rows: NDArray[np.integer]) -> Floats:
        """The known words' own vectors: [len(rows), dim]."""
        table = self.parts.rows
        assert table is not None
        result = np.empty((len(rows), self.dim), dtype=np.float32)

        def take(part: slice) -> None:
            if self._compiled:
                table.core.take(rows[part].astype(np.int64, copy=False), result[part])
            else:
                result[part] = table[rows[part]]

        in_chunks(take, len(rows), WORDS_PER_CHUNK, self._threads)
        return result

    def _known_vectors(self) -> Floats:
        if self.spelling_only or self.parts.rows is None:
            return self.engine.embed(self.parts.words)
        return self.parts.rows.all()

    def _impute(self, words: Sequence[str]) -> tuple[Floats, Floats | None]:
        """Unit vectors from the spelling alone, and how long each was before it was normalised; None for an engine
        that has no fold and so does not tell."""
        if self.engine.fold is None:
            return self.engine.embed(words), None
        lengths = np.empty(len(words), dtype=np.float32)
        return self.engine.embed(words, lengths), lengths

    def _impute_all(self, words: Sequence[str]) -> Floats:
        return self.engine.embed(words)

    def text_weights(self, rows: NDArray[np.int64], unknown: Readings) -> tuple[Floats, Floats]:
        """How much known words count in a text, [len(rows)], and strings that are read so."""
        return self._texts.weights[rows], self._texts.reading_weights(unknown)

    def _number_codes(self, numbers: Sequence[str]) -> Floats:
        """What numbers have in common and a signature of the digits, in equal parts."""
        if self.spelling_only:
            return self._impute_all(numbers)
        codes = np.tile(self._number_direction * np.float32(0.5**0.5), (len(numbers), 1))
        self._texts.signatures.add(numbers, np.full(len(numbers), 0.5**0.5, dtype=np.float32), codes)
        return normalized(codes)

    @cached_property
    def _number_direction(self) -> Floats:
        """[dim] the mean of the known numbers, at unit length; zeros where none is known."""
        rows = np.array([row for row, word in enumerate(self.words) if word.isdecimal()], dtype=np.int64)
        return normalized(self._own_vectors(rows).sum(axis=0))

    @cached_property
    def _texts(self) -> TextEncoder:
        rows, place = self.parts.rows, self._known.place
        if rows is None or self.spelling_only:
            plain = WordSource(
                words=self.words,
                dim=self.dim,
                look_up=self._look_up,
                take_apart=partial(take_all_apart, is_known=self.__contains__),
                read=_read_as_new,
                own=self._own_vectors_by_spelling,
                weigh=self._weigh,
                mix=self._mix,
                impute=self._impute_all,
                number_codes=self._impute_all,
            )
            return TextEncoder(plain)
        source = WordSource(
            words=self.words,
            dim=self.dim,
            look_up=self._look_up,
            take_apart=self._take_apart,
            read=partial(self._read, in_text=True),
            own=self._own_vectors,
            weigh=self._weigh,
            mix=self._mix,
            impute=self._impute_all,
            number_codes=self._number_codes,
            sentences=None if self._sentence_reader is None else Sentences(self._sentence_reader),
            core=(place.core, rows.core) if self._compiled and isinstance(place, CompiledWordMap) else None,
            torn=self._reader.torn_words,
            threads=self._threads,
        )
        return TextEncoder(source, rows.weights)

    def _weigh(self, strings: Sequence[str], weights: Floats, new_weight: float) -> tuple[Floats, Readings]:
        """The vectors of unknown words of a text, weights multiplied in, and their readings."""
        if self._by_core:
            vectors, _, readings = self._compiled_mean(strings, weights, new_weight)
            return vectors, readings
        readings = all_new(len(strings)) if self.spelling_only else self._read(strings, in_text=True)
        return self._mix(strings, readings, weights, new_weight), readings

    def _mix(self, strings: Sequence[str], readings: Readings, weights: Floats, new_weight: float) -> Floats:
        """The vectors of unknown words of a text that are read so, weights multiplied in."""
        vectors = self._impute_all(strings)
        if self._by_core:
            self._core_rows.mix(vectors, *readings, weights, new_weight, MIN_PROBABILITY)
        else:
            mix_readings(vectors, readings, self._own_vectors, weights, new_weight)
        return vectors

    @cached_property
    def _sentence_reader(self) -> SentenceReader | None:
        """What the model of context says of the known words; None for a model without one."""
        context, rows = self.parts.context, self.parts.rows
        if context is None or rows is None or self.spelling_only:
            return None
        return SentenceReader(context, self._own_vectors, rows.core if self._compiled else None)

    def _own_vectors_by_spelling(self, rows: NDArray[np.integer]) -> Floats:
        return self._impute_all([self.words[row] for row in rows.tolist()])

    def _count_units(self, words: Sequence[str]) -> NDArray[np.int64]:
        """As `Units.counts`, by the compiled core where it computes."""
        if not self._compiled or not isinstance(self.engine, FoldEngine):
            return self.parts.units.counts(words)
        counts = np.empty((len(words), 4), dtype=np.int64)
        self.engine.core_fold.count(words, counts)
        return counts

    @cached_property
    def _judge(self) -> SpellingJudge:
        calibration = Confidence.from_metadata(self.parts.metadata)

        def lengths(words: Sequence[str]) -> Floats | None:
            return self._impute(words)[1] if self._tells_lengths else None

        def familiarity(words: Sequence[str]) -> NDArray[np.float64]:
            return self._reader.likeness(words)

        return SpellingJudge(calibration, self.parts.units, self._count_units, lengths, familiarity, self.spelling_only)

    def _confidence_of(self, lookup: Lookup) -> NDArray[np.float64]:
        confidence = np.full(len(lookup), self._judge.known)
        if lookup.unknown:
            readings = all_new(len(lookup.unknown)) if self.spelling_only else lookup.probabilities
            confidence[lookup.rows == UNKNOWN] = self._judge(lookup.unknown, readings, lookup.imputed_lengths)
        return confidence

    def _imputed_confidence(self, words: Sequence[str], lengths: Floats | None = None) -> NDArray[np.float64]:
        """The confidence of vectors that are made from the spelling alone, without a look at what is spelled alike;
        `lengths` are those of these vectors before they were normalised, where they have been made."""
        rows, unknown = self._look_up(words)
        if lengths is not None and unknown != [word for word, row in zip(words, rows.tolist(), strict=True) if row < 0]:
            lengths = None  # of the words as they stand, not as they are read
        confidence = np.full(len(words), self._judge.known)
        confidence[rows < 0] = self._judge.imputed(unknown, None if lengths is None else lengths[rows < 0])
        return confidence

    def explain(self, word: str, k: int = 5) -> Explanation:
        """What the word's vector is made of: units, how much each counts, attention, confidence, and the k nearest
        known words (with k = 0 they are not looked for)."""
        refuse_other_than_words([word])
        return self._explain(word, self.lookup(word), self.neighbors(word, k) if not is_zero(k) else [])

    def _explain(self, word: str, lookup: Lookup, neighbors: WordsWithScores) -> Explanation:
        from lovevec.explain import explain

        return explain(word, self.parts, self.engine.fold, lookup, neighbors)

    def with_words(self, words: str | Iterable[str], weights: Mapping[str, float] | None = None) -> LOVE:
        """The model with words of your own, which are known from now on: names, terms, the words of a collection.

        Whatever holds several words (a title, a name) is cut into them. A new word has the vector that it had; what is
        misspelled from it is read as it, before words that are not yours. What was known stays as it was.

        :param words: words, or whole texts.
        :param weights: how much words count in texts, where you know better; else the new ones count as rare words do.
        :return: a model, which can be saved and loaded as any other.

        >>> love = LOVE.load()
        >>> love.with_words(["Vestergaard", "Novo Nordisk"]).near("Vestergard", k=1)[0][0]
        'vestergaard'
        """
        listed = [words] if isinstance(words, str) else words
        return self.copy(parts=with_words(self, self._parts_with_rows("with_words"), listed, weights))

    def with_lexicon(self, words: Iterable[str] = (), *, forms: Listed | None = None, replace: bool = False) -> LOVE:
        """The model with more words that exist: they get no vectors of their own, but are no misspellings either,
        unless another word is overwhelmingly likelier.

        :param words: names, terms, brands, one word each.
        :param forms: what stands for known words, with how probably: {"u": [("you", 0.9)]}; in the place of the model's
            own forms.
        :param replace: whether the lexicon has these words and the known ones alone, without those of the model's.
        :return: a model, which can be saved and loaded as any other.

        >>> love = LOVE.load()
        >>> love.readings("vercel"), love.with_lexicon(["vercel"]).readings("vercel")
        ('near', 'new')
        """
        check_flags(replace=replace)
        return self.copy(parts=with_lexicon(self._parts_with_rows("with_lexicon"), words, forms, replace))

    def fitted(self, texts: Iterable[str]) -> LOVE:
        """The model with the weights of a collection: how much a word counts in a text is multiplied by how rare it is
        in these texts (idf), so that what all of them have in common counts little.

        :param texts: those of the collection, a few hundred at least.
        :return: a model, which can be saved and loaded as any other.

        >>> films = LOVE.load().fitted(["a film about love", "a film about war", "another film"])
        >>> [round(float(token.weight), 2) for token in films.tokens("film war")]
        [0.73, 1.02]
        """
        return self.copy(parts=with_weights_of(self, self._parts_with_rows("fitted"), texts))

    def _weighted_by(self, documents: Mapping[str, float], texts: int) -> LOVE:
        """As `fitted`, where the words of the collection are counted: in how many of the `texts` each stands.

        :param documents: known words with their numbers of texts.
        :param texts: how many texts there are.
        :return: a model, which can be saved and loaded as any other.
        """
        return self.copy(parts=with_weights_by(self, self._parts_with_rows("fitted"), documents, texts))

    def index(
        self,
        texts: Any,
        ids: Any = None,
        *,
        fields: Mapping[str, float] | None = None,
        encoder: Any = None,
        progress: Progress | None = None,
    ) -> Index:
        """An index of texts, in which a search finds what is meant, typos and all.

        :param texts: a list of texts, a column of a data frame; with `fields` a data frame, or a list of mappings.
        :param ids: strings or whole numbers, one a text; by default 0, 1, 2 …
        :param fields: which fields are searched, with how much a word in each counts: {"title": 2.0, "body": 1.0}.
        :param encoder: anything with an `encode` in the place of the model's own vectors of texts.
        :param progress: where progress is shown; by default on a terminal for long lists.
        :return: an index, which can be searched, added to, saved and loaded.

        >>> index = LOVE.load().index(["wireless headphones", "a steel kettle", "running shoes"])
        >>> index.search("wireles hedphones", k=1)[0].text
        'wireless headphones'
        """
        from lovevec.search import Index

        return Index(self, texts, ids, fields=fields, encoder=encoder, progress=progress)

    def match(
        self,
        left: Any,
        right: Any,
        *,
        columns: Columns | None = None,
        one_to_one: bool = False,
        precision: float | None = None,
        progress: Progress | bool | None = None,
    ) -> Matches:
        """For each record of `right` the record of `left` that is most probably the same thing, typos and all.

        :param left: the table that is looked in, as a rule one without duplicates: a list or column of texts, a data
            frame, or a list of mappings.
        :param right: the table whose records are looked for.
        :param columns: of frames, those that are compared; ("name", "title") where they differ. By default all that
            hold text in both. A column counts by what it tells apart.
        :param one_to_one: whether each left record is the match of one right record at most.
        :param precision: keep only so many, the surest, that this share of them is expected to be right: 0.95.
        :param progress: by default for long tables on a terminal.
        :return: a list of matches, each with `left` and `right` (places from 0), both texts and a `probability`.

        >>> LOVE.load().match(["Acme Inc", "Vestergaard Foods"], ["Vestergard Foods Ltd"])[0].left_text
        'Vestergaard Foods'
        """
        from lovevec.search.match import match

        return match(self, left, right, columns=columns, one_to_one=one_to_one, precision=precision, progress=progress)

    def dedupe(
        self,
        records: Any,
        *,
        columns: Sequence[str] | None = None,
        precision: float = 0.9,
        progress: Progress | bool | None = None,
    ) -> Groups:
        """Groups of records that are the same thing, typos and all.

        :param records: a list or column of texts, a data frame, or a list of mappings.
        :param columns: of a frame, those that are compared; by default all that hold text. A column counts by what it
            tells apart.
        :param precision: the share of the pairs within groups that is expected to be right.
        :param progress: by default for long tables on a terminal.
        :return: the groups, as lists of places from 0; `labels` has the group of each record, `first` the records that
            stay.

        >>> list(LOVE.load().dedupe(["Acme Incorporated", "Vestergaard Foods", "Acme Incorporatd"]))
        [[0, 2]]
        """
        from lovevec.search.dedupe import dedupe

        return dedupe(self, records, columns=columns, precision=precision, progress=progress)

    def _learning_model(self, what: str) -> LOVE:
        return self

    def _with_learning_model(self, model: LOVE) -> LOVE:
        return model

    @cached_property
    def _learned_rows(self) -> NDArray[np.int64]:
        learned = self.parts.learned
        return self._look_up([] if learned is None else learned.known_words)[0]

    def _parts_with_rows(self, what: str) -> ModelParts:
        if self.spelling_only:
            raise LovevecError(
                f"{what}: this model reads by spelling only, and so knows no words; load it without that"
            )
        return self.parts

    def attach(self, vectors: Any, **options: Any) -> Attached:
        """Your own word vectors, with a vector for every word that they lack.

        :param vectors: gensim's KeyedVectors, a dict of word to row, a pair (words, matrix), a VectorTable, or a path
            to a vector file.
        :param options: space, lowercase, by_confidence, near, as `Attached` has them.
        :return: an `Attached`. It warns where the model says next to nothing about these vectors.
        """
        from lovevec.attach import Attached

        attached = Attached(self, vectors, **options)
        if attached.warning:
            warnings.warn(attached.warning, stacklevel=2)
        return attached


def _engine(parts: ModelParts, mode: Mode) -> Engine:
    """The fold without torch, or torch for an encoder that does not fold."""
    if parts.spec.foldable:
        return FoldEngine(parts.spec, parts.folded, parts.units, mode)
    return TorchEngine(parts, mode)


def _read_as_new(strings: Sequence[str]) -> Readings:
    return all_new(len(strings))
