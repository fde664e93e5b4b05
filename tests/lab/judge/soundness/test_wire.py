"""Waits of the length of TCP's timers, from made-up samples."""

import struct
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from regatta.judge.analyse import analyse
from regatta.judge.results import Analysis
from regatta.record.read import read
from regatta.show.notes import notes
from tests.lab.synthetic import make

MS = 1_000_000


def samples(wait_ms: float, tail_ms: float, usual: int) -> bytes:
    """A hundred requests; all but `usual` of them wait so long."""
    head = struct.pack("<8sIIQq", b"RGSAMPL1", 32, 0, 100, 0)
    body = b""
    for at in range(100):
        wait, tail = (0.2, 0.0) if at < usual else (wait_ms, tail_ms)
        first = 10**9 + int(wait * MS)
        body += struct.pack("<qqqIHH", 10**9, first, first + int(tail * MS), at % 4, 0, 0)
    return zlib.compress(head + body)


def analysed(
    folder: Path, wait_ms: float, tail_ms: float, usual: int = 0, short: bool = False
) -> Analysis:
    ledger = read(make(folder / "ledger.sqlite", connections=[4], blocks=2, counted_blocks=0))
    cells = [replace(cell, per_connection=1 if short else None) for cell in ledger.cells]
    odd = next(cell.id for cell in cells if cell.contender == "select")
    data = samples(wait_ms, tail_ms, usual)
    trials = [
        replace(trial, samples=data) if trial.cell_id == odd else trial for trial in ledger.trials
    ]
    return analyse(replace(ledger, cells=cells, trials=trials))


def said(analysis: Analysis) -> list[str]:
    return [
        note.line for note in notes(analysis) if any(one.says in note.line for one in analysis.wire)
    ]


def test_an_end_that_follows_40_ms_after_the_first_byte_is_nagles_and_says_what_helps(
    tmp_path: Path,
) -> None:
    analysis = analysed(tmp_path, 0.2, 43.8)
    (sign,) = analysis.wire
    assert (sign.cell.contender, sign.share) == ("select", 1.0)
    assert sign.ms == pytest.approx(43.8)
    (line,) = said(analysis)
    assert line.startswith("select: in 100% of its answers its end follows its first byte by 44 ms")
    assert line.endswith("set TCP_NODELAY")


def test_two_in_a_hundred_are_said_and_one_is_not(tmp_path: Path) -> None:
    for usual, signs in ((98, 1), (99, 0)):
        (folder := tmp_path / str(usual)).mkdir()
        assert len(analysed(folder, 0.2, 41, usual).wire) == signs


@pytest.mark.parametrize(("wait_ms", "tail_ms"), [(44, 0), (0.2, 20), (0.2, 80), (1_005, 0)])
def test_other_waits_have_no_explanation(tmp_path: Path, wait_ms: float, tail_ms: float) -> None:
    assert analysed(tmp_path, wait_ms, tail_ms).wire == []


@pytest.mark.parametrize("wait_ms", [204.0, 1_012.0])
def test_a_full_listen_queue_shows_where_each_request_connects(
    tmp_path: Path, wait_ms: float
) -> None:
    (sign,) = analysed(tmp_path, wait_ms, 0, short=True).wire
    assert "the listen queue was full" in sign.says
    assert sign.ms == pytest.approx(wait_ms)
