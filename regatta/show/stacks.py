"""Where in the code the time is spent: sampled stacks as an icicle, and for other tools."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from regatta.judge.activity import activity
from regatta.judge.anatomy import Anatomy, Spent
from regatta.judge.results import Analysis
from regatta.record.recordings import (
    ACTIVITIES,
    IDLE,
    KERNEL,
    OTHERS,
    SEPARATOR,
    UNKNOWN,
    USER,
    folded,
)
from regatta.show.charts import SCHEMA, drawn_digits, quantity, tip, word
from regatta.show.numbers import percent, short
from regatta.show.view import Chart, Panel, Spec

COUNTS_PER_US = 100
"""Folded stacks have whole numbers; some tools make a sample of each count."""
LEAST_SHARE = 0.004
"""Of all time: narrower frames are not drawn."""
FRAME_HEIGHT = 17
"""Pixels."""
BY_ACTIVITY = "activity"
MORE, LESS, SAME = "#ff8a65", "#7fb2ff", "#d5d8dd"
"""Colours of a frame that takes more, less or the same time."""
FULL_COLOUR = 0.1
"""The share of all time by which a frame differs that has the full colour."""
INK, PAPER = "#1b1e23", "#ffffff"
PALE = 0.45
"""How much paler a colour is behind a name."""
LEAST_ROOM = 18
"""Pixels that a name takes at least."""
COLOURS = (
    *("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951"),
    *("#a463f2", "#97bbf5", "#9c6b4e", "#9498a0"),
)
"""Of ACTIVITIES, in their order."""


@dataclass
class Frame:
    """A function where it was called from, with all that it called."""

    stack: tuple[str, ...]
    start_us: float
    spent_us: float
    kind: str
    """In the kernel the activity that takes most of it, otherwise user code."""


def icicle(anatomy: Anatomy, stacks: Mapping[str, Spent], prefix: str) -> Chart:
    """`stacks`: by contender."""
    return Chart(
        f"{prefix}stacks",
        "Server CPU per request by stack",
        "Each function is below its caller, as wide as the time that it and all that it calls take."
        " A click on a function enlarges it, a double click goes back.",
        (Panel("", "µs", icicle_spec(anatomy, stacks)),),
        wide=True,
    )


def folded_stacks(analysis: Analysis) -> str:
    """Of all contenders, as flamegraph.pl and most viewers of profiles read them: a count
    is 10 ns of a request. Empty without sampled trials."""
    several = len(analysis.groups) > 1
    counts = {
        folded(*([group.title] * several), name): means(spent)
        for group in analysis.groups
        for name, spent in group.stacks.items()
    }
    return "".join(
        f"{root}{SEPARATOR}{stack} {count}\n"
        for root, spent in counts.items()
        for stack, us in sorted(spent.items())
        if (count := round(us * COUNTS_PER_US))
    )


def means(stacks: Spent) -> dict[str, float]:
    return {stack: fmean(blocks.values()) for stack, blocks in stacks.items()}


def frames(spent: Mapping[str, float]) -> list[Frame]:
    """Callers before what they call; of one caller, the longest first. In and out in µs."""
    found: dict[tuple[str, ...], Frame] = {}
    by_kind: dict[tuple[str, ...], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for stack, us in spent.items():
        names, kind = tuple(stack.split(SEPARATOR)), activity(stack).split(SEPARATOR)[0]
        for depth in range(1, len(names) + 1):
            by_kind[names[:depth]][kind] += us
    for stack_to, kinds in by_kind.items():
        most = max(kinds, key=kinds.__getitem__)
        of_user = not stack_to[-1].endswith(KERNEL) and stack_to[0] not in (IDLE, OTHERS)
        kind = USER if of_user else most
        found[stack_to] = Frame(stack_to, 0.0, sum(kinds.values()), kind)
    end: dict[tuple[str, ...], float] = {}
    ordered = sorted(found.values(), key=lambda frame: (len(frame.stack), -frame.spent_us))
    for frame in ordered:
        caller = frame.stack[:-1]
        frame.start_us = end.get(caller, found[caller].start_us if caller else 0.0)
        end[caller] = frame.start_us + frame.spent_us
    return ordered


def same(frame: Frame) -> tuple[str, ...]:
    """What it is compared by: of threads with other names too."""
    return frame.stack[1:] or frame.stack


def icicle_spec(anatomy: Anatomy, stacks: Mapping[str, Spent]) -> Spec:
    """Of one contender at a time, coloured by activity or by the difference to the front-runner."""
    names = anatomy.ranked
    spent = {name: means(stacks[name]) for name in names}
    whole = {name: sum(of.values()) for name, of in spent.items()}
    drawn = {name: frames(of) for name, of in spent.items()}
    of_front: dict[tuple[str, ...], float] = defaultdict(float)
    for frame in drawn.get(anatomy.front or "", []):
        of_front[same(frame)] += frame.spent_us
    rows = [
        _row(name, frame, of_front, whole[name])
        for name in names
        for frame in drawn[name]
        if frame.spent_us > LEAST_SHARE * whole[name]
    ]
    colours = [BY_ACTIVITY, *([f"more or less than {anatomy.front}"] if of_front else [])]
    # The function that was clicked is as wide as the chart.
    is_near = "zoom.design && zoom.design[0] == contender"
    start, end = f"({is_near} ? zoom.start[0] : 0)", f"({is_near} ? zoom.end[0] : whole)"
    scale = {"domainMin": {"expr": start}, "domainMax": {"expr": end}, "nice": False, "zero": False}
    room = f"(min(datum.end, {end}) - max(datum.start, {start})) / ({end} - {start}) * width - 4"
    across = {"x": quantity("start", title="µs per request", scale=scale), "x2": {"field": "end"}}
    down = quantity("depth", axis=None, scale={"reverse": True, "nice": False})
    return {
        "$schema": SCHEMA,
        "width": "container",
        "height": FRAME_HEIGHT * max(row["below"] for row in rows),
        "params": [
            {"name": "shown", "value": names},
            choice("contender", names, names[-1]),
            choice("colour", colours, BY_ACTIVITY),
            {"name": "search", "value": "", "bind": {"input": "search", "name": "search "}},
            {"name": "wholes", "value": whole},
            {"name": "whole", "expr": "wholes[contender]"},
        ],
        "data": {"values": rows},
        "transform": [
            {"filter": "datum.design == contender"},
            {"calculate": f"colour == '{BY_ACTIVITY}' ? datum.kind : datum.more", "as": "fill"},
            {
                "calculate": "!search || indexof(lower(datum.name), lower(search)) >= 0 ? 1 : 0.2",
                "as": "seen",
            },
            {"calculate": f"max(datum.start, {start})", "as": "left"},
        ],
        "encoding": {"y": down},
        "layer": [
            {
                "params": [
                    {
                        "name": "zoom",
                        "select": {
                            "type": "point",
                            "fields": ["design", "start", "end"],
                            "on": "click",
                            "clear": "dblclick",
                        },
                    }
                ],
                "mark": {"type": "rect", "clip": True, "stroke": "white", "strokeWidth": 0.5},
                "encoding": {
                    **across,
                    "y2": {"field": "below"},
                    "color": word("fill", scale=None),
                    "opacity": quantity("seen", scale=None),
                    "tooltip": [tip("name", "function"), tip("says", "CPU")],
                },
            },
            {
                "transform": [{"filter": f"{room} > {LEAST_ROOM}"}],
                "mark": {
                    "type": "text",
                    "clip": True,
                    "align": "left",
                    "baseline": "top",
                    "dx": 3,
                    "dy": 3,
                    "fontSize": 10.5,
                    "color": INK,
                    "limit": {"expr": room},
                },
                "encoding": {"x": quantity("left", scale=scale), "text": word("name")},
            },
        ],
    }


def choice(name: str, options: Sequence[str], first: str) -> Spec:
    bind = {"input": "select", "options": list(options), "name": f"{name} "}
    return {"name": name, "value": first, "bind": bind}


def _row(
    design: str, frame: Frame, of_front: Mapping[tuple[str, ...], float], whole: float
) -> Spec:
    more = frame.spent_us - of_front.get(same(frame), 0.0)
    depth = len(frame.stack)
    said = f"{short(frame.spent_us)} µs, {percent(frame.spent_us / whole)}"
    return {
        "design": design,
        "name": frame.stack[-1].removesuffix(KERNEL).removesuffix(f" ({UNKNOWN})"),
        "depth": depth - 1,
        "below": depth,
        "start": drawn_digits(frame.start_us),
        "end": drawn_digits(frame.start_us + frame.spent_us),
        "kind": blend(COLOURS[ACTIVITIES.index(frame.kind)], PAPER, PALE),
        "more": difference_colour(more / (FULL_COLOUR * whole)),
        "says": f"{said}; {'+' if more > 0 else '−'}{short(abs(more))} µs" if of_front else said,
    }


def difference_colour(share: float) -> str:
    """`share`: of FULL_COLOUR, negative for less."""
    return blend(SAME, MORE if share > 0 else LESS, min(abs(share), 1.0))


def blend(start: str, end: str, part: float) -> str:
    """Of two colours, `#rrggbb`; `part` of the second."""
    pairs = ((int(start[at : at + 2], 16), int(end[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in pairs)
