"""Two accounts of the server's CPU time: both are shown, and where they contradict it is said."""

from __future__ import annotations

import json
from pathlib import Path

import synthetic
from rich.console import Console

from regatta import report
from regatta.analysis import metrics
from regatta.analysis.accounts import contradictions
from regatta.analysis.analyse import Analysis, analyse
from regatta.ledger_read import Counter, Trial, read
from regatta.report.notes import notes

SAYS = "the two accounts contradict each other"
# By its charge select needs 15 % less than thread-per-client; its CPUs are busy 50 % longer.
OTHERWISE = {"select": 1.6, "thread-per-client": 0.9}


def analysed(folder: Path, **changes: object) -> Analysis:
    return analyse(read(synthetic.make(folder / "ledger.sqlite", **changes)))


def said(analysis: Analysis) -> list[str]:
    return [note.sentence for note in notes(analysis) if SAYS in note.sentence]


def test_designs_that_the_accounts_rank_otherwise_are_named(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, busy=OTHERWISE, connections=(10,))
    found = analysis.groups[0].contradictions
    assert [(one.less, one.more) for one in found] == [
        ("select", "thread-per-client"),
        ("select", "iterative"),
        ("iterative", "thread-per-client"),
    ]
    assert 1.1 < found[0].charged < 1.3
    assert 0.6 < found[0].busy < 0.75
    (sentence,) = said(analysis)
    assert sentence.startswith("At 10 connections")
    assert "thread-per-client is charged" in sentence
    assert "of select" in sentence
    assert "2 other pairs" in sentence


def test_accounts_that_rank_alike_say_nothing(tmp_path: Path) -> None:
    analysis = analysed(tmp_path)
    assert not any(group.contradictions for group in analysis.groups)
    assert said(analysis) == []


def test_a_pair_that_one_account_does_not_tell_apart_is_no_contradiction() -> None:
    apart = {block: 1.0 + block / 1000 for block in range(8)}
    more = {block: 1.2 + block / 900 for block in range(8)}
    either = {block: 1.0 + (-1) ** block / 10 for block in range(8)}
    assert contradictions({1: {"a": (apart, more), "b": (more, apart)}})
    assert not contradictions({1: {"a": (apart, either), "b": (more, either)}})
    assert not contradictions({1: {"a": (apart, apart), "b": (more, more)}})
    few = ({0: 1.0, 1: 1.1}, {0: 3.0, 1: 3.1})
    assert not contradictions({1: {"a": few, "b": few[::-1]}})
    assert not contradictions({1: {"a": (apart, more)}})
    assert not contradictions({})


def test_who_wins_is_decided_by_what_is_charged_alone(tmp_path: Path) -> None:
    (tmp_path / "alike").mkdir()
    plain = analysed(tmp_path / "alike")
    turned = analysed(tmp_path, busy=OTHERWISE)
    assert [group.by_step for group in plain.groups] == [group.by_step for group in turned.groups]
    assert plain.groups[0].overall == turned.groups[0].overall


def test_every_form_of_the_report_has_the_second_account(tmp_path: Path) -> None:
    path = synthetic.make(tmp_path / "ledger.sqlite", busy=OTHERWISE)
    report.write(path)
    name = metrics.BUSY.name
    assert "CPU busy per request, µs" in (tmp_path / "summary.md").read_text()
    assert SAYS in (tmp_path / "summary.md").read_text()
    assert name in (tmp_path / "summary.csv").read_text()
    assert "CPU busy per request" in (tmp_path / "report.html").read_text()
    summary = report.summary_json(path)
    group = summary["groups"][0]
    assert group["accounts_contradict"][0]["less"] == "select"
    assert all(cell["metrics"]["server"][name]["value"] > 0 for cell in group["cells"])
    assert any(one["metric"] == name for one in group["against_best"])
    json.dumps(summary)
    console = Console(width=200, record=True, file=(tmp_path / "out").open("w"))
    report.explain(path, console)
    assert "CPU busy" in console.export_text()


def trial(busy_ns: float) -> Trial:
    counter = Counter(value=busy_ns, unit="ns", running_percent=100.0, state="counted")
    given: dict[str, object] = dict.fromkeys(Trial.__dataclass_fields__)
    given |= {"answered": 10, "counters": {("server", "cpus", "busy-time"): counter}}
    return Trial(**given)  # type: ignore[arg-type]


def test_cpus_from_which_the_host_took_more_than_they_did_say_nothing() -> None:
    assert metrics.BUSY.read is not None
    assert metrics.BUSY.read(trial(-2e6), "server") == "not counted"
    assert metrics.BUSY.read(trial(3e6), "server") == 300.0
    assert metrics.BUSY.read(trial(3e6), "client") == "not supported"
