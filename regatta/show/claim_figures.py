"""The figures of a claim as rows: published, as they measured, as it should be.

Each panel has its own unit and machine, so only orders and ratios can be compared between panels.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from regatta.analysis.claims.result import ClaimResult, MeasuredFigure
from regatta.analysis.estimates import MEASURED
from regatta.ledger.inputs.records import PublishedFigure
from regatta.show.claim_words import EACH_ONE, SCOPES, WHOLE, figure, published_value, unit_words

PUBLISHED = "published"


@dataclass(frozen=True)
class ClaimFigure:
    group: str
    """Heading of the rows, such as `30 connections`; empty without one."""
    label: str
    design: str
    connections: int
    value: float | None
    low: float | None
    high: float | None
    says: str
    """The value as text, or why there is none."""
    interval: str


@dataclass(frozen=True)
class ClaimPanel:
    scope: str
    """`published`, `process` or `window`."""
    metric: str
    title: str
    unit: str
    rows: list[ClaimFigure]

    @property
    def grows(self) -> bool:
        """Whether it is one series over connections: a curve instead of a ranking."""
        return len(self.rows) > 2 and len({(row.label, row.design) for row in self.rows}) == 1

    def text(self) -> str:
        """`select 612 (606–618), iterative 640 (627–653) µs per request`; `;` between groups."""
        if not self.measured:
            return ", ".join(dict.fromkeys(row.says for row in self.rows))
        groups: dict[str, list[str]] = {}
        for row in self.rows:
            interval = f" ({row.interval})" if row.interval else ""
            name = "" if self.grows else f"{row.label} "
            groups.setdefault(row.group, []).append(f"{name}{row.says}{interval}")
        parts = [
            f"{name}: {', '.join(rows)}" if name else ", ".join(rows)
            for name, rows in groups.items()
        ]
        link = ", " if self.unit in (WHOLE, EACH_ONE) else " "
        return link.join(text for text in ("; ".join(parts), self.unit) if text)

    @property
    def measured(self) -> bool:
        return any(row.value is not None for row in self.rows)


def panels(claim: ClaimResult) -> list[list[ClaimPanel]]:
    """The panels of each metric of the claim, published first."""
    here = [figure.metric for result in claim.scopes.values() for figure in result.figures]
    names = list(dict.fromkeys(here)) or [claim.metric]
    return [_of_metric(claim, name, names) for name in names]


def order(claim: ClaimResult) -> dict[str, int]:
    """Rank of each design as claimed: if the claim holds, values grow from row to row."""
    words = re.findall(r"[^\s<~≈=,;:]+", claim.claimed)
    found: dict[str, int] = {}
    for word in words:
        found.setdefault(word, len(found))
    return found


def _of_metric(claim: ClaimResult, name: str, names: list[str]) -> list[ClaimPanel]:
    theirs = [
        one
        for one in claim.published
        if (one.metric or claim.metric) == name
        or (name == names[0] and one.metric and one.metric not in names)
    ]
    found = [_published(claim, name, theirs)] if theirs else []
    for scope, title in SCOPES.items():
        result = claim.scopes.get(scope)
        mine = [one for one in result.figures if one.metric == name] if result else []
        if mine:
            found.append(_here(claim, scope, title, mine))
    return found


def _published(claim: ClaimResult, name: str, theirs: list[PublishedFigure]) -> ClaimPanel:
    words = _Words(claim, theirs)
    columns = list(dict.fromkeys(one.column for one in theirs))
    rows = [
        ClaimFigure(
            words.group(one, one.column.replace("_", " ") if len(columns) > 1 else ""),
            words.label(one),
            one.design,
            one.connections,
            one.value,
            None,
            None,
            published_value(one.value),
            "",
        )
        for one in sorted(theirs, key=lambda one: (columns.index(one.column), words.sort_key(one)))
    ]
    stand_in = {one.metric for one in theirs if one.metric and one.metric != name}
    units = {unit_words(one.unit, one.per) for one in theirs}
    unit = " ".join([*sorted(unit for unit in units if unit), *sorted(stand_in)])
    return ClaimPanel(PUBLISHED, name, PUBLISHED, unit, rows)


def _here(claim: ClaimResult, scope: str, title: str, mine: list[MeasuredFigure]) -> ClaimPanel:
    words = _Words(claim, mine)
    rows = [_row(words, one) for one in sorted(mine, key=words.sort_key)]
    unit = next((unit_words(one.unit, one.per) for one in mine if one.value is not None), "")
    return ClaimPanel(scope, mine[0].metric, f"here, {title}", unit, rows)


def _row(words: "_Words", one: MeasuredFigure) -> ClaimFigure:
    state = one.state if one.state != MEASURED else "not measured"
    says, interval = figure(one.value, one.low, one.high, state)
    return ClaimFigure(
        words.group(one),
        words.label(one),
        one.design,
        one.connections,
        one.value,
        one.low,
        one.high,
        says,
        interval,
    )


class _Words:
    """Row names of one panel: only what differs between rows is named."""

    def __init__(self, claim: ClaimResult, of: Sequence[MeasuredFigure | PublishedFigure]) -> None:
        self.order = order(claim)
        self.designs = len({one.design for one in of}) > 1
        self.sides = len({one.side for one in of}) > 1
        self.engines = len({_engine(one) for one in of}) > 1
        self.connections = len({one.connections for one in of}) > 1

    def label(self, one: MeasuredFigure | PublishedFigure) -> str:
        parts = [one.side] if self.sides else []
        parts += [f"{_engine(one)} client"] if self.engines else []
        return " ".join([one.design, *parts] if self.designs or not parts else parts)

    def group(self, one: MeasuredFigure | PublishedFigure, column: str = "") -> str:
        at = f"{one.connections:,} connection{'' if one.connections == 1 else 's'}"
        return ", ".join(word for word in (column, at if self.connections else "") if word)

    def sort_key(self, one: MeasuredFigure | PublishedFigure) -> tuple[int, int, str, int, int]:
        last = len(self.order)
        design = self.order.get(one.design, last)
        side = self.order.get(one.side, last)
        engine = self.order.get(_engine(one), last)
        return one.connections, design, one.design, side, engine


def _engine(one: MeasuredFigure | PublishedFigure) -> str:
    return one.engine if isinstance(one, MeasuredFigure) else ""
