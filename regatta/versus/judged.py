"""What a verdict on two versions judges, and by how much head may be worse: `--fail-over`.

The defaults are the smallest thresholds of which twice as much is found in five minutes on two
shared CPUs (docs/decisions.md): what varies more between blocks needs more room.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from regatta.errors import UsageError
from regatta.ledger.metrics import P50, P99, PRIMARY, Metric

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
BY_NAME = {one.name: one for one in JUDGED}
DEFAULT = ",".join(f"{one.name}={100 * one.share:g}%" for one in JUDGED)
Thresholds = Mapping[str, float]
"""Shares by name of what is judged."""


def thresholds(text: str) -> Thresholds:
    """Parses `cpu=5%,p99=20%`; `5%` alone is of CPU. What is not named has its default."""
    found = {one.name: one.share for one in JUDGED}
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
