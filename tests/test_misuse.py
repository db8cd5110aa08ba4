"""Whatever is given in an argument's place, the public methods answer or raise one of our own errors."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import pandas as pd
import pyarrow
import pytest

from lovevec import LOVE, Attached, LovevecError
from tests.test_learn import model_in_context

FRAME = pd.DataFrame({"word": ["a", "b"], "n": [1, 2]})
ODD = {
    "None": None,
    "a number": 5,
    "a fraction": 3.5,
    "NaN": float("nan"),
    "bytes": b"abc",
    "a frame": FRAME,
    "a column of numbers": FRAME.n,
    "an arrow table": pyarrow.table({"word": ["a"]}),
    "a list of None": [None],
    "a list of numbers": [1, 2],
    "a list of lists": [["a"]],
    "words and None": ["a", None],
    "a dict": {"a": 1},
    "a set": {"a"},
    "an object": object(),
    "a table of words": np.array([["a", "b"]]),
    "an array without axes": np.array("a"),
    "an array of numbers": np.array([1.0, 2.0]),
    "True": True,
    "a class": str,
    "a function": len,
    "a string": "xxx",
}
USUAL = {"word": "a", "words": ["a"], "texts": ["a b"], "text": "a", "a": "man", "b": "king", "c": "queen"}
USUAL |= {"one": ["a"], "other": ["b"], "folder": "model"}
# Of LOVE and Attached; what takes a hub's options, or the library's own objects, is checked where these are.
PUBLIC = (
    *("__getitem__", "lookup", "embed", "near", "readings", "confidence", "known", "impute", "neighbors", "analogy"),
    *("similar", "encode", "tokens", "correct", "explain"),
    *("with_words", "with_lexicon", "fitted", "learn", "forget", "save"),
)
OF_TEXTS = ("greatest", "weights_in", "counts", "with_weights", "parts_of")


@pytest.fixture(scope="module")
def love():
    return model_in_context()


@pytest.fixture(scope="module")
def attached(love):
    return Attached(love, {word: love[word] for word in love.words})


def misuses(owner: object, names: Sequence[str]) -> Iterator[tuple[str, partial]]:
    for name in names:
        method = getattr(owner, name, None)
        if method is None:
            continue
        parameters = [one for one in inspect.signature(method).parameters.values() if one.kind != one.VAR_KEYWORD]
        needed = {one.name: USUAL.get(one.name) for one in parameters if one.default is one.empty}
        for parameter in parameters:
            for what, value in ODD.items():
                call = partial(method, **needed | {parameter.name: value})
                yield f"{name}({parameter.name} = {what})", call


@pytest.mark.parametrize("kind", ["love", "attached", "text encoder"])
def test_odd_arguments_are_answered_or_refused_in_our_words(kind, love, attached, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    owner = {"love": love, "attached": attached, "text encoder": love.text_encoder()}[kind]
    bare, calls = [], 0
    for call, run in misuses(owner, OF_TEXTS if kind == "text encoder" else PUBLIC):
        calls += 1
        try:
            result = run()
            if isinstance(result, Iterator):
                list(result)
        except LovevecError as error:
            bare += [f"{call}: several lines"] * ("\n" in str(error))
        except Exception as error:  # noqa: BLE001  which is what this test looks for
            bare.append(f"{call}: {type(error).__name__}: {error!s:.60}")
    assert calls > 300 or kind == "text encoder"
    assert not bare


@pytest.mark.parametrize("name", ["impute", "embed", "near", "readings", "confidence", "known", "encode", "correct"])
def test_a_frame_is_never_taken_for_its_column_names(name, love):
    with pytest.raises(LovevecError, match="one of its columns"):
        getattr(love, name)(FRAME)


@pytest.mark.parametrize("name", ["encode", "greatest", "weights_in", "counts", "parts_of_texts"])
def test_one_text_is_never_taken_for_its_letters(name, love):
    with pytest.raises(LovevecError, match="not one string"):
        getattr(love.text_encoder(), name)("a text")


class Named(LOVE):
    """A subclass, as people make them."""


def test_a_pickled_subclass_is_still_one(love):
    named = Named(love.parts)
    again = pickle.loads(pickle.dumps(named))
    assert type(again) is Named
    assert type(named.copy()) is type(named.with_words(["vercel"])) is Named
    np.testing.assert_array_equal(again["qwerty"], named["qwerty"])


def test_an_empty_name_is_no_folder(love, tmp_path, monkeypatch):
    (tmp_path / "README.md").write_text("mine")
    monkeypatch.chdir(tmp_path)
    for save in (love.save, love.save_pretrained):
        with pytest.raises(LovevecError, match="folder is ''"):
            save("")
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]
    assert (tmp_path / "README.md").read_text() == "mine"
