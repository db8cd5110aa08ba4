"""An index of texts: `index = love.index(texts)`, `index.search(query)`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.threads import in_chunks
from lovevec.errors import FormatError, LovevecError, Parameter, reason
from lovevec.locks import ForkLock
from lovevec.model.known_rows import KnownRows
from lovevec.near.kinds import NAME, NUMBER, WORD
from lovevec.progress import Phase, Progress, wanted
from lovevec.search import fusion
from lovevec.search.folder import ARRAYS, MappedTexts, model_hash, read_index, write_index
from lovevec.search.hits import Hit, Met, Why
from lovevec.search.letters import Letters
from lovevec.search.meaning import Meaning, coded, coded_query
from lovevec.search.signals import FEATURES, Query, Signals
from lovevec.search.stems import stem
from lovevec.search.terms import Cutter, Model, Vocabulary, how_many, with_coded_words
from lovevec.search.texts import Id, check_fields, ids_of, records_of
from lovevec.texts.encode import LONG_LIST
from lovevec.texts.sums import sum_rows
from lovevec.units.ragged import Ragged, offsets_of
from lovevec.units.words import refuse_other_than_words, word_list
from lovevec.vectors.rows import normalized

Floats = NDArray[np.float32]
TEXTS_PER_CHUNK = 4096  # whose vectors a thread makes at a time
SECONDS_UNSEEN = 1.0  # phases that end sooner are not shown unless progress was asked for


class Index:
    """Texts that can be searched. Made by `love.index(texts)`, or read by `Index.load(folder)`.

    :param love: the model that reads words.
    :param texts: a list of texts, a column of a data frame; with `fields` a data frame, or a list of mappings.
    :param ids: strings or whole numbers, one a text; by default 0, 1, 2 …
    :param fields: which fields are searched, with how much a word in each counts: {"title": 2.0, "body": 1.0}.
    :param encoder: anything with an `encode`, in the place of the model's own vectors of texts: a SentenceTransformer,
        a StaticModel.
    :param progress: where progress is shown; by default on a terminal for long lists.
    """

    def __init__(
        self,
        love: Model,
        texts: Any,
        ids: Any = None,
        *,
        fields: Mapping[str, float] | None = None,
        encoder: Any = None,
        progress: Progress | None = None,
    ) -> None:
        if encoder is not None and not callable(getattr(encoder, "encode", None)):
            raise LovevecError(f"{Parameter('encoder')} is {encoder!r:.60}: must have a method `encode`")
        self.love, self.encoder, self.fields = love, encoder, check_fields(fields)
        self._lock, self._progress = ForkLock(), progress
        self._texts: Sequence[str] = []
        self._ids: list[Id] = []
        self._rows: dict[Id, int] = {}
        self._terms: dict[str, int] | None = {}  # the terms by their numbers in `_bags`; None: those of the state
        self._bags, self._counts = Ragged(np.zeros(0, np.int32), np.zeros(1, np.int64)), np.zeros(0, np.float32)
        self._meaning: Meaning | None = None  # by an encoder of the caller's
        self._cutter = Cutter(love)
        self._state: State | None = None
        self.add(texts, ids)

    def __len__(self) -> int:
        return len(self._texts)

    def __repr__(self) -> str:
        return f"Index({len(self):,} texts)"

    @property
    def ids(self) -> list[Id]:
        """The ids of the texts, in their order."""
        return list(self._ids)

    @property
    def texts(self) -> Sequence[str]:
        """The texts, in their order; of several fields joined by blanks."""
        return self._texts

    @property
    def model(self) -> Any:
        """The model that knows the words of the collection, and by which what many texts have counts less."""
        return self._built.model

    def add(self, texts: Any, ids: Any = None) -> None:
        """Add texts, as the index was made of them. Searches find them from now on, as if it had been made of all."""
        records = records_of(texts, ids, self.fields)
        if records.ids is None:
            if any(isinstance(one, str) for one in self._ids):
                raise LovevecError(
                    f"{Parameter('ids')}: the texts that are there have ids of their own; give some for these"
                )
            first = max((one for one in self._ids if isinstance(one, int)), default=-1) + 1
            own: list[Id] = list(range(first, first + len(records.texts)))
        else:
            own = records.ids
            if (known := next((one for one in own if one in self._rows), None)) is not None:
                raise LovevecError(f"{Parameter('ids')}: {known!r:.60} is in the index already")
        with self._lock:
            terms = self._own_terms()
            progress = self._shown(len(records.texts))
            with progress.phase("reading texts", len(records.texts) * max(len(records.fields), 1), "texts") as phase:
                bags, counts = self._cut(records.texts, records.fields, terms, phase)
            if self.encoder is not None:
                with progress.phase("encoding"):
                    own_meaning = Meaning.of(self._encode(records.texts))
                both = own_meaning if self._meaning is None else Meaning.together([self._meaning, own_meaning])
                self._meaning = both
            values = np.concatenate([self._bags.values, bags.values])
            offsets = np.concatenate([self._bags.offsets, bags.offsets[1:] + self._bags.offsets[-1]])
            self._bags, self._counts = Ragged(values, offsets), np.concatenate([self._counts, counts])
            self._rows |= {one: row for row, one in enumerate(own, len(self._texts))}
            self._texts, self._ids = [*self._texts, *records.texts], self._ids + own
            self._state = None

    def remove(self, ids: Any) -> None:
        """Remove texts by their ids: one, or a list. An id that is not there is an error, and nothing is removed."""
        listed = ids_of(ids)
        rows = self._rows_of(listed)
        with self._lock:
            self._own_terms()
            keep = np.ones(len(self), np.bool_)
            keep[rows] = False
            kept = np.flatnonzero(keep)
            self._counts = Ragged(self._counts, self._bags.offsets).take(kept).values  # type: ignore[arg-type, assignment]
            self._bags = self._bags.take(kept)
            self._texts, self._ids = (
                [self._texts[row] for row in kept.tolist()],
                [self._ids[row] for row in kept.tolist()],
            )
            self._rows = {one: row for row, one in enumerate(self._ids)}
            self._meaning = None if self._meaning is None else self._meaning.take(kept)
            self._state = None

    @overload
    def search(self, query: str, k: int = 10, *, only: Any = None) -> list[Hit]: ...  # type: ignore[overload-overlap]
    @overload
    def search(self, query: Iterable[str], k: int = 10, *, only: Any = None) -> list[list[Hit]]: ...
    def search(self, query: str | Iterable[str], k: int = 10, *, only: Any = None) -> list[Hit] | list[list[Hit]]:
        """The texts that answer a query best, the best first.

        :param query: a query as people type it, or a list of queries.
        :param k: how many hits; fewer where fewer texts have anything to do with the query.
        :param only: the texts that may be found: a mask [len(index)] of booleans, or ids.
        :return: hits; for a list of queries a list of lists.
        """
        queries = [query] if isinstance(query, str) else word_list(query)
        refuse_other_than_words(queries, 0, "query")
        _check_k(k)
        state, allowed = self._built, self._allowed(only)
        hits = []
        for read in state.queries(queries):
            rows, features, scores = state.best(read, k, allowed)
            hits.append(
                [
                    Hit(
                        state.ids[row], state.texts[row], float(score), partial(state.why, read, row, own, float(score))
                    )
                    for row, own, score in zip(rows.tolist(), features, scores.tolist(), strict=True)
                ]
            )
        return hits[0] if isinstance(query, str) else hits

    def candidates(self, queries: Iterable[str], k: int = 10) -> tuple[NDArray[np.int64], Floats]:
        """For each query the rows of the `k` best texts [queries, k], the best first, and their features
        [queries, k, len(FEATURES)], named by `search.FEATURES`. Where fewer were found rows are -1, features 0."""
        strings = word_list(queries)
        refuse_other_than_words(strings, 0, "query")
        _check_k(k)
        state = self._built
        found = np.full((len(strings), k), -1, dtype=np.int64)
        result = np.zeros((len(strings), k, len(FEATURES)), dtype=np.float32)
        for place, read in enumerate(state.queries(strings)):
            rows, features, _ = state.best(read, k)
            found[place, : len(rows)], result[place, : len(rows)] = rows, features
        return found, result

    def _shown(self, texts: int) -> Progress:
        """Where the progress of work on so many texts is shown."""
        quiet = Progress(quiet=not wanted(None, texts, LONG_LIST), delay=SECONDS_UNSEEN)
        return quiet if self._progress is None else self._progress

    def _own_terms(self) -> dict[str, int]:
        """The terms of the texts by their numbers, to which new ones may be added."""
        if self._terms is None:
            assert self._state is not None
            self._terms = dict(self._state.vocabulary.place)
        return self._terms

    def _cut(
        self, texts: list[str], fields: list[list[str]], terms: dict[str, int], phase: Phase
    ) -> tuple[Ragged, Floats]:
        """Texts as bags of terms, and how often each stands there: in fields by their weights."""
        if not fields:
            offsets, values, counts = how_many(self._cutter.numbered(texts, terms, phase.advance), len(terms))
            return Ragged(values, offsets), counts
        keys, weights = [], []
        for own, weight in zip(fields, self.fields.values(), strict=True):
            numbered = self._cutter.numbered(own, terms, phase.advance)
            keys.append((numbered.owners << 32) + numbered.values)
            weights.append(np.full(len(numbered.values), weight))
        distinct, where = np.unique(np.concatenate(keys), return_inverse=True)
        counts = np.bincount(where, np.concatenate(weights), len(distinct)).astype(np.float32)
        lengths = np.bincount(distinct >> 32, minlength=len(texts))
        return Ragged((distinct & 0xFFFFFFFF).astype(np.int32), offsets_of(lengths)), counts

    def _encode(self, texts: Sequence[str]) -> Floats:
        vectors = np.asarray(self.encoder.encode(list(texts)), dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            problem = f"its `encode` gave an array of shape {vectors.shape} for {len(texts):,} texts"
            raise LovevecError(f"{Parameter('encoder')}: {problem}")
        return normalized(vectors)

    def _rows_of(self, ids: Sequence[Id]) -> NDArray[np.int64]:
        if (unknown := next((one for one in ids if one not in self._rows), None)) is not None:
            raise LovevecError(f"{Parameter('ids')}: {unknown!r:.60} is not in the index")
        return np.array([self._rows[one] for one in ids], dtype=np.int64)

    def _allowed(self, only: Any) -> NDArray[np.bool_] | None:
        if only is None:
            return None
        mask = np.asarray(only) if not isinstance(only, (set, frozenset)) else np.zeros(0)
        if mask.dtype == np.bool_:
            if mask.shape != (len(self),):
                raise LovevecError(f"{Parameter('only')}: a mask of shape {mask.shape} for {len(self):,} texts")
            return mask.astype(np.bool_, copy=False)
        allowed = np.zeros(len(self), dtype=np.bool_)
        allowed[self._rows_of(ids_of(only))] = True
        return allowed

    @property
    def _built(self) -> State:
        state = self._state
        if state is None:
            with self._lock:
                state = self._state
                if state is None:
                    state = State.of(self)
                    # the state has the same bags by numbers of its own: nothing is held twice
                    self._terms, self._bags, self._counts = None, state.signals.bags, state.signals.counts
                    state.ids, state.texts = self._ids, self._texts
                    self._state = state
        return state

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the index into a folder, whole or not at all. The model is not written: `load` asks for it."""
        state = self._built
        config = {
            "model": model_hash(self.love.parts),
            "fields": self.fields,
            "encoder": self.encoder is not None,
            "texts": len(self),
        }
        write_index(folder, config, self._ids, self._texts, state.arrays(len(self.love.parts.words)))

    def to_lance(self, uri: str | os.PathLike[str], table: str = "texts", *, overwrite: bool = False) -> Any:
        """Write ids, texts and vectors into a table of LanceDB. Queries are vectors of `index.model.encode(query)`, or
        of the encoder; typos are read, but words and letters do not find texts there.

        :param uri: the store: a folder, or what lancedb connects to.
        :param table: its name.
        :param overwrite: whether a table of that name is replaced.
        :return: lancedb's table.
        """
        from lovevec.search.lance import write_lance

        state = self._built
        return write_lance(os.fspath(uri), table, state.ids, state.texts, state.signals.meaning, overwrite)

    @classmethod
    def load(cls, folder: str | os.PathLike[str], love: Model | None = None, *, encoder: Any = None) -> Index:
        """Read an index, checked by sizes and hashes; large parts stay in their files until they are needed.

        :param folder: that `save` wrote.
        :param love: the model that the index was made with; by default the shipped one.
        :param encoder: that the index was made with, if it was.
        :return: the index, as it was saved.
        """
        config, ids, texts, arrays = read_index(folder)
        path = Path(folder)
        if love is None:
            from lovevec import LOVE

            love = LOVE.load()
        if config.get("model") != model_hash(love.parts):
            problem = "was made with another model; load it with that one, or index the texts anew"
            raise LovevecError(f"{path}: {problem}")
        if bool(config.get("encoder")) != (encoder is not None):
            asks = (
                "was made with an encoder: give the same"
                if encoder is None
                else "was made without an encoder: leave out"
            )
            raise LovevecError(f"{path}: {asks} {Parameter('encoder')}")
        try:
            index = cls(love, [], fields=config["fields"] or None, encoder=encoder)
            state = State.read(love, index._cutter, encoder, arrays, len(texts))
        except (KeyError, ValueError, TypeError, IndexError, OverflowError) as error:
            raise FormatError(path / ARRAYS, f"is not what lovevec writes ({reason(error)})") from None
        index._texts, index._ids, index._rows = texts, ids, {one: row for row, one in enumerate(ids)}
        index._terms, index._bags, index._counts = None, state.signals.bags, state.signals.counts
        index._meaning = state.signals.meaning if encoder is not None else None
        state.ids, state.texts = ids, texts
        index._state = state
        return index


def _check_k(k: object) -> None:
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise LovevecError(f"{Parameter('k')} is {k!r:.60}: must be at least 1, a whole number")


class State:
    """What an index computes with, made of its texts as they are: never changed."""

    def __init__(self, model: Model, vocabulary: Vocabulary, signals: Signals, cutter: Cutter, encoder: Any) -> None:
        self.model, self.vocabulary, self.signals = model, vocabulary, signals
        self.cutter, self.encoder = cutter, encoder
        # as they were when the state was made: searches that run go on with them
        self.ids: Sequence[Id] = []
        self.texts: Sequence[str] = []

    @classmethod
    def of(cls, index: Index) -> State:
        """From the texts that an index has."""
        strings, values = list(index._own_terms()), index._bags.values
        progress = index._shown(len(index))
        documents = np.bincount(values, minlength=len(strings))
        order = sorted(np.flatnonzero(documents).tolist(), key=lambda one: (-documents[one], strings[one]))
        number = np.full(len(strings), -1, dtype=np.int32)
        number[order] = np.arange(len(order), dtype=np.int32)
        own = [strings[one] for one in order]
        keys = index._bags.owners * max(len(own), 1) + number[values]
        sorting = np.argsort(keys, kind="stable")
        bags, counts = Ragged(number[values][sorting], index._bags.offsets), index._counts[sorting]
        within = documents[order]
        with progress.phase("learning words"):
            model = cls._model(index.love, own, within, len(index))
        numbered: dict[str, int] = {}
        stems = np.array([numbered.setdefault(stem(term), len(numbered)) for term in own], dtype=np.int32)
        vocabulary = Vocabulary(own, within, list(numbered), stems, index.love)
        with progress.phase("comparing letters"):
            letters = Letters.of(own)
            norms = letters.norms(bags, counts)
        meaning = index._meaning
        if meaning is None and index.encoder is None:
            with progress.phase("vectors", len(bags), "texts") as phase:
                meaning = _meaning(model, own, bags, counts, phase)
        if meaning is None:
            meaning = Meaning.of(np.zeros((0, 1), np.float32))
        is_number = np.array([any(map(str.isdigit, term)) for term in own], dtype=np.bool_)
        engine = index.love._compiled, index.love._threads
        signals = Signals(bags, counts, stems, is_number, letters, norms, meaning, *engine)
        return cls(model, vocabulary, signals, index._cutter, index.encoder)

    @staticmethod
    def _model(love: Model, terms: Sequence[str], within: NDArray[np.int64], texts: int) -> Any:
        """The model with the terms as known words and the weights of the collection."""
        if love.spelling_only:
            return love
        return love.with_words(terms)._weighted_by(dict(zip(terms, within.tolist(), strict=True)), texts)

    def queries(self, texts: Sequence[str]) -> list[Query]:
        """Queries, read."""
        cut = self.cutter(texts)
        readings = self.vocabulary.read(word for words in cut for word in words)
        if self.encoder is None:
            vectors = self.model.encode(texts) if len(texts) else np.zeros((0, self.model.dim), np.float32)
        else:
            vectors = normalized(np.asarray(self.encoder.encode(list(texts)), dtype=np.float32))
        result = []
        for words, vector in zip(cut, vectors, strict=True):
            distinct = list(dict.fromkeys(words))
            counts = [words.count(word) for word in distinct]
            result.append(Query(distinct, counts, [readings[word] for word in distinct], *coded_query(vector)))
        return result

    def arrays(self, known: int) -> dict[str, NDArray[Any]]:
        """What `read` makes the same state of, for a model that itself knows so many words."""
        signals, letters = self.signals, self.signals.letters
        terms, names = MappedTexts.of(self.vocabulary.strings), MappedTexts.of(self.vocabulary.stems)
        own = MappedTexts.of(self.model.parts.words[known:])
        arrays: dict[str, NDArray[Any]] = {
            "terms": terms.content,
            "term_ends": terms.offsets,
            "documents": self.vocabulary.documents,
            "bags": signals.bags.values,
            "bag_ends": signals.bags.offsets,
            "counts": signals.counts,
            "stems": names.content,
            "stem_ends": names.offsets,
            "stem_of": signals.stems,
            "is_number": signals.is_number.astype(np.uint8),
            "grams": letters.grams,
            "gram_weights": letters.weights,
            "gram_terms": letters.terms.values,
            "gram_ends": letters.terms.offsets,
            "gram_counts": letters.counts,
            "norms": signals.norms,
            "codes": signals.meaning.codes,
            "scale": signals.meaning.scale,
            "words": own.content,
            "word_ends": own.offsets,
        }
        rows = self.model.parts.rows
        if rows is not None and not self.model.spelling_only:
            tail = rows.take(np.arange(known, len(rows)))
            arrays |= {f"rows_{name}": array for name, array in tail.tensors().items() if name != "weights"}
            if rows.weights is not None:
                arrays["weights"] = rows.weights
        return arrays

    @classmethod
    def read(cls, love: Model, cutter: Cutter, encoder: Any, arrays: Mapping[str, NDArray[Any]], texts: int) -> State:
        """The state of an index of so many texts. What does not fit together is a KeyError or a ValueError."""
        terms = list(_strings(arrays, "terms", "term_ends"))
        if len(set(terms)) != len(terms):
            raise ValueError("terms that are there twice")
        bags = _ragged(arrays, "bags", "bag_ends", texts, len(terms))
        counts, norms = (
            _array(arrays, "counts", np.float32, len(bags.values)),
            _array(arrays, "norms", np.float32, texts),
        )
        if min(counts.min(initial=0), norms.min(initial=0)) < 0:
            raise ValueError("counts below 0")
        names, stems = list(_strings(arrays, "stems", "stem_ends")), _array(arrays, "stem_of", np.int32, len(terms))
        documents = _array(arrays, "documents", np.int64, len(terms))
        if not np.array_equal(np.unique(stems), np.arange(len(names))):
            raise ValueError("stems that there are not")
        grams = _array(arrays, "grams", np.int64)
        of_grams = _ragged(arrays, "gram_terms", "gram_ends", len(grams), len(terms))
        weights = _array(arrays, "gram_weights", np.float32, len(grams))
        letters = Letters(grams, weights, of_grams, _array(arrays, "gram_counts", np.float32, len(of_grams.values)))
        codes = arrays["codes"]
        if codes.dtype != np.int8 or codes.ndim != 2 or len(codes) != texts:
            raise ValueError("no vectors of the texts")
        if encoder is None and texts and codes.shape[1] != love.dim:
            raise ValueError(f"vectors of {codes.shape[1]} numbers for a model of {love.dim}")
        signals = Signals(
            bags,
            counts,
            stems,
            _array(arrays, "is_number", np.uint8, len(terms)).astype(np.bool_),
            letters,
            norms,
            Meaning(codes, _array(arrays, "scale", np.float32, texts)),
            love._compiled,
            love._threads,
        )
        model = love
        if not love.spelling_only and love.parts.rows is not None:
            tail = {name[5:]: array for name, array in arrays.items() if name.startswith("rows_")}
            own, rows = list(_strings(arrays, "words", "word_ends")), KnownRows.from_tensors(tail, love.dim)
            model = love._with_parts(with_coded_words(love.parts, own, rows, arrays.get("weights")))
        return cls(model, Vocabulary(terms, documents, names, stems, love), signals, cutter, encoder)

    def best(
        self, query: Query, k: int, allowed: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.int64], Floats, NDArray[np.float64]]:
        """The rows of the k best texts, of equal ones the first; their features and scores."""
        rows, features = self.signals.candidates(query, allowed)
        totals = fusion.totals_of(features)
        if len(rows) and self.signals.are_documents:
            totals = fusion.with_feedback(totals, self.signals.feedback(rows, totals))
        best = np.argsort(-totals, kind="stable")[:k]
        return rows[best], features[best], fusion.scores_of(totals[best])

    def why(self, query: Query, row: int, features: Floats, score: float) -> Why:
        """Why the text of a row was found."""
        signals, strings = self.signals, self.vocabulary.strings
        there = signals.bags.row(row).tolist()
        met = []
        for word, reading in zip(query.words, query.readings, strict=True):
            shares = dict(zip(reading.terms, reading.shares, strict=True))
            stems: dict[int, float] = {}
            for term, share in shares.items():
                stems[int(signals.stems[term])] = max(share, stems.get(int(signals.stems[term]), 0.0))
            for term in there:
                if term in shares:
                    met.append((shares[term], Met(word, strings[term], reading.name, shares[term]), term))
                elif (share := stems.get(int(signals.stems[term]), 0.0)) > 0:
                    met.append((share, Met(word, strings[term], "form", share), term))
        met.sort(key=lambda one: -one[0] * float(signals.rarity[signals.stems[one[2]]]))
        return Why(tuple(one for _, one, _ in met), **fusion.parts_of(features, score))


def _strings(arrays: Mapping[str, NDArray[Any]], content: str, ends: str) -> MappedTexts:
    own = _array(arrays, ends, np.int64)
    if not len(own) or own[0] or (np.diff(own) < 0).any() or own[-1] != len(arrays[content]):
        raise ValueError(f"{ends} do not follow one another")
    return MappedTexts(_array(arrays, content, np.uint8), own)


def _ragged(arrays: Mapping[str, NDArray[Any]], values: str, ends: str, rows: int, limit: int) -> Ragged:
    """Rows of numbers from 0 to below the limit."""
    own, offsets = _array(arrays, values, np.int32), _array(arrays, ends, np.int64, rows + 1)
    if offsets[0] or (np.diff(offsets) < 0).any() or offsets[-1] != len(own):
        raise ValueError(f"{ends} do not follow one another")
    if len(own) and (own.min() < 0 or own.max() >= limit):
        raise ValueError(f"{values} that there are not")
    return Ragged(own, offsets)


def _array(arrays: Mapping[str, NDArray[Any]], name: str, kind: Any, count: int | None = None) -> NDArray[Any]:
    array = arrays[name]
    if array.dtype != kind or array.ndim != 1 or count not in (None, len(array)):
        raise ValueError(f"{name} of the shape {array.shape} and type {array.dtype}")
    return array


def _meaning(model: Model, terms: Sequence[str], bags: Ragged, counts: Floats, phase: Phase) -> Meaning:
    """The vectors of texts, which are sums over their terms."""
    encoder = model.text_encoder()
    hows = [WORD if any(map(str.isalpha, term)) else NUMBER if term.isdigit() else NAME for term in terms]
    of_terms = encoder.weighted_words(terms, hows)
    codes, scale = np.empty((len(bags), model.dim), dtype=np.int8), np.empty(len(bags), dtype=np.float32)
    whole = counts.astype(np.int64)
    are_whole = bool((whole == counts).all())
    lock = Lock()

    def run(part: slice) -> None:
        offsets = bags.offsets[part.start : part.stop + 1]
        values = bags.values[offsets[0] : offsets[-1]].astype(np.int64)
        if are_whole:  # a term that stands in a text twice is added twice
            ends = offsets_of(whole[offsets[0] : offsets[-1]])[offsets - offsets[0]]
            sums = sum_rows(of_terms, np.repeat(values, whole[offsets[0] : offsets[-1]]), ends, model._compiled)
        else:
            rows = of_terms[values] * counts[offsets[0] : offsets[-1], None]
            sums = sum_rows(rows, np.arange(len(rows)), offsets - offsets[0], model._compiled)
        codes[part], scale[part] = coded(sums)
        with lock:
            phase.advance(len(offsets) - 1)

    in_chunks(run, len(bags), TEXTS_PER_CHUNK, model._threads)
    return Meaning(codes, scale)
