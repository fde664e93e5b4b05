"""Figures that contradict one another: of perf stat, of tables and of loads."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from regatta.judge.estimates import digits
from regatta.teach.review.checks.compared import groups, typical
from regatta.teach.review.figures import Reading, Record, ReportedFigure
from regatta.teach.review.finding import (
    ReviewFinding,
    amount,
    and_others,
    found,
    milliseconds,
    share,
)
from regatta.teach.review.names import CLOCKS, COUNTS, LATENCY, SCALES, TOPDOWN

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
    impossible = next((figure for figure in figures.values() if why_not(figure, record)), None)
    if impossible:
        yield found("impossible", record, why_not(impossible, record), impossible)
    elif not record.repeated:
        yield from ratios(record)
    # Extrapolated values of multiplexed counters can be arbitrarily wrong.
    ran = {name: figure for name, figure in figures.items() if figure.running >= ALL_THE_TIME}
    for part, whole in ((ran.get(part), ran.get(whole)) for part, whole in PARTS):
        if part and whole and part.low > (1 + SLACK) * whole.high:
            yield found("part", record, f"{part.words} of {whole.words}.", part, whole.value)
    slots = [figures[name] for name in TOPDOWN if name in figures]
    total = sum(figure.value for figure in slots)
    # Less than 100 % is possible: AMD has a fifth share, for the other SMT thread.
    if total > 101 + sum(figure.half for figure in slots):
        terms = " + ".join(figure.text for figure in slots)
        says = f"{terms} = {digits(total, 4)} % of the CPU's slots, which cannot exceed 100."
        yield found("top-down", record, says, (slots[0].line, 100.0), total)
    few = [figure for figure in figures.values() if figure.running < LEAST_RUNNING]
    if few:
        least = min(few, key=lambda figure: figure.running)
        says = (
            f"{least.words} were counted for {digits(least.running)} % of the time; "
            f"{digits(100 - least.running)} % of the time is extrapolated."
        )
        says += and_others(len(few), "counter")
        yield found("multiplexed", record, says, least, least.running)


def why_not(figure: ReportedFigure, record: Record) -> str:
    """Why no machine has this value; empty if one may."""
    cycles, elapsed, time = map(record.figures.get, ("cycles", "elapsed", "task_clock"))
    if figure.value < 0:
        return f"{figure.words}: less than nothing."
    if figure.name in COUNTS and figure.value >= LARGEST:
        return f"{figure.words}: a counter of 64 bits that ran below 0."
    ipc = figure.low if figure.name == "instructions_per_cycle" else 0.0
    if figure.name == "instructions" and cycles and cycles.user_only == figure.user_only:
        ran = min(figure.running, cycles.running) >= ALL_THE_TIME and cycles.value > 0
        ipc = figure.low / cycles.high if ran else 0.0
    if ipc > MOST_IPC:
        return f"{figure.words}: no CPU retires more than {MOST_IPC:g} instructions a cycle."
    if figure is cycles and figure.running >= ALL_THE_TIME and time and time.value > 0:
        ghz = figure.low / time.high / 1e9
        return f"{figure.words} / {time.words} = {digits(ghz, 4)} GHz." if ghz > FASTEST_GHZ else ""
    if figure.name in CLOCKS | {"user", "system"} and elapsed and elapsed.value > 0:
        cpus = figure.value / elapsed.high
        return f"{figure.words} in {elapsed.words}: {cpus:,.0f} CPUs." if cpus > MOST_CPUS else ""
    return ""


def ratios(record: Record) -> Iterator[ReviewFinding]:
    figures = record.figures
    for name, over, under, factor in RATIOS:
        printed, top = figures.get(name), figures.get(over)
        bottom = next((figures[name] for name in under if name in figures), None)
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


WORDS = {"unread": "cell", "torn": "row", "user-space": "run", "idle": "run"}
"""By check of a whole file: what one of its cases is called."""


def of_file(reading: Reading) -> Iterator[ReviewFinding]:
    """Of each kind the first or worst case, which names the number of the others."""
    cases = [
        found(name, Record(reading.file, line, {}, {}), says) for name, line, says in reading.odd
    ]
    cases += [*user_space(reading), *idle(reading)]
    for name, word in WORDS.items():
        alike = [case for case in cases if case.check.name == name]
        for case in alike[:1]:
            yield replace(case, says=case.says + and_others(len(alike), word))


def user_space(reading: Reading) -> Iterator[ReviewFinding]:
    """The first count of each run; kernel-only events read 0."""
    for record in reading.records:
        figures = [figure for figure in record.figures.values() if figure.user_only]
        for count in [of for of in figures if of.name in COUNTS and of.value][:1]:
            says = f"{count.words} were counted in user space only{split(record)}."
            yield found("user-space", record, says, (count.line, None))


def split(record: Record) -> str:
    user, system = record.figures.get("user"), record.figures.get("system")
    if user is None or system is None or user.value + system.value <= 0:
        return ""
    both = user.value + system.value
    return f"; {share(system.value, both)} of {milliseconds(both)} were spent in the kernel"


def idle(reading: Reading) -> list[ReviewFinding]:
    """The least busy first."""
    busy: list[tuple[float, int, ReviewFinding]] = []
    for record in reading.records:
        time, elapsed = record.figures.get("task_clock"), record.figures.get("elapsed")
        if time and elapsed and time.value < IDLE_SHARE * elapsed.value:
            part = time.value / elapsed.value
            says = f"{milliseconds(time.value)} of CPU in {elapsed.words}: {share(part, 1)}."
            busy.append((part, record.line, found("idle", record, says, elapsed)))
    return [case for *_, case in sorted(busy, key=lambda case: case[:2])]


LOAD_SLACK, WAITING = 1.05, 0.5
"""More in flight than connections, beyond this factor; fewer, below this share: they waited."""
FEW_ERRORS, FEWEST_BEHIND, SAME_RATE = 1e-3, 10, 1.015
MOMENTS = ("mean", "stdev")
Steps = Sequence[tuple[float, ReportedFigure]]
"""Shares of the requests, from 0 to 1, and the latency that these did not exceed."""


def of_load(records: Sequence[Record]) -> Iterator[ReviewFinding]:
    loaded = [record for record in records if {"rate", "mean"} & record.figures.keys()]
    for record in loaded:
        yield from latencies(record, steps_of(record))
        yield from in_flight(record)
        yield from failures(record)
    for group in groups(loaded, "design", "url"):
        yield from ceiling(group)


def steps_of(record: Record) -> Steps:
    """Minimum, percentiles and maximum."""
    names = [name for name in record.figures if LATENCY.fullmatch(name) and name not in MOMENTS]
    ends = {"min": 0.0, "max": 1.0}
    shares = {name: ends[name] if name in ends else float(name[1:]) / 100 for name in names}
    return [(shares[name], record.figures[name]) for name in sorted(names, key=shares.__getitem__)]


def latencies(record: Record, steps: Steps) -> Iterator[ReviewFinding]:
    low, mean, high = map(record.figures.get, ("min", "mean", "max"))
    pairs = [*pairwise(figure for _, figure in steps), (low, mean), (mean, high)]
    wrong = [
        (figure, other)
        for figure, other in pairs
        if figure
        and other
        and bool(figure.unit) == bool(other.unit)
        and figure.low > other.high * 1.001
    ]
    if wrong:
        figure, other = wrong[0]
        says = f"{named(figure)} is more than {named(other)}."
        yield found("order", record, says + and_others(len(wrong), "pair"), figure, other.value)
    p99 = next((figure for share, figure in steps if 0.99 <= share < 1), None)
    if p99 and mean and p99.value <= mean.value and not wrong:
        says = f"{named(p99)} and {named(mean)}: only a few very slow requests can cause that."
        yield found("tail", record, says, p99, mean.value)
    count = record.figures["requests"].value if "requests" in record.figures else float("inf")
    few = [(figure, (1 - share) * count) for share, figure in steps if 0.9 < share <= 0.99]
    few = [case for case in few if case[1] < FEWEST_BEHIND - 0.01]
    if few:
        says = f"Of {count:,.0f} requests {digits(few[-1][1], 2)} took longer than "
        yield found("few-requests", record, f"{says}{named(few[-1][0])}.", few[-1][0])


def named(figure: ReportedFigure) -> str:
    return f"{figure.name} {figure.text} {figure.unit}".rstrip()


def in_flight(record: Record) -> Iterator[ReviewFinding]:
    """Little's law: as many requests are under way as arrive a second, times how long one takes."""
    rate, mean, clients, lost = map(record.figures.get, ("rate", "mean", "clients", "unconnected"))
    printed = record.keys.get("connections", "")
    connections = clients.value if clients else float(printed) if printed.isdecimal() else 0.0
    connections -= lost.value if lost else 0
    if not rate or not mean or not mean.unit or connections < 1 or rate.value <= 0:
        return
    says = f"{rate.text} a second x {mean.text} {mean.unit} = {digits(rate.value * mean.value, 3)} "
    says += f"requests under way, over {connections:,.0f} connections"
    closed = connections / rate.value
    # wrk adds the latencies of requests that it would have kept back; a table may hold wrk's.
    may_be = record.tool == "wrk" or (not record.tool and mean.value < 2 * LOAD_SLACK * closed)
    if rate.low * mean.low > connections * LOAD_SLACK and not may_be:
        yield found("in-flight", record, f"{says}.", mean, closed)
    elif rate.high * mean.high < WAITING * connections and record.tool != "k6":
        says += ": most waited for the client, for a new connection or for a request that failed."
        yield found("client-bound", record, says, mean, closed)


def failures(record: Record) -> Iterator[ReviewFinding]:
    rate, requests = map(record.figures.get, ("rate", "requests"))
    few = FEW_ERRORS * requests.value if requests else 0.0
    failed = map(record.figures.get, ("errors", "lost"))
    bad = [figure for figure in failed if figure and figure.value > few]
    if bad:
        of = f" of {requests.value:,.0f}" if requests else ""
        says = f"{sum(figure.value for figure in bad):,.0f}{of} requests failed."
        if requests and rate and bad[0].name == "errors" and requests.value >= bad[0].value:
            good = rate.value * (1 - bad[0].value / requests.value)
            says += f" Of {amount(rate.value)} a second {amount(good)} were good answers."
        yield found("errors", record, says, bad[0], requests.value if requests else None)


def ceiling(group: Sequence[Record]) -> Iterator[ReviewFinding]:
    rates = sorted(typical(group, "rate", "design").values(), key=lambda case: case[1].value)
    if len(rates) > 2 and 0 < rates[-1][1].value < SAME_RATE * rates[0][1].value:
        means = [figure.value for _, figure in typical(group, "mean", "design").values()]
        says = f"{len(rates)} servers answered {amount(rates[0][1].value)} to "
        says += f"{amount(rates[-1][1].value)} requests a second"
        if means:
            says += f", with means of {milliseconds(min(means))} to {milliseconds(max(means))}"
        yield found("ceiling", rates[0][0], f"{says}.", rates[0][1], rates[-1][1].value)
