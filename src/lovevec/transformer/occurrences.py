"""Where words occur in tokenised text, and one vector a word out of its occurrences.

Words are counted, or looked up among those to have, of which each takes a limited number of occurrences. The vector of
one occurrence is the mean of the states of its pieces; of many the mean, or in each dimension the largest value. Sums
are float64, so that neither the order of the texts nor their number matters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lovevec.transformer.contextual import ContextualModel, Passage, cut
from lovevec.transformer.pieces import SPACE_MARK

if TYPE_CHECKING:
    import torch
    from torch import Tensor

WORDS_PER_CACHE = 1_000_000  # whose pieces need not be put together again


class WordCounts:
    """How often each word occurs, spelled as the tokenizer sees it."""

    def __init__(self, contextual: ContextualModel) -> None:
        self.contextual = contextual
        self.counts: Counter[str] = Counter()
        self.spelling = lru_cache(WORDS_PER_CACHE)(self._spelling)

    def add(self, texts: Sequence[str]) -> None:
        for ids, spans in self.contextual.tokenize(texts):
            self.counts.update([self.spelling(tuple(ids[low:high])) for low, high in spans])

    def _spelling(self, ids: tuple[int, ...]) -> str:
        word = self.contextual.pieces.spelling(ids)
        return word if word.isprintable() and "\ufffd" not in word and SPACE_MARK not in word else ""

    def state(self) -> dict[str, NDArray[np.generic]]:
        """All counts as arrays to be saved, in the order in which words came up."""
        joined = "\n".join(self.counts).encode("utf-8", "replace")
        return {"words": np.frombuffer(joined, np.uint8), "counts": np.array([*self.counts.values()], np.int64)}

    def load(self, state: dict[str, NDArray[np.generic]]) -> None:
        words = state["words"].tobytes().decode("utf-8").split("\n")
        self.counts = Counter(dict(zip(words, state["counts"].tolist(), strict=False)))

    def frequent(self, min_count: int) -> dict[str, int]:
        """The words that occur at least `min_count` times, the most frequent first, of equals the one that came up
        first."""
        return {word: count for word, count in self.counts.most_common() if count >= min_count and word}


class OccurrenceFinder:
    """Finds words in texts, one row each; `left` says how many more occurrences a row takes, at first its `quota`."""

    def __init__(self, contextual: ContextualModel, words: Sequence[str], quota: Sequence[int]) -> None:
        self.contextual = contextual
        rows = {word: row for row, word in enumerate(words)}
        self.row = lru_cache(WORDS_PER_CACHE)(lambda ids: rows.get(contextual.pieces.spelling(ids), -1))
        self.quota = np.array(quota, np.int64)
        self.left: list[int] = list(quota)
        self.complete = self.too_long = 0

    def passages(self, texts: Sequence[str]) -> Iterator[Passage]:
        """Cut texts to what the model takes; a passage without an occurrence that some row still takes is left out."""
        for ids, spans in self.contextual.tokenize(texts):
            at = 0
            for low, high in cut(len(ids), spans, self.contextual.room):
                occurrences = []
                shift = len(self.contextual.before) - low
                while at < len(spans) and spans[at][0] < high:
                    first, last = spans[at]
                    at += 1
                    if first < low or last > high:
                        self.too_long += 1
                        continue
                    row = self.row(tuple(ids[first:last]))
                    if row >= 0 and self.left[row]:
                        self.left[row] -= 1
                        self.complete += not self.left[row]
                        occurrences.append((first + shift, last + shift, row))
                if occurrences:
                    yield self.contextual.passage(ids[low:high], occurrences)

    @property
    def counts(self) -> NDArray[np.int64]:
        return self.quota - np.array(self.left, np.int64)

    def load(self, left: NDArray[np.generic]) -> None:
        self.left = [int(count) for count in left.tolist()]
        self.complete = self.left.count(0)


def spellings(contextual: ContextualModel, words: Sequence[str]) -> list[str | None]:
    """Each word as the tokenizer spells it in a text; None when that is not one word for it (don't, New York, …)."""
    result: list[str | None] = []
    for ids, spans in contextual.tokenize(words):
        one = len(spans) == 1 and contextual.unknown not in ids
        rest = [*ids[: spans[0][0]], *ids[spans[0][1] :]] if one else []
        whole = one and not any(contextual.pieces.text[number] for number in rest)
        result.append(contextual.pieces.spelling(ids[slice(*spans[0])]) if whole else None)
    return result


class Pool:
    """Rows that fill up, [rows, dim] on the device: sums for `mean`, the largest values so far for `max`."""

    def __init__(self, rows: int, dim: int, pooling: str, device: torch.device) -> None:
        import torch  # here and below, as in contextual.py

        self.mean = pooling == "mean"
        self.total = torch.full(
            (rows, dim),
            0.0 if self.mean else -torch.inf,
            dtype=torch.float64 if self.mean else torch.float32,
            device=device,
        )

    def add(self, states: Tensor, batch: Sequence[Passage]) -> None:
        """Put all spans of a batch into their rows; `states` [passages, longest, dim]."""
        import torch

        longest, device = states.shape[1], self.total.device
        spans = [(at * longest, *span) for at, passage in enumerate(batch) for span in passage.spans]
        lengths = np.array([high - low for _, low, high, _ in spans])
        first = np.array([start + low for start, low, _, _ in spans])
        places = np.repeat(first - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        rows = torch.tensor([row for *_, row in spans], device=device)
        counts = torch.from_numpy(lengths).to(device)
        pieces = states.reshape(-1, states.shape[-1])[torch.from_numpy(places).to(device)].double()
        owner = torch.repeat_interleave(torch.arange(len(spans), device=device), counts, output_size=len(places))
        occurrences = torch.zeros(len(spans), states.shape[-1], dtype=torch.float64, device=device)
        occurrences.index_add_(0, owner, pieces)
        occurrences /= counts[:, None]
        if self.mean:
            self.total.index_add_(0, rows, occurrences)
        else:
            index = rows[:, None].expand(-1, self.total.shape[1])
            self.total.scatter_reduce_(0, index, occurrences.float(), "amax")

    def load(self, total: NDArray[np.generic]) -> None:
        import torch

        self.total.copy_(torch.from_numpy(total))

    def vectors(self, counts: NDArray[np.int64]) -> NDArray[np.float32]:
        total = self.total.cpu().numpy()
        some = counts > 0
        vectors = np.zeros(total.shape, np.float32)
        vectors[some] = total[some] / counts[some, None] if self.mean else total[some]
        return vectors
