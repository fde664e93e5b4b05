"""Plots as SVG and PDF, panels side by side, drawn without a browser or network."""

from typing import Any

import vl_convert

from regatta.report.charts.theme import LIGHT, config
from regatta.report.paper.elements import Plot, Spec
from regatta.report.pictures import with_legends
from regatta.report.text.printable import all_printable

WIDTHS = {1: 460, 2: 250, 3: 170}
"""Pixels of a panel, by how many stand side by side."""
ABREAST = 3


def picture(plot: Plot) -> Spec:
    """All its panels in one specification with one legend."""
    width = WIDTHS[min(len(plot.panels), ABREAST)]
    datasets: Spec = {}
    parts: list[Spec] = []
    params: list[Any] = []
    schema = ""
    for panel in plot.panels:
        spec = dict(panel.spec)
        datasets |= spec.pop("datasets", {})
        params = spec.pop("params", params)
        schema = spec.pop("$schema")
        parts.append({**spec, "width": width, "title": {"text": panel.label, "fontSize": 12}})
    drawn: Spec = all_printable(
        {
            "$schema": schema,
            "datasets": datasets,
            "params": params,
            "concat": with_legends(parts),
            "columns": min(len(parts), ABREAST),
            "bounds": "flush",
            "spacing": 64,
            "resolve": {"scale": {"color": "shared", "shape": "shared", "strokeDash": "shared"}},
        }
    )
    return drawn


def to_svg(plot: Plot) -> str:
    return vl_convert.vegalite_to_svg(picture(plot), config=config(LIGHT))


def to_pdf(plot: Plot) -> bytes:
    return vl_convert.vegalite_to_pdf(picture(plot), config=config(LIGHT))
