"""Charts as files, drawn by vl-convert without a browser or network: PNG for other pages, each
light and dark, SVG and PDF for papers."""

import re
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import vl_convert

from regatta.errors import RegattaError
from regatta.show.palette import LIGHT, SCHEMES, config
from regatta.show.text import all_printable
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


@contextmanager
def made(folder: Path, what: str) -> Iterator[None]:
    """Makes the folder; RegattaError if that, or writing into it, fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise RegattaError(
            f"cannot write {what} to {folder}: {error.strerror or error}; "
            "free some space or name another folder"
        ) from error


def write_pictures(charts: Iterable[Chart], folder: Path) -> list[Path]:
    """One PNG a chart and colour scheme."""
    found: list[Path] = []
    with made(folder, "pictures"):
        for chart in charts:
            spec = picture(chart, titled=True)
            for scheme in SCHEMES:
                found.append(folder / f"{file_name(chart)}{scheme.suffix}.png")
                drawn = vl_convert.vegalite_to_png(spec, scale=SCALE, config=config(scheme))
                found[-1].write_bytes(drawn)
    return found


def draw(chart: Chart, folder: Path) -> tuple[Path, Path]:
    """NAME.svg and .pdf."""
    svg, pdf = (folder / f"{file_name(chart)}.{kind}" for kind in ("svg", "pdf"))
    spec, look = picture(chart, titled=False), config(LIGHT)
    svg.write_text(vl_convert.vegalite_to_svg(spec, config=look), encoding="utf-8")
    pdf.write_bytes(vl_convert.vegalite_to_pdf(spec, config=look))
    return svg, pdf


def file_name(chart: Chart) -> str:
    """Safe in a path and a URL for any contender's name."""
    return re.sub(r"[^a-zA-Z0-9_.-]+", "-", chart.name)


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
    whole: Spec = {"$schema": schema, "params": params, **({"title": title} if titled else {})}
    parts = with_legends(parts)
    if len(parts) == 1:
        whole |= parts[0]
    else:
        whole |= {
            "concat": parts,
            "columns": abreast,
            "spacing": 64,
            "resolve": {"scale": {"color": "shared", "shape": "shared", "strokeDash": "shared"}},
        }
    # A control character in a name would make vl-convert abort the process.
    shown: Spec = all_printable(whole)
    return shown


def with_legends(parts: list[Spec]) -> list[Spec]:
    """Switches on the legends, which are off in charts because the page has one for all. That of
    designs lists those that are drawn."""
    drawn = {row.get("design") for part in parts for row in part["data"]["values"]}

    def switched(part: Any) -> Any:
        if isinstance(part, list):
            return [switched(each) for each in part]
        if not isinstance(part, dict):
            return part
        legend: Spec = LEGEND
        if part.get("field") == "design":
            names = part.get("scale", {}).get("domain", ())
            legend = {**LEGEND, "values": [name for name in names if name in drawn]}
        return {
            key: legend if key == "legend" and value is None else switched(value)
            for key, value in part.items()
        }

    return [switched(part) for part in parts]
