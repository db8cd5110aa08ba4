"""Vectors by Ray Data are those of `love.embed`; a job goes on where it was, and gives the same bytes by any way."""

from __future__ import annotations

import errno
import json
import os

import numpy as np
import pytest
from tests.factories import toy_words

from lovevec import LovevecError, bulk
from lovevec.bulk import job, output, parts
from lovevec.texts.tokens import runs_of

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("ray")

WORDS = [*toy_words(250), "hosue", "recieve", "", "naïve", "two words", "🙂", "hosue"]
TEXTS = ["a house by the river", "hosue", "", "recieve two letters, please"] * 5


@pytest.fixture
def small(monkeypatch):
    """Cuts are made by the driver alone."""
    monkeypatch.setattr(parts, "ROWS_PER_PART", 60)
    monkeypatch.setattr(parts, "BYTES_PER_PART", 600)


def write_words(folder, words=WORDS, column="word"):
    folder.mkdir()
    half = len(words) // 2
    for name, some in (("a.parquet", words[:half]), ("b.parquet", words[half:])):
        parquet.write_table(pyarrow.table({column: some}), folder / name)
    return [str(folder)]


def files(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def vectors(table, column="vector"):
    rows = table.column(column).combine_chunks()
    return np.asarray(rows.flatten()).reshape(len(rows), -1)


def run(inputs, out, folder, **more):
    return bulk.embed_files(inputs, str(out), model=str(folder), batch=32, **more)


def test_a_dataset_has_one_more_column(ray, folder, love):
    dataset = ray.data.from_arrow(pyarrow.table({"id": range(len(WORDS)), "w": WORDS}))
    rows = bulk.embed(dataset, "w", model=folder, batch=50).take_all()
    rows.sort(key=lambda row: row["id"])
    assert [row["w"] for row in rows] == WORDS
    assert np.array_equal(np.stack([row["vector"] for row in rows]), love.embed(WORDS))
    texts = ray.data.from_items([{"text": text} for text in TEXTS])
    half = bulk.embed(texts, "text", output="v", model=love, texts=True, precision="float16", workers=1)
    for batch in half.iter_batches(batch_format="pyarrow"):
        assert batch.schema.field("v").type == pyarrow.list_(pyarrow.float16(), love.dim)
        expected = love.encode(batch.column("text").to_pylist()).astype(np.float16)
        assert np.array_equal(vectors(batch, "v"), expected)
    with pytest.raises(LovevecError, match="the dataset has no column 'word' but 'id', 'w'"):
        bulk.embed(dataset, model=folder)


def test_files_of_vectors(ray, folder, love, tmp_path, small):
    summary = run(write_words(tmp_path / "in"), tmp_path / "out", folder)
    assert sorted(files(tmp_path / "out")) == ["_plan.json", *(f"part-{n:05}.parquet" for n in range(6))]
    table = parquet.read_table(tmp_path / "out")
    assert table.column("word").to_pylist() == WORDS
    assert table.schema.field("vector").type == pyarrow.list_(pyarrow.float32(), love.dim)
    assert np.array_equal(vectors(table), love.embed(WORDS))
    about = json.loads(parquet.read_schema(tmp_path / "out" / "part-00003.parquet").metadata[b"lovevec"])
    assert about["model"] == str(folder)
    assert len(about["model_sha256"]) == 64
    assert (summary.parts, summary.found, summary.rows, summary.retries) == (6, 0, len(WORDS), 0)
    assert summary.bytes == sum(path.stat().st_size for path in (tmp_path / "out").glob("part-*"))
    json.dumps(summary.as_dict())


def test_what_is_missing_is_made_again_and_has_the_same_bytes(ray, folder, tmp_path, small):
    inputs, out, other = write_words(tmp_path / "in"), tmp_path / "out", tmp_path / "other"
    run(inputs, out, folder, workers=1)
    run(inputs, other, folder, workers=2)
    whole = files(out)
    assert files(other) == whole
    dates = {path.name: path.stat().st_mtime_ns for path in out.iterdir()}
    (out / "part-00001.parquet").unlink()
    (out / "part-00004.parquet").unlink()
    left = out / "_unfinished" / "part-00001.parquet"  # as a worker that was killed leaves it
    left.mkdir(parents=True)
    (left / "0123").write_bytes(b"PAR1 half of")
    summary = run(inputs, out, folder, workers=2)
    assert files(out) == whole
    assert (summary.parts, summary.found, summary.retries) == (6, 4, 1)
    same = {path.name for path in out.iterdir() if path.stat().st_mtime_ns == dates[path.name]}
    assert set(whole) - same == {"part-00001.parquet", "part-00004.parquet"}
    assert run(inputs, out, folder).rows == 0


def test_tasks_of_several_parts_make_the_same_files(ray, folder, love, tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "ROWS_PER_PART", 4)
    inputs, out, other = write_words(tmp_path / "in"), tmp_path / "out", tmp_path / "other"
    damaged = tmp_path / "in" / "c.parquet"
    parquet.write_table(pyarrow.table({"word": toy_words(12)}), damaged)
    whole = damaged.read_bytes()
    at = whole.index(toy_words(1)[0].encode())
    damaged.write_bytes(whole[: at - 12] + bytes(12) + whole[at:])
    with pytest.raises(LovevecError, match=r"c\.parquet: is damaged .*all other parts are done"):
        run(inputs, out, folder)  # the error of a part holds up none of its task
    damaged.unlink()
    summary = run(inputs, out, folder, overwrite=True)
    monkeypatch.setattr(job, "MAX_PARTS_PER_TASK", 1)
    assert summary.parts == run(inputs, other, folder, workers=1).parts == 65
    assert files(other) == files(out)
    assert np.array_equal(vectors(parquet.read_table(out)), love.embed(WORDS))


def test_a_full_disk_ends_a_task_at_once(ray, folder, love, tmp_path, monkeypatch):
    from pyarrow.fs import LocalFileSystem

    source = parts.open_input(write_words(tmp_path / "in"), "word", "word")
    batch = {"number": np.arange(2), "part": [json.dumps(list(part)) for part in source.parts()]}
    bulk_job = job.BulkJob(source, LocalFileSystem(), str(tmp_path / "out"), job.BulkOptions(), {})
    monkeypatch.setattr(os, "fsync", lambda handle: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
    outcome = job.write_parts(batch, ray.put(love), bulk_job)
    assert outcome["fatal"] == [True]
    assert "part-00000.parquet: cannot be written: No space left" in outcome["error"][0]


def test_another_job_in_the_same_folder_is_refused(ray, folder, tmp_path):
    inputs, out = write_words(tmp_path / "in"), tmp_path / "out"
    run(inputs, out, folder)
    with pytest.raises(LovevecError, match="holds a job with other precision"):
        run(inputs, out, folder, precision="float16")
    summary = run(inputs, out, folder, precision="float16", overwrite=True)
    assert summary.found == 0
    table = parquet.read_table(out)
    assert table.schema.field("vector").type.value_type == pyarrow.float16()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(LovevecError, match="is not empty, and no job of ours"):
        run(inputs, tmp_path / "mine", folder, overwrite=True)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_texts_and_words_without_near(ray, folder, love, tmp_path):
    (tmp_path / "t.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    run([str(tmp_path / "t.jsonl")], tmp_path / "texts", folder, texts=True)
    table = parquet.read_table(tmp_path / "texts")
    assert table.column("text").to_pylist() == TEXTS
    assert np.array_equal(vectors(table), love.encode(TEXTS))
    run(write_words(tmp_path / "in"), tmp_path / "imputed", folder, near=False)
    found = vectors(parquet.read_table(tmp_path / "imputed"))
    for word, vector in zip(WORDS, found, strict=True):
        assert np.array_equal(vector, love[word] if word in love else love.impute([word])[0]), word
    with pytest.raises(LovevecError, match="is for words"):
        run([str(tmp_path / "t.jsonl")], tmp_path / "no", folder, texts=True, near=False)


@pytest.mark.slow
def test_each_word_once(ray, folder, love, tmp_path, small):
    words = [*WORDS, *WORDS[::-1], *WORDS[:100]] * 3
    inputs = write_words(tmp_path / "in", words)
    run(inputs, tmp_path / "one", folder, distinct=True, workers=1)
    run(inputs, tmp_path / "two", folder, distinct=True, workers=2)
    assert files(tmp_path / "one") == files(tmp_path / "two")
    table = parquet.read_table(tmp_path / "one")
    found = table.column("word").to_pylist()
    assert sorted(found) == sorted(set(words))
    assert np.array_equal(vectors(table), love.embed(found))
    (tmp_path / "t.txt").write_text("\n".join(TEXTS) + "\n")
    run([str(tmp_path / "t.txt")], tmp_path / "texts", folder, distinct=True, texts=True)
    found = parquet.read_table(tmp_path / "texts").column("word").to_pylist()
    assert sorted(found) == sorted({word for text in TEXTS for word in runs_of(text)})


@pytest.mark.parametrize("distinct", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_file_that_cannot_be_read_holds_up_no_other(ray, folder, love, tmp_path, distinct):
    inputs, out = write_words(tmp_path / "in"), tmp_path / "out"
    whole = (tmp_path / "in" / "a.parquet").read_bytes()
    broken = bytearray(whole)
    broken[4:200] = b"\xff" * 196  # its footer is fine
    (tmp_path / "in" / "a.parquet").write_bytes(broken)
    with pytest.raises(LovevecError, match=r"a\.parquet: is damaged \(") as caught:
        run(inputs, out, folder, distinct=distinct)
    assert "\n" not in str(caught.value)
    if distinct:  # which words are distinct is known only when all are read
        assert not list(out.glob("part-*"))
    else:
        assert {path.name for path in out.iterdir() if path.is_file()} == {"_plan.json", "part-00001.parquet"}
        found = parquet.read_table(out / "part-00001.parquet")
        assert np.array_equal(vectors(found), love.embed(WORDS[len(WORDS) // 2 :]))
    (tmp_path / "in" / "a.parquet").write_bytes(whole)  # mended: the same command goes on
    assert run(inputs, out, folder, distinct=distinct).found == (0 if distinct else 1)
    run(inputs, tmp_path / "other", folder, distinct=distinct)
    assert files(out) == files(tmp_path / "other")
    parquet.write_table(pyarrow.table({"word": WORDS * 1000}), tmp_path / "in" / "b.parquet")
    with pytest.raises(LovevecError, match="holds a job with other input"):
        run(inputs, out, folder, distinct=distinct)


def test_a_folder_that_cannot_be_written_is_named(ray, folder, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(LovevecError, match="file/out"):
        run(write_words(tmp_path / "in"), tmp_path / "file" / "out", folder)


def test_wrong_options_are_one_line(ray, folder, tmp_path):
    inputs = write_words(tmp_path / "in")
    for more, message in [
        ({"column": "wort"}, "a.parquet: has no column 'wort' but 'word'"),
        ({"column": "vector"}, "is that of the vectors"),
        ({"address": "127.0.0.1:9"}, "127.0.0.1:9: no Ray cluster answers there"),
        ({"address": "somewhere"}, "somewhere: is no address of a Ray cluster"),
        ({"workers": 0}, "workers is 0"),
        ({"precision": "int8"}, "precision is 'int8'"),
    ]:
        with pytest.raises(LovevecError) as caught:
            run(inputs, tmp_path / "out", folder, **more)
        assert message in str(caught.value)
        assert not (tmp_path / "out").exists()


def test_a_disk_that_fails_while_more_is_computed_is_told_and_leaves_no_part(tmp_path, monkeypatch):
    from pyarrow.fs import LocalFileSystem

    calls, fsync = [], os.fsync

    def once(handle):
        calls.append(handle)
        if len(calls) == 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(handle)  # the system tells a failure once

    monkeypatch.setattr(os, "fsync", once)
    name = "part-00000.parquet"

    def write():
        with output.whole_file(LocalFileSystem(), str(tmp_path), name) as written:
            written.file.write(b"rows")
            written.flush()
            written.file.write(b", more")

    with pytest.raises(LovevecError, match=f"{name}: cannot be written: No space left"):
        write()
    assert not (tmp_path / name).exists()
    write()
    assert (tmp_path / name).read_bytes() == b"rows, more"
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [name]
