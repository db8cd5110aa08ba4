"""The default model's target: vectors of words whose sum is all-mpnet-base-v2's vector of the sentence they stand in.

    python lab/runs/shipped_target.py words.txt corpus.txt all-mpnet-base-v2 -o target.npz [--device cuda]

words.txt has the known words, most frequent first (word_list.py), corpus.txt sentences (text_corpus.py). The
teacher's vectors of all sentences are centred and projected on their 300 main directions: y. Each word begins with the
teacher's vector of the word alone, as long as Arora's weight a / (a + p), and the rows r are then learned by Adam:

    z = Σ r(word) / |Σ r(word)|        loss = 1 - z · y + 100 · ((z zᵀ - y yᵀ)²) over the pairs of a batch

For every four sentences there is one phrase of two or three words drawn by the root of their frequency, so that rare
words are met too. The rows' lengths say how much a word counts in a text (`lovevec train --weights lengths`).

The 300 numbers are turned by a random rotation at the end. No cosine changes, but every number is about as large as any
other, so that a few bits for each are enough. Takes two minutes on an H200 and 10 GB of memory; hours on two cores.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import embedding_bag, normalize
from transformers import AutoModel, AutoTokenizer

from lovevec.near.parts import take_all_apart
from lovevec.progress import Progress
from lovevec.texts.text_reader import weights_by_rank
from lovevec.texts.tokens import runs_of

COMMON = 20_000  # the words whose mean is the centre of words
LONGEST, TOKENS = 64, 65_536  # tokens of a sentence, and of a batch
EPOCHS, RATE, BATCH, RELATIONS = 6, 0.01, 4096, 100.0


@torch.inference_mode()
def taught(texts: Sequence[str], folder: str, device: str, progress: Progress) -> torch.Tensor:
    """[texts, 768] of unit length: the mean of the last layer, as the teacher's authors take it."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, add_pooling_layer=False).to(device).eval()
    if device.startswith("cuda"):
        model = model.half()
    result = torch.empty(len(texts), model.config.hidden_size, dtype=torch.float16)
    order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
    with progress.phase("teacher", len(texts), "texts") as phase:
        while order:
            width = len(tokenizer(texts[order[-1]], truncation=True, max_length=LONGEST)["input_ids"]) + 8
            rows, order = order[-(TOKENS // width) :], order[: -(TOKENS // width)]
            given = tokenizer(
                [texts[row] for row in rows], truncation=True, max_length=LONGEST, padding=True, return_tensors="pt"
            ).to(device)
            mask = given["attention_mask"][..., None]
            hidden = model(input_ids=given["input_ids"], attention_mask=given["attention_mask"]).last_hidden_state
            mean = (hidden.float() * mask).sum(dim=1) / mask.sum(dim=1)
            result[rows] = normalize(mean, dim=1).half().cpu()
            phase.advance(len(rows))
    return result


def phrases(words: Sequence[str], count: int) -> list[str]:
    """Two or three words each."""
    rng = np.random.default_rng(0)
    chance = (1 / np.arange(10, 10 + len(words))) ** 0.5
    drawn = rng.choice(len(words), size=(count, 3), p=chance / chance.sum())
    return [" ".join(words[word] for word in row[: 2 + number % 2]) for number, row in enumerate(drawn.tolist())]


def bags(texts: Sequence[str], words: Sequence[str]) -> list[list[int]]:
    """The known words of each text."""
    place = {word: row for row, word in enumerate(words)}

    def rows_of(text: str) -> list[int]:
        runs = [run.lower() for run in runs_of(text)]
        apart = [
            run if run in place else one
            for run, one in zip(runs, take_all_apart(runs, place.__contains__), strict=True)
        ]
        found = [
            word for one in apart for word in ([one] if isinstance(one, str) else [part.text for part in one.parts])
        ]
        return [place[word] for word in found if word in place]

    return [rows_of(text) for text in texts]


def fit_rows(begin: torch.Tensor, rows: list[list[int]], taught: torch.Tensor, progress: Progress) -> torch.Tensor:
    """The rows whose sums have the directions that were taught."""
    flat = torch.tensor([word for row in rows for word in row], device=begin.device)
    ends = torch.tensor(np.cumsum([0, *map(len, rows)]), device=begin.device)
    learned = begin.clone().requires_grad_()
    steps = EPOCHS * (len(rows) // BATCH)
    adam = torch.optim.Adam([learned], lr=RATE)
    schedule = torch.optim.lr_scheduler.LinearLR(adam, 1.0, 0.0, max(steps, 1))
    generator = torch.Generator(begin.device).manual_seed(0)
    with progress.phase("fitting", steps, "steps") as phase:
        for _ in range(EPOCHS):
            for batch in torch.randperm(len(rows), generator=generator, device=begin.device).split(BATCH):
                if len(batch) < BATCH:
                    continue
                counts = ends[batch + 1] - ends[batch]
                offsets = counts.cumsum(0) - counts
                within = torch.arange(int(counts.sum()), device=begin.device) - offsets.repeat_interleave(counts)
                chosen = flat[within + ends[batch].repeat_interleave(counts)]
                made = normalize(embedding_bag(chosen, learned, offsets, mode="sum"), dim=1)
                wanted = taught[batch]
                loss = (1 - (made * wanted).sum(dim=1)).mean()
                loss = loss + RELATIONS * ((made @ made.T - wanted @ wanted.T) ** 2).mean()
                adam.zero_grad()
                loss.backward()
                adam.step()
                schedule.step()
                phase.advance(1, note=f"loss {float(loss.detach()):.3f}")
    return learned.detach()


def rotation(dim: int, seed: int = 0) -> np.ndarray:
    """A random rotation [dim, dim]."""
    turned, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((dim, dim)))
    return turned


def target(words: Sequence[str], corpus: Sequence[str], teacher: str, dim: int, device: str) -> np.ndarray:
    """[words, dim] with lengths."""
    progress = Progress()
    texts = [*corpus, *phrases(words, len(corpus) // 4)]
    sentences, alone = taught(texts, teacher, device, progress), taught(words, teacher, device, progress)
    rows = bags(texts, words)
    kept = [number for number, row in enumerate(rows) if row]
    center = sentences[: len(corpus)].float().mean(dim=0)
    off = sentences[: len(corpus)].to(device).float() - center.to(device)
    directions = torch.linalg.eigh((off.T @ off).double())[1].flip(1)[:, :dim].float()
    wanted = normalize((sentences[kept].to(device).float() - center.to(device)) @ directions, dim=1)
    single = alone.to(device).float()
    begin = normalize((single - single[:COMMON].mean(dim=0)) @ directions, dim=1)
    begin = begin * torch.from_numpy(weights_by_rank(len(words))).to(device)[:, None]
    learned = fit_rows(begin, [rows[number] for number in kept], wanted, progress)
    return learned.cpu().numpy() @ rotation(dim).astype(np.float32)


def main() -> None:
    """Put the target together."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", type=Path, help="known words, most frequent first")
    parser.add_argument("corpus", type=Path, help="sentences, one a line")
    parser.add_argument("teacher", help="folder of all-mpnet-base-v2")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--dim", type=int, default=300)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    given = parser.parse_args()
    words, corpus = (path.read_text("utf-8").splitlines() for path in (given.words, given.corpus))
    vectors = target(words, corpus, given.teacher, given.dim, given.device)
    np.savez(given.output, words=np.frombuffer("\n".join(words).encode(), np.uint8), vectors=vectors.astype(np.float16))
    print(f"{given.output}: {len(words):,} words, {given.dim} dimensions, from {len(corpus):,} sentences")


if __name__ == "__main__":
    main()
