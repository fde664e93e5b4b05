"""One colour and one shape a design, in every table, chart and page.

A family has a hue (processes red to brown, threads green, event loops blue, io_uring violet). Only
`epoll` is light purple, because it is mostly shown beside `select`. The colours maximise the
smallest distance between two of them, also under colour-vision deficiencies, and each has a
contrast of at least 3 to 1 on both the light and the dark page. Seventeen colours are too many to
be distinguished by colour alone, so within a family each design has its own shape and line dash.
"""

from dataclasses import dataclass
from typing import Any
from zlib import crc32


@dataclass(frozen=True)
class Style:
    colour: str
    shape: str
    """A Vega shape."""

    @property
    def path(self) -> str:
        return SVG_PATHS[self.shape]

    @property
    def dash(self) -> list[int]:
        """Pixels drawn and left out of its line; unique within a family, as the shape is."""
        return DASHES[self.shape]


DASHES = {
    "circle": [],
    "square": [8, 3],
    "triangle-up": [2, 2],
    "diamond": [12, 3, 2, 3],
    "triangle-down": [5, 2],
    "cross": [5, 2, 1, 2],
    "triangle-right": [14, 4],
    "triangle-left": [2, 5],
}


SVG_PATHS = {
    "circle": "M-.9 0a.9.9 0 1 0 1.8 0a.9.9 0 1 0-1.8 0Z",
    "square": "M-.8-.8H.8V.8H-.8Z",
    "diamond": "M0-1L.75 0L0 1L-.75 0Z",
    "cross": "M-.33-1H.33V-.33H1V.33H.33V1H-.33V.33H-1V-.33H-.33Z",
    "triangle-up": "M0-.9L.95 .75H-.95Z",
    "triangle-down": "M0 .9L.95-.75H-.95Z",
    "triangle-right": "M.9 0L-.75-.95V.95Z",
    "triangle-left": "M-.9 0L.75-.95V.95Z",
}
"""The shapes as SVG paths in a box from -1 to 1."""

DESIGN_STYLES: dict[str, Style] = {
    "iterative": Style("#76676e", "circle"),
    "fork-per-client": Style("#f36532", "square"),
    "prefork-accept": Style("#d06f73", "circle"),
    "prefork-flock": Style("#d1394b", "triangle-up"),
    "prefork-mutex": Style("#9e5829", "diamond"),
    "prefork-fdpass": Style("#c66008", "triangle-down"),
    "thread-per-client": Style("#6d9f3d", "square"),
    "prethread-mutex": Style("#099f7c", "diamond"),
    "prethread-queue": Style("#307749", "triangle-down"),
    "select": Style("#4260d5", "diamond"),
    "poll": Style("#2f8a96", "square"),
    "epoll": Style("#c378c3", "triangle-up"),
    "epoll-edge": Style("#4a7af0", "triangle-down"),
    "epoll-workers": Style("#6178ad", "cross"),
    "reactors": Style("#1198ec", "circle"),
    "uring": Style("#896ad1", "circle"),
    "uring-reactors": Style("#9245ba", "triangle-right"),
}

OTHER_STYLES = (
    Style("#b0356f", "cross"),
    Style("#8a7a1e", "cross"),
    Style("#7a5bd0", "triangle-left"),
    Style("#1f8f6f", "cross"),
    Style("#c0533f", "triangle-left"),
    Style("#64798f", "triangle-right"),
)
"""For servers other than ours."""


def styles(contenders: list[str]) -> dict[str, Style]:
    """The style of each contender. Other servers keep their style between races if possible."""
    chosen = {name: DESIGN_STYLES[name] for name in contenders if name in DESIGN_STYLES}
    free = list(OTHER_STYLES)
    for name in contenders:
        if name not in chosen:
            free = free or list(OTHER_STYLES)
            chosen[name] = free.pop(crc32(name.encode()) % len(free))
    return chosen


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
