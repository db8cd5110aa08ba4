"""spaCy's Vectors with a vector for any token: the class behind `attach` and `@vectors = "lovevec.Vectors.v1"`.

Two kinds of one class. *Alone* the vectors are those of a LOVE; rows that are set by hand come before it. *Attached*
there is a table of spaCy's, and the LOVE stands behind it, as `love.attach` has it: a misspelling has the row of the
word that was meant, a new word an imputed one in the table's space. As with spaCy's own vectors for any word (floret),
every token has a vector, so none `is_oov`; what the table lacks says `token._.imputed`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.attach import Attached
from lovevec.errors import FormatError, LovevecError, MissingExtra
from lovevec.love import LOVE
from lovevec.plugins import LoveOption, load_love

try:
    import srsly
    from spacy.strings import StringStore, get_string_id
    from spacy.vectors import Vectors
    from thinc.backends import get_array_ops
except ImportError:
    raise MissingExtra("spaCy 3.8 or newer", "spacy") from None

Floats = NDArray[np.float32]
LOVE_FOLDER, STATE_FILE = "lovevec", "spacy.json"  # in the vocab's folder: the LOVE, and how it stands behind the table
MIN_ROWS = 100  # of a table that grows


class LoveVectors(Vectors):  # type: ignore[misc]
    """spaCy's Vectors with a LOVE for what their table lacks.

    love         a LOVE, its folder or name; the shipped default for None
    attached     whether the LOVE is to be brought into the table's space; None where that is so if there is a table
    options      those of `love.attach`
    max_imputed  how many vectors of words that the table lacks are remembered
    table        the arguments of spaCy's Vectors

        LoveVectors().get_batch(["oxygen", "oxgen"])
    """

    data: Any
    mode = "lovevec"  # neither default nor floret: what is no table, layers and tools ask by `get_batch`

    def __init__(
        self,
        love: LoveOption = None,
        *,
        attached: bool | None = None,
        options: dict[str, Any] | None = None,
        max_imputed: int = 65_536,
        **table: Any,
    ) -> None:
        super().__init__(**table)
        if super().mode != "default":
            raise LovevecError("vectors: floret has a vector for any word already; attach takes a table, or none")
        self._love: LoveOption = love
        self.attached = bool("data" in table or "shape" in table) if attached is None else attached
        self.options, self.max_imputed = options or {}, max_imputed
        self._source: Attached | None = None
        if not self.attached:
            self.data = self.data.reshape(0, self.love.dim)
        self._forget()

    @property
    def love(self) -> LOVE:
        """The LOVE behind the table; one given by its name is loaded when it is first needed."""
        if not isinstance(self._love, LOVE):
            self._love = load_model(self._love)
        return self._love

    @property
    def source(self) -> LOVE | Attached | None:
        """What the vectors of words that the table lacks come from; None where there is nothing to attach to."""
        love = self.love
        if not self.attached:
            return love
        if self._source is None or self._attached_data is not self.data:
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
        self._source = None
        self._plain: Vectors | None = None
        self._attached_data = self.data
        self._imputed: dict[int, Floats] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, dimensions); alone the known words of the LOVE count as rows."""
        if self.attached:
            rows, dim = self.data.shape
            return rows, dim
        return len(self.key2row) + len(self.love), self.love.dim

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    @property
    def n_keys(self) -> int:
        """The number of keys of the table; alone -1, as spaCy has it for floret: any word is a key."""
        return len(self.key2row) if self.attached else -1

    def __len__(self) -> int:
        return self.shape[0]

    def __contains__(self, key: str | int) -> bool:
        """Whether there is a vector: for any string, unless there is no table to attach to."""
        number = int(get_string_id(key))
        if number in self.key2row:
            return True
        any_word = not self.attached or bool(self.key2row)
        return any_word and bool(number) and (isinstance(key, str) or number in self.strings)

    def __getitem__(self, key: str | int) -> Any:
        number = int(get_string_id(key))
        if number in self.key2row or (number not in self._imputed and key not in self):
            return super().__getitem__(key)  # spaCy's own error, where there is none
        if not number:
            return self.get_batch([key])[0]
        return get_array_ops(self.data).asarray(self._impute({number: key})[number])

    def get_batch(self, keys: Iterable[str | int]) -> Any:
        """The vectors of keys, [len(keys), dim]: rows of the table, the others imputed all at once; zeros for the empty
        string."""
        keys = list(keys)
        numbers = [int(get_string_id(key)) for key in keys]
        rows = np.fromiter((self.key2row.get(number, -1) for number in numbers), dtype=np.int64, count=len(numbers))
        ops = get_array_ops(self.data)
        if (rows >= 0).all():
            return ops.as_contig(self.data[rows])
        result = ops.xp.zeros((len(keys), self.shape[1]), dtype="f")
        result[rows >= 0] = self.data[rows[rows >= 0]]
        lacking = [place for place in np.flatnonzero(rows < 0).tolist() if numbers[place]]
        imputed = self._impute({numbers[place]: keys[place] for place in lacking})
        if imputed:
            result[lacking] = ops.asarray(np.stack([imputed[numbers[place]] for place in lacking]))
        return result

    def _impute(self, lacking: dict[int, str | int]) -> dict[int, Floats]:
        """Vectors of words that the table lacks, by the hashes of their keys; those made before need not be again."""
        source = self.source
        if source is None or not lacking:
            return {}
        new = {number: key for number, key in lacking.items() if number not in self._imputed}
        if not new:
            return self._imputed
        words = [key if isinstance(key, str) else self.strings.as_string(key) for key in new.values()]
        # documents ask for one word at a time, pipes for many
        vectors = dict(zip(new, source.embed(words) if len(words) > 1 else [source[words[0]]], strict=True))
        if len(self._imputed) + len(vectors) > self.max_imputed:
            vectors |= {number: self._imputed[number] for number in lacking if number in self._imputed}
            self._imputed = vectors if len(vectors) <= self.max_imputed else {}
            return vectors
        self._imputed.update(vectors)
        return self._imputed

    def add(self, key: str | int, *, vector: Any = None, row: int | None = None) -> int:
        if isinstance(key, str):
            self.strings.add(key)
        if row is None and int(get_string_id(key)) not in self.key2row and super().is_full:
            width = self.data.shape[1] or (0 if vector is None else len(vector))
            self.resize((max(MIN_ROWS, int(1.3 * len(self.data))), width))
        row = super().add(key, vector=vector, row=row)
        self._forget()
        return row

    def __setitem__(self, key: str | int, vector: Any) -> None:
        super().__setitem__(key, vector)
        self._forget()

    def resize(self, shape: tuple[int, int], inplace: bool = False) -> list[tuple[int, int]]:
        """Change the table's size, as spaCy's method does. Alone the width is the model's, and stays."""
        if not self.attached and shape[1] != self.love.dim:
            raise ValueError(f"the vectors are a LOVE's of {self.love.dim} dimensions: they cannot have {shape[1]}")
        removed: list[tuple[int, int]] = super().resize(shape, inplace)
        self._forget()
        return removed

    def clear(self) -> None:
        super().clear()
        self._forget()

    def to_table(self, words: Iterable[str] | None = None) -> Vectors:
        """Plain spaCy Vectors of these words, for use without lovevec; if not said of all that have a row of their own
        or are known to a LOVE that stands alone."""
        if words is None:
            own = [self.strings[number] for number in self.key2row if number in self.strings]
            words = own if self.attached else [*own, *self.love.words]
        keys = list(dict.fromkeys(words))
        return Vectors(strings=StringStore(keys), data=self.get_batch(keys), keys=keys, name=self.name)

    def most_similar(self, queries: Any, *, batch_size: int = 1024, n: int = 1, sort: bool = True) -> Any:
        """The nearest words as spaCy's (keys, rows, scores): among the table's words, alone among those of `to_table()`
        and by its rows."""
        if self.attached:
            return super().most_similar(queries, batch_size=batch_size, n=n, sort=sort)
        if self._plain is None:
            self._plain = self.to_table()
            for string in self._plain.strings:
                self.strings.add(string)
        return self._plain.most_similar(queries, batch_size=batch_size, n=n, sort=sort)

    def _load_love(self, folder: Path) -> None:
        """Take the LOVE of a saved pipeline; one that has a table and no LOVE gets the LOVE at hand attached."""
        if folder.is_dir():
            try:
                state = srsly.read_json(folder / STATE_FILE)
                spelling_only, self.attached = bool(state["spelling_only"]), bool(state["attached"])
                self.options = dict(state["options"])
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise FormatError(folder / STATE_FILE, f"is not what lovevec writes ({error})") from None
            self._love = LOVE.load(folder, spelling_only=spelling_only)
        elif self.key2row:
            self.attached = True
        self._forget()

    def _save_love(self, folder: Path) -> None:
        self.love.save(folder)
        state = {"attached": self.attached, "spelling_only": self.love.spelling_only, "options": self.options}
        srsly.write_json(folder / STATE_FILE, state)

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        super().to_disk(path, exclude=exclude)
        self._save_love(Path(path) / LOVE_FOLDER)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> LoveVectors:
        super().from_disk(path, exclude=exclude)
        self._load_love(Path(path) / LOVE_FOLDER)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        with TemporaryDirectory() as folder:
            self._save_love(Path(folder))
            files = {file.name: file.read_bytes() for file in sorted(Path(folder).iterdir())}
        packed: bytes = srsly.msgpack_dumps({"table": super().to_bytes(exclude=exclude), "love": files})
        return packed

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> LoveVectors:
        parts = srsly.msgpack_loads(data)
        if set(parts) != {"table", "love"}:
            parts = {"table": data, "love": {}}
        super().from_bytes(parts["table"], exclude=exclude)
        with TemporaryDirectory() as folder:
            place = Path(folder) / LOVE_FOLDER
            if parts["love"]:
                place.mkdir()
            for name, content in parts["love"].items():
                (place / Path(name).name).write_bytes(content)
            self._load_love(place)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        state = self.love, self.attached, self.options, self.name
        return _unpickle, (*state, super().to_bytes())


def _unpickle(love: LOVE, attached: bool, options: dict[str, Any], name: str | None, table: bytes) -> LoveVectors:
    vectors = LoveVectors(love, attached=attached, options=options, name=name)
    Vectors.from_bytes(vectors, table)
    vectors._forget()
    return vectors


def load_model(love: LoveOption | Attached) -> LOVE:
    """The LOVE that an argument `love` stands for; an attached table is refused."""
    model = load_love(love)
    if isinstance(model, Attached):
        raise LovevecError("love: an attached table is for a pipeline without vectors: attach(nlp, table)")
    return model
