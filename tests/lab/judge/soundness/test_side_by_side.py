"""The cost of running side by side, from blocks in which every server is alone."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regatta.errors import StudyError
from regatta.judge.analyse import analyse
from regatta.judge.results import Analysis
from regatta.judge.soundness.side_by_side import blocks_beside
from regatta.judge.statistics.units import Units
from regatta.measure.race import run_plan
from regatta.measure.race.race import plan_of
from regatta.measure.race.run_plan import batches
from regatta.measure.trial.setup import TrialSetup
from regatta.record.cell import Cell
from regatta.record.counters import COUNTED
from regatta.record.metrics import PRIMARY
from regatta.record.read import read
from regatta.record.records import ALONE, COUNTED_TRIAL, SAMPLED, TIMED, TRACED, Trial
from regatta.record.schema import FILE_NAME
from regatta.record.study.race import block_kinds, make_plan
from regatta.show.notes import company, notes
from regatta.show.numbers import ratio_words
from regatta.show.soundness import clocks_sentence
from tests.lab import fake_races
from tests.lab.synthetic import make
from tests.ledgers import change

BURSTS = f"{fake_races.PAIR}connections = [2]\nrequests = 4\n"
WHOLE = f'{fake_races.PAIR}connections = [2]\nrounds = 1\nscope = "process"\n'
RACE = {"blocks": 3, "counted_blocks": 1, "alone_blocks": 2, "slices": 2, "seed": 5}
STUDY = fake_races.on_one_cpu(BURSTS + WHOLE, **RACE)


@pytest.mark.parametrize("kind", [ALONE, SAMPLED, TRACED])
@given(st.integers(1, 12), st.integers(0, 8), st.integers(0, 8))
def test_further_blocks_are_spread_among_the_others(
    kind: str, blocks: int, counted: int, further: int
) -> None:
    kinds = block_kinds(blocks, counted, **{kind: further})
    assert [other for other in kinds if other != kind] == block_kinds(blocks, counted)
    assert kinds.count(kind) == further
    halves = kinds[: len(kinds) // 2], kinds[(len(kinds) + 1) // 2 :]
    assert abs(halves[0].count(kind) - halves[1].count(kind)) <= 1


def test_a_plan_without_alone_blocks_is_unchanged() -> None:
    assert make_plan(4, 6, 2, seed=1) == make_plan(4, 6, 2, seed=1, cells_of={ALONE: (1, 2)})


@pytest.mark.parametrize(("sampled", "traced"), [(0, 0), (1, 1), (7, 2)])
def test_a_few_blocks_are_traced_beside_sampled_ones(sampled: int, traced: int) -> None:
    for is_traced in (True, False):
        plan = make_plan(2, 6, 2, 1, sampled_blocks=sampled, is_traced=is_traced)
        assert sum(planned.kind == TRACED for planned in plan) == 2 * traced * is_traced
        assert sum(planned.kind == SAMPLED for planned in plan) == 2 * sampled


def test_only_the_last_step_of_a_table_is_sampled() -> None:
    """A pool has workers and no other design has: both are in one table."""
    cells = (
        f"{fake_races.PAIR}connections = [2, 8]\nrequests = 16\n"
        '[[cells]]\ndesigns = ["pool"]\nworkers = [2, 4]\n'
        "connections = [2, 8]\nrequests = 16\n"
        f"{fake_races.PAIR}connections = [3]\nrequests = 9\nwork = 'snapshot'\n"
        f"{fake_races.PAIR}connections = [4]\nidle = [0, 5]\nrequests = 9\ndialect = 'http'\n"
        f"{fake_races.PAIR}connections = [2]\nidle = 5\nrequests = 9\ndialect = 'http'\n"
    )
    study = fake_races.parse(fake_races.on_one_cpu(cells, blocks=2, sampled_blocks=3, seed=5))
    sampled = [planned for planned in plan_of(study) if planned.kind == SAMPLED]
    found = [study.cells[planned.cell_id - 1] for planned in sampled]
    assert sorted(
        (cell.contender, cell.connections, cell.workers or 0) for cell in found
    ) == sorted(
        3
        * [
            *((name, count, 0) for name in ("iterative", "select") for count in (3, 4, 4, 8)),
            *(("pool", 8, workers) for workers in (2, 4)),
        ]
    )


def test_a_server_raced_alone_has_no_neighbour() -> None:
    study = fake_races.parse(STUDY)
    plan = plan_of(study.but(seed=3))
    of_kind = {
        kind: [batch for batch in batches(plan, study) if batch[0].kind == kind]
        for kind in (TIMED, COUNTED_TRIAL, ALONE)
    }
    assert [len(batch) for batch in of_kind[ALONE]] == [1] * 4, "whole processes are alone anyway"
    assert sorted(len(batch) for batch in of_kind[TIMED]) == [1] * 6 + [2] * 3


@pytest.mark.parametrize(("cells", "slices"), [(BURSTS, 1), (WHOLE, 2)])
def test_where_all_are_alone_there_is_nothing_to_check(cells: str, slices: int) -> None:
    with pytest.raises(StudyError, match=r"`race.alone_blocks` measures how servers"):
        fake_races.parse(fake_races.on_one_cpu(cells, **RACE | {"slices": slices}))


@pytest.mark.usefixtures("programs_folder")
def test_a_race_with_them_keeps_its_slices_and_its_other_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    together: list[tuple[str, int, int]] = []
    real = run_plan.run_side_by_side

    def noted(
        setup: TrialSetup, cells: Sequence[Cell], kind: str, block: int, slices: int
    ) -> list[Trial]:
        if cells[0].scope == "window":
            together.append((kind, len(cells), slices))
        return real(setup, cells, kind, block, slices)

    monkeypatch.setattr(run_plan, "run_side_by_side", noted)
    study = fake_races.parse(STUDY)
    fake_races.race(study, tmp_path, use_perf=False)
    assert sorted(set(together)) == [(ALONE, 1, 2), (COUNTED, 2, 2), (TIMED, 2, 2)]
    ledger = read(tmp_path / FILE_NAME)
    assert {trial.status for trial in ledger.trials} == {"ok"}
    assert sum(trial.kind == ALONE for trial in ledger.trials) == 4
    assert len(ledger.trials) == ledger.planned == 20


def test_each_block_alone_is_compared_with_a_block_of_its_own_in_its_sitting() -> None:
    assert blocks_beside([2, 5, 8], [1, 3, 4, 6, 7, 9]) == {2: 1, 5: 4, 8: 9}
    assert blocks_beside([2, 3, 4], [1, 5]) == {2: 1, 4: 5}
    sittings = Units({block: block // 10 for block in range(20)})
    found = blocks_beside([3, 6, 13, 16], [2, 4, 7, 12, 14, 17], sittings)
    assert found == {3: 2, 6: 7, 13: 12, 16: 17}


def race_with_alone_blocks(folder: Path, alone: dict[str, float], drift: float = 0.0) -> Analysis:
    """A race whose contenders cost this factor in the blocks raced alone; all drift together."""
    path = make(folder / FILE_NAME, connections=[1, 10], requests=40, blocks=18, counted_blocks=0)
    for table in ("trial", "plan"):
        change(path, f"UPDATE {table} SET kind = 'alone' WHERE block % 3 = 2")
    for contender in ("iterative", "thread-per-client", "select"):
        change(
            path,
            "UPDATE counter SET value = value * (SELECT CASE WHEN kind = 'alone' THEN ?1 ELSE 1"
            " END * (1 + block * ?2) FROM trial WHERE trial.id = trial_id)"
            " WHERE event = 'cpu-time' AND side = 'server' AND trial_id IN (SELECT trial.id"
            " FROM trial JOIN cell ON cell.id = cell_id WHERE contender = ?3)",
            *(alone.get(contender, 1.0), drift, contender),
        )
    return analyse(read(path))


def test_a_side_by_side_cost_of_one_contender_is_reported(tmp_path: Path) -> None:
    analysis = race_with_alone_blocks(tmp_path, {"select": 0.9})
    found = {cost.contender: cost for cost in analysis.side_by_side}
    assert [cost.blocks for cost in found.values()] == [6, 6, 6]
    ratio = found["select"].ratio
    assert ratio.low < 0.9 < ratio.high
    assert ratio.value == pytest.approx(0.9, abs=0.03)
    assert found["select"].differs
    (note,) = company(analysis)
    assert note in notes(analysis)
    assert f"raced alone, select costs {ratio_words(ratio, of=' times')} what" in note.sentence


def test_a_side_by_side_cost_common_to_all_changes_no_comparison(tmp_path: Path) -> None:
    cheaper = dict.fromkeys(("iterative", "thread-per-client", "select"), 0.9)
    analysis = race_with_alone_blocks(tmp_path, cheaper)
    assert all(cost.ratio.value == pytest.approx(0.9, abs=0.03) for cost in analysis.side_by_side)
    assert not any(cost.differs for cost in analysis.side_by_side)
    assert not any(company(analysis))
    assert "not distinguishable" in clocks_sentence(analysis)


def test_drift_is_not_a_side_by_side_cost(tmp_path: Path) -> None:
    analysis = race_with_alone_blocks(tmp_path, {}, drift=0.1)
    assert all(cost.ratio.low < 1 < cost.ratio.high for cost in analysis.side_by_side)


def test_trials_raced_alone_are_in_no_average(tmp_path: Path) -> None:
    analysis = race_with_alone_blocks(tmp_path, {"select": 0.1})
    for group in analysis.groups:
        for result in group.cells:
            assert result.estimates["server", PRIMARY.name].trials == 12


def test_without_alone_blocks_nothing_is_said_of_them(tmp_path: Path) -> None:
    analysis = analyse(read(make(tmp_path / FILE_NAME, connections=[10], requests=40)))
    assert analysis.side_by_side == []
    assert clocks_sentence(analysis) == ""
