"""One colour and one shape a design, in every table, chart and page.

A family has a hue (processes red to brown, threads green, event loops blue, coroutines ochre,
io_uring violet). Only `epoll` is light purple and `uring-tuned` magenta, because they are mostly
shown beside `select` and `uring`. Each colour was chosen as far as possible from those that there
were, also under colour-vision deficiencies, with a contrast of at least 3 to 1 on both the light
and the dark page. So many cannot be distinguished by colour alone: within a family each design has
its own shape and line dash.
"""

from dataclasses import dataclass
from typing import Any
from zlib import crc32

SHAPES: dict[str, tuple[list[int], str]] = {
    "circle": ([], "M-.9 0a.9.9 0 1 0 1.8 0a.9.9 0 1 0-1.8 0Z"),
    "square": ([8, 3], "M-.8-.8H.8V.8H-.8Z"),
    "triangle-up": ([2, 2], "M0-.9L.95 .75H-.95Z"),
    "diamond": ([12, 3, 2, 3], "M0-1L.75 0L0 1L-.75 0Z"),
    "triangle-down": ([5, 2], "M0 .9L.95-.75H-.95Z"),
    "cross": ([5, 2, 1, 2], "M-.33-1H.33V-.33H1V.33H.33V1H-.33V.33H-1V-.33H-.33Z"),
    "triangle-right": ([14, 4], "M.9 0L-.75-.95V.95Z"),
    "triangle-left": ([2, 5], "M-.9 0L.75-.95V.95Z"),
}
"""By Vega's name: the dash of its line, and an SVG path in a box from -1 to 1."""


@dataclass(frozen=True)
class Style:
    colour: str
    shape: str

    @property
    def dash(self) -> list[int]:
        """Pixels drawn and left out of its line; unique within a family, as the shape is."""
        return SHAPES[self.shape][0]

    @property
    def path(self) -> str:
        return SHAPES[self.shape][1]


DESIGN_STYLES: dict[str, Style] = {
    "iterative": Style("#76676e", "circle"),
    "fork-per-client": Style("#f36532", "square"),
    "prefork-accept": Style("#d06f73", "circle"),
    "prefork-flock": Style("#d1394b", "triangle-up"),
    "prefork-mutex": Style("#9e5829", "diamond"),
    "prefork-fdpass": Style("#c66008", "triangle-down"),
    "prefork-epoll": Style("#b94676", "cross"),
    "thread-per-client": Style("#6d9f3d", "square"),
    "prethread-mutex": Style("#099f7c", "diamond"),
    "prethread-queue": Style("#307749", "triangle-down"),
    "select": Style("#4260d5", "diamond"),
    "poll": Style("#2f8a96", "square"),
    "epoll": Style("#c378c3", "triangle-up"),
    "epoll-edge": Style("#4a7af0", "triangle-down"),
    "epoll-busy": Style("#137c86", "triangle-left"),
    "epoll-workers": Style("#6178ad", "cross"),
    "leader-followers": Style("#318352", "cross"),
    "coroutines": Style("#958450", "circle"),
    "reactors": Style("#1198ec", "circle"),
    "reactors-steered": Style("#6a92af", "triangle-right"),
    "coroutine-reactors": Style("#5e6f2a", "square"),
    "uring": Style("#896ad1", "circle"),
    "uring-sqpoll": Style("#7f29f8", "square"),
    "uring-tuned": Style("#cc4391", "triangle-up"),
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


@dataclass(frozen=True)
class Scheme:
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
    soft, line, ink = scheme.soft, scheme.line, scheme.ink
    sizes = {"labelFontSize": 11.5, "titleFontSize": 11.5, "titleFontWeight": "normal"}
    lines = {"gridColor": line, "domainColor": line, "tickColor": line}
    symbols = {"labelColor": ink, "labelFontSize": 12, "labelLimit": 200, "symbolSize": 70}
    place = {"anchor": "start", "frame": "group", "fontSize": 15, "offset": 14}
    below = {"subtitleColor": soft, "subtitleFontSize": 12, "subtitlePadding": 5}
    return {
        "background": scheme.paper,
        "font": "'Liberation Sans', Arial, 'DejaVu Sans', sans-serif",
        "padding": 16,
        "view": {"stroke": None},
        "axis": {"labelColor": soft, "titleColor": soft, **lines, **sizes, "tickCount": 5},
        "axisX": {"grid": False},
        "axisY": {"domain": False, "ticks": False, "labelPadding": 6},
        "legend": {"orient": "bottom", "title": None, "columns": 4, **symbols},
        "title": {"color": ink, **place, **below},
        "text": {"color": ink, "fontSize": 12},
        "rule": {"color": line},
        "header": {"labelColor": ink, "titleColor": soft},
    }
