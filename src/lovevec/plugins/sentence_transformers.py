"""LOVE as the first module of a SentenceTransformer: vectors of texts that do not mind typos.

    model = SentenceTransformer(modules=[LoveWords()])
    model.encode(["a wonderfull fi1m"])             # what love.encode gives
    SentenceTransformer(modules=[LoveWords(trainable=True)])   # learns, by any of the library's losses

A text is Σ weight(word) · vector(word), as in `love.encode`. Frozen, the LOVE itself computes it, without torch.
Trainable, the words' vectors are those of `love.to_torch()`: the known words' rows and the tables of the encoder learn,
weights stay. What was trained is saved as a LOVE folder, `love` inside the model's own.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from lovevec.errors import LovevecError, MissingExtra
from lovevec.love import LOVE
from lovevec.plugins import LoveOption, load_love

try:
    import torch
    from torch.nn import functional as F

    try:
        from sentence_transformers.base.modules.input_module import InputModule
    except ImportError:  # where release 5.0 has it
        from sentence_transformers.models import InputModule
except ImportError:
    raise MissingExtra("sentence-transformers 5 or newer", "sentence-transformers") from None

LOVE_FOLDER = "love"  # inside the module's own


class LoveWords(InputModule):  # type: ignore[misc]
    """The module that makes sentence embeddings of texts.

    love           a LOVE, its folder or name; the shipped default for None
    trainable      whether its tables are torch's, and learn (about 40 million numbers, of the shipped default)
    normalize      whether embeddings have unit length
    spelling_only  whether every vector comes from the spelling, as in the paper; None for what the LOVE itself does

        SentenceTransformer(modules=[LoveWords()]).encode(["a wonderfull fi1m"])
    """

    config_keys = ["trainable", "normalize", "spelling_only"]  # noqa: RUF012 (as the library has it)
    config_file_name = "love_words.json"

    def __init__(
        self,
        love: LoveOption = None,
        trainable: bool = False,
        normalize: bool = True,
        spelling_only: bool | None = None,
    ) -> None:
        super().__init__()
        model = load_love(love)
        if not isinstance(model, LOVE):
            raise LovevecError("love: LoveWords takes a LOVE; of an attached table, that is its `model`")
        if spelling_only is not None and spelling_only != model.spelling_only:
            model = model.copy(spelling_only=spelling_only)
        self.love, self.trainable, self.normalize = model, trainable, normalize
        self.spelling_only = model.spelling_only
        self.words = model.to_torch() if trainable else None
        # Says on which device the module is where nothing learns.
        self.register_buffer("place", torch.zeros(0), persistent=False)
        self._learned, self._versions = False, self._version()

    def _version(self) -> int:
        """A number that grows with every change of a weight: torch counts them."""
        return sum(weight._version for weight in self.parameters())

    def preprocess(self, inputs: list[str], prompt: str | None = None, **_kwargs: Any) -> dict[str, torch.Tensor]:
        """The features of texts that `forward` needs. Where no gradient is asked for, and as long as nothing was
        learned, they are the embeddings themselves, which the LOVE computes."""
        texts = [prompt + text for text in inputs] if prompt else list(inputs)
        # Asked of torch: a loader makes its first batch before the trainer calls train().
        changed = self._learned or self._version() != self._versions
        if self.words is None or not (torch.is_grad_enabled() or changed):
            rows = self.love.encode(texts, normalize_embeddings=self.normalize, show_progress_bar=False)
            return {"sentence_embedding": torch.from_numpy(rows)}
        encoder = self.love.text_encoder()
        parts = [encoder.parts_of(text) for text in texts]
        place: dict[tuple[str, str, float], int] = {}
        ids = [place.setdefault(part, len(place)) for of_text in parts for part in of_text]
        tensors, _ = self.words.prepare_parts([(text, how) for text, how, _ in place], in_text=True)
        tensors["weights"] = torch.from_numpy(np.append(encoder.weights, np.float32(0)))[tensors["rows"]]
        shares = torch.tensor([share for *_, share in place], dtype=torch.float32)
        new, coded = tensors["new"], tensors.get("coded", torch.zeros(0, dtype=torch.long))
        new[coded] = 1.0
        known = torch.zeros(len(place)).index_add(0, tensors["owner"], tensors["chances"] * tensors["weights"])
        total = (known + new * encoder.new_weight) * shares
        lengths = torch.from_numpy(encoder.signature_lengths(new.numpy().astype(np.float64))) * total
        new[coded] = 0.0
        signatures = torch.from_numpy(encoder.signatures([text for text, *_ in place])) * lengths[:, None].float()
        tensors["new"] = new * encoder.new_weight
        if "codes" in tensors:
            tensors["codes"] = tensors["codes"] * encoder.new_weight
        tensors |= {"total": total, "signatures": signatures, "share": shares}
        ends = np.cumsum([0, *map(len, parts)])
        return {
            "input_ids": torch.tensor(ids, dtype=torch.long),
            "offsets": torch.from_numpy(ends[:-1].astype(np.int64)),
            **{f"love_{name}": tensor for name, tensor in tensors.items()},
        }

    def tokenize(self, texts: list[str], **kwargs: Any) -> dict[str, torch.Tensor]:
        """`preprocess`, by the name that it has in older releases of sentence-transformers."""
        return self.preprocess(texts, **kwargs)

    def forward(self, features: dict[str, Any], **_kwargs: Any) -> dict[str, Any]:
        """Add `sentence_embedding` [texts, dim] to the features; a text without words has zeros."""
        if "sentence_embedding" in features:
            return features
        assert self.words is not None
        self._learned = self._learned or torch.is_grad_enabled()
        tensors = {name[len("love_") :]: tensor for name, tensor in features.items() if name.startswith("love_")}
        ids, offsets = features["input_ids"], features["offsets"]
        shares = tensors["share"].to(self.words.device)[:, None]
        words = self.words.combine(tensors) * shares + tensors["signatures"].to(self.words.device)
        texts = F.embedding_bag(ids, words, offsets, mode="sum")
        if self.normalize:
            texts = F.normalize(texts, dim=1)
        else:
            total = F.embedding_bag(ids, tensors["total"][:, None], offsets, mode="sum")
            texts = texts / torch.where(total > 0, total, 1)
        features["sentence_embedding"] = texts
        return features

    @property
    def max_seq_length(self) -> float:
        return math.inf

    def get_embedding_dimension(self) -> int:
        return self.love.dim

    get_sentence_embedding_dimension = get_embedding_dimension

    def trained_love(self) -> LOVE:
        return self.love if self.words is None else LOVE.from_torch(self.words)

    def save(self, output_path: str, *_args: Any, **_kwargs: Any) -> None:
        self.trained_love().save(Path(output_path) / LOVE_FOLDER)
        self.save_config(output_path)

    @classmethod
    def load(cls, model_name_or_path: str, subfolder: str = "", **kwargs: Any) -> LoveWords:
        names = ("token", "cache_folder", "revision", "local_files_only")
        options = {name: kwargs[name] for name in names if name in kwargs}
        config = cls.load_config(model_name_or_path, subfolder=subfolder, **options)
        inside = os.path.join(subfolder, LOVE_FOLDER) if subfolder else LOVE_FOLDER
        folder = cls.load_dir_path(model_name_or_path, subfolder=inside, **options)
        if folder is None or set(config) != set(cls.config_keys):
            raise LovevecError(f"{model_name_or_path}: holds no LoveWords ({inside} and {cls.config_file_name})")
        return cls(LOVE.load(folder), **config)
