"""Open load on a slow server: requests that were due but not started count in the percentiles."""

import math
import re
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.scripted_servers import (
    errors,
    open_load,
    read_samples,
    result_of,
    shown_by,
)
from tests.servers import running

ANSWERED, UNSTARTED = 0, 6
FRACTIONS = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99_9": 0.999, "max": 1.0}


def nearest_rank(values: list[float], fraction: float) -> float:
    return sorted(values)[max(1, math.ceil(fraction * len(values) - 1e-9)) - 1]


def check_against_truth(latency: dict[str, Any], at_least: list[float]) -> None:
    """No percentile is below the truth; `at_least` are lower bounds of the latencies."""
    for name, fraction in FRACTIONS.items():
        if latency[name] is not None:
            assert latency[name] >= nearest_rank(at_least, fraction), name
            assert name not in latency["over"]
        else:
            assert latency["over"][name] >= 0, name


# A request is sent when all earlier ones are answered, except those on other connections, and the
# server works on them one after another. So these bounds hold however busy the machine is.
@pytest.mark.parametrize(("design", "connections"), [("iterative", 1), ("select", 8)])
def test_at_three_times_the_capacity_no_percentile_is_below_the_truth(
    design: str, connections: int, tmp_path: Path
) -> None:
    work_s, rate, duration_s = 0.01, 300, 1.0
    path = tmp_path / "samples"
    with running(tmp_path, "--design", design, "--work", "wait=10ms") as server:
        result, status = result_of(
            server, f"{open_load(rate, duration_s)} -c {connections} --samples {path}"
        )
    due = round(rate * duration_s)
    at_least = [1e9 * (max(1, k + 2 - connections) * work_s - k / rate) for k in range(due)]
    assert (status, result["errors"]) == (0, errors())
    assert result["requests"] + result["unstarted"] == due
    assert result["requests"] <= duration_s / work_s + connections
    check_against_truth(result["latency_ns"], at_least)
    check_against_truth(result["first_byte_ns"], at_least)
    # Two thirds did not start, and the median is among them.
    assert all(result["latency_ns"][name] is None for name in (*FRACTIONS, "mean"))
    assert result["latency_ns"]["over"]["p50"] > 0.2e9
    # The samples show the same for each request.
    samples = sorted(read_samples(path)[0])
    assert len(samples) == due
    for k, (start_ns, first_ns, end_ns, _, outcome) in enumerate(samples):
        assert start_ns - samples[0][0] == pytest.approx(k * 1e9 / rate, abs=2)
        if outcome == UNSTARTED:
            assert first_ns == 0
            assert end_ns - samples[0][0] == pytest.approx(duration_s * 1e9, abs=2)
        else:
            assert outcome == ANSWERED
            assert end_ns - start_ns >= at_least[k] - 2


def test_the_summary_says_that_the_rate_is_not_held(tmp_path: Path) -> None:
    with running(tmp_path, "--design", "iterative", "--work", "wait=20ms") as server:
        shown = shown_by(*open_load(300, 0.4).split(), "-c", "1", server.address)
    latency = next(line for line in shown.splitlines() if line.startswith("  latency"))
    assert latency.count("> ") == 4
    (asked,) = re.findall(r"(\d+) requests? to ", shown)
    (unstarted,) = re.findall(r"; (\d+) due but not started", shown)
    started = 1000 * int(asked) // (int(asked) + int(unstarted)) / 10  # rounded down
    assert f"does not hold the rate: started {started:.1f} % of what was due" in shown
