"""Figures about races over hosts, on one machine (docs/hosts.md). Needs root; run as

.venv/bin/python -m tests.e2e.hosts_figures dask     what Dask adds to a server's CPU time
.venv/bin/python -m tests.e2e.hosts_figures equals   false alarms between equal contenders
"""

import argparse
import json
import math
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import numpy as np
from scipy import special  # type: ignore[import-untyped]

from regatta.checks.calibrate.goals import interval
from regatta.judge.contrast import usable_by_block
from regatta.judge.standings import Entry, verdicts
from regatta.judge.statistics.joint import PairedMean
from regatta.judge.statistics.sign_flips import LEVEL, BlockValues
from regatta.measure.perf import without_perf
from regatta.measure.places.placement import make_placement
from regatta.measure.programs import Programs, discover
from regatta.measure.trial.setup import TrialSetup
from regatta.measure.trial.trial import run_side_by_side
from regatta.record.cell import Cell
from regatta.record.metrics import PRIMARY
from regatta.record.read import read
from regatta.record.records import TIMED
from regatta.record.schema import FILE_NAME
from regatta.record.study import parse_study
from tests.commands import run_well
from tests.e2e.racing import ROOT, environment, regatta
from tests.e2e.through_dask import through_dask
from tests.namespaces import network

LOAD = 'connections = [10]\nwork = "snapshot"\nload = "closed"\nduration_s = 0.4'
LIFE_S = 1200
POWER = 0.8
SEED = 14
COPIES, DRAWN, COMPARISONS = 4, 10, 1000
PLACED = """
[placement]
kind = "hosts"
server = "ssh://alpha"
clients = ["ssh://beta"]
"""


def cell(programs: Programs) -> Cell:
    study = parse_study(f'name = "one"\n[[cells]]\ndesigns = ["epoll"]\n{LOAD}', programs.designs)
    return study.cells[0]


def compare_dask(blocks: int) -> str:
    """Races one trial each way in every block, in random order."""
    programs = discover()
    raced = cell(programs)
    chance = np.random.default_rng(SEED)
    costs: dict[str, list[float]] = {"directly": [], "through Dask": []}
    lab: dict[str, list[float]] = {name: [] for name in costs}
    with (
        tempfile.TemporaryDirectory() as folder,
        make_placement("netns", None, None) as here,
        through_dask(here) as remote,
    ):
        places = dict(zip(costs, (here, remote), strict=True))
        for block in range(blocks):
            for name in chance.permutation(list(costs)):
                setup = TrialSetup(
                    programs=programs,
                    placement=places[name],
                    perf=without_perf(None),
                    events=(),
                    scratch=Path(folder) / "scratch",
                    seed=SEED,
                )
                (result,) = run_side_by_side(setup, [raced], TIMED, block, slices=1)
                cost = result.cpu_us_per_request
                assert cost, result.reason
                costs[name].append(cost)
                lab[name].append(result.conditions["lab_percent"])
    direct, dask = (np.log(values) for values in costs.values())
    found = PairedMean(dask - direct)
    low, high = found.interval() or (-math.inf, math.inf)
    reach = sum(special.stdtrit(found.count - 1, share) for share in (1 - LEVEL / 2, POWER))
    ratio, *ends = (f"{math.exp(one):.4f}" for one in (found.mean, low, high))
    used = ", ".join(f"{name} {fmean(values):.2f} %" for name, values in lab.items())
    return (
        f"server CPU per request through Dask ÷ directly: {ratio} ({' to '.join(ends)}), "
        f"{found.count} pairs; smallest detectable difference "
        f"{100 * math.expm1(reach * found.error):.2f} %; used by the lab: {used} of a CPU"
    )


def compare_equals(blocks: int) -> str:
    """Races copies over hosts, and compares two of them in blocks drawn from that race."""
    with tempfile.TemporaryDirectory() as folder:
        copies = race_copies(Path(folder), blocks)
    chance = np.random.default_rng(SEED)
    alarms = sum(is_alarm(copies, chance) for _ in range(COMPARISONS))
    share, *ends = (
        f"{100 * one:.1f}" for one in (alarms / COMPARISONS, *interval(alarms, COMPARISONS))
    )
    return (
        f"false alarms: {alarms} of {COMPARISONS:,} comparisons, {share} % ({' to '.join(ends)} % "
        f"if they were independent); {DRAWN} blocks each, of {sum(map(len, copies))} trials of "
        f"{len(copies)} equal contenders"
    )


def race_copies(folder: Path, blocks: int) -> list[BlockValues]:
    server = [str(discover().server), "--design", "epoll", "--listen", "{host}:{port}"]
    server += ["--work", "snapshot", "--allow", "0.0.0.0/0", "--no-token", "--no-recorder"]
    names = [f"copy-{number}" for number in range(COPIES)]
    text = [f'name = "equals"\n[race]\nblocks = {blocks}\ncounted_blocks = 0\nslices = 2', PLACED]
    text += [
        f'[contenders.{name}]\ncommand = {json.dumps(server)}\ndialect = "line"' for name in names
    ]
    text += [f"[[cells]]\ncontenders = {json.dumps(names)}\n{LOAD}"]
    (folder / "study.toml").write_text("\n".join(text))
    with network(folder / "network", "alpha", "beta") as hosts:
        race = (*hosts.enter, *regatta("race", "study.toml", "--out", "race", "--no-perf"))
        lab = {**environment(), "PATH": hosts.path()}
        run_well(*race, cwd=folder, env=lab, timeout=LIFE_S)
    ledger = read(folder / "race" / FILE_NAME)
    return [usable_by_block(PRIMARY, ledger.trials_of(one)) for one in ledger.cells]


def is_alarm(copies: Sequence[BlockValues], chance: np.random.Generator) -> bool:
    first, second = (copies[at] for at in chance.choice(len(copies), 2, replace=False))
    common = sorted(first.keys() & second.keys())
    drawn = [common[at] for at in sorted(chance.choice(len(common), DRAWN, replace=False))]
    entries = {
        name: Entry({block: values[block] for block in drawn}, "")
        for name, values in (("first", first), ("second", second))
    }
    return bool(verdicts({1: entries}).overall.worse)


FIGURES = {"dask": (compare_dask, 300), "equals": (compare_equals, 80)}
"""And how many blocks take at most 15 minutes on two quiet CPUs."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="hosts_figures")
    parser.add_argument("figure", choices=FIGURES)
    parser.add_argument("--blocks", type=int)
    given = parser.parse_args()
    os.environ.setdefault("REGATTA_BIN", str(ROOT / "bin"))
    measure, blocks = FIGURES[given.figure]
    print(measure(given.blocks or blocks))


if __name__ == "__main__":
    main()
