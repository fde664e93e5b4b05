"""What a race is given before its first trial, as plain data."""

from dataclasses import dataclass

from pydantic import TypeAdapter

from regatta.ledger.given.calibration import Calibration
from regatta.ledger.given.claim import Claim


@dataclass(frozen=True)
class PublishedFigure:
    """One number of a claim's source."""

    design: str
    connections: int
    value: float
    unit: str
    """`ms`, `s`, `%`, or empty for a plain number."""
    per: str
    """`process`: the whole process once; `request`: divided by requests; empty: neither, a rate."""
    side: str = "server"
    metric: str = ""
    """As the source names it, where it is not the claim's own: `elapsed`."""
    column: str = ""
    """Of several that the source has: the book's machines and editions."""


@dataclass(frozen=True)
class RecordedClaim:
    """A claim, and what its source published."""

    claim: Claim
    source: str = ""
    """Who claims it, in words; empty if the study does not say."""
    published: tuple[PublishedFigure, ...] = ()


@dataclass(frozen=True)
class PublishedTable:
    """Somebody else's figures beside a baseline."""

    source: str
    columns: list[str]
    rows: dict[str, list[float | None]]
    """By contender; None: not published."""
    at: int | None = None
    """The step of the axis that they belong to; None: any."""


@dataclass(frozen=True)
class Baseline:
    """Whose server CPU time is subtracted from everybody's."""

    contender: str
    published: PublishedTable | None = None


@dataclass(frozen=True)
class Given:
    """All of it."""

    claims: tuple[RecordedClaim, ...] = ()
    """In the order of the study."""
    baseline: Baseline | None = None
    calibration: Calibration | str | None = None
    """The newest of this machine; in words why it could not be read; None: it had none."""


RECORDED, BASELINE = TypeAdapter(RecordedClaim), TypeAdapter(Baseline)
"""What a ledger holds must be such."""
