"""How soon the page is of use: seconds from `lovevec serve` to its first answer, and from there to a word read in a
browser.

    python bench/page.py            # needs chromium and the extras serve and dev; loopback only; about a minute

Bar: at most 1 second from the moment the server answers to a reading, a table of neighbors and the map on the page.
Writes docs/results/data/serve-page.json, and docs/results/serve.md anew.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from serve_results import PAGE, RESULTS, about, write_results
from tests.serve.browser import browser, lovevec_server

WORD, READ = "recieve", "probably receive"


def main() -> None:
    """Start, open, type, a few times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=9)
    parser.add_argument("--results", type=Path, default=RESULTS, help="where data/ and the page are")
    options = parser.parse_args()
    found = about()
    seconds: dict[str, list[float]] = {"answers_s": [], "usable_s": [], "typed_s": [], "whole_s": []}

    def since(begin: float, name: str) -> None:
        seconds[name].append(round(time.perf_counter() - begin, 3))

    with browser() as started:
        for _ in range(options.times):
            begin = time.perf_counter()
            with lovevec_server() as address:
                since(begin, "answers_s")
                page = started.new_page()
                begin = time.perf_counter()
                page.goto(address)
                page.locator("#nearest-1 tr").first.wait_for()
                page.wait_for_function("() => document.querySelector('#map-says').textContent")
                since(begin, "usable_s")
                begin = time.perf_counter()
                page.locator("#word-1").fill(WORD)
                page.get_by_text(READ).wait_for()
                since(begin, "typed_s")
                page.locator(f"#panels [data-shown='{WORD}']").wait_for()
                since(begin, "whole_s")
                page.close()
        found["browser"] = f"chromium {started.version.split('.')[0]}"
    write_results(options.results, PAGE, found | seconds)


if __name__ == "__main__":
    main()
