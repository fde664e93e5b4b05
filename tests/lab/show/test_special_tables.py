"""Client-bound trials, CPU time beyond a baseline, and connections per worker."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from regatta.errors import StudyError
from regatta.judge.overheads import differences
from regatta.judge.soundness.clients import connections_by_rank
from regatta.judge.standings import RIVALS
from regatta.record.inputs import Baseline, PublishedTable, RaceInputs
from regatta.record.read import read
from regatta.record.study.baseline import read_published
from regatta.show.build import view_of
from regatta.show.csv import to_csv
from regatta.show.numbers import interval_of, value_of
from regatta.show.standings import standings
from regatta.show.trials import client_help
from regatta.show.verdicts import headline, mark, verdict_sentence
from tests.lab import reports
from tests.lab.reports import analysed
from tests.lab.synthetic import CLIENT_BOUND, DISTURBED, make
from tests.ledgers import change

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


def all_forms(path: Path) -> dict[str, str]:
    """What a person reads, which every renderer draws, and what programs do."""
    analysis = analysed(path)
    as_json = json.dumps(reports.summary_json(path))
    return {"view": reports.told(analysis), "csv": to_csv(analysis), "json": as_json}


def test_a_client_bound_cell_shows_its_server_cpu_and_cannot_win(tmp_path: Path) -> None:
    """select needs the least, but the client set its pace in every trial."""
    bound = {("select", 10, block) for block in range(1, 11)}
    path = make(tmp_path / "ledger.sqlite", connections=[10], client_bound=bound)
    analysis = analysed(path)
    (group,) = analysis.groups
    assert list(group.overall.rivals) == ["select"]
    (select,) = (result for result in group.at(10) if result.cell.contender == "select")
    assert select.client_bound == 10
    used = select.estimates["server", "cpu_time_per_request_us"]
    assert used.state == "client-bound"
    assert used.value == pytest.approx(625, rel=0.03)
    for name in ("throughput_per_s", "latency_p99_ms"):
        estimate = select.estimates["client", name]
        assert (estimate.value, estimate.state) == (None, "client-bound")
    for name, text in all_forms(path).items():
        assert "client-bound" in text or "client_bound" in text, name
        if name != "csv":
            assert "bottleneck" in text or CLIENT_BOUND in text, name


def test_there_is_no_winner_past_a_client_bound_rival(tmp_path: Path) -> None:
    """A closed load: epoll's client is at its limit, a slow server's is not."""
    path = make(
        tmp_path / "ledger.sqlite",
        contenders=["epoll", "asyncio"],
        connections=[10],
        cpu_us={"epoll": 8.5, "asyncio": 25.8},
        client_bound={("epoll", 10, block) for block in range(1, 13)},
    )
    (group,) = analysed(path).groups
    verdict = group.overall
    assert (verdict.outcome, verdict.best, verdict.worse) == (RIVALS, (), ("asyncio",))
    assert [mark(verdict, name) for name in ("epoll", "asyncio")] == ["", ""]
    sentence = verdict_sentence(group, verdict)
    assert sentence.startswith("At 10 connections there is no winner: epoll (")
    assert headline(group) == (
        "epoll needs the least server CPU, but its client was the bottleneck"
    )
    assert "its client was the bottleneck" in sentence
    (epoll,) = (result for result in group.at(10) if result.cell.contender == "epoll")
    cycles = epoll.estimates["server", "cycles_per_request"]
    assert cycles.state == "not supported", "whoever set the pace"
    rows = {row.name: row for row in standings(group, verdict, 10).rows}
    first = rows["epoll"].figures[0]
    assert "best" not in {one.value for one in rows["epoll"].figures}, "they are of its client"
    assert rows["asyncio"].figures[0].value != "best", "nobody is left to compare with"
    level = epoll.estimates["server", "cpu_time_per_request_us"]
    assert 20 < (level.value or 0) < 30, "8.5 µs and what 10 connections add"
    assert (first.value, first.interval) == (value_of(level), interval_of(level))


def test_a_contender_better_than_a_client_bound_rival_wins(tmp_path: Path) -> None:
    bound = {("thread-per-client", 10, block) for block in range(1, 11)}
    path = make(tmp_path / "ledger.sqlite", connections=[10], client_bound=bound)
    (group,) = analysed(path).groups
    assert group.overall.best == ("select",)
    assert mark(group.overall, "select") == "★"


def test_a_contender_whose_rivals_all_failed_has_no_star(tmp_path: Path) -> None:
    fail = {(name, 10, block) for name in ("select", "iterative") for block in range(1, 13)}
    path = make(tmp_path / "ledger.sqlite", connections=[10], fail=fail)
    (group,) = analysed(path).groups
    assert mark(group.overall, "thread-per-client") == ""
    sentence = verdict_sentence(group, group.overall)
    assert "thread-per-client (" in sentence
    assert "is the only one that could be measured" in sentence
    assert "iterative failed and select failed" in sentence


def test_a_failure_of_the_cheapest_at_one_step_prevents_an_overall_winner(
    tmp_path: Path,
) -> None:
    path = make(
        tmp_path / "ledger.sqlite",
        cpu_us={"iterative": 640.0, "thread-per-client": 720.0, "select": 300.0},
        fail={("select", 100, block) for block in range(1, 13)},
    )
    (group,) = analysed(path).groups
    verdict = group.overall
    assert (verdict.outcome, verdict.front, verdict.best) == (RIVALS, "select", ())
    assert headline(group) == "select needs the least server CPU, but it failed"
    assert verdict_sentence(group, verdict).startswith(
        "Over all numbers of connections there is no winner: select needs the least server CPU per "
        "request, but it failed. The next, iterative, needs 2."
    )
    assert "there is no winner" in reports.told(analysed(path))


def test_a_failed_rival_leaves_the_best_without_a_star(
    tmp_path: Path,
) -> None:
    fail = {("iterative", 10, block) for block in range(1, 13)}
    path = make(tmp_path / "ledger.sqlite", connections=[10], fail=fail)
    (group,) = analysed(path).groups
    assert group.overall.best == ("select",)
    assert not any(mark(group.overall, name) for name in ("select", "thread-per-client"))
    assert "iterative (failed) may be as good" in verdict_sentence(group, group.overall)


def test_if_all_failed_the_reason_is_failure(tmp_path: Path) -> None:
    names = ("select", "iterative", "thread-per-client")
    fail = {(name, 10, block) for name in names for block in range(1, 13)}
    (group,) = analysed(make(tmp_path / "ledger.sqlite", connections=[10], fail=fail)).groups
    sentence = verdict_sentence(group, group.overall)
    assert "no trial measured" not in sentence
    assert "iterative, thread-per-client and select failed" in sentence


def test_a_few_client_bound_trials_are_left_out_of_the_averages(tmp_path: Path) -> None:
    bound = {("select", 10, 1), ("select", 10, 2)}
    path = make(tmp_path / "ledger.sqlite", connections=[10], client_bound=bound)
    (group,) = analysed(path).groups
    (select,) = (result for result in group.at(10) if result.cell.contender == "select")
    assert select.estimates["client", "throughput_per_s"].trials == 8
    assert select.estimates["server", "cpu_time_per_request_us"].trials == 8
    assert (select.client_bound, select.failed) == (2, 0)
    assert "2 trials client-bound" in reports.told(analysed(path))


def test_a_disturbed_client_is_not_called_the_bottleneck(tmp_path: Path) -> None:
    late = {("select", 10, block) for block in range(1, 11)}
    path = make(tmp_path / "ledger.sqlite", connections=[10], held_up=late)
    analysis = analysed(path)
    (select,) = (result for result in analysis.groups[0].at(10) if result.held_up)
    assert (select.cell.contender, select.client_bound, select.held_up) == ("select", 0, 10)
    assert select.estimates["client", "latency_p99_ms"].state == "disturbed"
    assert analysis.client_bound == []
    verdict = analysis.groups[0].by_step[0]
    assert verdict.rivals == {"select": "disturbed"}
    assert len(analysis.disturbed) == 10
    for name, text in all_forms(path).items():
        assert "bottleneck" not in text, name
        assert "disturbed" in text, name
        assert "other programs took CPU from the client" in text or name == "csv", name


def test_in_older_races_a_late_client_is_attributed_to_the_disturbance(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", connections=[10], blocks=1, held_up={("select", 10, 1)})
    (late,) = (trial for trial in read(path).trials if trial.client_bound)
    assert (late.held_up, late.is_client_bound) == (DISTURBED, False)
    old = replace(late, conditions={})
    assert (old.held_up, old.is_client_bound, old.counts) == (DISTURBED, False, False)
    busy = replace(old, client_bound=CLIENT_BOUND)
    assert (busy.held_up, busy.is_client_bound) == (None, True)
    assert replace(old, disturbed=None).is_client_bound


def test_a_client_bound_cell_has_a_remedy(tmp_path: Path) -> None:
    bound = {("select", 10, block) for block in range(1, 11)}
    path = make(tmp_path / "ledger.sqlite", connections=[10], client_bound=bound)
    (group,) = analysed(path).groups
    (select,) = (result for result in group.at(10) if result.client_bound)
    cost_us = [
        counter.value / trial.answered / 1e3
        for trial in read(path).trials_of(select.cell)
        if trial.is_client_bound
        for key, counter in trial.counters.items()
        if key == ("client", "kernel", "cpu-time")
    ]
    half = 0.5e6 / np.mean(cost_us)
    assert select.comfortable_rate == int(half // 100 * 100)
    helps = f"an open load of at most {select.comfortable_rate:,} a second"
    for name, text in all_forms(path).items():
        assert helps in " ".join(text.split()), name
    (others,) = {result.comfortable_rate for result in group.at(10) if not result.client_bound}
    assert others is None


def test_more_cpus_are_suggested_only_for_threaded_clients(tmp_path: Path) -> None:
    for engine in ("epoll", "thread"):
        path = make(
            tmp_path / f"{engine}.sqlite",
            connections=[10],
            engines=[engine],
            client_bound={("select", 10, 1)},
        )
        place = json.dumps({"client_cpus": [1, 2], "server_cpus": [0]})
        change(path, "INSERT OR REPLACE INTO environment VALUES ('placement', ?)", place)
        (select,) = (one for one in analysed(path).groups[0].at(10) if one.client_bound)
        rate = select.comfortable_rate or 0
        assert ("client_cpus" in client_help(select)) == (engine == "thread")
        assert rate == pytest.approx(0.5e6 / 61.6 * (2 if engine == "thread" else 1), rel=0.15)


def test_a_biased_selection_of_trials_is_not_a_result(tmp_path: Path) -> None:
    """Six of ten trials were client-bound: the other four are the exception."""
    bound = {("select", 10, block) for block in range(1, 7)}
    path = make(tmp_path / "ledger.sqlite", connections=[10], client_bound=bound)
    (group,) = analysed(path).groups
    (select,) = (result for result in group.at(10) if result.cell.contender == "select")
    assert select.estimates["client", "throughput_per_s"].state == "client-bound"
    used = select.estimates["server", "cpu_time_per_request_us"]
    assert (used.trials, used.state) == (10, "client-bound")


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
    assert more.us_per_request == pytest.approx(10.05)
    assert 9.9 < more.low < 10.05 < (more.high or 0) < 10.2
    assert more.larger
    assert not same.larger
    assert (same.low or 0) < 0 < (same.high or 0)


def test_a_contender_without_a_shared_block_has_no_difference() -> None:
    assert differences({5: {"base": {1: 600.0}, "more": {2: 610.0}}}, "base") == []
    assert differences({5: {"more": {2: 610.0}}}, "base") == []


def test_the_table_beyond_the_baseline_has_the_published_figures_beside_it(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", **POOLS, inputs=RaceInputs(baseline=BASELINE))
    for name, text in all_forms(path).items():
        if name != "view":
            continue
        assert "CPU time beyond iterative" in text, name
        assert text.count("third edition, s") == 1, "they belong to 15 workers only"
        assert "1.75" in text, name
        assert "a book" in text, name
    told = reports.summary_json(path)
    (group,) = told["groups"]
    prefork = {one["at"]: one for one in group["differences"] if one["contender"] == "prefork"}
    assert prefork[15]["larger"]
    assert 20 < prefork[15]["us_per_request"] < 100
    assert told["baseline"]["contender"] == "iterative"


def test_without_a_baseline_there_is_no_such_table(tmp_path: Path) -> None:
    assert "CPU time beyond" not in reports.told(
        analysed(make(tmp_path / "ledger.sqlite", **POOLS))
    )


def test_workers_are_ranked_within_each_trial(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", **POOLS)
    trials = [trial for trial in read(path).trials if len(trial.workers) == 15]
    ranked = connections_by_rank(trials)
    assert len(ranked) == 15
    assert ranked == sorted(ranked, reverse=True)
    assert ranked[0] > 1.9 * ranked[1]
    assert connections_by_rank([trial for trial in read(path).trials if not trial.workers]) == []


def test_connections_per_worker_are_shown_for_pools_alone(tmp_path: Path) -> None:
    view = view_of(analysed(make(tmp_path / "ledger.sqlite", **POOLS)))
    tables = [table for section in view.every() for table in section.tables]
    spread = [reports.cells(one) for one in tables if one.title == "Connections per worker"]
    assert [[row[:2] for row in rows] for rows in spread] == [
        [["prefork", "2"]],
        [["prefork", "15"]],
    ]
    assert any(one.title.startswith("Each of 15 workers") for one in tables)


def test_designs_that_were_left_out_are_named_with_the_reason(tmp_path: Path) -> None:
    why = {"uring": "this kernel is too old"}
    for name, text in all_forms(
        make(tmp_path / "ledger.sqlite", environment={"left_out": why})
    ).items():
        if name != "csv":
            assert "this kernel is too old" in text, name


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "header"),
        ("name,x\na,1\n", "header"),
        ("design\na\n", "header"),
        ("design,x\na,many\n", "many"),
        ("design,x\na,nan\n", "finite"),
    ],
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


@pytest.mark.parametrize(("failed", "star"), [(0, "★"), (1, "★"), (2, ""), (4, "")])
def test_a_contender_that_failed_in_over_a_tenth_of_trials_cannot_win(
    failed: int, star: str, tmp_path: Path
) -> None:
    fail = {("select", 10, block) for block in range(1, 1 + failed)}
    path = make(
        tmp_path / "ledger.sqlite",
        connections=[10],
        fail=fail,
        cpu_us={"select": 400.0, "iterative": 640.0, "thread-per-client": 720.0},
    )
    (group,) = analysed(path).groups
    assert mark(group.overall, "select") == star
    why = f"failed in {failed} of 10 trials"
    (select,) = (result for result in group.at(10) if result.cell.contender == "select")
    assert select.estimates["server", "cpu_time_per_request_us"].trials == 10 - failed
    if not star:
        assert group.overall.rivals == {"select": why}
        assert headline(group) == f"select needs the least server CPU, but it {why}"
        assert not any(mark(group.overall, name) for name in group.overall.worse)
        for name, text in all_forms(path).items():
            assert why in text, name
