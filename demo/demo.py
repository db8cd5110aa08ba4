"""The demo: trains a small model on the vectors beside this file, then shows what it makes of misspelled words.

make demo        (half a minute, once it is set up; the model stays in demo/model)
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from lovevec import LOVE
from lovevec.progress import Progress
from lovevec.shell import run_command
from lovevec.train import Settings, train

HERE = Path(__file__).parent
MODEL = HERE / "model"
# Few words, so few pieces; and typos in most draws, since typos are what the demo is about.
SETTINGS = Settings(
    vocabulary_size=3000,
    batch=64,
    learning_rate=0.005,
    seed=1,
    swap=0.15,
    drop=0.15,
    insert=0.15,
    keyboard=0.15,
    synonym=0.1,
    none=0.3,
)
WORDS = [
    "mispelling",
    "oxgen",
    "archiitect",
    "leukamia",
    "goverment",
    "enviroment",
    "intresting",
    "bec0me",
    "unhappyness",
]


def demo() -> None:
    """Train, then one line for each odd word."""
    shutil.rmtree(MODEL, ignore_errors=True)
    sys.stderr.write("Training a small model on 6,027 words of GloVe (100 dimensions) …\n")
    with Progress() as progress:
        train(HERE / "vectors.npz", SETTINGS, output=MODEL, progress=progress)
    love = LOVE.load(MODEL)
    print("\nWords that the model has never seen, and the known words nearest to their vectors:\n")
    print(f"{'word':<14}{'':<10}nearest known words")
    for word in WORDS:
        near = ", ".join(f"{name} {cosine:.2f}" for name, cosine in love.neighbors(word, 4))
        print(f"{word:<14}{'known' if word in love else 'imputed':<10}{near}")
    print("\nThe model is in demo/model. Ask it yourself:")
    print("  .venv/bin/lovevec neighbors -m demo/model yourword")


if __name__ == "__main__":
    sys.exit(run_command(demo))
