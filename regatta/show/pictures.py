"""Charts as files, drawn by vl-convert without a browser or network: PNG for other pages, each
light and dark, SVG and PDF for papers; and a comparison as one picture."""

import re
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import vl_convert

from regatta.errors import RegattaError, UsageError
from regatta.judge.estimates import DRAWN
from regatta.judge.results import Analysis, Group
from regatta.record.metrics import PRIMARY, Metric, side_of
from regatta.show.charts import SCHEMA, Rows, chart_row, dots, word
from regatta.show.palette import LIGHT, SCHEMES, config
from regatta.show.standings import HEADINGS
from regatta.show.text import all_printable
from regatta.show.versus import FIGURES, where
from regatta.show.view import Chart, Spec

WIDTHS = {1: 640, 2: 300, 3: 270}
"""Pixels of a panel, by how many stand side by side."""
ABREAST = 3
LETTERS = {1: 88, 2: 88, 3: 130}
"""That fit into a line of the title above them."""
SCALE = 2.0
"""Pixels per CSS pixel, for high-density screens."""
LEGEND = {"symbolOpacity": 1, "symbolStrokeWidth": 0, "symbolDash": []}
"""Otherwise legend symbols take a band's opacity or a line's dashes."""


def write_pictures(charts: Iterable[Chart], folder: Path) -> list[Path]:
    """One PNG a chart and colour scheme."""
    found: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for chart in charts:
            spec = picture(chart, titled=True)
            for scheme in SCHEMES:
                path = folder / f"{file_name(chart)}{scheme.suffix}.png"
                drawn = vl_convert.vegalite_to_png(spec, scale=SCALE, config=config(scheme))
                path.write_bytes(drawn)
                found.append(path)
    except OSError as error:
        raise RegattaError(
            f"cannot write pictures to {folder}: {error.strerror or error}; "
            "free some space or name another folder"
        ) from error
    return found


def file_name(chart: Chart) -> str:
    """Safe in a path and a URL for any contender's name."""
    return re.sub(r"[^a-zA-Z0-9_.-]+", "-", chart.name)


def to_svg(chart: Chart, titled: bool = False) -> str:
    found: str = vl_convert.vegalite_to_svg(picture(chart, titled), config=config(LIGHT))
    return found


def to_pdf(chart: Chart, titled: bool = False) -> bytes:
    found: bytes = vl_convert.vegalite_to_pdf(picture(chart, titled), config=config(LIGHT))
    return found


def picture(chart: Chart, titled: bool) -> Spec:
    """All its panels in one specification with one legend."""
    abreast = min(len(chart.panels), ABREAST)
    title = {
        "text": textwrap.wrap(chart.title, LETTERS[abreast]),
        "subtitle": textwrap.wrap(chart.says, int(LETTERS[abreast] * 1.2)),
    }
    parts: list[Spec] = []
    params: list[Any] = []
    schema = ""
    for panel in chart.panels:
        spec = dict(panel.spec)
        params = spec.pop("params", params)
        schema = spec.pop("$schema", schema)
        head = {"text": panel.title, "subtitle": panel.unit, "fontSize": 12}
        parts.append({**spec, "width": WIDTHS[abreast], **({"title": head} if panel.title else {})})
    whole: Spec = {
        "$schema": schema,
        "params": params,
        **({"title": title} if titled else {}),
    }
    if len(parts) == 1:
        whole |= with_legends(parts[0])
    else:
        whole |= {
            "concat": with_legends(parts),
            "columns": abreast,
            "spacing": 64,
            "resolve": {"scale": {"color": "shared", "shape": "shared", "strokeDash": "shared"}},
        }
    # A control character in a name would make vl-convert abort the process.
    shown: Spec = all_printable(whole)
    return shown


def with_legends(part: Any) -> Any:
    """Switches on the legends, which are off in charts because the page has one for all."""
    if isinstance(part, list):
        return [with_legends(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {
        key: LEGEND if key == "legend" and value is None else with_legends(value)
        for key, value in part.items()
    }


SVG, PNG = KINDS = (".svg", ".png")
PICTURE_SCALE = 2.0
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
    spec = all_printable(versus_spec(analysis))
    try:
        if file.suffix == SVG:
            file.write_text(vl_convert.vegalite_to_svg(spec, config=config(LIGHT)))
        else:
            file.write_bytes(
                vl_convert.vegalite_to_png(spec, scale=PICTURE_SCALE, config=config(LIGHT))
            )
    except OSError as error:
        raise RegattaError(
            f"cannot write {file}: {error.strerror or error}; free some space or name another file"
        ) from error


def versus_spec(analysis: Analysis) -> Spec:
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
