"""The demo: what the shipped model makes of words that nobody has a vector for, as a table and as a picture.

make demo        (a minute or two the first time, to set up; then seconds)
"""

from __future__ import annotations

import sys
from pathlib import Path

from lovevec import LOVE
from lovevec.cli.shell import run_command
from lovevec_lab.figures.clusters import draw_clusters

PICTURE = Path(__file__).parent / "clusters.png"
WORDS = [
    "recieve",
    "tommorow",
    "bl00d",
    "rnodern",
    "fotograf",
    "neural-netwrok",
    "500mg",
    "Reykjavik",
    "deplatformed",
    "unfollowable",
    "cryptobros",
]
# The topics of the paper's cluster figure, and its three damaged words.
TOPICS = {
    "chemical substances": "oxygen hydrogen nitrogen helium carbon sulfur chlorine sodium potassium methane ammonia "
    "calcium phosphorus fluorine",
    "illnesses": "leukemia diabetes malaria pneumonia hepatitis influenza cancer asthma measles cholera tuberculosis "
    "arthritis bronchitis",
    "occupations": "architect engineer lawyer teacher plumber carpenter nurse doctor journalist accountant librarian "
    "butcher mechanic",
}
DAMAGED = {"oxgen": "chemical substances", "leukamia": "illnesses", "archiitect": "occupations"}


def demo() -> None:
    """Print the table, draw the picture."""
    love = LOVE.load()
    words = [*DAMAGED, *WORDS]
    print("Words, how they are read, how sure the model is of their vectors, and the known words nearest to these:\n")
    print(f"{'word':<16}{'reading':<26}{'confidence':<12}nearest known words")
    read = love.lookup(words)
    found = zip(words, read.readings, read.near(1), read.parts, read.neighbors(4), read.confidence, strict=True)
    for word, reading, meant, parts, near, confidence in found:
        shown = reading
        if parts:
            shown = "parts: " + " + ".join(part.word or part.text for part in parts)
        elif reading == "near":
            shown = f"near: {meant[0][0]} {meant[0][1]:.2f}"
        named = ", ".join(f"{name} {cosine:.2f}" for name, cosine in near)
        print(f"{word:<16}{shown:<26}{confidence:<12.2f}{named}")
    topics = {topic: listed.split() for topic, listed in TOPICS.items()}
    drawn = [word for listed in topics.values() for word in listed] + list(DAMAGED)
    vectors = dict(zip(drawn, love.embed(drawn), strict=True))
    draw_clusters(topics, DAMAGED, vectors, PICTURE, "oxgen, leukamia and archiitect: unknown words among their kind")
    print(f"\nThe picture of three topics and three misspelled words is demo/{PICTURE.name}. Ask the model yourself:")
    print("  .venv/bin/lovevec near yourword")
    print("  .venv/bin/lovevec neighbors yourword")
    print("  .venv/bin/lovevec explain yourword")


if __name__ == "__main__":
    sys.exit(run_command(demo))
