"""A verdict on two versions: what is judged, by how much it may be worse, when it is looked at, and
its outcomes.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from regatta.errors import UsageError
from regatta.judge.statistics.blocks_needed import FEWEST_BLOCKS
from regatta.record.metrics import P50, P99, PRIMARY, Metric

REGRESSION = "regression"
NO_REGRESSION = "no regression"
UNDECIDED = "undecided"
EXIT = {NO_REGRESSION: 0, REGRESSION: 1, UNDECIDED: 3}


def outcome_of(least: float, most: float, beyond: float) -> str:
    """`least` to `most`: the interval of how much worse it is; `beyond`: how much it may be."""
    if least > beyond:
        return REGRESSION
    return NO_REGRESSION if most <= beyond else UNDECIDED


def worst_of(outcomes: Collection[str]) -> str:
    """Of several verdicts: a regression in one is one in all, and all must be without."""
    return next((worst for worst in (REGRESSION, UNDECIDED) if worst in outcomes), NO_REGRESSION)


# What a verdict on two versions judges, and by how much head may be worse: `--fail-over`. The
# defaults are the smallest thresholds of which twice as much is found in five minutes on two shared
# CPUs (docs/decisions.md): what varies more between blocks needs more room.

MIN_PERCENT, MAX_PERCENT, MOST_LOST_PERCENT = 0.1, 1000.0, 99.0


@dataclass(frozen=True)
class Judged:
    name: str
    metric: Metric | None
    """None: the rate that a server holds, of which less is worse."""
    share: float
    """The default: by how much head may be worse."""

    @property
    def more_is_worse(self) -> bool:
        return self.metric is not None

    def limit(self, share: float) -> float:
        """The logarithm of how many times as bad as base head may be."""
        return math.log1p(share) if self.more_is_worse else -math.log1p(-share)

    def says(self, times: str) -> str:
        """`head takes 1.06 times the CPU per request of base`"""
        if self.metric is None:
            return f"head holds {times} the rate that base holds"
        return f"head takes {times} the {self.metric.label} of base"

    def allows(self, share: float) -> str:
        return f"{100 * share:g} % {'more' if self.more_is_worse else 'less'}"


CPU = Judged("cpu", PRIMARY, 0.05)
HOLDS = Judged("holds", None, 0.15)
JUDGED = (CPU, Judged("p50", P50, 0.1), Judged("p99", P99, 0.3), HOLDS)
BY_NAME = {judged.name: judged for judged in JUDGED}
DEFAULT = ",".join(f"{judged.name}={100 * judged.share:g}%" for judged in JUDGED)
Thresholds = Mapping[str, float]
"""Shares by name of what is judged."""


def thresholds(text: str) -> Thresholds:
    """Parses `cpu=5%,p99=20%`; `5%` alone is of CPU. What is not named has its default."""
    found = {judged.name: judged.share for judged in JUDGED}
    for word in text.split(","):
        name, _, figure = word.strip().rpartition("=")
        judged = BY_NAME.get(name or CPU.name)
        most = MAX_PERCENT if judged is None or judged.more_is_worse else MOST_LOST_PERCENT
        try:
            value = float(figure.removesuffix("%"))
        except ValueError:
            value = -1.0
        if judged is None or not MIN_PERCENT <= value <= most:
            raise UsageError(
                f"--fail-over is {text}; write a percentage from {MIN_PERCENT:g}% to {most:g}% for "
                f"{', '.join(BY_NAME)}, as in {DEFAULT}"
            )
        found[judged.name] = value / 100
    return found


# When a growing race is judged, so that all looks together err no more than one test would. A test
# that is repeated after each block finds a difference between equals sooner or later. So a race is
# judged after 6, 9, 14, 21 ... blocks, and the looks share the level (Bonferroni, which needs no
# assumption on how they depend on each other). A race that ends between two looks for a reason that
# does not depend on its result, such as its time, is judged once more, at all of the level that is
# left. The intervals of all looks hold together (Jennison and Turnbull 2000, chapter 9).

GROWTH = 1.5


def planned_looks(most_blocks: int) -> list[int]:
    """Blocks of each look: half as many again as of the last; the last has all."""
    found, blocks = [], FEWEST_BLOCKS
    while blocks < most_blocks:
        found.append(blocks)
        blocks = round(blocks * GROWTH)
    return [*found, max(most_blocks, FEWEST_BLOCKS)]


def looks_at(blocks: int, most_blocks: int, over: bool) -> list[tuple[int, float]]:
    """The looks at a race of so many blocks: how many it has, and the share of the level. `over`:
    it gets no more."""
    planned = planned_looks(most_blocks)
    found = [(look, 1 / len(planned)) for look in planned if look <= blocks]
    if over and blocks >= FEWEST_BLOCKS and found[-1][0] < blocks:
        found.append((blocks, 1 - len(found) / len(planned)))
    return found
