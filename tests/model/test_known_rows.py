"""The known words' own rows inside a model: small codes for directions, and the folder that keeps them."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save
from tests.factories import random_parts

from lovevec.errors import FormatError, LovevecError
from lovevec.love import LOVE
from lovevec.model.folder import CONFIG, ROWS, WORDS, ModelParts, read_model, write_model
from lovevec.model.known_rows import LEVELS, KnownRows
from lovevec.model.validation import checksums
from lovevec.near.channel import DEFAULT, Channel
from lovevec.near.orthography import Orthography

PRECISE = {"float16": 0.99999, "int8": 0.9999, "int4": 0.99}
DIM = 24  # of random_parts


def normal(words: int, dim: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(words, dim)) * rng.uniform(1e-3, 1e3, (words, 1))).astype(np.float32)


def cosines(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    one, other = one.astype(np.float64), other.astype(np.float64)
    return (one * other).sum(axis=1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)


@pytest.mark.parametrize("dim", [1, 2, 7, 64, 300, 301])
@pytest.mark.parametrize("precision", PRECISE)
def test_rows_are_of_unit_length_and_keep_their_direction(precision, dim):
    vectors = normal(1500, dim)  # more than a block
    rows = KnownRows.of(vectors, precision)
    assert (rows.precision, rows.dim, len(rows), rows.parameters) == (precision, dim, 1500, 1500 * dim)
    decoded = rows.all()
    assert decoded.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(decoded.astype(np.float64), axis=1), 1, atol=1e-6)
    if dim >= 64:
        found = cosines(decoded, vectors)
        assert found.mean() > PRECISE[precision]
        assert found.min() > PRECISE[precision] - (0.02 if precision == "int4" else 0)  # numbers beyond its last level


@pytest.mark.parametrize(("precision", "bytes_a_row"), [("float16", 602), ("int8", 301), ("int4", 151)])
def test_codes_are_as_small_as_documented(precision, bytes_a_row):
    rows = KnownRows.of(normal(10, 301), precision)
    assert rows.codes.nbytes == 10 * bytes_a_row
    assert rows.scale.nbytes == 40


@pytest.mark.parametrize("precision", PRECISE)
def test_rows_of_zeros_stay_so(precision):
    vectors = normal(5, 9)
    vectors[[0, 3]] = 0
    decoded = KnownRows.of(vectors, precision).all()
    assert not decoded[[0, 3]].any()
    np.testing.assert_allclose(np.linalg.norm(decoded[[1, 2, 4]], axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("precision", PRECISE)
@pytest.mark.parametrize("size", [1e-42, 1e-30, 1e30, 3e37])
def test_tiny_and_huge_rows_are_directions_too(precision, size):
    vectors = (np.array([[1, -2, 3, 0.5], [0, 0, 0, -1]]) * size).astype(np.float32)
    decoded = KnownRows.of(vectors, precision).all()
    np.testing.assert_allclose(np.linalg.norm(decoded, axis=1), 1, atol=1e-6)
    assert (cosines(decoded, vectors) > (0.95 if precision == "int4" else 0.999)).all()


def test_int4_takes_the_nearest_of_its_levels():
    """Against a loop: what is coded is the number over the row's root mean square, two a byte, low half first."""
    vectors = normal(20, 7, seed=2)
    rows = KnownRows.of(vectors, "int4")
    for vector, codes, scale, decoded in zip(vectors, rows.codes, rows.scale, rows.all(), strict=True):
        spread = math.sqrt(sum(float(x) ** 2 for x in vector) / 7)
        levels = [float(min(LEVELS, key=lambda level: abs(float(x) / spread - level))) for x in vector]
        length = math.sqrt(sum(level**2 for level in levels))
        np.testing.assert_allclose(decoded, [level / length for level in levels], rtol=1e-5)
        assert scale == pytest.approx(1 / length, rel=1e-6)
        halves = [half for byte in codes.tolist() for half in (byte & 15, byte >> 4)][:7]
        np.testing.assert_allclose(LEVELS[halves], levels)


def test_int8_is_the_row_over_its_largest_number():
    vectors = normal(20, 7, seed=3)
    expected = np.rint(vectors / np.abs(vectors).max(axis=1, keepdims=True) * 127)
    assert np.array_equal(KnownRows.of(vectors, "int8").codes, expected)


@pytest.mark.parametrize("precision", PRECISE)
@given(rows=st.lists(st.integers(0, 1999), max_size=40))
@settings(max_examples=20)
def test_a_row_has_the_same_bits_alone_and_in_any_company(precision, rows):
    table = TABLES[precision]
    assert np.array_equal(table[np.array(rows, dtype=np.int64)], table.all()[rows])


TABLES = {precision: KnownRows.of(normal(2000, 11), precision) for precision in PRECISE}


@pytest.mark.parametrize("precision", PRECISE)
def test_what_is_handed_out_is_the_callers_own(precision):
    table = KnownRows.of(normal(5, 11), precision)
    before = table.all()
    table[np.arange(5)][:] = 7
    table.all()[:] = 7
    assert np.array_equal(table.all(), before)
    for array in (table.codes, table.scale):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


@pytest.mark.parametrize("precision", PRECISE)
@pytest.mark.parametrize("words", [0, 1, 1025])
def test_what_is_written_is_read(precision, words):
    table = KnownRows.of(normal(words, 5), precision)
    again = KnownRows.from_tensors(table.tensors(), 5)
    assert np.array_equal(again.all(), table.all())
    assert (again.precision, len(again)) == (precision, words)
    assert table.to(precision) is table
    assert table.to("int8").precision == "int8"


def test_unknown_precisions_are_named():
    with pytest.raises(LovevecError, match=r"unknown precision of rows 'int2'.*float16, int8, int4"):
        KnownRows.of(normal(2, 3), "int2")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda made: made.pop("scale"), "not codes, scale and perhaps weights"),
        (lambda made: made.pop("codes"), "not codes, scale and perhaps weights"),
        (lambda made: made.update(more=made["scale"]), "not codes, scale and perhaps weights"),
        (lambda made: made.update(codes=made["codes"].astype(np.int16)), "rows of int16"),
        (lambda made: made.update(codes=made["codes"].astype(np.float32)), "rows of float32"),
        (lambda made: made.update(scale=made["scale"].astype(np.float64)), "scales of float64"),
        (lambda made: made.update(codes=made["codes"][:, :-1]), "codes of the shape"),
        (lambda made: made.update(codes=made["codes"].view(np.uint8)), "codes of the shape"),
        (lambda made: made.update(codes=made["codes"][:-1]), "codes of the shape"),
        (lambda made: made.update(codes=made["codes"].ravel()), "codes of the shape"),
        (lambda made: made.update(codes=made["codes"][None]), "codes of the shape"),
        (lambda made: made.update(scale=made["scale"][:, None]), "codes of the shape"),
        (lambda made: made.update(scale=made["scale"] * np.float32("nan")), "not finite"),
        (lambda made: made.update(scale=made["scale"] * np.float32("inf")), "not finite"),
        (lambda made: made.update(codes=np.full((3, 6), np.nan, dtype=np.float16)), "not finite"),
        (lambda made: made.update(codes=np.full((3, 6), np.inf, dtype=np.float16)), "not finite"),
    ],
)
def test_other_tensors_are_refused(change, says):
    tensors = dict(KnownRows.of(normal(3, 6), "int8").tensors())
    change(tensors)
    with pytest.raises(ValueError, match=says):
        KnownRows.from_tensors(tensors, 6)


# In the folder.


def parts_with_rows(precision: str = "int8", seed: int = 0) -> ModelParts:
    parts = random_parts()
    costs = {kind: cost + 0.25 for kind, cost in DEFAULT.costs.items()}
    rows = KnownRows.of(normal(len(parts.words), DIM, seed), precision)
    channel = Channel(costs, 0.5, DEFAULT.new, DEFAULT.joined)
    return dataclasses.replace(parts, rows=rows, orthography=Orthography(channel))


def forged(folder: Path, **change: Any) -> None:
    """Change config.json and make its checksum fit."""
    config = json.loads((folder / CONFIG).read_text()) | change
    config["checksum"] = checksums(config)["checksum"]
    (folder / CONFIG).write_text(json.dumps(config))


def with_rows_file(folder: Path, content: bytes) -> None:
    """Another rows.safetensors, with the hash that belongs to it."""
    (folder / ROWS).write_bytes(content)
    sha256 = json.loads((folder / CONFIG).read_text())["sha256"]
    forged(folder, sha256=sha256 | {ROWS: hashlib.sha256(content).hexdigest()})


def refused(folder: Path, says: str) -> None:
    """One error that names the folder, at once."""
    start = time.process_time()
    with pytest.raises(LovevecError, match=says) as caught:
        LOVE(read_model(folder)).embed(["plogrick", "recieve"])
    assert str(folder) in str(caught.value)
    assert time.process_time() - start < 1


@pytest.mark.parametrize("stored", [None, *PRECISE])
@pytest.mark.parametrize("precision", PRECISE)
def test_a_folder_keeps_rows_and_channel(tmp_path, precision, stored):
    parts = parts_with_rows(precision)
    write_model(tmp_path, parts, "card", rows=stored)
    again = read_model(tmp_path)
    assert again.rows is not None
    assert again.rows.precision == (stored or precision)
    assert np.array_equal(again.rows.all(), parts.rows.to(stored or precision).all())
    assert again.orthography.channel.as_dict() == parts.orthography.channel.as_dict()
    before = (tmp_path / ROWS).read_bytes()
    write_model(tmp_path, again, "card")
    assert (tmp_path / ROWS).read_bytes() == before


def test_without_rows_a_model_reads_by_spelling_only(tmp_path):
    write_model(tmp_path / "m", parts_with_rows(), "card", rows="none")
    assert not (tmp_path / "m" / ROWS).exists()
    love = LOVE.load(tmp_path / "m")
    assert love.parts.rows is None
    assert love.spelling_only
    assert love.orthography is None
    words = [*love.words[:5], "plogrick", ""]
    assert np.array_equal(love.embed(words), love.engine.embed(words))


def test_saving_without_rows_over_a_folder_that_had_them_takes_the_file_away(tmp_path):
    write_model(tmp_path, parts_with_rows(), "card")
    assert (tmp_path / ROWS).is_file()
    LOVE(read_model(tmp_path)).save(tmp_path, rows="none")
    assert not (tmp_path / ROWS).exists()
    assert read_model(tmp_path).rows is None
    write_model(tmp_path, parts_with_rows(), "card")
    assert read_model(tmp_path).rows is not None


def test_a_rows_file_that_the_config_does_not_name_is_nobodys(tmp_path):
    write_model(tmp_path, parts_with_rows(), "card", rows="none")
    (tmp_path / ROWS).write_bytes(b"left over")
    assert read_model(tmp_path).rows is None


def test_a_rows_file_cut_or_flipped_at_100_places_is_one_named_error_each(tmp_path):
    write_model(tmp_path, parts_with_rows(), "card")
    original = (tmp_path / ROWS).read_bytes()
    rng = np.random.default_rng(0)
    for number, place in enumerate(rng.integers(0, len(original), 100).tolist()):
        damaged = bytearray(original[:place] if number % 2 else original)
        if not number % 2:
            damaged[place] ^= 1 << int(rng.integers(8))
        (tmp_path / ROWS).write_bytes(bytes(damaged))
        refused(tmp_path, rf"{ROWS}.*damaged")


def test_a_missing_rows_file_is_a_named_error(tmp_path):
    write_model(tmp_path, parts_with_rows(), "card")
    (tmp_path / ROWS).unlink()
    refused(tmp_path, rf"{ROWS}: cannot be read")
    (tmp_path / ROWS).mkdir()
    refused(tmp_path, rf"{ROWS}: not a regular file")


def test_the_rows_of_another_model_are_a_named_error(tmp_path):
    write_model(tmp_path / "one", parts_with_rows(seed=1), "card")
    write_model(tmp_path / "two", parts_with_rows(seed=2), "card")
    (tmp_path / "one" / ROWS).write_bytes((tmp_path / "two" / ROWS).read_bytes())
    refused(tmp_path / "one", rf"{ROWS}.*SHA-256")


@pytest.mark.parametrize(
    "tensors",
    [
        {},
        {"codes": np.zeros((400, DIM), dtype=np.int8)},
        {"codes": np.zeros((400, DIM + 1), dtype=np.int8), "scale": np.ones(400, dtype=np.float32)},
        {"codes": np.zeros((400, DIM), dtype=np.int32), "scale": np.ones(400, dtype=np.float32)},
        {"codes": np.zeros((400, DIM), dtype=np.int8), "scale": np.full(400, np.nan, dtype=np.float32)},
        {"codes": np.zeros((400, DIM), dtype=np.uint8), "scale": np.ones(400, dtype=np.float32)},
        {"codes": np.zeros((), dtype=np.int8), "scale": np.ones(400, dtype=np.float32)},
    ],
    ids=lambda tensors: " ".join(f"{name} {tensor.dtype} {tensor.shape}" for name, tensor in tensors.items()),
)
def test_forged_rows_are_a_named_error(tmp_path, tensors):
    write_model(tmp_path, parts_with_rows(), "card")
    with_rows_file(tmp_path, save(tensors))
    refused(tmp_path, rf"{ROWS}.*damaged")


@pytest.mark.parametrize("content", [b"", b"\0" * 8, b"PK\x03\x04", b"\xff" * 100])
def test_what_is_no_safetensors_file_is_a_named_error(tmp_path, content):
    write_model(tmp_path, parts_with_rows(), "card")
    with_rows_file(tmp_path, content)
    refused(tmp_path, rf"{ROWS}.*damaged")


@pytest.mark.parametrize("count", [0, 1, 399, 401])
def test_another_number_of_rows_than_of_words_is_a_named_error(tmp_path, count):
    """Fewer would be an IndexError somewhere, more a wrong vector."""
    write_model(tmp_path, parts_with_rows(), "card")
    made = KnownRows.of(normal(count, DIM), "int8").tensors()
    with_rows_file(tmp_path, save({name: np.ascontiguousarray(tensor) for name, tensor in made.items()}))
    refused(tmp_path, f"{ROWS}|{WORDS}")


def test_another_number_of_words_than_of_rows_is_a_named_error(tmp_path):
    write_model(tmp_path, parts_with_rows(), "card")
    content = json.dumps(["plogrick", "recieve"]).encode()
    (tmp_path / WORDS).write_bytes(content)
    sha256 = json.loads((tmp_path / CONFIG).read_text())["sha256"]
    forged(tmp_path, sha256=sha256 | {WORDS: hashlib.sha256(content).hexdigest()})
    refused(tmp_path, f"{ROWS}|{WORDS}")


@pytest.mark.parametrize(
    "channel",
    [
        *(None, [], {}, "default", 3, True),
        *({**DEFAULT.as_dict(), "rank": value} for value in (None, "1", -1, 9, 1e300, float("nan"), True)),
        *({**DEFAULT.as_dict(), "costs": value} for value in (None, [], {}, {"other": 1.0})),
        {**DEFAULT.as_dict(), "costs": {**DEFAULT.costs, "swap": float("inf")}},
        {**DEFAULT.as_dict(), "new": {**DEFAULT.new, "constant": 65}},
        *({**DEFAULT.as_dict(), "joined": value} for value in (None, [], {}, {**DEFAULT.joined, "join": -1.0})),
        {**DEFAULT.as_dict(), "more": 1},
    ],
    ids=lambda channel: str(channel)[-24:],
)
def test_a_forged_channel_is_a_named_error(tmp_path, channel):
    write_model(tmp_path, parts_with_rows(), "card")
    forged(tmp_path, channel=channel)
    refused(tmp_path, rf"{CONFIG}.*`channel` is not what lovevec writes there")


def test_a_forged_channel_of_a_number_of_400_digits_is_a_named_error(tmp_path):
    write_model(tmp_path, parts_with_rows(), "card")
    forged(tmp_path, channel={**DEFAULT.as_dict(), "rank": 10**400})
    refused(tmp_path, rf"{CONFIG}.*`channel` is not what lovevec writes there")


def test_a_changed_channel_without_its_checksum_is_damage(tmp_path):
    write_model(tmp_path, parts_with_rows(), "card")
    config = json.loads((tmp_path / CONFIG).read_text())
    config["channel"]["rank"] += 0.001
    (tmp_path / CONFIG).write_text(json.dumps(config))
    with pytest.raises(FormatError, match="checksum"):
        read_model(tmp_path)


def test_the_file_holds_codes_and_scale_and_nothing_else(tmp_path):
    parts = parts_with_rows("int4")
    write_model(tmp_path, parts, "card")
    stored = load_file(tmp_path / ROWS)
    assert {name: (tensor.dtype.name, tensor.shape) for name, tensor in stored.items()} == {
        "codes": ("uint8", (400, DIM // 2)),
        "scale": ("float32", (400,)),
    }
