"""The script that measures what Dask adds, and false alarms over hosts."""

from pathlib import Path

import numpy as np
import pytest

from regatta.judge.analyse import analyse
from regatta.measure.perf import without_perf
from regatta.measure.places.hosts.host import RemoteObject
from regatta.measure.places.placement import make_placement
from regatta.measure.programs import discover
from regatta.measure.trial.setup import TrialSetup
from regatta.measure.trial.trial import run_side_by_side
from regatta.record.read import read
from regatta.record.records import TIMED
from tests.e2e.hosts_figures import cell, is_alarm
from tests.e2e.placements_agree import contradictions
from tests.e2e.racing import ROOT, needs_programs, needs_two_cpus
from tests.e2e.through_dask import through_dask
from tests.lab.synthetic import make
from tests.namespaces import needs_hosts

BLOCKS = 40


@needs_programs
@needs_hosts
@needs_two_cpus
def test_a_trial_in_namespaces_can_go_through_dask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGATTA_BIN", str(ROOT / "bin"))
    programs = discover()
    with make_placement("netns", None, None) as here, through_dask(here) as remote:
        setup = TrialSetup(programs, remote, without_perf(None), (), tmp_path / "scratch")
        assert isinstance(setup.side(remote.server, "server"), RemoteObject)
        (result,) = run_side_by_side(setup, [cell(programs)], TIMED, 1, slices=1)
    assert (result.status, result.reason) == ("ok", None)
    assert (result.cpu_us_per_request or 0) > 0


@pytest.mark.parametrize(("slower", "least", "most"), [(1.0, 0.02, 0.09), (1.05, 0.5, 1.0)])
def test_equal_contenders_are_rarely_told_apart(slower: float, least: float, most: float) -> None:
    """In a simulated race, where it is known which contenders are equal."""
    chance = np.random.default_rng(7)
    alarms = 0
    for _ in range(200):
        drift = chance.normal(0, 0.05, BLOCKS)
        copies = [
            dict(enumerate(factor * 100 * np.exp(drift + chance.normal(0, 0.02, BLOCKS))))
            for factor in (1.0, slower)
        ]
        alarms += is_alarm(copies, chance)
    assert least <= alarms / 200 <= most


def test_a_verdict_that_another_placement_reverses_is_found(tmp_path: Path) -> None:
    costs = {"select": 600.0, "iterative": 800.0}
    races = {}
    for name, factor in (("netns", 1.0), ("containers", 1.4), ("hosts", 0.5)):
        at = {key: cost * (factor if key == "select" else 1) for key, cost in costs.items()}
        path = make(tmp_path / name, contenders=list(costs), connections=[10], cpu_us=at)
        races[name] = analyse(read(path))
    found = contradictions(races)
    assert len(found) == 2, found  # containers against each of the others
    assert all("containers" in one for one in found)
    assert "select needs less than iterative by netns, more by containers" in found[0]
    assert contradictions(dict.fromkeys(races, races["netns"])) == []
