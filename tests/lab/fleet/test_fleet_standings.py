"""Which verdicts hold on all machines, from what each of them printed."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regatta.analysis.standings import LARGER, NO_DIFFERENCE, RIVALS
from regatta.errors import LedgerError, UsageError
from regatta.fleet.files import sentence, write_fleet
from regatta.fleet.fleet import Came, Plan, finished, keep, read_plan
from regatta.fleet.standings import letters, outcome_words, standings_of
from regatta.fleet.tables import fleet_tables
from regatta.fleet.there import Order, Raced

DESIGNS = ("epoll", "select", "uring")


def result(best: list[str], outcome: str = "", cpu: str = "CPU A", **claims: str) -> dict[str, Any]:
    if not outcome:
        outcome = LARGER if len(best) == 1 else NO_DIFFERENCE
    verdict = {"at": 50, "best": best, "outcome": outcome, "sentence": "At 50 …"}
    return {
        "environment": {"cpu_model": cpu, "cpus_allowed": [0, 1], "kernel": "6.1"},
        "groups": [{"title": "", "axis": "connections", "by_step": [verdict], "overall": verdict}],
        "claims": [{"id": name, "verdict": said} for name, said in claims.items()],
        "trials": {"run": 9, "planned": 9, "disturbed": 2, "failed": 0},
        "created_at": "100.5",
        "finished_at": "171.5",
    }


@pytest.mark.parametrize(
    ("on_each", "says"),
    [
        ([["epoll"], ["epoll"]], "epoll wins on all 2"),
        ([["epoll"], ["epoll", "select"]], "epoll is among the best on all 2"),
        ([["epoll", "uring"], ["epoll", "uring"]], "epoll or uring are among the best on all 2"),
        ([["epoll"], ["select"]], "machines differ"),
        ([["epoll"], []], "epoll is among the best on all that have a verdict"),
        ([[], []], "no verdict"),
    ],
)
def test_what_holds_on_all_is_said(on_each: list[list[str]], says: str) -> None:
    results = {
        f"m{number}": result(best, "" if best else RIVALS) for number, best in enumerate(on_each)
    }
    (row,) = standings_of(results).verdicts
    assert row.where == "50 connections"
    assert outcome_words(row, len(results)) == says


@given(st.lists(st.sets(st.sampled_from(DESIGNS)), min_size=1, max_size=40))
def test_who_wins_on_all_won_on_each_and_no_machine_is_forgotten(each: list[set[str]]) -> None:
    results = {
        f"m{number:02}": result(sorted(best), "" if best else RIVALS, cpu=f"CPU {number % 3}")
        for number, best in enumerate(each)
    }
    standings = standings_of(results)
    (row,) = standings.verdicts
    assert sum(sum(tally.values()) for tally in row.by_kind.values()) == len(each)
    assert sum(map(len, standings.kinds.values())) == len(each)
    wins = all(len(best) == 1 for best in each) and len(set.union(*each)) == 1
    assert (row.outcome == "wins on all") == wins
    if row.names:
        assert all(set(row.names) <= best for best in each if best)


def test_machines_are_told_apart_by_what_they_are() -> None:
    results = {
        "a": result(["epoll"], C1="supported", C2="supported"),
        "b": result(["select"], cpu="CPU B", C1="supported", C2="refuted"),
        "c": result(["epoll"], C1="supported", C2="supported"),
    }
    standings = standings_of(results)
    first, second = standings.kinds
    assert standings.kinds == {first: ["a", "c"], second: ["b"]}
    assert first.startswith("CPU A × 2, bare metal, Linux 6.1")
    assert standings.verdicts[0].by_kind == {
        first: {"epoll": 2},
        second: {"select": 1},
    }
    assert [outcome_words(row, 3) for row in standings.claims] == ["supported", "machines differ"]


def test_the_report_names_every_machine_and_obeys_none(tmp_path: Path) -> None:
    evil = "<b>x</b> | =cmd()"
    came = [
        Came("a", result(["epoll"], cpu=evil)),
        Came("b", None, "the host b was lost"),
    ]
    standings = standings_of({"a": came[0].result or {}})
    write_fleet(tmp_path, "mine", standings, came)
    page, text = ((tmp_path / name).read_text() for name in ("fleet.html", "fleet.md"))
    assert '<a href="a/report.html">a</a>' in page
    assert "<b>x" not in page
    assert "&lt;b&gt;x" in page
    assert "failed: the host b was lost" in page
    assert "failed: the host b was lost" in text
    assert "<b>x" not in text
    machines = fleet_tables(standings, came)[-1]
    assert [row[0] for row in machines.rows] == ["a", "b"]
    assert machines.rows[0][4] == "71 s"
    assert sentence(standings, came) == (
        "1 machine of 1 kind: one design wins on all in 1 of 1 verdict; 1 machine failed."
    )


def test_kinds_have_short_names_however_many_there_are() -> None:
    names = [letters(number) for number in range(1000)]
    assert names[:3] == ["A", "B", "C"]
    assert names[25:28] == ["Z", "AA", "AB"]
    assert len(set(names)) == 1000


def test_a_fleet_goes_on_with_the_machines_that_have_no_result(tmp_path: Path) -> None:
    plan = Plan(Order("mine-1", 'name = "mine"', ("--quick",)), ["ssh://a", "ssh://b"])
    plan.write(tmp_path)
    assert read_plan(tmp_path) == plan
    with pytest.raises(UsageError, match="holds a fleet already"):
        plan.write(tmp_path)
    assert finished(tmp_path) == {}
    keep(tmp_path / "a", Raced('{"groups": []}', {}))
    assert finished(tmp_path) == {"a": {"groups": []}}
    (tmp_path / "a" / "result.json").write_text("{")
    with pytest.raises(LedgerError, match="damaged"):
        finished(tmp_path)
    with pytest.raises(LedgerError, match="holds no fleet"):
        read_plan(tmp_path / "a")
