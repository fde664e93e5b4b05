"""The comparison as a picture: a panel a metric, a row a server, points with 95 % intervals."""

from pathlib import Path

import vl_convert

from regatta.errors import RegattaError, UsageError
from regatta.judge.estimates import DRAWN
from regatta.judge.results import Analysis, Group
from regatta.record.metrics import PRIMARY, Metric, side_of
from regatta.show.charts import SCHEMA, Rows, chart_row
from regatta.show.groups import HEADINGS
from regatta.show.palette import LIGHT, config, styles
from regatta.show.text import all_printable
from regatta.show.versus import FIGURES, where
from regatta.show.view import Spec

SVG, PNG = KINDS = (".svg", ".png")
SCALE = 2.0
"""Pixels of a PNG per CSS pixel, for high-density screens."""


def check_picture(file: Path | None) -> None:
    """Before anything starts: UsageError for what could not be written at the end."""
    if file is None:
        return
    if file.suffix not in KINDS:
        raise UsageError(f"--picture is {file}; its name must end in {' or '.join(KINDS)}")
    if not file.absolute().parent.is_dir():
        raise UsageError(f"--picture is {file}, but its folder does not exist; make it first")


def write_picture(analysis: Analysis, file: Path) -> None:
    # A control character in a name would make vl-convert abort the process.
    spec = all_printable(picture(analysis))
    try:
        if file.suffix == SVG:
            file.write_text(vl_convert.vegalite_to_svg(spec, config=config(LIGHT)))
        else:
            file.write_bytes(vl_convert.vegalite_to_png(spec, scale=SCALE, config=config(LIGHT)))
    except OSError as error:
        raise RegattaError(
            f"cannot write {file}: {error.strerror or error}; free some space or name another file"
        ) from error


WIDTH, ROW = 190, 34
"""Pixels of a panel, and of a server in it."""


def picture(analysis: Analysis) -> Spec:
    """A line of panels for each load."""
    loads = []
    for group in analysis.groups:
        for step in group.steps:
            panels = [
                panel(analysis, metric, rows)
                for metric in FIGURES
                if (rows := rows_of(group, step, metric))
            ]
            loads.append({"hconcat": panels, "spacing": 24, "title": where(group, step)})
    heading = {
        "text": analysis.names.heading,
        "subtitle": "bars are 95 % intervals (none: an end is open); less is better",
    }
    return {"$schema": SCHEMA, "vconcat": loads, "title": heading}


def rows_of(group: Group, step: int, metric: Metric) -> Rows:
    found = (
        (one.cell.contender, one.estimates[side_of(metric), metric.name]) for one in group.at(step)
    )
    rows = [
        (estimate, chart_row(name, step, estimate, metric))
        for name, estimate in found
        if estimate.state in DRAWN
    ]
    for estimate, row in rows:
        if estimate.high is None:  # an open end drawn to the value would look like a closed one
            row.pop("low", None)
    return [row for _, row in rows]


def panel(analysis: Analysis, metric: Metric, rows: Rows) -> Spec:
    known = styles(analysis.contenders)
    order = analysis.contenders

    def scale(looks: list[str]) -> Spec:
        return {"domain": order, "range": looks}

    title, unit = HEADINGS[metric.name]
    shared: Spec = {
        "y": {
            "field": "design",
            "type": "nominal",
            "sort": order,
            "scale": {"domain": order},
            "axis": {"title": None, "labels": metric is PRIMARY, "labelLimit": 140},
        },
        "color": {
            "field": "design",
            "type": "nominal",
            "scale": scale([known[name].colour for name in order]),
            "legend": None,
        },
    }
    value: Spec = {"type": "quantitative", "scale": {"zero": True}, "title": unit}
    interval = {
        "transform": [{"filter": "isValid(datum.low)"}],
        "mark": {"type": "rule", "strokeWidth": 2},
        "encoding": {**shared, "x": {"field": "low", **value}, "x2": {"field": "high"}},
    }
    shape = {
        "field": "design",
        "type": "nominal",
        "scale": scale([known[name].shape for name in order]),
        "legend": None,
    }
    point = {
        "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
        "encoding": {**shared, "x": {"field": "value", **value}, "shape": shape},
    }
    return {
        "data": {"values": rows},
        "width": WIDTH,
        "height": ROW * len(order),
        "title": {"text": title, "fontSize": 13},
        "layer": [interval, point],
    }
