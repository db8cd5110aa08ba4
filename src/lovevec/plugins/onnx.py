"""The encoder as an ONNX graph: a word's unit ids in, its vector out, for any runtime that reads ONNX.

    ids      int64   [words, width]   as Units.encode makes them, units first, then n-grams; -1 behind a word's end
    vectors  float32 [words, dim]     of unit length: what `love.impute` gives, each word from its spelling

The graph computes the fold (engine/fold.py). Words of different lengths go together: A_n of every length n is cut out
of one table, since only the sums of its rows depend on n (engine/positions.py). Tables stay as small as the model has
them. Beside `love.onnx` stand `love.units.json`, the unit vocabulary, and `units.mjs`, which makes ids of words in
JavaScript; the vocabulary stands in the graph's metadata too, under `units`.
"""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec import __version__
from lovevec.engine.fold import Precision, Tables
from lovevec.engine.positions import shared_attention
from lovevec.errors import LovevecError, MissingExtra
from lovevec.files import atomic_write
from lovevec.love import LOVE
from lovevec.model.folder import ModelParts
from lovevec.units.characters import LONGEST

OPSET = 17
IR_VERSION = 8  # that of the first releases with this opset
MAX_UNITS = 2 * LONGEST + 3  # [CLS] 100 characters [SUB] 100 pieces [SEP]
MIN_LENGTH = float(np.finfo(np.float32).tiny)
MASKED_SCORE = -1e30  # softmax gives it no weight
UNITS_SCRIPT, UNITS_MODULE = "units.js", "units.mjs"  # by the second name it is a module to Node too


def export_onnx(love: LOVE, path: str | os.PathLike[str], precision: Precision | None = None) -> list[Path]:
    """Write the encoder as an ONNX file, and beside it what makes unit ids of words; all files or none.

    `path` ends in .onnx; `precision` is that of the tables, the model's own for None. Returns the paths of the files:
    the graph, the unit vocabulary (.units.json) and units.mjs.

        export_onnx(LOVE.load(), "love.onnx")
    """
    path = Path(path)
    if path.suffix != ".onnx":
        raise LovevecError(f"{path}: name a file that ends in .onnx")
    if not path.parent.is_dir():
        raise LovevecError(f"{path}: cannot be written: there is no folder {path.parent}")
    content = {
        path: onnx_model(love.parts, precision).SerializeToString(),
        path.with_suffix(".units.json"): json.dumps(love.parts.units.as_dict()).encode("ascii"),
        path.with_name(UNITS_MODULE): (files("lovevec") / "serve" / "page" / UNITS_SCRIPT).read_bytes(),
    }
    with ExitStack() as stack:
        for name, data in content.items():
            stack.enter_context(atomic_write(name)).write(data)
    return list(content)


def onnx_model(parts: ModelParts, precision: Precision | None = None) -> Any:
    """The graph of a model's encoder as onnx's ModelProto, checked by onnx itself."""
    if not parts.spec.foldable:
        raise LovevecError(f"a {parts.spec.kind} encoder does not fold: it cannot be written as ONNX")
    try:
        import onnx
    except ImportError:
        raise MissingExtra("onnx", "onnx") from None
    helper = onnx.helper
    graph = GraphBuilder(onnx)
    _add_fold(graph, parts, parts.folded.to(precision or parts.folded.precision))
    proto = helper.make_graph(
        graph.nodes,
        "lovevec",
        [helper.make_tensor_value_info("ids", onnx.TensorProto.INT64, ["words", "width"])],
        [helper.make_tensor_value_info("vectors", onnx.TensorProto.FLOAT, ["words", parts.spec.dim])],
        graph.constants,
        doc_string=__doc__,
    )
    model = helper.make_model(proto, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    model.producer_name, model.producer_version = "lovevec", __version__
    target = parts.target.get("name")
    metadata = {
        "lovevec": __version__,
        "target": target if isinstance(target, str) else "",
        "dim": str(parts.spec.dim),
        "padding": "-1",
        "units": json.dumps(parts.units.as_dict()),
    }
    helper.set_model_props(model, metadata)
    onnx.checker.check_model(model, full_check=True)
    return model


class GraphBuilder:
    """Collects the nodes and constants of a graph. Calling it adds a node; a node is named by its output."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Any, dtype: Any = np.float32) -> str:
        name = f"constant_{len(self.constants)}"
        array: NDArray[Any] = np.ascontiguousarray(value, dtype=dtype)
        self.constants.append(self.onnx.numpy_helper.from_array(array.reshape(np.shape(value)), name))
        return name

    def __call__(self, operator: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        output = output or f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, [output], output, **attributes))
        return output

    def integers(self, *numbers: int) -> str:
        return self.constant(numbers, np.int64)

    def floats(self, name: str) -> str:
        return self("Cast", name, to=self.onnx.TensorProto.FLOAT)

    def expand(self, name: str, axis: int) -> str:
        return self("Unsqueeze", name, self.integers(axis))


def _add_fold(graph: GraphBuilder, parts: ModelParts, tables: Tables) -> None:
    """Add the nodes from `ids` to `vectors`; names in comments are those of engine/fold.py."""
    spec, bound = parts.spec, graph.constant(parts.units.vocabulary.unit_rows, np.int64)
    zero = graph.constant(0, np.int64)
    is_gram = graph("GreaterOrEqual", "ids", bound)
    is_unit = graph("And", graph("GreaterOrEqual", "ids", zero), graph("Not", is_gram))
    count = graph("ReduceSum", graph("Cast", is_unit, to=graph.onnx.TensorProto.INT64), graph.integers(1), keepdims=0)
    longest = graph("Reshape", graph("ReduceMax", count, keepdims=0), graph.integers(1))
    first = graph.integers(0)
    inside = graph("Slice", is_unit, first, longest, graph.integers(1))
    units = graph("Where", inside, graph("Slice", "ids", first, longest, graph.integers(1)), zero)
    mask = graph.expand(graph.floats(inside), 1)  # [words, 1, n]

    window = _window(graph, parts, count, longest, mask)
    weights = graph(
        "MatMul", graph("MatMul", mask, _attention(graph, spec.key_width, tables, units, window, mask)), window
    )
    out, scale = graph.constant(tables.out, tables.out.dtype), graph.constant(tables.out_scale)

    def weighted_sum(weights: str, ids: str) -> str:
        """Σ_j weights_j out[id_j]: [words, 1, n], [words, n] -> [words, dim]"""
        rows = graph.floats(graph("Gather", out, ids))
        scaled = graph("Mul", weights, graph.expand(graph("Gather", scale, ids), 1))
        return graph("Squeeze", graph("MatMul", scaled, rows), graph.integers(1))

    total = weighted_sum(weights, units)
    if tables.head:
        total = _head(graph, tables, total)
    if parts.units.vocabulary.ngrams:
        shortest = graph("Reshape", graph("ReduceMin", count, keepdims=0), graph.integers(1))
        end, along = graph.integers(np.iinfo(np.int64).max), graph.integers(1)
        marked = graph("Slice", is_gram, shortest, end, along)
        grams = graph("Where", marked, graph("Slice", "ids", shortest, end, along), zero)
        total = graph("Add", total, weighted_sum(graph.expand(graph.floats(marked), 1), grams))
    graph("Div", total, _lengths(graph, total), output="vectors")


def _window(graph: GraphBuilder, parts: ModelParts, count: str, longest: str, mask: str) -> str:
    """A_n of each word, [words, n, n]; rows and columns behind a word's end are 0."""
    table, share = shared_attention(MAX_UNITS, parts.spec.dim, parts.spec.position_scale)
    share = np.where(np.arange(MAX_UNITS) < np.arange(MAX_UNITS + 1)[:, None], share, 0)
    both, along = graph("Concat", longest, longest, axis=0), graph.integers(0, 1)
    corner = graph("Slice", graph.constant(table), graph.integers(0, 0), both, along)
    shares = graph("Gather", graph.constant(share), count)
    rows = graph("Slice", shares, graph.integers(0), longest, graph.integers(1))
    return graph("Mul", graph("Mul", corner, graph.expand(rows, 2)), mask)


def _attention(graph: GraphBuilder, width: int, tables: Tables, units: str, window: str, mask: str) -> str:
    """S = softmax(Q Kᵀ), the weights of self-attention: [words, n, n]."""
    rows = graph.floats(graph("Gather", graph.constant(tables.features, tables.features.dtype), units))
    scale = graph.expand(graph("Gather", graph.constant(tables.features_scale), units), 2)
    mixed = graph("MatMul", window, graph("Mul", rows, scale))
    axis = graph.integers(2)
    query = graph("Slice", mixed, graph.integers(0), graph.integers(width), axis)
    key = graph("Slice", mixed, graph.integers(width), graph.integers(2 * width), axis)
    scores = graph("MatMul", query, graph("Transpose", key, perm=[0, 2, 1]))
    outside = graph("Mul", graph("Sub", graph.constant(1), mask), graph.constant(MASKED_SCORE))
    return graph("Softmax", graph("Add", scores, outside), axis=-1)


def _head(graph: GraphBuilder, tables: Tables, pooled: str) -> str:
    """The pooled vectors plus what the word-level MLP adds to them, [words, dim]."""
    first, first_bias, second, second_bias = tables.head
    direction = graph("Div", pooled, _lengths(graph, pooled))
    raised = graph("Add", graph("MatMul", direction, graph.constant(first.T)), graph.constant(first_bias))
    added = graph("Add", graph("MatMul", graph("Relu", raised), graph.constant(second.T)), graph.constant(second_bias))
    return graph("Add", pooled, added)


def _lengths(graph: GraphBuilder, rows: str) -> str:
    """The lengths of rows, above 0 so that they can be divided by: [words, 1]."""
    return graph("Max", graph("ReduceL2", rows, axes=[1], keepdims=1), graph.constant(MIN_LENGTH))
