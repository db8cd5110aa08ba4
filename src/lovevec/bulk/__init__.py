"""Vectors for more words than one process should hold: on the cores of a machine or of a cluster, by Ray Data.

    from lovevec import bulk

    dataset = bulk.embed(ray.data.read_parquet("words/"), column="word")     # a Ray Dataset with one more column
    summary = bulk.embed_files(["words/"], "vectors/", column="word")        # files in, files out; `lovevec bulk`

The first is a step among others of a Ray pipeline. The second is a job: it goes on where it died, and gives the same
bytes whatever the number of workers. The model travels once a node, through Ray's object store, whose memory all
workers of the node share.

    parts.py    the input, cut into parts: files, rows, bytes
    dataset.py  one more column for a Ray Dataset; the options of vectors
    job.py      the plan, the workers, the files of vectors
    output.py   the folder of vectors: whole files or none, and how a job goes on
    cluster.py  Ray: found, or started and stopped
"""

from __future__ import annotations

from lovevec.bulk.dataset import embed
from lovevec.bulk.job import Summary, embed_files

__all__ = ["Summary", "embed", "embed_files"]
