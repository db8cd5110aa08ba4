"""The short report at the end of a run, for people; the same facts stand in report.json."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def report_lines(folder: Path | None, metadata: dict[str, Any]) -> list[str]:
    """The short report for people."""
    counts, report, found = metadata["parameters"], metadata["report"], metadata["report"]["score"]
    total = counts["embedding"] + counts["others"]
    lines = [
        "",
        f"{folder or 'model'}: {total:,} parameters ({counts['embedding']:,} in the unit table), trained in"
        f" {report['seconds']['training']:.0f} s, {report['seconds']['total']:.0f} s in all,"
        f" {report['peak_memory_mb']:,} MB at most",
    ]
    for key, label in (("clean", f"{found['words']:,} unseen words"), ("typo", "with one typo")):
        if key in found:
            part = found[key]
            lines.append(
                f"  {label:<20} cosine {part['cosine']:.3f}   own target nearest {part['top1']:5.1%}"
                f"   among 10 nearest {part['top10']:5.1%}"
            )
    for typo in report["typos"]:
        near = ", ".join(f"{name} {cosine:.2f}" for name, cosine in typo["neighbors"])
        lines.append(f"  {typo['typo']:<20} {near}")
    return lines


def peak_memory_mb() -> int:
    """The most memory that this process has held; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10))
