"""A design, as the server lists it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Design:
    """One row of the server's table of designs."""

    name: str
    summary: str
    pool: bool = False
    """It has a configurable number of workers."""
    missing: str | None = None
    """Why it cannot run on this machine."""
