"""`lovevec export`: a trained model, small enough to ship."""

from __future__ import annotations

import argparse
from pathlib import Path

from lovevec.cli.shell import complain, describe
from lovevec.errors import LovevecError

ABOUT = """Write a model as folded tables: what inference needs and nothing more. It is smaller and loads faster;
training cannot go on from it."""
EXAMPLES = """examples:
  lovevec export my-model -o my-model-small                       # int8: vectors with a cosine of at least 0.999
  lovevec export my-model -o my-model-half --precision float16
  lovevec export my-model -o my-model-tiny --rows int4            # known words' own vectors at half a byte a number"""
ROW_PRECISIONS = ("float16", "int8", "int4", "none")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    describe(parser, ABOUT, EXAMPLES)
    parser.add_argument("model", metavar="MODEL", help="a folder that lovevec train wrote, or another model")
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="the new model folder")
    parser.add_argument("--precision", choices=("int8", "float16"), default="int8", help="(default int8)")
    parser.add_argument("--rows", choices=ROW_PRECISIONS, help="known words' own vectors (default: as they are)")
    parser.add_argument("--overwrite", action="store_true", help="replace a model that is there")


def run(given: argparse.Namespace) -> None:
    """Load, save, say how large it is."""
    from lovevec.love import LOVE
    from lovevec.model.folder import CONFIG

    output = Path(given.output)
    if (output / CONFIG).exists() and not given.overwrite:
        raise LovevecError(f"{output}: holds a model already; choose another folder, or --overwrite it")
    LOVE.load(given.model).save(output, given.precision, given.rows)
    size = sum(file.stat().st_size for file in output.iterdir() if file.is_file())
    complain(f"{output}: {size / 1e6:.1f} MB as {given.precision}")
