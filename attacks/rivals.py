"""What gensim, tokenizers and model2vec make of some of the same files and strings: docs/reliability.md names it.

    python -m attacks.rivals

Each is run as installed, in a child process with at most 8 GB of memory. Nothing is said of libraries that are not
installed.
"""

from __future__ import annotations

import os
import pickle
import resource
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from attacks.hostile import CANARY, Exploit

MEMORY = 8 << 30
FILES = {
    "nan.vec": b"3 2\na nan 1\nb 1 inf\nc 1 2\n",
    "long.vec": b"3 3\na 1 2 3\nb 1 2 3 4\nc 0 1 2\n",
    "bytes.vec": b"2 2\n\xff\xfe 1 2\nb 1 2\n",
    "rows.vec": b"2000000000 300\na 1 2 3\n",
    "pickle.kv": pickle.dumps(Exploit()),
}


def gensim() -> dict[str, Callable[[], object]]:
    """KeyedVectors."""
    from gensim.models import KeyedVectors

    read = KeyedVectors.load_word2vec_format

    def executed() -> object:
        try:
            return KeyedVectors.load("pickle.kv")
        finally:
            print(f"  code in the file executed: {Path(CANARY).exists()}")

    return {
        "load of a pickle": executed,
        "an unknown word": lambda: read("nan.vec")["zzz"],
        "NaN in a file": lambda: (read("nan.vec")["a"], read("nan.vec").similarity("a", "c")),
        "a row with a number too many": lambda: read("long.vec").index_to_key,
        "a word that is not UTF-8": lambda: read("bytes.vec").index_to_key,
        "a header of 2,000,000,000 rows in a file of 25 bytes": lambda: read("rows.vec"),
    }


def tokenizers() -> dict[str, Callable[[], object]]:
    """WordPiece."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece

    tokenizer = Tokenizer(WordPiece({"[UNK]": 0, "a": 1, "##a": 2}, unk_token="[UNK]"))
    return {
        "half a surrogate": lambda: tokenizer.encode("\ud800").tokens,
        "a word of 100 letters": lambda: len(tokenizer.encode("a" * 100).tokens),
        "a word of 101 letters": lambda: tokenizer.encode("a" * 101).tokens,
    }


def model2vec() -> dict[str, Callable[[], object]]:
    """StaticModel."""
    from model2vec import StaticModel
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.pre_tokenizers import Whitespace

    tokenizer = Tokenizer(WordPiece({"[UNK]": 0, "a": 1, "##a": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    model = StaticModel(np.array([[0, 0], [np.nan, 1], [1, 1]], np.float32), tokenizer, normalize=True)
    model.save_pretrained("saved")

    def flipped() -> object:
        path = Path("saved/model.safetensors")
        content = bytearray(path.read_bytes())
        content[-6] ^= 64
        path.write_bytes(content)
        return StaticModel.from_pretrained("saved").embedding.tolist()

    return {
        "half a surrogate": lambda: model.encode(["\ud800"]),
        "NaN in a saved model": lambda: StaticModel.from_pretrained("saved").encode(["a"]),
        "a bit flipped in a saved model": flipped,
    }


def main() -> None:
    """A line each."""
    warnings.simplefilter("ignore")
    for rival in (gensim, tokenizers, model2vec):
        print(f"{rival.__name__} {getattr(__import__(rival.__name__), '__version__', '')}")
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            for name, content in FILES.items():
                Path(name).write_bytes(content)
            for name, tried in rival().items():
                child = os.fork()
                if child == 0:
                    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
                    try:
                        found = repr(tried())
                    except Exception as error:  # noqa: BLE001  whatever it is, it is what a user meets
                        found = f"{type(error).__name__}: {error}"
                    print(f"  {name}: {' '.join(found.split())[:110]}", flush=True)
                    os._exit(0)
                os.waitpid(child, 0)
            os.chdir("/")


if __name__ == "__main__":
    main()
