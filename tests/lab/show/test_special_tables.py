"""Trials that do not count and contenders that cannot win; the baseline; pools of workers."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from regatta.errors import StudyError
from regatta.judge.overheads import differences
from regatta.judge.results import CellResult, Group
from regatta.judge.soundness.clients import connections_by_rank
from regatta.judge.standings import RIVALS
from regatta.record.inputs import Baseline, PublishedTable, RaceInputs
from regatta.record.read import read
from regatta.record.study.published import read_published
from regatta.show.build import view_of
from regatta.show.csv import to_csv
from regatta.show.numbers import interval_of, value_of
from regatta.show.standings import standings
from regatta.show.trials import client_help
from regatta.show.verdicts import headline, mark, verdict_sentence
from tests.lab import reports
from tests.lab.reports import analysed
from tests.lab.synthetic import CLIENT_BOUND, make
from tests.ledgers import change

BLOCKS = range(1, 13)
NAMES = ("iterative", "thread-per-client", "select")
CPU = ("server", "cpu_time_per_request_us")
POOLS = {
    "contenders": ["iterative", "prefork", "select"],
    "pools": {"prefork"},
    "connections": [10],
    "axis": "workers",
    "steps": [2, 15],
    "cpu_us": {"iterative": 600.0, "prefork": 660.0, "select": 600.0},
    "blocks": 8,
}
BASELINE = Baseline(
    "iterative",
    PublishedTable(
        source="a book",
        columns=["solaris_s", "third_edition_s"],
        rows={"iterative": [0.0, 0.0], "prefork": [None, 1.75]},
        at=15,
    ),
)


def raced(folder: Path, **changes: object) -> Group:
    """The only group of a race over ten connections."""
    settings = {"connections": [10], **changes}
    (group,) = analysed(make(folder / "ledger.sqlite", **settings)).groups
    return group


def every(name: str, blocks: range = range(1, 13)) -> set[tuple[str, int, int]]:
    """The trials of a contender."""
    return {(name, 10, block) for block in blocks}


def result_of(group: Group, name: str) -> CellResult:
    (found,) = (result for result in group.at(10) if result.cell.contender == name)
    return found


def forms(path: Path) -> dict[str, str]:
    """What a person reads, which every renderer draws, and what programs do."""
    analysis = analysed(path)
    as_json = json.dumps(reports.summary_json(path))
    return {"view": reports.told(analysis), "csv": to_csv(analysis), "json": as_json}


def test_a_client_bound_cell_shows_its_server_cpu_and_cannot_win(tmp_path: Path) -> None:
    """select needs the least, but the client set its pace in every trial."""
    group = raced(tmp_path, client_bound=every("select", range(1, 11)))
    select = result_of(group, "select")
    assert list(group.overall.rivals) == ["select"]
    assert select.client_bound == 10
    used = select.estimates[CPU]
    assert (used.state, used.value) == ("client-bound", pytest.approx(625, rel=0.03))
    for name in ("throughput_per_s", "latency_p99_ms"):
        estimate = select.estimates["client", name]
        assert (estimate.value, estimate.state) == (None, "client-bound")
    assert all(result.comfortable_rate is None for result in group.at(10) if result != select)
    helps = f"an open load of at most {select.comfortable_rate:,} a second"
    found = forms(tmp_path / "ledger.sqlite")
    assert all(helps in text for text in found.values())
    assert "bottleneck" in found["view"]
    assert CLIENT_BOUND in found["json"]


def test_what_a_client_bound_cell_costs_is_compared_with_nothing(tmp_path: Path) -> None:
    """A closed load: epoll's client is at its limit, a slow server's is not."""
    cpu_us = {"epoll": 8.5, "asyncio": 25.8}
    group = raced(tmp_path, contenders=[*cpu_us], cpu_us=cpu_us, client_bound=every("epoll"))
    verdict = group.overall
    assert (verdict.outcome, verdict.best, verdict.worse) == (RIVALS, (), ("asyncio",))
    epoll = result_of(group, "epoll")
    cycles = epoll.estimates["server", "cycles_per_request"]
    assert cycles.state == "not supported", "whoever set the pace"
    rows = {row.name: row for row in standings(group, verdict, 10).rows}
    first = rows["epoll"].figures[0]
    assert "best" not in {figure.value for figure in rows["epoll"].figures}, (
        "they are of its client"
    )
    assert rows["asyncio"].figures[0].value != "best", "nobody is left to compare with"
    level = epoll.estimates[CPU]
    assert 20 < (level.value or 0) < 30, "8.5 µs and what 10 connections add"
    assert (first.value, first.interval) == (value_of(level), interval_of(level))


ALIKE = {"cpu_us": {"iterative": 640.0, "thread-per-client": 720.0, "select": 639.0}}
CHEAP = {"cpu_us": {"iterative": 640.0, "thread-per-client": 720.0, "select": 400.0}}


@pytest.mark.parametrize(
    ("changes", "stars", "sentence", "short"),
    [
        (
            {"client_bound": every("select")},
            {},
            "there is no winner: select (",
            "select needs the least server CPU, but its client was the bottleneck",
        ),
        ({"client_bound": every("thread-per-client")}, {"select": "★"}, "by a clear margin", ""),
        (
            {"fail": every("select") | every("iterative")},
            {},
            "is the only one that could be measured; iterative failed and select failed",
            "",
        ),
        ({"fail": every("iterative")}, {}, "iterative (failed) may be as good", ""),
        (
            {"fail": {trial for name in NAMES for trial in every(name)}},
            {},
            "no ranking: iterative, thread-per-client and select failed",
            "No ranking",
        ),
        # Of 10 trials one may fail.
        ({**CHEAP, "fail": every("select", range(1, 2))}, {"select": "★"}, "clear margin", ""),
        (
            {**CHEAP, "fail": every("select", range(1, 3))},
            {},
            "but it failed in 2 of 10 trials",
            "select needs the least server CPU, but it failed in 2 of 10 trials",
        ),
        (
            {**ALIKE, "fail": every("select", range(1, 3))},
            {},
            "there is no winner: select (",
            "select needs the least server CPU, but it failed in 2 of 10 trials",
        ),
        # At one of several steps.
        (
            {**CHEAP, "connections": [1, 10, 100], "fail": {("select", 100, at) for at in BLOCKS}},
            {},
            "Over all numbers of connections there is no winner: select needs the least server CPU "
            "per request, but it failed. The next, iterative, needs 1.",
            "select needs the least server CPU, but it failed",
        ),
    ],
)
def test_nobody_has_a_star_past_a_rival_that_cannot_be_compared(
    tmp_path: Path, changes: dict[str, object], stars: dict[str, str], sentence: str, short: str
) -> None:
    group = raced(tmp_path, **changes)
    verdict = group.overall
    assert {name: star for name in NAMES if (star := mark(verdict, name))} == stars
    assert sentence in verdict_sentence(group, verdict)
    assert headline(group) == (short or headline(group))


@pytest.mark.parametrize(("bound", "left"), [(2, 8), (6, 0)])
def test_client_bound_trials_are_left_out_unless_they_are_the_rule(
    tmp_path: Path, bound: int, left: int
) -> None:
    """Six of ten: the other four are the exception, so a selection of them is no result."""
    select = result_of(raced(tmp_path, client_bound=every("select", range(1, 1 + bound))), "select")
    rate, used = select.estimates["client", "throughput_per_s"], select.estimates[CPU]
    assert (select.client_bound, select.failed, rate.trials) == (bound, 0, left)
    assert (rate.state, used.state) == (("measured",) * 2 if left else ("client-bound",) * 2)
    assert used.trials == (left or 10)
    told = reports.told(analysed(tmp_path / "ledger.sqlite"))
    assert f"{bound} trials client-bound" in told


def test_a_disturbed_client_is_not_called_the_bottleneck(tmp_path: Path) -> None:
    group = raced(tmp_path, held_up=every("select", range(1, 11)))
    select = result_of(group, "select")
    assert (select.client_bound, select.held_up) == (0, 10)
    assert select.estimates["client", "latency_p99_ms"].state == "disturbed"
    assert group.by_step[0].rivals == {"select": "disturbed"}
    analysis = analysed(tmp_path / "ledger.sqlite")
    assert (analysis.client_bound, len(analysis.disturbed)) == ([], 10)
    for name, text in forms(tmp_path / "ledger.sqlite").items():
        assert "bottleneck" not in text, name
        assert "other programs took CPU from the client" in text, name


@pytest.mark.parametrize(("engine", "threads"), [("epoll", 1), ("thread", 2)])
def test_more_cpus_are_suggested_only_for_threaded_clients(
    tmp_path: Path, engine: str, threads: int
) -> None:
    bound = {("select", 10, 1)}
    path = tmp_path / "ledger.sqlite"
    make(path, connections=[10], engines=[engine], client_bound=bound)
    place = json.dumps({"client_cpus": [1, 2], "server_cpus": [0]})
    change(path, "INSERT OR REPLACE INTO environment VALUES ('placement', ?)", place)
    select = result_of(analysed(path).groups[0], "select")
    assert ("client_cpus" in client_help(select)) == (threads > 1)
    closed = replace(select, cell=replace(select.cell, load="closed"))
    assert "client_cpus" in client_help(closed), "the epoll engine has threads for it"
    assert select.comfortable_rate == pytest.approx(0.5e6 / 61.6 * threads, rel=0.15)


def test_a_difference_is_paired_within_blocks() -> None:
    """The blocks drift by far more than the difference."""
    drift = np.random.default_rng(1).normal(0, 50, 8)
    values = {
        5: {
            "base": {block: 600 + drift[block] for block in range(8)},
            "more": {block: 610 + drift[block] + 0.1 * (block % 2) for block in range(8)},
            "same": {block: 600 + drift[block] + (-1) ** block for block in range(8)},
        }
    }
    more, same = differences(values, "base")
    assert (more.contender, more.at, more.blocks) == ("more", 5, 8)
    assert more.value == pytest.approx(10.05)
    assert 9.9 < more.low < 10.05 < (more.high or 0) < 10.2
    assert (more.larger, same.larger) == (True, False)
    assert (same.low or 0) < 0 < (same.high or 0)
    assert differences({5: {"base": {1: 600.0}, "more": {2: 610.0}}}, "base") == []
    assert differences({5: {"more": {2: 610.0}}}, "base") == []


def test_the_table_beyond_the_baseline_has_the_published_figures_beside_it(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", **POOLS, inputs=RaceInputs(baseline=BASELINE))
    text = reports.told(analysed(path))
    assert "CPU time beyond iterative" in text
    assert text.count("third edition, s") == 1, "they belong to 15 workers only"
    assert "1.75" in text
    assert "a book" in text
    told = reports.summary_json(path)
    (group,) = told["groups"]
    prefork = {
        difference["at"]: difference
        for difference in group["differences"]
        if difference["contender"] == "prefork"
    }
    assert prefork[15]["larger"]
    assert 20 < prefork[15]["value"] < 100
    assert told["baseline"]["contender"] == "iterative"


def test_workers_are_ranked_within_each_trial_and_shown_for_pools_alone(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", **POOLS)
    trials = read(path).trials
    ranked = connections_by_rank([trial for trial in trials if len(trial.workers) == 15])
    assert len(ranked) == 15
    assert ranked == sorted(ranked, reverse=True)
    assert ranked[0] > 1.9 * ranked[1]
    assert connections_by_rank([trial for trial in trials if not trial.workers]) == []
    tables = [table for section in view_of(analysed(path)).every() for table in section.tables]
    spread = [reports.cells(table) for table in tables if table.title == "Connections per worker"]
    assert [[row[:2] for row in rows] for rows in spread] == [
        [["prefork", "2"]],
        [["prefork", "15"]],
    ]
    assert not any(table.title.startswith("CPU time beyond") for table in tables), "no baseline"


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "header"), ("name,x\na,1\n", "header"), ("design\na\n", "header")]
    + [("design,x\na,many\n", "many"), ("design,x\na,nan\n", "finite")],
)
def test_an_invalid_file_of_published_figures_is_refused(
    tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "figures.csv"
    path.write_text(text)
    with pytest.raises(StudyError, match=words):
        read_published(path)


def test_published_figures_are_read_with_their_source() -> None:
    found = read_published(Path(__file__).parents[3] / "studies" / "published" / "unp30.csv")
    assert found.source.startswith("W. R. Stevens")
    assert found.rows["fork-per-client"] == [504.2, 168.9, 29.6, 20.9]
    assert found.rows["prefork-accept"][0] is None
