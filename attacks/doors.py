"""The doors: what of lovevec takes a file from outside. Each is given a path, reads all of it, and says what is wrong
with the result by its own account (an AssertionError), or raises one of our errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path

import numpy as np

from attacks.good import index_love
from lovevec import LOVE, Attached
from lovevec.cli.info import facts_of, lines_of
from lovevec.cli.terminal import UNSAFE, harmless
from lovevec.errors import LovevecError
from lovevec.files.checkpoints import UNFINISHED, CheckpointFolder
from lovevec.near.forms import read_listed
from lovevec.search import Index
from lovevec.search.hits import hit_facts
from lovevec.texts.read import open_texts
from lovevec.texts.rewrite import open_rows
from lovevec.train.prepared import Prepared, settings_of
from lovevec.train.settings import Settings
from lovevec.units.vocabulary import read_pieces
from lovevec.vectors import FastTextBin, FloretVectors, read_vectors
from lovevec.vectors.read.numpy import read_origin
from lovevec.vectors.read.words import open_words
from lovevec_lab.evaluate.classify import text_split
from lovevec_lab.evaluate.clusters import word_classes
from lovevec_lab.evaluate.similarity import similarity_set
from lovevec_lab.evaluate.tag import tag_split
from lovevec_lab.evaluate.texts import queries, sentence_pairs
from lovevec_lab.evaluate.typos import misspellings

Door = Callable[[Path], None]
STRINGS = ("brea", "xyzzy", "", "nul\0", "\ud800", "é" * 300)
COLUMN = "text"


def vectors(path: Path) -> None:
    """read_vectors."""
    table = read_vectors(path)
    _all_strings(table.words)
    assert len(set(table.words)) == len(table.words) == len(table.vectors) == table.report.kept > 0, "rows and words"
    assert np.isfinite(table.vectors).all(), "vectors that are not finite"
    assert all(isinstance(line, str) for line in table.report.lines()), "the report"
    read_origin(path)


def fasttext(path: Path) -> None:
    """FastTextBin, with strings that it has never seen."""
    model = FastTextBin(path)
    assert model.vectors(STRINGS).shape == (len(STRINGS), model.dim), "vectors of any string"


def floret(path: Path) -> None:
    """FloretVectors, with strings that it has never seen."""
    model = FloretVectors(path)
    assert model.vectors(STRINGS).shape == (len(STRINGS), model.dim), "vectors of any string"


def words(path: Path) -> None:
    """A list of words, as `lovevec embed -i` reads it, and as text, as `lovevec fill --words` does."""
    with open_words(path) as stream:
        count = stream.count()
        found = [word for batch in stream.batches() for word in batch]
    _all_strings(found)
    assert count is None or abs(count - len(found)) <= 1 or b"\r" in path.read_bytes(), "the count of lines"
    with open_words(path) as stream:
        _all_strings(list(stream.text_blocks()))


def columns(path: Path) -> None:
    """Texts of a table, as `lovevec encode --column` reads them; the table as `lovevec correct` writes it again, with
    the same texts and with others."""
    with open_texts(path, COLUMN) as found:
        for batch in found.batches:
            _all_strings(batch)
    for more in ("x", ""):
        out = BytesIO()
        with open_rows(path, COLUMN) as rows, rows.writer(out) as write:
            for page in rows.pages():
                write(page, [text and text + more for text in page.texts])
    assert path.suffix == ".parquet" or out.getvalue() == path.read_bytes(), "what is written again"


def pieces(path: Path) -> None:
    """A vocab.txt."""
    _all_strings(read_pieces(path))


def forms(path: Path) -> None:
    """Listed forms, as `lovevec train` reads them."""
    found = read_listed(path)
    _all_strings(list(found))
    for meanings in found.values():
        assert meanings, "a form of nothing"
        assert 0 < sum(chance for _, chance in meanings) < 1.01, "chances beyond 0 to 1"


def evaluation(path: Path) -> None:
    """Every reader of evaluation sets on the one file: it may be any of them, or none."""
    refused = 0
    for read in (similarity_set, word_classes, misspellings, sentence_pairs, queries):
        try:
            read(str(path))
        except LovevecError as error:
            refused, last = refused + 1, error.with_traceback(None)  # which would hold what was read
    if refused == 5:
        raise last


def sentences(path: Path) -> None:
    """The readers of a folder with train, dev and test."""
    for read in (text_split, tag_split):
        read(str(path))


def settings(path: Path) -> None:
    """Settings that came as JSON."""
    try:
        raw = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError):
        return  # ours is only what stands in it
    Settings.from_dict(raw if isinstance(raw, dict) else {"none": raw})


def prepared(path: Path) -> None:
    """A prepared folder."""
    settings_of(path)
    found = Prepared.load(path)
    _all_strings(found.words)
    count = len(found.words)
    assert found.vectors.shape[0] == count == len(found.negatives) == len(found.synonyms), "rows and words"
    assert np.isfinite(found.vectors).all(), "vectors that are not finite"
    for rows in (found.negatives, found.synonyms.values):
        assert rows.min(initial=-1) >= -1, "rows below"
        assert rows.max(initial=-1) < count, "rows beyond"


def unfinished(path: Path) -> None:
    """What a stopped run left: its plan and a state."""
    left = CheckpointFolder(path / UNFINISHED)
    left.plan()
    state = left.load("checkpoint")
    assert state is None or isinstance(state.values, dict), "the state"


def model(path: Path) -> None:
    """A model folder, and all that can be asked of the model."""
    love = LOVE.load(path, engine="numpy")
    repr(love)
    for label, value in lines_of(facts_of(love, path)):
        assert not UNSAFE.search(harmless(f"{label} {value}")), "what a terminal acts on"
    known = list(love.words[:2])
    asked = [*STRINGS, *known, "nope", "".join(known), "-".join(known)]
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        assert np.isfinite(love.embed(known)).all(), "rows of known words that are not finite"
        unknown = [word for word in asked if word not in love]
        for made in (love.embed(unknown), love.impute(asked), love.encode([*asked, "two words, three"])):
            assert np.isfinite(made).all(), "vectors that are not finite"
            assert np.linalg.norm(made, axis=1).max(initial=0) < 1.01, "vectors longer than 1"
        sure = love.confidence(asked)
        assert (np.isnan(sure) | ((sure >= 0) & (sure <= 1))).all(), "confidence beyond 0 to 1"
        for near in love.near(asked):
            assert all(0 <= chance <= 1 for _, chance in near), "chances beyond 0 to 1"
        for near in love.neighbors(asked, k=2):
            assert all(-1.01 <= cosine <= 1.01 for _, cosine in near), "cosines beyond -1 to 1"
        json.dumps(love.explain("brea").as_dict())
        str(love.explain("brea"))
        love.tokens("two brea")
        sentence = " ".join(["brea", *known, "xyzzy", "".join(known)])
        for token in (*love.tokens(sentence), *love.tokens(sentence, context=False)):
            assert -1e-6 <= token.probability <= 1 + 1e-6, "chances beyond 0 to 1, in a sentence"
        for corrected in love.correct([sentence, "", "Two brea, \ud800"]):
            assert isinstance(corrected.text, str), "a corrected text"
            assert all(-1e-6 <= edit.probability <= 1 + 1e-6 for edit in corrected.edits), "chances of corrections"


def attached(path: Path) -> None:
    """An attached table with the model behind it."""
    robust = Attached.load(path)
    repr(robust)
    _all_strings(robust.words)
    asked = [*STRINGS, *robust.words[:2]]
    for vectors in (robust.embed(asked), robust.encode(asked)):
        assert np.isfinite(vectors).all(), "vectors that are not finite"
    for near in robust.near(asked):
        assert all(0 <= probability <= 1 for _, probability in near), "probabilities beyond 0 to 1"
    json.dumps(robust.metadata)


def index(path: Path) -> None:
    """An index, and all that can be asked of it."""
    found = Index.load(path, index_love())
    assert len(found) == len(found.ids) == len(found.texts), "texts and ids"
    _all_strings(found.texts)
    queries = ["brea", "", "\ud800", found.texts[0] if len(found) else "", "vestergard 500mg, 1.7l"]
    for hits in found.search(queries, 3):
        for hit in hits:
            assert 0 <= hit.score <= 1, "scores beyond 0 to 1"
            assert abs(sum(hit.why[1:]) - hit.score) < 1e-6, "reasons that are not the score"
            assert all(0 <= met.share <= 1.01 for met in hit.why.met), "shares beyond 0 to 1"
            json.dumps(hit_facts(hit))
    if len(found):
        only = found.ids[:1]
        assert all(hit.id in only for hit in found.search("brea", only=only)), "what was not to be found"
        if not found.fields:
            found.add(["one text more"])
        found.remove(found.ids[-1])


def _all_strings(found: Sequence[object]) -> None:
    assert all(type(word) is str for word in found), "not all are strings"


DOORS: dict[str, Door] = {
    door.__name__: door
    for door in (
        vectors,
        fasttext,
        floret,
        words,
        columns,
        pieces,
        forms,
        evaluation,
        sentences,
        settings,
        prepared,
        unfinished,
        model,
        attached,
        index,
    )
}
