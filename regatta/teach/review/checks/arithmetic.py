"""What follows from the figures of one output or row, and what is said once for a file."""

from collections.abc import Callable, Iterator
from functools import partial

from regatta.judge.estimates import digits
from regatta.teach.review.figures import Reading, Record, ReportedFigure
from regatta.teach.review.finding import (
    ReviewFinding,
    and_others,
    found,
    milliseconds,
    share,
)
from regatta.teach.review.names import CLOCKS, COUNTS, SCALES, TOPDOWN

# Allows for rounding of the last printed digit, plus 1 %. The ratios of means of several runs are
# not checked: the ratio of two means is not the mean of ratios, and perf -r prints neither.

SLACK, BY_GROUP_SLACK, LEAST_BY_GROUP = 0.01, 0.25, 40.0
"""Of a ratio; of one that perf computed from another group of multiplexed counters, and the share
of the time, in %, from which that is checked at all."""
ALL_THE_TIME, LEAST_RUNNING = 99.0, 50.0
"""Below half of the time, more is extrapolated than counted."""
FASTEST_GHZ = 9.2
"""The record, under liquid helium. perf divides by CPU time, so several CPUs do not add up."""
MOST_IPC, MOST_CPUS, LARGEST = 12.0, 8192.0, 2.0**63
"""The widest cores retire 8 to 10 instructions a cycle; Linux knows no more CPUs; a counter of 64
bits that ran below 0."""
IDLE_SHARE = 0.1
PARTS = (
    ("branch_misses", "branches"),
    ("branches", "instructions"),
    ("cache_misses", "cache_references"),
    ("stalled_cycles_frontend", "cycles"),
    ("stalled_cycles_backend", "cycles"),
)
RATIOS: tuple[tuple[str, str, tuple[str, ...], float], ...] = (
    ("ghz", "cycles", ("task_clock", "cpu_clock"), 1e-9),
    ("instructions_per_cycle", "instructions", ("cycles",), 1),
    ("cpus_utilized", "task_clock", ("elapsed",), 1),
    *((f"{part}_percent", part, (whole,), 100) for part, whole in PARTS),
    *((f"{name}_per_s", name, ("task_clock", "cpu_clock"), 1) for name in sorted(COUNTS)),
    ("rate", "requests", ("elapsed",), 1),
    ("transfer", "bytes", ("elapsed",), 1),
    ("size", "bytes", ("answers",), 1),
)
"""The first is the factor times the second divided by the first available of the third."""


def of_run(record: Record) -> Iterator[ReviewFinding]:
    figures = record.figures
    impossible = next((one for one in figures.values() if why_not(one, record)), None)
    if impossible:
        yield found("impossible", record, why_not(impossible, record), impossible)
    elif not record.repeated:
        yield from ratios(record)
    # Extrapolated values of multiplexed counters can be arbitrarily wrong.
    ran = {name: one for name, one in figures.items() if one.running >= ALL_THE_TIME}
    for part, whole in ((ran.get(part), ran.get(whole)) for part, whole in PARTS):
        if part and whole and part.low > (1 + SLACK) * whole.high:
            yield found("part", record, f"{part.words} of {whole.words}.", part, whole.value)
    slots = [figures[name] for name in TOPDOWN if name in figures]
    total = sum(one.value for one in slots)
    # Less than 100 % is possible: AMD has a fifth share, for the other SMT thread.
    if total > 101 + sum(one.half for one in slots):
        terms = " + ".join(one.text for one in slots)
        says = f"{terms} = {digits(total, 4)} % of the CPU's slots, which cannot exceed 100."
        yield found("top-down", record, says, (slots[0].line, 100.0), total)
    few = [one for one in figures.values() if one.running < LEAST_RUNNING]
    if few:
        least = min(few, key=lambda one: one.running)
        says = (
            f"{least.words} were counted for {digits(least.running)} % of the time; "
            f"{digits(100 - least.running)} % of the time is extrapolated."
        )
        says += and_others(len(few), "counter")
        yield found("multiplexed", record, says, least, least.running)


def why_not(one: ReportedFigure, record: Record) -> str:
    """Why no machine has this value; empty if one may."""
    cycles, elapsed, time = map(record.figures.get, ("cycles", "elapsed", "task_clock"))
    if one.value < 0:
        return f"{one.words}: less than nothing."
    if one.name in COUNTS and one.value >= LARGEST:
        return f"{one.words}: a counter of 64 bits that ran below 0."
    ipc = one.low if one.name == "instructions_per_cycle" else 0.0
    if one.name == "instructions" and cycles and cycles.user_only == one.user_only:
        ran = min(one.running, cycles.running) >= ALL_THE_TIME and cycles.value > 0
        ipc = one.low / cycles.high if ran else 0.0
    if ipc > MOST_IPC:
        return f"{one.words}: no CPU retires more than {MOST_IPC:g} instructions a cycle."
    if one is cycles and one.running >= ALL_THE_TIME and time and time.value > 0:
        ghz = one.low / time.high / 1e9
        return f"{one.words} / {time.words} = {digits(ghz, 4)} GHz." if ghz > FASTEST_GHZ else ""
    if one.name in CLOCKS | {"user", "system"} and elapsed and elapsed.value > 0:
        cpus = one.value / elapsed.high
        return f"{one.words} in {elapsed.words}: {cpus:,.0f} CPUs." if cpus > MOST_CPUS else ""
    return ""


def ratios(record: Record) -> Iterator[ReviewFinding]:
    figures = record.figures
    for name, over, under, factor in RATIOS:
        printed, top = figures.get(name), figures.get(over)
        bottom = next((figures[one] for one in under if one in figures), None)
        if not printed or not top or not bottom or bottom.value <= 0:
            continue
        if agrees(printed, top, bottom, factor):
            continue
        computed = top.value / bottom.value * factor
        letter = printed.unit.partition("/")[0].lower() if printed.unit.endswith("/sec") else ""
        scale = SCALES.get(letter, 1.0) if printed.unit != "of cycles" else 100
        shown = f"{digits(computed / scale, 4)} {printed.unit}".rstrip()
        says = f"{top.words} / {bottom.words} = {shown}, but {printed.words} is printed."
        yield found("ratio", record, says, printed, computed)


def agrees(
    printed: ReportedFigure, top: ReportedFigure, bottom: ReportedFigure, factor: float
) -> bool:
    """Whether the ratio is possible, given the rounding of all three."""
    ran = min(top.running, bottom.running)
    if printed.by_group and ran < LEAST_BY_GROUP:
        return True
    low = top.low / bottom.high * factor
    high = top.high / bottom.low * factor if bottom.low > 0 else float("inf")
    near = BY_GROUP_SLACK if printed.by_group and ran < ALL_THE_TIME else SLACK
    slack = near * abs(printed.value)
    return low <= printed.high + slack and high >= printed.low - slack


Case = tuple[Record, str, ReportedFigure | tuple[int, float | None] | None, float | None]
"""Whose, what is said, where, and what was computed."""


def of_file(reading: Reading) -> Iterator[ReviewFinding]:
    """Of each kind the first or worst case, which names the number of the others."""
    for name, cases_in, word in WHOLE_FILE:
        cases = list(cases_in(reading))
        for record, says, at, computed in cases[:1]:
            yield found(name, record, says + and_others(len(cases), word), at, computed)


def odd(reading: Reading, name: str) -> Iterator[Case]:
    for check, line, says in reading.odd:
        if check == name:
            yield Record(reading.file, line, {}, {}), says, None, None


def user_space(reading: Reading) -> Iterator[Case]:
    """The first count of each run; kernel-only events read 0."""
    for record in reading.records:
        counts = (one for one in record.figures.values() if one.user_only and one.name in COUNTS)
        for one in [one for one in counts if one.value][:1]:
            says = f"{one.words} were counted in user space only{split(record)}."
            yield record, says, (one.line, None), None


def split(record: Record) -> str:
    user, system = record.figures.get("user"), record.figures.get("system")
    if user is None or system is None or user.value + system.value <= 0:
        return ""
    both = user.value + system.value
    return f"; {share(system.value, both)} of {milliseconds(both)} were spent in the kernel"


def idle(reading: Reading) -> Iterator[Case]:
    """The least busy first."""
    busy: list[tuple[float, int, Record, ReportedFigure]] = []
    for record in reading.records:
        time, elapsed = record.figures.get("task_clock"), record.figures.get("elapsed")
        if time and elapsed and time.value < IDLE_SHARE * elapsed.value:
            busy.append((time.value / elapsed.value, record.line, record, elapsed))
    for part, _, record, elapsed in sorted(busy, key=lambda one: one[:2]):
        says = f"{milliseconds(part * elapsed.value)} of CPU in {elapsed.words}: {share(part, 1)}."
        yield record, says, elapsed, None


WHOLE_FILE: tuple[tuple[str, Callable[[Reading], Iterator[Case]], str], ...] = (
    ("unread", partial(odd, name="unread"), "cell"),
    ("torn", partial(odd, name="torn"), "row"),
    ("user-space", user_space, "run"),
    ("idle", idle, "run"),
)
"""Name, the cases in a file, and what one of them is called."""
