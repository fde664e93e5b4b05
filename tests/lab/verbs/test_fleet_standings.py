"""The results of a fleet: verdicts on all machines, the report, and resuming."""

import json
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regatta import __version__
from regatta.errors import HostLostError, LedgerError, UsageError
from regatta.judge.standings import LARGER, NO_DIFFERENCE, RIVALS
from regatta.record.study.cluster import cluster_risk
from regatta.verbs.fleet.fleet import (
    MachineResult,
    Plan,
    finished,
    race_on,
    read_plan,
    save,
)
from regatta.verbs.fleet.machines import RaceOrder, RaceOutput, race_on_this_host
from regatta.verbs.fleet.standings import letters, outcome_words, standings_of
from regatta.verbs.fleet.tables import collected_tables, sentence, to_markdown
from tests.lab.reports import cells

DESIGNS = ("epoll", "select", "uring")


def result(best: list[str], outcome: str = "", cpu: str = "CPU A", **claims: str) -> dict[str, Any]:
    if not outcome:
        outcome = LARGER if len(best) == 1 else NO_DIFFERENCE
    verdict = {"at": 50, "best": best, "outcome": outcome, "sentence": "At 50 …"}
    return {
        "environment": {"cpu_model": cpu, "cpus_allowed": [0, 1], "kernel": "6.1"},
        "groups": [{"title": "", "axis": "connections", "by_step": [verdict], "overall": verdict}],
        "claims": [{"id": name, "verdict": said} for name, said in claims.items()],
        "regatta_version": __version__,
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
def test_the_verdict_over_all_machines(on_each: list[list[str]], says: str) -> None:
    results = {
        f"m{number}": result(best, "" if best else RIVALS) for number, best in enumerate(on_each)
    }
    (row,) = standings_of(results).verdicts
    assert row.where == "50 connections"
    assert outcome_words(row, len(results)) == says


@given(st.lists(st.sets(st.sampled_from(DESIGNS)), min_size=1, max_size=40))
def test_a_winner_on_all_won_on_each_and_every_machine_counts(each: list[set[str]]) -> None:
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


def test_machines_are_grouped_by_kind() -> None:
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


def test_the_report_lists_every_machine_and_escapes_its_text() -> None:
    evil = "<b>x</b> | =cmd()"
    outcomes = [
        MachineResult("a", result(["epoll"], cpu=evil)),
        MachineResult("b", None, "the host b was lost"),
    ]
    standings = standings_of({"a": outcomes[0].result or {}})
    text = to_markdown("mine", standings, outcomes)
    assert "failed: the host b was lost" in text
    assert "<b>x" not in text
    machines = collected_tables(standings, outcomes)[-1]
    assert [row.name for row in machines.rows] == ["a", "b"]
    assert cells(machines)[0][4] == "71 s"
    assert sentence(standings, outcomes) == (
        "1 machine of 1 kind: one design wins on all in 1 of 1 verdict; 1 machine without a result."
    )


def test_a_row_that_some_machines_did_not_race_says_so() -> None:
    results = {"a": result(["epoll"], C1="supported"), "b": {**result([]), "groups": []}}
    standings = standings_of(results)
    assert outcome_words(standings.verdicts[0], 2) == "epoll wins on all 1 (of 2)"
    assert outcome_words(standings.claims[0], 2) == "supported, on 1 (of 2)"
    outcomes = [MachineResult(name, one) for name, one in results.items()]
    assert "one design wins on all in 0 of 1 verdict" in sentence(standings, outcomes)


class FaultyMachines:
    """One machine works; each of the others fails in a different way."""

    names = ("ok", "old", "gone", "odd")

    def ask(self, name: str, question: object, *_: object) -> object:
        if name == "gone":
            raise HostLostError("gone: its worker is gone")
        if name == "odd":
            raise ModuleNotFoundError("No module named 'regatta.fleet'")
        if question is race_on_this_host:
            found = result(["epoll"])
            text = json.dumps({**found, "regatta_version": "0.0.1"} if name == "old" else found)
            return RaceOutput(text, {"ledger.sqlite": 3, "report.html": 3})
        return zlib.compress(b"abc")


def test_a_failure_on_one_machine_does_not_stop_the_others(tmp_path: Path) -> None:
    machines, order = FaultyMachines(), RaceOrder("mine-1", "")
    outcomes = {name: race_on(machines, name, order, tmp_path) for name in machines.names}
    assert outcomes["ok"].result == result(["epoll"])
    assert outcomes["gone"].reason == "its worker is gone"
    assert "No module named" in outcomes["odd"].reason
    assert "0.0.1" in outcomes["old"].reason
    assert sorted(finished(tmp_path)) == ["ok"]


@pytest.mark.parametrize(
    ("address", "is_open"),
    [
        ("tcp://10.0.0.1:8786", True),
        ("tcp://scheduler:8786", True),
        ("scheduler:8786", True),
        ("ws://[2001:db8::1]:8786", True),
        ("tcp://127.0.0.1:8786", False),
        ("tcp://[::1]:8786", False),
        ("localhost:8786", False),
        ("tls://scheduler:8786", False),
        ("wss://scheduler:8786", False),
    ],
)
def test_a_cluster_that_others_can_use_is_recognised(address: str, is_open: bool) -> None:
    risk = cluster_risk(address)
    assert (risk is not None) == is_open
    assert risk is None or (risk.startswith(f"{address} is not encrypted") and "tls://" in risk)


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="is not a scheduler"):
        cluster_risk("tcp://[::1")


def test_kinds_have_unique_short_names() -> None:
    names = [letters(number) for number in range(1000)]
    assert names[:3] == ["A", "B", "C"]
    assert names[25:28] == ["Z", "AA", "AB"]
    assert len(set(names)) == 1000


def test_a_fleet_resumes_with_the_machines_without_a_result(tmp_path: Path) -> None:
    plan = Plan(RaceOrder("mine-1", 'name = "mine"', ("--quick",)), ["ssh://a", "ssh://b"])
    plan.write(tmp_path)
    assert read_plan(tmp_path) == plan
    with pytest.raises(UsageError, match="already has a fleet"):
        plan.write(tmp_path)
    assert finished(tmp_path) == {}
    there = {"ledger.sqlite": bytes(range(256)) * 5, "report.html": b""}
    raced = RaceOutput(
        json.dumps(result(["epoll"])), {name: len(one) for name, one in there.items()}
    )
    save(tmp_path / "a", raced, lambda name, offset: there[name][offset : offset + 100])
    assert (tmp_path / "a" / "ledger.sqlite").read_bytes() == there["ledger.sqlite"]
    assert (tmp_path / "a" / "report.html").read_bytes() == b""
    assert finished(tmp_path) == {"a": result(["epoll"])}
    other = json.dumps({**result([]), "regatta_version": "0.0.1"})
    for text, complaint in (("{", "cannot be read"), ("{}", "cannot be read"), (other, "0.0.1")):
        (tmp_path / "a" / "result.json").write_text(text)
        with pytest.raises(LedgerError, match=complaint):
            finished(tmp_path)
    with pytest.raises(LedgerError, match="not the folder of a fleet"):
        read_plan(tmp_path / "a")


def test_machines_are_in_the_order_of_their_numbers() -> None:
    outcomes = [MachineResult(name, None, "lost") for name in ("host10", "9", "host2", "a")]
    machines = collected_tables(standings_of({}), outcomes)[-1]
    assert [row.name for row in machines.rows] == ["9", "a", "host2", "host10"]
