"""One colour and one shape a design, in every table, chart and page.

A family has a hue (processes red to brown, threads green, event loops blue, io_uring violet). The
colours were searched for the largest smallest distance, also as people with a colour-vision
deficiency see them, and each has a contrast of at least 3 to 1 on the white and on the dark page,
so that both schemes share it. Seventeen colours cannot all be told apart by everybody, so colour
never stands alone: within a family each design has its own shape, and its own dash of line.
"""

from dataclasses import dataclass
from zlib import crc32


@dataclass(frozen=True)
class Look:
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


LOOKS: dict[str, Look] = {
    "iterative": Look("#76676e", "circle"),
    "fork-per-client": Look("#f36532", "square"),
    "prefork-accept": Look("#d06f73", "circle"),
    "prefork-flock": Look("#d1394b", "triangle-up"),
    "prefork-mutex": Look("#9e5829", "diamond"),
    "prefork-fdpass": Look("#c66008", "triangle-down"),
    "thread-per-client": Look("#6d9f3d", "square"),
    "prethread-mutex": Look("#099f7c", "diamond"),
    "prethread-queue": Look("#307749", "triangle-down"),
    "select": Look("#4260d5", "diamond"),
    "poll": Look("#2f8a96", "square"),
    "epoll": Look("#7195c7", "triangle-up"),
    "epoll-edge": Look("#4a7af0", "triangle-down"),
    "epoll-workers": Look("#6178ad", "cross"),
    "reactors": Look("#1198ec", "circle"),
    "uring": Look("#896ad1", "circle"),
    "uring-reactors": Look("#9245ba", "triangle-right"),
}

OTHERS = (
    Look("#b0356f", "cross"),
    Look("#8a7a1e", "cross"),
    Look("#7a5bd0", "triangle-left"),
    Look("#1f8f6f", "cross"),
    Look("#c0533f", "triangle-left"),
    Look("#64798f", "triangle-right"),
)
"""For servers that are not ours."""


def looks(contenders: list[str]) -> dict[str, Look]:
    """The look of each contender. A stranger keeps its look from race to race where it can."""
    chosen = {name: LOOKS[name] for name in contenders if name in LOOKS}
    free = list(OTHERS)
    for name in contenders:
        if name not in chosen:
            free = free or list(OTHERS)
            chosen[name] = free.pop(crc32(name.encode()) % len(free))
    return chosen
