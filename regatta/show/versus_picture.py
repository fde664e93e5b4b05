"""The comparison as a picture: a panel a metric, a row a server, points with 95 % intervals."""

from pathlib import Path

import vl_convert

from regatta.errors import RegattaError, UsageError
from regatta.judge.estimates import DRAWN
from regatta.judge.results import Analysis, Group
from regatta.record.metrics import PRIMARY, Metric, side_of
from regatta.show.charts import SCHEMA, Rows, chart_row, dots, word
from regatta.show.palette import LIGHT, config
from regatta.show.standings import HEADINGS
from regatta.show.text import all_printable
from regatta.show.versus import FIGURES, where
from regatta.show.view import Spec

SVG, PNG = KINDS = (".svg", ".png")
SCALE = 2.0
"""Pixels of a PNG per CSS pixel, for high-density screens."""
WIDTH, ROW = 190, 34
"""Pixels of a panel, and of a server in it."""


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


def picture(analysis: Analysis) -> Spec:
    """A line of panels for each load."""
    loads = []
    for group in analysis.groups:
        for step in group.steps:
            panels = [
                _panel(analysis.contenders, metric, rows)
                for metric in FIGURES
                if (rows := _rows(group, step, metric))
            ]
            loads.append({"hconcat": panels, "spacing": 24, "title": where(group, step)})
    heading = {
        "text": analysis.names.heading,
        "subtitle": "bars are 95 % intervals (none: an end is open); less is better",
    }
    return {"$schema": SCHEMA, "vconcat": loads, "title": heading}


def _rows(group: Group, step: int, metric: Metric) -> Rows:
    rows = []
    for result in group.at(step):
        estimate = result.estimates[side_of(metric), metric.name]
        if estimate.state in DRAWN:
            row = chart_row(result.cell.contender, step, estimate, metric)
            if estimate.high is None:  # an end drawn to the value would look like a closed one
                row.pop("low", None)
            rows.append(row)
    return rows


def _panel(contenders: list[str], metric: Metric, rows: Rows) -> Spec:
    title, unit = HEADINGS[metric.name]
    axis = {"title": None, "labels": metric is PRIMARY, "labelLimit": 140}
    labels = word("design", sort=contenders, scale={"domain": contenders}, axis=axis)
    return {
        "data": {"values": rows},
        "width": WIDTH,
        "height": ROW * len(contenders),
        "title": {"text": title, "fontSize": 13},
        "layer": dots(contenders, labels, {"scale": {"zero": True}, "title": unit}, size=80),
    }
