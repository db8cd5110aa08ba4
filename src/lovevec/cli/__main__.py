"""`python -m lovevec.cli`."""

from __future__ import annotations

import sys

from lovevec.cli import main

if __name__ == "__main__":
    sys.exit(main())
