"""How far sittings differ, and the limits of a single one; outliers are named and kept; the warm-up
and what the lab used are reported."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from regatta.judge.analyse import analyse
from regatta.judge.held_rates import HeldGroup
from regatta.judge.interval import Interval
from regatta.judge.soundness.barred import ContenderWarmUp
from regatta.judge.soundness.clients import SharedLoads
from regatta.judge.standings import NO_DIFFERENCE
from regatta.judge.statistics.percentiles import percentile_intervals
from regatta.judge.statistics.units import units_of
from regatta.record.metrics import P50, PRIMARY
from regatta.record.read import read
from regatta.record.steady import Slice
from regatta.show.numbers import short
from regatta.show.soundness import IN_ONE, clients_sentence, sittings_sentence
from regatta.show.terminal import LINES
from regatta.show.verdicts import headline, verdict_sentence
from tests.lab import reports
from tests.lab.reports import analysed, cells, section, summary_json, tables, told
from tests.lab.synthetic import make
from tests.ledgers import change

TITLE = "Soundness of the trials"
FAR = 4.0
"""How many times the CPU time of one trial is made."""


def test_an_outlier_is_named_and_in_the_json(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", connections=[1, 10], requests=40)
    change(
        path,
        "UPDATE counter SET value = value * ? WHERE event = 'cpu-time' AND side = 'server' AND"
        " trial_id = (SELECT trial.id FROM trial JOIN cell ON cell.id = cell_id WHERE"
        " contender = 'select' AND connections = 10 AND block = 7)",
        FAR,
    )
    analysis = analyse(read(path))
    soundness = section(analysis, TITLE)
    # By chance there may be one or two more.
    words = r"(1 outlier|\d outliers) in 72 trials \(.*select.*\), .* kept in every average"
    assert any(re.match(words, text) for text in soundness.text)
    far = next(
        found
        for found in summary_json(path)["outliers"]
        if (found["contender"], found["metric"], found["block"]) == ("select", PRIMARY.name, 7)
    )
    assert far["value"] / far["median"] == pytest.approx(FAR, rel=0.1)
    without = section(replace(analysis, outliers=[]), TITLE)
    assert not any("outlier" in text for text in without.text)
    assert without.tables == ()


def test_the_warm_up_table_has_each_contender(tmp_path: Path) -> None:
    analysis = analyse(read(make(tmp_path / "ledger.sqlite", connections=[10], requests=40)))
    slices = (Slice(0.25, 700, 200.0, 150.0), Slice(0.25, 700, 90.0, 120.0))
    select = ContenderWarmUp(
        *("select", "/", "closed", "warmed", 12_000, 2.4),
        *(20, 4, Interval(0.9, 0.88, 0.92), slices),
    )
    calm = {"kind": "flat", "requests": 0, "seconds": 0.0, "unsteady": 0}
    level = Interval(1.0, 0.99, 1.01)
    flat = replace(select, contender="iterative", moves=level, **calm)
    (table,) = tables(replace(analysis, warm_ups=[select, flat]), "Warm-up")
    assert [[*row[:6], row[-1]] for row in cells(table)] == [
        [
            *("select", "/", "warmed", "12,000", "2.4 s", "4 of 20"),
            "not steady in 4 of 20 processes",
        ],
        ["iterative", "/", "flat", "0", "0.0 s", "0 of 20", "warm"],
    ]


def test_several_clients_are_a_sentence(tmp_path: Path) -> None:
    analysis = analyse(read(make(tmp_path / "ledger.sqlite", connections=[10], requests=40)))
    assert clients_sentence(analysis) == ""
    shared = replace(analysis, shared_loads=SharedLoads(2, 0.42, skew_p99_ns=1_500_000))
    (says,) = (text for text in section(shared, TITLE).text if "shared each load" in text)
    assert says.startswith("2 clients shared each load, and used at most 42 % of their CPU;")
    assert "within 1.50 ms of each other in 99 % of trials" in says


def test_what_the_lab_used_is_in_the_view_and_the_json(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", connections=[10], requests=40)
    assert analyse(read(path)).lab_use is None
    sets = "UPDATE trial SET conditions = json_set(conditions, '$.lab_percent', ?)"
    change(path, sets, 1.0)
    change(path, f"{sets} WHERE id = 1", 8.2)
    found = analyse(read(path))
    mean = (8.2 + (found.trials - 1)) / found.trials
    says = f"mean {short(mean)} %, maximum 8.20 % of a CPU"
    assert f"used by the lab during windows  | {says}" in told(found)
    said = summary_json(path)["lab_use"]
    assert said == {"mean": pytest.approx(mean), "maximum": 8.2, "trials": found.trials}


SITTINGS = 5


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Contenders that are further apart in one sitting than in the next, and hardly in blocks."""
    return make(
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
    analysis = analysed(path)
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
    analysis = analysed(path)
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
    for text in (shown(path, explain=True), summary_json(path)["sittings_say"]):
        assert "Another race of one sitting would find" in " ".join(text.split())


def test_the_json_has_each_sitting(path: Path) -> None:
    plain = summary_json(path)
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
    single = make(tmp_path / "ledger.sqlite", connections=(1,))
    analysis = analysed(single)
    assert sittings_sentence(analysis) == IN_ONE
    assert "sitting" not in shown(single, explain=False)
    assert "--sittings" in shown(single, explain=True)


def test_two_sittings_are_too_few_and_named_as_such(path: Path, tmp_path: Path) -> None:
    """Twelve blocks in two sittings are two numbers, and no blocks that were too few."""
    two = make(tmp_path / "ledger.sqlite", blocks=6, sittings=2, connections=[10])
    analysis = analysed(two)
    assert "a verdict needs 3 of them" in sittings_sentence(analysis)
    assert "fewer than 3 sittings can be paired" in shown(two, explain=True)
    group = analysis.groups[0]
    assert headline(group).endswith("is ahead, with too few sittings to be sure")
    lead = Interval(1.1, 0.1, 9.0)
    unseen = replace(group.by_step[0], outcome=NO_DIFFERENCE, lead=lead, detectable=None)
    assert "Too few sittings to say what is detectable" in verdict_sentence(group, unseen)
    assert "interval, by sitting" in shown(path, explain=False)
