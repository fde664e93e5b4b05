"""Sittings in every form of the report: how far they differ, and the limits of a single one."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from regatta.judge.analyse import analyse
from regatta.judge.held_rates import HeldGroup
from regatta.judge.interval import Interval
from regatta.judge.standings import NO_DIFFERENCE
from regatta.judge.statistics.percentiles import percentile_intervals
from regatta.judge.statistics.units import units_of
from regatta.record.metrics import P50, PRIMARY
from regatta.record.read import read
from regatta.show.soundness import IN_ONE, sittings_sentence
from regatta.show.terminal import LINES
from regatta.show.verdicts import headline, verdict_sentence
from tests.lab import reports, synthetic

SITTINGS = 5


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Contenders that are further apart in one sitting than in the next, and hardly in blocks."""
    return synthetic.make(
        tmp_path_factory.mktemp("sittings") / "ledger.sqlite",
        connections=(1, 10),
        blocks=4,
        counted_blocks=1,
        sittings=SITTINGS,
        sitting_noise=0.05,
        noise=0.01,
    )


def shown(path: Path, explain: bool) -> str:
    return reports.printed(reports.explain if explain else reports.screen, path, width=80)


def test_every_verdict_and_interval_rests_on_sittings(path: Path) -> None:
    analysis = reports.analysed(path)
    (group,) = analysis.groups
    verdicts = [*group.by_step, group.overall]
    assert {verdict.blocks for verdict in verdicts} == {SITTINGS}
    assert {rival.blocks for rival in group.against if rival.scale is not None} <= {SITTINGS, 0}
    assert analysis.units.name == "sittings"


def test_the_intervals_of_levels_rest_on_the_sittings_means(path: Path) -> None:
    """By Student's t; of a percentile those of the shares below it."""
    ledger = read(path)
    units = units_of(ledger)
    result = analyse(ledger).groups[0].cells[0]
    means = list(units.gathered(result.blocks[PRIMARY.name]).values())
    estimate = result.estimates["server", PRIMARY.name]
    low, high = stats.t.interval(0.95, SITTINGS - 1, np.mean(means), stats.sem(means))
    assert (estimate.low, estimate.high) == pytest.approx((low, high))
    p50 = result.estimates["client", P50.name]
    reach = units.reach_of(list(result.requests))
    (right,) = percentile_intervals(list(result.requests.values()), [0.5], reach)
    assert (p50.low, p50.high) == pytest.approx((right.low / 1e6, right.high / 1e6))


def test_the_report_states_how_far_sittings_differ(path: Path) -> None:
    analysis = reports.analysed(path)
    found = analysis.groups[0].between
    assert found.sittings == SITTINGS
    assert 0.05 < found.reach < 0.5
    said = sittings_sentence(analysis)
    assert said.startswith("5 sittings: verdicts and intervals of standings, claims and")
    assert "Another race of one sitting would find a ratio within" in said
    assert "clocks, repeats and warm-up on blocks or trials" in said
    assert "searched once" not in said
    searched = replace(analysis, held=[HeldGroup("", 50.0, [], [])])
    assert "Held rates were searched once" in sittings_sentence(searched)
    for text in (shown(path, explain=True), reports.summary_json(path)["sittings_say"]):
        assert "Another race of one sitting would find" in " ".join(text.split())


def test_the_json_has_each_sitting(path: Path) -> None:
    plain = reports.summary_json(path)
    assert [sitting["boot_id"] for sitting in plain["sittings"]] == [
        f"boot-{n}" for n in range(1, 6)
    ]
    assert plain["sittings"][1]["link_order"] == 1002
    assert plain["sittings"][1]["environment_bytes"] == 200
    assert plain["units"] == {"are": "sittings", "fewest": 3}
    assert plain["groups"][0]["between_sittings"]["sittings"] == SITTINGS


def test_the_screen_has_one_line_about_sittings(path: Path) -> None:
    text = shown(path, explain=False)
    lines = text.splitlines()
    assert len(lines) <= LINES
    assert all(len(line) <= 80 for line in lines)
    (line,) = (line for line in lines if "sittings" in line)
    assert re.fullmatch(r"5 sittings: another race ±.* %", line)


def test_a_race_in_one_sitting_states_its_limits(tmp_path: Path) -> None:
    single = synthetic.make(tmp_path / "ledger.sqlite", connections=(1,))
    analysis = reports.analysed(single)
    assert sittings_sentence(analysis) == IN_ONE
    assert "sitting" not in shown(single, explain=False)
    assert "--sittings" in shown(single, explain=True)


def test_two_sittings_are_too_few_and_named_as_such(path: Path, tmp_path: Path) -> None:
    """Twelve blocks in two sittings are two numbers, and no blocks that were too few."""
    two = synthetic.make(tmp_path / "ledger.sqlite", blocks=6, sittings=2, connections=[10])
    analysis = reports.analysed(two)
    assert "a verdict needs 3 of them" in sittings_sentence(analysis)
    assert "fewer than 3 sittings can be paired" in shown(two, explain=True)
    group = analysis.groups[0]
    assert headline(group).endswith("is ahead, with too few sittings to be sure")
    lead = Interval(1.1, 0.1, 9.0)
    unseen = replace(group.by_step[0], outcome=NO_DIFFERENCE, lead=lead, detectable=None)
    assert "Too few sittings to say what is detectable" in verdict_sentence(group, unseen)
    assert "interval, by sitting" in shown(path, explain=False)
