"""Both sides counted, one design after the other, and the table that most reports end with."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import compress

from regatta.lab import commands
from regatta.lab.by_hand import asked, serving
from regatta.lab.commands import HERE
from regatta.lab.counts import FAULTS, SWITCHES, Counts, counts_in, cpu_s, why_absent
from regatta.lab.draw import MS, bars
from regatta.lab.kept import Kept, Picture
from regatta.lab.step import Desk, Step, Typed
from regatta.ledger.counters import NOT_COUNTED, NOT_SUPPORTED
from regatta.report.text.numbers import short
from regatta.report.text.table import Table
from regatta.report.text.verdicts import listed
from regatta.review.names import ELAPSED, INSTRUCTIONS

FIRST = "first"
"""The folder of what was counted by hand."""
SERVER, CLIENT = "server", "client"
LARGE = 1e6
Lines = tuple[str, list[str], str]
"""A side's file, its command, and the same as a person types it."""


def counted_file(design: str, side: str) -> str:
    return f"{FIRST}/{design}-{side}.txt"


def side_lines(desk: Desk, design: str) -> tuple[Lines, Lines]:
    """Of the server and of the client, each counted; the client's address is left out."""
    asking = commands.client(desk, "--quiet")
    sides = (
        (SERVER, commands.pinned_server(desk, design)),
        (CLIENT, desk.tools.pinned(asking, desk.tools.client_cpus)),
    )
    found = []
    for side, words in sides:
        file = counted_file(design, side)
        path = desk.path(file)
        shown = [*words, HERE] if side == CLIENT else words
        found.append((file, desk.tools.counted(words, path), desk.tools.counted_line(shown, path)))
    return found[0], found[1]


class Counting(Step):
    """Counts some of the lab's designs, each in one run."""

    @abstractmethod
    def designs(self, desk: Desk) -> Sequence[str]:
        """Those that this step counts."""

    def commands(self, desk: Desk) -> Sequence[Typed]:
        return [typed for design in self.designs(desk) for typed in counted_by_hand(desk, design)]

    def files(self, desk: Desk) -> Sequence[str]:
        return [
            counted_file(design, side) for design in self.designs(desk) for side in (SERVER, CLIENT)
        ]

    def run(self, desk: Desk) -> None:
        for design in self.designs(desk):
            (_, serve, _), (_, ask, _) = side_lines(desk, design)
            with serving(serve) as address:
                asked([*ask, address])


def counted_by_hand(desk: Desk, design: str) -> Iterator[Typed]:
    (_, _, serve), (_, _, ask) = side_lines(desk, design)
    yield Typed(1, serve)
    yield Typed(2, ask)
    yield Typed(1, commands.CTRL_C)


class CountBothSides(Counting):
    name = "perf"
    title = "Both sides counted"
    text = (
        "`perf stat` has the kernel count what a program does from its start to its end: CPU time, "
        "how often it was taken off its CPU, how often memory had to be mapped; and with hardware "
        "counters its instructions and cycles. Count the server, and the client that asks it.",
        "perf prints when the program ends. So the server's figures hold its start, the time in "
        "which nobody asked, and its end as well.",
    )
    questions = (
        "How much CPU time did the server use, and how long did it run? What did it do in between?",
        "Which side used more CPU time: the server, or the client that you measured it with?",
    )

    def designs(self, desk: Desk) -> Sequence[str]:
        return desk.setting.designs[:1]

    def keep(self, desk: Desk) -> Kept:
        lines = side_lines(desk, desk.setting.designs[0])
        return Kept(printed=tuple(desk.printed(typed, file) for file, _, typed in lines))


class MakeTable(Counting):
    name = "table"
    title = "A table from one run"
    text = (
        "Now the same for the other designs, once each, and all of it in one table: what a "
        "report of a day in the laboratory usually holds.",
    )
    questions = (
        "Which design is best, by this table? Write down the sentence that you would put into a "
        "report.",
        "What differs between the designs that could make it so?",
    )
    rests_on = ("perf",)

    def designs(self, desk: Desk) -> Sequence[str]:
        return desk.setting.designs[1:]

    def keep(self, desk: Desk) -> Kept:
        counted = first_counts(desk)
        spent = first_spent(desk)
        said = [f"By this table {listed(least(spent))} needs the least server CPU time."]
        if not spent:
            said = ["No file says how much CPU time a server used: do this step again."]
        pictures: tuple[Picture, ...] = ()
        if spent:
            title = "Server CPU time in one run of each design"
            says = "One run each: nothing says how far the next would be from it."
            pictures = (Picture("first", title, says, bars(in_ms(spent), MS)),)
        return Kept(said=tuple(said), tables=(first_table(desk, counted),), pictures=pictures)


def first_counts(desk: Desk) -> dict[str, Counts]:
    """What was counted of each server by hand."""
    return {
        design: counts_in(desk.path(counted_file(design, SERVER)))
        for design in desk.setting.designs
    }


def first_spent(desk: Desk) -> dict[str, float]:
    """Seconds of CPU by design, of those for which they are known."""
    spent = {design: cpu_s(counts) for design, counts in first_counts(desk).items()}
    return {design: value for design, value in spent.items() if value}


def in_ms(spent: dict[str, float]) -> dict[str, float]:
    return {design: value * 1e3 for design, value in spent.items()}


def least(spent: dict[str, float]) -> list[str]:
    """Who used the least: several if their printed figures are the same."""
    return [design for design, value in spent.items() if value == min(spent.values())]


COLUMNS = (
    "server CPU, ms",
    "context switches",
    "page faults",
    "instructions",
    "elapsed, s",
    "client CPU, ms",
)


def first_table(desk: Desk, counted: dict[str, Counts]) -> Table:
    """What nobody could count is no column: it is said once."""
    rows = {design: figures(desk, design, counts) for design, counts in counted.items()}
    absent = {design: why_absent(desk.path(counted_file(design, SERVER))) for design in rows}
    known = [any(row[at] is not None for row in rows.values()) for at in range(len(COLUMNS))]
    lacking = [name for name, is_known in zip(COLUMNS, known, strict=True) if not is_known]
    says = [
        f"{desk.setting.connections} connections at once, each asked once; work "
        f"{desk.setting.work}. The whole life of each program, from its start to its end.",
        *who_counted(desk),
    ]
    if lacking:
        why = NOT_SUPPORTED if set(absent.values()) == {NOT_SUPPORTED} else NOT_COUNTED
        says.append(f"{why.capitalize()} here: {listed(lacking)}.")
    return Table(
        title="One run of each design",
        says=" ".join(says),
        header=["design", *compress(COLUMNS, known)],
        rows=[
            [design, *(absent[design] if one is None else one for one in compress(row, known))]
            for design, row in rows.items()
        ],
    )


def who_counted(desk: Desk) -> list[str]:
    """Whose figures are whose, of those for which the state knows."""
    first, *others = desk.setting.designs
    made = {CountBothSides.name: [first], MakeTable.name: others}
    known = desk.state.by_hand
    by_hand = [name for step, names in made.items() if known.get(step) is True for name in names]
    by_lab = [name for step, names in made.items() if known.get(step) is False for name in names]
    said = []
    if by_hand:
        said.append(f"Counted by hand: {listed(by_hand)} (elapsed is mostly the typing).")
    if by_lab:
        said.append(f"Counted by the lab: {listed(by_lab)}.")
    return said


def figures(desk: Desk, design: str, server: Counts) -> list[str | None]:
    """By column; None: not counted."""
    client = counts_in(desk.path(counted_file(design, CLIENT)))
    return [
        milliseconds(cpu_s(server)),
        *(count(server.get(name)) for name in (SWITCHES, FAULTS, INSTRUCTIONS)),
        None if ELAPSED not in server else short(server[ELAPSED]),
        milliseconds(cpu_s(client)),
    ]


def milliseconds(seconds: float | None) -> str | None:
    return None if seconds is None else short(seconds * 1e3)


def count(value: float | None) -> str | None:
    """Each unit of a small one; a large one as `2.85 M`."""
    if value is None:
        return None
    return short(value) if value >= LARGE else f"{value:,.0f}"
