"""The result of a claim as plain data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from regatta.judge.estimates import Estimate
from regatta.judge.interval import OpenInterval
from regatta.record.inputs import PublishedFigure

SUPPORTED: Final = "supported"
REFUTED: Final = "refuted"
UNDECIDED: Final = "undecided"
TOO_FEW: Final = "too few blocks"
NOT_MEASURABLE: Final = "not measurable here"

VERDICTS = (SUPPORTED, REFUTED, UNDECIDED, TOO_FEW, NOT_MEASURABLE)
Verdict = Literal["supported", "refuted", "undecided", "too few blocks", "not measurable here"]

Scale = Literal["ratio", "difference", "exponent", "figure"]


@dataclass(frozen=True, kw_only=True)
class MeasuredFigure(Estimate):
    """A figure measured here: the mean over trials (latency: of the pooled requests)."""

    design: str
    connections: int
    engine: str
    """The client's."""
    unit: str
    per: str = ""
    """`request`, `round` (one on every connection), `process`, or empty for a rate, a share or a
    latency."""
    side: str = "server"
    metric: str = ""
    """The claim's metric, or that of its `and`."""


@dataclass(frozen=True, kw_only=True)
class ClaimPart(OpenInterval):
    """One comparison that the claim makes; all of them must hold. Its interval is simultaneous at
    95 % over all claims in a scope; it has no value if it could not be compared (`reason`)."""

    label: str
    """`at 100 connections: select < iterative`."""
    scale: Scale
    """`ratio`: second / first; `difference`: second - first, in the figures' unit; `exponent`: the
    growth exponent over connections; `figure`: the figure itself. For two growths or gaps, the
    second relative to the first."""
    verdict: Verdict
    p_value: float | None = None
    """Of being the nearest claimed bound, adjusted for all of these parts."""
    blocks: int = 0
    detectable: float | None = None
    """The smallest value detectable at 80 % power, on the same scale."""
    claimed_low: float | None = None
    claimed_high: float | None = None
    """The claimed range of the value; None: no bound on that side."""
    reason: str = ""


@dataclass(frozen=True)
class ScopeResult:
    """The claim in one scope: the window of the load, or the whole process."""

    verdict: Verdict
    parts: list[ClaimPart]
    figures: list[MeasuredFigure]
    single_runs: tuple[int, int] | None
    """Blocks in which all parts hold, of how many; None if no block has all parts."""


@dataclass(frozen=True)
class ClaimResult:
    id: str
    says: str
    source: str
    """Who claims it; empty if the study does not say."""
    metric: str
    side: str
    """`server`, `client`, or `both` where the claim compares them."""
    claimed: str
    """`select < iterative ~ thread-per-client`."""
    connections: list[int]
    published: Sequence[PublishedFigure]
    published_agrees: bool
    """False if the source's own figures contradict its words."""
    scopes: dict[str, ScopeResult]
    """By `window` (as it should be measured) and `process` (as it was measured), as raced."""
    verdict: Verdict
    """Over the window, else over the whole process."""
    why: str
    """One line, derived from counters."""
    where: str = ""
    """Where the source says it."""
    note: str = ""
    """What is ambiguous, misprinted or assumed."""
