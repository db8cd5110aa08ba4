"""How soon the page is of use: seconds from `lovevec serve` to its socket, and from there to a word read in a browser.

    python bench/page.py            # needs chromium and the extras serve and dev; loopback only

Bar: at most 1 second from the moment the server answers to a reading, a table of neighbors and the map on the page.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.serve.browser import browser, lovevec_server


def main() -> None:
    """Start, open, measure, a few times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=5)
    given = parser.parse_args()
    answers, usable, typed = [], [], []
    with browser() as started:
        for _ in range(given.times):
            begin = time.perf_counter()
            with lovevec_server() as address:
                answers.append(time.perf_counter() - begin)
                page = started.new_page()
                begin = time.perf_counter()
                page.goto(address)
                page.locator("#nearest-1 tr").first.wait_for()
                page.wait_for_function("() => document.querySelector('#map-says').textContent")
                usable.append(time.perf_counter() - begin)
                begin = time.perf_counter()
                page.locator("#word-1").fill("recieve")
                page.get_by_text("probably receive").wait_for()
                typed.append(time.perf_counter() - begin)
                page.close()
    for name, seconds in (("server answers", answers), ("page of use", usable), ("a word typed, read", typed)):
        print(f"{name:20s} {statistics.median(seconds):6.2f} s   worst of {given.times} {max(seconds):6.2f} s")


if __name__ == "__main__":
    main()
