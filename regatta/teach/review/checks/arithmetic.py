"""What follows from the figures of one output or row, and what is said once for a file."""

from collections.abc import Iterator, Sequence

from regatta.judge.estimates import digits
from regatta.teach.review.figures import CORE, Reading, Record, ReportedFigure, is_indian
from regatta.teach.review.finding import (
    ReviewFinding,
    amount,
    and_others,
    found,
    milliseconds,
    share,
)
from regatta.teach.review.names import CLOCKS, COUNTS, MISTAKEN_RATE, SCALES, TOPDOWN

# What follows from the figures of one output or row, and what nothing can be. Allows for rounding
# of the last printed digit, plus 1 %. The ratios of means of several runs are not checked: the
# ratio of two means is not the mean of ratios, and perf -r prints neither.

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
FRONT, BACK = "stalled_cycles_frontend", "stalled_cycles_backend"
PARTS = (
    ("branch_misses", "branches"),
    ("branches", "instructions"),
    ("cache_misses", "cache_references"),
    (FRONT, "cycles"),
    (BACK, "cycles"),
)
RATIOS: tuple[tuple[str, str, tuple[str, ...], float], ...] = (
    ("ghz", "cycles", ("task_clock", "cpu_clock"), 1e-9),
    ("instructions_per_cycle", "instructions", ("cycles",), 1),
    ("cpus_utilized", "task_clock", ("elapsed",), 1),
    ("cpu_clock_cpus", "cpu_clock", ("elapsed",), 1),
    *((f"{part}_percent", part, (whole,), 100) for part, whole in PARTS),
    *((f"{name}_per_s", name, ("task_clock", "cpu_clock"), 1) for name in sorted(COUNTS)),
    ("rate", "requests", ("elapsed",), 1),
    ("transfer", "bytes", ("elapsed",), 1),
    ("size", "bytes", ("answers",), 1),
)
"""The first is the factor times the second divided by the first available of the third."""


def of_printed(records: Sequence[Record]) -> Iterator[ReviewFinding]:
    for record in records:
        figures = record.figures
        impossible = next((one for one in figures.values() if why_not(one, record)), None)
        if impossible:
            yield found("impossible", record, why_not(impossible, record), impossible)
        elif not record.repeated:
            yield from ratios(record)
        yield from parts(record)
        slots = [figures[name] for name in TOPDOWN if name in figures]
        total = sum(one.value for one in slots)
        # Less than 100 % is possible: AMD has a fifth share, for the other SMT thread.
        if total > 101 + sum(one.half for one in slots):
            terms = " + ".join(one.text for one in slots)
            says = f"{terms} = {digits(total, 4)} % of the CPU's slots, which cannot exceed 100."
            yield found("top-down", record, says, (slots[0].line, 100.0), total)


def why_not(one: ReportedFigure, record: Record) -> str:
    """Why no machine has this value; empty if one may."""
    cycles, elapsed = record.figures.get("cycles"), record.figures.get("elapsed")
    if one.value < 0:
        return f"{one.words}: less than nothing."
    if one.name in COUNTS and one.value >= LARGEST:
        return f"{one.words}: a counter of 64 bits that ran below 0."
    ipc = 0.0
    if one.name == "instructions_per_cycle":
        ipc = one.value - one.half
    elif one.name == "instructions" and cycles and cycles.user_only == one.user_only:
        ran = min(one.running, cycles.running) >= ALL_THE_TIME and cycles.value > 0
        ipc = (one.value - one.half) / (cycles.value + cycles.half) if ran else 0.0
    if ipc > MOST_IPC:
        return f"{one.words}: no CPU retires more than {MOST_IPC:g} instructions a cycle."
    if one.name in CLOCKS | {"user", "system"} and elapsed and elapsed.value > 0:
        cpus = one.value / (elapsed.value + elapsed.half)
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
        others = sorted(COUNTS & figures.keys()) if name == f"{over}_per_s" else []
        fits = next((one for one in others if agrees(printed, figures[one], bottom, factor)), "")
        says += f" That is the rate of the {fits.replace('_', ' ')}." if fits else ""
        yield found("ratio", record, says, printed, computed)


def agrees(
    printed: ReportedFigure, top: ReportedFigure, bottom: ReportedFigure, factor: float
) -> bool:
    """Whether the ratio is possible, given the rounding of all three."""
    ran = min(top.running, bottom.running)
    if printed.by_group and ran < LEAST_BY_GROUP:
        return True
    low = (top.value - top.half) / (bottom.value + bottom.half) * factor
    least = bottom.value - bottom.half
    high = (top.value + top.half) / least * factor if least > 0 else float("inf")
    near = BY_GROUP_SLACK if printed.by_group and ran < ALL_THE_TIME else SLACK
    slack = near * abs(printed.value) + printed.half
    return low <= printed.value + slack and high >= printed.value - slack


def parts(record: Record) -> Iterator[ReviewFinding]:
    """Skips multiplexed counters: extrapolated values can be arbitrarily wrong."""
    ran = {name: one for name, one in record.figures.items() if one.running >= ALL_THE_TIME}
    for part_name, whole_name in PARTS:
        part, whole = ran.get(part_name), ran.get(whole_name)
        most = (1 + SLACK) * (whole.value + whole.half) if whole else 0.0
        if part and whole and part.value - part.half > most:
            yield found("part", record, f"{part.words} of {whole.words}.", part, whole.value)
    cycles, time = ran.get("cycles"), record.figures.get("task_clock")
    if cycles and time and time.value > 0:
        ghz = (cycles.value - cycles.half) / (time.value + time.half) / 1e9
        if ghz > FASTEST_GHZ:
            says = f"{cycles.words} / {time.words} = {digits(ghz, 4)} GHz."
            yield found("clock", record, says, (cycles.line, None), ghz)


def multiplexed(record: Record) -> Iterator[ReviewFinding]:
    partial = [one for one in record.figures.values() if one.running < LEAST_RUNNING]
    if partial:
        least = min(partial, key=lambda one: one.running)
        says = (
            f"{least.words} were counted for {digits(least.running)} % of the time; "
            f"{digits(100 - least.running)} % of the time is extrapolated."
        )
        says += and_others(len(partial) - 1, "counter")
        name = "two-kinds-of-core" if CORE in record.keys else "multiplexed"
        yield found(name, record, says, least, least.running)


IDLE_SHARE = 0.1


def in_file(reading: Reading) -> Iterator[ReviewFinding]:
    for name, cells, word in (("unread", reading.unread, "cell"), ("torn", reading.torn, "row")):
        if cells:
            where = Record(reading.file, cells[0][0], {}, {})
            yield found(name, where, cells[0][1] + and_others(len(cells) - 1, word))
    printed = [(record, one) for record in reading.records for one in record.figures.values()]
    rates: dict[str, list[tuple[Record, ReportedFigure]]] = {}
    for record, one in printed:
        if one.name.endswith(MISTAKEN_RATE):
            rates.setdefault(one.name, []).append((record, one))
    for those in rates.values():
        record, one = those[0]
        says = not_a_count(record, one) + and_others(len(those) - 1, "row")
        yield found("rate", record, says, one)
    indian = [one for one in printed if is_indian(one[1].text)]
    if indian:
        record, one = max(indian, key=lambda one: one[1].value)
        says = f"{one.words} is {one.value:,.0f}: {amount(one.value)}, grouped by lakh and crore."
        says += and_others(len(indian) - 1, "number")
        yield found("grouping", record, says, (one.line, None), one.value)
    user = []
    for record in reading.records:
        counts = [one for one in record.figures.values() if one.user_only and one.name in COUNTS]
        # Kernel-only events read 0.
        user += [(record, one) for one in counts if one.value][:1]
    if user:
        record, one = user[0]
        says = f"{one.words} were counted in user space only{split(record)}."
        yield found("user-space", record, says + and_others(len(user) - 1, "run"), (one.line, None))
    idle = sorted((busy(one), one.line, one) for one in reading.records if busy(one) < IDLE_SHARE)
    if idle:
        record = idle[0][2]
        time, elapsed = record.figures["task_clock"].value, record.figures["elapsed"]
        says = f"{milliseconds(time)} of CPU in {elapsed.words}: {share(time, elapsed.value)}."
        yield found("idle", record, says + and_others(len(idle) - 1, "run"), elapsed)


def not_a_count(record: Record, figure: ReportedFigure) -> str:
    what = figure.name.removesuffix(MISTAKEN_RATE).replace("_", " ")
    says = f"{f'{figure.text} {figure.unit}'.strip()} is not a number of {what}, which is an "
    time, unit = record.figures.get("task_clock"), figure.unit or "M/sec"
    letter = unit.partition("/")[0].lower().strip()
    if time is None or letter not in SCALES:
        return f"{says}integer."
    total = amount(figure.value * SCALES[letter] * time.value)
    condition = "" if figure.unit else "If it is M/sec: "
    return f"{says}integer. {condition}{figure.text} {unit} x {time.words} = {total}."


def split(record: Record) -> str:
    user, system = record.figures.get("user"), record.figures.get("system")
    if user is None or system is None or user.value + system.value <= 0:
        return ""
    both = user.value + system.value
    return f"; {share(system.value, both)} of {milliseconds(both)} were spent in the kernel"


def busy(record: Record) -> float:
    """CPU time as a share of elapsed time; 1 if unknown."""
    time, elapsed = record.figures.get("task_clock"), record.figures.get("elapsed")
    return time.value / elapsed.value if time and elapsed and elapsed.value > 0 else 1.0
