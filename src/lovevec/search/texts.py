"""What people give as texts to search in, with ids and fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from lovevec.errors import LovevecError, Parameter
from lovevec.units.words import refuse_other_than_words, word_list

MAX_FIELD_WEIGHT = 100.0
Id = int | str


class Records(NamedTuple):
    """Texts as they come: `texts`, and for each of the fields its texts; ids, or None where none were given."""

    texts: list[str]
    fields: list[list[str]]
    ids: list[Id] | None


def check_fields(fields: Mapping[str, float] | None) -> dict[str, float]:
    """Fields with their weights; an empty mapping where there are none."""
    if fields is None:
        return {}
    if isinstance(fields, Sequence) and not isinstance(fields, str):
        fields = dict.fromkeys(fields, 1.0)
    if not isinstance(fields, Mapping) or not fields or not all(isinstance(name, str) for name in fields):
        raise LovevecError(
            f"{Parameter('fields')} is {fields!r:.60}: must name fields with weights, as {{'title': 2.0}}"
        )
    for name, weight in fields.items():
        is_number = isinstance(weight, (int, float, np.number)) and not isinstance(weight, bool)
        if not is_number or not 0 < weight <= MAX_FIELD_WEIGHT:
            problem = f"must be a number above 0, at most {MAX_FIELD_WEIGHT:g}"
            raise LovevecError(f"{Parameter('fields')}: the weight of {name!r} is {weight!r:.60}: {problem}")
    return {name: float(weight) for name, weight in fields.items()}


def records_of(texts: Any, ids: Any, fields: Mapping[str, float], first: int = 0) -> Records:
    """What `index` and `add` are given, checked; `first` is the number of the first text, for errors."""
    if fields:
        columns = [_column(texts, name) for name in fields]
        joined = [" ".join(filter(None, row)) for row in zip(*columns, strict=True)]
    else:
        strings = word_list(texts) if not isinstance(texts, str) else None
        if strings is None:
            raise LovevecError("expected a list of texts, not one string")
        if len(strings) and isinstance(strings[0], Mapping):
            names = ", ".join(f"{name!r}: 1.0" for name in strings[0])
            fields_like = Parameter("fields", f"{{{names}}}")
            raise LovevecError(f"the texts are mappings: say which of their fields are searched, as {fields_like}")
        refuse_other_than_words(strings, first, "text")
        joined, columns = [str(text) for text in strings], []
    return Records(joined, columns, None if ids is None else ids_of(ids, len(joined)))


def _column(records: Any, name: str) -> list[str]:
    """The texts of one field of a frame, a table or a list of mappings; what is missing is an empty text."""
    if hasattr(records, "columns") or hasattr(records, "column_names"):
        names = list(getattr(records, "column_names", None) or records.columns)
        if name not in names:
            raise LovevecError(f"{Parameter('fields')}: there is no column {name!r} but {', '.join(map(repr, names))}")
        values: Sequence[Any] = word_list(records[name])
    else:
        values = []
        for place, record in enumerate(word_list(records)):
            if not isinstance(record, Mapping):
                raise LovevecError(
                    f"text {place} is no mapping with fields but {type(record).__name__}: {record!r:.60}"
                )
            values.append(record.get(name))
        if values and all(value is None for value in values):
            raise LovevecError(f"{Parameter('fields')}: no text has the field {name!r}")
    plain = ["" if _is_missing(value) else value for value in values]
    for place, value in enumerate(plain):
        if not isinstance(value, str):
            raise LovevecError(f"{name!r} of text {place} is not a string but {type(value).__name__}: {value!r:.60}")
    return [str(value) for value in plain]


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ == "NAType"


def ids_of(ids: Any, count: int | None = None) -> list[Id]:
    """Ids as plain strings and whole numbers, each once."""
    if isinstance(ids, (str, int, np.integer)):
        ids = [ids]
    listed = sorted(ids) if isinstance(ids, (set, frozenset)) else word_list(ids)
    plain: list[Id] = []
    for place, one in enumerate(listed):
        if isinstance(one, bool) or not isinstance(one, (str, int, np.integer)):
            raise LovevecError(f"{Parameter('ids')}: id {place} is {one!r:.60}: must be a string or a whole number")
        plain.append(str(one) if isinstance(one, str) else int(one))
    if count is not None and len(plain) != count:
        raise LovevecError(f"{Parameter('ids')}: {len(plain):,} for {count:,} texts")
    if count is not None and len(set(plain)) != count:
        twice = next(one for place, one in enumerate(plain) if one in plain[:place])
        raise LovevecError(f"{Parameter('ids')}: {twice!r:.60} stands there twice")
    return plain
