"""Are the published pages what their data gives? `make docs` asks; exits with 1 where they are not.

python lab/runs/check_pages.py
"""

from __future__ import annotations

import re
import sys

import pages
import scale


def problems() -> list[str]:
    """One line for each page of docs/results that is not what lab/runs/pages.py or scale.py makes of docs/results/data,
    and for each link on these pages that leads nowhere."""
    expected = {name: page.text for name, page in pages.pages().items()}
    lines = [
        f"docs/results/{name}.md is not what its data gives: run python lab/runs/pages.py"
        for name, text in expected.items()
        if (pages.RESULTS / f"{name}.md").read_text("utf-8") != text
    ]
    lines += [
        f"docs/results/{name}.md: {link} is not there"
        for name, text in expected.items()
        for link in re.findall(r"\]\(([^)#:]+)\)", text)
        if not (pages.RESULTS / link).exists()
    ]
    if scale.PAGE.read_text("utf-8") != "\n".join(scale.lines(scale.results())) + "\n":
        lines.append(f"docs/results/{scale.PAGE.name} is not what its data gives: run python lab/runs/scale.py page")
    return lines


if __name__ == "__main__":
    if found := problems():
        sys.exit("\n".join(found))
