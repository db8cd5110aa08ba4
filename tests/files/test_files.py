"""Files that are whole or not there."""

from __future__ import annotations

import os

import pytest

from lovevec.errors import LovevecError
from lovevec.files import atomic_write, write_json


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "x.json"
    write_json(path, {"a": 1})

    def fail() -> None:
        with atomic_write(path) as file:
            file.write(b"half")
            raise RuntimeError("disk full")

    with pytest.raises(RuntimeError, match="disk"):
        fail()
    assert path.read_text() == '{\n  "a": 1\n}\n'
    assert [found.name for found in tmp_path.iterdir()] == ["x.json"]


def test_a_write_that_goes_well_replaces_the_old_file(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with atomic_write(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


def test_what_goes_wrong_names_the_file_that_was_asked_for(tmp_path):
    with pytest.raises(FileNotFoundError) as error, atomic_write(tmp_path / "no" / "x.txt"):
        pass
    assert error.value.filename == str(tmp_path / "no" / "x.txt")
    with pytest.raises(OSError, match="No space left") as error, atomic_write(tmp_path / "x.txt"):
        raise OSError(28, "No space left on device")
    assert error.value.filename == str(tmp_path / "x.txt")
    with pytest.raises(OSError, match="other") as error, atomic_write(tmp_path / "x.txt"):
        open(tmp_path / "other")  # noqa: SIM115
    assert error.value.filename == str(tmp_path / "other")
    assert not list(tmp_path.iterdir())


def test_a_device_is_not_replaced_by_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(LovevecError, match="pipe: is no file that could be replaced"), atomic_write(tmp_path / "pipe"):
        pass
    assert (tmp_path / "pipe").is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
