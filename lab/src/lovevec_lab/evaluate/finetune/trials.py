"""The runs of one transformer on one task: what was tokenised once serves all learning rates and seeds."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

from torch import nn

from lovevec.damage.noise import Noise, damaged
from lovevec.device import choose_device
from lovevec.progress import Progress
from lovevec_lab.evaluate.downstream import NOT_IN_KEY
from lovevec_lab.evaluate.finetune.loop import FinetuneSettings, TokenRows, drawing, finetune, predict, tf32
from lovevec_lab.evaluate.finetune.tasks import Sentences, Task
from lovevec_lab.evaluate.finetune.transformer import Transformer
from lovevec_lab.evaluate.result_cache import Score, content_hash

TASK = "finetune 1"  # the number rises when other scores come out: kept ones are computed again then


class Trials:
    """Fine-tune on clean text, then test one and the same model on dev and test under each of the `noises`."""

    def __init__(
        self, transformer: Transformer, task: Task, noises: Sequence[Noise], settings: FinetuneSettings
    ) -> None:
        self.transformer, self.task, self.noises, self.settings = transformer, task, noises, settings

    @cached_property
    def key(self) -> dict[str, Any]:
        """All that a run depends on, but for its rate and seed."""
        return {
            "task": TASK,
            "encoder": self.transformer.key,
            "data": self.task.name,
            "content": self.task.digest or content_hash(self.task.parts),
            "noises": [asdict(noise) for noise in self.noises],
            "settings": {name: value for name, value in asdict(self.settings).items() if name not in NOT_IN_KEY},
        }

    def run(self, rate: float, seed: int, progress: Progress | None = None, name: str = "fine-tuning") -> Score:
        """{"dev": best clean dev score, "epoch": its epoch, "test" and "dev_noisy": {noise: score}, "seconds", …}."""
        train, dev = self._train, self._dev
        noisy = self._noisy
        start = time.perf_counter()
        device, settings = train.labels.device, self.settings
        steps = settings.epochs * -(-len(train) // settings.batch)
        with (
            drawing(seed, device),
            tf32(settings.precision, device),
            (progress or Progress(quiet=True)).phase(name, total=steps, unit="steps") as phase,
        ):
            model = self.transformer.model(self.task.head, len(self.task.classes)).to(device)
            reached, epoch = finetune(model, train, lambda: self._score(model, "dev", dev), rate, seed, settings, phase)
            scores = {
                part: {label: self._score(model, part, rows) for label, rows in copies.items()}
                for part, copies in noisy.items()
            }
        return {
            "dev": reached,
            "epoch": epoch,
            "test": scores["test"],
            "dev_noisy": scores["dev"],
            "positions": {label: int(rows.lengths.sum()) for label, rows in noisy["test"].items()},
            "seconds": time.perf_counter() - start,
            "device": device.type,
        }

    def _score(self, model: nn.Module, part: str, rows: TokenRows) -> float:
        return self.task.score(part, rows, predict(model, rows, self.settings.precision))

    @cached_property
    def _train(self) -> TokenRows:
        return self._rows("train", self.task.parts["train"])

    @cached_property
    def _dev(self) -> TokenRows:
        return self._rows("dev", self.task.parts["dev"])

    @cached_property
    def _noisy(self) -> dict[str, dict[str, TokenRows]]:
        """Dev and test under each noise."""
        return {
            part: {
                noise.label: self._rows(part, damaged(self.task.parts[part], noise, self.settings.noise_seed))
                for noise in self.noises
            }
            for part in ("dev", "test")
        }

    def _rows(self, part: str, sentences: Sentences) -> TokenRows:
        read, tokenizer = self.transformer.read(sentences), self.transformer.tokenizer
        return self.task.rows(part, read, tokenizer, self.settings.longest, choose_device(self.settings.device))
