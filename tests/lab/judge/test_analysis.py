"""Estimates and verdicts on synthetic ledgers with a known truth."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regatta.judge.results import Analysis
from regatta.judge.standings import LARGER, NO_DIFFERENCE, NOT_MEASURED, TOO_FEW
from regatta.judge.statistics.joint import holm
from regatta.judge.statistics.percentiles import nearest_rank
from regatta.record.read import read
from regatta.record.samples import answered_samples
from tests.lab.reports import analysed
from tests.lab.synthetic import make
from tests.ledgers import change


def estimate(analysis: Analysis, contender: str, connections: int, side: str, name: str) -> Any:
    (found,) = (
        result.estimates[side, name]
        for result in analysis.groups[0].at(connections)
        if result.cell.contender == contender
    )
    return found


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=300), st.integers(1, 1000))
def test_percentiles_are_by_nearest_rank(values: list[int], thousandths: int) -> None:
    found = nearest_rank(np.array(values), thousandths / 1000)
    at_most = [
        value
        for value in sorted(values)
        if 1000 * sum(v <= value for v in values) >= thousandths * len(values)
    ]
    assert found == at_most[0]


def test_percentiles_are_pooled_and_not_averaged(tmp_path: Path) -> None:
    """One trial of four is slow in all its requests: it holds the pooled p99, not their mean's."""
    path = make(tmp_path / "ledger.sqlite", contenders=["select"], connections=[1], blocks=4)
    ledger = read(path)
    timed = [trial for trial in ledger.trials if trial.kind == "timed"]
    answered = [answered_samples(trial.samples) for trial in timed]
    latencies_ms = [(of["end_ns"] - of["start_ns"]) / 1e6 for of in answered]
    pooled = np.concatenate(latencies_ms)
    found = estimate(analysed(path), "select", 1, "client", "latency_p99_ms")
    assert found.value == pytest.approx(np.sort(pooled)[math.ceil(0.99 * len(pooled)) - 1])
    averaged = np.mean([np.quantile(of_trial, 0.99) for of_trial in latencies_ms])
    assert found.value != pytest.approx(averaged, rel=1e-6)


def reference_holm(p_values: list[float]) -> list[bool]:
    """As Holm wrote it: the smallest against alpha / m, the next against alpha / (m - 1), ..."""
    rejected = [False] * len(p_values)
    for step, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[index] > 0.05 / (len(p_values) - step):
            break
        rejected[index] = True
    return rejected


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12, unique=True))
def test_holm_rejects_what_the_reference_rejects(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert [p_value <= 0.05 for p_value in adjusted] == reference_holm(p_values)
    assert all(more >= p for more, p in zip(adjusted, p_values, strict=True))


def test_drift_cancels_in_ratios(tmp_path: Path) -> None:
    """Blocks that differ by a factor of three hide no lead of 5 %: ratios are taken within them."""
    costs = {"iterative": 630.0, "thread-per-client": 900.0, "select": 600.0}
    path = make(tmp_path / "ledger.sqlite", cpu_us=costs, connections=[100], noise=0.002)
    factor = "(SELECT 1 + block % 3 FROM trial WHERE id = trial_id)"
    change(path, f"UPDATE counter SET value = value * {factor} WHERE event = 'cpu-time'")
    verdict = analysed(path).groups[0].overall
    assert verdict.outcome == LARGER
    assert verdict.lead.high - verdict.lead.low < 0.05


@pytest.mark.parametrize(("blocks", "outcome"), [(0, NOT_MEASURED), (1, TOO_FEW)])
def test_too_few_trials_decide_nothing(tmp_path: Path, blocks: int, outcome: str) -> None:
    path = make(tmp_path / "ledger.sqlite", blocks=blocks, connections=[10])
    assert analysed(path).groups[0].overall.outcome == outcome


def test_failed_trials_are_listed_and_excluded_from_averages(tmp_path: Path) -> None:
    fail = {("select", 10, block) for block in (2, 5)}
    path = make(tmp_path / "ledger.sqlite", fail=fail)
    change(
        path,
        "UPDATE counter SET value = 1e15 "
        "WHERE trial_id IN (SELECT id FROM trial WHERE status = 'failed')",
    )
    analysis = analysed(path)
    assert len(analysis.failures) == 2
    assert all("SIGTERM" in (failure.trial.reason or "") for failure in analysis.failures)
    found = estimate(analysis, "select", 10, "server", "cpu_time_per_request_us")
    assert found.trials == 8
    assert found.value < 1000


def test_times_come_from_timed_trials_and_counters_from_counted_ones(tmp_path: Path) -> None:
    """Every figure of the wrong kind of trial is made absurd; none may show."""
    path = make(tmp_path / "ledger.sqlite", counted_blocks=5)
    wrong = "SELECT id FROM trial WHERE kind = '{}'"
    change(
        path,
        "UPDATE counter SET value = 1e15 WHERE origin = 'kernel' AND event LIKE '%-time' "
        f"AND trial_id IN ({wrong.format('counted')})",
    )
    change(
        path, f"UPDATE trial SET throughput_per_s = 1e15 WHERE id IN ({wrong.format('counted')})"
    )
    change(
        path,
        "UPDATE counter SET value = 1e15 WHERE event IN ('context-switches', 'page-faults') "
        f"AND trial_id IN ({wrong.format('timed')})",
    )
    for result in analysed(path).groups[0].cells:
        for (side, name), found in result.estimates.items():
            if found.value is not None:
                assert found.value < 1e9, (side, name)


def test_unsupported_counters_are_never_numbers(tmp_path: Path) -> None:
    analysis = analysed(make(tmp_path / "ledger.sqlite"))
    for name in ("cycles_per_request", "instructions_per_cycle", "tma_retiring_percent"):
        found = estimate(analysis, "select", 10, "server", name)
        assert (found.value, found.low, found.state) == (None, None, "not supported")


def test_a_race_measures_clock_rates_time_and_memory(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", hardware=True, connections=[10], counted_blocks=5)
    analysis = analysed(path)

    def of(name: str, side: str = "server") -> float:
        found: float = estimate(analysis, "thread-per-client", 10, side, name).value
        return found

    # As the ledger was made up: 3 cycles in a ns of the kernel's time, of which perf has 97 %.
    assert of("clock_ghz") == pytest.approx(3 / 0.97)
    assert of("instructions_per_second", "client") == pytest.approx(1.5e9 / 0.97)
    assert of("stalled_cycles_per_instruction") == pytest.approx(2 / 7)
    assert of("counters_running_percent") == 100
    assert of("elapsed_s") == pytest.approx(2 * of("elapsed_s", "client"), rel=1e-6)
    assert of("peak_memory_mib") == 5
    assert estimate(analysis, "select", 10, "server", "peak_memory_mib").value == 2


def test_without_perf_the_kernels_counters_are_used(tmp_path: Path) -> None:
    analysis = analysed(make(tmp_path / "ledger.sqlite", perf=False, counted_blocks=0))
    assert estimate(analysis, "select", 10, "server", "cpu_time_per_request_us").value > 500
    assert estimate(analysis, "select", 10, "server", "page_faults_per_request").value is not None
    threads = estimate(analysis, "thread-per-client", 10, "server", "context_switches_per_request")
    assert (threads.value, threads.state) == (None, "not supported")


def test_the_best_are_a_set_and_each_other_is_compared_with_the_best_of_each_column(
    tmp_path: Path,
) -> None:
    """One of two is as good as the best, and says what it could have seen; the third is not."""
    costs = {"iterative": 600.0, "thread-per-client": 900.0, "select": 600.0}
    path = make(tmp_path / "ledger.sqlite", cpu_us=costs, connections=[100])
    (group,) = analysed(path).groups
    verdict = group.overall
    assert verdict.outcome == NO_DIFFERENCE
    assert set(verdict.best) == {"iterative", "select"}
    assert verdict.worse == ("thread-per-client",)
    assert verdict.lead.low < 1 < verdict.lead.high
    assert verdict.detectable > 1
    found = {(against.metric, against.contender): against for against in group.against}
    other = found["cpu_time_per_request_us", verdict.runner_up]
    assert other.outcome == NO_DIFFERENCE
    assert other.low < 1 < other.high
    assert other.detectable > other.value
    dear = found["cpu_time_per_request_us", "thread-per-client"]
    assert dear.outcome == LARGER
    assert dear.low < 1.5 < dear.high
    throughput = found["throughput_per_s", "thread-per-client"]
    assert throughput.high < 1, "the best of this column is the highest"
