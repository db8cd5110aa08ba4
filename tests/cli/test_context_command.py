"""`lovevec context`: a model that looks at the sentence."""

from __future__ import annotations

import pytest
from tests.factories import one_thread
from tests.texts.toy_language import sentences

from lovevec import LOVE


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "corpus.txt").write_text("\n".join(sentences(300, 0)) + "\n", "utf-8")
    rows = [f'{number},"{text}"' for number, text in enumerate(sentences(300, 0))]
    (tmp_path / "corpus.csv").write_text("\n".join(["id,text", *rows]) + "\n", "utf-8")
    return tmp_path


def test_a_model_learns_from_lines_and_from_a_column(program, small_model, corpus):
    options = "-m", small_model, "--steps", "2", "--device", "cpu", "--overwrite"
    with one_thread():
        done = program("context", "corpus.txt", *options, "-o", "lines", cwd=corpus)
        assert (done.returncode, done.stdout) == (0, b"")
        assert b"words of text; lines: " in done.stderr
        assert b"% alone" in done.stderr
        done = program("context", "corpus.csv", "--column", "text", *options, "-q", "-o", "column", cwd=corpus)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    one, other = LOVE.load(corpus / "lines"), LOVE.load(corpus / "column")
    assert one.parts.context is not None
    assert one.metadata["context"]["words"] == other.metadata["context"]["words"]
    assert list(one.words) == list(LOVE.load(small_model).words)


def test_bad_input_is_one_line(program, small_model, corpus):
    for arguments, says in (
        (("missing.txt", "-o", "m"), b"missing.txt"),
        (("corpus.csv", "--column", "note", "-o", "m"), b"has no column 'note'"),
        (("corpus.txt", "-o", "m", "--steps", "0"), b"--steps is 0: must be at least 1"),
        (("corpus.txt", "-o", "m", "--device", "abacus"), b"abacus"),
        (("corpus.txt", "-o", str(small_model)), b"holds a model already"),
    ):
        done = program("context", *arguments, "-m", small_model, cwd=corpus)
        assert done.returncode == 2
        assert says in done.stderr
        assert done.stderr.count(b"\n") <= 2
        assert not (corpus / "m").exists()
