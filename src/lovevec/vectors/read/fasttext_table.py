"""The words of a fastText `.bin` model as a table."""

from __future__ import annotations

from lovevec.vectors.read.fasttext_bin import BATCH, FastTextBin
from lovevec.vectors.read.job import Job
from lovevec.vectors.read.words import decode_words
from lovevec.vectors.report import Noted, ReadReport
from lovevec.vectors.table import VectorTable


def read_fasttext_bin(job: Job) -> VectorTable:
    """Compute the vector of each word of the model; labels of supervised models are not words."""
    model = FastTextBin(job.path)
    count = len(model.words)
    report = ReadReport("fastText .bin", None, "row", count, model.dim)
    if model.trailing:
        report.note(Noted.TRAILING, count=model.trailing)
    with job.build(report, count) as builder:
        for start in range(0, count, BATCH):
            words = model.words[start : start + BATCH]
            places = range(start + 1, start + 1 + len(words))
            builder.add(decode_words(words), model.vectors_of_bytes(words), places)
            if builder.full:
                break
        return builder.finish()
