"""What follows from the figures of one output or row, and what nothing can be.

Allows for rounding of the last printed digit, plus 1 %. The ratios of means of several runs are not
checked: the ratio of two means is not the mean of ratios, and perf -r prints neither.
"""

from collections.abc import Iterator, Sequence

from regatta.analysis.numbers import digits
from regatta.review.figures import CORE, Figure, Reading, Record
from regatta.review.finding import Finding, amount, and_others, found, milliseconds, share
from regatta.review.names import (
    ANSWERS,
    BRANCH_MISSES,
    BRANCHES,
    BYTES,
    BYTES_PER_S,
    CLOCKS,
    COUNTS,
    CPU_CLOCK,
    CPU_CLOCK_CPUS,
    CPUS,
    CYCLES,
    ELAPSED,
    GHZ,
    IDLE_BACK,
    IDLE_FRONT,
    INSTRUCTIONS,
    IPC,
    MISTAKEN_RATE,
    RATE,
    REQUESTS,
    SCALES,
    SIZE,
    SYSTEM,
    TASK_CLOCK,
    TOPDOWN,
    USER,
    rate_of,
    share_of,
)
from regatta.review.numbers import is_indian

SLACK, BY_GROUP_SLACK, LEAST_BY_GROUP = 0.01, 0.25, 40.0
"""Of a ratio; of one that perf computed from another group of multiplexed counters, and the share
of the time, in %, from which that is checked at all."""
ALL_THE_TIME, LEAST_RUNNING = 99.0, 50.0
"""Below half of the time, more is extrapolated than counted."""
FASTEST_GHZ = 9.2
"""The record, under liquid helium. perf divides by CPU time, so several CPUs do not add up."""
MOST_IPC, MOST_CPUS = 12.0, 8192.0
"""The widest cores retire 8 to 10 instructions a cycle; Linux knows no more CPUs."""
LARGEST = 2.0**63
IDLE_SHARE = 0.1

STALLED = "stalled_cycles_frontend", "stalled_cycles_backend"
RATIOS: tuple[tuple[str, str, tuple[str, ...], float], ...] = (
    (GHZ, CYCLES, (TASK_CLOCK, CPU_CLOCK), 1e-9),
    (IPC, INSTRUCTIONS, (CYCLES,), 1),
    (CPUS, TASK_CLOCK, (ELAPSED,), 1),
    (CPU_CLOCK_CPUS, CPU_CLOCK, (ELAPSED,), 1),
    (share_of(BRANCH_MISSES), BRANCH_MISSES, (BRANCHES,), 100),
    (share_of("cache_misses"), "cache_misses", ("cache_references",), 100),
    (IDLE_FRONT, STALLED[0], (CYCLES,), 100),
    (IDLE_BACK, STALLED[1], (CYCLES,), 100),
    *((rate_of(name), name, (TASK_CLOCK, CPU_CLOCK), 1) for name in sorted(COUNTS)),
    (RATE, REQUESTS, (ELAPSED,), 1),
    (BYTES_PER_S, BYTES, (ELAPSED,), 1),
    (SIZE, BYTES, (ANSWERS,), 1),
)
"""The first is the factor times the second divided by the first available of the third."""
PARTS = (
    (BRANCH_MISSES, BRANCHES),
    (BRANCHES, INSTRUCTIONS),
    ("cache_misses", "cache_references"),
    (STALLED[0], CYCLES),
    (STALLED[1], CYCLES),
)


def in_file(reading: Reading) -> Iterator[Finding]:
    """What is said once for a file, with the first or worst example."""
    for name, cells, word in (("unread", reading.unread, "cell"), ("torn", reading.torn, "row")):
        if cells:
            where = Record(reading.file, cells[0][0], {}, {})
            yield found(name, where, cells[0][1], others=and_others(len(cells) - 1, word))
    printed = [
        (record, one)
        for whole in reading.records
        for record in whole.printed
        for one in record.figures.values()
    ]
    rates: dict[str, list[tuple[Record, Figure]]] = {}
    for record, one in printed:
        if one.name.endswith(MISTAKEN_RATE):
            rates.setdefault(one.name, []).append((record, one))
    for name, those in rates.items():
        record, one = those[0]
        says = not_a_count(record, one, name.removesuffix(MISTAKEN_RATE).replace("_", " "))
        yield found("rate", record, says, one, others=and_others(len(those) - 1, "row"))
    indian = [one for one in printed if is_indian(one[1].text)]
    if indian:
        record, one = max(indian, key=lambda one: one[1].value)
        says = f"{one.words} is {one.value:,.0f}: {amount(one.value)}, grouped by lakh and crore."
        others = and_others(len(indian) - 1, "number")
        yield found("grouping", record, says, one, one.value, others)
    user = [
        (record, one)
        for record in reading.records
        if (one := next((one for one in record.figures.values() if in_user_space(one)), None))
    ]
    if user:
        record, one = user[0]
        says = f"{one.words} were counted in user space only{split(record)}."
        yield found("user-space", record, says, one, others=and_others(len(user) - 1, "run"))
    idle = sorted((busy(one), one.line, one) for one in reading.records if busy(one) < IDLE_SHARE)
    if idle:
        record = idle[0][2]
        time, elapsed = record.figures[TASK_CLOCK].value, record.figures[ELAPSED]
        says = f"{milliseconds(time)} of CPU in {elapsed.words}: {share(time, elapsed.value)}."
        yield found("idle", record, says, elapsed, others=and_others(len(idle) - 1, "run"))


def not_a_count(record: Record, figure: Figure, what: str) -> str:
    time, unit = record.figures.get(TASK_CLOCK), figure.unit or "M/sec"
    is_none = f"{figure.text} {figure.unit}".strip() + f" is not a number of {what}, which is an"
    letter = unit.partition("/")[0].lower().strip()
    if time is None or letter not in SCALES:
        return f"{is_none} integer."
    total = amount(figure.value * SCALES[letter] * time.value)
    condition = "" if figure.unit else "If it is M/sec: "
    return f"{is_none} integer. {condition}{figure.text} {unit} x {time.words} = {total}."


def in_user_space(one: Figure) -> bool:
    """A count that is not 0; kernel-only events read 0."""
    return one.user_only and one.name in COUNTS and bool(one.value)


def split(record: Record) -> str:
    user, system = record.figures.get(USER), record.figures.get(SYSTEM)
    if user is None or system is None or user.value + system.value <= 0:
        return ""
    both = user.value + system.value
    return f"; {share(system.value, both)} of {milliseconds(both)} were spent in the kernel"


def busy(record: Record) -> float:
    """CPU time as a share of elapsed time; 1 if unknown."""
    time, elapsed = record.figures.get(TASK_CLOCK), record.figures.get(ELAPSED)
    return time.value / elapsed.value if time and elapsed and elapsed.value > 0 else 1.0


def of_printed(records: Sequence[Record]) -> Iterator[Finding]:
    for record in records:
        impossible = list(of_no_machine(record))
        yield from impossible[:1]
        if not record.repeated and not impossible:
            yield from ratios(record)
        yield from parts(record)
        slots = [record.figures[name] for name in TOPDOWN if name in record.figures]
        total = sum(one.value for one in slots)
        # Less than 100 % is possible: AMD has a fifth share, for the other SMT thread.
        if total > 101 + sum(one.half for one in slots):
            terms = " + ".join(one.text for one in slots)
            says = f"{terms} = {digits(total, 4)} % of the CPU's slots, which cannot exceed 100."
            yield found("top-down", record, says, slots[0], total, printed=100.0)


def of_no_machine(record: Record) -> Iterator[Finding]:
    figures, elapsed = record.figures, record.figures.get(ELAPSED)
    for one in figures.values():
        if one.value < 0:
            yield found("impossible", record, f"{one.words}: less than nothing.", one, 0.0)
        elif one.name in COUNTS and one.value >= LARGEST:
            says = f"{one.words}: a counter of 64 bits that ran below 0."
            yield found("impossible", record, says, one, LARGEST)
        elif one.name == IPC and one.value - one.half > MOST_IPC:
            says = f"{one.words}: no CPU retires more than {MOST_IPC:g} instructions a cycle."
            yield found("impossible", record, says, one, MOST_IPC)
        elif one.name in (*CLOCKS, USER, SYSTEM) and elapsed and elapsed.value > 0:
            cpus = one.value / (elapsed.value + elapsed.half)
            if cpus > MOST_CPUS:
                says = f"{one.words} in {elapsed.words} are those of {amount(cpus)} CPUs."
                yield found("impossible", record, says, one, MOST_CPUS * elapsed.value)
    top, cycles = figures.get(INSTRUCTIONS), figures.get(CYCLES)
    if top and cycles and min(top.running, cycles.running) >= ALL_THE_TIME and cycles.value > 0:
        ipc = (top.value - top.half) / (cycles.value + cycles.half)
        if ipc > MOST_IPC and top.user_only == cycles.user_only:
            says = f"{top.words} / {cycles.words} = {digits(ipc, 3)}: no CPU retires more than "
            says += f"{MOST_IPC:g} instructions a cycle."
            yield found("impossible", record, says, top, ipc)


def ratios(record: Record) -> Iterator[Finding]:
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
        if name == rate_of(over) and over in COUNTS:
            for other in sorted(COUNTS & figures.keys()):
                if agrees(printed, figures[other], bottom, factor):
                    says += f" That is the rate of the {other.replace('_', ' ')}."
                    break
        yield found("ratio", record, says, printed, computed)


def agrees(printed: Figure, top: Figure, bottom: Figure, factor: float) -> bool:
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


def parts(record: Record) -> Iterator[Finding]:
    """Skips multiplexed counters: extrapolated values can be arbitrarily wrong."""
    figures = record.figures
    for part_name, whole_name in PARTS:
        part, whole = figures.get(part_name), figures.get(whole_name)
        if part and whole and min(part.running, whole.running) >= ALL_THE_TIME:
            if part.value - part.half > (1 + SLACK) * (whole.value + whole.half):
                yield found("part", record, f"{part.words} of {whole.words}.", part, whole.value)
    cycles, time = figures.get(CYCLES), figures.get(TASK_CLOCK)
    if cycles and time and cycles.running >= ALL_THE_TIME and time.value > 0:
        ghz = (cycles.value - cycles.half) / (time.value + time.half) / 1e9
        if ghz > FASTEST_GHZ:
            says = f"{cycles.words} / {time.words} = {digits(ghz, 4)} GHz."
            yield found("clock", record, says, cycles, ghz)


def multiplexed(record: Record) -> Iterator[Finding]:
    partial = [one for one in record.figures.values() if one.running < LEAST_RUNNING]
    if partial:
        least = min(partial, key=lambda one: one.running)
        says = (
            f"{least.words} were counted for {digits(least.running)} % of the time; "
            f"{digits(100 - least.running)} % of the time is extrapolated."
        )
        name = "two-kinds-of-core" if CORE in record.keys else "multiplexed"
        others = and_others(len(partial) - 1, "counter")
        yield found(name, record, says, least, least.running, others)
