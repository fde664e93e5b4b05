"""A design, as the server lists it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Design:
    """One row of the server's table of designs."""

    name: str
    summary: str
    pool: bool = False
    """It has workers of a number that can be chosen."""
    missing: str | None = None
    """Why it cannot run on this machine."""
