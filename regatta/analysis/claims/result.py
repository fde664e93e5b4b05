"""The result of a claim: plain data, all that a table, a picture or a program needs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from regatta.ledger.given.records import PublishedFigure

SUPPORTED: Final = "supported"
REFUTED: Final = "refuted"
UNDECIDED: Final = "undecided"
TOO_FEW: Final = "too few blocks"
NOT_MEASURABLE: Final = "not measurable here"

VERDICTS = (SUPPORTED, REFUTED, UNDECIDED, TOO_FEW, NOT_MEASURABLE)
Verdict = Literal["supported", "refuted", "undecided", "too few blocks", "not measurable here"]

Scale = Literal["ratio", "difference", "exponent", "figure"]


@dataclass(frozen=True)
class MeasuredFigure:
    """The same quantity here: the mean over trials (latency: of the pooled requests)."""

    design: str
    connections: int
    engine: str
    """The client's."""
    value: float | None
    """None if it was not measured; `state` says why."""
    low: float | None
    high: float | None
    """The ends of its 95 % interval; None if nothing bounds it on that side."""
    unit: str
    per: str = ""
    """`request`, `round` (one on every connection), `process`, or empty for a rate, a share or a
    latency."""
    side: str = "server"
    metric: str = ""
    """The claim's, or that of its `and`."""
    trials: int = 0
    state: str = "measured"


@dataclass(frozen=True)
class ClaimPart:
    """One comparison that the claim makes; all of them must hold."""

    label: str
    """`at 100 connections: select < iterative`."""
    scale: Scale
    """`ratio`: second / first; `difference`: second - first, in the figures' unit;
    `exponent`: the power of the number of connections with which the metric grows; `figure`: the
    figure itself. Of two growths or gaps the second beside the first."""
    value: float | None
    """On that scale; None if there was nothing to compare, and `reason` says why."""
    low: float | None
    high: float | None
    """Of its interval; those of all parts of all claims in one scope hold together at 95 %.
    None: nothing bounds it on that side."""
    p_value: float | None
    """Of its being the bound that it lies nearest to; corrected for all of these parts."""
    blocks: int
    verdict: Verdict
    detectable: float | None
    """The smallest ratio or difference from no difference that this race would have seen four times
    in five, on the same scale."""
    claimed_low: float | None = None
    claimed_high: float | None = None
    """What the claim says of the value: it lies between these; None: no bound on that side."""
    reason: str = ""


@dataclass(frozen=True)
class ScopeResult:
    """The claim over what was counted: the window of the load, or the whole process."""

    verdict: Verdict
    parts: list[ClaimPart]
    figures: list[MeasuredFigure]
    single_runs: tuple[int, int] | None
    """In how many single blocks all parts held, and of how many; None if no block has them all."""


@dataclass(frozen=True)
class ClaimResult:
    id: str
    says: str
    source: str
    """Who claims it, in words; empty if the study does not say."""
    metric: str
    side: str
    """`server`, `client`, or `both` where the claim compares them."""
    claimed: str
    """The claim in signs: `select < iterative ~ thread-per-client`."""
    connections: list[int]
    published: Sequence[PublishedFigure]
    published_agrees: bool
    """False: the source's own figures do not bear out its words."""
    scopes: dict[str, ScopeResult]
    """By `window` (as it should be measured) and `process` (as it was measured), as raced."""
    verdict: Verdict
    """That of the window; of the whole process where the study has only that."""
    why: str
    """One line that follows from counters."""
    where: str = ""
    """Where the source says it, in words."""
    note: str = ""
    """What is ambiguous, misprinted or read into it."""
