"""Figures that follow from two others: GHz, rates, shares, instructions per cycle.

Allows for rounding of the last printed digit, plus 1 %. Means of several runs are skipped: the
ratio of two means is not the mean of ratios, and perf -r prints neither.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regatta.analysis.numbers import digits
from regatta.review.checks.record_groups import as_printed
from regatta.review.figures import Figure, Reading, Record
from regatta.review.finding import CONTRADICTION, Check, Finding
from regatta.review.names import (
    BRANCH_MISSES,
    BRANCHES,
    COUNTS,
    CPU_CLOCK,
    CPUS,
    CYCLES,
    ELAPSED,
    GHZ,
    INSTRUCTIONS,
    IPC,
    SCALES,
    TASK_CLOCK,
    rate_of,
    share_of,
)

SLACK = 0.01
RATIO = Check(
    "ratio",
    CONTRADICTION,
    "a ratio does not match its counts",
    "copy all three again from the same output of perf: one comes from another line, kind of core "
    "or run.",
)


@dataclass(frozen=True)
class Ratio:
    """`name` = `factor` x `top` / the first available of `bottoms`."""

    name: str
    top: str
    bottoms: tuple[str, ...]
    factor: float = 1.0


RATIOS = (
    Ratio(GHZ, CYCLES, (TASK_CLOCK, CPU_CLOCK), 1e-9),
    Ratio(IPC, INSTRUCTIONS, (CYCLES,)),
    Ratio(CPUS, TASK_CLOCK, (ELAPSED,)),
    Ratio(share_of(BRANCH_MISSES), BRANCH_MISSES, (BRANCHES,), 100),
    Ratio(share_of("cache_misses"), "cache_misses", ("cache_references",), 100),
    Ratio(share_of("stalled_cycles_frontend"), "stalled_cycles_frontend", (CYCLES,), 100),
    Ratio(share_of("stalled_cycles_backend"), "stalled_cycles_backend", (CYCLES,), 100),
    *(Ratio(rate_of(name), name, (TASK_CLOCK, CPU_CLOCK)) for name in sorted(COUNTS)),
)


def check(readings: Sequence[Reading]) -> Iterator[Finding]:
    for record in as_printed(readings):
        for ratio in () if record.repeated else RATIOS:
            printed, parts = record.figures.get(ratio.name), parts_of(ratio, record)
            if printed is not None and parts is not None and not agrees(printed, *parts, ratio):
                yield finding(ratio, printed, *parts, record)


def parts_of(ratio: Ratio, record: Record) -> tuple[Figure, Figure] | None:
    found = [record.figures[name] for name in ratio.bottoms if name in record.figures]
    top = record.figures.get(ratio.top)
    return None if top is None or not found or found[0].value <= 0 else (top, found[0])


def agrees(printed: Figure, top: Figure, bottom: Figure, ratio: Ratio) -> bool:
    """Whether the ratio is possible, given the rounding of all three."""
    low = (top.value - top.half) / (bottom.value + bottom.half) * ratio.factor
    least = bottom.value - bottom.half
    high = (top.value + top.half) / least * ratio.factor if least > 0 else float("inf")
    slack = SLACK * abs(printed.value) + printed.half
    return low <= printed.value + slack and high >= printed.value - slack


def finding(ratio: Ratio, printed: Figure, top: Figure, bottom: Figure, record: Record) -> Finding:
    computed = top.value / bottom.value * ratio.factor
    letter = printed.unit.partition("/")[0].lower() if printed.unit.endswith("/sec") else ""
    shown = f"{digits(computed / SCALES[letter], 4)} {printed.unit}"
    says = f"{top.words} / {bottom.words} = {shown}, but {printed.words} is printed."
    fits = of_another(ratio, printed, bottom, record)
    if fits:
        says += f" That is the rate of the {fits.replace('_', ' ')}."
    return RATIO.found(record, says, line=printed.line, printed=printed.value, computed=computed)


def of_another(ratio: Ratio, printed: Figure, bottom: Figure, record: Record) -> str:
    """Another count that the rate belongs to, if any: 3.50 G/sec of "instructions" are branches."""
    if ratio.name != rate_of(ratio.top):
        return ""
    for name in sorted(COUNTS & record.figures.keys()):
        if agrees(printed, record.figures[name], bottom, ratio):
            return name
    return ""
