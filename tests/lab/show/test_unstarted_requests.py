"""Requests that an open load never started: no percentile is below the truth."""

import csv
import io
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regatta.judge.analyse import analyse
from regatta.judge.compare.compare import compare
from regatta.judge.contrast import by_block, paired
from regatta.judge.estimates import MEASURED, OVER, estimate_latency
from regatta.judge.judged import NO_REGRESSION, REGRESSION, UNDECIDED
from regatta.judge.statistics.percentiles import nearest_rank
from regatta.record.metrics import FRACTIONS, LATENCY_MAX, P50, P99, P999, PRIMARY
from regatta.record.read import read
from regatta.record.records import RaceRecord, Trial
from regatta.show.charts import metric_rows
from regatta.show.csv import to_csv
from regatta.show.json_summary import to_dict
from regatta.show.numbers import interval_of, value_of
from tests.lab import reports
from tests.lab.simulated_queues import LoadWindow, overloaded, queue
from tests.lab.synthetic import make
from tests.ledgers import change

MS = 1e6


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    path = make(tmp_path_factory.mktemp("one") / "ledger.sqlite", connections=[1], blocks=2)
    return next(trial for trial in read(path).trials if trial.kind == "timed")


def with_seen(trial: Trial, seen: LoadWindow, block: int = 1) -> Trial:
    asked = len(seen.records) - seen.unstarted
    return replace(
        trial,
        block=block,
        samples=seen.samples(),
        requests=asked,
        answered=asked,
        client={"unstarted": seen.unstarted},
    )


def in_blocks(trial: Trial, seen: Sequence[LoadWindow]) -> list[Trial]:
    return [with_seen(trial, one, block) for block, one in enumerate(seen, 1)]


def check(trials: Sequence[Trial], seen: Sequence[LoadWindow]) -> None:
    truth = np.concatenate([window.truth for window in seen])
    estimates, latencies = estimate_latency(list(trials))
    assert latencies.requests == len(truth)
    for name, fraction in FRACTIONS.items():
        estimate = estimates["client", name]
        right = nearest_rank(truth, fraction) / MS
        if estimate.state == OVER:
            assert estimate.value is None
            assert estimate.low <= right * (1 + 1e-12)
        else:
            assert estimate.state == MEASURED
            assert estimate.value >= right * (1 - 1e-12)
    for share, ms in latencies.quantiles_ms:
        assert ms >= nearest_rank(truth, share) / MS * (1 - 1e-12)


@st.composite
def windows(draw: st.DrawFn) -> list[LoadWindow]:
    """Any load, any server: several windows, each with requests that take as long as they like."""
    window, connections, servers = (draw(st.integers(1, most)) for most in (600, 5, 3))
    found = []
    for _ in range(draw(st.integers(1, 3))):
        gaps = draw(st.lists(st.integers(0, 50), min_size=1, max_size=60))
        due = [0, *(int(at) for at in np.cumsum(gaps) if at < window)]
        services = draw(st.lists(st.integers(1, 400), min_size=len(due), max_size=len(due)))
        found.append(queue(due, services, window, connections, servers))
    return found


@given(seen=windows())
def test_no_percentile_of_any_queue_is_below_the_truth(
    trial: Trial, seen: list[LoadWindow]
) -> None:
    check(in_blocks(trial, seen), seen)


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_a_queue_at_three_times_its_capacity_is_over_beyond_a_third(
    trial: Trial, seed: int | None
) -> None:
    seen = overloaded(3, poisson_seed=seed)
    check(in_blocks(trial, [seen]), [seen])
    estimates, latencies = estimate_latency(in_blocks(trial, [seen] * 3))
    for metric in (P50, P99, P999, LATENCY_MAX):
        estimate = estimates["client", metric.name]
        assert (estimate.value, estimate.state) == (None, OVER)
        assert value_of(estimate).startswith("> ")
        assert interval_of(estimate) == ""
    # What was answered is what the percentiles were made of before: all of them below the truth.
    known = np.array([end - due for due, end, outcome in seen.records if outcome == 0])
    assert max(known) < nearest_rank(np.array(seen.truth), 0.5)
    assert max(share for share, _ in latencies.quantiles_ms) == pytest.approx(
        len(known) / len(seen.truth)
    )


def test_a_queue_below_its_capacity_has_plain_numbers(trial: Trial) -> None:
    seen = overloaded(0.5)
    estimates, latencies = estimate_latency(in_blocks(trial, [seen] * 3))
    assert {estimate.state for estimate in estimates.values()} == {MEASURED}
    assert estimates["client", P99.name].value == pytest.approx(0.5 / 300 * 1e3, rel=1e-6)
    assert latencies.quantiles_ms[-1][0] == 1


def test_an_interval_that_reaches_unstarted_requests_has_no_upper_end(trial: Trial) -> None:
    plain, late = overloaded(0.5), overloaded(1.9)
    steady = estimate_latency(in_blocks(trial, [plain] * 9 + [late]))[0]["client", P50.name]
    assert None not in (steady.value, steady.low, steady.high)
    wide = estimate_latency(in_blocks(trial, [plain, late] * 2))[0]["client", P50.name]
    assert wide.value is not None
    assert wide.high is None
    assert interval_of(wide).startswith("over ")


# A race whose open load is too much for one of its contenders


def open_race(path: Path, times: dict[str, float]) -> Path:
    """`times`: what each contender is asked, by what it can."""
    make(path, contenders=tuple(times), axis="rate", steps=[300], connections=[4], blocks=6)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE cell SET load = 'open', rounds = NULL, duration_s = 1")
        rows = database.execute(
            "SELECT trial.id, contender FROM trial JOIN cell ON cell.id = cell_id"
        ).fetchall()
        for number, contender in rows:
            seen = overloaded(times[contender], poisson_seed=number)
            asked = len(seen.records) - seen.unstarted
            database.execute(
                "UPDATE trial SET samples = ?, client = ?, requests = ?, answered = ? WHERE id = ?",
                (
                    seen.samples(),
                    json.dumps({"connections": 4, "unstarted": seen.unstarted}),
                    asked,
                    asked,
                    number,
                ),
            )
    return path


@pytest.fixture(scope="module")
def race(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("race")
    return open_race(folder / "ledger.sqlite", {"select": 0.4, "iterative": 3.0, "epoll": 0.3})


def trials_of(ledger: RaceRecord, contender: str) -> list[Trial]:
    (cell,) = [cell for cell in ledger.cells if cell.contender == contender]
    return ledger.trials_of(cell)


def test_a_percentile_that_is_over_is_compared_with_nothing(race: Path) -> None:
    ledger = read(race)
    fine, late, other = (trials_of(ledger, name) for name in ("select", "iterative", "epoll"))
    assert by_block(P99, "client", late) == OVER
    assert paired(P99, "client", fine, late) == OVER
    assert not isinstance(paired(P99, "client", fine, other), str)
    (group,) = analyse(ledger).groups
    latency = [rival for rival in group.against if rival.metric in FRACTIONS]
    assert latency
    assert all("iterative" not in (rival.contender, rival.best) for rival in latency)


def test_one_block_over_its_percentile_leaves_the_cell_without_a_number(trial: Trial) -> None:
    """They would be the better ones."""
    fine, late = with_seen(trial, overloaded(0.5)), with_seen(trial, overloaded(3))
    mixed = [replace(fine, block=1), replace(late, block=2), replace(fine, block=3)]
    assert by_block(P50, "client", mixed) == OVER
    assert isinstance(by_block(P50, "client", [mixed[0], mixed[2]]), dict)


def test_a_cell_that_does_not_hold_the_rate_says_so_everywhere(race: Path) -> None:
    analysis = reports.analysed(race)
    words = "does not hold the rate: started 3"
    rows = list(csv.DictReader(io.StringIO(to_csv(analysis))))
    for row in rows:
        assert row["says"].startswith(words) == (row["contender"] == "iterative")
        assert (float(row["started_share"]) < 0.4) == (row["contender"] == "iterative")
    (p99,) = [row for row in rows if (row["contender"], row["metric"]) == ("iterative", P99.name)]
    assert (p99["value"], p99["high"], p99["state"]) == ("", "", OVER)
    assert float(p99["low"]) > 100
    (cell,) = [
        cell for cell in to_dict(analysis)["groups"][0]["cells"] if cell["contender"] == "iterative"
    ]
    assert cell["says"].startswith(words)
    assert cell["started_share"] < 0.4
    figure = cell["metrics"]["client"][P99.name]
    assert (figure["value"], figure["state"]) == (None, OVER)
    assert figure["low"] > 100
    text = reports.told(analysis)
    assert words in text
    assert f"> {figure['low']:.0f}" in text


def test_a_chart_draws_an_over_percentile_at_its_lower_bound(race: Path) -> None:
    (group,) = reports.analysed(race).groups
    drawn = {row["design"]: row for row in metric_rows(group, P99, "client")}
    assert set(drawn) == {"select", "iterative", "epoll"}
    late = drawn["iterative"]
    assert late["value"] > 100
    assert late["says"].startswith("> ")
    assert "high" not in late
    assert late["interval"] == "not known"


def test_neither_costs_at_another_load_nor_what_is_over_are_compared(
    race: Path, tmp_path: Path
) -> None:
    """A server that falls behind batches: its requests become cheaper."""
    other = open_race(tmp_path / "ledger.sqlite", {"select": 3.0, "iterative": 3.0, "epoll": 0.3})
    costs, latencies = (
        {
            cell.cell.contender: cell
            for cell in compare(race, other, threshold, metrics=(metric.name,)).cells
        }
        for threshold, metric in ((0.5, PRIMARY), (0.05, P99))
    )
    assert costs["epoll"].verdict == NO_REGRESSION
    assert latencies["epoll"].value is not None
    words = "does not hold the rate: started 3"
    for name, where in (("select", "in NEW: "), ("iterative", "in OLD: ")):
        assert costs[name].verdict == UNDECIDED
        assert costs[name].why.startswith(where + words)
        assert latencies[name].verdict not in (REGRESSION, NO_REGRESSION)
    assert "some due requests did not start" in latencies["select"].why


@pytest.mark.parametrize(("late", "wins"), [(1, True), (2, False)])
def test_a_contender_too_slow_in_over_a_tenth_of_trials_cannot_win(
    late: int, wins: bool, tmp_path: Path
) -> None:
    """Over all its trials it started 99 % of what was due."""
    path = make(tmp_path / "ledger.sqlite", axis="rate", steps=[300], connections=[10])
    change(path, "UPDATE cell SET load = 'open', rounds = NULL, duration_s = 1")
    change(
        path,
        "UPDATE trial SET client = '{\"unstarted\": 3}' WHERE block <= ? "
        "AND cell_id = (SELECT id FROM cell WHERE contender = 'select')",
        late,
    )
    (group,) = reports.analysed(path).groups
    (select,) = (result for result in group.cells if result.cell.contender == "select")
    assert (select.started or 0) >= 0.99
    assert bool(select.barred) != wins
    if not wins:
        words = "does not hold the rate in 2 of 10 trials"
        assert words in to_csv(reports.analysed(path))
        assert words in reports.told(reports.analysed(path))
