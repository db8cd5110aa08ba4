"""`lovevec lexicon`: a model with more words that exist."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from lovevec.cli.shell import MODEL_HELP, describe
from lovevec.cli.terminal import say
from lovevec.errors import LovevecError

if TYPE_CHECKING:
    from lovevec.love import LOVE

ABOUT = """A model that takes fewer words for misspellings: words that exist (names, terms, brands) are put into its
lexicon. Such a word has no vector of its own (`lovevec with-words` gives it one), but it is no misspelling of another
word, unless that is overwhelmingly likelier. The lexicon stores no words, only which there are: two bytes for each."""
EXAMPLES = """\
A list has one word a line. A list of forms has a form a line, what it stands for, and how probably, tabs between:
  dont	don't	1
  u	you	0.9

examples:
  lovevec lexicon drugs.txt towns.txt -o my-model
  lovevec lexicon terms.txt -m my-model -o my-model --overwrite
  lovevec lexicon words.txt --replace -o my-model          # these words and the known ones, and no others
  lovevec lexicon --forms forms.tsv -o my-model"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, ABOUT, EXAMPLES)
    add = parser.add_argument
    add("lists", nargs="*", metavar="LIST", help="words that exist, one a line")
    add("--forms", metavar="FILE", help="forms that stand for known words, in the place of the model's")
    add("--replace", action="store_true", help="leave out what the model's lexicon has besides its known words")
    add("-o", "--output", metavar="FOLDER", required=True, help="the new model folder")
    add("-m", "--model", help=MODEL_HELP)
    add("--overwrite", action="store_true", help="replace the model that is there")
    add("-q", "--quiet", action="store_true", help="no summary")


def run(options: argparse.Namespace) -> None:
    from lovevec.files.lines import read_word_list
    from lovevec.love import LOVE
    from lovevec.near.forms import read_listed

    if not options.lists and not options.forms:
        raise LovevecError("no list of words and no --forms: name at least one file")
    refuse_model(Path(options.output), options.overwrite)
    words = [word for name in options.lists for word in read_word_list(Path(name))]
    forms = read_listed(Path(options.forms)) if options.forms else None
    love = LOVE.load(options.model)
    more = love.with_lexicon(words, forms=forms, replace=options.replace)
    more.save(options.output)
    spared = _newly_new(love, more, list(dict.fromkeys(words)))
    notes = [f"words put in: {len(words):,}; read as misspellings before, and as new words now: {spared:,}"]
    notes = [*(notes if words else []), *([f"forms: {len(forms):,}"] if forms is not None else [])]
    say(options.quiet, [*notes, f"{options.output}: {size_of(Path(options.output))}"])


def _newly_new(before: LOVE, after: LOVE, words: list[str]) -> int:
    """How many of the words were near and are new now."""
    pairs = zip(before.readings(words), after.readings(words), strict=True)
    return sum(one == "near" and other == "new" for one, other in pairs)


def refuse_model(folder: Path, overwrite: bool) -> None:
    """Do not write over a model by mistake."""
    from lovevec.model.folder import CONFIG

    if (folder / CONFIG).exists() and not overwrite:
        raise LovevecError(f"{folder}: holds a model already; choose another place, or --overwrite it")


def size_of(folder: Path) -> str:
    """How large a model folder is."""
    return f"{sum(file.stat().st_size for file in folder.iterdir() if file.is_file()) / 1e6:.1f} MB"
