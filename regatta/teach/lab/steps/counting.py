"""Counts both sides, one design after the other, and makes the table that most reports end with."""

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from pathlib import Path

from regatta.record.counters import COUNTERS, NOT_COUNTED, NOT_SUPPORTED
from regatta.show.numbers import short
from regatta.show.verdicts import listed
from regatta.show.view import Table, plain_table
from regatta.teach.lab import commands
from regatta.teach.lab.commands import HERE
from regatta.teach.lab.processes import output_of, serving
from regatta.teach.lab.report import MS, bars
from regatta.teach.lab.state import Picture, StepResult
from regatta.teach.lab.step import Lab, Step, Typed
from regatta.teach.review.names import ELAPSED, INSTRUCTIONS, SYSTEM, TASK_CLOCK, USER
from regatta.teach.review.reading.perf import read_outputs

Counts = Mapping[str, float]
"""By name; times in seconds."""
SWITCHES, FAULTS = "context_switches", "page_faults"
TIMED = re.compile(r"^(real|user|sys)\s+(\d+)m(\d+)[.,](\d+)s\s*$", re.MULTILINE)
KERNEL_ONLY = frozenset(one.claimed_as for one in COUNTERS if one.kernel_only)
NAMES = {"real": ELAPSED, "user": USER, "sys": SYSTEM}


def counts_in(path: Path) -> Counts:
    """Empty if the file holds no counts; on a hybrid CPU the sum over both kinds of core."""
    text = path.read_text(encoding="utf-8", errors="replace")
    timed = {
        NAMES[name]: 60 * int(minutes) + float(f"{seconds}.{parts}")
        for name, minutes, seconds, parts in TIMED.findall(text)
    }
    if timed:
        return timed
    found: dict[str, float] = {}
    seen: set[tuple[str, int]] = set()
    reading = read_outputs(str(path), text.splitlines())
    for record in reading.records if reading else ():
        for figure in record.figures.values():
            # The records of the two kinds of core share the same clock lines.
            known = (figure.name, figure.line) in seen
            # With the modifier u, kernel-only events always read 0.
            means_nothing = figure.user_only and figure.name in KERNEL_ONLY
            if not known and not means_nothing:
                seen.add((figure.name, figure.line))
                found[figure.name] = found.get(figure.name, 0.0) + figure.value
    return found


def why_absent(path: Path) -> str:
    """perf's words for a figure that is missing."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return NOT_SUPPORTED if f"<{NOT_SUPPORTED}>" in text else NOT_COUNTED


def cpu_s(counts: Counts) -> float | None:
    """CPU time: perf's task-clock, else user + system time."""
    if TASK_CLOCK in counts:
        return counts[TASK_CLOCK]
    if USER in counts and SYSTEM in counts:
        return counts[USER] + counts[SYSTEM]
    return None


FIRST = "first"
"""The folder of the counts of single runs."""
SERVER, CLIENT = "server", "client"
LARGE = 1e6
Lines = tuple[str, list[str], str]
"""A side's output file, its command, and the command as a student types it."""


def counted_file(design: str, side: str) -> str:
    return f"{FIRST}/{design}-{side}.txt"


def side_lines(lab: Lab, design: str) -> tuple[Lines, Lines]:
    """The counted server and the counted client; its command lacks the server's address."""
    asking = commands.client(lab, "--quiet")
    sides = (
        (SERVER, commands.pinned_server(lab, design)),
        (CLIENT, lab.tools.pinned(asking, lab.tools.client_cpus)),
    )
    found = []
    for side, words in sides:
        file = counted_file(design, side)
        path = lab.path(file)
        shown = [*words, HERE] if side == CLIENT else words
        found.append((file, lab.tools.counted(words, path), lab.tools.counted_line(shown, path)))
    return found[0], found[1]


class Counting(Step):
    """Counts some of the lab's designs, one run each."""

    @abstractmethod
    def designs(self, lab: Lab) -> Sequence[str]:
        """The designs that this step counts."""

    def commands(self, lab: Lab) -> Sequence[Typed]:
        return [typed for design in self.designs(lab) for typed in counted_by_hand(lab, design)]

    def files(self, lab: Lab) -> Sequence[str]:
        return [
            counted_file(design, side) for design in self.designs(lab) for side in (SERVER, CLIENT)
        ]

    def run(self, lab: Lab) -> None:
        for design in self.designs(lab):
            (_, serve, _), (_, ask, _) = side_lines(lab, design)
            with serving(serve) as address:
                output_of([*ask, address])


def counted_by_hand(lab: Lab, design: str) -> Iterator[Typed]:
    (_, _, serve), (_, _, ask) = side_lines(lab, design)
    yield Typed(1, serve)
    yield Typed(2, ask)
    yield Typed(1, commands.CTRL_C)


class CountBothSides(Counting):
    name = "perf"
    title = "Counting both sides"
    text = (
        "`perf stat` has the kernel count what a program does from start to exit: its CPU time, "
        "context switches and page faults; and, with hardware counters, its instructions and "
        "cycles. Count the server, and the client that sends requests to it.",
        "perf prints its counts when the program exits. The server's figures therefore include "
        "startup, shutdown, and the time in between when it had no requests.",
    )
    questions = (
        "How much CPU time did the server use, and how long did it run? What did it do for the "
        "rest of the time?",
        "Which side used more CPU time: the server, or the client that you measured it with?",
    )

    def designs(self, lab: Lab) -> Sequence[str]:
        return lab.setting.designs[:1]

    def result(self, lab: Lab) -> StepResult:
        lines = side_lines(lab, lab.setting.designs[0])
        return StepResult(printed=tuple(lab.printed(typed, file) for file, _, typed in lines))


class MakeTable(Counting):
    name = "table"
    title = "A table from one run"
    text = (
        "Now do the same for the other designs, once each. The lab puts all counts into one table: "
        "the kind of table that most lab reports contain.",
    )
    questions = (
        "According to this table, which design is best? Write down the sentence that you would put "
        "into a report.",
        "Which differences between the designs could explain this result?",
    )
    depends_on = ("perf",)

    def designs(self, lab: Lab) -> Sequence[str]:
        return lab.setting.designs[1:]

    def result(self, lab: Lab) -> StepResult:
        counted = first_counts(lab)
        spent = first_spent(lab)
        said = [f"In this table {listed(least(spent))} needs the least server CPU time."]
        if not spent:
            said = ["No file contains a server's CPU time: repeat this step."]
        pictures: tuple[Picture, ...] = ()
        if spent:
            title = "Server CPU time in one run of each design"
            says = "One run each: how much the next run would differ is unknown."
            pictures = (Picture("first", title, says, bars(in_ms(spent), MS)),)
        return StepResult(said=tuple(said), tables=(first_table(lab, counted),), pictures=pictures)


def first_counts(lab: Lab) -> dict[str, Counts]:
    """The counts of each design's server."""
    return {
        design: counts_in(lab.path(counted_file(design, SERVER))) for design in lab.setting.designs
    }


def first_spent(lab: Lab) -> dict[str, float]:
    """Seconds of server CPU by design, where known."""
    spent = {design: cpu_s(counts) for design, counts in first_counts(lab).items()}
    return {design: value for design, value in spent.items() if value}


def in_ms(spent: dict[str, float]) -> dict[str, float]:
    return {design: value * 1e3 for design, value in spent.items()}


def least(spent: dict[str, float]) -> list[str]:
    """The designs that used the least; several if their figures are equal."""
    return [design for design, value in spent.items() if value == min(spent.values())]


COLUMNS = (
    "server CPU, ms",
    "context switches",
    "page faults",
    "instructions",
    "elapsed, s",
    "client CPU, ms",
)


def first_table(lab: Lab, counted: dict[str, Counts]) -> Table:
    """A counter that no run has is named in the caption instead of a column."""
    rows = {design: figures(lab, design, counts) for design, counts in counted.items()}
    absent = {design: why_absent(lab.path(counted_file(design, SERVER))) for design in rows}
    known = [any(row[at] is not None for row in rows.values()) for at in range(len(COLUMNS))]
    lacking = [name for name, is_known in zip(COLUMNS, known, strict=True) if not is_known]
    says = [
        f"{lab.setting.connections} connections at once, one request each; work "
        f"{lab.setting.work}. Counted from the start of each program to its exit.",
        *who_counted(lab),
    ]
    if lacking:
        why = NOT_SUPPORTED if set(absent.values()) == {NOT_SUPPORTED} else NOT_COUNTED
        says.append(f"{why.capitalize()} here: {listed(lacking)}.")
    return plain_table(
        title="One run of each design",
        says=" ".join(says),
        header=["design", *compress(COLUMNS, known)],
        rows=[
            [design, *(absent[design] if one is None else one for one in compress(row, known))]
            for design, row in rows.items()
        ],
    )


def who_counted(lab: Lab) -> list[str]:
    """Which designs the student counted and which the lab, where the state knows."""
    first, *others = lab.setting.designs
    made = {CountBothSides.name: [first], MakeTable.name: others}
    known = lab.state.by_hand
    by_hand = [name for step, names in made.items() if known.get(step) is True for name in names]
    by_lab = [name for step, names in made.items() if known.get(step) is False for name in names]
    said = []
    if by_hand:
        said.append(f"Counted by hand: {listed(by_hand)} (the elapsed time is mostly typing).")
    if by_lab:
        said.append(f"Counted by the lab: {listed(by_lab)}.")
    return said


def figures(lab: Lab, design: str, server: Counts) -> list[str | None]:
    """One per column; None: not counted."""
    client = counts_in(lab.path(counted_file(design, CLIENT)))
    return [
        milliseconds(cpu_s(server)),
        *(count(server.get(name)) for name in (SWITCHES, FAULTS, INSTRUCTIONS)),
        None if ELAPSED not in server else short(server[ELAPSED]),
        milliseconds(cpu_s(client)),
    ]


def milliseconds(seconds: float | None) -> str | None:
    return None if seconds is None else short(seconds * 1e3)


def count(value: float | None) -> str | None:
    """Exact if small; large ones as `2.85 M`."""
    if value is None:
        return None
    return short(value) if value >= LARGE else f"{value:,.0f}"
