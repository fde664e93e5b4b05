"""The inputs of a race as plain data."""

from dataclasses import dataclass

from pydantic import TypeAdapter

from regatta.ledger.inputs.calibration import Calibration
from regatta.ledger.inputs.claim import Claim


@dataclass(frozen=True)
class PublishedFigure:
    """One number of a claim's source."""

    design: str
    connections: int
    value: float
    unit: str
    """`ms`, `s`, `%`, or empty for a plain number."""
    per: str
    """`process`, `request`, or empty for a rate."""
    side: str = "server"
    metric: str = ""
    """The source's metric, if it differs from the claim's: `elapsed`."""
    column: str = ""
    """The source's column, if it has several: the book's machines and editions."""


@dataclass(frozen=True)
class RecordedClaim:
    """A claim with its published figures."""

    claim: Claim
    source: str = ""
    """Title of the source; empty if the study names none."""
    published: tuple[PublishedFigure, ...] = ()


@dataclass(frozen=True)
class PublishedTable:
    """Published figures for a baseline."""

    source: str
    columns: list[str]
    rows: dict[str, list[float | None]]
    """By contender; None: not published."""
    at: int | None = None
    """The step of the axis that they belong to; None: any step."""


@dataclass(frozen=True)
class Baseline:
    """The contender whose server CPU time is subtracted from all others."""

    contender: str
    published: PublishedTable | None = None


@dataclass(frozen=True)
class RaceInputs:
    claims: tuple[RecordedClaim, ...] = ()
    """In the order of the study."""
    baseline: Baseline | None = None
    calibration: Calibration | str | None = None
    """The machine's newest calibration; or why it could not be read; None: there is none."""


RECORDED, BASELINE = TypeAdapter(RecordedClaim), TypeAdapter(Baseline)
"""Validate what is read from a ledger."""
