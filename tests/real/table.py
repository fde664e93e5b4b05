"""The rows of the table: a race beside the truth, and whether they agree."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.real.figures import Estimate, Figures
from tests.real.race import Raced
from tests.real.truth import Place

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
            yield from (str(one.ratio) for one in (raced, others, ours))
            yield "; ".join(pair(*one.cpu_us) for one in (raced, others))
            yield "; ".join(
                pair(*(p50.value for p50 in one.p50_us)) for one in (raced, ours, others)
            )
        yield self.verdict()

    def verdict(self) -> str:
        return "; ".join(self.faults()) or "agree"


def pair(one: float, other: float) -> str:
    return f"{one:.3g}, {other:.3g}"


def markdown(rows: Sequence[Row]) -> str:
    lines = [HEAD, ["---"] * len(HEAD), *(list(row.cells()) for row in rows)]
    return "\n".join("|".join(line) for line in lines)


def store(row: Row, path: Path) -> None:
    """A line more."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(asdict(row)) + "\n")


def stored(path: Path) -> list[Row]:
    """In the order of the races."""
    return (
        list(map(row_of, map(json.loads, path.read_text().splitlines()))) if path.exists() else []
    )


def row_of(one: dict[str, Any]) -> Row:
    raced = one["raced"]
    if not isinstance(raced, str):
        raced = Raced(**raced | {
            "figures": figures_of(raced["figures"]), "place": Place(**raced["place"])
        })  # fmt: skip
    truth = {client: figures_of(figures) for client, figures in one["truth"].items()}
    return Row(one["a"], one["b"], raced, truth)


def figures_of(one: dict[str, Any]) -> Figures:
    p50_a, p50_b = (Estimate(**p50) for p50 in one["p50_us"])
    cpu_a, cpu_b = one["cpu_us"]
    return Figures(Estimate(**one["ratio"]), (cpu_a, cpu_b), (p50_a, p50_b))
