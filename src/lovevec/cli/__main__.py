"""`python -m lovevec.cli`: the command line, also under torchrun."""

from __future__ import annotations

import os
import sys

from lovevec.cli import main

if __name__ == "__main__":
    code = main()
    if "TORCHELASTIC_RUN_ID" in os.environ:
        # Threads of torch's own may still run while the interpreter winds down, which aborts it.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
