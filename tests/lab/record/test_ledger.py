"""The ledger: the whole plan from the start, each trial once, and no trust in a damaged file."""

import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regatta.errors import LedgerError
from regatta.record import files
from regatta.record import read as ledger_read
from regatta.record.counters import Counter, keyed, not_supported
from regatta.record.files import Start, find_unfinished, open_ledger
from regatta.record.inputs import RaceInputs
from regatta.record.records import PlannedTrial, Trial
from regatta.record.schema import FILE_NAME, SCHEMA_VERSION
from regatta.record.study import Study, parse_study
from regatta.record.study.find import Design
from regatta.record.study.race import make_plan
from regatta.record.write import Ledger
from tests.ledgers import rows

TEXT = """
name = "mine"
title = "Mine"
[[cells]]
designs = ["select", "iterative"]
connections = [1, 10]
"""
DESIGNS = [Design("iterative", ""), Design("select", "")]


OPENERS = pytest.mark.parametrize("opener", [open_ledger, ledger_read.read])


def study() -> Study:
    return parse_study(TEXT, DESIGNS)


def plan() -> list[PlannedTrial]:
    return make_plan(4, 2, 1, 7)


def create(folder: Path) -> Ledger:
    about = {"study_name": "mine", "study_toml": TEXT, "seed": "7"}
    return files.create(folder, Start(about, RaceInputs(), study().cells, plan(), "loopback"))


def result(at: int = 0, **known: Any) -> Trial:
    """Of the trial at that place of the plan."""
    by_perf = [Counter("task-clock", 9.0, "ns", 100.0, "counted"), not_supported("cycles")]
    used = [Counter("cpu-time", 8.0, "ns", 100.0, "counted")]
    return Trial(
        **vars(plan()[at]),
        **{
            "started_at": 1.5,
            "window_ns": 1000,
            "requests": 10,
            "answered": 10,
            "throughput_per_s": 5.0,
            "server": {"requests": 10},
            "client": {"answered": 10},
            "conditions": {"processes": 3},
            "samples": b"\x01\x02",
            "counters": keyed("server", "perf", by_perf) | keyed("client", "kernel", used),
            "printed": {"server": "# started on Sun\n\n1 task-clock\n"},
            **known,
        },
    )


def test_the_plan_is_there_from_the_start(tmp_path: Path) -> None:
    with create(tmp_path) as book:
        assert book.plan() == plan()
        assert book.left() == plan()
        assert book.meta("seed") == "7"
        assert book.meta("study_toml") == TEXT
        assert book.meta("finished_at") is None
        assert book.placement() == "loopback"
        book.check_cells(study().cells)


def test_a_recorded_trial_is_not_left_even_if_it_failed(tmp_path: Path) -> None:
    with create(tmp_path) as book:
        book.record([result()])
        book.record([Trial(**vars(plan()[1]), status="failed", reason="no luck")])
        assert book.left() == plan()[2:]
        assert book.failures() == ["no luck"]


def test_a_trial_comes_back_as_it_was_recorded(tmp_path: Path) -> None:
    with create(tmp_path) as book:
        book.record([result()])
    (back,) = ledger_read.read(tmp_path / FILE_NAME).trials
    assert back == result(id=1, rounds=back.rounds)
    columns = dict(rows(tmp_path, "SELECT name, type FROM pragma_table_info('trial')"))
    assert columns["client"] == "TEXT"
    assert columns["samples"] == "BLOB"
    counters = rows(tmp_path, "SELECT * FROM counter")
    assert (1, "server", "perf", "cycles", None, "count", None, "not supported") in counters
    assert (1, "server", "perf", "task-clock", 9.0, "ns", 100.0, "counted") in counters


def test_no_trial_is_recorded_twice(tmp_path: Path) -> None:
    with create(tmp_path) as book:
        book.record([result()])
        with pytest.raises(sqlite3.IntegrityError):
            book.record([result()])


def test_trials_side_by_side_are_written_together_or_not_at_all(tmp_path: Path) -> None:
    bad = result(1, printed={"server": object()})
    with create(tmp_path) as book:
        with pytest.raises(sqlite3.Error):
            book.record([result(), bad])
        assert book.left() == plan(), "the first alone would leave the second without its rival"
        assert book.database.execute("SELECT count(*) FROM counter").fetchone() == (0,)
        book.record([result(), result(1)])
        assert book.left() == plan()[2:]


def test_a_full_disk_is_told_with_how_to_go_on(tmp_path: Path) -> None:
    with create(tmp_path) as book:
        pages = book.database.execute("PRAGMA page_count").fetchone()[0]
        book.database.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(LedgerError, match="full.*--resume"):
            book.record([result(samples=b"x" * 1_000_000)])
        assert book.left() == plan()


def test_every_table_is_on_the_formats_page(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "formats.md").read_text()
    rows = page.split("\ntable | a row is\n--- | ---\n")[1].split("\n\n")[0].splitlines()
    named = [name for row in rows for name in re.findall(r"`([^`]+)`", row.split(" | ")[0])]
    with create(tmp_path) as book:
        tables = book.database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        assert sorted(named) == sorted(name for (name,) in tables.fetchall())


def test_a_second_race_does_not_overwrite_the_first(tmp_path: Path) -> None:
    create(tmp_path).close()
    with pytest.raises(LedgerError, match="exists"):
        create(tmp_path)


def test_a_race_that_died_while_it_began_leaves_nothing_to_resume(tmp_path: Path) -> None:
    (tmp_path / f".{FILE_NAME}.new").write_bytes(b"half")
    with pytest.raises(LedgerError, match="no ledger"):
        open_ledger(tmp_path / FILE_NAME)
    with create(tmp_path) as book:
        assert book.left() == plan()


@pytest.mark.parametrize(
    ("version", "opener", "age", "advice"),
    [
        (SCHEMA_VERSION - 1, ledger_read.read, "an older Regatta", "use that"),
        (SCHEMA_VERSION - 1, open_ledger, "an older Regatta", "use that"),
        (SCHEMA_VERSION + 1, ledger_read.read, "a newer Regatta", "update"),
        (SCHEMA_VERSION + 1, open_ledger, "a newer Regatta", "update"),
    ],
)
def test_another_schema_is_refused_in_one_line(
    tmp_path: Path, version: int, opener: Callable[[Path], object], age: str, advice: str
) -> None:
    path = tmp_path / FILE_NAME
    with create(tmp_path) as book, book.database:
        book.database.execute("UPDATE meta SET value = ? WHERE key = 'schema_version'", (version,))
    before = path.read_bytes()
    words = f"{age} (schema {version}, and this one reads {SCHEMA_VERSION}); {advice}"
    with pytest.raises(LedgerError, match=re.escape(words)) as error:
        opener(path)
    assert "\n" not in str(error.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize("data", [b"", b"hello", b"SQLite format 3\0" + b"x" * 5000])
@OPENERS
def test_what_is_no_ledger_is_refused_in_one_line(
    tmp_path: Path, data: bytes, opener: Callable[[Path], object]
) -> None:
    path = tmp_path / FILE_NAME
    path.write_bytes(data)
    with pytest.raises(
        LedgerError, match="is not a ledger, or is damaged|is the file complete"
    ) as error:
        opener(path)
    assert "\n" not in str(error.value)


def test_a_database_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE meta(key TEXT, value TEXT)")
    database.execute("INSERT INTO meta VALUES ('schema_version', 'x')")
    database.commit()
    database.close()
    with pytest.raises(LedgerError, match="damaged"):
        open_ledger(path)


def test_other_cells_than_the_studys_are_refused(tmp_path: Path) -> None:
    create(tmp_path).close()
    with open_ledger(tmp_path / FILE_NAME) as book:
        other = parse_study(TEXT.replace("[1, 10]", "[1, 11]"), DESIGNS)
        with pytest.raises(LedgerError, match="cells"):
            book.check_cells(other.cells)


def test_the_newest_unfinished_race_of_the_study_is_found(tmp_path: Path) -> None:
    for name, created, finished in (("a", 1, False), ("b", 3, True), ("c", 2, False)):
        with create(tmp_path / name) as book:
            with book.database:
                book.database.execute(
                    "UPDATE meta SET value = ? WHERE key = 'created_at'", (str(created),)
                )
            if finished:
                book.finish()
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / FILE_NAME).write_bytes(b"broken")
    before = ledgers_in(tmp_path)
    assert find_unfinished(tmp_path, "mine") == tmp_path / "c"
    with pytest.raises(LedgerError, match="no unfinished race of the study other"):
        find_unfinished(tmp_path, "other")
    assert ledgers_in(tmp_path) == before, "who looks for a race changes none"


def ledgers_in(races: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in races.glob(f"*/{FILE_NAME}")}
