"""What is compared, and the goals."""

from __future__ import annotations

from pathlib import Path

from bench.side_by_side import Comparison
from regatta import programs
from regatta.study import Cell

REPORTS_SERVER = Path(__file__).resolve().parents[1] / "build" / "bench" / "reports-server"
DESIGNS = ("iterative", "thread-per-client", "select")


def burst(design: str) -> Cell:
    """A hundred clients at once, each asking once; a fresh scan for each request."""
    return Cell(
        contender=design,
        contender_order=0,
        work="scan",
        load="burst",
        connections=100,
        engine="epoll",
        dialect="line",
        rounds=3,
        duration_s=None,
        per_connection=None,
        top=2,
        max_age_ms=0,
    )


def comparisons() -> list[Comparison]:
    """Every row of the table, in its order.

    The reports' scan is opendir, and fopen and fscanf for each process (reports_procfs.c).
    """
    ours = programs.find("regatta-server")
    return [
        Comparison(
            f"scan, {design}",
            ours,
            REPORTS_SERVER,
            burst(design),
            goal=0.8,
        )
        for design in DESIGNS
    ]
