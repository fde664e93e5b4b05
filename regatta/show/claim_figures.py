"""The figures of a claim, published, as they measured and as it should be: as rows, and as
charts.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regatta.judge.claims.result import ClaimResult, MeasuredFigure
from regatta.judge.interval import OpenInterval
from regatta.record.inputs import PublishedFigure
from regatta.show.charts import LOG_FROM, SCHEMA, WITH_INTERVAL, drawn_digits, quantity, tip, word
from regatta.show.claim_words import EACH_ONE, SCOPES, WHOLE, published_value, unit_words
from regatta.show.numbers import interval_of, plural, value_of
from regatta.show.palette import styles
from regatta.show.view import Spec

# The figures of a claim as rows: published, as they measured, as it should be. Each panel has its
# own unit and machine, so only orders and ratios can be compared between panels.

PUBLISHED = "published"


@dataclass(frozen=True, kw_only=True)
class ClaimFigure(OpenInterval):
    group: str
    """Heading of the rows, such as `30 connections`; empty without one."""
    label: str
    design: str
    connections: int
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
    return [list(_of_metric(claim, name, names)) for name in names]


def order(claim: ClaimResult) -> dict[str, int]:
    """Rank of each design as claimed: if the claim holds, values grow from row to row."""
    words = dict.fromkeys(re.findall(r"[^\s<~≈=,;:]+", claim.claimed))
    return {name: rank for rank, name in enumerate(words)}


def _of_metric(claim: ClaimResult, name: str, names: list[str]) -> Iterator[ClaimPanel]:
    theirs = [
        one
        for one in claim.published
        if (one.metric or claim.metric) == name
        or (name == names[0] and one.metric and one.metric not in names)
    ]
    if theirs:
        units = {unit_words(one.unit, one.per) for one in theirs}
        stand_in = {one.metric for one in theirs if one.metric and one.metric != name}
        unit = " ".join([*sorted(unit for unit in units if unit), *sorted(stand_in)])
        yield ClaimPanel(PUBLISHED, name, PUBLISHED, unit, _rows(claim, theirs))
    for scope, title in SCOPES.items():
        result = claim.scopes.get(scope)
        mine = [one for one in result.figures if one.metric == name] if result else []
        if mine:
            known = (unit_words(one.unit, one.per) for one in mine if one.value is not None)
            unit = next(known, "")
            yield ClaimPanel(scope, name, f"here, {title}", unit, _rows(claim, mine))


Figure = MeasuredFigure | PublishedFigure


def _rows(claim: ClaimResult, of: Sequence[Figure]) -> list[ClaimFigure]:
    """In the claimed order; only what differs between the rows is named."""

    def values(name: str) -> list[str]:
        """Of all figures; a published one has no engine, a measured one no column."""
        return list(dict.fromkeys(getattr(one, name, "") for one in of))

    ranks = order(claim)
    columns = values("column")
    differ = {name for name in ("design", "side", "engine", "connections") if len(values(name)) > 1}

    def key(one: Figure) -> tuple[object, ...]:
        design, side, engine = (
            ranks.get(getattr(one, name, ""), len(ranks)) for name in ("design", "side", "engine")
        )
        column = columns.index(getattr(one, "column", ""))
        return column, one.connections, design, one.design, side, engine

    def row(one: Figure) -> ClaimFigure:
        column = getattr(one, "column", "").replace("_", " ") if len(columns) > 1 else ""
        at = plural(one.connections, "connection") if "connections" in differ else ""
        parts = [one.side] if "side" in differ else []
        parts += [f"{getattr(one, 'engine', '')} client"] if "engine" in differ else []
        parts = [one.design, *parts] if "design" in differ or not parts else parts
        if isinstance(one, PublishedFigure):
            size, says, interval = OpenInterval(one.value), published_value(one.value), ""
        else:
            size, says, interval = one, value_of(one), interval_of(one)
        return ClaimFigure(
            size.value,
            size.low,
            size.high,
            group=", ".join(filter(None, (column, at))),
            label=" ".join(parts),
            design=one.design,
            connections=one.connections,
            says=says,
            interval=interval,
        )

    return [row(one) for one in sorted(of, key=key)]


HEAD, ROW = 26, 40
"""Heights in pixels of a heading and of a row."""
CURVE = 190
BEYOND_LEAST = 4.0
"""A logarithmic axis begins at most this factor below the smallest value."""
THOUSANDS = 10_000
"""From here on axis labels use k and M."""
FAINT = 0.65
"""Opacity of headings and guide lines."""
OWN_COLOUR = word("colour", scale=None)


def panel_spec(panel: ClaimPanel, contenders: list[str]) -> Spec:
    """As wide as its container; rows are never hidden."""
    drawn = (_curve if panel.grows else _ranking)(panel, contenders)
    return {"$schema": SCHEMA, "width": "container", **drawn}


def _ranking(panel: ClaimPanel, contenders: list[str]) -> Spec:
    rows, heads, height = _placed(panel, contenders)
    scale = {"domain": [height, 0], "nice": False, "zero": False}
    x = quantity("value", scale=_scale(panel.rows), axis=_axis(panel.rows))
    y, above = (quantity(name, scale=scale, axis=None) for name in ("dot", "text"))
    left, right = {"value": 0}, {"value": "width"}
    name = {"type": "text", "align": "left", "baseline": "middle"}
    named = {"x": left, "y": above, "text": word("label")}
    shown = {"x": right, "y": above, "text": word("shown")}
    layers: list[Spec] = [
        {"mark": "rule", "encoding": {"x": left, "x2": right, "y": y}},
        {"mark": name, "encoding": named},
        {"mark": {**name, "align": "right"}, "encoding": shown},
    ]
    if any("low" in row for row in rows):
        layers.append(_bars({"x": quantity("low"), "x2": {"field": "high"}, "y": y}))
    layers.append(_points({"x": x, "y": y}, [tip("label", "design"), *_figure_tips(panel)]))
    if heads:
        mark = {**name, "opacity": FAINT, "fontWeight": "bold"}
        layers.append({"data": {"values": heads}, "mark": mark, "encoding": named})
    return {"height": height, "data": {"values": rows}, "layer": layers}


def _curve(panel: ClaimPanel, contenders: list[str]) -> Spec:
    """Values against connections, with the line of proportional growth."""
    steps = sorted({row.connections for row in panel.rows})
    x = quantity(
        "connections",
        title="connections",
        scale={"domainMin": 0, "nice": False, "padding": 8},
        axis={"values": steps, "labelOverlap": True},
    )
    y = quantity("value", title=None, scale={"zero": True}, axis={"tickCount": 4})
    dashed = {"type": "line", "strokeDash": [4, 4], "opacity": FAINT, "strokeWidth": 1.25}
    at = {"x": x, "y": y}
    layers: list[Spec] = [
        {
            "data": {"values": _proportional(panel.rows)},
            "mark": dashed,
            "encoding": {**at, "color": OWN_COLOUR},
        }
    ]
    if any(row.low is not None for row in panel.rows):
        layers.append(_bars({"x": x, "y": quantity("low"), "y2": {"field": "high"}}))
    told = [quantity("connections", format=","), *_figure_tips(panel)]
    layers.append(_points(at, told))
    rows = [_point(row, contenders, panel) for row in panel.rows]
    return {"height": CURVE, "data": {"values": rows}, "layer": layers}


def _figure_tips(panel: ClaimPanel) -> list[Spec]:
    return [tip("says", panel.unit or panel.title), tip("interval", "95 % interval")]


def _points(at: Spec, told: list[Spec]) -> Spec:
    return {
        "transform": [{"filter": "isValid(datum.value)"}],
        "mark": {"type": "point", "size": 75, "opacity": 1, "strokeWidth": 1.75},
        "encoding": {
            **at,
            "stroke": OWN_COLOUR,
            "fill": word("fill", scale=None),
            "shape": word("shape", scale=None),
            "tooltip": told,
        },
    }


def _bars(at: Spec) -> Spec:
    return {
        "transform": [WITH_INTERVAL],
        "mark": {"type": "rule", "strokeWidth": 3, "opacity": FAINT},
        "encoding": {**at, "color": OWN_COLOUR},
    }


def _proportional(rows: list[ClaimFigure]) -> list[Spec]:
    """From 0 through the geometric mean of the figures."""
    known = [(row.connections, row.value) for row in rows if row.value and row.connections]
    if not known:
        return []
    slope = math.exp(sum(math.log(value / count) for count, value in known) / len(known))
    most = max(count for count, _ in known)
    return [{"connections": at, "value": slope * at, "colour": "#808890"} for at in (0, most)]


def _placed(panel: ClaimPanel, contenders: list[str]) -> tuple[list[Spec], list[Spec], int]:
    """Rows and headings with their offset from the top, and the total height."""
    rows: list[Spec] = []
    heads: list[Spec] = []
    top, group = 0, ""
    for row in panel.rows:
        if row.group != group:
            top += 8 if rows else 0
            heads.append({"text": top + HEAD / 2 - 4, "label": row.group})
            top, group = top + HEAD, row.group
        rows.append({**_point(row, contenders, panel), "text": top + 11, "dot": top + 27})
        top += ROW
    return rows, heads, top


def _point(row: ClaimFigure, contenders: list[str], panel: ClaimPanel) -> Spec:
    floor = _log_ends(panel.rows)[0] if logarithmic(panel.rows) and not panel.grows else -math.inf
    known = styles(contenders if row.design in contenders else [row.design])[row.design]
    point: Spec = {
        "label": row.label,
        "connections": row.connections,
        "says": row.says,
        "shown": f"{row.says} ({row.interval})" if row.interval else row.says,
        "interval": row.interval or "none",
        "colour": known.colour,
        # Published figures are hollow: their uncertainty is unknown.
        "fill": "transparent" if panel.scope == PUBLISHED else known.colour,
        "shape": known.shape,
    }
    if row.value is not None:
        point["value"] = drawn_digits(row.value)
        if row.low is not None or row.high is not None:
            low = row.value if row.low is None else row.low
            point["low"] = drawn_digits(max(low, floor))
            point["high"] = drawn_digits(row.value if row.high is None else row.high)
    return point


def logarithmic(rows: list[ClaimFigure]) -> bool:
    values = [row.value for row in rows if row.value is not None]
    return bool(values) and min(values) > 0 and max(values) > LOG_FROM * min(values)


def _scale(rows: list[ClaimFigure]) -> Spec:
    if logarithmic(rows):
        ends = list(_log_ends(rows))
        return {"type": "log", "domain": ends, "clamp": True, "nice": False, "padding": 8}
    return {"zero": True, "nice": False, "padding": 8}


def _log_ends(rows: list[ClaimFigure]) -> tuple[float, float]:
    """Of a logarithmic axis, which has no 0: an interval from 0 runs off the edge."""
    values = [row.value for row in rows if row.value is not None]
    edge = min(values) / BEYOND_LEAST
    lows = [max(row.low, edge) for row in rows if row.low is not None]
    highs = [row.high for row in rows if row.high is not None]
    return drawn_digits(min([*values, *lows])), drawn_digits(max([*values, *highs]))


def _axis(rows: list[ClaimFigure]) -> Spec:
    most = max((abs(row.value) for row in rows if row.value is not None), default=0.0)
    title = "logarithmic" if logarithmic(rows) else None
    in_thousands = {"format": "~s"} if most >= THOUSANDS else {}
    return {"tickCount": 4, "labelOverlap": True, "title": title, **in_thousands}
