"""`python -m lovevec.train`: the train command where the command line itself is not installed, or under torchrun."""

from __future__ import annotations

import argparse
import os
import sys

from lovevec.shell import run_command
from lovevec.train.command import add_train, run_train

if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m lovevec.train")
    add_train(parser)
    given = parser.parse_args()
    code = run_command(lambda: run_train(given))
    if "TORCHELASTIC_RUN_ID" in os.environ:
        # Under torchrun threads of torch's own may still run while the interpreter winds down, which aborts it.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
