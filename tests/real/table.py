"""The rows of the table: a race beside the truth, and whether they agree."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.real.figures import Figures
from tests.real.race import Raced

RATIO_WITHIN, P50_WITHIN = 1.05, 1.1
OURS, OTHERS = "regatta-client", "oha"
HEAD = (
    "servers a, b; requests a second",
    "`versus`: CPU of b ÷ a",
    "`oha`",
    "`regatta-client`",
    "CPU, µs: `versus`; `oha`",
    "p50, µs: `versus`; `regatta-client`; `oha`",
    "verdict",
)


@dataclass(frozen=True)
class Row:
    a: str
    b: str
    raced: Raced | str
    truth: dict[str, Figures]
    """By client; empty if the race has no figures."""

    def faults(self) -> Iterator[str]:
        if isinstance(self.raced, str):
            yield self.raced
            return
        raced, ours, others = self.raced.figures, self.truth[OURS], self.truth[OTHERS]
        # Where the two clients contradict each other, their pacing is the reason.
        alike = ours.ratio.near(others.ratio, RATIO_WITHIN)
        says = {self.a: 1, self.b: -1, None: 0}[self.raced.winner]
        for client in (OURS, OTHERS) if alike else (OURS,):
            true = self.truth[client].ratio
            if not raced.ratio.near(true, RATIO_WITHIN):
                yield f"the ratio differs from {client}'s"
            if says * true.sign() < 0:
                yield f"the winner is wrong, says {client}"
        # Our own client paces requests as the race does; another's pacing is part of its latency.
        for name, said, true_p50 in zip((self.a, self.b), raced.p50_us, ours.p50_us, strict=True):
            if not said.near(true_p50, P50_WITHIN):
                yield f"p50 of {name}"

    def cells(self) -> Iterator[str]:
        if isinstance(self.raced, str):
            yield from (f"{self.a}, {self.b}", *["–"] * 5)
        else:
            raced, ours, others = self.raced.figures, self.truth[OURS], self.truth[OTHERS]
            yield f"{self.a}, {self.b}; {self.raced.place.rate:,}"
            yield from (str(figures.ratio) for figures in (raced, others, ours))
            yield "; ".join(pair(*figures.cpu_us) for figures in (raced, others))
            yield "; ".join(
                pair(*(p50.value for p50 in figures.p50_us)) for figures in (raced, ours, others)
            )


def pair(a: float, b: float) -> str:
    return f"{a:.3g}, {b:.3g}"


def store(row: Row, path: Path) -> None:
    """A line more."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        line = {"pair": [row.a, row.b], "cells": list(row.cells()), "faults": list(row.faults())}
        file.write(json.dumps(line) + "\n")


def stored(path: Path) -> list[dict[str, list[str]]]:
    """The last of each pair."""
    lines = map(json.loads, path.read_text().splitlines()) if path.exists() else ()
    return list({tuple(line["pair"]): line for line in lines}.values())


def verdict(faults: Sequence[str]) -> str:
    return "; ".join(faults) or "agree"


def markdown(lines: Sequence[dict[str, list[str]]]) -> str:
    rows = [[*line["cells"], verdict(line["faults"])] for line in lines]
    return "\n".join("|".join(row) for row in (HEAD, ["---"] * len(HEAD), *rows))
