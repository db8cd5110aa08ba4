"""Files as such: packed, missing, of the wrong kind."""

from __future__ import annotations

import gzip
import lzma
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from lovevec.errors import FormatError, LovevecError
from lovevec.vectors import read_vectors

TEXT = "".join(f"w{n} {n}.5 0.25 -1\n" for n in range(5000)).encode()


def zipped(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


@pytest.mark.parametrize("header", [b"", b"5000 3\n"])
@pytest.mark.parametrize("kind", ["gzip", "xz", "zip"])
def test_packed_text(tmp_path, kind, header):
    path = tmp_path / "vectors"  # no ending: the content says it all
    data = header + TEXT
    if kind == "zip":
        zipped(path, {"folder/": b"", "folder/v.txt": data})
    else:
        path.write_bytes({"gzip": gzip, "xz": lzma}[kind].compress(data))
    table = read_vectors(path)
    assert len(table) == 5000
    np.testing.assert_array_equal(table.vectors[:, 0], np.arange(5000) + 0.5)
    assert table.report.compression == kind


@pytest.mark.parametrize("kind", ["gzip", "xz", "zip"])
def test_packed_files_cut_or_damaged(tmp_path, kind):
    path = tmp_path / "vectors"
    if kind == "zip":
        zipped(path, {"v.txt": TEXT})
    else:
        path.write_bytes({"gzip": gzip, "xz": lzma}[kind].compress(TEXT))
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(FormatError, match="damaged or cut"):
        read_vectors(path)
    middle = len(data) // 2
    path.write_bytes(data[:middle] + bytes([data[middle] ^ 255]) + data[middle + 1 :])
    with pytest.raises(FormatError):
        read_vectors(path)


def test_an_empty_archive_is_an_empty_file(tmp_path):
    (tmp_path / "v.gz").write_bytes(gzip.compress(b""))
    with pytest.raises(FormatError, match="empty"):
        read_vectors(tmp_path / "v.gz")


def test_a_zip_holds_one_file(tmp_path):
    zipped(tmp_path / "v.zip", {"a.txt": TEXT, "b.txt": TEXT})
    with pytest.raises(FormatError, match=r"holds 2: a\.txt, b\.txt"):
        read_vectors(tmp_path / "v.zip")
    with zipfile.ZipFile(tmp_path / "e.zip", "w"):
        pass
    with pytest.raises(FormatError, match="holds 0: none"):
        read_vectors(tmp_path / "e.zip")
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("a.txt", TEXT)
    with pytest.raises(FormatError, match="not deflate"):
        read_vectors(tmp_path / "x.zip")


def test_array_files_must_be_unpacked(tmp_path):
    np.save(tmp_path / "v.npy", np.ones((2, 2)))
    (tmp_path / "v.npy.gz").write_bytes(gzip.compress((tmp_path / "v.npy").read_bytes()))
    with pytest.raises(FormatError, match="unpack the gzip first"):
        read_vectors(tmp_path / "v.npy.gz")


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(LovevecError, match=r"none\.txt: no such file"):
        read_vectors(tmp_path / "none.txt")
    with pytest.raises(LovevecError, match=r"a folder.*Read are: word2vec"):
        read_vectors(tmp_path)
    with pytest.raises(LovevecError, match="cannot be opened"):
        read_vectors(tmp_path / "a\0b")
    np.save(tmp_path / "v.npy", np.ones((2, 2)))
    with pytest.raises(LovevecError, match="none: no such file"):
        read_vectors(tmp_path / "v.npy", words=tmp_path / "none")


@pytest.mark.skipif(not hasattr(os, "mkfifo") or os.geteuid() == 0, reason="needs a user without all rights")
def test_no_permission(tmp_path):
    (tmp_path / "v.txt").write_bytes(TEXT)
    (tmp_path / "v.txt").chmod(0)
    with pytest.raises(LovevecError, match="no permission"):
        read_vectors(tmp_path / "v.txt")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_that_nobody_writes_to_is_an_error_and_no_wait(tmp_path):
    os.mkfifo(tmp_path / "v.txt")
    script = f"from lovevec.vectors import read_vectors\nread_vectors({str(tmp_path / 'v.txt')!r})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert "v.txt: not a regular file; write what it gives to a file first" in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="no devices here")
def test_devices_are_not_files():
    with pytest.raises(LovevecError, match="not a regular file"):
        read_vectors("/dev/null")
