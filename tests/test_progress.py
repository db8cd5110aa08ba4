from __future__ import annotations

import io

from lovevec.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_pipe_gets_one_plain_line_a_phase():
    stream = io.StringIO()
    with Progress(stream=stream) as progress, progress.phase("reading", total=10, unit="rows") as phase:
        for _ in range(10):
            phase.advance(1, "loss 1.5")
    lines = stream.getvalue().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("reading")
    assert "10 rows" in lines[0]
    assert "loss 1.5" in lines[0]
    assert "\x1b" not in stream.getvalue()
    assert "reading" in progress.seconds


def test_a_terminal_gets_a_bar_redrawn_in_place():
    stream = Terminal()
    with Progress(stream=stream) as progress, progress.phase("training", total=4) as phase:
        phase.advance(2)
        phase.show(force=True)
    text = stream.getvalue()
    assert "50%" in text
    assert text.count("\n") == 1


def test_quiet_is_silent_but_keeps_time():
    stream = io.StringIO()
    with Progress(quiet=True, stream=stream) as progress, progress.phase("x") as phase:
        phase.advance(3)
        progress.say("hello")
    assert stream.getvalue() == ""
    assert progress.seconds["x"] >= 0


def test_a_resumed_phase_counts_only_its_own_work():
    stream = io.StringIO()
    with Progress(stream=stream) as progress, progress.phase("training", total=100, done=90) as phase:
        phase.advance(10)
    assert "10 words" in stream.getvalue()
    assert "100 words" not in stream.getvalue()


def test_what_is_soon_over_is_not_shown():
    for stream in (io.StringIO(), Terminal()):
        with Progress(stream=stream, delay=60) as progress, progress.phase("reading", total=10) as phase:
            phase.advance(10)
        assert stream.getvalue() == ""
        progress.say("hello")
        assert stream.getvalue().endswith("hello\n")


def test_a_pipe_gets_a_line_a_period_and_a_terminal_none_wider_than_it_is(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    pipe, terminal = io.StringIO(), Terminal()
    for stream in (pipe, terminal):
        with Progress(stream=stream, period=0.0) as progress, progress.phase("reading", total=3, unit="rows") as phase:
            for _ in range(3):
                phase.advance(note="a long note that no terminal of forty columns has room for")
    assert [line.split("|")[0] for line in pipe.getvalue().splitlines()[1:4]] == [
        "reading:  33%",
        "reading:  67%",
        "reading: 100%",
    ]
    assert max(map(len, terminal.getvalue().split("\r\x1b[K"))) <= 40
    assert terminal.getvalue().endswith("\n")


def test_a_phase_without_a_count_says_how_long_it_took():
    stream = io.StringIO()
    with Progress(stream=stream) as progress, progress.phase("saving"):
        pass
    assert stream.getvalue() == "saving: 00:00\n"
