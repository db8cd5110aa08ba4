"""Good files, one of each kind, small: what attacks begin from.

A `Sample` is the content of a folder, by path inside it; `door` says what reads it, `entry` what of it the door is
given (nothing: the folder itself). Model folders come in every form that they are stored in.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from tests.factories import (
    floret_vocabulary,
    navec_tar,
    npy_bytes,
    random_parts,
    some_context,
    spacy_vocabulary,
    toy_vectors,
    toy_words,
)

from lovevec import LOVE, Attached
from lovevec.files.checkpoints import UNFINISHED, CheckpointFolder
from lovevec.model.folder import write_model
from lovevec.model.known_rows import KnownRows
from lovevec.near.channel import DEFAULT
from lovevec.near.lexicon import GRAM_BITS, Lexicon
from lovevec.near.orthography import Orthography
from lovevec.train.prepared import Prepared
from lovevec.train.settings import PrepareSettings, Settings
from lovevec.units.ragged import Ragged

FASTTEXT = Path(__file__).parents[1] / "tests" / "vectors" / "data"
ROWS, DIM = 30, 6


@dataclass(frozen=True)
class Sample:
    """A folder's files, the door that they go through, and which of them it is given."""

    door: str
    files: Mapping[str, bytes]
    entry: str = ""

    def write(self, folder: Path) -> Path:
        """Put it there; gives what the door takes."""
        for name, content in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        return folder / self.entry

    @property
    def size(self) -> int:
        """Of all files."""
        return sum(map(len, self.files.values()))


def single(door: str, name: str, content: bytes, **beside: bytes) -> Sample:
    """One file, perhaps with others beside it (their dots are written `_`)."""
    return Sample(door, {name: content, **{key.replace("_", "."): more for key, more in beside.items()}}, name)


def table(rows: int = ROWS, dim: int = DIM) -> tuple[list[str], np.ndarray]:
    """Words, one of them not ASCII, and vectors."""
    words = toy_words(rows)
    words[1] = "wörd"
    return words, toy_vectors(words, dim)


def as_text(words: list[str], vectors: np.ndarray, header: bool = True) -> bytes:
    """word2vec's text, or GloVe's without a header."""
    rows = "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in zip(words, vectors.tolist(), strict=True))
    return ((f"{len(words)} {vectors.shape[1]}\n" if header else "") + rows).encode()


def as_zip(members: Mapping[str, bytes], packed: bool = True) -> bytes:
    """A zip of these files, in their order, with the right checksums."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content, archive.compression)
    return file.getvalue()


@cache
def samples() -> dict[str, Sample]:
    """All good files by name."""
    return {**_vectors(), **_lists(), **_folders(), **_attached(), **_index(), **models()}


def _vectors() -> dict[str, Sample]:
    from safetensors.numpy import save

    words, vectors = table()
    text = as_text(words, vectors)
    joined = "\n".join(words).encode()
    wide, tall = table(400, 40)
    pairs = zip(words, vectors, strict=True)
    binary = b"%d %d\n" % vectors.shape + b"".join(word.encode() + b" " + row.tobytes() for word, row in pairs)
    arrays = {"vectors.npy": npy_bytes(vectors), "words.npy": npy_bytes(np.array(words))}
    codes = {"vectors.npy": npy_bytes(vectors), "words.npy": npy_bytes(np.frombuffer(joined, np.uint8))}
    found = {
        "word2vec": ("v.vec", text),
        "glove": ("v.txt", as_text(words, vectors, header=False)),
        "large": ("v.txt", as_text(wide, tall)),
        "binary": ("v.bin", binary),
        "gzip": ("v.gz", gzip.compress(text, mtime=0)),
        "xz": ("v.xz", lzma.compress(text)),
        "zip": ("v.zip", as_zip({"v.txt": text})),
        "npz": ("v.npz", as_zip(arrays, packed=False)),
        "npz packed": ("v.npz", as_zip(codes)),
        "safetensors": ("v.safetensors", save({"vectors": vectors}, {"words": "\n".join(words)})),
        "safetensors codes": (
            "v.safetensors",
            save({"vectors": vectors.astype(np.float16), "words": np.frombuffer(joined, np.uint8)}),
        ),
        "fasttext": ("v.bin", (FASTTEXT / "skipgram.bin").read_bytes()),
        "supervised": ("v.bin", (FASTTEXT / "supervised.bin").read_bytes()),
        "quantized": ("v.ftz", (FASTTEXT / "quantized.ftz").read_bytes()),
    }
    made = {name: single("vectors", file, content) for name, (file, content) in found.items()}
    made["npy"] = single("vectors", "v.npy", npy_bytes(vectors), v_words=joined)
    fortran = npy_bytes(np.asfortranarray(vectors.astype(np.float64)))
    made["npy fortran"] = single("vectors", "v.npy", fortran, v_words=joined)
    vocabulary = {f"vocab/{name}": content for name, content in spacy_vocabulary(words, vectors, {"lent": 1}).items()}
    made["spacy"] = Sample("vectors", vocabulary)
    floret = {f"vocab/{name}": content for name, content in floret_vocabulary(vectors).items()}
    made["floret"] = Sample("floret", floret)
    package = {f"xx_toy_md/xx_toy_md-1.0/{name}": content for name, content in vocabulary.items()}
    made["spacy wheel"] = single("vectors", "xx_toy_md-1.0-py3-none-any.whl", as_zip(package))
    codes = np.arange(3 * len(words)).reshape(-1, 3) % 5
    parts = vectors[:5].reshape(5, 3, -1).transpose(1, 0, 2)
    made["navec"] = single("vectors", "v.tar", navec_tar(words, list(range(len(words))), codes, parts))
    made["fasttext strings"] = single("fasttext", "v.bin", found["fasttext"][1])
    return made


def _lists() -> dict[str, Sample]:
    words = toy_words(40)
    lines = "\n".join(words).encode()
    rows = [(f"a {word}, mistyped\nin two lines", str(number)) for number, word in enumerate(words)]
    csv = "text,n\n" + "".join(f'"{text}",{number}\n' for text, number in rows)
    tsv = "n\ttext\n" + "".join(f"{number}\ta {word}\n" for number, word in enumerate(words))
    objects = "".join(json.dumps({"text": text, "n": number}) + "\n" for text, number in rows)
    pairs = "".join(f"{one}\t{other}\t{number}.5\n" for number, (one, other) in enumerate(pairwise(words)))
    classes = "".join(f"{word}\t{word[-1]}\n" for word in words)
    marked = "".join(f"${word}\n{word}x 2\n" for word in words)
    sts = 'one thing,"other, thing",3.5\n' * 3 + "a,b,1\n"
    labelled = "".join(f"a {word} of it\t{number % 2}\n" for number, word in enumerate(words)).encode()
    tags = "".join(f"{word} B-PER\nsaid O\n\n" for word in words).encode()
    made = {
        "words": single("words", "w.txt", lines),
        "words windows": single("words", "w.txt", b"\xef\xbb\xbf" + lines.replace(b"\n", b"\r\n")),
        "words returns": single("words", "w.txt", lines.replace(b"\n", b"\r")),
        "csv": single("columns", "t.csv", csv.encode()),
        "tsv": single("columns", "t.tsv", tsv.encode()),
        "jsonl": single("columns", "t.jsonl", objects.encode()),
        "forms": single("forms", "f.tsv", "".join(f"x{word}\t{word} {word}\t0.5\n" for word in words).encode()),
        "pieces": single("pieces", "vocab.txt", b"[PAD]\n" + lines + b"\n##ing\n##s\n"),
        "pairs": single("evaluation", "p.tsv", pairs.encode()),
        "classes": single("evaluation", "c.tsv", classes.encode()),
        "misspellings": single("evaluation", "m.dat", marked.encode()),
        "sentence pairs": single("evaluation", "s.csv", sts.encode()),
        "tagged": Sample(
            "sentences",
            {f"{part}.txt": tags for part in ("train", "dev", "test")}
            | {f"{part}.tsv": labelled for part in ("train", "dev", "test")},
        ),
        "settings": single("settings", "s.json", json.dumps(Settings().as_dict()).encode()),
    }
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        return made
    file = io.BytesIO()
    parquet.write_table(pyarrow.table({"text": [text for text, _ in rows], "n": list(range(len(rows)))}), file)
    return made | {"parquet": single("columns", "t.parquet", file.getvalue())}


def _folders() -> dict[str, Sample]:
    words, vectors = table()
    nothing = Ragged(np.zeros(len(words), np.int32), np.arange(len(words) + 1))
    negatives = np.full((len(words), 2), -1, np.int32)
    parts = random_parts()
    ready = Prepared(
        words, vectors, parts.units.vocabulary, nothing, negatives, PrepareSettings(), {"name": "made", "dim": DIM}
    )
    with tempfile.TemporaryDirectory() as folder:
        ready.save(Path(folder) / "p")
        left = CheckpointFolder(Path(folder) / "u" / UNFINISHED)
        left.begin({"target": "/nowhere.vec", "settings": Settings().as_dict()})
        left.save("checkpoint", {"network.table": vectors}, step=3, log={"losses": [1.0]})
        return {
            "prepared": Sample("prepared", content_of(Path(folder) / "p")),
            "unfinished": Sample("unfinished", content_of(Path(folder) / "u")),
        }


def _attached() -> dict[str, Sample]:
    """A table in a space of its own, with a map and known neighbors, and a model behind it."""
    parts = random_parts(dim=8, key_width=4)
    words = list(parts.words)[:60]
    love = LOVE(replace(parts, words=words, rows=KnownRows.of(toy_vectors(words, 8), "int8")), engine="numpy")
    with tempfile.TemporaryDirectory() as folder:
        Attached(love, (words, toy_vectors(words, 5) * 3), space="mapped").save(folder)
        return {"attached": Sample("attached", content_of(Path(folder)))}


@cache
def index_love() -> LOVE:
    """The model that the index was made with, and without which nobody reads it."""
    parts = random_parts(dim=8, key_width=4)
    words = list(parts.words)[:60]
    rows = KnownRows.of(toy_vectors(words, 8), "int8", np.ones(len(words), np.float32))
    love = LOVE(replace(parts, words=words, rows=rows), engine="numpy")
    love.warm_up()
    return love


def _index() -> dict[str, Sample]:
    """An index of some texts with fields, one with ids that are strings, one with ids that are numbers."""
    love = index_love()
    words = [*love.words[:40], "vestergaard", "500mg", "wörd"]
    records = [{"title": one, "body": f"{other} and {one}, 1.7 l"} for one, other in pairwise(words)]
    made = {}
    with tempfile.TemporaryDirectory() as folder:
        names = [f"P{number}" for number in range(len(records))]
        love.index(records, names, fields={"title": 2.0, "body": 1.0}).save(Path(folder) / "a")
        love.index([record["body"] for record in records]).save(Path(folder) / "b")
        for name, form in (("index", "a"), ("index numbered", "b")):
            made[name] = Sample("index", content_of(Path(folder) / form))
    return made


def content_of(folder: Path) -> dict[str, bytes]:
    """All files below a folder, by path inside it."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


FORMS = {
    "as trained": ({"head": 5, "factor": 7, "ngrams": 12}, None, "float16"),
    "float32": ({"buckets": 40}, "float32", "none"),
    "float16": ({"ngrams": 12}, "float16", "int8"),
    "int8": ({"head": 5, "ngrams": 12}, "int8", "int4"),
    "characters": ({"mode": "chars", "lowercase": False}, "int8", "int8"),
}
CONFIDENCE = {
    "intercept": -1.0,
    "known": 0.9,
    "readings": [0.1, 1.1],
    "features": {
        name: {"coefficient": 0.3, "low": 0.0, "high": 3.0} for name in ("length", "characters", "pieces", "familiar")
    },
}


def orthography(words: list[str]) -> Orthography:
    """With a lexicon of the words, weights of n-grams by chance, and a form of one word and of two."""
    grams = np.random.default_rng(0).integers(-9, 10, 1 << GRAM_BITS).astype(np.int8)
    listed = {"nope": ((words[0], 0.5), (f"{words[1]} {words[2]}", 0.5)), "ppl": ((words[3], 1.0),)}
    return Orthography(DEFAULT, Lexicon.of(words, grams=grams, scale=0.1, endings=["s", "ed"]), listed)


@cache
def models() -> dict[str, Sample]:
    """A small model in every form that a folder may have."""
    found = {}
    for name, (shape, precision, rows) in FORMS.items():
        parts = random_parts(dim=8, key_width=4, **shape)  # type: ignore[arg-type]
        words = list(parts.words)[:60]
        own = toy_vectors(words, 8)
        weights = np.ones(len(words), np.float32) if rows == "int8" else None
        metadata = {
            "target": {"name": "made", "words": 60, "dim": 8},
            "parameters": {"embedding": 10, "others": 5},
            "scores": {"mean": 50.0},
            "report": {"score": {"clean": {"cosine": 0.5, "top10": 0.5}}},
            "confidence": CONFIDENCE,
        }
        if parts.units.mode == "chars":
            metadata["confidence"] = {"missing": "too few words"}
        parts = replace(
            parts,
            words=words,
            metadata=metadata,
            orthography=orthography(words) if name == "int8" else parts.orthography,
            rows=None if rows == "none" else KnownRows.of(own, rows, weights),
            context=some_context(0, 8, 5, 2, 2, 9, 6, 20) if name == "float16" else None,
        )
        with tempfile.TemporaryDirectory() as folder:
            write_model(folder, parts, "# a card\n", precision)  # type: ignore[arg-type]
            found[f"model {name}"] = Sample("model", content_of(Path(folder)))
    return found
