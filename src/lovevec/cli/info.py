"""`lovevec info`: what a model is."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lovevec.cli.shell import MODEL_HELP, describe
from lovevec.cli.terminal import harmless, put
from lovevec.errors import LovevecError

if TYPE_CHECKING:
    from lovevec.love import LOVE

ABOUT = """What a model is: what it mimics, how large it is, how good, and what will compute it here. Of an index that
`lovevec index` made: how many texts, which fields, and with which model."""
EXAMPLES = """examples:
  lovevec info
  lovevec info fr
  lovevec info my-model
  lovevec info shop                     # a folder that `lovevec index` made
  lovevec info --json | jq .scores"""

MOST = 1e18  # no model counts further


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, ABOUT, EXAMPLES)
    parser.add_argument("name", nargs="?", metavar="MODEL", help=f"{MODEL_HELP}; or an index")
    parser.add_argument("-m", "--model", help="the same")
    parser.add_argument("--json", action="store_true", help="one JSON object, with more in it")


def run(options: argparse.Namespace) -> None:
    from lovevec.love import LOVE
    from lovevec.model.find import find_model
    from lovevec.search import is_index

    if options.name is not None and options.model is not None:
        raise LovevecError("name one model: as the argument, or with --model")
    name = options.name if options.name is not None else options.model
    if name and is_index(name):
        facts = index_facts(Path(name))
        lines = index_lines(facts)
    else:
        folder = find_model(name)
        facts = facts_of(LOVE.load(folder), folder)
        lines = lines_of(facts)
    if options.json:
        put(json.dumps(facts, indent=2) + "\n")
    else:
        put("".join(f"{label:<12} {harmless(value)}\n" for label, value in lines))


def index_facts(folder: Path) -> dict[str, Any]:
    """What there is to know of an index. It is read as for a search, so that damage shows."""
    from lovevec.love import LOVE
    from lovevec.search.folder import model_hash, read_index

    about, ids, _, _ = read_index(folder)
    files = [file for file in folder.iterdir() if file.is_file()]
    return {
        "name": folder.resolve().name,
        "folder": str(folder),
        "texts": about["texts"],
        "ids": [ids[0], ids[-1]] if ids else [],
        "fields": about["fields"],
        "encoder": about["encoder"],
        "model": about["model"],
        "shipped_model": about["model"] == model_hash(LOVE.load().parts),
        "bytes": sum(file.stat().st_size for file in files),
    }


def index_lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """The same for people, label and value."""
    fields = ", ".join(f"{name} × {weight:g}" for name, weight in facts["fields"].items())
    ids = " to ".join(map(str, dict.fromkeys(facts["ids"])))
    model = "the shipped one" if facts["shipped_model"] else f"another than the shipped one ({facts['model'][:12]}…)"
    return [
        ("index", facts["name"]),
        ("folder", facts["folder"]),
        ("texts", f"{facts['texts']:,}, ids {ids}" if ids else "none"),
        ("fields", fields or "none: texts as they are"),
        ("meaning", "an encoder of your own" if facts["encoder"] else "the model's own vectors"),
        ("model", model),
        ("size", f"{facts['bytes'] / 1e6:.1f} MB"),
    ]


def facts_of(love: LOVE, folder: Path) -> dict[str, Any]:
    """All that there is to know, for JSON. What a config.json says of its model may be anything."""
    metadata, parts = love.metadata, love.parts
    target = dict(parts.target)
    counts = [*_dict(metadata.get("parameters")).values()]
    return {
        "name": folder.resolve().name,
        "folder": str(folder),
        "dim": love.dim,
        "known_words": len(love.words),
        "language": parts.orthography.language.as_dict(),
        "units": {
            "count": len(parts.units.vocabulary),
            "rows": parts.units.vocabulary.table_rows,
            "input": parts.units.mode,
            "lowercase": parts.units.lowercase,
        },
        "encoder": parts.spec.as_dict(),
        "parameters": sum(counts) if counts and all(map(_is_number, counts)) else None,
        "rows": None if parts.rows is None else {"numbers": parts.rows.parameters, "precision": parts.rows.precision},
        "precision": parts.precision,
        "bytes": sum(file.stat().st_size for file in folder.iterdir() if file.is_file()),
        "target": target,
        "licence": target.get("licence") or metadata.get("licence"),
        "scores": _dict(metadata.get("scores")) or _dict(_dict(metadata.get("report")).get("score")) or None,
        "confidence": metadata.get("confidence"),
        "engine": engine_of(love),
        "made_with": metadata.get("lovevec"),
    }


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < MOST


def engine_of(love: LOVE) -> dict[str, Any]:
    """What computes here (compiled, numpy or torch), and with how many threads."""
    engine = {"name": love.engine.name, "threads": love.engine.threads}
    return {name: value for name, value in engine.items() if value is not None}


def lines_of(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """The same for people, label and value."""
    target, units, engine, encoder = facts["target"], facts["units"], facts["engine"], facts["encoder"]
    mimics = str(target.get("name") or "not stated")
    if _is_number(target.get("words")):
        mimics += f" ({target['words']:,} words × {target.get('dim', facts['dim'])})"
    threads = f", {engine['threads']} threads" if "threads" in engine else ""
    parameters, rows = facts["parameters"], facts["rows"]
    head = f", word-level head of {encoder['head']}" if encoder["head"] else ""
    return [
        ("model", facts["name"]),
        ("folder", facts["folder"]),
        ("dimensions", f"{facts['dim']}"),
        ("known words", f"{facts['known_words']:,}{', lower case' if units['lowercase'] else ''}"),
        ("language", facts["language"]["name"]),
        ("units", f"{units['count']:,} in {units['rows']:,} rows, {units['input']} input"),
        ("encoder", encoder["kind"] + head),
        ("parameters", f"{parameters:,}" if parameters else "not stated"),
        ("own rows", f"{rows['numbers']:,} numbers, {rows['precision']}" if rows else "none: all by spelling"),
        ("stored as", f"{facts['precision']}, {facts['bytes'] / 1e6:.1f} MB"),
        ("mimics", mimics),
        ("licence", str(facts["licence"] or "that of its target, which is not stated")),
        *score_lines(facts["scores"] or {}),
        ("engine", engine["name"] + threads),
    ]


def score_lines(scores: dict[str, Any]) -> list[tuple[str, str]]:
    """Scores of training (on words held back) in words; any others as they are named."""
    lines = []
    wrong = {"misspellings", "top1", "top10"}
    if all(_is_number(scores.get(name)) for name in wrong):
        lines.append(
            (
                "score",
                f"{scores['misspellings']:,.0f} real misspellings: right word nearest {scores['top1']:.1f}%,"
                f" among the 10 nearest {scores['top10']:.1f}%",
            )
        )
        scores = {name: score for name, score in scores.items() if name not in wrong}
    held_back = f"{scores['words']:,} words never seen" if _is_number(scores.get("words")) else "words never seen"
    for name, score in scores.items():
        if isinstance(score, dict) and _is_number(score.get("cosine")) and _is_number(score.get("top10")):
            kind = {"clean": held_back, "typo": "the same with a typo"}.get(name, name)
            lines.append(
                ("score", f"{kind}: own vector among the 10 nearest {score['top10']:.1%}, cosine {score['cosine']:.3f}")
            )
        elif isinstance(score, (int, float, str)) and name != "words":
            lines.append(("score", f"{name}: {score}"))
    return lines
