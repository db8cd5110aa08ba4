"""A job over parts: each becomes one parquet file, written under another name first and then renamed (output.py).

A part's file depends on the input, the model and the options alone: the engine is settled once, by the plan, and a word
has the same bits in any company. So it does not matter which worker makes it, when, or how often.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from lovevec import __version__
from lovevec.bulk.cluster import cluster, cores_of, most_tasks, refuse_wrong_address
from lovevec.bulk.dataset import ROWS_PER_BATCH, BulkOptions, load_love, love_from_store, one_engine
from lovevec.bulk.output import DISTINCT, UNFINISHED, locked, names_in, part_name, remove, settle, whole_file
from lovevec.bulk.parts import File, Input, Part, filesystem_of, open_input
from lovevec.engine.compiled import Mode
from lovevec.errors import FormatError, LovevecError
from lovevec.files.together import current
from lovevec.love import LOVE
from lovevec.model.find import find_model
from lovevec.model.folder import CONFIG
from lovevec.texts.tokens import runs_of
from lovevec.vectors.write.parquet import write_table
from lovevec.vectors.write.writer import Precision, Shape

MAX_BUCKETS = 256
PARTS_PER_BUCKET = 8  # of the input; with words that come again the distinct ones of a bucket are about a part
MAX_BLOCKS = 10_000
MAX_PARTS_PER_TASK = 8  # between two tasks Ray leaves a worker idle for about 0.16 s, where a part takes two
MIN_TASKS_PER_CORE = 8  # while there are parts: a core that is done first waits for the last task of another
TOTALS = ("rows", "bytes", "busy", "retries", "spelled_out")


@dataclass(frozen=True)
class Summary:
    """What a job did. `rows`, `bytes` and `seconds` are of the parts made now, not of those `found` from a run before;
    `retries` counts files that a worker began and did not end, because it was killed; `busy` is the time that parts
    took, in all processes together; `start` is how long Ray's own start took, which is part of `seconds`."""

    parts: int
    found: int
    rows: int
    bytes: int
    seconds: float
    start: float
    busy: float
    cores: int
    retries: int
    spelled_out: int

    @property
    def rate(self) -> float:
        return self.rows / self.seconds / self.cores if self.seconds and self.cores else 0.0

    def as_dict(self) -> dict[str, Any]:
        """All numbers by name, times rounded, for `--json`."""
        times = {name: round(getattr(self, name), 3) for name in ("seconds", "start", "busy")}
        return {**asdict(self), **times, "rows_per_second_and_core": round(self.rate, 1)}

    def __str__(self) -> str:
        again = f", {self.found:,} found as they were" if self.found else ""
        return (
            f"{self.parts:,} parts{again}; {self.rows:,} rows and {self.bytes:,} bytes in {self.seconds:.1f} s on "
            f"{self.cores} cores: {self.rate:,.0f} rows/s a core; retries: {self.retries:,}"
        )


@dataclass(frozen=True)
class BulkJob:
    """What every worker is given: the input, where files of vectors go, and what they hold."""

    source: Input
    filesystem: Any
    folder: str
    options: BulkOptions
    metadata: Mapping[str, str]

    @property
    def item(self) -> str:
        """The name of the column of words or texts, in the input and in the files of vectors."""
        return self.source.column or ("text" if self.options.texts else "word")


def write_parts(batch: dict[str, Any], model: Any, job: BulkJob) -> dict[str, list[Any]]:
    """Runs in a worker: read parts and write their vectors. Returns their outcomes, up to one that ends the job."""
    love, outcomes = love_from_store(model), []
    for number, part in zip(batch["number"].tolist(), map(_part, batch["part"]), strict=True):
        outcomes.append(_outcome(partial(write_part, love, job, number, part)))
        if outcomes[-1]["fatal"]:
            break
    return _columns(outcomes)


def write_part(love: LOVE, job: BulkJob, number: int, part: Part) -> dict[str, Any]:
    """Read a part and write its file of vectors; returns its totals."""
    start, shape, rows = time.perf_counter(), Shape(love.dim, precision=job.options.precision, item=job.item), 0
    with whole_file(job.filesystem, job.folder, part_name(number)) as written:
        with write_table(written.file, shape, job.metadata) as writer:
            for texts in job.source.rows(part, job.options.batch):
                writer.add(texts, job.options.vectors(love, texts), ())
                written.flush()
                rows += len(texts)
        size = written.file.tell()
    busy = time.perf_counter() - start
    return {"rows": rows, "bytes": size, "busy": busy, "retries": written.retries, "spelled_out": writer.spelled_out}


def embed_files(
    inputs: Sequence[str],
    output: str,
    *,
    column: str | None = None,
    model: str | os.PathLike[str] | None = None,
    texts: bool = False,
    near: bool = True,
    precision: Precision = "float32",
    batch: int = ROWS_PER_BATCH,
    engine: Mode = "auto",
    distinct: bool = False,
    address: str | None = None,
    workers: int | None = None,
    overwrite: bool = False,
    progress: bool = False,
) -> Summary:
    """Vectors of a column of files, as a folder of parquet files. Inputs are files, folders, globs or addresses like
    s3://bucket/words, of parquet, CSV, JSON lines or plain lines.

    The same call goes on where one before died. With `texts` a row is a whole text; with `distinct` each word (of each
    text) is there once. `address` is that of a Ray cluster; without it one is started here, and stopped in the end. Ray
    that runs in this process already is used. `progress` shows Ray's own bars.
    """
    if workers is not None and workers < 1:
        raise LovevecError(f"workers is {workers}: must be at least 1")
    if column == "vector":
        raise LovevecError("the column 'vector' is that of the vectors: name another one")
    if address is not None:
        refuse_wrong_address(address)
    source = open_input(inputs, column, "text" if texts else "word")
    options = BulkOptions(texts and not distinct, near, precision, batch, one_engine(engine))
    love, metadata = load_love(model, options), _metadata(model, options)
    filesystem, folder = filesystem_of(output)
    job = BulkJob(source, filesystem, folder.rstrip("/"), options, {"lovevec": json.dumps(metadata)})
    parts = source.parts()
    begun = time.perf_counter()
    with locked(filesystem, job.folder), cluster(address, workers, progress) as ray:
        settle(filesystem, job.folder, _plan(source, parts, options, metadata, distinct and [texts]), overwrite)
        start = time.perf_counter() - begun
        if distinct:
            job, parts = _distinct(ray, job, parts, texts)
        totals = _run(ray, job, parts, love, workers)
        source.refuse_changed()
        return Summary(parts=len(parts), start=start, seconds=time.perf_counter() - begun, **totals)


def _run(ray: Any, job: BulkJob, parts: Sequence[Part], love: LOVE, workers: int | None) -> dict[str, Any]:
    """Make the parts that are missing, and add up their totals; errors of single files wait until the others are
    done."""
    names = names_in(job.filesystem, job.folder)
    missing = [(number, part) for number, part in enumerate(parts) if part_name(number) not in names]
    cores, totals, errors = min(workers or cores_of(ray), cores_of(ray)), dict.fromkeys(TOTALS, 0), []
    if missing:
        together = max(1, min(MAX_PARTS_PER_TASK, len(missing) // (MIN_TASKS_PER_CORE * cores)))
        outcomes = _dataset(ray, missing, together).map_batches(
            write_parts, batch_size=None, fn_args=(ray.put(love), job), concurrency=most_tasks(ray, workers), num_cpus=1
        )
        for row in _rows(outcomes):
            if row["error"]:
                errors.append(row["error"])
            for name in totals:
                totals[name] += row[name]
    if errors:
        first = sorted(errors)[0]
        more = f" (and {len(errors) - 1:,} more parts)" if len(errors) > 1 else ""
        raise LovevecError(f"{first}{more}; all other parts are done: give the command again when it is mended")
    for name in (UNFINISHED, DISTINCT):
        remove(job.filesystem, f"{job.folder}/{name}")
    return {"found": len(parts) - len(missing), "cores": cores, **totals}


def _distinct(ray: Any, job: BulkJob, parts: Sequence[Part], texts: bool) -> tuple[BulkJob, list[Part]]:
    """Shuffle the words into buckets by their hash, in which each comes once: files that are the input from then on.

    How many buckets there are depends on the input alone. What is there already is not made again.
    """
    buckets = min(MAX_BUCKETS, -(-len(parts) // PARTS_PER_BUCKET))
    folder, column = f"{job.folder}/{DISTINCT}", "word" if texts else job.item
    names = names_in(job.filesystem, folder)
    missing = frozenset(bucket for bucket in range(buckets) if part_name(bucket) not in names)
    if missing:
        split = _dataset(ray, list(enumerate(parts))).map_batches(
            split_words, batch_size=1, fn_args=(job, texts, buckets, missing)
        )
        outcomes = split.groupby("bucket", num_partitions=buckets).map_groups(
            write_bucket, fn_args=(job.filesystem, folder, column), batch_format="pyarrow"
        )
        for row in _rows(outcomes):
            if row["error"]:
                raise LovevecError(row["error"])
        names = names_in(job.filesystem, folder)
        for bucket in missing:
            if part_name(bucket) not in names:  # there is no word in it
                write_words(job.filesystem, folder, bucket, column, [])
    files = [File(f"{folder}/{part_name(bucket)}", 0, 0) for bucket in range(buckets)]
    source = Input(job.filesystem, files, "parquet", column)
    return replace(job, source=source), source.parts()


def split_words(
    batch: dict[str, Any], job: BulkJob, texts: bool, buckets: int, missing: frozenset[int]
) -> dict[str, Any]:
    """Runs in a worker: the distinct words of parts, each with its bucket, of the buckets that are missing. An error
    comes as a word of bucket -1."""
    words: dict[str, None] = {}
    try:
        for part in map(_part, batch["part"]):
            for rows in job.source.rows(part, job.options.batch):
                words.update(dict.fromkeys(word for row in rows for word in (runs_of(row) if texts else (row,))))
    except FormatError as error:
        return {"bucket": np.array([-1]), "word": np.array([error.message], object)}
    encoded = [word.encode("utf-8", "surrogateescape") for word in words]
    kept = {word: bucket for word in encoded if (bucket := zlib.crc32(word) % buckets) in missing}
    plain = [word.decode("utf-8", "backslashreplace") for word in kept]
    return {"bucket": np.array(list(kept.values()), np.int64), "word": np.array(plain, object)}


def write_bucket(table: Any, filesystem: Any, folder: str, column: str) -> dict[str, Any]:
    """Runs in a worker: write the words of a bucket, each once, in the order of their code points."""
    words = table.column("word").unique().to_pylist()
    bucket = table.column("bucket")[0].as_py()
    if bucket < 0:
        return {"error": np.array(sorted(words)[:1], object)}
    return _columns([_outcome(partial(write_words, filesystem, folder, bucket, column, sorted(words)))])


def write_words(filesystem: Any, folder: str, bucket: int, column: str, words: Sequence[str]) -> dict[str, Any]:
    """Write the words of a bucket as a parquet file of one column."""
    import pyarrow
    from pyarrow import parquet

    with whole_file(filesystem, folder, part_name(bucket)) as written:
        parquet.write_table(pyarrow.table({column: pyarrow.array(words, pyarrow.string())}), written.file)
    return {"retries": written.retries}


def _plan(
    source: Input, parts: Sequence[Part], options: BulkOptions, metadata: Mapping[str, Any], distinct: Any
) -> dict[str, Any]:
    """What decides the bytes of the output: two jobs with the same plan make the same files. Of each input file it
    holds the path, the size, the date and the number of parts."""
    counts = Counter(part.path for part in parts)
    files = [[*file, counts[file.path]] for file in source.files]
    column = {"kind": source.kind, "column": source.column, "distinct": distinct}
    return {"input": files, "model": metadata["model_sha256"], **column, **asdict(options)}


def _metadata(model: str | os.PathLike[str] | None, options: BulkOptions) -> dict[str, Any]:
    """What the metadata of each file of vectors says of the model."""
    config = current(find_model(model), CONFIG).read_bytes()
    known = json.loads(config)
    return {
        "version": __version__,
        "model": str(model or "default"),
        "model_sha256": hashlib.sha256(config).hexdigest(),  # config.json holds the hashes of all other files
        "target": (known.get("target") or {}).get("name"),
        "rows": "texts" if options.texts else "words",
        "near": options.near,
        "engine": options.engine,
    }


def _outcome(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The totals of a part, or its error. A file that cannot be read holds up no other; a full disk holds up all."""
    nothing = {**dict.fromkeys(TOTALS, 0), "busy": 0.0, "error": "", "fatal": False}
    try:
        return {**nothing, **work()}
    except LovevecError as error:
        return {**nothing, "error": error.message, "fatal": not isinstance(error, FormatError)}


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def _part(text: str) -> Part:
    return Part(*json.loads(text))


def _dataset(ray: Any, numbered: Sequence[tuple[int, Part]], together: int = 1) -> Any:
    """Parts as a Ray Dataset, one row each. Ray gives a block to a task: `together` parts."""
    items = [{"number": number, "part": json.dumps(list(part))} for number, part in numbered]
    return ray.data.from_items(items, override_num_blocks=min(-(-len(items) // together), MAX_BLOCKS))


def _rows(dataset: Any) -> Iterator[dict[str, Any]]:
    """Outcomes in the order in which they come. A fatal one ends the job, and so does whatever Ray cannot mend."""
    from ray.exceptions import RayError

    try:
        for row in dataset.iter_rows():
            if row.get("fatal"):
                raise LovevecError(f"{row['error']}; parts that are done stay: give the command again to go on")
            yield row
    except RayError as error:
        raise LovevecError(f"Ray gave up: {str(error).strip().splitlines()[-1]}; parts that are done stay") from error
