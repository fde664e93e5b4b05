"""Repeated trials: which contenders were disturbed."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from regatta.judge.analyse import analyse
from regatta.judge.results import Analysis
from regatta.record.read import read
from regatta.show.soundness import repeats_sentence
from tests.lab.synthetic import make
from tests.ledgers import opened

BLOCKS = range(1, 11)


def raced(
    folder: Path,
    hit: dict[str, Sequence[int]],
    dearer: float = 1.0,
    **changes: Any,
) -> Analysis:
    """A race (of two); the blocks in which one was hit were run again, and cost that one more."""
    path = make(
        folder / "ledger.sqlite",
        cpu_us={"first": 600.0, "second": 640.0, "third": 660.0},
        connections=[10],
        requests=40,
        counted_blocks=0,
        noise=0.002,
        **({"contenders": ("first", "second")} | changes),
    )
    with closing(opened(path)) as ledger, ledger:
        for block in sorted({block for blocks in hit.values() for block in blocks}):
            again(ledger, block)
        for name, blocks in hit.items():
            for block in blocks:
                spoil(ledger, name, block, dearer)
    return analyse(read(path))


def again(ledger: sqlite3.Connection, block: int) -> None:
    """Another attempt of all of a block, equal to the first."""
    trials = ledger.execute("SELECT * FROM trial WHERE block = ?", (block,)).fetchall()
    names = [row[1] for row in ledger.execute("PRAGMA table_info(trial)")]
    marks = ", ".join("?" * len(names))
    for trial in trials:
        values = dict(zip(names, trial, strict=True)) | {"id": None, "attempt": 2}
        made = ledger.execute(f"INSERT INTO trial VALUES ({marks})", tuple(values.values()))
        ledger.execute(
            "INSERT INTO counter SELECT ?, side, origin, event, value, unit, running_percent, state"
            " FROM counter WHERE trial_id = ?",
            (made.lastrowid, trial[0]),
        )


def spoil(ledger: sqlite3.Connection, name: str, block: int, dearer: float) -> None:
    which = (
        "SELECT trial.id FROM trial JOIN cell ON cell.id = cell_id"
        " WHERE contender = ? AND block = ? AND attempt = 1"
    )
    ledger.execute(
        f"UPDATE trial SET disturbed = 'cron used 12 %' WHERE id = ({which})", (name, block)
    )
    ledger.execute(
        "UPDATE counter SET value = value * ? WHERE event IN ('cpu-time', 'busy-time')"
        f" AND side = 'server' AND trial_id = ({which})",
        (dearer, name, block),
    )


def test_a_race_without_repeats_says_nothing_of_them(tmp_path: Path) -> None:
    assert repeats_sentence(raced(tmp_path, {})) == ""


def test_what_was_repeated_is_counted(tmp_path: Path) -> None:
    analysis = raced(tmp_path, {"first": [2, 7], "second": [4]}, dearer=1.01)
    hits = [(hit.contender, hit.trials, hit.disturbed, hit.again) for hit in analysis.repeated.hits]
    assert hits == [("first", 10, 2, 3), ("second", 10, 1, 3)]
    assert [hit.by_chance for hit in analysis.repeated.hits] == pytest.approx([1.5, 1.5], abs=0.05)
    assert repeats_sentence(analysis).startswith("6 trials repeated after a disturbance")


@pytest.mark.parametrize(
    ("hit", "is_unequal"),
    [
        ({"first": BLOCKS}, True),
        ({"first": [1, 2, 3, 4, 5, 6, 7, 8], "second": [9]}, True),
        ({"first": [1, 3, 5, 7], "second": [2, 4, 6, 8]}, False),
        # In each of these blocks both were hit: who would be is no matter of chance.
        ({"first": BLOCKS, "second": BLOCKS}, False),
        ({"first": [1, 2]}, False),
    ],
)
def test_a_contender_disturbed_more_often_than_by_chance_is_named(
    tmp_path: Path, hit: dict[str, Sequence[int]], is_unequal: bool
) -> None:
    analysis = raced(tmp_path, hit)
    assert analysis.repeated.is_unequal == is_unequal
    said = repeats_sentence(analysis)
    assert ("first was disturbed more often" in said) == is_unequal


def test_the_p_value_belongs_to_the_named_contender(tmp_path: Path) -> None:
    # Of forty trials of the first 24 were hit, where 19 would be; of four of the third all four.
    hit: dict[str, Sequence[int]] = {
        "first": range(5, 29),
        "second": range(29, 41),
        "third": range(1, 5),
    }
    gone = {("third", 10, block) for block in range(5, 41)}
    names = ("first", "second", "third")
    analysis = raced(tmp_path, hit, contenders=names, blocks=40, fail=gone)
    beyond = {hit.contender: hit.disturbed - hit.by_chance for hit in analysis.repeated.hits}
    assert beyond["first"] > beyond["third"] > 0
    assert analysis.repeated.is_unequal
    assert analysis.repeated.furthest == "third"
    assert "third was disturbed more often" in repeats_sentence(analysis)
