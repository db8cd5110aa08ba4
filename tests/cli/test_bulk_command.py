"""`lovevec bulk`: what is wrong is one line, before anything is started or written; what works is in tests/bulk."""

from __future__ import annotations

import pytest

pytest.importorskip("pyarrow")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--column", "wort"], b"w.csv: has no column 'wort' but 'id', 'word'"),
        (["--address", "127.0.0.1:9"], b"127.0.0.1:9: no Ray cluster answers there"),
        (["--batch", "0"], b"batch is 0: must be at least 1"),
        (["--texts", "--no-near"], b"--no-near is for words"),
        (["-m", "nowhere/at-all.d"], b"nowhere/at-all.d"),
    ],
)
def test_errors_are_one_line(program, tmp_path, arguments, message):
    (tmp_path / "w.csv").write_text("id,word\n1,house\n")
    done = program("bulk", tmp_path / "w.csv", "-o", tmp_path / "out", *arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr
    assert done.stderr.count(b"\n") == 1
    assert not (tmp_path / "out").exists()


def test_an_input_that_is_not_there(program, tmp_path):
    done = program("bulk", tmp_path / "none.txt", "-o", tmp_path / "out")
    assert (done.returncode, done.stderr) == (
        2,
        f"lovevec: {tmp_path}/none.txt: there is no such file or folder\n".encode(),
    )
