"""Converting and mapping: what is read back is what went in, and nothing is half-written."""

from __future__ import annotations

import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from lovevec.cli import main
from lovevec.errors import FormatError, LovevecError
from lovevec.vectors import Oddity, convert_vectors, read_vectors

WORDS = [f"wörd{number}" for number in range(5000)]
VECTORS = np.random.default_rng(8).normal(size=(5000, 7)).astype(np.float32)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("vectors") / "a.npz"
    np.savez(path, vectors=VECTORS, words=np.array(WORDS))
    return path


@pytest.mark.parametrize("name", ["b.vec", "b.npy", "b.npz", "b.safetensors"])
def test_any_format_gives_the_same_table(source, tmp_path, name):
    report = convert_vectors(source, tmp_path / name)
    assert (report.kept, report.read) == (5000, 5000)
    table = read_vectors(tmp_path / name)
    assert table.words == WORDS
    np.testing.assert_array_equal(table.vectors, VECTORS)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("name", ["b.npy", "b.npz", "b.safetensors"])
def test_float16_rounds_once(source, tmp_path, name):
    convert_vectors(source, tmp_path / name, dtype="float16")
    np.testing.assert_array_equal(read_vectors(tmp_path / name).vectors, VECTORS.astype(np.float16))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("name", ["b.npy", "b.safetensors"])
def test_a_mapped_table_stays_in_its_file(source, tmp_path, name, dtype):
    convert_vectors(source, tmp_path / name, dtype=dtype, limit=3000)
    table = read_vectors(tmp_path / name, mmap=True)
    assert isinstance(table.vectors, np.memmap)
    assert (table.vectors.dtype, table.vectors.shape) == (dtype, (3000, 7))
    assert not table.vectors.flags.writeable
    assert table.vectors.flags.aligned
    assert table.words == WORDS[:3000]
    np.testing.assert_array_equal(table.vectors, VECTORS[:3000].astype(dtype))


@pytest.mark.parametrize("name", ["b.npy", "b.safetensors"])
def test_a_large_file_is_mapped_where_it_can_be(source, tmp_path, name, monkeypatch):
    convert_vectors(source, tmp_path / name, dtype="float16")
    assert not isinstance(read_vectors(tmp_path / name, mmap=None).vectors, np.memmap)
    monkeypatch.setattr("lovevec.vectors.LARGE_FILE", 1000)
    table = read_vectors(tmp_path / name, mmap=None)
    assert isinstance(table.vectors, np.memmap)
    np.testing.assert_array_equal(table.vectors, VECTORS.astype(np.float16))
    assert not isinstance(read_vectors(source, mmap=None).vectors, np.memmap)  # a text cannot be


def test_a_large_file_whose_rows_have_to_go_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("lovevec.vectors.LARGE_FILE", 0)
    rows = VECTORS[:20].copy()
    rows[3] = np.nan
    np.save(tmp_path / "a.npy", rows)
    (tmp_path / "a.words.txt").write_text("\n".join(WORDS[:20]) + "\n", "utf-8")
    table = read_vectors(tmp_path / "a.npy", mmap=None)
    assert (len(table), table.report.read) == (19, 20)
    np.testing.assert_array_equal(table.vectors, np.delete(rows, 3, axis=0))
    (tmp_path / "a.npy").write_bytes((tmp_path / "a.npy").read_bytes()[:-9])
    with pytest.raises(FormatError, match="the file is cut: 9 bytes of numbers are missing"):
        read_vectors(tmp_path / "a.npy", mmap=None)


def test_safetensors_own_library_reads_it(source, tmp_path):
    convert_vectors(source, tmp_path / "b.safetensors")
    tensors = load_file(tmp_path / "b.safetensors")
    np.testing.assert_array_equal(tensors["vectors"], VECTORS)
    assert tensors["words"].tobytes().decode().split("\n")[:-1] == WORDS


def test_a_file_of_somebody_else_is_mapped(tmp_path):
    save_file({"a": np.ones(3), "embedding": VECTORS, "z": np.zeros(5)}, tmp_path / "a.safetensors")
    (tmp_path / "a.txt").write_text("\n".join(WORDS), encoding="utf-8")
    np.testing.assert_array_equal(read_vectors(tmp_path / "a.safetensors", mmap=True).vectors, VECTORS)


def test_odd_rows_are_dropped_by_converting_and_refused_by_mapping(tmp_path):
    odd = VECTORS[:100].copy()
    odd[3], odd[50] = 0, np.nan
    np.save(tmp_path / "a.npy", odd)
    (tmp_path / "a.txt").write_text("\n".join([*WORDS[:99], WORDS[0]]), encoding="utf-8")
    with pytest.raises(FormatError, match=r"cannot be mapped; lovevec convert makes a file that can .*zeros only"):
        read_vectors(tmp_path / "a.npy", mmap=True)
    report = convert_vectors(tmp_path / "a.npy", tmp_path / "b.npy")
    assert [report.count(what) for what in (Oddity.ZERO, Oddity.NOT_FINITE, Oddity.REPEATED)] == [1, 1, 1]
    keep = [row for row in range(99) if row not in (3, 50)]
    table = read_vectors(tmp_path / "b.npy", mmap=True)
    np.testing.assert_array_equal(table.vectors, VECTORS[keep])
    assert table.words == [WORDS[row] for row in keep]


@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_other_numbers_are_not_mapped(tmp_path, dtype):
    np.save(tmp_path / "a.npy", (VECTORS[:5] * 100).astype(dtype))
    (tmp_path / "a.txt").write_text("\n".join(WORDS[:5]), encoding="utf-8")
    with pytest.raises(FormatError, match=f"holds {dtype} numbers: only float16 and float32"):
        read_vectors(tmp_path / "a.npy", mmap=True)


def test_an_archive_a_text_and_an_array_by_columns_are_not_mapped(source, tmp_path):
    convert_vectors(source, tmp_path / "a.vec", limit=10)
    for path, what in ((source, "an archive"), (tmp_path / "a.vec", "a text")):
        with pytest.raises(LovevecError, match=what):
            read_vectors(path, mmap=True)
    np.save(tmp_path / "a.npy", np.asfortranarray(VECTORS[:10]))
    (tmp_path / "a.words.txt").write_text("\n".join(WORDS[:10]), encoding="utf-8")
    with pytest.raises(FormatError, match="column by column"):
        read_vectors(tmp_path / "a.npy", mmap=True)


@pytest.mark.parametrize(("factor", "row"), [(1e6, 7), (1e-9, 12)])
def test_what_float16_cannot_hold_is_refused_and_nothing_is_written(tmp_path, factor, row):
    rows = VECTORS[:20].copy()
    rows[row] *= factor
    np.savez(tmp_path / "a.npz", vectors=rows, words=np.array(WORDS[:20]))
    with pytest.raises(LovevecError, match=f"the vector of '{WORDS[row]}' has numbers too large or too small"):
        convert_vectors(tmp_path / "a.npz", tmp_path / "b.safetensors", dtype="float16")
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


def test_a_damaged_file_leaves_nothing_behind(tmp_path):
    lines = [f"{word} " + " ".join(map(str, row)) for word, row in zip(WORDS, VECTORS.tolist(), strict=True)]
    lines[4000] = "word 1 2 no 4 5 6 7"
    (tmp_path / "a.vec").write_text("\n".join(["5000 7", *lines]), encoding="utf-8")
    (tmp_path / "b.safetensors").write_bytes(b"before")
    with pytest.raises(FormatError, match="4002"):
        convert_vectors(tmp_path / "a.vec", tmp_path / "b.safetensors", overwrite=True)
    assert (tmp_path / "b.safetensors").read_bytes() == b"before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.vec", "b.safetensors"]


def test_the_command(source, tmp_path, capsys):
    output = tmp_path / "b.safetensors"
    assert main(["convert", str(source), str(output), "--dtype", "float16"]) == 0
    assert "5,000 words × 7 kept of 5,000 rows read (numpy .npz)" in capsys.readouterr().err
    before = output.read_bytes()
    assert main(["convert", str(source), str(output)]) == 2
    assert f"{output}: is there already; choose another file, or --overwrite" in capsys.readouterr().err
    assert output.read_bytes() == before
    assert main(["convert", str(source), str(output), "--overwrite", "-q", "--limit", "9"]) == 0
    assert capsys.readouterr().err == ""
    length = int.from_bytes(output.read_bytes()[:8], "little")
    assert json.loads(output.read_bytes()[8 : 8 + length])["vectors"]["shape"] == [9, 7]
    assert main(["convert", str(output), str(output), "--overwrite"]) == 2
    assert "is the input too" in capsys.readouterr().err
    for arguments, said in (
        ([str(source), str(tmp_path / "b.what")], "does not say the format"),
        ([str(source), str(tmp_path / "no" / "b.npy")], "there is no folder"),
        ([str(source), str(tmp_path / "c.vec"), "--dtype", "float16"], "float16 is for"),
        ([str(tmp_path / "no.vec"), str(tmp_path / "c.npy")], "no.vec"),
        ([str(source), str(tmp_path / "c.npy"), "--limit", "0"], "--limit is 0"),
    ):
        assert main(["convert", *arguments]) == 2
        assert said in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["b.safetensors"]
