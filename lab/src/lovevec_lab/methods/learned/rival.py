"""A rival that learns by mimicry: a network that says a word's vector from its spelling, and the folder it is kept in.

    rival.json            which rival, its settings, the target, hashes of the other files; written last
    units.json            the units that it reads, by number
    words.json            the words that it has learned from
    weights.safetensors   all weights, float32

Reading a folder never runs code from it, and whatever is wrong with it is one error that names the file.
"""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn
from torch.nn import functional as F

from lovevec.errors import FormatError
from lovevec.files import atomic_write, write_json
from lovevec.units.ragged import Ragged, spread
from lovevec.units.vocabulary import SPECIAL
from lovevec_lab.methods.learned import RIVAL
from lovevec_lab.methods.method import Bools, Floats, Method, Parameters

UNITS, WORDS, WEIGHTS = "units.json", "words.json", "weights.safetensors"
FORMAT = 1
WORDS_PER_CHUNK, UNITS_PER_BLOCK = 16_384, 16_384


@dataclass(frozen=True, kw_only=True)
class RivalSettings:
    """The settings that all rivals have; each adds its own and says what is usual for it."""

    learning_rate: float
    epochs: int
    batch: int = 256
    holdout: float = 0.01
    seed: int = 0


class RivalNetwork(nn.Module):
    """A rival's network: `forward(index, lengths)`, rows of its `table` as [b, n] and how many of the n each word has,
    gives [b, dim]."""

    table: nn.Parameter


S = TypeVar("S", bound=RivalSettings)


class Rival(Method, Generic[S]):
    """A method with a network of its own. It has a vector for every string, but covers only words that have a unit
    which it knows: of any other the vector is that of [UNK]."""

    settings_type: type[Any]
    unit_length = False  # whether it mimics the target's directions alone
    sparse = False  # whether a step's gradient of the table has only the rows of the batch
    guesses = True  # whether [UNK], where no word of the target has it, stands for the mean of the target

    def __init__(self, settings: S, units: Sequence[str], dim: int) -> None:
        self.settings, self.units, self.dim = settings, units, dim
        with torch.random.fork_rng(devices=[]):  # torch's layers draw from the global generator when they are made
            self.network = self.build()
        table = self.network.table.numel()
        self.parameters = Parameters(table, sum(weight.numel() for weight in self.network.parameters()) - table)
        self.metadata: dict[str, Any] = {}

    @classmethod
    @abstractmethod
    def initial(cls, words: Sequence[str], shown: NDArray[np.int64], dim: int, settings: S) -> Rival[S]:
        """Units from the target's words, of which training sees the rows `shown`; weights as training begins."""

    @abstractmethod
    def build(self) -> RivalNetwork:
        """The network for the settings, units and dimension, with any weights."""

    @abstractmethod
    def encode(self, words: Sequence[str]) -> Ragged:
        """Words -> rows of the network's table; those of [UNK] and other special units come first in it."""

    def covers(self, words: Sequence[str]) -> Bools:
        """Words with a unit that is known."""
        rows = self.encode(list(words))
        owner = spread(np.arange(len(words)), rows.lengths)
        known: Bools = np.bincount(owner[rows.values >= len(SPECIAL)], minlength=len(words)) > 0
        return known

    def embed(self, words: Sequence[str]) -> Floats:
        """As the network says them: at the lengths that it has learned, or of length 1 where it mimics directions."""
        result = np.empty((len(words), self.dim), dtype=np.float32)
        with torch.inference_mode():
            for low in range(0, len(words), WORDS_PER_CHUNK):
                part = result[low : low + WORDS_PER_CHUNK]
                for rows, index in self.encode(words[low : low + WORDS_PER_CHUNK]).equal_lengths(UNITS_PER_BLOCK):
                    part[rows] = self.vectors(
                        torch.from_numpy(index.astype(np.int64)), torch.full((len(rows),), index.shape[1])
                    ).numpy()
        return result

    def vectors(self, index: Tensor, lengths: Tensor) -> Tensor:
        """What the network says: [b, n] rows of its table, [b] -> [b, dim]."""
        out: Tensor = self.network(index, lengths)
        return F.normalize(out, dim=1) if self.unit_length else out

    def save(self, folder: Path) -> None:
        """Write the folder; `rival.json`, without which it holds none, comes last."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / RIVAL).unlink(missing_ok=True)
        weights = {name: weight.detach().contiguous() for name, weight in self.network.state_dict().items()}
        files = {
            UNITS: json.dumps(list(self.units)).encode("ascii"),
            WORDS: json.dumps(list(self.words)).encode("ascii"),
            WEIGHTS: save(weights),
        }
        for name, content in files.items():
            with atomic_write(folder / name) as file:
                file.write(content)
        config = {
            "format": FORMAT,
            **self.metadata,
            "settings": asdict(self.settings),
            "dim": self.dim,
            "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
        }
        write_json(folder / RIVAL, {**config, "checksum": _checksum(config)})

    @classmethod
    def load(cls, folder: Path) -> Rival[S]:
        """Read and check what `save` wrote."""
        config = read_config(folder)
        content = {name: _read_and_check(folder / name, config) for name in (UNITS, WORDS, WEIGHTS)}
        try:
            settings: Any = cls.settings_type(**config["settings"])
            rival = cls(settings, json.loads(content[UNITS]), config["dim"])
            rival.network.load_state_dict(load(content[WEIGHTS]))
            rival.words = json.loads(content[WORDS])
        except (SafetensorError, ValueError, KeyError, TypeError, RuntimeError) as error:
            reason = str(error).split("\n")[0]
            raise FormatError(folder / RIVAL, f"does not fit the files beside it ({reason})") from None
        rival.network.eval()
        rival.metadata = {name: config[name] for name in config if name not in ("format", "sha256", "checksum")}
        return rival


def read_config(folder: Path) -> dict[str, Any]:
    """What stands in rival.json, once its checksum is right."""
    path = folder / RIVAL
    try:
        config = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FormatError(path, f"not readable as JSON ({error})") from None
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise FormatError(path, f"not of format {FORMAT}: made by a newer version of lovevec?")
    if config.pop("checksum", None) != _checksum(config):
        raise FormatError(path, "damaged: it does not have the checksum that stands there")
    return config


def _checksum(config: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(config, sort_keys=True).encode("ascii")).hexdigest()


def _read_and_check(path: Path, config: dict[str, Any]) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FormatError(path, f"cannot be read ({error.strerror})") from None
    hashes = config.get("sha256")
    if not isinstance(hashes, dict) or hashlib.sha256(content).hexdigest() != hashes.get(path.name):
        raise FormatError(path, f"damaged: its SHA-256 is not the one in {RIVAL}")
    return content
