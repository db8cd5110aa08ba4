"""How long should an imputed vector be? SST2 with damaged words, for models from weak to strong and three lengths each.

    python lab/runs/lengths.py [table] [paper] [recipe] …          (a GPU: 2 to 3 minutes a variant)

Every model is trained on glove840b-300d-34k and put behind it: known words keep their vectors. An imputed vector has
the usual length, or that times the root of the model's confidence, or times the confidence itself. Accuracy of the CNN
at learning rate 1e-3, mean over two seeds; `ocr`, `scan` and `typo` are means over 0, 10, 30, 50, 70 and 90 % of words
damaged so. `table` is the vectors alone, zeros for unknown words. One JSON line a variant.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from lovevec.attach import Attached
from lovevec.damage.noise import Noise
from lovevec.love import LOVE
from lovevec.progress import Progress
from lovevec.train import Settings, train
from lovevec_lab.evaluate.classify import ClassifySettings, score_texts, text_split
from lovevec_lab.evaluate.result_cache import ResultCache
from lovevec_lab.methods.attached import AttachedMethod
from lovevec_lab.methods.learned.learn import PRESETS
from lovevec_lab.methods.love import LoveMethod
from lovevec_lab.methods.method import Method
from lovevec_lab.methods.open_method import open_table
from lovevec_lab.methods.table import Table

DATA = Path(os.environ.get("LOVEVEC_DATA", Path(__file__).resolve().parents[2].parent / "shared" / "data"))
SHARES = (10, 30, 50, 70, 90)
NOISES = [Noise(), *(Noise(kind, share / 100) for kind in ("ocr", "scan", "typo") for share in SHARES)]
OURS = PRESETS["love-recipe"]
TWICE = replace(OURS, twice=0.5)
VARIANTS = {
    "paper": Settings(),
    "paper, scan": Settings(scan=0.14, synonym=0.29, none=0.29),
    "paper, more typos, ocr": Settings(
        swap=0.12,
        drop=0.12,
        insert=0.12,
        keyboard=0.12,
        scan=0.2,
        twice=0.35,
        synonym=0.12,
        none=0.2,
        epochs=40,
        hard_negatives=7,
    ),
    "recipe": replace(OURS, scan=0.0, sound=0.28, swap=0.12, drop=0.12, insert=0.12),
    "recipe, scan .12": replace(OURS, scan=0.12, sound=0.2, swap=0.1, drop=0.1, insert=0.1),
    "recipe, ocr .24": OURS,
    "recipe, ocr .24, twice": TWICE,
    "recipe, ocr .24, twice, 60 epochs": replace(TWICE, sound=0.12, swap=0.1, drop=0.1, insert=0.1, epochs=60),
}


class ScaledMethod(AttachedMethod):
    """A table with a model behind it; imputed vectors times a power of their confidence."""

    def __init__(self, table: Table, love: LOVE, power: float) -> None:
        super().__init__(table, LoveMethod(love, "LOVE"), f"confidence to the {power:g}")
        self.attached = Attached(love, (table.words, table.vectors), by_confidence=False)
        self.known, self.love, self.power = table, love, power

    def embed(self, words: Sequence[str]) -> np.ndarray:
        """As attached, then scaled."""
        vectors = super().embed(words)
        unknown = np.flatnonzero(~self.known.covers(words))
        sure = self.love.confidence([words[i] for i in unknown.tolist()])
        vectors[unknown] *= (sure**self.power)[:, None].astype(np.float32)
        return vectors


def means(method: Method) -> dict[str, float]:
    """Accuracy on original text, and the mean over all shares of each kind of damage."""
    how = ClassifySettings(rates=(1e-3,), seeds=(0, 1))
    test = list(
        score_texts(method, text_split("SST2", DATA), NOISES, how, ResultCache(), Progress(quiet=True))["test"].values()
    )
    clean, rest = test[0], np.array(test[1:]).reshape(3, len(SHARES))
    named = zip(("ocr", "scan", "typo"), rest, strict=True)
    return {"original": round(clean, 1)} | {kind: round(float(np.mean([clean, *row])), 1) for kind, row in named}


def main() -> None:
    """One JSON line a variant."""
    table = open_table(DATA / "targets/glove840b-300d-34k.npz")
    for name in sys.argv[1:] or ["table", *VARIANTS]:
        if name == "table":
            found = {"zeros": means(table)}
        else:
            love = train((table.words, table.vectors), VARIANTS[name])
            found = {f"confidence^{power:g}": means(ScaledMethod(table, love, power)) for power in (0.0, 0.5, 1.0)}
        print(json.dumps({"variant": name, **found}), flush=True)


if __name__ == "__main__":
    main()
