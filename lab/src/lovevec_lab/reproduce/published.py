"""What the paper reports: the numbers of its tables, to stand beside ours (LOVE, ACL 2022; fasttext-crawl-300d-2M)."""

from __future__ import annotations

SIMILARITY = ("RareWord", "SimLex", "MTurk", "MEN", "WordSim", "SimVerb")
CLUSTERS = ("AP", "BLESS")
NOISES = (0, 10, 30, 50, 70, 90)

# Table "Performance on the intrinsic tasks": parameters, the six similarity sets, the two cluster sets.
INTRINSIC = {
    "Target": ("969M", "-", 48.1, 30.4, 66.9, 78.1, 68.2, 25.7, 58.0, 71.5),
    "MIMICK": ("9M", "517K", 27.1, 15.9, 32.5, 36.5, 15.0, 7.5, 59.3, 72.0),
    "BoS": ("500M", "-", 44.2, 27.4, 55.8, 65.5, 53.8, 22.1, 41.8, 39.0),
    "KVQ-FH": ("12M", "-", 42.4, 20.4, 55.2, 63.4, 53.1, 16.4, 39.1, 42.5),
    "LOVE": ("6.3M", "200K", 42.2, 35.0, 62.0, 68.8, 55.1, 29.4, 53.2, 51.5),
}

# Table "Performance on the extrinsic tasks": original and with typos, for each dataset.
EXTRINSIC: dict[str, dict[str, tuple[float | None, float]]] = {
    "Target": {"sst2": (82.3, 60.5), "mr": (73.3, 62.2), "conll03": (86.4, 66.3), "bc2gm": (71.8, 53.4)},
    "Edit Distance": {"sst2": (None, 67.4), "mr": (None, 68.3), "conll03": (None, 76.2), "bc2gm": (None, 66.6)},
    "MIMICK": {"sst2": (69.7, 62.3), "mr": (73.6, 61.4), "conll03": (68.0, 65.2), "bc2gm": (56.6, 56.7)},
    "BoS": {"sst2": (79.7, 72.6), "mr": (73.6, 69.5), "conll03": (79.5, 68.6), "bc2gm": (66.4, 61.5)},
    "KVQ-FH": {"sst2": (77.8, 71.4), "mr": (72.9, 66.5), "conll03": (73.1, 70.4), "bc2gm": (46.2, 53.5)},
    "LOVE": {"sst2": (81.4, 73.2), "mr": (74.4, 66.7), "conll03": (78.6, 69.7), "bc2gm": (64.7, 63.8)},
}

# Table "Robust evaluation", static embeddings: test scores at NOISES per cent of damaged words.
ROBUSTNESS = {
    "Target": {
        "sst2": (82.3, 68.2, 59.8, 56.7, 57.8, 60.3),
        "conll03": (86.4, 81.6, 78.9, 73.9, 70.2, 63.4),
    },
    "Target + LOVE": {
        "sst2": (82.1, 79.8, 74.9, 74.2, 68.8, 67.2),
        "conll03": (86.3, 84.7, 81.8, 77.5, 73.1, 71.3),
    },
}

# The same table, BERT-base (uncased for SST2, cased for CoNLL-03).
BERT_ROBUSTNESS = {
    "BERT": {
        "sst2": (91.5, 88.2, 78.9, 74.7, 69.0, 60.1),
        "conll03": (91.2, 89.8, 86.2, 83.4, 79.9, 76.5),
    },
    "BERT + Replacement": {
        "sst2": (91.5, 88.3, 83.7, 77.4, 72.7, 63.3),
        "conll03": (89.9, 88.3, 86.1, 84.3, 80.8, 78.3),
    },
}

# Table "Performances of different strategies that work with BERT together": SST2 with 0, 1, 2, 3 typos a sentence.
BERT_TYPOS = {
    "BERT": (91.5, 77.2, 73.2, 69.4),
    "BERT + Add": (91.3, 77.2, 73.5, 70.7),
    "BERT + Linear": (91.4, 79.6, 77.2, 72.8),
    "BERT + Replacement": (91.5, 81.4, 78.7, 73.6),
    "BERT + Add (distilled)": (91.3, 78.8, 75.6, 72.3),
    "BERT + Linear (distilled)": (91.3, 81.4, 78.7, 73.6),
    "BERT + Replacement (distilled)": (91.4, 81.5, 78.9, 73.8),
}

# Tables "Ablation studies", "shrinkage strategies" and "various temperature": RareWord and SST2.
ABLATION = {
    "LOVE": (42.2, 81.4),
    "characters only": (17.7, 71.5),
    "pieces only": (25.3, 76.0),
    "CNN": (28.4, 61.1),
    "RNN": (27.2, 67.2),
    "self-attention": (36.9, 78.7),
    "MSE": (34.5, 76.0),
    "alignment + uniformity": (40.8, 80.8),
    "no hard negatives": (37.7, 78.6),
    "no hard negatives and no augmentation": (37.8, 78.2),
}
SHRINK = {
    "none": (43.5, 80.7),
    "factor": (38.1, 80.3),
    "top": (39.2, 80.1),
    "hash": (40.5, 80.4),
    "stem": (42.4, 80.7),
}
TEMPERATURE = {0.03: (35.0, 81.6), 0.07: (39.8, 81.3), 0.12: (39.9, 81.1), 0.2: (37.6, 81.5), 0.5: (38.3, 80.6)}
