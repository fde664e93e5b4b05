"""Servers are warm when they are steady, as recorded and made-up curves show, and only then win."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from regatta.judge.analyse import analyse
from regatta.record.read import read
from regatta.record.steady import (
    FEWEST,
    FLAT,
    SLOWING,
    STEADY,
    UNSTEADY,
    WARMED,
    Slice,
    is_steady,
    judge,
    rows,
)
from tests import ledgers
from tests.lab import reports
from tests.lab.synthetic import make

RECORDED = Path(__file__).parents[2] / "fixtures" / "warmup"
WATCHED = 40
"""Slices of 0.25 s: a third of the usual limit."""


def recorded(name: str) -> list[Slice]:
    curves = json.loads((RECORDED / f"{name}.json").read_text())
    ends = [0.0, *(row[0] for row in curves["slices"])]
    return [
        Slice(end - begin, requests, cpu_ns / max(1, requests) / 1e3, p50_ns / 1e3)
        for begin, (end, requests, cpu_ns, p50_ns, _) in zip(ends, curves["slices"], strict=False)
    ]


def curve(costs: Sequence[float], noise: float = 0.03, seed: int = 1) -> list[Slice]:
    chance = np.random.default_rng(seed)
    return [
        Slice(0.25, 750, cost * chance.lognormal(0, noise), 200 * chance.lognormal(0, 0.3))
        for cost in costs
    ]


def watched(slices: Sequence[Slice]) -> Sequence[Slice]:
    """What a first process is watched for: a third of the limit, and until it is steady."""
    for count in range(WATCHED, len(slices) + 1):
        if is_steady(slices[:count]):
            return slices[:count]
    return slices


@pytest.mark.parametrize("name", ["node-http", "node-http-again-1", "node-http-again-2"])
def test_node_is_not_warm_at_first_and_is_in_time(name: str) -> None:
    slices = watched(recorded(name))
    found = judge(slices)
    assert found.kind == WARMED
    assert 700 < found.requests < 40_000
    cold = np.mean([part.cpu_us for part in slices[:2]])
    assert cold > 1.8 * np.median([part.cpu_us for part in slices[-FEWEST:]])
    assert not is_steady(slices[:FEWEST], FEWEST), "its first two seconds are not level"


@pytest.mark.parametrize(
    ("name", "requests"),
    [("java-http", (5_000, 45_000)), ("made-up-step", (17_000, 24_000))],
)
def test_what_takes_long_to_warm_is_watched_for_long(name: str, requests: tuple[int, int]) -> None:
    found = judge(watched(recorded(name)))
    assert found.kind == WARMED
    assert requests[0] < found.requests < requests[1]


def test_a_leak_is_never_warm_early_on() -> None:
    slices = curve([80 * 1.01**at for at in range(120)])
    assert watched(slices) is slices, "never level"
    assert judge(slices).kind == SLOWING


def test_a_cost_that_swings_is_never_steady() -> None:
    slices = curve([100 if at // 6 % 2 else 200 for at in range(118)])
    assert judge(slices).kind in (UNSTEADY, SLOWING)


def test_equal_slices_are_flat_soon_despite_noise() -> None:
    found = [judge(watched(curve([100.0] * 120, noise=0.05, seed=seed))) for seed in range(40)]
    assert all(verdict.kind in STEADY for verdict in found)
    assert sum(verdict.kind != FLAT for verdict in found) <= 2


def test_disturbed_slices_warm_but_do_not_decide() -> None:
    slices = curve([100.0] * 30, noise=0.01)
    hit = [replace(part, cpu_us=300, disturbed=True) if at % 3 == 0 else part for at, part in
           enumerate(slices)]  # fmt: skip
    assert is_steady(hit)
    assert judge(hit).kind == FLAT
    assert not is_steady([replace(part, disturbed=False) for part in hit[:7]], FEWEST)


def matched(path: Path, select: str, window: float = 1.0) -> Path:
    """A race of an open load whose processes were watched; `select`: how its process ended."""
    made = make(path, connections=[10], blocks=8, contenders=["iterative", "select"])
    level = rows(curve([100.0] * 12, noise=0.02))
    ledgers.change(
        made, "UPDATE cell SET load = 'open', duration_s = 1, rate = 1000, work = 'scan'"
    )
    firsts = []
    for name, kind, moved in (("iterative", FLAT, 1.0), ("select", select, window)):
        ended = {"kind": kind, "requests": 9000, "seconds": 3.0}
        costs = rows(curve([100.0 * moved] * 4, noise=0.02))
        seen = {"warm_up": ended, "warm_slices": level, "window_slices": costs}
        ledgers.change(
            made,
            "UPDATE trial SET conditions = json_patch(conditions, ?) WHERE cell_id IN "
            "(SELECT id FROM cell WHERE contender = ?)",
            json.dumps(seen),
            name,
        )
        place = {"contender": name, "load": "closed", "work": "scan", "connections": 10}
        firsts.append({**place, **ended, "slices": level})
    ledgers.change(made, "INSERT INTO environment VALUES ('warm_ups', ?)", json.dumps(firsts))
    return made


@pytest.mark.parametrize(
    ("kind", "window"), [(UNSTEADY, 1.0), (WARMED, 0.8), (WARMED, 1.25), (SLOWING, 1.0)]
)
def test_a_server_that_is_not_warm_cannot_win(tmp_path: Path, kind: str, window: float) -> None:
    path = matched(tmp_path / "ledger.sqlite", kind, window)
    analysis = analyse(read(path))
    found = {warm_up.contender: warm_up for warm_up in analysis.warm_ups}
    assert "not steady" in found["select"].why_not
    assert not found["iterative"].why_not
    (verdict,) = analysis.groups[0].by_step
    assert "select" not in verdict.best
    assert "not steady" in verdict.rivals["select"]
    assert not verdict.starred, "the other may need more than it"


def test_a_warm_server_can_win_and_the_report_draws_its_curve(tmp_path: Path) -> None:
    path = matched(tmp_path / "ledger.sqlite", WARMED)
    analysis = analyse(read(path))
    assert not any(warm_up.why_not for warm_up in analysis.warm_ups)
    assert analysis.warm_ups[1].requests == 9000
    assert reports.summary_json(path)["warm_ups"][1]["curve"]
    reports.write(path)
    assert 'data-chart="warm-up-0"' in (path.parent / "report.html").read_text()
