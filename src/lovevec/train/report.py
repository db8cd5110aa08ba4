"""What a finished run tells people: a few lines on the screen, and the model card (README.md of the model folder).

All facts come from the model's metadata; the same stand in config.json and report.json.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from lovevec import __version__


def report_lines(folder: Path | None, metadata: dict[str, Any]) -> list[str]:
    """The lines that the screen shows at the end of a run; `folder` is None for a model that is not saved."""
    counts, report, scores = metadata["parameters"], metadata["report"], metadata["report"]["score"]
    total = counts["embedding"] + counts["others"]
    lines = [
        "",
        f"{folder or 'model'}: {total:,} parameters ({counts['embedding']:,} in the unit table), trained in"
        f" {report['seconds']['training']:.0f} s, {report['seconds']['total']:.0f} s in all,"
        f" {report['peak_memory_mb']:,} MB at most",
    ]
    for key, label in (("clean", f"{scores['words']:,} unseen words"), ("typo", "with one typo")):
        if key in scores:
            score = scores[key]
            lines.append(
                f"  {label:<20} cosine {score['cosine']:.3f}   own target nearest {score['top1']:5.1%}"
                f"   among 10 nearest {score['top10']:5.1%}"
            )
    for typo in report["typos"]:
        near = ", ".join(f"{name} {cosine:.2f}" for name, cosine in typo["neighbors"])
        lines.append(f"  {typo['typo']:<20} {near}")
    return lines


def model_card(name: str, metadata: dict[str, Any]) -> str:
    """The model card of a model of this name, in Markdown; all of its facts are from the model's `metadata`."""
    target, counts, report, settings = (metadata[key] for key in ("target", "parameters", "report", "settings"))
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
        f"| language | {metadata['language']['name']}: misspellings are those of its keyboard, marks and sounds |",
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
    lines = [
        f"Score on {score['words']:,} words that training never saw, against all target vectors:",
        "",
        "| | mean cosine to its own | its own is nearest | among the 10 nearest |",
        "|---|---|---|---|",
    ]
    for label, row in (("spelled right", score["clean"]), ("with one typo", score["typo"])):
        lines.append(f"| {label} | {row['cosine']:.3f} | {row['top1']:.1%} | {row['top10']:.1%} |")
    return [*lines, ""]


def _confidence(fit: dict[str, Any]) -> list[str]:
    if "missing" in fit:
        return []
    areas = {name: "–" if area is None else f"{area:.2f}" for name, area in fit["auc"].items()}
    return [
        f"`love.confidence(words)` is the probability that {fit['event']}. Measured on {fit['held_back_words']:,}"
        f" held-back words and {fit['typos']:,} typos, each judged by a fit to the others: expected calibration error"
        f" {fit['calibration_error']:.3f}, AUC {areas['held_back']} (held back) and"
        f" {areas['typos']} (typos). Of known words {fit['known']:.1%} have their own target vector"
        " among the 10 nearest; that is their confidence.",
        "",
    ]


def peak_memory_mb() -> int:
    """The most memory that this process has held; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10))
