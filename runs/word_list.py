"""The words of the default model's target, most frequent first: wordfreq's English list, cleaned. One a line.

    pip install wordfreq
    python runs/word_list.py 70000 > words.txt

Kept are words of Latin letters, digits, apostrophes, dots and hyphens. wordfreq writes all longer numbers as zeros, so
those go, and the numbers to 100 and the years around ours take the place of the 3,000th word.
"""

from __future__ import annotations

import re
import sys

from wordfreq import top_n_list

WORD = re.compile(r"[a-zà-öø-ÿ0-9][a-zà-öø-ÿ0-9'.-]*")
NUMBERS = [*range(10, 101), *range(1900, 2031)]
PLACE = 3000


def main() -> None:
    """Print the list."""
    words = [word for word in top_n_list("en", 400_000) if WORD.fullmatch(word) and "00" not in word]
    words = list(dict.fromkeys([*words[:PLACE], *map(str, NUMBERS), *words[PLACE:]]))
    sys.stdout.write("\n".join(words[: int(sys.argv[1])]) + "\n")


if __name__ == "__main__":
    main()
