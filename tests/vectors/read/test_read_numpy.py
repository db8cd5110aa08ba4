"""Array files: .npy, .npz and safetensors, with their words in every place they may be."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from lovevec.errors import FormatError
from lovevec.vectors import Oddity, read_vectors
from lovevec.vectors.read.numpy import read_header

WORDS = ["cat", "größe", "New York", "東京"]
VECTORS = np.arange(1, 13, dtype=np.float32).reshape(4, 3)
JOINED = np.frombuffer("\n".join(WORDS).encode(), np.uint8)


def check(table, kind):
    assert table.words == WORDS
    np.testing.assert_array_equal(table.vectors, VECTORS)
    assert table.report.format == kind
    assert table.report.count(Oddity.SPACED) == 1


@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<f2", "<f8", "<i4", "|u1"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_of_any_number_type_and_order(tmp_path, dtype, order):
    np.save(tmp_path / "v.npy", np.asarray(VECTORS, dtype, order=order))
    (tmp_path / "v.words").write_text("\n".join(WORDS), encoding="utf-8")
    check(read_vectors(tmp_path / "v.npy"), "numpy .npy")


@pytest.mark.parametrize("name", ["v.words", "v.txt", "other.lst"])
@pytest.mark.parametrize(
    "change", [lambda b: b, lambda b: b + b"\n", lambda b: b"\xef\xbb\xbf" + b.replace(b"\n", b"\r\n")]
)
def test_word_lists_by_name_or_beside(tmp_path, name, change):
    np.save(tmp_path / "v.npy", VECTORS)
    (tmp_path / name).write_bytes(change("\n".join(WORDS).encode()))
    given = {"words": tmp_path / name} if name == "other.lst" else {}
    check(read_vectors(tmp_path / "v.npy", **given), "numpy .npy")


def test_word_lists_keep_their_rows(tmp_path):
    np.save(tmp_path / "v.npy", VECTORS)
    (tmp_path / "v.words").write_bytes(b"a\n\n\xff\nb\n")
    table = read_vectors(tmp_path / "v.npy")
    assert table.words == ["a", "b"]
    np.testing.assert_array_equal(table.vectors, VECTORS[[0, 3]])
    assert table.report.notes[Oddity.EMPTY].first == [2]
    assert table.report.notes[Oddity.NOT_UTF8].first == [3]


def test_npy_needs_a_fitting_list(tmp_path):
    np.save(tmp_path / "v.npy", VECTORS)
    with pytest.raises(FormatError, match=r"v\.words or v\.txt beside it, or pass words=FILE"):
        read_vectors(tmp_path / "v.npy")
    (tmp_path / "v.txt").write_text("a\nb\nc\n")
    with pytest.raises(FormatError, match="4 vectors, but there are 3 words"):
        read_vectors(tmp_path / "v.npy")


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("words", [np.array(WORDS), JOINED], ids=["text", "uint8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npz(tmp_path, save, words, order):
    save(tmp_path / "v.npz", vectors=np.asarray(VECTORS, order=order), words=words)
    check(read_vectors(tmp_path / "v.npz"), "numpy .npz")


def test_npz_with_a_list(tmp_path):
    np.savez(tmp_path / "v.npz", vectors=VECTORS)
    (tmp_path / "list").write_text("\n".join(WORDS), encoding="utf-8")
    check(read_vectors(tmp_path / "v.npz", words=tmp_path / "list"), "numpy .npz")


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"vectors": VECTORS}, "needs the arrays vectors and words, this one has vectors"),
        ({"a": VECTORS, "words": JOINED}, "this one has a, words"),
        ({"vectors": VECTORS, "words": np.array(WORDS, object)}, "pickle"),
        ({"vectors": VECTORS.astype(object), "words": JOINED}, "pickle"),
        ({"vectors": VECTORS, "words": VECTORS}, "words must be text or uint8"),
        ({"vectors": np.array([WORDS]), "words": JOINED}, "must be numbers|words for them"),
        ({"vectors": VECTORS.ravel(), "words": JOINED}, "must be a table"),
        ({"vectors": VECTORS[:, :0], "words": JOINED}, "must be a table"),
        ({"vectors": VECTORS.astype(complex), "words": JOINED}, "neither numbers nor text"),
        ({"vectors": VECTORS[:3], "words": JOINED}, "3 vectors, but there are 4 words"),
    ],
)
def test_npz_that_does_not_fit(tmp_path, arrays, says):
    np.savez(tmp_path / "v.npz", **arrays)
    with pytest.raises(FormatError, match=says):
        read_vectors(tmp_path / "v.npz")


def test_lone_surrogates_are_not_utf8(tmp_path):
    np.savez(tmp_path / "v.npz", vectors=VECTORS, words=np.array(["a", "\ud800", "b", "c"]))
    table = read_vectors(tmp_path / "v.npz")
    assert table.words == ["a", "b", "c"]
    assert table.report.notes[Oddity.NOT_UTF8].first == [2]


@pytest.mark.parametrize(
    "shape", ["(1000000000, 1000000)", "(4, 999999999999999999)", "(9999999999999999999, 9)", "(-4, 3)"]
)
def test_absurd_shapes_are_refused_at_once(tmp_path, shape):
    buffer = io.BytesIO()
    np.save(buffer, VECTORS)
    data = buffer.getvalue()
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    data = data[:10] + header.encode() + data[128:]
    (tmp_path / "v.npy").write_bytes(data)
    (tmp_path / "v.words").write_text("\n".join(WORDS), encoding="utf-8")
    with pytest.raises(FormatError):
        read_vectors(tmp_path / "v.npy")
    with zipfile.ZipFile(tmp_path / "v.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("vectors.npy", data)
        archive.writestr("words.npy", data)
    with pytest.raises(FormatError):
        read_vectors(tmp_path / "v.npz")


def npy_with(header: bytes, version: int = 1) -> bytes:
    length = len(header).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + VECTORS.tobytes()


GOOD = b"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), }"


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("header", [GOOD, GOOD + b" " * 5000 + b"\n", GOOD.replace(b"4, 3", b"4L, 3L")])
def test_headers_of_any_numpy(tmp_path, header, version):
    if version == 3 and b"L" in header:
        pytest.skip("Python 2 never wrote version 3")
    (tmp_path / "v.npy").write_bytes(npy_with(header, version))
    (tmp_path / "v.words").write_text("\n".join(WORDS), encoding="utf-8")
    check(read_vectors(tmp_path / "v.npy"), "numpy .npy")


@pytest.mark.parametrize("version", [0, 1, 2, 4])
@pytest.mark.parametrize(
    "header",
    [
        b"",
        GOOD[:-3],
        b"__import__('os').system('true')",
        GOOD.replace(b"'<f4'", b"__import__('os')"),
        GOOD.replace(b"'<f4'", b"'|O'"),
        GOOD.replace(b"'<f4'", b"[('a', '|O'), ('b', '<f4')]"),
        GOOD.replace(b"'<f4'", b"[('a', '<f4')]"),
        GOOD.replace(b"'<f4'", b"('<f4', (3,))"),
        GOOD.replace(b"'<f4'", b"()"),
        GOOD.replace(b"'<f4'", b"'<f16'"),
        GOOD.replace(b"'<f4'", b"'<U99999999999'"),
        GOOD.replace(b"'<f4'", b"'|b1'"),
        GOOD.replace(b"(4, 3)", b"[4, 3]"),
        GOOD.replace(b"(4, 3)", b"(4.0, 3)"),
        GOOD.replace(b"(4, 3)", b"(4, -3)"),
        GOOD.replace(b"(4, 3)", b"(4, " + b"9" * 5000 + b")"),
        GOOD.replace(b"(4, 3)", b"(" + b"9" * 17 + b"," * 1 + b" 1," * 500 + b")"),
        GOOD.replace(b"(4, 3)", b"(" * 300 + b"4" + b")" * 300),
        GOOD.replace(b"(4, 3)", b"-" * 9000 + b"4"),
        GOOD.replace(b"False", b"0"),
        GOOD.replace(b"'descr'", b"{}"),
        GOOD + b" " * 20_000,
    ],
)
def test_damaged_headers_are_one_named_error(tmp_path, header, version):
    (tmp_path / "v.npy").write_bytes(npy_with(header, version))
    (tmp_path / "v.words").write_text("\n".join(WORDS), encoding="utf-8")
    with pytest.raises(FormatError, match=r"v\.npy: "):
        read_vectors(tmp_path / "v.npy")


def test_a_header_that_says_it_has_gigabytes_takes_no_memory():
    class Endless:
        taken = 0

        def read(self, count):
            self.taken += count
            return bytes(count)

    endless, start = Endless(), io.BytesIO(b"\x93NUMPY\x02\x00\xff\xff\xff\xff")
    with pytest.raises(FormatError, match="damaged"):
        read_header(Path("v.npy"), lambda count: start.read(count) or endless.read(count))
    assert endless.taken <= 10_000


@pytest.mark.parametrize("name", ["vectors", "embedding", "embeddings", "anything"])
@pytest.mark.parametrize("place", ["metadata", "tensor", "list", "beside"])
def test_safetensors(tmp_path, name, place):
    tensors, metadata, given = {name: VECTORS}, None, {}
    if place == "metadata":
        metadata = {"words": "\n".join(WORDS)}
    elif place == "tensor":
        tensors["words"] = JOINED.copy()
    else:
        list_name = "v.words" if place == "beside" else "w"
        (tmp_path / list_name).write_text("\n".join(WORDS), encoding="utf-8")
        given = {"words": tmp_path / "w"} if place == "list" else {}
    save_file(tensors, tmp_path / "v.safetensors", metadata)
    check(read_vectors(tmp_path / "v.safetensors", **given), "safetensors")


def test_safetensors_that_do_not_fit(tmp_path):
    path = tmp_path / "v.safetensors"
    save_file({"a": VECTORS, "b": VECTORS}, path)
    with pytest.raises(FormatError, match="2-D tensors: a, b"):
        read_vectors(path)
    save_file({"vectors": VECTORS.astype(np.int32)}, path, {"words": "\n".join(WORDS)})
    with pytest.raises(FormatError, match="type I32; save it as one of F16, F32, F64"):
        read_vectors(path)
    save_file({"vectors": VECTORS, "words": VECTORS}, path)
    with pytest.raises(FormatError, match="must be uint8"):
        read_vectors(path)
    save_file({"vectors": VECTORS}, path, {"words": "one\ntwo"})
    with pytest.raises(FormatError, match="4 vectors, but there are 2 words"):
        read_vectors(path)


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_safetensors_of_other_widths(tmp_path, dtype):
    save_file({"vectors": VECTORS.astype(dtype)}, tmp_path / "v.st", {"words": "\n".join(WORDS)})
    check(read_vectors(tmp_path / "v.st"), "safetensors")


def test_limit_and_many_blocks(tmp_path):
    vectors = np.random.default_rng(0).normal(size=(30_000, 60))  # 14 MB of float64, blocks of 4 MB
    words = np.array([f"w{n}" for n in range(30_000)])
    np.savez(tmp_path / "v.npz", vectors=vectors, words=words)
    table = read_vectors(tmp_path / "v.npz")
    assert table.words == words.tolist()
    np.testing.assert_array_equal(table.vectors, vectors.astype(np.float32))
    few = read_vectors(tmp_path / "v.npz", limit=20_001)
    assert few.words == words[:20_001].tolist()
    assert few.report.read == 20_001
    np.testing.assert_array_equal(few.vectors, table.vectors[:20_001])
