"""Claims with made-up results of every kind, for tests of how they are shown."""

from typing import Any

from regatta.judge.claims.result import (
    NOT_MEASURABLE,
    REFUTED,
    SUPPORTED,
    UNDECIDED,
    ClaimPart,
    ClaimResult,
    MeasuredFigure,
    ScopeResult,
    Verdict,
)
from regatta.record.inputs import PublishedFigure

THREAD, SELECT, ITERATIVE = "thread-per-client", "select", "iterative"
REPORT_A = "report A, a hybrid Intel desktop"
PROCESS_MS = {"unit": "ms", "per": "process"}
BEYOND = {"unit": "µs", "per": "request", "metric": "task_clock_over_iterative"}
REQUEST_US = {"unit": "µs", "per": "request", "metric": "task_clock"}


def figure(
    design: str, connections: int, value: float | None, spread: float, **rest: Any
) -> MeasuredFigure:
    low, high = (None, None) if value is None else (value * (1 - spread), value * (1 + spread))
    known: dict[str, Any] = {"unit": "", "engine": "thread", "trials": 8, **rest}
    return MeasuredFigure(design, connections, value=value, low=low, high=high, **known)


def part(
    label: str, value: float | None, spread: float, verdict: Verdict, **rest: Any
) -> ClaimPart:
    known: dict[str, Any] = {"scale": "ratio", "p_value": 0.01, "blocks": 8, **rest}
    ends = (None, None) if value is None else (value * (1 - spread), value * (1 + spread))
    return ClaimPart(
        label, value=value, low=ends[0], high=ends[1], verdict=verdict, detectable=1.083, **known
    )


def claim(id_: str, says: str, verdict: Verdict, **rest: Any) -> ClaimResult:
    known: dict[str, Any] = {
        "source": REPORT_A,
        "metric": "task_clock",
        "side": "server",
        "claimed": f"{THREAD} < {SELECT} < {ITERATIVE}",
        "connections": [100],
        "published": [],
        "published_agrees": True,
        "scopes": {},
        "why": "",
    }
    return ClaimResult(id_, says, verdict=verdict, **(known | rest))


def ranked() -> ClaimResult:
    """Refuted over the window, undecided over the whole process."""
    labels = [f"at 100: {THREAD} < {SELECT}", f"at 100: {SELECT} < {ITERATIVE}"]
    return claim(
        "A1",
        "At 100 connections the thread-per-client server uses the least CPU, the iterative one "
        "the most.",
        REFUTED,
        published=[
            PublishedFigure(ITERATIVE, 100, 428.11, **PROCESS_MS),
            PublishedFigure(THREAD, 100, 306.78, **PROCESS_MS),
            PublishedFigure(SELECT, 100, 360.02, **PROCESS_MS),
        ],
        scopes={
            "process": ScopeResult(
                UNDECIDED,
                [part(labels[0], 0.97, 0.08, UNDECIDED), part(labels[1], 1.21, 0.05, SUPPORTED)],
                [
                    figure(ITERATIVE, 100, 78.2, 0.04, **PROCESS_MS, metric="task_clock"),
                    figure(THREAD, 100, 71.2, 0.07, **PROCESS_MS, metric="task_clock"),
                    figure(SELECT, 100, 70.4, 0.03, **PROCESS_MS, metric="task_clock"),
                ],
                (3, 8),
            ),
            "window": ScopeResult(
                REFUTED,
                [part(labels[0], 0.86, 0.02, REFUTED), part(labels[1], 1.04, 0.02, SUPPORTED)],
                [
                    figure(ITERATIVE, 100, 640, 0.02, **REQUEST_US),
                    figure(THREAD, 100, 713, 0.02, **REQUEST_US),
                    figure(SELECT, 100, 612, 0.01, **REQUEST_US),
                ],
                (0, 8),
            ),
        },
        why="Each request costs thread-per-client 101 µs more than select, of which the kernel's "
        "4.1 page faults and 1.05 context switches are the cause.",
    )


def compared() -> ClaimResult:
    """Both sides, two metrics, and an unsupported counter."""
    designs, metrics = (ITERATIVE, SELECT), ("tma_backend_bound", "tma_frontend_bound")
    missing = [
        figure(design, 30, None, 0, unit="%", side=side, metric=metric, state="not supported")
        for metric in metrics
        for design in designs
        for side in ("server", "client")
    ]
    published = [
        PublishedFigure(design, 30, value, "%", "", side, metric)
        for design in designs
        for side, metric, value in (
            ("server", metrics[0], 52.3),
            ("client", metrics[0], 38.9),
            ("server", metrics[1], 20.1),
            ("client", metrics[1], 31.6),
        )
    ]
    parts = [part("client < server", None, 0, NOT_MEASURABLE, reason="not supported")]
    return claim(
        "A4",
        "The server is more back-end bound than its client, and the client more front-end bound "
        "than the server, under every design.",
        NOT_MEASURABLE,
        metric=metrics[0],
        side="both",
        claimed="client < server",
        connections=[30],
        published=published,
        scopes={"window": ScopeResult(NOT_MEASURABLE, parts, missing, None)},
        why="This machine has no tma_backend_bound.",
    )


def growing() -> ClaimResult:
    counts = [1, 10, 25, 50]
    waits = {"unit": "ms", "side": "client", "metric": "latency_max"}
    grows = part("latency_max grows with connections", 1.01, 0.03, SUPPORTED, scale="exponent")
    figures = [figure(ITERATIVE, count, 0.3 + 0.64 * count, 0.06, **waits) for count in counts]
    return claim(
        "B1",
        "With an iterative server the time to serve all clients grows linearly with their number.",
        SUPPORTED,
        source="report B",
        metric="latency_max",
        side="client",
        claimed=f"{ITERATIVE}: linear in connections",
        connections=counts,
        published=[
            PublishedFigure(ITERATIVE, count, 0.002 + 0.011 * count, "s", "", "client", "elapsed")
            for count in counts
        ],
        scopes={"window": ScopeResult(SUPPORTED, [grows], figures, (8, 8))},
        why="One request after another: each waits for all before it.",
    )


def at_several() -> ClaimResult:
    """Three numbers of connections, differences, and contradicting published figures."""
    counts, designs = [10, 25, 50], (ITERATIVE, SELECT, THREAD)
    each = {ITERATIVE: 0.02, SELECT: 0.03, THREAD: 1.05}
    pairs = [f"at {count}: {SELECT} < {THREAD}" for count in counts]
    parts = [part(label, 1.02, 0.04, SUPPORTED, scale="difference") for label in pairs]

    def figures(per: str) -> list[MeasuredFigure]:
        known = {"per": per, "metric": "context_switches"}
        return [
            figure(design, count, each[design] * (count if per == "process" else 1), 0.2, **known)
            for count in counts
            for design in designs
        ]

    return claim(
        "B2",
        "Thread per client makes noticeably more context switches than iterative or select.",
        SUPPORTED,
        source="report B",
        metric="context_switches",
        claimed=f"{ITERATIVE} ~ {SELECT} < {THREAD}",
        connections=counts,
        published=[
            PublishedFigure(design, count, 4 + count // 5 + place, "", "process")
            for count in counts
            for place, design in enumerate(designs)
        ],
        published_agrees=False,
        scopes={
            scope: ScopeResult(SUPPORTED, parts, figures(per), (8, 8))
            for scope, per in (("process", "process"), ("window", "request"))
        },
        why="A new thread for each connection is one more thread to switch to.",
    )


def of_the_book() -> ClaimResult:
    """Several published columns and a single scope."""
    pools = ("prefork-accept", "prefork-flock", "prefork-mutex", "prefork-fdpass")
    book = {"solaris": (3.7, 4.5, 4.1, 8.2), "third_edition": (1.80, 1.75, 1.75, 2.58)}
    here = dict(zip(pools, (61, 64, 63, 84), strict=True))
    parts = [
        part(f"{pools[0]} ~ {pools[1]}", 1.04, 0.09, UNDECIDED),
        part(f"{pools[2]} < {pools[3]}", 1.30, 0.04, SUPPORTED),
    ]
    figures = [figure(design, 10, value, 0.05, **BEYOND) for design, value in here.items()]
    return claim(
        "U3",
        "Among process pools, passing descriptors costs the most.",
        UNDECIDED,
        source="UNIX Network Programming, figure 30.1",
        metric="task_clock_over_iterative",
        claimed="prefork-accept ~ prefork-flock ~ prefork-mutex < prefork-fdpass",
        connections=[10],
        published=[
            PublishedFigure(design, 10, value, "s", "process", column=column)
            for column, values in book.items()
            for design, value in zip(pools, values, strict=True)
        ],
        scopes={"window": ScopeResult(UNDECIDED, parts, figures, (5, 8))},
        why="A descriptor that is passed costs two system calls more.",
    )


def hundredfold() -> ClaimResult:
    """Figures that need a logarithmic axis."""
    values = {SELECT: 3.19, ITERATIVE: 415.3, THREAD: 418.9}
    parts = [part(f"{SELECT} at least 100 times less than {ITERATIVE}", 1.04, 0.06, REFUTED)]
    here = {SELECT: 612, ITERATIVE: 640, THREAD: 713}
    figures = [figure(name, 5, value, 0.05, **REQUEST_US) for name, value in here.items()]
    result = ScopeResult(REFUTED, parts, figures, (0, 8))
    return claim(
        "E1",
        "select uses a small fraction (under 1 %) of the CPU of the other two.",
        REFUTED,
        source="report E",
        claimed=f"{SELECT} < {ITERATIVE} ~ {THREAD}",
        connections=[5],
        published=[PublishedFigure(name, 5, value, **PROCESS_MS) for name, value in values.items()],
        scopes={"process": result, "window": result},
        why="select's 3.19 ms include no request: its 0.003 s is start-up.",
    )


def all_kinds() -> list[ClaimResult]:
    return [ranked(), compared(), growing(), at_several(), hundredfold(), of_the_book()]
