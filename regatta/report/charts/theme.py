"""The page's colours for standalone pictures: the same values as in report.css."""

from dataclasses import dataclass
from typing import Any

FONT = "'Liberation Sans', Arial, 'DejaVu Sans', sans-serif"


@dataclass(frozen=True)
class Scheme:
    """A colour scheme."""

    suffix: str
    """Of the file's name."""
    paper: str
    ink: str
    soft: str
    line: str


LIGHT = Scheme("", "#ffffff", "#1c2127", "#5c6670", "#e2e6ea")
DARK = Scheme("-dark", "#14171b", "#e4e8ec", "#99a4af", "#2b3138")
SCHEMES = (LIGHT, DARK)


def config(scheme: Scheme) -> dict[str, Any]:
    """The Vega-Lite configuration that report.js builds from the page's style."""
    words = {"labelColor": scheme.soft, "titleColor": scheme.soft}
    lines = {"gridColor": scheme.line, "domainColor": scheme.line, "tickColor": scheme.line}
    return {
        "background": scheme.paper,
        "font": FONT,
        "padding": 16,
        "view": {"stroke": None},
        "axis": {
            **words,
            **lines,
            "labelFontSize": 11.5,
            "titleFontSize": 11.5,
            "titleFontWeight": "normal",
            "tickCount": 5,
        },
        "axisX": {"grid": False},
        "axisY": {"domain": False, "ticks": False, "labelPadding": 6},
        "legend": {
            "orient": "bottom",
            "title": None,
            "columns": 4,
            "labelColor": scheme.ink,
            "labelFontSize": 12,
            "labelLimit": 200,
            "symbolSize": 70,
        },
        "title": {
            "anchor": "start",
            "frame": "group",
            "color": scheme.ink,
            "fontSize": 15,
            "offset": 14,
            "subtitleColor": scheme.soft,
            "subtitleFontSize": 12,
            "subtitlePadding": 5,
        },
        "text": {"color": scheme.ink, "fontSize": 12},
        "rule": {"color": scheme.line},
        "header": {"labelColor": scheme.ink, "titleColor": scheme.soft},
    }
