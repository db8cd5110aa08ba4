"""`lovevec export`: a trained model, small enough to ship."""

from __future__ import annotations

import argparse
from pathlib import Path

from lovevec.cli.shell import MODEL_HELP, describe
from lovevec.cli.terminal import complain
from lovevec.errors import LovevecError

ABOUT = """Write a model as folded tables: what inference needs and nothing more. It is smaller and loads faster;
training cannot go on from it. Or write it for other runtimes: ONNX, a web page."""
EXAMPLES = """examples:
  lovevec export my-model -o my-model-small                       # int8: vectors with a cosine of at least 0.999
  lovevec export my-model -o my-model-half --precision float16
  lovevec export my-model -o my-model-tiny --rows int4            # known words' own vectors at half a byte a number
  lovevec export --onnx love.onnx                                 # unit ids -> vector, for onnxruntime anywhere
  lovevec export --web demo                                       # a page that computes in the browser, no server"""
ROW_PRECISIONS = ("float16", "int8", "int4", "none")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, ABOUT, EXAMPLES)
    parser.add_argument("model", metavar="MODEL", nargs="?", help=MODEL_HELP)
    goal = parser.add_mutually_exclusive_group(required=True)
    goal.add_argument("-o", "--output", metavar="FOLDER", help="the new model folder")
    goal.add_argument("--onnx", metavar="FILE", help="an ONNX file, with units.mjs and its vocabulary beside it")
    goal.add_argument("--web", metavar="FOLDER", help="a static page with the model inside")
    parser.add_argument("--precision", choices=("int8", "float16"), default="int8", help="(default int8)")
    parser.add_argument("--rows", choices=ROW_PRECISIONS, help="known words' own vectors (default: as they are)")
    parser.add_argument("--overwrite", action="store_true", help="replace what is there")


def run(options: argparse.Namespace) -> None:
    from lovevec.love import LOVE
    from lovevec.model.folder import CONFIG

    output = Path(options.output or options.onnx or options.web)
    there = output if options.onnx else output / ("index.html" if options.web else CONFIG)
    if there.exists() and not options.overwrite:
        what = "a model" if options.output else "a page" if options.web else "something"
        raise LovevecError(f"{output}: holds {what} already; choose another place, or --overwrite it")
    if options.onnx and options.rows:
        raise LovevecError("--rows: an ONNX file holds no rows of known words, every vector is made from the spelling")
    love = LOVE.load(options.model)
    if options.output:
        love.save(output, options.precision, options.rows)
        written = [file for file in output.iterdir() if file.is_file()]
    elif options.onnx:
        from lovevec.plugins.onnx import export_onnx

        written = export_onnx(love, output, options.precision)
    else:
        from lovevec.serve.web import export_web

        written = export_web(love, output, options.precision, options.rows)
    size = sum(file.stat().st_size for file in written)
    complain(f"{output}: {size / 1e6:.1f} MB as {options.precision}")
