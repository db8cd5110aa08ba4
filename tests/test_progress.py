from __future__ import annotations

import io

import pytest

from lovevec.progress import Progress, clock, pace


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


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.44, "0.4 s"), (9.96, "10 s"), (59.4, "59 s"), (205, "3:25"), (3723, "1:02:03")]
)
def test_clock(seconds, text):
    assert clock(seconds) == text


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (12_345.6, "12,346 runs/s"),
        (1.0, "1 runs/s"),
        (0.5, "30.0 runs/min"),
        (1 / 60, "1.0 runs/min"),
        (0.01, "36.0 runs/h"),
    ],
)
def test_a_slow_pace_is_told_a_minute_or_an_hour_and_never_as_nothing(rate, text):
    assert pace(rate, " runs") == text
