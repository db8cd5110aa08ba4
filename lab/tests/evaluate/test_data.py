from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from lovevec.errors import FormatError, LovevecError
from lovevec.files.lines import lines_of
from lovevec_lab.evaluate.classify import text_split
from lovevec_lab.evaluate.clusters import word_classes
from lovevec_lab.evaluate.datasets import SETS, data_folder, digest_of, find, names_of, read_several
from lovevec_lab.evaluate.similarity import similarity_set
from lovevec_lab.evaluate.tag import tag_split

DOCS = Path(__file__).parents[3] / "docs" / "data.md"


def put(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def put_split(folder: Path, ends: str = ".tsv", dev: str = "dev", content: str = "good film\tyes\nbad\tno\n") -> Path:
    for part in ("train", dev, "test"):
        put(folder / f"{part}{ends}", content)
    return folder


# Which folder


def test_the_folder_is_the_flag_else_the_variable_else_data(monkeypatch):
    monkeypatch.delenv("LOVEVEC_DATA", raising=False)
    assert data_folder() == Path("data")
    monkeypatch.setenv("LOVEVEC_DATA", "/elsewhere")
    assert data_folder(None) == Path("/elsewhere")
    assert data_folder("mine") == Path("mine")


def test_the_sets_of_the_paper_in_its_order():
    assert names_of("similarity") == ["RareWord", "SimLex", "MTurk", "MEN", "WordSim", "SimVerb"]
    assert names_of("clusters") == ["AP", "BLESS"]
    assert names_of("texts") == ["SST2", "MR"]
    assert names_of("tagged") == ["CoNLL03", "BC2GM"]


@pytest.mark.parametrize("name", SETS)
def test_a_missing_set_is_one_line_with_file_source_and_licence(name, tmp_path):
    listed = SETS[name]
    with pytest.raises(LovevecError) as caught:
        find(name, tmp_path)
    told = str(caught.value)
    assert "\n" not in told
    for part in (
        listed.name,
        str(tmp_path / listed.files[0]),
        listed.source,
        listed.licence,
        "with data or $LOVEVEC_DATA",
    ):
        assert part in told


@pytest.mark.parametrize("name", SETS)
def test_files_that_are_there_are_found_by_any_case_and_the_next_missing_one_is_told(name, tmp_path):
    listed = SETS[name]
    for file in listed.files[:-1]:
        put(tmp_path / file, "x")
    with pytest.raises(LovevecError, match=re.escape(str(tmp_path / listed.files[-1]))):
        find(name, tmp_path)
    put(tmp_path / listed.files[-1], "x")
    assert find(name.upper(), tmp_path) == find(name.lower(), tmp_path) == [tmp_path / file for file in listed.files]


def test_unknown_names_are_told_what_there_is(tmp_path):
    with pytest.raises(LovevecError, match=r"nosuch: no such set; there are RareWord, SimLex, .*Holbrook"):
        find("nosuch", tmp_path)
    with pytest.raises(LovevecError, match=r"nosuch: no such file, nor one of the sets AP, BLESS"):
        word_classes("nosuch", tmp_path)
    with pytest.raises(LovevecError, match=r"AP: no such file, nor one of the sets RareWord"):
        similarity_set("AP", tmp_path)
    with pytest.raises(LovevecError, match="no such file"):
        text_split("x" * 5000, tmp_path)


def test_the_documentation_lists_every_set_with_its_files_and_licence():
    rows = [line for line in DOCS.read_text("utf-8").splitlines() if line.startswith("|")]
    for listed in SETS.values():
        (row,) = (line for line in rows if line.startswith(f"| {listed.name} "))
        assert all(f"`{file}`" in row for file in listed.files)
        assert listed.licence in row


# Lines


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_the_same_lines_whatever_wrote_them(tmp_path, encoding, end, last):
    content = end.join(["naïve\tx", "", "two words\ty"]) + end * last
    assert lines_of(put(tmp_path / "x", content.encode(encoding))) == ["naïve\tx", "", "two words\ty"]


def test_only_line_feeds_end_lines(tmp_path):
    assert lines_of(put(tmp_path / "x", b"a\x85b\x0cc\x1dd\ne"), "latin-1") == ["a\x85b\x0cc\x1dd", "e"]
    assert lines_of(put(tmp_path / "x", "a\u2028b\n")) == ["a\u2028b"]


def test_what_is_not_utf8_is_told_with_its_line(tmp_path):
    path = put(tmp_path / "x", b"one\ntwo\ncaf\xe9\n")
    with pytest.raises(FormatError, match=r"x:3: is not UTF-8 text; save it as UTF-8"):
        lines_of(path)


def test_the_digest_is_of_the_content(tmp_path):
    one, other = put(tmp_path / "1", "a\nb"), put(tmp_path / "2", "c")
    first = digest_of([one, other])
    put(one, "a\n")
    put(other, "bc")
    assert digest_of([one, other]) != first  # the same bytes, cut elsewhere
    put(one, "a\nb")
    put(other, "c")
    assert digest_of([one, other]) == first
    assert digest_of([other, one]) != first


# GoldPairs

ROWS = {  # the first line of each of the paper's files
    "RareWord": "squishing\tsquirt\t5.88\t7\t7\t6\n",
    "SimLex": "0\told\tnew\t1.58\n",
    "MTurk": "0\taccess\tgateway\t3.791666667\n",
    "MEN": "sun\tsunlight\t50\n",
    "WordSim": "0\tcomputer\tkeyboard\t7.62\n",
    "SimVerb": "0\t6.81\ttake\tremove\tsynonyms\n",
}
EXPECTED = {
    "RareWord": ("squishing", "squirt", 5.88),
    "SimLex": ("old", "new", 1.58),
    "MTurk": ("access", "gateway", 3.791666667),
    "MEN": ("sun", "sunlight", 50),
    "WordSim": ("computer", "keyboard", 7.62),
    "SimVerb": ("take", "remove", 6.81),
}


@pytest.mark.parametrize("name", ROWS)
def test_each_similarity_set_has_its_own_columns(name, tmp_path):
    zero = ROWS[name].replace(f"\t{EXPECTED[name][2]}", "\t0")
    put(tmp_path / SETS[name.lower()].files[0], ROWS[name] * 2 + zero)
    found = similarity_set(name, tmp_path)
    assert found.name == name
    rows = list(zip(found.left, found.right, found.gold.tolist(), strict=True))
    assert rows == [EXPECTED[name], EXPECTED[name], (*EXPECTED[name][:2], 0)]


def test_own_pairs(tmp_path):
    path = put(tmp_path / "mine.tsv", "\ufeffone\t two\t3\r\n\r\nice cream\tsundae\t-1e2\tmore\r\nü\tu\t0.5")
    found = similarity_set(str(path), tmp_path)
    assert (found.name, found.left, found.right) == ("mine", ["one", "ice cream", "ü"], ["two", "sundae", "u"])
    np.testing.assert_array_equal(found.gold, [3, -100, 0.5])


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("one two 3", "word1, word2, score with tabs between expected, found 1 columns"),
        ("one\ttwo", "found 2 columns"),
        ("one\t\t3", "a word is missing"),
        (" \ttwo\t3", "a word is missing"),
        ("word1\tword2\tscore", "the score must be a number, not 'score' (and no header line)"),
        ("one\ttwo\tnan", "the score must be a number"),
        ("one\ttwo\tinf", "the score must be a number"),
    ],
)
def test_bad_pairs_are_told_with_their_line(tmp_path, line, problem):
    path = put(tmp_path / "x.tsv", f"a\tb\t1\nc\td\t2\n{line}\ne\tf\t3\n")
    with pytest.raises(FormatError) as caught:
        similarity_set(str(path), tmp_path)
    assert str(caught.value).startswith(f"{path}:3: ")
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("content", "problem"),
    [("", "no data"), ("\n \n", "no data"), ("a\tb\t1\n", "has 1 pairs"), ("a\tb\t1\n" * 3, "one score")],
)
def test_files_with_too_little_are_refused(tmp_path, content, problem):
    with pytest.raises(FormatError, match=problem):
        similarity_set(str(put(tmp_path / "x.tsv", content)), tmp_path)


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(FormatError, match=r"cannot be read \(Is a directory\)"):
        similarity_set(str(tmp_path), tmp_path)


def test_several_sets_are_read_once_and_go_by_their_paths_where_names_are_the_same(tmp_path):
    files = [put(tmp_path / name, "a\tb\t1\nc\td\t2\ne\tf\t3\n") for name in ("1/x.tsv", "2/x.tsv", "2/y.tsv")]
    names = [str(file) for file in files]
    found = read_several(similarity_set, [*names, names[0]], tmp_path)
    assert [one.name for one in found] == [names[0], names[1], "y"]


# WordClasses


def test_classes(tmp_path):
    put(tmp_path / "clustering" / "ap.tsv", "acne\tillness\nanthrax\tillness\noak\ttree\n")
    found = word_classes("ap", tmp_path)
    assert (found.name, found.words) == ("AP", ["acne", "anthrax", "oak"])
    assert found.classes == ["illness", "illness", "tree"]


@pytest.mark.parametrize("line", ["oak tree", "oak\t", "\ttree", "oak\ttree\tplant"])
def test_bad_classes_are_told_with_their_line(tmp_path, line):
    path = put(tmp_path / "x.tsv", f"acne\tillness\n\n{line}\n")
    with pytest.raises(FormatError, match=r"x.tsv:3: a word and its class with a tab between expected"):
        word_classes(str(path), tmp_path)


def test_one_class_is_nothing_to_tell_apart(tmp_path):
    with pytest.raises(FormatError, match="all words are of one class"):
        word_classes(str(put(tmp_path / "x.tsv", "oak\ttree\nelm\ttree\n")), tmp_path)


# Texts


def test_texts_of_an_own_folder(tmp_path):
    folder = put_split(tmp_path / "reviews", content="a  good\u00a0film ,\tyes\r\nwith\ta tab\tno\r\n")
    found = text_split(str(folder))
    assert found.name == "reviews"
    for part in (found.train, found.dev, found.test):
        assert part.sentences == [["a", "good", "film", ","], ["with", "a", "tab"]]
        assert part.labels == ["yes", "no"]


def test_sst2_is_read_from_its_three_files(tmp_path):
    for number, part in enumerate(("train", "dev", "test")):
        put(tmp_path / "sst2" / f"{part}.tsv", f"good {part}\t1\nbad\t0\n" + "more\t1\n" * number)
    found = text_split("sst2", tmp_path)
    assert found.name == "SST2"
    assert [len(part.labels) for part in (found.train, found.dev, found.test)] == [2, 3, 4]
    assert found.dev.sentences[0] == ["good", "dev"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("no label here", "the tab between sentence and label is missing"),
        ("no label\t ", "the label is missing"),
        ("  \tyes", "the sentence is missing"),
    ],
)
def test_bad_texts_are_told_with_their_line(tmp_path, line, problem):
    folder = put_split(tmp_path / "mine")
    put(folder / "dev.tsv", f"good\tyes\n{line}\n")
    with pytest.raises(FormatError, match=rf"dev.tsv:2: {problem}"):
        text_split(str(folder))


def test_labels_that_training_has_not_are_told(tmp_path):
    folder = put_split(tmp_path / "mine")
    put(folder / "test.tsv", "so so\tmaybe\n")
    with pytest.raises(FormatError, match=r"test.tsv: has labels that train.tsv has not: maybe"):
        text_split(str(folder))
    put_split(folder, content="good\tyes\n")
    with pytest.raises(FormatError, match="all sentences have one label"):
        text_split(str(folder))


def test_a_folder_without_a_part_is_told(tmp_path):
    folder = put_split(tmp_path / "mine")
    (folder / "dev.tsv").unlink()
    with pytest.raises(LovevecError, match=r"own texts are a folder with train.tsv, dev.tsv and test.tsv; no dev.tsv"):
        text_split(str(folder))


@pytest.fixture
def reviews(tmp_path) -> Path:
    """Movie Reviews in small: Latin-1, with the control character that Python would end a line at."""
    for kind, count in (("neg", 50), ("pos", 30)):
        lines = [f"{kind} clich\xe9 {number} \x85 end . " for number in range(count)]
        put(tmp_path / "mr" / f"rt-polarity.{kind}", "\n".join(lines).encode("latin-1") + b"\n")
    return tmp_path


def test_movie_reviews_are_split_once_and_for_all_each_label_alike(reviews):
    found = text_split("mr", reviews)
    parts = (found.train, found.dev, found.test)
    assert [Counter(part.labels) for part in parts] == [
        {"neg": 40, "pos": 24},
        {"neg": 5, "pos": 3},
        {"neg": 5, "pos": 3},
    ]
    sentences = [" ".join(sentence) for part in parts for sentence in part.sentences]
    assert sorted(sentences) == sorted(
        f"{kind} cliché {number} end ." for kind, count in (("neg", 50), ("pos", 30)) for number in range(count)
    )
    assert all(s[0] == label for part in parts for s, label in zip(part.sentences, part.labels, strict=True))
    assert found.train.labels != sorted(found.train.labels)  # no class after the other
    assert text_split("MR", reviews) == found
    other = text_split("mr", reviews, seed=1)
    assert other.train != found.train
    assert other.digest != found.digest


# Tagged


@pytest.mark.parametrize(("ends", "dev"), [(".txt", "valid"), (".tsv", "devel"), (".txt", "dev")])
def test_tagged_text_of_an_own_folder(tmp_path, ends, dev):
    content = "\n-DOCSTART- -X- -X- O\n\nEU NNP B-NP B-ORG\nrejects VBZ B-VP O\n\n\n\nPeter  NNP I-PER"
    found = tag_split(str(put_split(tmp_path / "mine", ends, dev, content)))
    assert found.name == "mine"
    for part in (found.train, found.dev, found.test):
        assert part.sentences == [["EU", "rejects"], ["Peter"]]
        assert part.tags == [["B-ORG", "O"], ["I-PER"]]


def test_tabs_separate_where_there_are_any(tmp_path):
    content = "new york\tB-LOC\r\n \r\nit\u00a0is\tx\tO\r\n"
    found = tag_split(str(put_split(tmp_path / "mine", content=content)))
    assert found.train.sentences == [["new york"], ["it\u00a0is"]]
    assert found.train.tags == [["B-LOC"], ["O"]]


def test_bc2gm_is_read_from_its_three_files(tmp_path):
    for part in ("train", "devel", "test"):
        put(tmp_path / "bc2gm" / f"{part}.tsv", f"{part}\tO\nS\tB-GENE\n\n")
    found = tag_split("bc2gm", tmp_path)
    assert [part.sentences for part in (found.train, found.dev, found.test)] == [
        [[part, "S"]] for part in ("train", "devel", "test")
    ]


@pytest.mark.parametrize("line", ["word", "word\t", "\tO"])
def test_bad_tags_are_told_with_their_line(tmp_path, line):
    folder = put_split(tmp_path / "mine", ".txt", content="EU B-ORG\n")
    put(folder / "test.txt", f"EU B-ORG\n\n{line}\n")
    with pytest.raises(FormatError, match=r"test.txt:3: a token and its tag expected"):
        tag_split(str(folder))


def test_what_is_no_tag_and_text_without_entities_are_told_at_once(tmp_path):
    folder = put_split(tmp_path / "mine", ".txt", content="-DOCSTART- -X-\n\nEU B-ORG\n")
    put(folder / "dev.txt", "EU B-ORG\nhe PRP\n")
    with pytest.raises(FormatError, match=r"dev.txt:2: tag 'PRP': expected O, or B-"):
        tag_split(str(folder))
    put(folder / "dev.txt", "EU O\n\nhe O\n")
    with pytest.raises(FormatError, match=r"dev.txt: all tags are O; no entity to find"):
        tag_split(str(folder))


def test_tagged_text_that_is_not_there_is_told(tmp_path):
    folder = put_split(tmp_path / "mine", ".txt", content="-DOCSTART- O\n\n")
    with pytest.raises(FormatError, match=r"train.txt: holds no sentences"):
        tag_split(str(folder))
    (folder / "dev.txt").unlink()
    with pytest.raises(LovevecError, match=r"needs a file dev or valid or devel there, .txt or .tsv"):
        tag_split(str(folder))
