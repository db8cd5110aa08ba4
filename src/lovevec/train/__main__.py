"""`python -m lovevec.train`: the train command where the command line itself is not installed, or under torchrun."""

from __future__ import annotations

import argparse
import sys

from lovevec.shell import run_command
from lovevec.train.command import add_train, run_train

if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m lovevec.train")
    add_train(parser)
    given = parser.parse_args()
    sys.exit(run_command(lambda: run_train(given)))
