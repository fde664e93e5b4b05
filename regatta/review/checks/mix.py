"""The share of branches among a program's instructions hardly varies, so outliers are misprints.

This finds counts copied from another line or kind of core, and instructions in place of cycles.
"""

from collections.abc import Iterator, Sequence
from statistics import median

from regatta.analysis.numbers import digits
from regatta.review.checks.record_groups import groups, records
from regatta.review.figures import CONNECTIONS, DESIGN, SIDE, Figure, Reading, Record
from regatta.review.finding import CONTRADICTION, Check, Finding
from regatta.review.names import BRANCHES, CYCLES, INSTRUCTIONS

FEWEST_OTHERS = 3
FACTOR = 2.0
"""Programs do not differ this much: designs and their clients differ by a tenth."""
SAME = 0.03
"""Relative difference up to which two mixes are the same."""
MIX = Check(
    "mix",
    CONTRADICTION,
    "an unusual share of branches",
    "check both figures: one comes from another line or another kind of core.",
)
MISPLACED = Check(
    "misplaced",
    CONTRADICTION,
    "instructions in place of cycles",
    "check the cycles.",
)


def check(readings: Sequence[Reading]) -> Iterator[Finding]:
    for group in groups(records(readings), DESIGN, CONNECTIONS, SIDE):
        mixes = {
            index: mix
            for index, record in enumerate(group)
            if (mix := mix_of(record, INSTRUCTIONS)) is not None
        }
        usual = median(mixes.values()) if mixes else 0.0
        for index, record in enumerate(group):
            if len(mixes) - (index in mixes) >= FEWEST_OTHERS:
                yield from look_at(record, mixes.get(index), usual)


def mix_of(record: Record, of: str) -> float | None:
    branches, whole = record.figures.get(BRANCHES), record.figures.get(of)
    if branches is None or whole is None or branches.value <= 0 or whole.value <= 0:
        return None
    return branches.value / whole.value


def look_at(record: Record, mix: float | None, usual: float) -> Iterator[Finding]:
    if mix is not None and 1 / FACTOR <= mix / usual <= FACTOR:
        return
    if mix is not None:
        yield other_mix(record, mix, usual)
    of_cycles = mix_of(record, CYCLES)
    if of_cycles is not None and abs(of_cycles / usual - 1) <= SAME:
        says = (
            f"{words(record, BRANCHES)} / {words(record, CYCLES)} = {digits(of_cycles, 4)}, "
            f"which in all other runs is branches / instructions ({digits(usual, 4)})."
        )
        line = record.figures[CYCLES].line
        yield MISPLACED.found(record, says, line=line, printed=of_cycles, computed=usual)


def other_mix(record: Record, mix: float, usual: float) -> Finding:
    says = (
        f"{words(record, BRANCHES)} / {words(record, INSTRUCTIONS)} = {digits(mix, 4)}, but "
        f"the median of all is {digits(usual, 4)}."
    )
    line = record.figures[INSTRUCTIONS].line
    return MIX.found(record, says, line=line, printed=mix, computed=usual)


def words(record: Record, name: str) -> str:
    figure: Figure = record.figures[name]
    return figure.words
