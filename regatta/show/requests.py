"""Where a request's time goes: a table and bars; the slowest as a picture and for other tools."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from regatta.judge.anatomy import BANDS, TimeSpent
from regatta.judge.results import Analysis
from regatta.record.recordings import RUNNING, STAGES, Slow, Span
from regatta.show.charts import SCHEMA, divided_bars, drawn_digits, quantity, tip, word
from regatta.show.numbers import DASH, percent, plural, short
from regatta.show.stacks import choice
from regatta.show.verdicts import listed
from regatta.show.view import FOLDED, Chart, Figure, Heading, Panel, Row, Section, Spec, Table

SAYS = (
    "µs of a request near p50 and p99 of the time from the client's first call until it has the "
    "answer. On the way: in the network and the kernel, there and back. In a queue: it has reached "
    "the server, and waits to be accepted, read or for its turn. Then its task waits for a CPU, "
    "runs, or is blocked by a lock, a disk or another task. From trials of their own, without "
    "intervals."
)
REQUEST = "the request"
COLOURS = ("#97bbf5", "#efb118", "#ff725c", "#3ca951", "#a463f2")
"""Of STAGES, in their order."""
SPAN_HEIGHT = 20
"""Pixels, with the space below."""
NS_PER_US = 1e3
CLIENT_PROGRAM = "regatta-client"
MOST_NAMED = 3
COST = 0.02
"""A smaller one is not mentioned."""


def requests_section(spent: Mapping[str, TimeSpent], prefix: str) -> Section:
    """`spent`: by contender."""
    bars = tuple(
        Panel(band, "µs", stages_spec(spent, band))
        for band in BANDS
        if any(of.at.get(band) for of in spent.values())
    )
    chart = Chart(f"{prefix}stages", "Where a request's time goes", "", bars, wide=True)
    slow = Chart(
        f"{prefix}slowest",
        "The slowest request",
        "Above, the request; below, what ran meanwhile on the CPUs of both sides.",
        (Panel("", "µs", slowest_spec(spent)),),
        wide=True,
    )
    told = tuple(slowest_sentence(name, of) for name, of in spent.items())
    return Section(
        "Where a request's time goes",
        tables=(stages_table(spent),),
        charts=(chart,) if bars else (),
        sections=(Section("The slowest requests", text=told, charts=(slow,), rank=FOLDED),),
        quiet=tuple(_cost(spent)),
        name=f"{prefix}time",
    )


def _cost(spent: Mapping[str, TimeSpent]) -> Iterator[str]:
    costs = [of.cost for of in spent.values() if of.cost]
    if costs and max(costs) - 1 > COST:
        yield (
            f"In traced trials the server's CPUs are busy for {percent(min(costs))} to "
            f"{percent(max(costs))} of the time in timed trials."
        )


def stages_table(spent: Mapping[str, TimeSpent]) -> Table:
    """A row a contender and percentile."""
    rows = [
        Row(f"{name}, {band}", tuple(_figures(of.at.get(band, {}))))
        for name, of in spent.items()
        for band in BANDS
    ]
    header = (Heading("request"), Heading("all", "µs"), *(Heading(of, "µs") for of in STAGES))
    return Table("", SAYS, header, tuple(rows))


def _figures(stages: Mapping[str, float]) -> Iterator[Figure]:
    if not stages:
        yield from [Figure(DASH)] * (len(STAGES) + 1)
        return
    for us in (sum(stages.values()), *stages.values()):
        yield Figure(short(us) if us else DASH, number=us)


def slowest_sentence(name: str, spent: TimeSpent) -> str:
    """`The slowest of 2,000 requests to epoll took 4.3 ms: 4.1 ms in a queue, 0.15 ms running;
    meanwhile node (4 ms) ran.`"""
    slow = spent.slowest[0]
    parts = sorted(by_name(slow.stages).items(), key=lambda part: -part[1])
    most = [f"{ms(ns)} {stage}" for stage, ns in parts if ns > slow.took_ns / 20]
    ran: dict[str, int] = {}
    for task, spans in slow.tasks.items():
        title = task.rpartition(" ")[0]
        if task not in slow.serving and title != CLIENT_PROGRAM:
            ran[title] = ran.get(title, 0) + by_name(spans).get(RUNNING, 0)
    others = sorted((of for of in ran if ran[of] > slow.took_ns / 20), key=lambda of: -ran[of])
    also = [f"{of} ({ms(ran[of])})" for of in others[:MOST_NAMED]]
    return (
        f"The slowest of {plural(spent.requests, 'request')} to {name} took {ms(slow.took_ns)}: "
        f"{', '.join(most)}{f'; meanwhile {listed(also)} ran' if also else ''}."
    )


def by_name(spans: Sequence[Span]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, _, length in spans:
        found[name] = found.get(name, 0) + length
    return found


def ms(ns: float) -> str:
    return f"{short(ns / 1e6)} ms"


def stages_spec(spent: Mapping[str, TimeSpent], band: str) -> Spec:
    """A bar a contender, divided by stage."""
    parts = {
        (name, stage): us
        for name, of in spent.items()
        for stage, us in of.at.get(band, {}).items()
        if us
    }
    return divided_bars(list(spent), parts, STAGES, COLOURS, "stage")


def coloured(field: str) -> Spec:
    return word(field, title=None, scale={"domain": list(STAGES), "range": list(COLOURS)})


def tracks(slow: Slow) -> Iterator[tuple[str, list[Span]]]:
    """What is drawn below one another: the request, who served it, what else ran."""
    yield REQUEST, list(slow.stages)
    ordered = sorted(slow.tasks, key=lambda task: task not in slow.serving)
    yield from ((task, list(slow.tasks[task])) for task in ordered)


def slowest_spec(spent: Mapping[str, TimeSpent]) -> Spec:
    """Of one contender at a time. A blocked task is not drawn."""
    drawn = {name: list(tracks(of.slowest[0])) for name, of in spent.items()}
    rows = [
        {
            "design": name,
            "track": track,
            "start": drawn_digits(start / NS_PER_US),
            "end": drawn_digits((start + length) / NS_PER_US),
            "state": state,
            "says": f"{short(length / NS_PER_US)} µs",
        }
        for name, of in drawn.items()
        for track, spans in of
        for state, start, length in spans
    ]
    names = list(spent)
    return {
        "$schema": SCHEMA,
        "width": "container",
        "height": SPAN_HEIGHT * max(len(of) for of in drawn.values()),
        "params": [{"name": "shown", "value": names}, choice("contender", names, names[0])],
        "data": {"values": rows},
        "transform": [{"filter": "datum.design == contender"}],
        "mark": {"type": "bar", "height": SPAN_HEIGHT - 6},
        "encoding": {
            "y": word("track", title=None, sort=None, axis={"labelLimit": 200}),
            "x": quantity("start", title="µs since the client's first call"),
            "x2": {"field": "end"},
            "color": coloured("state"),
            "opacity": {
                "condition": {"test": "datum.state == 'blocked'", "value": 0.3},
                "value": 1,
            },
            "tooltip": [tip("track", "task"), tip("state", "state"), tip("says", "time")],
        },
    }


def trace_events(analysis: Analysis) -> str:
    """The slowest requests of all contenders, in the JSON of Chrome's tracing, which Perfetto and
    speedscope read; empty without traced trials. A process a request, a thread a track."""
    several = len(analysis.groups) > 1
    found: list[dict[str, Any]] = []
    process = 0
    for group in analysis.groups:
        for name, spent in group.time_spent.items():
            for slow in spent.slowest:
                process += 1
                title = f"{group.title}, {name}" if several else name
                found.append(_named("process_name", process, 0, f"{title}: {ms(slow.took_ns)}"))
                for thread, (track, spans) in enumerate(tracks(slow)):
                    found.append(_named("thread_name", process, thread, track))
                    found += [
                        {
                            "name": state,
                            "ph": "X",
                            "ts": start / NS_PER_US,
                            # 1 ns less: viewers that add floats would nest neighbours.
                            "dur": (length - 1) / NS_PER_US,
                            "pid": process,
                            "tid": thread,
                        }
                        for state, start, length in spans
                    ]
    return json.dumps({"traceEvents": found, "displayTimeUnit": "ns"}) if found else ""


def _named(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}
