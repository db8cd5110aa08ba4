"""The compiled core says of words in their context what numpy says, to the bit."""

from __future__ import annotations

import gc
import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.factories import needs_core, some_context
from tests.native.test_hostile import HOSTILE, REFUSALS, damage

from lovevec.engine.compiled import core
from lovevec.model.known_rows import KnownRows
from lovevec.near.context import MOST, PAD, PLACES, ROW_SCALE, Context, Layer, SentenceReader

pytestmark = needs_core
Windows = NDArray[np.int32]
KEPT = 512  # rarer words whose x the core keeps (EMBEDDED in native/context.h)
FULL = {"dim": 300, "width": 96, "side": 5, "heads": 3, "hidden": 384, "second": 320, "frequent": 4096}
SMALL = {"dim": 7, "width": 5, "side": 2, "heads": 2, "hidden": 9, "second": 6, "frequent": 20}
SIZES = {
    "small": SMALL,
    "least": dict.fromkeys(SMALL, 1),
    "whole steps": SMALL | {"dim": 16, "width": 16, "hidden": 32, "second": 16},
    "most places": SMALL | {"side": 16, "width": 17, "heads": 16},
    "widest": SMALL | {"width": 128, "side": 16, "dim": 65},
    "long rows": SMALL | {"dim": 1301},
    "more frequent words than there are": SMALL | {"frequent": 900},
}
ROWS = 600


def some_rows(seed: int, count: int, dim: int, precision: str = "int8") -> KnownRows:
    """Rows by chance, among them some of zeros and some of one number, which is the largest there is."""
    vectors = np.random.default_rng(seed).normal(size=(count, dim)).astype(np.float32)
    vectors[3::50] = 0
    vectors[7::50] = 0
    vectors[7::50, 0] = -1
    return KnownRows.of(vectors, precision)


def some_windows(seed: int, count: int, rows: int, candidates: int = 5) -> tuple[Windows, Windows]:
    """Windows of known words, the first more often, of signs and PAD, some with nothing else; and candidates."""
    rng = np.random.default_rng(seed)
    windows = (rows * rng.random((count, PLACES)) ** 3).astype(np.int32)
    signs = rng.random(windows.shape)
    windows[signs < 0.2] = rng.integers(PAD, 0, windows.shape)[signs < 0.2]
    for window in windows[::3]:
        window[: rng.integers(0, 17)] = window[PLACES - rng.integers(0, 17) :] = PAD
    windows[5::11] = PAD
    return windows, rng.integers(-1, rows, (count, candidates)).astype(np.int32)


def readers(context: Context, rows: KnownRows) -> tuple[SentenceReader, SentenceReader]:
    """By numpy and by the core."""
    assert Context.from_tensors(context.tensors(), context.dim)
    return SentenceReader(context, rows.__getitem__), SentenceReader(context, rows.__getitem__, rows.core)


def agree(context: Context, rows: KnownRows, windows: Windows, candidates: Windows) -> None:
    by_numpy, by_core = readers(context, rows)
    scores, expected = by_core.scores(windows, candidates), by_core.expected(windows)
    assert np.array_equal(scores, by_numpy.scores(windows, candidates))
    assert np.array_equal(expected, by_numpy.expected(windows))


@pytest.mark.parametrize("precision", ["float16", "int8", "int4"])
def test_a_model_of_full_size_says_the_same(precision):
    rows = some_rows(1, 5000, FULL["dim"], precision)
    context = some_context(2, **FULL)
    windows, candidates = some_windows(3, 150, len(rows), 10)
    agree(context, rows, windows, candidates)
    scores, expected = (
        readers(context, rows)[1].scores(windows, candidates),
        readers(context, rows)[1].expected(windows),
    )
    numbers = expected / (context.scales[1] * ROW_SCALE)
    assert 0.3 < scores[:, :-1].std() < 30
    assert 100 < numbers.std() < 2000
    assert (np.abs(numbers) == MOST).mean() < 0.05


@pytest.mark.parametrize("precision", ["float16", "int8", "int4"])
@pytest.mark.parametrize("name", SIZES)
def test_models_of_any_size_say_the_same(name, precision):
    rows = some_rows(4, ROWS, SIZES[name]["dim"], precision)
    agree(some_context(5, **SIZES[name]), rows, *some_windows(6, 60, ROWS))


EXTREMES = {"all": 1e6, "negative": -1e6, "nothing": 0.0, "a little": 1e-6, "halves": 0.5}


@pytest.mark.parametrize("size", EXTREMES.values(), ids=EXTREMES)
@pytest.mark.parametrize("name", ["small", "widest", "most places", "long rows"])
def test_models_whose_numbers_are_too_large_or_too_small(name, size):
    """Weights of the same sign, -128 for some, and signs of the most: sums are as large as they can be."""
    context = some_context(7, **SIZES[name])
    changed: dict[str, NDArray[Any]] = {}
    for key, tensor in context.tensors().items():
        if tensor.dtype == np.int8:
            changed[key] = np.where(tensor > 40, np.int8(127), np.int8(-128))
        elif tensor.dtype == np.int16:
            changed[key] = np.where(tensor > 0, MOST, -MOST).astype(np.int16)
        elif key.endswith("scale") or key == "scales":
            changed[key] = np.full_like(tensor, size)
        else:
            changed[key] = np.sign(tensor) * np.float32(size)
    changed["scales"][3] = 100
    rows = some_rows(8, ROWS, context.dim)
    for tensors in (
        changed,
        {key: changed[key] if key.endswith("weights") else t for key, t in context.tensors().items()},
    ):
        agree(Context.from_tensors(tensors, context.dim), rows, *some_windows(9, 40, ROWS))


@pytest.mark.parametrize(("hidden", "second"), [(3968, 3), (3, 4096)])
def test_sums_as_large_as_they_can_be_do_not_overflow(hidden, second):
    """4096 numbers of 4095 by -128; and a query and a word of 128 of them."""
    sizes = {"dim": 64, "width": 128, "side": 16, "heads": 1, "hidden": hidden, "second": second, "frequent": 2}
    context = some_context(10, **sizes)
    layers = {
        name: Layer(np.full_like(layer.weights, -128), np.full_like(layer.scale, -1), layer.bias)
        for name, layer in context.layers.items()
    }
    layers["row"] = Layer(layers["row"].weights, np.full(64, -1e-6, np.float32), layers["row"].bias)
    signs = np.full_like(context.signs, MOST)
    context = replace(context, layers=layers, signs=signs)
    windows, candidates = some_windows(11, 5, 50)
    windows[:3] = [[-1], [-5], [-3]]
    agree(context, some_rows(12, 50, 64), windows, candidates)


CONTEXT, KNOWN = some_context(13, **SMALL), some_rows(14, 40 * KEPT, SMALL["dim"], "int4")


@given(st.data())
@settings(max_examples=60)
def test_any_windows(data):
    few = data.draw(st.lists(st.integers(PAD, len(KNOWN) - 1), min_size=1, max_size=4))
    alike = st.integers(0, 39).map(lambda number: number * KEPT + 33)  # whose x would take the same room
    place = st.one_of(st.integers(PAD, -1), st.integers(0, 25), alike, st.sampled_from(few))
    window = st.lists(place, min_size=PLACES, max_size=PLACES)
    windows = np.array(data.draw(st.lists(window, max_size=9)), np.int32).reshape(-1, PLACES)
    shape = len(windows), data.draw(st.integers(0, 4))
    many, rows = shape[0] * shape[1], st.integers(-1, len(KNOWN) - 1)
    flat = data.draw(st.lists(rows, min_size=many, max_size=many))
    agree(CONTEXT, KNOWN, windows, np.array(flat, np.int32).reshape(shape))


def test_words_whose_x_would_take_the_same_room():
    windows = np.arange(PLACES * 9, dtype=np.int32).reshape(9, PLACES) % 40 * KEPT + 25
    windows[::2, ::2] += 1
    agree(CONTEXT, KNOWN, windows, np.ascontiguousarray(windows[:, :3]))


def test_more_words_than_are_kept():
    windows = np.random.default_rng(15).permutation(len(KNOWN))[: 300 * PLACES].astype(np.int32).reshape(300, PLACES)
    agree(CONTEXT, KNOWN, windows, np.ascontiguousarray(windows[:, ::5]))


def test_windows_that_do_not_lie_side_by_side_in_memory():
    windows, candidates = some_windows(16, 40, ROWS)
    agree(CONTEXT, KNOWN, windows[::2], candidates[::2, 1:])
    agree(CONTEXT, KNOWN, np.asfortranarray(windows), np.asfortranarray(candidates))


@pytest.mark.parametrize("most", [0, 1, 4])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 8, 33])
def test_any_number_of_windows_and_candidates(count, most):
    agree(CONTEXT, KNOWN, *some_windows(17, count, len(KNOWN), most))


def test_a_table_without_words():
    windows, candidates = np.full((3, PLACES), PAD, np.int32), np.full((3, 2), -1, np.int32)
    windows[1:] = -1 - np.arange(PLACES) % 6
    rows = KnownRows(np.zeros((0, SMALL["dim"]), np.int8), np.zeros(0, np.float32), SMALL["dim"])
    agree(CONTEXT, rows, windows, candidates)


def test_one_window_says_the_same_alone_and_among_others():
    windows, candidates = some_windows(18, 100, len(KNOWN))
    reader = readers(CONTEXT, KNOWN)[1]
    scores, expected = reader.scores(windows, candidates), reader.expected(windows)
    for _ in range(2):  # what is kept of the calls before makes no difference
        for place in reversed(range(len(windows))):
            one = slice(place, place + 1)
            assert np.array_equal(reader.scores(windows[one], candidates[one]), scores[one])
            assert np.array_equal(reader.expected(windows[one]), expected[one])


def test_several_threads_use_one_model():
    reader = readers(CONTEXT, KNOWN)[1]
    tasks = [some_windows(seed, 300, len(KNOWN)) for seed in range(12)]
    alone = [(reader.scores(*task), reader.expected(task[0])) for task in tasks]
    with ThreadPoolExecutor(6) as threads:
        together = list(threads.map(lambda task: (reader.scores(*task), reader.expected(task[0])), tasks * 3))
    for expected, found in zip(alone * 3, together, strict=True):
        assert all(map(np.array_equal, expected, found))


def digest() -> str:
    """What the core says by some models, as one string, and by which kernels."""
    result = hashlib.sha256()
    for name in ("small", "widest", "most places", "long rows"):
        for precision in ("float16", "int8", "int4"):
            rows = some_rows(19, ROWS, SIZES[name]["dim"], precision)
            reader = readers(some_context(20, **SIZES[name]), rows)[1]
            windows, candidates = some_windows(21, 30, ROWS)
            result.update(reader.scores(windows, candidates).tobytes() + reader.expected(windows).tobytes())
    return f"{core().PROCESSOR} {result.hexdigest()}"


def test_older_processors_say_the_same():
    root = Path(__file__).parents[2]
    program = [sys.executable, "-c", "from tests.near.test_context_core import digest; print(digest())"]
    environment = {**os.environ, "LOVEVEC_PROCESSOR": "base"}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(root)]))
    run = subprocess.run(program, capture_output=True, text=True, check=True, env=environment, cwd=root)
    assert run.stdout.split() == ["base", digest().split()[1]]


# What does not fit is refused.


def compiled(context: Context = CONTEXT, rows: KnownRows = KNOWN, **changed: Any) -> Any:
    return core().Context(**{"table": rows.core, **context.tensors(), **changed})


def call(compiled: Any, *arguments: Any) -> None:
    (compiled.scores if len(arguments) == 3 else compiled.expected)(*arguments)


@pytest.mark.parametrize("place", [0, 17, PLACES * 3 - 1])
@pytest.mark.parametrize("row", [PAD - 1, -100, len(KNOWN), 2**31 - 1, -(2**31)])
def test_rows_and_signs_that_there_are_not(row, place):
    windows, candidates = some_windows(22, 3, len(KNOWN))
    wrong = windows.copy()
    wrong.flat[place] = row
    with pytest.raises(IndexError):
        compiled().scores(wrong, candidates, np.empty((3, 6)))
    with pytest.raises(IndexError):
        compiled().expected(wrong, np.empty((3, CONTEXT.dim), np.float32))
    wrong = candidates.copy()
    wrong.flat[place % wrong.size] = row
    with pytest.raises(IndexError):
        compiled().scores(windows, wrong, np.empty((3, 6)))


@pytest.mark.parametrize("row", [-2, PAD])
def test_signs_are_no_candidates(row):
    windows, candidates = some_windows(23, 3, len(KNOWN))
    candidates[1, 2] = row
    with pytest.raises(IndexError):
        compiled().scores(windows, candidates, np.empty((3, 6)))


WINDOWS, CANDIDATES = some_windows(24, 4, len(KNOWN))
RESULT, VECTORS = np.empty((4, 6)), np.empty((4, SMALL["dim"]), np.float32)
FROZEN = RESULT.copy()
FROZEN.flags.writeable = False
WRONG_CALLS = {
    "no arguments": (),
    "one argument": (WINDOWS,),
    "four arguments": (WINDOWS, CANDIDATES, RESULT, RESULT),
    "long windows": (WINDOWS.astype(np.int64), CANDIDATES, RESULT),
    "flat windows": (WINDOWS.reshape(-1), CANDIDATES, RESULT),
    "windows of 16 places": (WINDOWS.reshape(8, 16), CANDIDATES, RESULT),
    "windows of three dimensions": (WINDOWS[None], CANDIDATES, RESULT),
    "one window": (WINDOWS[0], CANDIDATES, RESULT),
    "fewer windows": (WINDOWS[:3], CANDIDATES, RESULT),
    "more windows": (np.concatenate([WINDOWS, WINDOWS]), CANDIDATES, RESULT),
    "no windows": (WINDOWS[:0], CANDIDATES, RESULT),
    "strided windows": (np.repeat(WINDOWS, 2, axis=0)[::2], CANDIDATES, RESULT),
    "a list of windows": (WINDOWS.tolist(), CANDIDATES, RESULT),
    "windows of bytes": (WINDOWS.tobytes(), CANDIDATES, RESULT),
    "windows of another order of bytes": (WINDOWS.astype(">i4"), CANDIDATES, RESULT),
    "None": (None, None, None),
    "flat candidates": (WINDOWS, CANDIDATES.reshape(-1), RESULT),
    "fewer candidates": (WINDOWS, CANDIDATES[:, :4].copy(), RESULT),
    "candidates of fewer windows": (WINDOWS, CANDIDATES[:3], RESULT),
    "a number as candidates": (WINDOWS, np.int32(1), RESULT),
    "candidates that are no whole numbers": (WINDOWS, CANDIDATES.astype(np.float32), RESULT),
    "a shorter result": (WINDOWS, CANDIDATES, np.empty((4, 5))),
    "a flat result": (WINDOWS, CANDIDATES, RESULT.reshape(-1)),
    "a result of floats": (WINDOWS, CANDIDATES, np.empty((4, 6), np.float32)),
    "a result that cannot be written to": (WINDOWS, CANDIDATES, FROZEN),
    "vectors of doubles": (WINDOWS, VECTORS.astype(np.float64)),
    "shorter vectors": (WINDOWS, np.empty((4, SMALL["dim"] - 1), np.float32)),
    "fewer vectors": (WINDOWS, VECTORS[:3]),
    "vectors of flat windows": (WINDOWS.reshape(-1), VECTORS),
    "vectors that are none": (WINDOWS, None),
}


@pytest.mark.parametrize("arguments", WRONG_CALLS.values(), ids=WRONG_CALLS)
def test_arguments_that_do_not_fit_are_refused(arguments):
    context = compiled()
    with pytest.raises(REFUSALS):
        call(context, *arguments)
    call(context, WINDOWS, CANDIDATES, RESULT)
    call(context, WINDOWS, VECTORS)


def wrong_tensors() -> dict[str, dict[str, Any]]:
    """Tensors each of which does not fit the others, by what is wrong."""
    tensors, wrong = CONTEXT.tensors(), dict[str, dict[str, Any]]()
    for name, tensor in tensors.items():
        wrong[f"{name}: flat"] = {name: tensor.reshape(-1) if tensor.ndim > 1 else tensor[None]}
        wrong[f"{name}: shorter"] = {name: tensor[:-1]}
        wrong[f"{name}: longer"] = {name: np.concatenate([tensor, tensor[:1]])}
        wrong[f"{name}: empty"] = {name: tensor[:0]}
        wrong[f"{name}: one number"] = {name: tensor.reshape(-1)[:1].reshape(())}
        wrong[f"{name}: another type"] = {name: tensor.astype(np.float64)}
        wrong[f"{name}: None"] = {name: None}
        if tensor.ndim == 2:
            wrong[f"{name}: narrower"] = {name: tensor[:, :-1].copy()}
            wrong[f"{name}: turned"] = {name: np.array(tensor.T, order="C")}
        if tensor.dtype == np.float32:
            for number in (np.nan, np.inf, -np.inf, 1.1e6, -1.1e6):
                some = tensor.copy()
                some.flat[-1] = number
                wrong[f"{name}: {number}"] = {name: some}
    for number in (-(2**15), -MOST - 1, MOST + 1, 2**15 - 1):
        signs = tensors["signs"].copy()
        signs.flat[-1] = number
        wrong[f"signs: {number}"] = {"signs": signs}
    for number in (-0.1, 100.1):
        wrong[f"strength: {number}"] = {"scales": np.array([1, 1, 1, number], np.float32)}
    return wrong


WRONG_TENSORS = wrong_tensors()


@pytest.mark.parametrize("name", WRONG_TENSORS)
def test_tensors_that_do_not_fit_are_refused(name):
    wrong = WRONG_TENSORS[name]
    with pytest.raises((TypeError, ValueError)):
        compiled(**wrong)
    if not name.endswith("None"):
        with pytest.raises(ValueError, match=r"its sizes|shape|no training"):
            Context.from_tensors({**CONTEXT.tensors(), **wrong}, CONTEXT.dim)


@HOSTILE
@given(st.data())
def test_tensors_by_chance_are_refused_or_taken_as_they_are(data):
    tensors = damage(CONTEXT.tensors(), data)
    try:
        context = core().Context(table=KNOWN.core, **tensors)
    except REFUSALS:
        return
    context.scores(WINDOWS, CANDIDATES, RESULT)
    changed = Context.from_tensors({name: np.asarray(tensor) for name, tensor in tensors.items()}, CONTEXT.dim)
    assert np.array_equal(RESULT, SentenceReader(changed, KNOWN.__getitem__).scores(WINDOWS, CANDIDATES))


@HOSTILE
@given(st.data())
def test_arguments_by_chance_are_refused_or_answered(data):
    context, named = compiled(), {"windows": WINDOWS, "candidates": CANDIDATES, "scores": RESULT, "vectors": VECTORS}
    named = {**dict.fromkeys(named), **damage({name: array.copy() for name, array in named.items()}, data)}
    for arguments in ([named["windows"], named["candidates"], named["scores"]], [named["windows"], named["vectors"]]):
        try:
            call(context, *arguments)
        except REFUSALS:
            continue


LARGE = {
    "width": SMALL | {"width": 129},
    "heads": SMALL | {"heads": 17},
    "side": SMALL | {"side": 17},
    "hidden": SMALL | {"hidden": 4097},
    "second": SMALL | {"second": 4097},
    "both": SMALL | {"hidden": 4090},
    "frequent": SMALL | {"frequent": (1 << 16) + 1},
    "dim": SMALL | {"dim": 4097},
}


@pytest.mark.parametrize("sizes", LARGE.values(), ids=LARGE)
def test_models_that_are_too_large_are_refused(sizes):
    context = some_context(25, **sizes)
    with pytest.raises(ValueError, match=r"up to|rows|one place to all"):
        compiled(context, some_rows(26, 3, sizes["dim"]))
    with pytest.raises(ValueError, match="its sizes"):
        Context.from_tensors(context.tensors(), context.dim)


@pytest.mark.parametrize("name", CONTEXT.tensors())
def test_no_tensor_may_be_missing(name):
    with pytest.raises(TypeError, match=name):
        core().Context(table=KNOWN.core, **{key: t for key, t in CONTEXT.tensors().items() if key != name})


@pytest.mark.parametrize("table", [None, 1, KNOWN, "rows", np.zeros((3, 7), np.int8)], ids=type)
def test_what_is_no_table_is_refused(table):
    with pytest.raises(TypeError):
        core().Context(table=table, **CONTEXT.tensors())
    with pytest.raises(TypeError):
        core().Context(**CONTEXT.tensors())
    with pytest.raises(TypeError):
        core().Context()


def test_a_table_of_other_dimensions_is_refused():
    with pytest.raises(ValueError, match="rows"):
        compiled(rows=some_rows(27, 40, SMALL["dim"] + 1))


def test_the_table_stays_as_long_as_the_model_of_context():
    windows, candidates = some_windows(28, 20, 9000)
    rows = some_rows(29, 9000, CONTEXT.dim, "float16")
    expected = SentenceReader(CONTEXT, rows.__getitem__).scores(windows, candidates)
    context = compiled(rows=rows)
    del rows
    gc.collect()
    some = [np.full(90_000, 7, np.uint16) for _ in range(50)]  # which would take the place of what was freed
    result = np.empty_like(expected)
    context.scores(windows, candidates, result)
    assert np.array_equal(result, expected)
    assert some[0].any()


def test_refused_models_keep_no_table():
    table = some_rows(30, 9, CONTEXT.dim).core
    before = sys.getrefcount(table)
    for wrong in list(WRONG_TENSORS.values())[::7]:
        with pytest.raises((TypeError, ValueError)):
            core().Context(**{"table": table, **CONTEXT.tensors(), **wrong})
    core().Context(table=table, **CONTEXT.tensors())
    gc.collect()
    assert sys.getrefcount(table) == before
