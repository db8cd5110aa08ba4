"""All settings of a training run in one typed object: checked, documented, written to and read from JSON.

The command line's flags are these fields. Defaults are the paper's (its appendix lists them), except for

    batch            256 words beside their hard negatives; the authors' code has 4, the paper names none
    schedule         the learning rate falls to zero; the paper names one rate, 0.002
    position_power   s = d^0.25, as in the authors' code; the paper prints √d
    vocabulary       30,000 pieces learned from the target's own words; the paper takes WordPiece's, as BERT does
    holdout          1 % of the words are kept back, to score the model

docs/results/training.md measures the first four. The paper says nothing of `key_width`, `synonym_similarity`,
`synonyms` and what stands under "readings".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, asdict, dataclass, field, fields, replace
from math import isfinite
from typing import Any, get_args, get_type_hints

from lovevec.damage.languages import language_of
from lovevec.engine.fold import ENCODERS, EncoderKind, EncoderSpec
from lovevec.errors import LovevecError, Parameter
from lovevec.model.known_rows import ROW_PRECISIONS, TEXT_WEIGHTS
from lovevec.train.augmentation import AUGMENTATIONS
from lovevec.units.mixed_input import INPUT_MODES, InputMode
from lovevec.units.vocabulary import SHRINKS, Shrink

LOSSES = ("contrastive", "mse", "alignment")
PRECISIONS = ("float32", "bfloat16")
SCHEDULES = ("linear", "constant")
FACTOR = 200


# `group` begins a group of settings, which goes on to the next field that names one; `basic` marks those that people
# use first, which `lovevec train --help` explains.
def _setting(default: Any, help: str, choices: tuple[str, ...] = (), **marks: Any) -> Any:
    return field(default=default, metadata={"help": help, "choices": choices, **marks})


def _share(default: float, help: str, **marks: Any) -> Any:
    return field(default=default, metadata={"help": help, "range": (0.0, 1.0), **marks})


def _from(default: Any, low: float, help: str, most: float = 1e6, **marks: Any) -> Any:
    """A number; `most` is far above what makes sense, and keeps a slip of the finger from asking for terabytes."""
    return field(default=default, metadata={"help": help, "range": (low, most), **marks})


@dataclass(frozen=True, kw_only=True)
class PrepareSettings:
    """What `lovevec prepare` does once: the words, their units, their synonyms and their hard negatives."""

    limit: int = _from(
        0, 0, "use the first so many words of the target; 0 takes all", 1e9,
        group="words (fixed once prepared)", basic=True,
    )  # fmt: skip
    lowercase: bool | None = _setting(
        None, "lower-case all words, as the paper does; by default all but those of a cased transformer", basic=True
    )
    input: InputMode = _setting("mixed", "units of a word: characters and pieces, or one of them", INPUT_MODES)
    words: str = _setting("", "the word list, one a line, of a .npy or .safetensors file that has none", file=True)
    vocabulary: str = _setting(
        "", "a WordPiece vocab.txt (BERT's format) instead of pieces learned from the words", file=True
    )
    vocabulary_size: int = _from(30_000, 100, "how many pieces to learn", basic=True)
    shrink: Shrink = _setting("stem", "how to shrink the unit vocabulary", SHRINKS)
    keep: int = _from(20_000, 100, "units that `top` keeps, buckets that `hash` uses")
    factor: int = _from(0, 0, "rows of h numbers times one matrix, with any way to shrink; 0 is none, 200 for `factor`")
    ngrams: int = _from(0, 0, "rows that hashed n-grams of 3 and 4 characters share; 0 is none, as in the paper", 1e8)
    synonym_similarity: float = _share(0.6, "least cosine in the target at which words count as synonyms")
    synonyms: int = _from(10, 0, "most synonyms of a word")
    negatives: int = _from(100, 0, "look-alikes kept for each word, by edit distance")

    def __post_init__(self) -> None:
        _check(self)

    @property
    def row_width(self) -> int:
        """h, how many numbers a row of the table has; 0 is as many as the target's vectors."""
        return self.factor or (FACTOR if self.shrink == "factor" else 0)


@dataclass(frozen=True, kw_only=True)
class TrainSettings:
    """What a training run does with prepared words: the encoder, the loss, the augmentation, the run itself."""

    encoder: EncoderKind = _setting("positional", "how units become a vector", ENCODERS, group="encoder")
    key_width: int = _from(32, 1, "width k of queries and keys", 16_384)
    position_power: float = _share(0.25, "s = d to this power in softmax(P Pᵀ / s); the paper prints 0.5")
    head: int = _from(0, 0, "hidden width of a word-level MLP behind the encoder; 0 is none", 65_536)

    loss: str = _setting("contrastive", "what to minimise", LOSSES, group="loss")
    temperature: float = _from(0.07, 1e-3, "τ of the contrastive loss")

    swap: float = _share(0.07, "probability: two neighboring characters change places", group="augmentation")
    drop: float = _share(0.07, "probability: a character is left out")
    insert: float = _share(0.07, "probability: a character too many")
    keyboard: float = _share(0.07, "probability: a neighboring key instead")
    sound: float = _share(0.0, "probability: a spelling that sounds alike, as in nife; not in the paper")
    scan: float = _share(0.0, "probability: a character that prints alike instead, as in bec0me; not in the paper")
    synonym: float = _share(0.36, "probability: a synonym instead")
    none: float = _share(0.36, "probability: the word itself")
    twice: float = _share(0.0, "probability that a damaged word is damaged once more")
    hard_negatives: int = _from(3, 0, "look-alikes that join the batch for each word", group="run")

    epochs: int = _from(20, 1, "passes over the target's words", basic=True)
    batch: int = _from(256, 1, "words per step, besides their hard negatives", basic=True)
    learning_rate: float = _from(0.002, 0.0, "of Adam", 1e300, basic=True)
    schedule: str = _setting("linear", "learning rate over the run: falling to zero, or constant", SCHEDULES)
    dropout: float = _share(0.2, "share of units that a step leaves out")
    holdout: float = _share(0.01, "share of the words kept back, to score the model", basic=True)

    language: str = _setting(
        "",
        "code of the words' language, as de: its keyboard, marks and sounds; by default guessed from the words",
        basic=True,
    )
    seed: int = _from(0, 0, "decides every random draw", 2**63 - 1, basic=True)
    device: str = _setting("auto", "auto, cpu, cuda, cuda:1, mps …", basic=True)
    precision: str = _setting("float32", "arithmetic inside the encoder", PRECISIONS)
    checkpoint_minutes: float = _from(2.0, 0.0, "save so often what resuming needs; 0 saves after each epoch only")

    rows: str = _setting(
        "int8", "how the known words' own vectors are kept in the model", ROW_PRECISIONS, group="readings"
    )
    weights: str = _setting(
        "rank", "how much a word counts in a text: by its place in the target, or its vector's length", TEXT_WEIGHTS
    )
    misspellings: str = _setting(
        "", "real misspellings to fit the channel to besides damaged words: right word, tab, wrong one", file=True
    )
    lexicon: str = _setting(
        "", "words that exist besides the target's, one a line: a string among them is no misspelling", file=True
    )
    forms: str = _setting(
        "",
        "forms that stand for known words, as `dont` for don't: form, tab, word or words, tab, probability",
        file=True,
    )

    transliterated: bool = _setting(
        False, "also read Cyrillic and Greek words that are written in Latin letters, as privet"
    )

    def __post_init__(self) -> None:
        _check(self)
        if self.language:
            language_of(self.language)
        if not sum(self.augmentation.values()) > 0:
            raise LovevecError("the augmentation probabilities are all zero: set at least `none` above zero")
        if self.dropout >= 1 or self.holdout >= 1:
            raise LovevecError(f"{Parameter('dropout')} and {Parameter('holdout')} must stay below 1")

    @property
    def augmentation(self) -> dict[str, float]:
        """The probability of each kind of augmentation, by its name; they need not add up to one."""
        return {kind: getattr(self, kind) for kind in AUGMENTATIONS}

    def spec(self, dim: int) -> EncoderSpec:
        return EncoderSpec(self.encoder, dim, self.key_width, float(dim**self.position_power), self.head)


@dataclass(frozen=True, kw_only=True)
class Settings(PrepareSettings, TrainSettings):
    """Everything from vectors to model, for `train(target, settings)` and `lovevec train`.

    Checked when it is made: a value of the wrong type or out of range is an error that names the setting.

        settings = Settings(epochs=40, swap=0.1, seed=7)
    """

    def __post_init__(self) -> None:
        TrainSettings.__post_init__(self)

    def prepare_part(self) -> PrepareSettings:
        return PrepareSettings(**{name: getattr(self, name) for name in names(PrepareSettings)})

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Settings:
        """Read back what `as_dict` gave; an unknown name or a wrong value is an error that says which."""
        if unknown := sorted(set(values) - set(names(cls))):
            raise LovevecError(f"unknown settings: {', '.join(unknown):.200}; known are {', '.join(names(cls))}")
        return cls(**values)


def with_files(settings: Any, change: Callable[[str], str]) -> Any:
    """The same settings with `change` done to each file that they name."""
    files = {part.name: getattr(settings, part.name) for part in fields(settings) if part.metadata.get("file")}
    return replace(settings, **{name: change(value) for name, value in files.items() if value})


def names(kind: type) -> list[str]:
    """The names of the settings in a settings class, in their order."""
    return [part.name for part in fields(kind)]


def by_group(kind: type) -> dict[str, list[Field[Any]]]:
    """The fields of a settings class by the group that they belong to, groups and fields in their order."""
    groups: dict[str, list[Field[Any]]] = {}
    group = ""
    for setting in fields(kind):
        group = setting.metadata.get("group", group)
        groups.setdefault(group, []).append(setting)
    return groups


def _check(settings: Any) -> None:
    """Types, choices and ranges of every field; the error names the field and what would do."""
    hints = get_type_hints(type(settings))
    for part in fields(settings):
        value, kind = getattr(settings, part.name), hints[part.name]
        if kind == bool | None:
            if value is None:
                continue
            kind = bool
        choices = part.metadata.get("choices") or get_args(kind)
        if choices and value not in choices:
            raise LovevecError(f"{Parameter(part.name)} is {value!r:.60}: choose one of {', '.join(map(str, choices))}")
        if kind is float and type(value) is int and abs(value) < 1e300:
            object.__setattr__(settings, part.name, value := float(value))  # still under construction
        if kind in (int, float, str, bool) and type(value) is not kind:
            raise LovevecError(f"{Parameter(part.name)} is {value!r:.60}: expected {kind.__name__}")
        low, high = part.metadata.get("range", (None, None))
        if low is not None and not (low <= value <= high and isfinite(value)):
            bounds = f"at least {low:g}" if high > 1 and not value > high else f"from {low:g} to {high:,.0f}"
            raise LovevecError(f"{Parameter(part.name)} is {value!s:.60}: must be {bounds}")


# Settings that go together, by one name: `lovevec train … --preset typos`. A setting given beside it wins.
#   paper    the defaults: the paper's, with the exceptions that the first lines of this file list
#   recipe   "LOVE (our recipe)" of docs/results: n-grams as a bag beside attention, rows of 165 numbers times a matrix,
#            sound-alike spellings, look-alike characters, double damage, 40 epochs. The shipped models have settings of
#            their own (lab/runs/recipe.sh): minilm-input nearly these, the default model others, NEW_WORDS
#   typos    the recipe with three times the parameters, more and harder damage, a lower temperature: for words that are
#            meant to be found again, as inside BERT-like models (docs/results/transformers.md). Similarity suffers
RECIPE: dict[str, Any] = (
    {"ngrams": 15_000, "factor": 165, "negatives": 15, "hard_negatives": 7}
    | {"swap": 0.09, "drop": 0.09, "insert": 0.09, "keyboard": 0.06, "sound": 0.16, "scan": 0.24, "twice": 0.35}
    | {"synonym": 0.1, "none": 0.2, "temperature": 0.08, "dropout": 0.1, "learning_rate": 0.003, "epochs": 40}
)
TYPOS: dict[str, Any] = (
    RECIPE
    | {"ngrams": 30_000, "factor": 0, "sound": 0.12, "scan": 0.4, "twice": 0.5}
    | {"temperature": 0.06, "epochs": 70}
)
PRESETS: dict[str, dict[str, Any]] = {"paper": {}, "recipe": RECIPE, "typos": TYPOS}
