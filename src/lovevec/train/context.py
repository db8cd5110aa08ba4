"""Trains the model of context (near/context.py) from running text: minutes on two cores, less on a GPU.

Words of the text are asked about one by one. For each, one of many misspellings of it is drawn (damage/), with the
readings that it has alone; the model learns what the sentence has to add for the right reading to be the likeliest:

    loss = - log p(right | misspelling, sentence) - BATCH_SHARE · log p(right | sentence, among the words of the batch)

Words of the text that the model does not know, and which come several times, are strings whose right reading is "new".
The second part teaches what sentences say of words that nobody misspells, which real-word errors and `learn` live on. A
third part, among known words that are spelled alike, was tried and left out: it cost 0.5 points of the first.

After training, weights are rounded to 8 bits and activations to 12, by what they are on a sample of the text.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from lovevec.damage.edits import damage
from lovevec.damage.languages import Language
from lovevec.damage.misspell import misspell
from lovevec.damage.noise import Noise, damaged
from lovevec.device import choose_device
from lovevec.errors import LovevecError, Parameter
from lovevec.near.context import MOST, PAD, PLACES, ROW_SCALE, SIGN_ROWS, WINDOW, Context, Layer
from lovevec.near.kinds import WORD, Part, kind_of, plain_form
from lovevec.progress import Progress
from lovevec.texts.sentence import NEW, NUMBER, OFFSETS, OTHER, sequence
from lovevec.texts.tokens import words_of

if TYPE_CHECKING:
    from lovevec.love import LOVE

Tensor = torch.Tensor
Integers = NDArray[np.integer]

MISSPELLED, EDITED = 0.5, 0.35  # shares of the misspellings: as people make them; single edits; the rest by a scanner
MIN_COUNT, MIN_NEW_COUNT = 3, 4  # of a word in the text, to be asked about
TYPOS_PER_OCCURRENCE, LEAST_TYPOS, MOST_TYPOS = 1 / 15, 4, 300
FREQUENT_SHARE = 3e-4  # of all words; words above it are asked about less often, by the root of the ratio
# Texts have these words oftener than batches had, by -log(share drawn). Of that so much is added to their scores: all
# of it is best for slips that hit any letter of any word (data/context), none to half for people's (Birkbeck's and
# Holbrook's misspellings put into sentences).
DUE = 0.75
NEW_SHARE = 0.12  # of a batch
UNSEEN_SHARES = 0.02, 0.2  # of the words of a sentence that are taken for unknown, in half of the sentences each
BATCH_SHARE = 0.5
HELD_BACK = 0.005  # of the text, for the report
STRINGS_PER_READING = 1 << 16
CLIPPED = 1e-5  # of a layer's numbers, that may lie beyond what 12 bits hold
WARM_UP = 200  # steps


@dataclass(frozen=True)
class ContextSettings:
    """How a model of context is trained and how large it is."""

    width: int = 96
    hidden: int = 384
    inner: int = 320
    heads: int = 3
    side: int = 5  # places on each side whose order counts
    frequent: int = 4096  # words that have a vector of their own
    batch: int = 2048
    steps: int = 7000
    rate: float = 2e-3
    strength: float = 0.8  # λ, chosen on every second unknown word of data/context
    seed: int = 0
    device: str = "auto"


class Corpus(NamedTuple):
    """A text as rows and signs, one after the other: `ids` [places], `text` [places] the number of the text that each
    stands in; `new` the unknown words, and `new_words`, `new_places` which of them stands where."""

    ids: NDArray[np.int32]
    text: NDArray[np.int32]
    new: list[str]
    new_words: NDArray[np.int64]
    new_places: NDArray[np.int64]


class Typos(NamedTuple):
    """Misspellings of known words and words that are new, in the order of the words: `rows` [strings, k] of those that
    may be meant, `utility` [strings, k + 2] the logarithms of their probabilities, of new, of parts; `right` [strings]
    the column of what is; `first` [words + 1] where those of each known word begin; behind them stands what is new,
    `new` the number of each such word in the corpus."""

    rows: NDArray[np.int32]
    utility: NDArray[np.float32]
    right: NDArray[np.int64]
    first: NDArray[np.int64]
    new: NDArray[np.int64]


def train_context(
    model: LOVE,
    texts: Iterable[str],
    settings: ContextSettings | None = None,
    progress: Progress | None = None,
) -> tuple[Context, dict[str, Any]]:
    """Learn a model of context from running text, one paragraph a string, for a model that has rows of its own. Returns
    the model of context, and what came of it."""
    settings, progress = settings or ContextSettings(), progress or Progress(quiet=True)
    rows = model.parts.rows
    if rows is None or model.spelling_only:
        raise LovevecError(f"{Parameter('model')}: has no rows of known words, so no sentence can expect one of them")
    device, start = choose_device(settings.device), time.perf_counter()
    corpus = read_corpus(model, texts, progress)
    if len(corpus.ids) < 1000:
        raise LovevecError(f"{Parameter('texts')}: {len(corpus.ids):,} words and marks are too few to learn from")
    rng = np.random.default_rng([settings.seed, 11])
    with progress.phase("misspelling"):
        typos = make_typos(model, corpus, rng)
    questions = Questions(corpus, typos, len(model.words), rng)
    torch.manual_seed(settings.seed)
    net = ContextNet(settings, torch.from_numpy(rows.all()), device)
    with progress.phase("training", settings.steps, "steps") as phase:
        _train(net, questions, settings, rng, phase.advance)
    report = {
        "words": int((corpus.ids >= 0).sum()),
        "misspellings": len(typos.rows),
        "steps": settings.steps,
        "held_back": _score(net, questions, settings.strength),
        "seconds": round(time.perf_counter() - start),
    }
    context = quantised(net, questions, settings.strength)
    return context, {**report, "parameters": context.parameters}


def read_corpus(model: LOVE, texts: Iterable[str], progress: Progress) -> Corpus:
    """Texts as rows of the model's known words, and signs."""
    id_of: dict[str, int] = {}
    number_of: dict[str, int] = {}
    ids_of_all, lengths, new_words, new_places = array("i"), array("i"), array("i"), array("q")
    with progress.phase("reading", unit="texts") as phase:
        for text in texts:
            words = words_of(text)
            for word in words:
                if word.text not in id_of:
                    id_of[word.text] = _id(model, word.text)
            ids = [id_of[word.text] for word in words]
            line, places = sequence(text, [Part(word.text, WORD, word.start, word.end) for word in words], ids)
            for word, row, place in zip(words, ids, places, strict=True):
                if row == NEW:
                    new_words.append(number_of.setdefault(word.text, len(number_of)))
                    new_places.append(len(ids_of_all) + place)
            ids_of_all.extend(line)
            lengths.append(len(line))
            phase.advance(1)
    number = np.repeat(np.arange(len(lengths), dtype=np.int32), np.array(lengths))
    new = np.array(new_words, dtype=np.int64), np.array(new_places, dtype=np.int64)
    return Corpus(np.array(ids_of_all, dtype=np.int32), number, list(number_of), *new)


def _id(model: LOVE, word: str) -> int:
    row = int(model._look_up([word])[0][0])
    if row >= 0:
        return row
    return NUMBER if kind_of(plain_form(word)) is not None else NEW if word.isalpha() else OTHER


def make_typos(model: LOVE, corpus: Corpus, rng: np.random.Generator) -> Typos:
    """Misspellings of the words of a text, more of those that come often, as the model reads them alone."""
    words, count = model.words, np.bincount(corpus.ids[corpus.ids >= 0], minlength=len(model.words))
    able = np.fromiter((len(word) > 1 and word.replace("'", "").isalpha() for word in words), np.bool_, len(words))
    times = np.clip(count * TYPOS_PER_OCCURRENCE, LEAST_TYPOS, MOST_TYPOS).astype(np.int64)
    target = np.repeat(np.arange(len(words)), np.where((count >= MIN_COUNT) & able, times, 0))
    right = [words[row] for row in target.tolist()]
    wrong = _misspelled(right, rng, model.parts.orthography.language.with_words(words))
    known = model._look_up(wrong)[0] >= 0
    chosen = [place for place, (one, is_known) in enumerate(zip(wrong, known.tolist(), strict=True))
              if not is_known and one.isalnum() and one != right[place]]  # fmt: skip
    new_count = np.bincount(corpus.new_words, minlength=len(corpus.new))
    new = np.array([number for number in np.flatnonzero(new_count >= MIN_NEW_COUNT).tolist()
                    if len(corpus.new[number]) > 2], dtype=np.int64)  # fmt: skip
    strings = [wrong[place] for place in chosen] + [corpus.new[number] for number in new.tolist()]
    meant = np.concatenate([target[chosen], np.full(len(new), len(words))]).astype(np.int64)
    rows, utility, column = list[Any](), list[Any](), list[Any]()
    for low in range(0, len(strings), STRINGS_PER_READING):
        readings = model._read(strings[low : low + STRINGS_PER_READING], in_text=True)
        all_three = [readings.probabilities, readings.new[:, None], readings.parts[:, None]]
        is_right = readings.rows == meant[low : low + STRINGS_PER_READING, None]
        rows.append(readings.rows)
        utility.append(np.log(np.maximum(np.concatenate(all_three, axis=1), 1e-7)).astype(np.float32))
        column.append(np.where(is_right.any(axis=1), is_right.argmax(axis=1), -1))
    right_column = np.concatenate(column)
    right_column[meant == len(words)] = rows[0].shape[1]  # new
    kept = right_column >= 0
    order = np.argsort(meant[kept], kind="stable")
    in_order = meant[kept][order]
    first = np.searchsorted(in_order, np.arange(len(words) + 1))
    every = np.concatenate(rows)[kept][order], np.concatenate(utility)[kept][order], right_column[kept][order]
    return Typos(*every, first, new)


def _misspelled(words: list[str], rng: np.random.Generator, language: Language) -> list[str]:
    kind = rng.random(len(words))
    result = np.array(words, dtype=object)
    by_people, by_edit = kind < MISSPELLED, (kind >= MISSPELLED) & (kind < MISSPELLED + EDITED)
    by_scanner = ~by_people & ~by_edit
    ways: list[tuple[NDArray[np.bool_], Callable[[list[str]], list[str]]]] = [
        (by_people, lambda some: misspell(some, rng, language)),
        (by_edit, lambda some: damage(some, rng, language=language)),
        (by_scanner, lambda some: [one for (one,) in damaged([[word] for word in some], Noise("ocr", 1.0), 1)]),
    ]
    for which, way in ways:
        if which.any():
            result[which] = way([words[place] for place in np.flatnonzero(which).tolist()])
    return list(result)


class Questions:
    """Draws words of a text, their sentences and misspellings of them."""

    def __init__(self, corpus: Corpus, typos: Typos, words: int, rng: np.random.Generator) -> None:
        self.corpus, self.typos, self.words, self.rng = corpus, typos, words, rng
        ids, self.end = corpus.ids, int(len(corpus.ids) * (1 - HELD_BACK))
        self.count = np.diff(np.append(typos.first, len(typos.rows)))[:words]
        often = np.bincount(ids[ids >= 0], minlength=words)
        usual = often / max(often.sum(), 1)
        # [words] the share of a word's occurrences that are asked about, where it can be
        self.drawn = np.minimum(1, np.sqrt(FREQUENT_SHARE / np.maximum(usual, 1e-12)))
        drawn = self.drawn * (self.count > 0)
        asked = usual * drawn / max((usual * drawn).sum(), 1e-12)
        # [words] what the second part of the loss adds, since words of a batch are not drawn as they come in texts
        self.correction = (np.log(np.maximum(usual, 1e-9)) - np.log(np.maximum(asked, 1e-9))).astype(np.float32)
        self.places, self.held = self._drawn(0, self.end, drawn), self._drawn(self.end, len(ids), drawn)
        if not len(self.places):
            raise LovevecError(f"{Parameter('texts')}: no known word in them can be misspelled and read")
        number = np.full(len(corpus.new), -1, dtype=np.int64)
        number[typos.new] = typos.first[words] + np.arange(len(typos.new))
        string = number[corpus.new_words]
        self.new = np.stack([corpus.new_places, string], axis=1)[(string >= 0) & (corpus.new_places < self.end)]
        self._order, self._next = rng.permutation(len(self.places)), 0

    def _drawn(self, low: int, high: int, share: NDArray[np.float64]) -> Integers:
        places = low + np.flatnonzero(self.corpus.ids[low:high] >= 0)
        chosen: Integers = places[self.rng.random(len(places)) < share[self.corpus.ids[places]]]
        return chosen

    def windows(self, places: Integers) -> NDArray[np.int32]:
        """What stands around some places: [n, PLACES]."""
        near = places[:, None] + OFFSETS
        inside = np.clip(near, 0, len(self.corpus.ids) - 1)
        is_other = (self.corpus.text[inside] != self.corpus.text[places][:, None]) | (near != inside)
        windows: NDArray[np.int32] = np.where(is_other, np.int32(PAD), self.corpus.ids[inside])
        return windows

    def strings(self, places: Integers) -> Integers:
        """A misspelling of each of the words there, by its number."""
        words = self.corpus.ids[places]
        chosen = self.typos.first[words] + (self.rng.random(len(words)) * self.count[words]).astype(np.int64)
        return chosen

    def batch(self, size: int) -> tuple[NDArray[np.int32], Integers, Integers]:
        """Windows [size, PLACES], with words that are taken for unknown; strings [size]; and the words [known] that
        stand there, which come first."""
        new = int(NEW_SHARE * size) if len(self.new) else 0
        if self._next + size - new > len(self._order):
            self._order, self._next = self.rng.permutation(len(self.places)), 0
        places = self.places[self._order[self._next : self._next + size - new]]
        self._next += size - new
        others = self.new[self.rng.integers(0, len(self.new), new)] if new else np.zeros((0, 2), dtype=np.int64)
        windows = self.windows(np.concatenate([places, others[:, 0]]))
        share = np.where(self.rng.random(len(windows)) < 0.5, *UNSEEN_SHARES)[:, None]
        windows[(windows >= 0) & (self.rng.random(windows.shape) < share)] = NEW
        return windows, np.concatenate([self.strings(places), others[:, 1]]), self.corpus.ids[places]


class ContextNet(nn.Module):
    """The model of near/context.py in floating point."""

    def __init__(self, settings: ContextSettings, rows: Tensor, device: torch.device) -> None:
        super().__init__()
        self.settings, self.device, self.rows = settings, device, rows.to(device)
        width, hidden, heads, dim = settings.width, settings.hidden, settings.heads, rows.shape[1]
        self.frequent = min(settings.frequent, len(rows))
        self.projection = nn.Parameter(torch.randn(dim, width))
        self.own = nn.Parameter(torch.randn(self.frequent, width) * 0.3)
        self.own_bias = nn.Parameter(torch.zeros(self.frequent))
        self.signs = nn.Parameter(torch.randn(SIGN_ROWS - 1, width) * 0.5)
        self.first = nn.Linear(2 * settings.side * width, hidden)
        self.query = nn.Linear(hidden, heads * width)
        self.position_bias = nn.Parameter(torch.zeros(heads, PLACES))
        self.second = nn.Linear(hidden + heads * width, settings.inner)
        self.third = nn.Linear(settings.inner, hidden)
        self.row = nn.Linear(hidden, dim)
        self.own_row = nn.Linear(hidden, width)
        self.new = nn.Linear(hidden, 1)
        with torch.no_grad():
            self.row.weight.mul_(0.5)
            self.own_row.weight.mul_(0.3)
            self.new.weight.zero_()
        self.to(device)

    def embedded(self, windows: Tensor) -> Tensor:
        """[n, PLACES, width]"""
        distinct, number = torch.unique(windows, return_inverse=True)
        known = torch.nonzero(distinct >= 0)[:, 0]
        x = torch.zeros(len(distinct), self.settings.width, device=self.device)
        x = x.index_copy(0, known, (self.rows[distinct[known]] @ self.projection).float())
        own = torch.nonzero((distinct >= 0) & (distinct < self.frequent))[:, 0]
        x = x.index_add(0, own, self.own[distinct[own]])
        signs = torch.nonzero((distinct < 0) & (distinct != PAD))[:, 0]
        return x.index_add(0, signs, self.signs[-1 - distinct[signs]])[number]

    def hidden_of(self, windows: Tensor) -> dict[str, Tensor]:
        """What is computed on the way to y, by name."""
        x, side = self.embedded(windows), self.settings.side
        a = functional.relu(self.first(x[:, WINDOW - side : WINDOW + side].reshape(len(x), -1)))
        queries = self.query(a).view(len(x), self.settings.heads, self.settings.width)
        products = torch.einsum("nhd,npd->nhp", queries, x) / self.settings.width**0.5
        utility = (products + self.position_bias).float().masked_fill((windows == PAD)[:, None], -1e4)
        c = torch.einsum("nhp,npd->nhd", torch.softmax(utility, dim=-1), x).reshape(len(x), -1)
        inner = functional.relu(self.second(torch.cat([a, c], dim=1)))
        return {"x": x, "a": a, "query": queries, "inner": inner, "y": a + self.third(inner)}

    def forward(self, windows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """(O · y, G · y, z(new))"""
        y = self.hidden_of(windows)["y"]
        return self.row(y).float(), self.own_row(y).float(), self.new(y).float()[:, 0]

    def scores(self, expected: Tensor, frequent: Tensor, rows: Tensor) -> Tensor:
        """z of some rows for each window: [n, k]."""
        z = torch.einsum("nd,nkd->nk", expected, self.rows[rows.clamp(min=0)])
        is_own = (rows >= 0) & (rows < self.frequent)
        own = torch.where(is_own, rows, 0)
        return z + (torch.einsum("nd,nkd->nk", frequent, self.own[own]) + self.own_bias[own]) * is_own

    def scores_of_all(self, expected: Tensor, frequent: Tensor, rows: Tensor) -> Tensor:
        """z of the same rows for all windows: [n, k]."""
        is_own = (rows < self.frequent).float()
        own = torch.where(rows < self.frequent, rows, 0)
        return expected @ self.rows[rows].T + (frequent @ self.own[own].T + self.own_bias[own]) * is_own

    def loss(self, windows: Tensor, typos: tuple[Tensor, Tensor, Tensor], words: Tensor, correction: Tensor) -> Tensor:
        """The loss of a batch; `words` are the known words that stand at the first places."""
        rows, utility, right = typos
        expected, frequent, new = self(windows)
        z = torch.cat([self.scores(expected, frequent, rows), new[:, None], torch.zeros_like(new)[:, None]], dim=1)
        reading = functional.cross_entropy((z + utility).float(), right)
        half, others = len(words) // 2, torch.zeros((), device=self.device)
        for part in (slice(0, half), slice(half, 2 * half)):
            z = self.scores_of_all(expected[part], frequent[part], words[part]).float() + correction[words[part]]
            same = (words[part][:, None] == words[part]) & ~torch.eye(half, dtype=torch.bool, device=self.device)
            others = others + functional.cross_entropy(z.masked_fill(same, -1e4), torch.arange(half).to(self.device))
        return reading + BATCH_SHARE * others / 2


def _train(
    net: ContextNet,
    questions: Questions,
    settings: ContextSettings,
    rng: np.random.Generator,
    advance: Callable[..., None],
) -> None:
    optimiser = torch.optim.AdamW(net.parameters(), lr=settings.rate, weight_decay=0.01, betas=(0.9, 0.98))
    correction, typos = torch.from_numpy(questions.correction).to(net.device), questions.typos
    for step in range(settings.steps):
        rate = settings.rate * min(1, step / WARM_UP) * 0.5 * (1 + np.cos(np.pi * step / settings.steps))
        for group in optimiser.param_groups:
            group["lr"] = rate
        windows, strings, words = questions.batch(settings.batch)
        some = (torch.from_numpy(array[strings]).to(net.device) for array in typos[:3])
        rows, utility, right = some
        with torch.autocast(net.device.type, dtype=torch.bfloat16):
            asked = torch.from_numpy(words.astype(np.int64)).to(net.device)
            batch = torch.from_numpy(windows.astype(np.int64)).to(net.device)
            loss = net.loss(batch, (rows.long(), utility, right.long()), asked, correction)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        advance(1, note=f"loss {float(loss.detach()):.2f}" if step % 20 == 0 else "")


def _score(net: ContextNet, questions: Questions, strength: float) -> dict[str, float]:
    """Misspellings in the text that was held back: how many are read right alone, and in their sentences, in %."""
    places = questions.held[: 1 << 14]
    if not len(places):
        return {}
    strings = questions.strings(places)
    rows, utility, right = (torch.from_numpy(array[strings]) for array in questions.typos[:3])
    with torch.no_grad():
        windows = torch.from_numpy(questions.windows(places).astype(np.int64)).to(net.device)
        expected, frequent, _ = net(windows)
        z = net.scores(expected, frequent, rows.long().to(net.device)).cpu()
    alone = utility[:, : z.shape[1]]
    together = torch.where(rows >= 0, alone + strength * z, -1e9)
    percent = {"alone": alone.argmax(1) == right, "in_sentence": together.argmax(1) == right}
    return {name: round(100 * float(hits.float().mean()), 1) for name, hits in percent.items()}


def quantised(net: ContextNet, questions: Questions, strength: float) -> Context:
    """The trained model in whole numbers; what activations are at most is seen on words of the text."""
    sample = questions.places[questions.rng.integers(0, len(questions.places), 4096)]
    with torch.no_grad():
        windows = torch.from_numpy(questions.windows(sample).astype(np.int64)).to(net.device)
        seen = net.hidden_of(windows)
        own, own_scale = _columns(_numpy(net.own))
        outputs = {
            "row": net.row(seen["y"]),
            "frequent": net.own_row(seen["y"]) * torch.from_numpy(own_scale).to(net.device),
        }
        step = {name: _step(_numpy(array)) for name, array in {**seen, **outputs}.items()}
    projection, projection_scale = _columns(_numpy(net.projection))
    signs = np.concatenate([_numpy(net.signs) / step["x"], np.zeros((1, net.settings.width), dtype=np.float32)])
    both = np.concatenate([np.full(net.settings.hidden, step["a"]), np.full(net.query.out_features, step["x"])])
    layers = {
        "first": _layer(net.first, step["x"], step["a"]),
        "query": _layer(net.query, step["a"], step["query"]),
        "second": _layer(net.second, both, step["inner"]),
        "third": _layer(net.third, step["inner"], step["a"]),
        "row": _layer(net.row, step["a"], step["row"]),
        "frequent": _layer(net.own_row, step["a"], step["frequent"] / own_scale),
        "new": _layer(net.new, step["a"], 1.0),
    }
    products = step["query"] * step["x"] / net.settings.width**0.5
    often = -DUE * np.log(questions.drawn[: net.frequent]) / strength
    scales = [products, step["row"] / ROW_SCALE, step["frequent"], strength]
    return Context(
        projection=projection,
        projection_scale=(projection_scale / (ROW_SCALE * step["x"])).astype(np.float32),
        own=own,
        own_scale=(own_scale / step["x"]).astype(np.float32),
        own_bias=(_numpy(net.own_bias) + often).astype(np.float32),
        signs=np.clip(np.rint(signs), -MOST, MOST).astype(np.int16),
        layers=layers,
        position_bias=_numpy(net.position_bias),
        scales=np.array(scales, dtype=np.float32),
    )


def _numpy(tensor: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = tensor.detach().float().cpu().numpy().copy()
    return array


def _step(numbers: NDArray[np.float32]) -> float:
    """What 1 stands for among the whole numbers up to MOST."""
    return max(float(np.quantile(np.abs(numbers), 1 - CLIPPED)), 1e-6) * 1.05 / MOST


def _columns(weights: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Weights [inputs, outputs] in 8 bits, and what 1 stands for in each column."""
    scale = np.maximum(np.abs(weights).max(axis=0), 1e-9) / 127
    return np.rint(weights / scale).astype(np.int8), scale.astype(np.float32)


def _layer(linear: nn.Linear, step_in: float | NDArray[np.float64], step_out: float | NDArray[np.float32]) -> Layer:
    """A layer whose inputs and outputs are whole numbers, of which 1 stands for `step_in` and `step_out`."""
    weights = _numpy(linear.weight).T * np.broadcast_to(step_in, linear.in_features)[:, None]
    codes, scale = _columns(weights.astype(np.float32))
    return Layer(codes, (scale / step_out).astype(np.float32), (_numpy(linear.bias) / step_out).astype(np.float32))
