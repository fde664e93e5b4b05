"""A first look: all cells in few blocks, said before its first trial and kept by its ledger."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regatta.judge.statistics.autocorrelation import reach_of
from regatta.judge.statistics.blocks_needed import FEWEST_BLOCKS, quick_note, too_few_note
from regatta.measure.race.options import Options, apply
from regatta.measure.race.race import fitted, plan_of
from regatta.measure.race.resume import keep_options
from regatta.record.files import open_ledger
from regatta.record.records import COUNTED_TRIAL, TIMED
from regatta.record.schema import FILE_NAME
from regatta.record.study import Study, find_study, load_study
from regatta.record.study.find import Design
from regatta.record.study.parse import BLOCKS, FEWEST
from tests.lab import fake_races
from tests.lab.fake_programs import DESIGNS

CELLS = f"{fake_races.PAIR}connections = [3]\nrequests = 6\n"
CLAIM = """
[[claim]]
id = "X1"
says = "A loop needs less."
metric = "context_switches"
connections = 3
order = ["select", "iterative"]
"""


def reports() -> Study:
    return load_study(find_study("reports"), tuple(Design(**design) for design in DESIGNS))


def quick(study: Study, **asked: Any) -> Study:
    return apply(study, Options(quick=True, **asked))


def test_blocks_are_cut_and_never_cells() -> None:
    whole, few = reports(), quick(reports())
    assert few.cells == whole.cells
    plan = plan_of(few.but(seed=1))
    assert Counter(planned.kind for planned in plan) == {TIMED: 7 * 72, COUNTED_TRIAL: 2 * 72}
    assert len({planned.cell_id for planned in plan}) == 72
    assert len(plan_of(whole.but(seed=1))) > 4.3 * len(plan), "4 minutes where it takes 15"


def test_one_block_fewer_would_still_give_intervals_and_two_fewer_none() -> None:
    assert BLOCKS == FEWEST_BLOCKS + 1, "a failed trial does not cost the verdict"
    values = np.array([1.0, 2.0, 3.0])
    assert reach_of(values[:FEWEST]) is not None
    assert reach_of(values[: FEWEST - 1]) is None


def test_a_study_of_fewer_blocks_gets_no_more_and_loses_nothing() -> None:
    study = fake_races.parse(fake_races.on_one_cpu(CELLS, blocks=3, counted_blocks=1))
    assert dict(quick(study)) == dict(study)
    assert quick_note(quick(study)) == ""


@pytest.mark.parametrize(
    ("key", "value"),
    [("blocks", 8), ("counted_blocks", 3), ("alone_blocks", 6), ("sittings", 2)],
)
def test_what_loses_anything_is_a_first_look(key: str, value: int) -> None:
    known = {"blocks": 7, "counted_blocks": 2, "slices": 2, "alone_blocks": 0, "sittings": 1}
    assert not quick(fake_races.parse(fake_races.on_one_cpu(CELLS, **known))).quick
    assert quick(fake_races.parse(fake_races.on_one_cpu(CELLS, **(known | {key: value})))).quick


def test_it_has_one_sitting_and_no_rest_unless_more_are_asked_for() -> None:
    study = fake_races.parse(fake_races.on_one_cpu(CELLS, sittings=5, pause='"10min"'))
    assert (quick(study).sittings, quick(study).pause_s) == (1, 0)
    asked = quick(study, sittings=3, pause_s=60)
    assert (asked.sittings, asked.pause_s) == (3, 60)
    assert quick_note(asked).endswith("7 timed and 2 counted blocks in each of 3 sittings")


def test_undecidable_claims_are_reported_before_the_first_trial() -> None:
    whole, few = reports(), quick(reports())
    assert quick_note(whole) == ""
    said = re.fullmatch(
        r"a first look: 7 timed and 2 counted blocks; (\d+) of (\d+) claims cannot be decided with "
        "so few",
        quick_note(few),
    )
    assert said is not None
    assert int(said[2]) == len(whole.claims)
    named = re.search(r"the claims \w+, \w+, \w+, \w+ and (\d+) more have 2$", too_few_note(few))
    assert named is not None
    assert int(said[1]) == 4 + int(named[1])
    in_sittings = quick(reports(), sittings=2)
    assert f"; {len(whole.claims)} of {len(whole.claims)} claims" in quick_note(in_sittings)


@pytest.mark.usefixtures("programs_folder")
@pytest.mark.parametrize("asked", [{"quick": True}, {"blocks": 3}, {"sittings": 2}, {}])
def test_a_race_goes_on_as_it_was_asked_for_and_not_as_its_study_says(
    tmp_path: Path, asked: dict[str, Any]
) -> None:
    """A width too: with a number of blocks of its own it would otherwise end early. And its claims
    are those of its ledger: where its sources lay it need not look for them again."""
    race = {"blocks": 7, "counted_blocks": 3, "width_percent": 3, "most_blocks": 20}
    study = fake_races.parse(fake_races.on_one_cpu(CELLS + CLAIM, **race))
    fake_races.stopped(study, tmp_path, use_perf=False, **asked)
    with open_ledger(tmp_path / FILE_NAME) as ledger:
        restored = keep_options(ledger, study.but(claims=()))
    assert dict(restored) == dict(apply(study, Options(**asked)))
    assert [claim.id for claim in restored.claims] == ["X1"]
    assert restored.quick == asked.get("quick", False)


@pytest.mark.usefixtures("programs_folder")
def test_a_race_of_few_processes_goes_on_as_one(tmp_path: Path) -> None:
    """Else it could end on its result, although it is judged once."""
    text = fake_races.on_one_cpu(CELLS, blocks=7, counted_blocks=0, width_percent=3, most_blocks=20)
    study = fake_races.parse(text)
    few = study.but(blocks=3, most_blocks=5, few_blocks=True)
    fake_races.stopped(study, tmp_path, use_perf=False)
    with open_ledger(tmp_path / FILE_NAME) as ledger:
        known = "INSERT OR REPLACE INTO meta VALUES (?, ?)"  # as once its warm-ups were known
        ledger.database.executemany(known, fitted(few).items())
        restored = keep_options(ledger, study)
    assert (restored.blocks, restored.most_blocks, restored.few_blocks) == (3, 5, True)
