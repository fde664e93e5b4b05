"""How often a table of claims of every form holds a wrong verdict, simulated.

    .venv/bin/python -m tests.lab.claim_form_error_rate          every case, some minutes

Each claim stands just where it is neither true nor false, so that every verdict but "undecided" is
wrong. Noise is of a figure's logarithm, five times as large at the fewest connections as at the
next; a drift of each block is common to all. `sittings`: how many the blocks are of, each with
figures of its own.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np

from regatta.judge.claims.comparisons import comparisons
from regatta.judge.claims.evidence import Blocks, Evidence, RaceResults
from regatta.judge.claims.judge import decide
from regatta.judge.claims.result import UNDECIDED
from regatta.judge.statistics.units import BLOCKS, Units
from regatta.record.inputs import CellSelector, Claim
from regatta.record.study import parse_study
from regatta.record.study.find import Design
from tests.lab import synthetic

COUNTS = (10, 25, 50)
SPREAD = {10: 0.05, 25: 0.01, 50: 0.02}
DRIFT, BETWEEN_SITTINGS = 0.02, 0.03
DESIGNS = {"iterative": 600.0, "select": 640.0, "thread-per-client": 720.0}
MIDDLE = {"fork-per-client": math.sqrt(600 * 720)}
"""As many times the one as the other is of it."""
LATENCY_MS, CPUS, THROUGHPUT = 10.0, 0.5, 1000.0

FORMS = {
    "rising": 'metric = "latency_max"\ndesigns = "iterative"\nshape = "rising"',
    "falling": 'metric = "latency_max"\ndesigns = "select"\nshape = "falling"',
    "flat": 'metric = "throughput"\ndesigns = "select"\nshape = "flat"\nconnections = [10, 25]',
    "sublinear": 'metric = "task_clock"\ndesigns = "select"\nshape = "sublinear"',
    "growth": 'metric = "task_clock"\ngrowth = ["select", "iterative"]',
    "widens": 'metric = "task_clock"\nwidens = ["iterative", "select", "thread-per-client"]',
    "nearer": 'metric = "task_clock"\n'
    'nearer = ["fork-per-client", "iterative", "thread-per-client"]',
    "below": f'metric = "cpus_utilized"\ndesigns = "iterative"\nbelow = {CPUS}',
    "above": f'metric = "cpus_utilized"\ndesigns = "select"\nabove = {CPUS}',
}
"""By kind. CPU time is that of a request: of a round it grows in proportion to the connections."""

Figures = Mapping[tuple[str, str], Mapping[tuple[str, int], Blocks | str]]
"""By metric and side; each by design and connections."""


def claims() -> list[Claim]:
    cells = (
        f'name = "mine"\n[[cells]]\ndesigns = {json.dumps([*DESIGNS, *MIDDLE])}\n'
        f"connections = {list(COUNTS)}\n"
    )
    bodies = (
        f'[[claim]]\nid = "{name}"\nsays = "So it is."\n{body}\n'
        + ("" if "connections" in body else f"connections = {list(COUNTS)}\n")
        for name, body in FORMS.items()
    )
    known = [Design(name, "") for name in (*DESIGNS, *MIDDLE)]
    return list(parse_study(cells + "".join(bodies), known).claims)


def evidence_of(figures: Figures, units: Units = BLOCKS, scope: str = "window") -> Evidence:
    """Of a race in which these figures were found."""
    race = synthetic.SyntheticRace(contenders=["select"], connections=[1], scopes=[scope])
    (like,) = synthetic.make_cells(race)
    places = dict.fromkeys(place for of in figures.values() for place in of)
    cells = {
        CellSelector(design, count): replace(like, contender=design, connections=count, id=number)
        for number, (design, count) in enumerate(places, start=1)
    }
    taken: dict[tuple[int, str, str], Blocks | str] = {
        (cells[CellSelector(*place)].id, side, metric): blocks
        for (metric, side), of in figures.items()
        for place, blocks in of.items()
    }
    known = RaceResults(list(cells.values()), {}, {}, {}, taken, units)
    return Evidence(known, scope, cells)


def figures(chance: np.random.Generator, blocks: int, sittings: int = 1) -> Figures:
    """All claims in the balance."""
    truth: dict[tuple[str, str], dict[tuple[str, int], float]] = {
        ("cpu_time_per_request_us", "server"): {
            (design, count): cost
            for (design, cost), count in product((DESIGNS | MIDDLE).items(), COUNTS)
        },
        ("burst_time_ms", "client"): dict.fromkeys(product(DESIGNS, COUNTS), LATENCY_MS),
        ("cpus_utilized", "server"): dict.fromkeys(product(DESIGNS, COUNTS), CPUS),
        ("throughput_per_s", "client"): {
            ("select", count): THROUGHPUT * (1.1 if count == COUNTS[1] else 1.0) for count in COUNTS
        },
    }
    drift = chance.normal(0, DRIFT, blocks * sittings)

    def drawn(count: int) -> np.ndarray:
        apart = chance.normal(0, BETWEEN_SITTINGS, sittings) if sittings > 1 else np.zeros(1)
        own = chance.normal(0, SPREAD[count], blocks * sittings)
        return np.asarray(drift + own + np.repeat(apart, blocks))

    return {
        of: {
            place: dict(enumerate(map(float, value * np.exp(drawn(place[1])))))
            for place, value in places.items()
        }
        for of, places in truth.items()
    }


def wrong_tables(tables: int, blocks: int, sittings: int = 1) -> tuple[float, dict[str, float]]:
    """The share of tables in which any verdict is wrong, and of each form by itself."""
    chance = np.random.default_rng([blocks, sittings])
    known = claims()
    units = Units({at: at // blocks for at in range(blocks * sittings)}) if sittings > 1 else BLOCKS
    wrong = dict.fromkeys(FORMS, 0)
    any_wrong = 0
    for _ in range(tables):
        evidence = evidence_of(figures(chance, blocks, sittings), units)
        found = decide([(evidence, comparisons(claim)) for claim in known])
        told = [any(part.verdict != UNDECIDED for part in parts) for _, parts in found]
        any_wrong += any(told)
        for name, one in zip(FORMS, told, strict=True):
            wrong[name] += one
    return any_wrong / tables, {name: count / tables for name, count in wrong.items()}


if __name__ == "__main__":
    for blocks, sittings in ((6, 1), (8, 1), (12, 1), (4, 3), (4, 5)):
        share, each = wrong_tables(1_000, blocks, sittings)
        of = ", ".join(f"{name} {one:.1%}" for name, one in each.items())
        print(f"{blocks} blocks, {sittings} sittings: {share:.1%} ({of})", flush=True)
