"""One colour and one shape a design, in every table, chart and page.

A family has a hue (processes red to brown, threads green, event loops blue, io_uring violet). Only
`epoll` has one of its own, a light purple: it mostly stands beside `select`, and a second blue was
taken for the first. The colours were searched for the largest smallest distance, also as people
with a colour-vision deficiency see them, and each has a contrast of at least 3 to 1 on the white
and on the dark page, so that both schemes share it. Seventeen colours cannot all be told apart by
everybody, so colour never stands alone: within a family each design has its own shape, and its own
dash of line.
"""

from dataclasses import dataclass
from zlib import crc32


@dataclass(frozen=True)
class Style:
    colour: str
    shape: str
    """A Vega shape."""

    @property
    def dash(self) -> list[int]:
        """Of its line, in pixels drawn and left out: one for each shape, so one within a family."""
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
"""For servers that are not ours."""


def styles(contenders: list[str]) -> dict[str, Style]:
    """The look of each contender. A stranger keeps its look from race to race where it can."""
    chosen = {name: DESIGN_STYLES[name] for name in contenders if name in DESIGN_STYLES}
    free = list(OTHER_STYLES)
    for name in contenders:
        if name not in chosen:
            free = free or list(OTHER_STYLES)
            chosen[name] = free.pop(crc32(name.encode()) % len(free))
    return chosen
