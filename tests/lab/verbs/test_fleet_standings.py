"""The results of a fleet: verdicts on all machines, the report, and resuming."""

import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regatta.errors import HostLostError, LedgerError, UsageError
from regatta.judge.standings import LARGER, NO_DIFFERENCE, RIVALS
from regatta.record.schema import FILE_NAME
from regatta.record.study.placement import cluster_risk
from regatta.verbs.collected import (
    SHORT,
    MachineResult,
    collected_tables,
    sentence,
    standings_of,
    to_markdown,
)
from regatta.verbs.fleet import Fleet, finished, race_on, race_on_this_host, read_fleet
from tests.lab.reports import cells, summary_json
from tests.lab.synthetic import make

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


def outcomes_of(*results: dict[str, Any]) -> list[MachineResult]:
    return [MachineResult(chr(97 + number), each) for number, each in enumerate(results)]


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
    results = [result(best, "" if best else RIVALS) for best in on_each]
    (row,) = standings_of(outcomes_of(*results)).verdicts
    assert (row.where, row.says) == ("50 connections", says)


@given(st.lists(st.sets(st.sampled_from(DESIGNS)), min_size=1, max_size=40))
def test_a_winner_on_all_won_on_each_and_every_machine_counts(each: list[set[str]]) -> None:
    standings = standings_of(
        outcomes_of(
            *(
                result(sorted(best), "" if best else RIVALS, cpu=f"CPU {number % 3}")
                for number, best in enumerate(each)
            )
        )
    )
    (row,) = standings.verdicts
    assert row.machines == sum(map(len, standings.kinds.values())) == len(each)
    wins = all(len(best) == 1 for best in each) and len(set.union(*each)) == 1
    assert (row.outcome == "wins on all") == wins
    assert all(set(row.names) <= best for best in each if best)


def test_machines_are_grouped_by_kind() -> None:
    standings = standings_of(
        outcomes_of(
            result(["epoll"], C1="supported", C2="supported"),
            result(["select"], cpu="CPU B", C1="supported", C2="refuted"),
            result(["epoll"], C1="supported", C2="supported"),
        )
    )
    first, second = standings.kinds
    assert standings.kinds == {first: ["a", "c"], second: ["b"]}
    assert first == "CPU A × 2, bare metal, Linux 6.1"
    assert standings.verdicts[0].by_kind == {first: {"epoll": 2}, second: {"select": 1}}
    assert [row.says for row in standings.claims] == ["supported", "machines differ"]
    assert (SHORT[:2], SHORT[25:28]) == (["A", "B"], ["Z", "AA", "AB"])


def test_the_report_lists_every_machine_and_escapes_its_text() -> None:
    (raced,) = outcomes_of(result(["epoll"], cpu="<b>x</b> | =cmd()"))
    outcomes = [MachineResult(name, None, "was lost") for name in ("h2", "9")] + [raced]
    standings = standings_of(outcomes)
    text = to_markdown("mine", standings, outcomes)
    assert "failed: was lost" in text
    assert "<b>x" not in text
    machines = cells(collected_tables(standings, outcomes)[-1])
    assert [row[0] for row in machines] == ["9", "a", "h2"]
    assert machines[1][1:5] == ["A", "9 of 9", "2", "71 s"]
    assert sentence(standings, outcomes) == (
        "1 machine of 1 kind: one design wins on all in 1 of 1 verdict; 2 machines without a "
        "result."
    )


def test_a_row_that_some_machines_did_not_race_says_so() -> None:
    outcomes = outcomes_of(result(["epoll"], C1="supported"), {**result([]), "groups": []})
    standings = standings_of(outcomes)
    assert standings.verdicts[0].says == "epoll wins on all 1 (of 2)"
    assert standings.claims[0].says == "supported, on 1 (of 2)"
    assert "one design wins on all in 0 of 1 verdict" in sentence(standings, outcomes)


class FaultyMachines:
    """One machine works; each of the others fails in a different way."""

    names = ("ok", "old", "gone", "odd")

    def __init__(self, ledger: bytes) -> None:
        self.files = {FILE_NAME: ledger, "report.html": b""}

    def ask(self, name: str, question: object, *words: Any) -> Any:
        if name == "gone":
            raise HostLostError("gone: its worker is gone")
        if name == "odd":
            raise ModuleNotFoundError("No module named 'regatta.fleet'")
        if question is race_on_this_host:
            return None
        data = self.files[words[-1]]
        return zlib.compress(bytes(len(data)) if name == "old" else data)


def test_a_failure_on_one_machine_does_not_stop_the_others(tmp_path: Path) -> None:
    ledger = make(tmp_path / "there.sqlite", connections=(10,))
    machines, fleet = FaultyMachines(ledger.read_bytes()), Fleet("mine-1", "", False, [])
    folder = tmp_path / "fleet"
    folder.mkdir()
    outcomes = {name: race_on(machines, name, fleet, folder) for name in machines.names}
    assert outcomes["ok"].result == summary_json(ledger)
    assert outcomes["gone"].reason == "its worker is gone"
    assert "No module named" in outcomes["odd"].reason
    assert "ledger.sqlite" in outcomes["old"].reason
    assert finished(folder) == [outcomes["ok"]], "--resume races on the others"
    (folder / "ok" / FILE_NAME).write_text("{")
    with pytest.raises(LedgerError, match="or remove this file and --resume"):
        finished(folder)


def test_a_fleet_is_resumed_from_its_folder(tmp_path: Path) -> None:
    fleet = Fleet("mine-1", 'name = "mine"', True, ["ssh://a", "ssh://b"])
    fleet.write(tmp_path)
    assert read_fleet(tmp_path) == fleet
    with pytest.raises(UsageError, match="already has a fleet"):
        fleet.write(tmp_path)
    with pytest.raises(LedgerError, match="not the folder of a fleet"):
        read_fleet(tmp_path / "a")


def test_a_cluster_that_others_can_use_is_recognised() -> None:
    for address in ("tcp://10.0.0.1:1", "tcp://a:1", "a:1", "ws://[2001:db8::1]:8786"):
        risk = cluster_risk(address)
        assert risk is not None
        assert risk.startswith(f"{address} is not encrypted")
        assert "tls://" in risk
    for address in ("tcp://127.0.0.1:1", "tcp://[::1]:1", "localhost:1", "tls://a:1", "wss://a:1"):
        assert cluster_risk(address) is None


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="is not a scheduler"):
        cluster_risk("tcp://[::1")
