"""Texts corrected."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.nasty import NASTY
from tests.texts.toy_language import TOPICS, sentences

from lovevec import LOVE
from lovevec.errors import LovevecError
from lovevec.texts.correct import Correction


@pytest.fixture(scope="module")
def love(toy_in_context) -> LOVE:
    return LOVE.load(toy_in_context)


@pytest.fixture(scope="module")
def shipped() -> LOVE:
    return LOVE.load()


def made_of(correction: Correction, text: str) -> str:
    """The text with the edits made by hand; each stands where it says."""
    pieces, end = [], 0
    for edit in correction.edits:
        assert end <= edit.start < edit.end <= len(text)
        assert text[edit.start : edit.end] == edit.before != edit.after
        assert 0 < edit.probability <= 1
        pieces += [text[end : edit.start], edit.after]
        end = edit.end
    return "".join(pieces) + text[end:]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("I recieve the goverment of my freind, tommorow.", "I receive the government of my friend, tomorrow."),
        ("Definately  a\twonderfull\n fi1m!", "Definitely  a\twonderful\n film!"),
        ("“Recieved” (yesterdy)…", "“Received” (yesterday)…"),
        ("TOMMOROW we go", "TOMORROW we go"),
        ("dont do that", "don't do that"),
        ("it happend alot", "it happened a lot"),
        ("500mg on 2024-01-05, 11pm, v2.0.1, #hubspot, anna@exampel.com", None),
        ("https://exampel.com/recieve the file C:\\recieve.txt, recieve.py", None),
        ("the goverment's plan, a freind’s house", "the government's plan, a friend’s house"),
        ("<recieve src=x> getRecieveBack recieve_file", None),
        ("<b>recieve</b> either/niether", "<b>receive</b> either/neither"),
        ("hip hop, the folk tale, doin' it, 5 km of Prof. Smith", None),
        ("NATO, the FBI and KCFT-32A", None),
        ("", None),
        ("   \n", None),
        ("🙂🙂 ❤", None),
    ],
)
def test_worked_examples(shipped, text, right):
    correction = shipped.correct(text)
    assert correction.text == (text if right is None else right)
    assert made_of(correction, text) == correction.text
    assert bool(correction.edits) == (right is not None)


def test_edits_say_what_was_changed_and_what_else_may_be_meant(shipped):
    (edit,) = shipped.correct("the Goverment").edits
    assert (edit.start, edit.end, edit.before, edit.after, edit.reading) == (4, 13, "Goverment", "Government", "near")
    assert edit.suggestions[0][0] == "Government"
    assert edit.suggestions[0][1] == pytest.approx(edit.probability)
    assert all(edit.suggestions[0][1] >= chance for _, chance in edit.suggestions)


def test_words_to_keep_and_the_threshold(shipped):
    text = "Teh goverment recieved it"
    kept = [edit.before for edit in shipped.correct(text, keep=["TEH", "goverment"]).edits]
    assert kept == ["recieved"]
    every = shipped.correct(text, threshold=0.01).edits
    some = shipped.correct(text, threshold=0.999999).edits
    assert {edit.before for edit in every} > {edit.before for edit in some}
    assert all(edit.probability >= 0.999999 for edit in some)


def test_names_inside_of_a_sentence_need_more_than_words(shipped):
    strings = "Goverment", "goverment"
    name, word = (shipped.correct(f"we saw the {string} there", threshold=1e-9).edits[0] for string in strings)
    assert name.probability < word.probability


def test_lists_iterators_and_single_texts_are_corrected_alike(shipped):
    texts = ["I recieve it", "", "fine", *("teh goverment " * 3,) * 300]
    one_by_one = [shipped.correct(text) for text in texts]
    assert shipped.correct(texts) == one_by_one
    assert list(shipped.correct(iter(texts))) == one_by_one


def test_the_sentence_chooses_the_correction(love):
    right = {"house": "the people of the lhouse and the mountain.", "horse": "the runner of the lhorse and the player."}
    for word, text in right.items():
        assert word in love.correct(text).text.split()


def test_a_known_word_is_corrected_where_another_one_is_meant(love):
    """Of sentences about one topic, with a word of another topic that is spelled like one of this one."""
    pairs = {"letter": "latter", "latter": "letter", "house": "horse", "horse": "house"}
    found = wrong = 0
    for text in sentences(500, 12):
        for word, other in pairs.items():
            if f" {word}" in text:
                edits = love.correct(text.replace(word, other)).edits
                found += any(edit.before == other and edit.after == word and edit.reading == "known" for edit in edits)
        wrong += len(love.correct(text).edits)
    assert found > 60
    assert wrong < found / 10


def test_a_model_without_context_corrects_no_known_words(shipped):
    plain = LOVE.load(spelling_only=True)
    assert plain.correct("I recieve form you").edits == ()
    words = [word for topic in TOPICS for word in topic]
    assert all(shipped.correct(word).text == word for word in words)


@given(
    st.text(max_size=60)
    | st.sampled_from(NASTY)
    | st.lists(st.sampled_from(["teh", "Recieve", "it's", "x", "(", "5mg", "\n"]), max_size=9).map(" ".join)
)
def test_any_text(text):
    correction = LOVED.correct(text)
    assert made_of(correction, text) == correction.text


LOVED = LOVE.load()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"threshold": 0}, "threshold is 0"),
        ({"threshold": 1.5}, "threshold is 1.5"),
        ({"threshold": "high"}, "threshold is 'high'"),
        ({"threshold": True}, "threshold is True"),
        ({"keep": "word"}, "keep is 'word': must be a list of words"),
        ({"keep": [5]}, "must be a list of words"),
        ({"keep": 5}, "must be a list of words"),
    ],
)
def test_bad_options_are_named(shipped, options, says):
    with pytest.raises(LovevecError, match=says):
        shipped.correct("teh", **options)


def test_what_is_no_text_is_named_by_its_place_in_a_stream(shipped):
    with pytest.raises(LovevecError, match="text 700"):
        list(shipped.correct(iter(["fine"] * 700 + [None])))


@pytest.mark.parametrize("texts", [["fine", None], [3], iter(["fine", b"x"])])
def test_what_is_no_text_is_named(shipped, texts):
    with pytest.raises(LovevecError, match="text"):
        list(shipped.correct(texts))
