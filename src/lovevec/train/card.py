"""The README.md of a model folder: what it is, what it was made from, how good it is, how to use it."""

from __future__ import annotations

from typing import Any

from lovevec import __version__


def model_card(name: str, metadata: dict[str, Any]) -> str:
    """A model card in Markdown, all of its facts from `about`."""
    target, counts, report = metadata["target"], metadata["parameters"], metadata["report"]
    settings = metadata["settings"]
    origin = target.get("file") or "vectors in memory"
    total = counts["embedding"] + counts["others"]
    lines = [
        f"# {name}",
        "",
        "A LOVE model (lovevec): a vector for any word, known, rare, new or misspelled, from its spelling alone.",
        "",
        "```python",
        "from lovevec import LOVE",
        f'love = LOVE.load("{name}")',
        'love["mispelling"]   # float32, unit length',
        "```",
        "",
        "| | |",
        "|---|---|",
        f"| mimics | {target['name']}: {target['words']:,} words, {target['dim']} dimensions ({origin}) |",
        f"| SHA-256 of the target | {target.get('sha256') or 'not a file'} |",
        f"| parameters | {total:,} ({counts['embedding']:,} in the unit table, {counts['others']:,} others) |",
        f"| encoder, input, loss | {settings['encoder']}, {settings['input']}, {settings['loss']} |",
        f"| trained | {settings['epochs']} epochs, batch {settings['batch']}, seed {settings['seed']},"
        f" {report['seconds']['training']:.0f} s on {report['device']} |",
        f"| made with | lovevec {__version__} |",
        "",
        *_scores(report["score"]),
        *_confidence(metadata["confidence"]),
        "Limits: vectors are directions (unit length). The licence and the biases of the target's vectors carry over.",
        "",
    ]
    return "\n".join(lines)


def _scores(score: dict[str, Any]) -> list[str]:
    if not score["words"]:
        return []
    rows = [
        f"| {label} | {score[key]['cosine']:.3f} | {score[key]['top1']:.1%} | {score[key]['top10']:.1%} |"
        for key, label in (("clean", "spelled right"), ("typo", "with one typo"))
    ]
    return [
        f"Score on {score['words']:,} words that training never saw, against all target vectors:",
        "",
        "| | mean cosine to its own | its own is nearest | among the 10 nearest |",
        "|---|---|---|---|",
        *rows,
        "",
    ]


def _confidence(found: dict[str, Any]) -> list[str]:
    if "missing" in found:
        return []
    return [
        f"`love.confidence(words)` is the probability that {found['event']}. Measured on {found['held_back_words']:,}"
        f" held-back words and {found['typos']:,} typos, each judged by a fit to the others: expected calibration error"
        f" {found['calibration_error']:.3f}, AUC {_number(found['auc']['held_back'])} (held back) and"
        f" {_number(found['auc']['typos'])} (typos). Of known words {found['known']:.1%} have their own target vector"
        " among the 10 nearest; that is their confidence.",
        "",
    ]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
