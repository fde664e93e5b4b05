"""`[baseline]`: the contender that all others are measured against, and published figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from regatta.errors import StudyError
from regatta.study.limits import MAX_STEP
from regatta.study.table import subtable


@dataclass(frozen=True)
class Baseline:
    """Reports subtract this contender's server CPU time from everybody's."""

    contender: str
    published: str | None
    """A CSV file, from the study's folder (published.py); its figures stand beside ours."""
    published_at: int | None
    """The step of the axis that they belong to; None: all."""


def read_baseline(content: dict[str, Any], raced: Sequence[str]) -> Baseline | None:
    if "baseline" not in content:
        return None
    table = subtable(content, "baseline", ("contender", "published", "published_at"))
    if not table.has("contender"):
        raise StudyError("`baseline` has no `contender`; add one of those that are raced")
    return Baseline(
        contender=table.choice("contender", "", raced),
        published=table.text("published", "") if table.has("published") else None,
        published_at=table.integer("published_at", 0, 0, MAX_STEP)
        if table.has("published_at")
        else None,
    )
