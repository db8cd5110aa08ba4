"""The map of the page at / of `lovevec serve`: 20,000 frequent known words of the shipped model on a plane.

    python lab/runs/map.py      # writes src/lovevec/serve/page/map.bin; about five minutes on one core

t-SNE of the words' own vectors (perplexity 30 over 50 principal directions), and 12 regions by k-means for colours.
Seeded and in one thread: the same file each time on one machine; another's rounding bends the plane a little.
lab/tests/runs/test_map.py looks whether the words are those of the shipped model and lie among their neighbors.

    uint32         count
    int16 [2][n]   x, y; the longer side of the plane is -32,000 to 32,000
    uint8 [n]      region
    UTF-8          the words, a line each: those first that tell best what lies around them, for the labels

A word tells much if it is like those around it on the plane, and is neither rare nor one of the few hundred that stand
everywhere.
"""

from __future__ import annotations

import argparse
import re
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from lovevec import LOVE

PAGE = Path(__file__).parents[2] / "src" / "lovevec" / "serve" / "page"
WORDS, REGIONS, SIDE = 20_000, 12, 32_000
AROUND = 30  # words nearest on the plane
EVERYWHERE = 400  # the most frequent words
# Words that begin so, or are these, are left out: the map is shown to people who did not ask for them.
RUDE = re.compile(
    "shit|bullshit|fuck|motherfuck|piss|cunt|bitch|whore|slut|nigg|fag|dick(?!ens|son|inson)|cock(?!tail|pit|y|roach)"
    "|pussy|bastard|asshole|dumbass|jackass|badass|porn|tits|titties|boob|penis|vagina|dildo|rape(?!seed)|rapist|retard"
    "|tranny|dyke|kike|spic(?!e|y)|chink|cum(?!ul|bria|berland|mings)|blowjob|handjob|masturbat|orgasm|anal(?!y|o|ges)"
    "|milf|nude|xxx|sexy|horny|erotic|fetish|bondage|bdsm|nipple|semen|sperm|anus|incest|p(a?e)dophil|hooker|stripper"
    "|twat|scum|goddamn|crap|molest|escorts|prostitut|(ass|arse|hoe|hoes|homo|negro|butt|butts)$"
)
# These are on the map, but no landmarks.
SOMBER = re.compile(
    "gun|shoot|shot|murder|kill|dead|death|die[sd]?$|dying|jail|prison|sex|terror|bomb|suicid|abus|hat(e|red)|stupid|victim"
    "|crim|drug|wars?$|attack|assault|weapon|firearm|violen|hell$|nazi|hitler|terrible|horrible|fear|scare|afraid|danger"
)


def words_of(love: LOVE, count: int) -> list[str]:
    """The words of the map, most frequent first."""
    plain = (word for word in love.words if word.isascii() and word.isalpha() and len(word) > 2)
    return list(islice((word for word in plain if not RUDE.match(word)), count))


def landmarks(words: list[str], vectors: NDArray[np.float32], plane: NDArray[np.float32]) -> NDArray[np.intp]:
    """The rows of words (most frequent first), those that tell most about their place first."""
    around = NearestNeighbors(n_neighbors=AROUND + 1).fit(plane).kneighbors(return_distance=False)[:, :AROUND]
    likeness = np.array([vectors[near] @ own for own, near in zip(vectors, around, strict=True)]).mean(axis=1)
    rank = np.arange(len(vectors))
    unfit = (rank < EVERYWHERE) | np.array([bool(SOMBER.match(word)) for word in words])
    score = likeness - 0.05 * np.log(np.maximum(rank, EVERYWHERE) / EVERYWHERE) - unfit
    return np.argsort(-score, kind="stable")


def main() -> None:
    """Project, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=PAGE / "map.bin")
    parser.add_argument("--words", type=int, default=WORDS)
    given = parser.parse_args()
    love = LOVE.load(engine="numpy")
    words = words_of(love, given.words)
    vectors = love.embed(words)
    with threadpool_limits(1):
        narrow = PCA(50, random_state=0).fit_transform(vectors)
        plane = TSNE(init="pca", perplexity=30, random_state=0).fit_transform(narrow)
        region = KMeans(REGIONS, n_init=4, random_state=0).fit_predict(narrow).astype(np.uint8)
        order = landmarks(words, vectors, plane)
    plane -= (plane.max(axis=0) + plane.min(axis=0)) / 2
    plane = np.rint(plane * (SIDE / np.abs(plane).max())).astype("<i2")
    listed = "\n".join(words[row] for row in order)
    parts = [np.uint32(len(words)).tobytes(), plane[order].T.tobytes(), region[order].tobytes(), listed.encode()]
    given.output.write_bytes(b"".join(parts))
    print(f"{given.output}: {len(words):,} words, {given.output.stat().st_size / 1000:.0f} KB")


if __name__ == "__main__":
    main()
