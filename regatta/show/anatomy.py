"""Why: what a request's CPU time is spent on, as a table, a chart and a sentence."""

from collections.abc import Iterator, Mapping, Sequence

from regatta.judge.anatomy import OTHER, TOTAL, Anatomy, Spent
from regatta.judge.overheads import Difference
from regatta.judge.results import Group
from regatta.record.recordings import (
    ACTIVITIES,
    GENERATED,
    PACKETS,
    SEPARATOR,
    UNKNOWN,
    USER,
)
from regatta.show.charts import divided_bars
from regatta.show.numbers import DASH, interval_of, percent, short, value_of
from regatta.show.stacks import COLOURS, icicle
from regatta.show.verdicts import listed
from regatta.show.view import FOLDED, Chart, Figure, Heading, Panel, Row, Section, Spec, Table

SAYS = (
    "µs of the server's CPUs per request, from samples of what they do. Below a figure: how much "
    "more than {front}, if that is shown; all differences of the table hold simultaneously at 95 %."
)
LONGEST_NAME = 40
LEAST_NAMED = 0.05
"""A cause with a smaller share of the difference is not in the sentence."""
NAMES = "node has them with --perf-basic-prof, python3 (3.12) with -X perf, Java with an agent"
"""For code that is made at run time."""


def why_lines(group: Group) -> list[str]:
    """What makes the difference to the front-runner at the last step, of all that are worse."""
    anatomy, worse = group.anatomy, group.by_step[-1].worse
    return [
        sentence
        for name in (anatomy.more if anatomy else ())
        if name in worse and anatomy and (sentence := why_sentence(anatomy, name))
    ]


def anatomy_section(
    anatomy: Anatomy, why: Sequence[str], stacks: Mapping[str, Spent], prefix: str
) -> Section:
    """`why`: `why_lines`; `stacks`: by contender."""
    chart = Chart(
        f"{prefix}anatomy",
        "Server CPU per request by activity",
        "A bar a contender, in the order of the table.",
        (Panel("", "µs", anatomy_spec(anatomy)),),
        wide=True,
    )
    return Section(
        "Why: what a request's CPU time is spent on",
        text=tuple(why),
        tables=(anatomy_table(anatomy),),
        charts=(chart,),
        sections=(Section("Stacks", charts=(icicle(anatomy, stacks, prefix),), rank=FOLDED),),
        quiet=tuple(_found(anatomy, stacks)),
        name=f"{prefix}why",
    )


def _found(anatomy: Anatomy, stacks: Mapping[str, Spent]) -> Iterator[str]:
    """How the rows add up, and which code has no names."""
    if anatomy.found:
        of_found, of_cost = (
            f"{percent(min(of.values()))} to {percent(max(of.values()))}"
            for of in (anatomy.found, anatomy.cost)
        )
        yield (
            f"Together the rows are {of_found} of the time that the CPUs are busy in timed trials, "
            f"and in sampled trials the CPUs are busy for {of_cost} of that time: there they never "
            "sleep, so what waking them costs is in no row."
        )
    for name, spent in anatomy.spent.items():
        for row, estimate in spent.items():
            first, *rest = row.split(SEPARATOR)
            share = (estimate.value or 0.0) / (spent[TOTAL].value or 1.0)
            if (first, *rest[1:]) == (USER, UNKNOWN) and share > LEAST_NAMED:
                is_made = rest[0] == GENERATED
                how = NAMES if is_made else "build it, or install its package, with symbols"
                of = "that it made" if is_made else f"of {rest[0]}"
                yield f"{percent(share)} of {name} is code {of} without names: {how}."
    nameless = [f"{percent(share)} of {name}" for name, share in without_callers(stacks)]
    if nameless:
        yield (
            f"Code without frame pointers, as Debian's libc, hides who called it in "
            f"{listed(nameless)}: the icicle lacks those callers, the rows do not need them."
        )


def without_callers(stacks: Mapping[str, Spent]) -> Iterator[tuple[str, float]]:
    """The contenders of whose time much was called by functions without names, and the share."""
    for name, of in stacks.items():
        whole, hidden = 0.0, 0.0
        for stack, blocks in of.items():
            us = sum(blocks.values())
            whole += us
            hidden += us if f"{UNKNOWN} (" in stack.rpartition(SEPARATOR)[0] else 0.0
        if hidden > LEAST_NAMED * whole:
            yield name, hidden / whole


def anatomy_table(anatomy: Anatomy) -> Table:
    """A row an activity, a column a contender."""
    names, rows = anatomy.ranked, []
    for path in anatomy.rows:
        figures = [_figure(anatomy, name, path) for name in names]
        rows.append(Row(label(path), tuple(figures)))
    says = SAYS.format(front=anatomy.front or "the least")
    header = (Heading("activity"), *(Heading(name, "µs") for name in names))
    return Table("", says, header, tuple(rows))


def _figure(anatomy: Anatomy, name: str, path: str) -> Figure:
    spent = anatomy.spent[name][path]
    more = anatomy.more.get(name, {}).get(path)
    level = f"{signed(more)} [{interval_of(more)}]" if more is not None and more.larger else ""
    if not spent.value:
        return Figure(DASH, level=level, number=0.0)
    return Figure(value_of(spent), interval_of(spent), level, number=spent.value)


def signed(more: Difference) -> str:
    value = more.value or 0.0
    return f"{'+' if value > 0 else '−'}{short(abs(value))}"


def label(path: str) -> str:
    """`sendto` instead of `system calls;sendto`."""
    first, *rest = path.split(SEPARATOR)
    if not rest:
        return first
    if rest == [OTHER]:
        return f"other {first}"
    if first == USER:
        file, function = rest
        if function == OTHER:
            return f"other code of {file}"
        cut = function if len(function) <= LONGEST_NAME else f"{function[: LONGEST_NAME - 1]}…"
        return f"{cut} ({file})"
    return f"{first}, {rest[0]}" if first == PACKETS else rest[0]


def why_sentence(anatomy: Anatomy, name: str) -> str:
    """What makes the difference to the front-runner; empty where none is shown.

    `thread-per-client needs 76 µs more than epoll (70–82): start of tasks 31, end of tasks 17; it
    needs less for epoll_wait 8`
    """
    more = anatomy.more[name]
    whole = more.get(TOTAL)
    if whole is None or not whole.larger or not whole.value or whole.value < 0:
        return ""
    shown = [
        (path, row.value)
        for path, row in more.items()
        if path != TOTAL and row.larger and row.value and abs(row.value) > LEAST_NAMED * whole.value
    ]
    shown.sort(key=lambda row: -abs(row[1]))
    causes = [f"{label(path)} {short(value)}" for path, value in shown if value > 0]
    less = [f"{label(path)} {short(-value)}" for path, value in shown if value < 0]
    said = f"{name} needs {short(whole.value)} µs more than {anatomy.front} ({interval_of(whole)})"
    said += f": {', '.join(causes)}" if causes else ""
    said += f"; it needs less for {listed(less)}" if less else ""
    return f"{said}."


def anatomy_spec(anatomy: Anatomy) -> Spec:
    """A bar a contender, divided by kind of activity."""
    kinds: dict[tuple[str, str], float] = {}
    for name, spent in anatomy.spent.items():
        for path, estimate in spent.items():
            if path != TOTAL and estimate.value:
                kind = path.split(SEPARATOR)[0]
                kinds[name, kind] = kinds.get((name, kind), 0.0) + estimate.value
    return divided_bars(anatomy.ranked, kinds, ACTIVITIES, COLOURS, "activity")
