"""`lovevec search`: what the library finds, for people, programs and tables."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import time

import pytest
from tests.command_line import command

from lovevec.search import Index

TEXTS = [
    "Wireless headphones, black",
    "A stand for headphones\n\tof oak",
    "Stainless steel kettle 1.7 l",
    "Vestergaard bookshelf",
    "Running shoes for women \x1b[31m",
]
IDS = ["H1", "H2", "K1", "B1", "S\x07"]


@pytest.fixture(scope="module")
def shop(tmp_path_factory, shipped_love):
    folder = tmp_path_factory.mktemp("search") / "shop"
    shipped_love.index(TEXTS, IDS).save(folder)
    return folder


@pytest.fixture(scope="module")
def index(shop, shipped_love) -> Index:
    return Index.load(shop, shipped_love)


def test_for_people(program, shop, index):
    done = program("search", shop, "wireles", "hedphones", "-k", "2")
    assert (done.returncode, done.stderr) == (0, b"")
    lines = done.stdout.decode().splitlines()
    hits = index.search("wireles hedphones", 2)
    assert [hit.id for hit in hits] == ["H1", "H2"]
    assert lines[0] == f"{hits[0].score:.2f}  H1  Wireless headphones, black"
    assert set(lines[1].strip().split(", ")) == {"wireles → wireless", "hedphones → headphones"}
    assert lines[2] == f"{hits[1].score:.2f}  H2  A stand for headphones of oak"
    assert lines[3].strip() == "hedphones → headphones"
    assert all(line.startswith(" " * 10) for line in (lines[1], lines[3]))


def test_options_stand_anywhere(program, shop):
    expected = program("search", "-k", "1", shop, "ketle steel").stdout
    assert b"Stainless steel kettle" in expected
    assert program("search", shop, "-k", "1", "ketle", "steel").stdout == expected
    assert program("search", shop, "ketle", "-k", "1", "steel").stdout == expected
    assert program("search", shop, "ketle", "steel", "-k1").stdout == expected


def test_why(program, shop, index):
    lines = program("search", shop, "--why", "-k", "1", "ketle 1.7l").stdout.decode().splitlines()
    why = index.search("ketle 1.7l", 1)[0].why
    share = next(met.share for met in why.met if met.query == "ketle")
    assert set(lines[1].strip().split(", ")) >= {f"ketle → kettle (near {share:.2f})", "1.7", "l"}
    assert lines[2].strip() == f"words {why.words:.2f} + letters {why.letters:.2f} + meaning {why.meaning:.2f}"


def test_nothing_of_a_text_is_acted_on(program, shop):
    shown = program("search", shop, "runing", "shoes", "\x1b]0;x\x07").stdout.decode()
    assert "Running shoes for women \\x1b[31m" in shown
    assert not re.search("[\0-\x08\x0b-\x1f\x7f]", shown)


def test_json_has_all(program, shop, index):
    done = program("search", shop, "--json", "--why", "wireles", "hedphones")
    assert done.stdout.isascii()
    found = json.loads(done.stdout)
    hits = index.search("wireles hedphones", 10)
    assert found["query"] == "wireles hedphones"
    assert [(hit["id"], hit["text"], hit["score"]) for hit in found["hits"]] == [
        (hit.id, hit.text, round(hit.score, 6)) for hit in hits
    ]
    assert found["hits"][0]["why"]["met"] == [
        {**met._asdict(), "share": round(met.share, 6)} for met in hits[0].why.met
    ]
    assert "why" not in json.loads(program("search", shop, "--json", "kettle").stdout)["hits"][0]


def test_lines_of_queries(program, shop, index, tmp_path):
    queries = ["ketle", "", "wireles\thedphones", "caf\udce9"]
    content = "\n".join(queries).encode("utf-8", "surrogateescape")
    done = program("search", shop, "-k", "2", input=content)
    assert done.returncode == 0, done.stderr
    expected = [
        [query.replace("\t", "\\t"), f"{hit.score:.4f}", str(hit.id), hit.text]
        for query, hits in zip(queries, index.search(queries, 2), strict=True)
        for hit in hits
    ]
    found = [line.split("\t") for line in done.stdout.decode("utf-8", "surrogateescape").splitlines()]
    assert [line[:2] for line in found] == [line[:2] for line in expected]
    assert found[0] == expected[0]
    (tmp_path / "q.txt").write_bytes(content)
    program("search", shop, "-k", "2", "-i", "q.txt", "-o", "found.tsv", "-q", cwd=tmp_path)
    assert (tmp_path / "found.tsv").read_bytes() == done.stdout
    lines = program("search", shop, "-k", "2", "--json", input=content).stdout.splitlines()
    assert [json.loads(line)["query"] for line in lines] == queries
    one = program("search", shop, "ketle", "-k", "2", "-o", "one.tsv", cwd=tmp_path)
    assert (one.returncode, one.stdout) == (0, b"")
    assert (tmp_path / "one.tsv").read_text("utf-8").startswith("ketle\t")


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_table_keeps_all_and_gets_its_hits(program, shop, index, tmp_path, kind):
    rows = [
        {"n": "1", "item": "ketle", "x": 'a "b"'},
        {"n": "2", "item": "", "x": ""},
        {"n": "3", "item": "shooes", "x": ","},
    ]
    if kind == "csv":
        file = io.StringIO()
        csv.DictWriter(file, ["n", "item", "x"]).writerows([{"n": "n", "item": "item", "x": "x"}, *rows])
        content = file.getvalue()
    else:
        content = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / f"t.{kind}").write_text(content, "utf-8", newline="")
    done = program("search", shop, "-i", f"t.{kind}", "--column", "item", "-k", "1", "-o", f"out.{kind}", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    text = (tmp_path / f"out.{kind}").read_text("utf-8")
    if kind == "csv":
        found = list(csv.DictReader(io.StringIO(text, newline="")))
        hits = [json.loads(row.pop("item_hits")) for row in found]
    else:
        found = [json.loads(line) for line in text.splitlines()]
        hits = [row.pop("item_hits") for row in found]
    assert found == rows
    assert [[hit["id"] for hit in some] for some in hits] == [["K1"], [], ["S\x07"]]
    assert hits[0] == [{"id": "K1", "text": TEXTS[2], "score": round(index.search("ketle", 1)[0].score, 6)}]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("absent", "a"), "absent: holds no index (config.json is missing)"),
        (("{shop}", ""), "the query is empty: say what you look for"),
        (("{shop}", "a", "-k", "0"), "-k is 0: must be at least 1, a whole number"),
        (("{shop}", "a", "-i", "t.csv"), "a query on the command line and -i or --column: name one of the two"),
        (("{shop}", "-i", "t.csv"), "t.csv: has columns; name that of the texts with --column"),
        (("{shop}", "-i", "t.csv", "--column", "b"), "t.csv: has no column 'b' but 'a'"),
        (("{shop}", "-i", "t.csv", "--column", "a", "--json"), "--json is for plain queries"),
        (("{shop}", "-i", "t.csv", "--column", "a", "-o", "t.csv"), "t.csv: is the input too"),
        (
            ("{shop}", "-i", "t.csv", "--column", "a", "-o", "t.parquet"),
            "t.parquet: the output is csv, as",
        ),
        (("{shop}", "-m", "{small}", "a"), "{shop}: was made with another model"),
        (("{small}", "a"), "{small}/config.json: is no index of format"),
        (("damaged", "a"), "damaged/index.safetensors: damaged"),
        (("encoded", "a"), "encoded: was made with an encoder of your own"),
    ],
)
def test_what_is_wrong_is_one_line(program, shop, small_model, shipped_love, tmp_path, arguments, message):
    (tmp_path / "t.csv").write_text("a\nketle\n")
    places = {"shop": str(shop), "small": str(small_model)}
    if arguments[0] == "damaged":
        shipped_love.index(TEXTS).save(tmp_path / "damaged")
        (tmp_path / "damaged" / "index.safetensors").write_bytes(b"12345678")
    if arguments[0] == "encoded":
        shipped_love.index(TEXTS, encoder=shipped_love).save(tmp_path / "encoded")
    done = program("search", *(word.format(**places) for word in arguments), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b""), done.stdout
    assert done.stderr.decode().startswith(f"lovevec: {message.format(**places)}"), done.stderr
    assert done.stderr.count(b"\n") == 1


def test_nothing_found_is_said(program, shop):
    done = program("search", shop, "qqxxzz")
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr == b"lovevec: nothing in 5 texts has anything to do with it\n"
    assert program("search", shop, "-q", "qqxxzz").stderr == b""


def test_more_hits_than_texts_are_asked_for(program, shop):
    assert len(json.loads(program("search", shop, "--json", "-k", "1000000000", "kettle").stdout)["hits"]) <= len(TEXTS)


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminals of this kind here")
def test_queries_are_asked_for_in_a_terminal(shop):
    """One after the other, until Ctrl-D; lines are cut at the width of the terminal."""
    ours, theirs = os.openpty()
    environment = os.environ | {"COLUMNS": "46", "TERM": "dumb"}
    process = subprocess.Popen(
        command("search", shop, "-k", "1"), stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    shown = ""

    def wait_for(text: str) -> None:
        nonlocal shown
        until = time.monotonic() + 60
        while text not in shown:
            assert time.monotonic() < until, shown
            shown += os.read(ours, 1000).decode("utf-8", "replace")

    try:
        wait_for("5 texts; type what you look for, Ctrl-D ends")
        wait_for("search> ")
        os.write(ours, b"a stnd for oak hedphones\n")
        wait_for("hedphones → headphones")
        assert "A stand for headphones of oak" in shown
        os.write(ours, b"\nketle\n")
        wait_for("ketle → kettle")
        shown = shown.rpartition("ketle → kettle")[2]
        wait_for("search> ")  # a Ctrl-D before the prompt would go astray
        os.write(ours, b"\x04")
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)
