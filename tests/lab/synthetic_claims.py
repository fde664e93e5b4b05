"""Claims with made-up results of every kind, for tests of how they are shown."""

from itertools import product
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
    return MeasuredFigure(value, low, high, design=design, connections=connections, **known)


def part(
    label: str, value: float | None, spread: float, verdict: Verdict, **rest: Any
) -> ClaimPart:
    known: dict[str, Any] = {"scale": "ratio", "p_value": 0.01, "blocks": 8, **rest}
    ends = (None, None) if value is None else (value * (1 - spread), value * (1 + spread))
    return ClaimPart(value, *ends, label=label, verdict=verdict, detectable=1.083, **known)


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
    printed = {ITERATIVE: 428.11, THREAD: 306.78, SELECT: 360.02}
    process = {ITERATIVE: (78.2, 0.04), THREAD: (71.2, 0.07), SELECT: (70.4, 0.03)}
    window = {ITERATIVE: (640, 0.02), THREAD: (713, 0.02), SELECT: (612, 0.01)}
    as_measured = [part(labels[0], 0.97, 0.08, UNDECIDED), part(labels[1], 1.21, 0.05, SUPPORTED)]
    as_it_should = [part(labels[0], 0.86, 0.02, REFUTED), part(labels[1], 1.04, 0.02, SUPPORTED)]
    in_ms = PROCESS_MS | {"metric": "task_clock"}
    return claim(
        "A1",
        "At 100 connections the thread-per-client server uses the least CPU, the iterative one "
        "the most.",
        REFUTED,
        published=[PublishedFigure(name, 100, ms, **PROCESS_MS) for name, ms in printed.items()],
        scopes={
            "process": ScopeResult(
                UNDECIDED,
                as_measured,
                [figure(name, 100, *of, **in_ms) for name, of in process.items()],
                (3, 8),
            ),
            "window": ScopeResult(
                REFUTED,
                as_it_should,
                [figure(name, 100, *of, **REQUEST_US) for name, of in window.items()],
                (0, 8),
            ),
        },
        why="Each request costs thread-per-client 101 µs more than select.",
    )


def compared() -> ClaimResult:
    """Both sides, two metrics, and an unsupported counter."""
    sides, metrics = ("server", "client"), ("tma_backend_bound", "tma_frontend_bound")
    shares = dict(zip(product(metrics, sides), (52.3, 38.9, 20.1, 31.6), strict=True))
    both = [(name, design) for name in metrics for design in (ITERATIVE, SELECT)]
    missing = [
        figure(design, 30, None, 0, unit="%", side=side, metric=name, state="not supported")
        for name, design in both
        for side in sides
    ]
    parts = [part("client < server", None, 0, NOT_MEASURABLE, reason="not supported")]
    return claim(
        "A4",
        "The server is more back-end bound than its client, under every design.",
        NOT_MEASURABLE,
        metric=metrics[0],
        side="both",
        claimed="client < server",
        connections=[30],
        published=[
            PublishedFigure(design, 30, value, "%", "", side, name)
            for design in (ITERATIVE, SELECT)
            for (name, side), value in shares.items()
        ],
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
    counts, each = [10, 25, 50], {ITERATIVE: 0.02, SELECT: 0.03, THREAD: 1.05}
    parts = [
        part(f"at {count}: {SELECT} < {THREAD}", 1.02, 0.04, SUPPORTED, scale="difference")
        for count in counts
    ]

    def result(per: str) -> ScopeResult:
        known = {"per": per, "metric": "context_switches"}
        figures = [
            figure(design, count, value * (count if per == "process" else 1), 0.2, **known)
            for count in counts
            for design, value in each.items()
        ]
        return ScopeResult(SUPPORTED, parts, figures, (8, 8))

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
            for place, design in enumerate(each)
        ],
        published_agrees=False,
        scopes={"process": result("process"), "window": result("request")},
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
        claimed=f"{' ~ '.join(pools[:3])} < {pools[3]}",
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
