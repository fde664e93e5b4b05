"""The figures of a claim, published, as they measured and as it should be: as rows, and as charts.

Each panel has its own unit and machine, so only orders and ratios can be compared between panels.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regatta.judge.claims.result import ClaimResult, MeasuredFigure
from regatta.judge.interval import OpenInterval
from regatta.record.inputs import PublishedFigure
from regatta.show.charts import SCHEMA, Rows, drawn_digits, layer, quantity, tip, value_scale, word
from regatta.show.claim_words import EACH_ONE, SCOPES, WHOLE, published_value, unit_words
from regatta.show.numbers import interval_of, plural, value_of
from regatta.show.palette import styles
from regatta.show.view import Spec

PUBLISHED = "published"
ROW, CURVE = 40, 190
"""Heights in pixels of a row and of a curve."""
THOUSANDS = 10_000
"""From here on axis labels use k and M."""
FAINT = 0.65
"""Opacity of intervals and guide lines."""
GREY = "#808890"
OWN_COLOUR = word("colour", scale=None)
Figure = MeasuredFigure | PublishedFigure


@dataclass(frozen=True, kw_only=True)
class ClaimFigure(OpenInterval):
    group: str
    """What several rows share, such as `30 connections`; empty if nothing differs."""
    label: str
    design: str
    connections: int
    says: str
    """The value as text, or why there is none."""
    interval: str

    @property
    def text(self) -> str:
        return f"{self.says} ({self.interval})" if self.interval else self.says


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

    @property
    def measured(self) -> bool:
        return any(row.value is not None for row in self.rows)

    def text(self) -> str:
        """`select 612 (606–618), iterative 640 (627–653) µs per request`; `;` between groups."""
        if not self.measured:
            return ", ".join(dict.fromkeys(row.says for row in self.rows))
        groups: dict[str, list[str]] = {}
        for row in self.rows:
            words = row.text if self.grows else f"{row.label} {row.text}"
            groups.setdefault(row.group, []).append(words)
        parts = [f"{name}: " * bool(name) + ", ".join(rows) for name, rows in groups.items()]
        link = ", " if self.unit in (WHOLE, EACH_ONE) else " "
        return link.join(filter(None, ("; ".join(parts), self.unit)))


def panels(claim: ClaimResult) -> list[list[ClaimPanel]]:
    """The panels of each metric of the claim, published first."""
    here = [figure.metric for result in claim.scopes.values() for figure in result.figures]
    names = list(dict.fromkeys(here)) or [claim.metric]
    return [list(_of_metric(claim, name, names)) for name in names]


def _of_metric(claim: ClaimResult, name: str, names: list[str]) -> Iterator[ClaimPanel]:
    theirs = [
        figure
        for figure in claim.published
        if (figure.metric or claim.metric) == name
        or (name == names[0] and figure.metric and figure.metric not in names)
    ]
    if theirs:
        units = {unit_words(figure.unit, figure.per) for figure in theirs} - {""}
        stand_in = {figure.metric for figure in theirs} - {"", name}
        unit = " ".join([*sorted(units), *sorted(stand_in)])
        yield ClaimPanel(PUBLISHED, name, PUBLISHED, unit, _rows(claim, theirs))
    for scope, title in SCOPES.items():
        result = claim.scopes.get(scope)
        mine = [figure for figure in result.figures if figure.metric == name] if result else []
        if mine:
            known = (unit_words(each.unit, each.per) for each in mine if each.value is not None)
            yield ClaimPanel(scope, name, f"here, {title}", next(known, ""), _rows(claim, mine))


def _rows(claim: ClaimResult, of: Sequence[Figure]) -> list[ClaimFigure]:
    """In the claimed order, in which values grow if the claim holds; only what differs between the
    rows is named."""
    claimed = list(dict.fromkeys(re.findall(r"[^\s<~≈=,;:]+", claim.claimed)))

    def values(name: str) -> list[str]:
        """Of all figures; a published one has no engine, a measured one no column."""
        return list(dict.fromkeys(getattr(figure, name, "") for figure in of))

    columns = values("column")
    differ = {name for name in ("design", "side", "engine", "connections") if len(values(name)) > 1}

    def key(figure: Figure) -> tuple[object, ...]:
        design, side, engine = (
            claimed.index(name) if name in claimed else len(claimed)
            for name in (figure.design, figure.side, getattr(figure, "engine", ""))
        )
        column = columns.index(getattr(figure, "column", ""))
        return column, figure.connections, design, figure.design, side, engine

    def row(figure: Figure) -> ClaimFigure:
        column = getattr(figure, "column", "").replace("_", " ") if len(columns) > 1 else ""
        at = plural(figure.connections, "connection") if "connections" in differ else ""
        parts = [figure.side] if "side" in differ else []
        parts += [f"{getattr(figure, 'engine', '')} client"] if "engine" in differ else []
        parts = [figure.design, *parts] if "design" in differ or not parts else parts
        if isinstance(figure, PublishedFigure):
            size, says, interval = OpenInterval(figure.value), published_value(figure.value), ""
        else:
            size, says, interval = figure, value_of(figure), interval_of(figure)
        return ClaimFigure(
            *(size.value, size.low, size.high),
            group=", ".join(filter(None, (column, at))),
            label=" ".join(parts),
            design=figure.design,
            connections=figure.connections,
            says=says,
            interval=interval,
        )

    return [row(figure) for figure in sorted(of, key=key)]


def panel_spec(panel: ClaimPanel, contenders: list[str]) -> Spec:
    """As wide as its container; rows are never hidden.

    A ranking has each row's words above its point, so that they need no room beside the plot. A
    curve over connections has the line of proportional growth.
    """
    rows = [_point(row, contenders, panel) for row in panel.rows]
    drawn = [row for row in rows if "value" in row]
    scale = value_scale(drawn)
    is_log = scale.get("type") == "log"
    thousands = max(abs(row["value"]) for row in drawn) >= THOUSANDS
    axis = {"tickCount": 4, "labelOverlap": True, **({"format": "~s"} if thousands else {})}
    size = quantity(
        "value",
        title="logarithmic" if is_log else None,
        scale=scale if is_log else {"zero": True, "nice": False, "padding": 8},
        axis=axis,
    )
    guide: list[Spec] = []
    if panel.grows:
        steps = sorted({row.connections for row in panel.rows})
        x = quantity(
            "connections",
            scale={"domainMin": 0, "nice": False, "padding": 8},
            axis={"values": steps, "labelOverlap": True},
        )
        at, ends = {"x": x, "y": size}, {"x": x, "y": quantity("low"), "y2": {"field": "high"}}
        line = layer("line", {**at, "color": OWN_COLOUR}, strokeDash=[4, 4], opacity=FAINT)
        guide = [{"data": {"values": _proportional(panel.rows)}, **line}]
        height = CURVE
    else:
        above = {"labelAlign": "left", "labelPadding": 0, "labelOffset": -14, "labelLimit": 400}
        look = {"ticks": False, "domain": False, "grid": True, **above}
        y = word("row", title=None, sort=None, axis=look)
        at, ends = {"x": size, "y": y}, {"y": y, "x": quantity("low"), "x2": {"field": "high"}}
        height = ROW * len(rows)
    spot = {
        **at,
        "stroke": OWN_COLOUR,
        "fill": word("fill", scale=None),
        "shape": word("shape", scale=None),
        "tooltip": [tip("row", "design"), tip("interval", "95 % interval")],
    }
    bar = layer("rule", {**ends, "color": OWN_COLOUR}, bounded=True, strokeWidth=3, opacity=FAINT)
    layers = [
        *guide,
        *([bar] if any("low" in row for row in rows) else []),
        layer("point", spot, size=75, opacity=1, strokeWidth=1.75),
    ]
    data = {"values": rows}
    return {
        "$schema": SCHEMA,
        "width": "container",
        "height": height,
        "data": data,
        "layer": layers,
    }


def _proportional(rows: list[ClaimFigure]) -> Rows:
    """From 0 through the geometric mean of the figures."""
    known = [(row.connections, row.value) for row in rows if row.value and row.connections]
    if not known:
        return []
    slope = math.exp(sum(math.log(value / count) for count, value in known) / len(known))
    most = max(count for count, _ in known)
    return [{"connections": at, "value": slope * at, "colour": GREY} for at in (0, most)]


def _point(row: ClaimFigure, contenders: list[str], panel: ClaimPanel) -> Spec:
    known = styles(contenders if row.design in contenders else [row.design])[row.design]
    point: Spec = {
        "row": f"{row.group}: {row.label}: {row.text}" if row.group else f"{row.label}: {row.text}",
        "connections": row.connections,
        "interval": row.interval or "none",
        "colour": known.colour,
        # Published figures are hollow: their uncertainty is unknown.
        "fill": "transparent" if panel.scope == PUBLISHED else known.colour,
        "shape": known.shape,
    }
    if row.value is not None:
        point["value"] = drawn_digits(row.value)
        if row.low is not None or row.high is not None:
            point["low"] = drawn_digits(row.value if row.low is None else row.low)
            point["high"] = drawn_digits(row.value if row.high is None else row.high)
    return point
