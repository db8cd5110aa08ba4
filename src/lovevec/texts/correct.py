"""Texts corrected: misspelled words, and known words in whose place another one was meant.

    "Ths recieve form my freind, teh 500mg."   ->   "This receive from my friend, the 500mg."

A word that is not known is corrected where the sentence and its spelling together make a known word, or several, likely
enough. A known word is corrected where the sentence speaks strongly for one that is easily taken for it:

    p(word | s, sentence) ∝ SLIPS · p(word | s as a misspelling) · exp(λ z(word | sentence))   for another word
                          ∝ p(s | s as a misspelling) · exp(λ z(s | sentence))                  for the word itself

What is right and changed is worse than what is wrong and stays: being new counts DOUBT times as much as in vectors, and
NAME times that for words with a capital inside of a sentence, most of which are names. Spacing, marks and capitals stay
as they are; numbers, codes, addresses, short words in capitals, and abbreviations are left alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.near import exact
from lovevec.near.kinds import WORD, Part
from lovevec.near.parts import POSSESSIVE
from lovevec.texts.sentence import STOP, TextParts, has_sentence, is_unknown, sign_between
from lovevec.texts.tokens import of_a_kind

if TYPE_CHECKING:
    from lovevec.near.readings import Readings
    from lovevec.texts.encoder import TextEncoder
    from lovevec.texts.text_reader import Token

THRESHOLD = 0.5  # probability of a correction that is made
DOUBT, NAME = 3.0, 7.0
SLIPS = 0.1  # of known words, that were written for another word
MIN_REAL = 0.7  # probability of another word, for a known one to be corrected
MIN_PARTS = 0.7  # of several words, for one to be taken apart
MAX_CAPITALS = 5  # letters of an abbreviation in capitals
LONGER = 3  # letters by which what an abbreviation stands for is longer
QUOTES = ("\n", '"', "“", "'", "‘", "*", "_")  # behind which a sentence may begin
BEFORE_CODE, BEHIND_CODE = "_<\\@#=${", "_>\\@={}"  # marks beside a word of an identifier, of markup, of a path
BLANKS = "\t\n\v\f\r "
SUGGESTIONS = 5
LEAST_SUGGESTION = 0.01  # probability
MIN_REAL_LENGTH = 2  # letters of a known word that may be wrong
TEXTS_PER_BATCH = 256


class Edit(NamedTuple):
    """A correction: what stood in the text from `start` to `end`, what stands there now, how probable that is, how the
    word was read (near, parts, or known: a word that exists, but not here), and what else may have been meant, with
    probabilities."""

    start: int
    end: int
    before: str
    after: str
    probability: float
    reading: str
    suggestions: tuple[tuple[str, float], ...]


class Correction(NamedTuple):
    """A text as it is to be read, and the edits that made it."""

    text: str
    edits: tuple[Edit, ...]


class Corrector:
    """Corrects texts by what a model knows.

    :param encoder: cuts texts into words and reads them.
    :param threshold: the least probability of a correction that is made.
    :param keep: words that stay as they are, in any case of letters.
    :param real_words: whether known words are corrected, too.
    """

    def __init__(
        self,
        encoder: TextEncoder,
        threshold: float = THRESHOLD,
        keep: Collection[str] = (),
        real_words: bool = True,
    ) -> None:
        self.encoder, self.threshold, self.real_words = encoder, threshold, real_words
        self.keep = frozenset(word.lower() for word in keep)

    def __call__(self, texts: Sequence[str]) -> Iterator[Correction]:
        """The corrections of texts, one after the other."""
        for low in range(0, len(texts), TEXTS_PER_BATCH):
            yield from self._correct(texts[low : low + TEXTS_PER_BATCH])

    def _correct(self, texts: Sequence[str]) -> Iterator[Correction]:
        encoder = self.encoder
        parts = encoder.parts_of_texts(texts)
        names = [place for place, is_name in enumerate(chain.from_iterable(map(_are_names, parts))) if is_name]
        is_name = np.zeros(sum(len(one.parts) for one in parts), dtype=np.bool_)
        is_name[names] = True
        doubt = np.where(is_name[is_unknown(parts)], DOUBT * NAME, DOUBT)
        alone = encoder.read_words(parts).with_new_divided(1 / doubt)
        tokens = encoder.tokens_of(parts, encoder.in_sentences(parts, alone))
        real = self._real_words(parts, alone, is_name) if self.real_words and encoder.source.sentences else {}
        first = 0
        for text, some in zip(texts, tokens, strict=True):
            edits = [
                self._edit(text, token, real.get(first + place), bool(is_name[first + place]))
                for place, token in enumerate(some)
            ]
            first += len(some)
            yield _corrected(text, [edit for edit in edits if edit is not None])

    def _edit(self, text: str, token: Token, other: tuple[str, float] | None, is_name: bool) -> Edit | None:
        """The correction of a word, None where it stays. `other` is the known word that is meant in the place of a
        known one, and how probably."""
        if token.text.lower() in self.keep or (_is_abbreviation(token.text) and not text.isupper()):
            return None
        if other is not None:
            token = token._replace(reading="near", word=other[0], probability=other[1], candidates=(other,))
        after = token.replacement
        if token.reading not in ("near", "parts") or token.probability < self.threshold or after == token.text:
            return None
        if _is_left_alone(text, token, is_name) or (token.reading == "parts" and token.probability < MIN_PARTS):
            return None
        if not token.candidates and token.reading == "near" and not self._is_torn(token.text):
            return None
        near = [(word, chance) for word, chance in token.candidates if chance >= LEAST_SUGGESTION]
        suggestions = [(token._replace(reading="near", word=word).replacement, chance) for word, chance in near]
        if token.reading == "parts":
            suggestions.insert(0, (after, token.probability))
        reading = "known" if other is not None else token.reading
        kept = 0 if POSSESSIVE.search(after) else len("".join(POSSESSIVE.findall(token.text)))  # the 's stays
        before, end = token.text[: len(token.text) - kept], token.end - kept
        return Edit(token.start, end, before, after, token.probability, reading, tuple(suggestions[:SUGGESTIONS]))

    def _is_torn(self, text: str) -> bool:
        """Whether one of two words is none by itself. Two that exist (hip hop, folk tale) may both be meant."""
        return bool((self.encoder.source.look_up(text.split())[0] < 0).any())

    def _real_words(
        self, texts: Sequence[TextParts], alone: Readings, is_name: NDArray[np.bool_]
    ) -> dict[int, tuple[str, float]]:
        """Known words in whose place another one is likelier than the threshold: by their numbers among the words of
        all texts, that word and its probability."""
        sentences, words = self.encoder.source.sentences, self.encoder.source.words
        assert sentences is not None
        rows = np.concatenate([one.rows for one in texts])
        may_be_wrong = [_may_be_wrong(one.text, part) for one in texts for part in one.parts]
        asked = (rows >= 0) & ~is_name & np.array(may_be_wrong, dtype=np.bool_)
        if not asked.any():
            return {}
        distinct, number = np.unique(rows[asked], return_inverse=True)
        readings = self.encoder.source.read([words[row] for row in distinct.tolist()])
        itself, is_word = readings.rows == distinct[:, None], readings.rows >= 0
        chances = np.where(itself, 1.0, SLIPS) * readings.probabilities
        has_others = (itself.any(axis=1) & (is_word & ~itself).any(axis=1))[number]
        asked[np.flatnonzero(asked)[~has_others]] = False
        number = number[has_others]
        if not len(number):
            return {}
        candidates, is_itself = readings.rows[number], itself[number]
        windows = sentences.windows(texts, alone, asked)
        utility = np.where(has_sentence(windows)[:, None], sentences.utility(windows, candidates)[:, :-1], 0.0)
        utility = np.where(candidates >= 0, utility, -np.inf)
        weights = chances[number] * exact.exp(utility - utility.max(axis=1, keepdims=True))
        posterior = weights / np.add.accumulate(weights, axis=1)[:, -1:]
        best, rows_of = posterior.argmax(axis=1), np.arange(len(number))
        likely = posterior[rows_of, best]
        chosen = ~is_itself[rows_of, best] & (likely >= max(self.threshold, MIN_REAL))
        others = [words[row] for row in candidates[rows_of, best][chosen].tolist()]
        meant = zip(others, likely[chosen].tolist(), strict=True)
        return dict(zip(np.flatnonzero(asked)[chosen].tolist(), meant, strict=True))


def _may_be_wrong(text: str, part: Part) -> bool:
    """Whether a known word may stand for another one: it has nothing but letters, and no hyphen beside it."""
    has_hyphen = "-" in (text[part.start - 1 : part.start], text[part.end : part.end + 1])
    is_word = part.how == WORD and len(part.text) >= MIN_REAL_LENGTH and part.text.replace("'", "").isalpha()
    return is_word and not has_hyphen


def _are_names(text: TextParts) -> Iterator[bool]:
    """Whether each word has a capital where no sentence begins."""
    end = 0
    for place, part in enumerate(text.parts):
        before = text.text[end : part.start].rstrip(" ")
        begins = place == 0 or before[-1:] in QUOTES or sign_between(text.text, end, part.start) == STOP
        yield text.text[part.start : part.start + 1].isupper() and not begins
        end = part.end


def _is_abbreviation(text: str) -> bool:
    return 1 < len(text) <= MAX_CAPITALS and text.isupper()


def _is_left_alone(text: str, token: Token, is_name: bool) -> bool:
    """Whether a word is written as it is for another reason than a slip: it stands in an address, code, markup or tag,
    is an abbreviation (Prof., 5 km), cut short (doin'), a name with capitals inside, hardly a word (4's), or has
    another hyphen than we would write."""
    before, after, behind = token.text, token.replacement, text[token.end : token.end + 1]
    ahead = text[token.start - 1 : token.start] if token.start else ""
    is_glued = ahead.isalnum() or behind.isalnum() or ahead in [*BEFORE_CODE] or behind in [*BEHIND_CODE]
    if is_glued or of_a_kind(_chunk(text, token)) is not None:
        return True
    if len(after) >= len(before) + LONGER and (is_name or behind == "." or text[: token.start].rstrip()[-1:].isdigit()):
        return True
    is_cut_short = after == before + "g" and behind in ("'", "’")
    has_hump = not before.isupper() and any(map(str.isupper, before[1:]))
    is_word = sum(map(str.isalpha, before)) >= MIN_REAL_LENGTH or before.isalpha()
    return is_cut_short or has_hump or not is_word or after.replace("-", "") == before.replace("-", "")


def _chunk(text: str, token: Token) -> str:
    """What stands between the blanks around a word."""
    start = max(text.rfind(blank, 0, token.start) for blank in BLANKS) + 1
    ends = [end for blank in BLANKS if (end := text.find(blank, token.end)) >= 0]
    return text[start : min(ends, default=len(text))]


def _corrected(text: str, edits: list[Edit]) -> Correction:
    pieces, end = [], 0
    for edit in edits:
        pieces += [text[end : edit.start], edit.after]
        end = edit.end
    return Correction("".join(pieces) + text[end:], tuple(edits))
