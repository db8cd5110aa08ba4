"""A job over parts: each becomes one parquet file, written under another name first and then renamed.

    OUT/part-00000.parquet …    the column of the input, and `vector`: a fixed-size list of floats
    OUT/_plan.json              what the job is; the same command goes on with the parts that are missing
    OUT/_unfinished/            files that are being written; what a dead worker left there counts as a retry
    OUT/_distinct/              with `distinct`: the words, each once, until the job is done

A part's file depends on the input, the model and the options alone: the engine is settled once, by the plan, and a word
has the same bits in any company. So it does not matter which worker makes it, when, or how often.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import signal
import socket
import threading
import time
import uuid
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from lovevec import __version__
from lovevec.bulk.parts import File, Input, Part, filesystem_of, open_input
from lovevec.engine.engine import Mode, numba_is_there
from lovevec.engine.threads import usable_cores
from lovevec.errors import FormatError, LovevecError, MissingExtra
from lovevec.love import LOVE
from lovevec.model.find import find_model
from lovevec.model.folder import CONFIG
from lovevec.texts.tokens import runs_of
from lovevec.vectors.write.parquet import write_table
from lovevec.vectors.write.writer import TYPES, Precision, Shape

if TYPE_CHECKING:
    from ray.data import Dataset

BATCH = 8_192
STORE = 300 << 20  # bytes of shared memory of a cluster of our own: the model, and short lists of numbers
PLAN, UNFINISHED, DISTINCT = "_plan.json", "_unfinished", "_distinct"
OURS = (PLAN, UNFINISHED, DISTINCT)
MOST_BUCKETS = 256
PARTS_A_BUCKET = 8  # of the input; with words that come again the distinct ones of a bucket are about a part
MOST_BLOCKS = 10_000
TOTALS = ("rows", "bytes", "busy", "retries", "spelled_out")
PATIENCE = 5.0  # seconds that a cluster has to answer
TRIES = 2  # to start one of our own: Ray gives itself 30 seconds, which a busy machine may not have


@dataclass(frozen=True)
class Options:
    """What vectors are made: of words, or of whole `texts`; misspellings read as words (`near`) or imputed; of what
    precision; so many rows at a time; by which engine."""

    texts: bool = False
    near: bool = True
    precision: Precision = "float32"
    batch: int = BATCH
    engine: Mode = "numpy"

    def __post_init__(self) -> None:
        if self.texts and not self.near:
            raise LovevecError(
                "near=False (--no-near) is for words: what a text's words stand for is part of its vector"
            )
        if self.precision not in TYPES:
            raise LovevecError(f"precision is {self.precision!r}: choose one of {', '.join(TYPES)}")
        if self.batch < 1:
            raise LovevecError(f"batch is {self.batch}: must be at least 1")

    def vectors(self, love: LOVE, rows: Sequence[str]) -> NDArray[np.float32]:
        """[len(rows), dim]"""
        if self.texts:
            encoded: NDArray[np.float32] = love.encode(list(rows), show_progress_bar=False)
            return encoded
        if self.near:
            return love.embed(rows, progress=False)
        known = np.fromiter((word in love for word in rows), bool, len(rows))
        result = np.empty((len(rows), love.dim), np.float32)
        result[known] = love.embed([rows[place] for place in np.flatnonzero(known).tolist()], progress=False)
        result[~known] = love.impute([rows[place] for place in np.flatnonzero(~known).tolist()])
        return result


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
        """Rows a second and core."""
        return self.rows / self.seconds / self.cores if self.seconds and self.cores else 0.0

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            **asdict(self),
            "seconds": round(self.seconds, 3),
            "start": round(self.start, 3),
            "busy": round(self.busy, 3),
            "rows_per_second_and_core": round(self.rate, 1),
        }

    def __str__(self) -> str:
        again = f", {self.found:,} found as they were" if self.found else ""
        return (
            f"{self.parts:,} parts{again}; {self.rows:,} rows and {self.bytes:,} bytes in {self.seconds:.1f} s on "
            f"{self.cores} cores: {self.rate:,.0f} rows/s a core; retries: {self.retries:,}"
        )


def embed(
    dataset: Dataset,
    column: str = "word",
    *,
    output: str = "vector",
    model: str | os.PathLike[str] | LOVE | None = None,
    texts: bool = False,
    near: bool = True,
    precision: Precision = "float32",
    batch: int = BATCH,
    engine: Mode = "auto",
    workers: int | None = None,
) -> Dataset:
    """A Ray Dataset with one more column: `output`, the vectors (fixed-size lists) of the words in `column`, or with
    `texts` of whole texts. As lazy as any step of Ray Data. `workers`: at most so many processes, a core each."""
    ray = import_ray()
    options = Options(texts, near, precision, batch, _one_engine(engine))
    known = dataset.schema(fetch_if_missing=False)
    if known is not None and column not in known.names:
        raise LovevecError(f"the dataset has no column {column!r} but {', '.join(map(repr, known.names))}")
    return dataset.map_batches(
        add_vectors,
        batch_size=batch,
        batch_format="pyarrow",
        fn_args=(ray.put(_loaded(model, options)), options, column, output),
        concurrency=_most(ray, workers),
        num_cpus=1,
    )


def add_vectors(table: Any, model: Any, options: Options, column: str, output: str) -> Any:
    """A table with one more column; a null is an empty word."""
    import pyarrow

    love = _from_store(model)
    if column not in table.column_names:
        raise LovevecError(f"the dataset has no column {column!r} but {', '.join(map(repr, table.column_names))}")
    rows = ["" if text is None else text for text in table.column(column).to_pylist()]
    vectors = options.vectors(love, rows).astype(TYPES[options.precision], copy=False)
    flat = pyarrow.array(np.ascontiguousarray(vectors).reshape(-1))
    return table.append_column(output, pyarrow.FixedSizeListArray.from_arrays(flat, love.dim))


@dataclass(frozen=True)
class Job:
    """What every worker knows."""

    source: Input
    filesystem: Any
    folder: str
    options: Options
    metadata: Mapping[str, str]

    @property
    def item(self) -> str:
        """The name of the column."""
        return self.source.column or ("text" if self.options.texts else "word")


def write_parts(batch: dict[str, Any], model: Any, job: Job) -> dict[str, list[Any]]:
    """Read parts and write their vectors; gives what became of each."""
    love = _from_store(model)
    parts = zip(batch["number"].tolist(), map(_part, batch["part"]), strict=True)
    return _columns([_outcome(partial(write_part, love, job, number, part)) for number, part in parts])


def write_part(love: LOVE, job: Job, number: int, part: Part) -> dict[str, Any]:
    """One file of vectors."""
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
    batch: int = BATCH,
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
    options = Options(texts and not distinct, near, precision, batch, _one_engine(engine))
    love, metadata = _loaded(model, options), _metadata(model, options)
    filesystem, folder = filesystem_of(output)
    job = Job(source, filesystem, folder.rstrip("/"), options, {"lovevec": json.dumps(metadata)})
    parts = source.parts()
    _settle(job, _plan(source, parts, options, metadata, distinct and [texts]), overwrite)
    begun = time.perf_counter()
    with cluster(address, workers, progress) as ray:
        start = time.perf_counter() - begun
        if distinct:
            job, parts = _distinct(ray, job, parts, texts)
        done = _run(ray, job, parts, love, workers)
        return Summary(parts=len(parts), start=start, seconds=time.perf_counter() - begun, **done)


def _run(ray: Any, job: Job, parts: Sequence[Part], love: LOVE, workers: int | None) -> dict[str, Any]:
    """Make the parts that are missing, and count; errors of single files wait until the others are done."""
    there = _names(job.filesystem, job.folder)
    missing = [(number, part) for number, part in enumerate(parts) if part_name(number) not in there]
    cores, totals, errors = min(workers or _cores(ray), _cores(ray)), dict.fromkeys(TOTALS, 0), []
    if missing:
        done = _dataset(ray, missing).map_batches(
            write_parts, batch_size=1, fn_args=(ray.put(love), job), concurrency=_most(ray, workers), num_cpus=1
        )
        for row in _rows(done):
            if row["error"]:
                errors.append(row["error"])
            for name in totals:
                totals[name] += row[name]
    if errors:
        first = sorted(errors)[0]
        more = f" (and {len(errors) - 1:,} more parts)" if len(errors) > 1 else ""
        raise LovevecError(f"{first}{more}; all other parts are done: give the command again when it is mended")
    for name in (UNFINISHED, DISTINCT):
        _remove(job.filesystem, f"{job.folder}/{name}")
    return {"found": len(parts) - len(missing), "cores": cores, **totals}


def _distinct(ray: Any, job: Job, parts: Sequence[Part], texts: bool) -> tuple[Job, list[Part]]:
    """Shuffle the words into buckets by their hash, in which each comes once: files that are the input from then on.

    How many buckets there are depends on the input alone. What is there already is not made again.
    """
    buckets = min(MOST_BUCKETS, -(-len(parts) // PARTS_A_BUCKET))
    folder, column = f"{job.folder}/{DISTINCT}", job.item
    if texts:
        column = "word"
    there = _names(job.filesystem, folder)
    missing = frozenset(bucket for bucket in range(buckets) if part_name(bucket) not in there)
    if missing:
        split = _dataset(ray, list(enumerate(parts))).map_batches(
            split_words, batch_size=1, fn_args=(job, texts, buckets, missing)
        )
        written = split.groupby("bucket", num_partitions=buckets).map_groups(
            write_bucket, fn_args=(job.filesystem, folder, column), batch_format="pyarrow"
        )
        for row in _rows(written):
            if row["error"]:
                raise LovevecError(row["error"])
        for bucket in missing - _numbers(_names(job.filesystem, folder)):  # those without a word
            write_words(job.filesystem, folder, part_name(bucket), column, [])
    infos = sorted(one.path for one in _listed(job.filesystem, folder) if one.is_file)
    source = Input(job.filesystem, [File(path, 0, 0) for path in infos], "parquet", column)
    return replace(job, source=source), source.parts()


def split_words(batch: dict[str, Any], job: Job, texts: bool, buckets: int, wanted: frozenset[int]) -> dict[str, Any]:
    """The distinct words of parts with their buckets, of those that are wanted; an error is a word of bucket -1."""
    words: dict[str, None] = {}
    try:
        for part in map(_part, batch["part"]):
            for rows in job.source.rows(part, job.options.batch):
                words.update(dict.fromkeys(word for row in rows for word in (runs_of(row) if texts else (row,))))
    except FormatError as error:
        return {"bucket": np.array([-1]), "word": np.array([str(error)], object)}
    encoded = [word.encode("utf-8", "surrogateescape") for word in words]
    numbers = [zlib.crc32(word) % buckets for word in encoded]
    kept = [
        (n, word.decode("utf-8", "backslashreplace")) for n, word in zip(numbers, encoded, strict=True) if n in wanted
    ]
    return {"bucket": np.array([n for n, _ in kept], np.int64), "word": np.array([word for _, word in kept], object)}


def write_bucket(table: Any, filesystem: Any, folder: str, column: str) -> dict[str, Any]:
    """One file of the words of a bucket, each once, in the order of their code points."""
    words = table.column("word").unique().to_pylist()
    bucket = table.column("bucket")[0].as_py()
    if bucket < 0:
        return {"error": np.array(sorted(words)[:1], object)}
    return _columns([_outcome(partial(write_words, filesystem, folder, part_name(bucket), column, sorted(words)))])


def write_words(filesystem: Any, folder: str, name: str, column: str, words: Sequence[str]) -> dict[str, Any]:
    """A parquet file of one column."""
    import pyarrow
    from pyarrow import parquet

    with whole_file(filesystem, folder, name) as written:
        parquet.write_table(pyarrow.table({column: pyarrow.array(words, pyarrow.string())}), written.file)
    return {"retries": written.retries}


@dataclass
class Written:
    """A file that is being written, and how many were begun before it and not ended. `path` is its own where it lies on
    this machine's disk, and `aside` a thread."""

    file: Any
    retries: int
    path: str | None
    aside: ThreadPoolExecutor
    _flushed: Future[None] | None = None

    def flush(self) -> None:
        """Have what was written go to the disk while more is computed, so that there is little to wait for at last."""
        if self.path is not None and (self._flushed is None or self._flushed.done()):
            self._settled()
            self._flushed = self.aside.submit(_sync, self.path)

    def sync(self) -> None:
        """Wait until all of it is on the disk."""
        self._settled()
        if self.path is not None:
            _sync(self.path)

    def _settled(self) -> None:
        """What went wrong aside is told here; the system tells it once."""
        if self._flushed is not None:
            self._flushed.result()


@contextmanager
def whole_file(filesystem: Any, folder: str, name: str) -> Iterator[Written]:
    """A file that takes its place in the folder when the block ends well; whatever a dead process left of it goes."""
    from pyarrow import ArrowException
    from pyarrow.fs import LocalFileSystem

    begun = f"{folder}/{UNFINISHED}/{name}"
    temporary = f"{begun}/{uuid.uuid4().hex}"
    try:
        left = _listed(filesystem, begun)
        filesystem.create_dir(begun, recursive=True)
        for one in left:
            filesystem.delete_file(one.path)
        path = temporary if isinstance(filesystem, LocalFileSystem) else None
        with ThreadPoolExecutor(1) as aside:
            with filesystem.open_output_stream(temporary) as file:
                written = Written(file, len(left), path, aside)
                yield written
            written.sync()
        filesystem.move(temporary, f"{folder}/{name}")
        _remove(filesystem, begun)
    except (OSError, ArrowException) as error:
        _remove(filesystem, begun)
        reason = (
            os.strerror(error.errno) if isinstance(error, OSError) and error.errno else " ".join(str(error).split())
        )
        raise LovevecError(f"{folder}/{name}: cannot be written: {reason}") from None


def _sync(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def part_name(number: int) -> str:
    """The file of a part."""
    return f"part-{number:05}.parquet"


def _numbers(names: set[str]) -> set[int]:
    return {int(name.removeprefix("part-").removesuffix(".parquet")) for name in names if name.startswith("part-")}


def _listed(filesystem: Any, folder: str) -> list[Any]:
    from pyarrow.fs import FileSelector

    listed: list[Any] = filesystem.get_file_info(FileSelector(folder, allow_not_found=True))
    return listed


def _names(filesystem: Any, folder: str) -> set[str]:
    return {one.base_name for one in _listed(filesystem, folder)}


def _remove(filesystem: Any, folder: str) -> None:
    """Another worker may be faster."""
    try:
        if _listed(filesystem, folder) or filesystem.get_file_info(folder).type.name == "Directory":
            filesystem.delete_dir(folder)
    except OSError:
        pass


def _plan(
    source: Input, parts: Sequence[Part], options: Options, metadata: Mapping[str, Any], distinct: Any
) -> dict[str, Any]:
    """Two jobs with the same plan make the same bytes. Of each file: its size, its date, its parts."""
    counts = Counter(part.path for part in parts)
    files = [[file.path, file.size, file.written, counts[file.path]] for file in source.files]
    column = {"kind": source.kind, "column": source.column, "distinct": distinct}
    return {"input": files, "model": metadata["model_sha256"], **column, **asdict(options)}


def _settle(job: Job, plan: Mapping[str, Any], overwrite: bool) -> None:
    """Begin in an empty folder, or go on with the same plan; refuse any other folder."""
    filesystem, path = job.filesystem, f"{job.folder}/{PLAN}"
    try:
        names = _names(filesystem, job.folder)
        before: Any = None
        if PLAN in names:
            with filesystem.open_input_stream(path) as file:
                before = json.loads(file.read())
        if before == plan:
            return
        if names and before is None:
            raise LovevecError(f"{job.folder}: is not empty, and no job of ours; choose another folder")
        stale: set[str] | None = names
        if before is not None and not overwrite:
            other = [name for name in plan if not isinstance(before, dict) or before.get(name) != plan[name]]
            stale = _stale(before.get("input"), plan, names) if other == ["input"] else None
            if stale is None:
                raise LovevecError(
                    f"{job.folder}: holds a job with other {', '.join(other)}; choose another folder, or overwrite it "
                    "(--overwrite)"
                )
        for name in stale or ():
            if name in (UNFINISHED, DISTINCT):
                filesystem.delete_dir(f"{job.folder}/{name}")
            elif name.startswith("part-"):
                filesystem.delete_file(f"{job.folder}/{name}")
    except (OSError, ValueError) as error:
        raise LovevecError(f"{job.folder}: cannot be used: {error}") from None
    with whole_file(filesystem, job.folder, PLAN) as written:
        written.file.write(json.dumps(plan).encode() + b"\n")


def _stale(before: Any, plan: Mapping[str, Any], names: set[str]) -> set[str] | None:
    """What is to be made again when some input files were written anew, as one is that could not be read: their parts,
    or, as long as there are none, the distinct words. None where that is not known, or would be a whole job."""
    if plan["distinct"]:
        return None if _numbers(names) else names
    cuts = [[one[0], one[3]] for one in plan["input"]]
    if not isinstance(before, list) or [one[::3] for one in before if isinstance(one, list)] != cuts:
        return None
    found: set[str] = set()
    number = 0
    for old, new in zip(before, plan["input"], strict=True):
        if old != new:
            found.update(map(part_name, range(number, number + new[3])))
        number += new[3]
    return names & found


def _metadata(model: str | os.PathLike[str] | None, options: Options) -> dict[str, Any]:
    """What the files say of the model."""
    config = (find_model(model) / CONFIG).read_bytes()
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


def _one_engine(engine: Mode) -> Mode:
    """One engine for all, whatever a batch's size: the two agree to 1e-5, not to the bit."""
    if engine != "auto":
        return engine
    return "numba" if numba_is_there() else "numpy"


def _loaded(model: str | os.PathLike[str] | LOVE | None, options: Options) -> LOVE:
    if isinstance(model, LOVE):
        return LOVE(model.parts, model.card, options.engine, spelling_only=model.spelling_only)
    return LOVE.load(model, options.engine)


@lru_cache(maxsize=1)
def _from_store(model: Any) -> LOVE:
    """The model, once a process; its arrays stay in the memory that all processes of a node share."""
    love: LOVE = import_ray().get(model)
    return love


def _outcome(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What a part gave, or its error. A file that cannot be read holds up no other; a full disk all of them."""
    nothing = {**dict.fromkeys(TOTALS, 0), "busy": 0.0, "error": "", "fatal": False}
    try:
        return {**nothing, **work()}
    except FormatError as error:
        return {**nothing, "error": str(error)}
    except LovevecError as error:
        return {**nothing, "error": str(error), "fatal": True}


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def _part(text: str) -> Part:
    return Part(*json.loads(text))


def _dataset(ray: Any, numbered: Sequence[tuple[int, Part]]) -> Any:
    """A row a part; a block a task."""
    items = [{"number": number, "part": json.dumps(list(part))} for number, part in numbered]
    return ray.data.from_items(items, override_num_blocks=min(len(items), MOST_BLOCKS))


def _rows(dataset: Any) -> Iterator[dict[str, Any]]:
    """The outcomes as they come; the first fatal one ends the job, and so does whatever Ray cannot mend."""
    from ray.exceptions import RayError

    try:
        for row in dataset.iter_rows():
            if row.get("fatal"):
                raise LovevecError(f"{row['error']}; parts that are done stay: give the command again to go on")
            yield row
    except RayError as error:
        raise LovevecError(f"Ray gave up: {str(error).strip().splitlines()[-1]}; parts that are done stay") from error


def import_ray() -> Any:
    """Ray with Ray Data, or the line that says how to get it."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else it warns of a default to come
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # else a cluster of our own reports to Ray's makers
    try:
        import ray
        import ray.data
    except ImportError:
        raise MissingExtra("ray", "bulk") from None
    return ray


def refuse_wrong_address(address: str) -> None:
    """Where nobody listens, Ray would try for a minute and say little."""
    if address in ("auto", "local"):
        return
    try:
        parts = urlsplit(address if "://" in address else f"ray://{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port:
        raise LovevecError(f"{address}: is no address of a Ray cluster; write host:port, ray://host:port or auto")
    try:
        socket.create_connection((host, port), PATIENCE).close()
    except OSError as error:
        raise LovevecError(f"{address}: no Ray cluster answers there ({error.strerror or error})") from None


@contextmanager
def cluster(address: str | None = None, workers: int | None = None, progress: bool = False) -> Iterator[Any]:
    """Ray: as it runs in this process already, at an address, or a cluster of our own that ends with the block."""
    ray = import_ray()
    context = ray.data.DataContext.get_current()
    before = context.enable_progress_bars, context.use_ray_tqdm
    context.enable_progress_bars, context.use_ray_tqdm = progress, False  # plain bars, on stderr
    logging.getLogger("ray").setLevel(logging.ERROR)
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    ours = not ray.is_initialized()
    try:
        if ours:
            usual = signal.getsignal(signal.SIGTERM)
            _start(ray, address, workers)
            if callable(usual) and threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, usual)  # Ray has put its own there, which prints a stack
        yield ray
    finally:
        context.enable_progress_bars, context.use_ray_tqdm = before
        if ours:
            ray.shutdown()  # also what a start that failed left behind


def _start(ray: Any, address: str | None, workers: int | None) -> None:
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address in (None, "local"):
        own: dict[str, Any] = {"num_cpus": workers or usable_cores(), "object_store_memory": STORE}
        for left in reversed(range(TRIES)):
            try:
                ray.init(address="local", include_dashboard=False, _node_ip_address="127.0.0.1", **own, **quiet)
                return
            except Exception as error:  # noqa: BLE001  a machine that is too busy is a bare Exception of Ray's
                ray.shutdown()
                if not left:
                    raise LovevecError(f"Ray could not be started here: {_first_line(error)}") from None
    try:
        ray.init(address=address, **quiet)
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise LovevecError(f"{address}: no Ray cluster answers there ({_first_line(error)})") from None


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).split("\n")[0]


def _most(ray: Any, workers: int | None) -> int | None:
    """Tasks at once; None where the cores are the limit anyway, since Ray warns of any other that is not below."""
    return workers if workers is not None and workers < _cores(ray) else None


def _cores(ray: Any) -> int:
    return max(1, int(ray.cluster_resources().get("CPU", 1)))
