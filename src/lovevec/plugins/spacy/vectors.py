"""spaCy vectors with a vector for any token: of words that a pipeline knows its own rows, of all others LOVE's.

    nlp = attach(spacy.blank("en"))            # or spacy.load("en_core_web_md"), whose vectors stay as they are
    nlp("oxgen")[0].vector, nlp("oxgen")[0]._.imputed, nlp("oxgen")[0]._.near

Training configs name them, `[nlp.vectors]` with `@vectors = "lovevec.Vectors.v1"`; layers that include static vectors
(`include_static_vectors = true`) then see a vector for each token. They are saved and loaded with their pipeline.

Two kinds of one class. *Alone* the vectors are those of a LOVE; rows that are set by hand come before it. *Attached*
there is a table of spaCy's, and the LOVE stands behind it, as `love.attach` has it: a misspelling has the row of the
word that was meant, a new word an imputed one in the table's space. As with spaCy's own vectors for any word (floret),
every token has a vector, so none `is_oov`; what the table lacks says `token._.imputed`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.attach import Attached
from lovevec.errors import FormatError, LovevecError, MissingExtra
from lovevec.love import LOVE
from lovevec.plugins import Love, opened

try:
    import spacy
    import srsly
    from spacy.language import Language
    from spacy.strings import get_string_id
    from spacy.tokens import Doc, Token
    from spacy.util import minibatch
    from spacy.vectors import Vectors
    from thinc.backends import get_array_ops

    registered = spacy.registry.vectors
except (ImportError, AttributeError):
    raise MissingExtra("spaCy 3.8 or newer", "spacy") from None

Floats = NDArray[np.float32]
NAME = "lovevec.Vectors.v1"
FOLDER, STATE = "lovevec", "spacy.json"  # in the vocab's folder: the LOVE, and how it stands behind the table
REMEMBERED = 65_536  # vectors of words that the table lacks
ROOM = 100  # rows that a table without room gets, at least


class LoveVectors(Vectors):  # type: ignore[misc]
    """spaCy's Vectors (`table` are their arguments) with a LOVE for what the table lacks.

    `attached` says whether the LOVE is to be brought into the table's space; if not said, whether there is a table.
    `options` are those of `love.attach`.
    """

    data: Any
    mode = "lovevec"  # neither default nor floret: what is no table, layers and tools ask by `get_batch`

    def __init__(
        self, love: Love = None, *, attached: bool | None = None, options: dict[str, Any] | None = None, **table: Any
    ) -> None:
        super().__init__(**table)
        if super().mode != "default":
            raise LovevecError("vectors: floret has a vector for any word already; attach takes a table, or none")
        self._love: Love = love
        self.attached = bool("data" in table or "shape" in table) if attached is None else attached
        self.options = options or {}
        self._source: Attached | None = None
        if not self.attached:
            self.data = self.data.reshape(0, self.love.dim)
        self._forget()

    @property
    def love(self) -> LOVE:
        """The model; a name is opened when it is first needed."""
        self._love = love = _model(self._love)
        return love

    @property
    def source(self) -> LOVE | Attached | None:
        """What the vectors of words that the table lacks come from; None where there is nothing to attach to."""
        love = self.love
        if not self.attached:
            return love
        if self._source is None or self._of is not self.data:
            self._forget()
            words, rows = self._words()
            if words:
                data = get_array_ops(self.data).to_numpy(self.data)
                in_place = len(rows) == len(data) and np.array_equal(rows, np.arange(len(data)))
                self._source = love.attach((words, data if in_place else data[rows]), **self.options)
        return self._source

    def _words(self) -> tuple[list[str], NDArray[np.int64]]:
        """One word a row of the table, the first that it has, and these rows."""
        first: dict[int, str] = {}
        for number, row in self.key2row.items():
            if row not in first and number in self.strings and (word := self.strings[number]):
                first[row] = word
        rows = np.array(sorted(first), dtype=np.int64)
        rows = rows[get_array_ops(self.data).to_numpy(self.data).any(axis=1)[rows]] if len(rows) else rows
        return [first[row] for row in rows.tolist()], rows

    def _forget(self) -> None:
        """What was made of the table, which has changed."""
        self._source = None
        self._plain: Vectors | None = None
        self._of = self.data
        self._made: dict[int, Floats] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, dimensions); alone the known words of the LOVE count as rows."""
        if self.attached:
            rows, dim = self.data.shape
            return rows, dim
        return len(self.key2row) + len(self.love), self.love.dim

    @property
    def size(self) -> int:
        """rows x dimensions."""
        return self.shape[0] * self.shape[1]

    @property
    def n_keys(self) -> int:
        """The keys of the table; alone -1, as with floret."""
        return len(self.key2row) if self.attached else -1

    def __len__(self) -> int:
        return self.shape[0]

    def __contains__(self, key: str | int) -> bool:
        """Whether there is a vector: of any string there is, if not for want of a table."""
        number = int(get_string_id(key))
        if number in self.key2row:
            return True
        behind = not self.attached or bool(self.key2row)
        return behind and bool(number) and (isinstance(key, str) or number in self.strings)

    def __getitem__(self, key: str | int) -> Any:
        number = int(get_string_id(key))
        if number in self.key2row or (number not in self._made and key not in self):
            return super().__getitem__(key)  # spaCy's own error, where there is none
        return self.get_batch([key])[0]

    def get_batch(self, keys: Iterable[str | int]) -> Any:
        """[len(keys), dim]: rows of the table; what it lacks is made all at once. Zeros for the empty string."""
        keys = list(keys)
        numbers = [int(get_string_id(key)) for key in keys]
        rows = np.fromiter((self.key2row.get(number, -1) for number in numbers), dtype=np.int64, count=len(numbers))
        ops = get_array_ops(self.data)
        if (rows >= 0).all():
            return ops.as_contig(self.data[rows])
        result = ops.xp.zeros((len(keys), self.shape[1]), dtype="f")
        result[rows >= 0] = self.data[rows[rows >= 0]]
        lacking = [place for place in np.flatnonzero(rows < 0).tolist() if numbers[place]]
        made = self._imputed({numbers[place]: keys[place] for place in lacking})
        if made:
            result[lacking] = ops.asarray(np.stack([made[numbers[place]] for place in lacking]))
        return result

    def _imputed(self, lacking: dict[int, str | int]) -> dict[int, Floats]:
        """Vectors of words that the table lacks, by the hashes of their keys; those made before need not be again."""
        source = self.source
        if source is None or not lacking:
            return {}
        new = {number: key for number, key in lacking.items() if number not in self._made}
        if not new:
            return self._made
        words = [key if isinstance(key, str) else self.strings.as_string(key) for key in new.values()]
        made = dict(zip(new, source.embed(words), strict=True))
        if len(self._made) + len(made) > REMEMBERED:
            made |= {number: self._made[number] for number in lacking if number in self._made}
            self._made = made if len(made) <= REMEMBERED else {}
            return made
        self._made.update(made)
        return self._made

    def add(self, key: str | int, *, vector: Any = None, row: int | None = None) -> int:
        """Give a key a row, as spaCy's; a table without room grows."""
        if isinstance(key, str):
            self.strings.add(key)
        if row is None and int(get_string_id(key)) not in self.key2row and super().is_full:
            width = self.data.shape[1] or (0 if vector is None else len(vector))
            self.resize((max(ROOM, int(1.3 * len(self.data))), width))
        row = super().add(key, vector=vector, row=row)
        self._forget()
        return row

    def __setitem__(self, key: str | int, vector: Any) -> None:
        super().__setitem__(key, vector)
        self._forget()

    def resize(self, shape: tuple[int, int], inplace: bool = False) -> list[tuple[int, int]]:
        """Change the table's size, as spaCy's. Alone the width is the model's."""
        if not self.attached and shape[1] != self.love.dim:
            raise ValueError(f"the vectors are a LOVE's of {self.love.dim} dimensions: they cannot have {shape[1]}")
        removed: list[tuple[int, int]] = super().resize(shape, inplace)
        self._forget()
        return removed

    def clear(self) -> None:
        """Clear the table."""
        super().clear()
        self._forget()

    def to_table(self, words: Iterable[str] | None = None) -> Vectors:
        """Plain spaCy Vectors of these words, for use without lovevec; if not said of all that have a row of their own
        or are known to a LOVE that stands alone."""
        if words is None:
            own = [self.strings[number] for number in self.key2row if number in self.strings]
            words = own if self.attached else [*own, *self.love.words]
        listed = list(dict.fromkeys(words))
        data = self.get_batch(listed)
        plain = Vectors(strings=spacy.strings.StringStore(listed), data=data, keys=listed, name=self.name)
        return plain

    def most_similar(self, queries: Any, *, batch_size: int = 1024, n: int = 1, sort: bool = True) -> Any:
        """spaCy's (keys, rows, scores): among the table's words; alone among those of `to_table()`, and its rows."""
        if self.attached:
            return super().most_similar(queries, batch_size=batch_size, n=n, sort=sort)
        if self._plain is None:
            self._plain = self.to_table()
            for string in self._plain.strings:
                self.strings.add(string)
        return self._plain.most_similar(queries, batch_size=batch_size, n=n, sort=sort)

    def _state(self) -> dict[str, Any]:
        return {"attached": self.attached, "spelling_only": self.love.spelling_only, "options": self.options}

    def _load_love(self, folder: Path) -> None:
        """The LOVE of a saved pipeline. One without it, whose vectors are a table: the LOVE at hand is attached."""
        if folder.is_dir():
            try:
                state = srsly.read_json(folder / STATE)
                spelling_only, self.attached = bool(state["spelling_only"]), bool(state["attached"])
                self.options = dict(state["options"])
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise FormatError(folder / STATE, f"is not what lovevec writes ({error})") from None
            self._love = LOVE.load(folder, spelling_only=spelling_only)
        elif self.key2row:
            self.attached = True
        self._forget()

    def _save_love(self, folder: Path) -> None:
        self.love.save(folder)
        srsly.write_json(folder / STATE, self._state())

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """The table as spaCy writes it, and the LOVE in a folder beside it."""
        super().to_disk(path, exclude=exclude)
        self._save_love(Path(path) / FOLDER)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> LoveVectors:
        """The inverse; of a pipeline with plain vectors these are the table."""
        super().from_disk(path, exclude=exclude)
        self._load_love(Path(path) / FOLDER)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The same as `to_disk`, in one piece."""
        with TemporaryDirectory() as folder:
            self._save_love(Path(folder))
            files = {file.name: file.read_bytes() for file in sorted(Path(folder).iterdir())}
        packed: bytes = srsly.msgpack_dumps({"table": super().to_bytes(exclude=exclude), "love": files})
        return packed

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> LoveVectors:
        """The inverse; bytes of plain Vectors are a table."""
        parts = srsly.msgpack_loads(data)
        if set(parts) != {"table", "love"}:
            parts = {"table": data, "love": {}}
        super().from_bytes(parts["table"], exclude=exclude)
        with TemporaryDirectory() as folder:
            place = Path(folder) / FOLDER
            if parts["love"]:
                place.mkdir()
            for name, content in parts["love"].items():
                (place / Path(name).name).write_bytes(content)
            self._load_love(place)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        state = self.love, self.attached, self.options, self.name
        return _unpickled, (*state, super().to_bytes())


def _unpickled(love: LOVE, attached: bool, options: dict[str, Any], name: str | None, table: bytes) -> LoveVectors:
    vectors = LoveVectors(love, attached=attached, options=options, name=name)
    Vectors.from_bytes(vectors, table)
    vectors._forget()
    return vectors


@registered(NAME)  # type: ignore[untyped-decorator]
def create_vectors(love: str | None = None) -> Callable[[Any], LoveVectors]:
    """For `[nlp.vectors]`: the vectors of a LOVE, by its folder or name; of the shipped default, if not said.

    A pipeline brings the LOVE that it was saved with, so a folder that is no longer there counts only when a word is
    looked up before."""

    def create(vocab: Any) -> LoveVectors:
        try:
            return LoveVectors(_model(love), strings=vocab.strings)
        except LovevecError:
            return LoveVectors(love, attached=True, strings=vocab.strings)

    return create


class WordsAhead:
    """A component for text with many words that no table has: makes the vectors of all tokens of a batch of documents
    at once, so that `token.vector` finds them. One by one, unknown words take several times as long."""

    def __call__(self, doc: Doc) -> Doc:
        """The document as it is."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """The documents as they are."""
        for docs in minibatch(stream, batch_size):
            vectors = docs[0].vocab.vectors
            if isinstance(vectors, LoveVectors):
                vectors.get_batch({key for doc in docs for key in doc.to_array(vectors.attr).tolist()})
            yield from docs


@Language.factory("lovevec_words")  # type: ignore[untyped-decorator]
def create_words_ahead(nlp: Any, name: str) -> WordsAhead:
    """For `nlp.add_pipe("lovevec_words", first=True)`."""
    return WordsAhead()


def attach(nlp: Any, love: Love | Attached = None, **options: Any) -> Any:
    """Give a pipeline vectors for any token; it is changed, and returned. The words of its own vectors keep them, bit
    for bit; the others get imputed ones in the same space. A pipeline without vectors gets those of the LOVE, or the
    words of an attached table. `options` are those of `love.attach`."""
    own, vocab = nlp.vocab.vectors, nlp.vocab
    if isinstance(own, LoveVectors):
        raise LovevecError("nlp: has vectors for any token already; load the pipeline anew to attach another LOVE")
    if isinstance(love, Attached) and not own.size:
        if options or not isinstance(love.model, LOVE):
            raise LovevecError("love: an attached table has its options already, and has to have a LOVE behind it")
        keys = list(love.words)
        vectors = LoveVectors(love.model, strings=vocab.strings, data=np.array(love.vectors), keys=keys, name=own.name)
    elif own.size:
        vectors = LoveVectors(
            _model(love),
            options=options,
            strings=vocab.strings,
            name=own.name,
            data=own.data,
            mode=own.mode,
            attr=own.attr,
        )
        vectors.key2row = dict(own.key2row)
        vectors._sync_unset()
        _ = vectors.source  # options and vectors that do not go together are told here
    else:
        if options:
            raise LovevecError(f"{', '.join(options)}: the pipeline has no vectors to attach to")
        vectors = LoveVectors(_model(love), strings=vocab.strings, name=own.name)
    vocab.vectors = vectors
    nlp.config["nlp"]["vectors"] = {"@vectors": NAME}
    return nlp


def _model(love: Love | Attached) -> LOVE:
    model = opened(love)
    if isinstance(model, Attached):
        raise LovevecError("love: an attached table is for a pipeline without vectors: attach(nlp, table)")
    return model


def _source_of(token: Token) -> LOVE | Attached | None:
    vectors = token.vocab.vectors
    return vectors.source if isinstance(vectors, LoveVectors) else None


def _is_imputed(token: Token) -> bool:
    source = _source_of(token)
    if source is None or token.orth in token.vocab.vectors.key2row:
        return False
    return not source.text_encoder().source.is_known(token.text)


def _near(token: Token) -> list[tuple[str, float]]:
    source = _source_of(token)
    return [] if source is None else source.near(token.text)


Token.set_extension("imputed", getter=_is_imputed, force=True)
Token.set_extension("near", getter=_near, force=True)
