"""How a language is written, as far as reading needs it: the channel, the lexicon, and forms of known words.

    channel   how words get damaged: what each kind of slip costs, what speaks for a new word (channel.py)
    lexicon   which words exist, and what words look like (lexicon.py)
    listed    forms that stand for known words: `dont`, `govt` (forms.py)
    language  which letters, keys and sounds there are (damage/languages.py)

Known words are no part of it: a table of vectors, a tokenizer and a model read by the same orthography, each among its
own words.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lovevec.damage.languages import ENGLISH, Language
from lovevec.near.channel import DEFAULT, Channel
from lovevec.near.forms import Listed
from lovevec.near.lexicon import Lexicon


@dataclass(frozen=True, eq=False)
class Orthography:
    """Channel, lexicon, listed forms and language; by default the channel that ships, an empty lexicon, no forms, and
    English."""

    channel: Channel = DEFAULT
    lexicon: Lexicon = field(default_factory=Lexicon.empty)
    listed: Listed = field(default_factory=dict)
    language: Language = field(default=ENGLISH)
