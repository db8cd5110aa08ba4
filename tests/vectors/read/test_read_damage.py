"""Damage anywhere gives a table or a FormatError, never another exception, a hang, or much memory taken."""

from __future__ import annotations

import gzip
import lzma
import random
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from lovevec.errors import FormatError
from lovevec.vectors import VectorTable, read_vectors

DATA = Path(__file__).parents[1] / "data"
PLACES = 200
KINDS = ["glove", "word2vec", "binary", "fasttext", "supervised", "npy", "npz", "npz packed", "safetensors"]
KINDS += ["gzip", "xz", "zip"]


def make(kind: str, folder: Path) -> Path:
    vectors = np.random.default_rng(5).normal(size=(40, 6)).astype(np.float32)
    words = [f"wörd{n}" for n in range(40)]
    rows = "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in zip(words, vectors.tolist(), strict=True))
    text = f"40 6\n{rows}".encode()
    path = folder / "v"
    if kind in ("fasttext", "supervised"):
        return DATA / ("skipgram.bin" if kind == "fasttext" else "supervised.bin")
    if kind == "glove":
        path.write_text(rows, encoding="utf-8")
    elif kind == "word2vec":
        path.write_bytes(text)
    elif kind == "binary":
        pairs = zip(words, vectors, strict=True)
        path.write_bytes(b"40 6\n" + b"".join(word.encode() + b" " + row.tobytes() for word, row in pairs))
    elif kind == "npy":
        path = folder / "v.npy"
        np.save(path, vectors)
    elif kind.startswith("npz"):
        path = folder / "v.npz"
        (np.savez_compressed if "packed" in kind else np.savez)(path, vectors=vectors, words=np.array(words))
    elif kind == "safetensors":
        save_file({"vectors": vectors}, path, {"words": "\n".join(words)})
    elif kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("v.txt", text)
    else:
        path.write_bytes({"gzip": gzip, "xz": lzma}[kind].compress(text))
    return path


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Cut, flip a bit, overwrite, drop or double a stretch; half of the time in the header."""
    at = rng.randrange(len(data) if rng.random() < 0.5 else min(len(data), 200))
    stop = min(len(data), at + rng.randint(1, 8))
    return rng.choice(
        [
            data[:at],
            data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :],
            data[:at] + rng.randbytes(stop - at) + data[stop:],
            data[:at] + b"\xff" * (stop - at) + data[stop:],
            data[:at] + b"9" * (stop - at) + data[stop:],
            data[:at] + data[stop:],
            data[:stop] + data[at:],
        ]
    )


@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_read_or_refused(kind, tmp_path):
    whole = make(kind, tmp_path)
    data = whole.read_bytes()
    (tmp_path / "hurt.words").write_text("\n".join(f"w{n}" for n in range(40)))
    hurt = tmp_path / f"hurt{whole.suffix}"
    rng = random.Random(kind)
    read = refused = 0
    tracemalloc.start()
    for _ in range(PLACES):
        hurt.write_bytes(damaged(data, rng))
        try:
            table = read_vectors(hurt, limit=rng.choice([None, None, 10]))
        except FormatError:
            refused += 1
        else:
            assert isinstance(table, VectorTable)
            assert table.vectors.shape == (len(table.words), table.report.dim)
            assert np.isfinite(table.vectors).all()
            assert len(set(table.words)) == len(table.words) == table.report.kept
            read += 1
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 << 20
    assert refused > PLACES // 8, "the damage should be noticed often"
    assert read + refused == PLACES
