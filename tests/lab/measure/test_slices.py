"""Servers that stand side by side, their loads in slices; and races that end when exact enough."""

import math
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from regatta.errors import StudyError
from regatta.judge import power
from regatta.judge.power import leads_of, reason_to_stop, widest_lead
from regatta.measure.perf import probe
from regatta.measure.places import placement
from regatta.measure.race.events import Event, TrialFinished
from regatta.measure.race.options import Hooks
from regatta.measure.race.run_plan import batches
from regatta.measure.trial.load import sliced
from regatta.measure.trial.merge import merge_counters
from regatta.measure.trial.trial import run_side_by_side
from regatta.record.counters import Counter, counted, keyed, not_supported
from regatta.record.read import read
from regatta.record.records import COUNTED_TRIAL, TIMED
from regatta.record.samples import answered_samples
from regatta.record.schema import FILE_NAME
from regatta.record.study.race import make_plan
from regatta.record.write import Ledger
from tests.lab import fake_races, synthetic
from tests.ledgers import change

STUDY = fake_races.on_one_cpu(
    f"{fake_races.PAIR}connections = [3, 6]\nrequests = 12\n",
    **{"blocks": 2, "counted_blocks": 1, "slices": 3, "disturbance_limit_percent": 1e6, "seed": 5},
)
pytestmark = pytest.mark.usefixtures("programs_folder")


@pytest.mark.parametrize("slices", [1, 2, 3, 4, 7])
def test_the_slices_of_a_load_are_the_whole_load(slices: int) -> None:
    cell = fake_races.parse(STUDY).cells[0]
    assert cell.rounds == 4
    parts = sliced(cell, slices)
    rounds = [part.rounds or 0 for part in parts]
    assert sum(rounds) == 4
    assert min(rounds) >= 1
    assert max(rounds) - min(rounds) <= 1
    timed = replace(cell, load="closed", rounds=None, duration_s=1.0)
    assert sum(part.duration_s or 0 for part in sliced(timed, slices)) == pytest.approx(1.0)


@pytest.mark.parametrize("with_perf", [True, False])
def test_servers_take_turns_and_each_trial_holds_all_of_its_slices(
    tmp_path: Path, with_perf: bool
) -> None:
    cells = fake_races.parse(STUDY).cells
    found = probe(("task-clock",)) if with_perf else None
    with placement.make_placement("loopback", [0], [0]) as place:
        results = run_side_by_side(
            fake_races.trial_setup(tmp_path, place, found), cells, COUNTED_TRIAL, 1, slices=2
        )
    assert [result.status for result in results] == ["ok"] * 4
    for result in results:
        assert (result.requests, result.answered) == (12, 12)
        assert len(answered_samples(result.samples)) == 12
        assert result.client
        assert result.client["slices"] == 2
        # A tenth of a second for each request, in slices that add up.
        assert result.throughput_per_s == pytest.approx(100.0)
        assert result.client["usage"]["self"]["user_ns"] == 2000
    assert not (tmp_path / "scratch").exists()


def test_a_server_that_fails_costs_the_others_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = fake_races.parse(STUDY).cells
    with placement.make_placement("loopback", [0], [0]) as place:
        good = fake_races.trial_setup(tmp_path, place)
        broken = replace(cells[0], connections=10**6, rounds=1)
        monkeypatch.setenv("FAKE_MOST", "100")
        results = run_side_by_side(good, [broken, *cells[1:]], TIMED, 1, slices=2)
    assert [result.status for result in results] == ["failed", "ok", "ok", "ok"]
    assert results[0].counters == {}
    assert results[0].samples is None


def test_what_one_slice_could_not_count_is_counted_in_none() -> None:
    parts = [
        [
            counted("cpu-time", 10, "ns"),
            counted("x", 1, "count"),
            Counter("t", 20, "%", 50, "counted"),
            counted("memory", 90, "bytes"),
        ],
        [
            counted("cpu-time", 5, "ns"),
            not_supported("x"),
            Counter("t", 50, "%", 100, "counted"),
            counted("memory", 80, "bytes"),
        ],
    ]
    keys = [keyed("server", "kernel", part) for part in parts]
    merged = {event: one for (_, _, event), one in merge_counters(keys, [1000, 3000]).items()}
    assert merged["memory"].value == 80, "what there is at the end"
    assert merged["cpu-time"].value == 15
    assert merged["x"].state == "not supported"
    assert merged["x"].value is None
    assert merged["t"].value == pytest.approx(42.5)
    assert merged["t"].running_percent == pytest.approx(87.5)


def test_only_compared_trials_run_side_by_side() -> None:
    whole = f'{fake_races.PAIR}connections = 3\nrounds = 1\nscope = "process"'
    study = fake_races.parse(STUDY + whole)
    found = batches(make_plan(len(study.cells), 1, 0, seed=3), study)
    cells = [[study.cells[planned.cell_id - 1] for planned in batch] for batch in found]
    window = [batch for batch in cells if batch[0].scope == "window"]
    assert sorted(len(batch) for batch in window) == [2, 2]
    for batch in window:
        assert {cell.contender for cell in batch} == {"iterative", "select"}
        assert len({cell.connections for cell in batch}) == 1
    assert [len(batch) for batch in cells if batch[0].scope == "process"] == [1, 1]
    one_by_one = study.but(slices=1)
    assert {len(batch) for batch in batches(make_plan(6, 1, 0, seed=3), one_by_one)} == {1}


@pytest.mark.parametrize(("widths", "blocks"), [([0.02], 2), ([0.5, 0.02], 3), ([0.5, 0.5], 4)])
def test_a_race_ends_when_its_widest_interval_is_narrow_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, widths: list[float], blocks: int
) -> None:
    """The widths are made up; what they are of a ledger is tested below."""
    text = STUDY.replace("slices = 3", "width_percent = 3\nmost_blocks = 4")
    study = fake_races.parse(text.replace("connections = [3, 6]", "connections = 3"))
    left = iter(widths)
    monkeypatch.setattr(power, "widest_lead", lambda _: next(left))
    hooks = Hooks(enough=reason_to_stop)
    events: list[Event] = []
    fake_races.race(study, tmp_path, events.append, hooks, use_perf=False)
    ledger = read(tmp_path / FILE_NAME)
    assert len({trial.block for trial in ledger.trials if trial.kind == TIMED}) == blocks
    counted = [trial for trial in ledger.trials if trial.kind == COUNTED_TRIAL]
    assert len(counted) == 2, "the counted block is run, though it comes after the second timed one"
    if blocks == 2:
        assert [event.left for event in events if isinstance(event, TrialFinished)][-3:] == [
            6,
            1,
            0,
        ]
    assert ledger.planned == len(ledger.trials)
    early = ledger.meta.get("ended_early", "")
    assert ("2.0 % wide, and 3 % was asked for" in early) == (blocks < 4)
    assert next(left, None) is None, (
        "it is asked after each whole timed block from the second to the last but one"
    )


@pytest.mark.parametrize(("failing", "blocks"), [(0, 2), (1, 3), (4, 4)])
def test_a_block_in_which_a_trial_failed_is_replaced_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int, blocks: int
) -> None:
    """At most two, as a server that always fails must not keep a race going."""
    text = STUDY.replace("slices = 3", "width_percent = 3\nmost_blocks = 5")
    study = fake_races.parse(text.replace("connections = [3, 6]", "connections = 3"))
    monkeypatch.setattr(power, "widest_lead", lambda _: 0.02)
    monkeypatch.setattr(Ledger, "blocks_spoilt", lambda *_: failing)
    hooks = Hooks(enough=reason_to_stop)
    fake_races.race(study, tmp_path, lambda _: None, hooks, use_perf=False)
    ledger = read(tmp_path / FILE_NAME)
    assert len({trial.block for trial in ledger.trials if trial.kind == TIMED}) == blocks


def test_spoilt_blocks_are_those_with_a_failed_or_client_bound_trial(tmp_path: Path) -> None:
    path = synthetic.make(tmp_path / FILE_NAME, blocks=5, connections=(10,))
    change(path, "UPDATE trial SET status = 'failed' WHERE block = 2")
    change(path, "UPDATE trial SET client_bound = 'x' WHERE block = 4 AND cell_id = 1")
    with Ledger(path, sqlite3.connect(path)) as ledger:
        assert ledger.blocks_spoilt(TIMED) == 2


def test_the_width_is_that_of_the_widest_interval(tmp_path: Path) -> None:
    few = widest_lead(synthetic.make(tmp_path / "few", blocks=5))
    many = widest_lead(synthetic.make(tmp_path / "many", blocks=60))
    assert 0 < many < few
    change(tmp_path / "few", "DELETE FROM trial WHERE block > 1")
    assert widest_lead(tmp_path / "few") is None


@pytest.mark.parametrize("first_us", [699.0, 350.0])
def test_the_width_is_drawn_at_95_percent_whatever_the_p_values(
    tmp_path: Path, first_us: float
) -> None:
    cpu_us = {"a": first_us, "b": 700.0}
    path = synthetic.make(tmp_path / FILE_NAME, contenders=("a", "b"), cpu_us=cpu_us)
    ends = [lead.interval(0.05) for lead in leads_of(path)]
    assert len(ends) == 4, "at three steps and overall"
    assert widest_lead(path) == max(math.exp(of.high - of.low) - 1 for of in ends)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("width_percent = 3", "`race.width_percent` needs `race.most_blocks`"),
        ("most_blocks = 30", "`race.most_blocks` needs `race.width_percent`"),
        ("width_percent = 0\nmost_blocks = 30", "a number from 0.1 to 100"),
        ("width_percent = 3\nmost_blocks = 1", "from 2 to"),
    ],
)
def test_a_width_is_named_with_its_limit(change: str, words: str) -> None:
    with pytest.raises(StudyError, match=words):
        fake_races.parse(STUDY.replace("slices = 3", change))
