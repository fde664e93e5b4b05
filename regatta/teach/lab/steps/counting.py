"""The steps by hand: a server asked by one and by many clients, a CPU for each side, and the table
that most reports end with."""

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from regatta.record.counters import COUNTERS, NOT_COUNTED
from regatta.show.numbers import short
from regatta.show.verdicts import listed
from regatta.show.view import Table, plain_table
from regatta.teach.lab.state import CommandOutput, StepResult, lab_command
from regatta.teach.lab.step import CTRL_C, HERE, Lab, Typed
from regatta.teach.lab.tools import pinned
from regatta.teach.review.names import ELAPSED, INSTRUCTIONS, SYSTEM, TASK_CLOCK, USER
from regatta.teach.review.reading.perf import read_outputs

ITERATIVE = "iterative"
"""The simplest design; the first steps are about it."""
ROUNDS = 20
"""Enough rounds for a meaningful rate."""
PATIENCE_MS = 1000
"""Timeout of the client that waits behind a silent one."""
SUMMARY = re.compile(r"^\d+ requests? to ", re.MULTILINE)
ONE_ANSWER = re.compile(r"^connection \d+ of \d+.*$", re.MULTILINE)
UNANSWERED = re.compile(r": 0 answered, \d+ timeout$", re.MULTILINE)
BLOCKED = (
    "The last request timed out, as expected: while the silent client is connected, the iterative "
    "server serves no other client. It continues as soon as that client disconnects."
)
NOT_BLOCKED = (
    "The last request did not wait behind a silent client: the silent client must still be "
    "connected when you send it. To repeat this step:"
)


def one_request(lab: Lab) -> list[Typed]:
    return [
        Typed(1, shlex.join(lab.server(ITERATIVE))),
        lab.asking(lab.tools.request(), "answer.txt"),
        Typed(1, CTRL_C),
    ]


def many_and_a_silent_one(lab: Lab) -> list[Typed]:
    impatient = [lab.tools.client, "--timeout", str(PATIENCE_MS), HERE]
    return [
        Typed(1, shlex.join(lab.server(ITERATIVE))),
        lab.asking([*lab.client(), HERE], "clients.txt"),
        Typed(3, lab.tools.silent_client()),
        lab.asking(impatient, "behind-a-silent-one.txt"),
        Typed(3, CTRL_C),
        Typed(1, CTRL_C),
    ]


def served_behind_a_silent_one(lab: Lab) -> StepResult:
    many, behind = lab.printed(many_and_a_silent_one(lab))
    said = BLOCKED
    if not UNANSWERED.search(behind.output):
        said = f"{NOT_BLOCKED} {lab_command(lab.folder, '--again', 'clients')}"
    behind = CommandOutput(f"{behind.command}   (behind a silent client)", behind.output)
    return StepResult(said=(said,), printed=(shortened(many), behind))


def shortened(whole: CommandOutput) -> CommandOutput:
    """Of a load's output: the first and the last answer, and the summary that follows."""
    found = list(SUMMARY.finditer(whole.output))
    if not found:
        return whole
    answers = ONE_ANSWER.findall(whole.output)
    ends = [*answers[:1], *answers[1:][-1:]]
    return CommandOutput(whole.command, "\n".join([*ends, whole.output[found[-1].start() :]]))


def apart_and_together(lab: Lab) -> list[Typed]:
    client = lab.client("--rounds", str(ROUNDS), "--quiet")
    apart = [*pinned(client, lab.tools.client_cpus), HERE]
    together = [*pinned(client, lab.tools.server_cpus), HERE]
    return [
        Typed(1, shlex.join(lab.pinned_server(ITERATIVE))),
        lab.asking(apart, "cpus-apart.txt"),
        lab.asking(together, "cpus-together.txt"),
        Typed(1, CTRL_C),
    ]


Counts = Mapping[str, float]
"""By name; times in seconds."""
TIMED = re.compile(r"^(real|user|sys)\s+(\d+)m(\d+)[.,](\d+)s\s*$", re.MULTILINE)
NAMES = {"real": ELAPSED, "user": USER, "sys": SYSTEM}
KERNEL_ONLY = frozenset(kind.claimed_as for kind in COUNTERS if kind.kernel_only)
SERVER, CLIENT = "server", "client"
LARGE = 1e6


def counts_in(path: Path) -> Counts:
    """Empty if the file holds no counts; on a hybrid CPU the sum over both kinds of core."""
    text = path.read_text(encoding="utf-8", errors="replace")
    timed = {
        NAMES[name]: 60 * int(minutes) + float(f"{seconds}.{parts}")
        for name, minutes, seconds, parts in TIMED.findall(text)
    }
    if timed:
        return timed
    reading = read_outputs(str(path), text.splitlines())
    records = reading.records if reading else ()
    # The records of the two kinds of core share the same clock lines. With the modifier u,
    # kernel-only events always read 0, which means nothing.
    once = {
        (figure.name, figure.line): figure.value
        for record in records
        for figure in record.figures.values()
        if not (figure.user_only and figure.name in KERNEL_ONLY)
    }
    found: dict[str, float] = {}
    for (name, _), value in once.items():
        found[name] = found.get(name, 0.0) + value
    return found


def cpu_s(counts: Counts) -> float | None:
    """CPU time: perf's task-clock, else user + system time."""
    if TASK_CLOCK in counts:
        return counts[TASK_CLOCK]
    return counts[USER] + counts[SYSTEM] if {USER, SYSTEM} <= counts.keys() else None


def counted_file(design: str, side: str) -> str:
    return f"first/{design}-{side}.txt"


def counted(lab: Lab, designs: Sequence[str]) -> list[Typed]:
    """One run of each: the counted server and the counted client."""
    client = [*pinned(lab.client("--quiet"), lab.tools.client_cpus), HERE]
    typed = []
    for design in designs:
        sides = (1, SERVER, lab.pinned_server(design)), (2, CLIENT, client)
        for terminal, side, words in sides:
            file = counted_file(design, side)
            typed.append(Typed(terminal, lab.tools.counted(words, lab.path(file)), file))
        typed.append(Typed(1, CTRL_C))
    return typed


def first_counts(lab: Lab, side: str = SERVER) -> dict[str, Counts]:
    """By design."""
    return {
        design: counts_in(lab.path(counted_file(design, side))) for design in lab.setting.designs
    }


def first_spent(lab: Lab) -> dict[str, float]:
    """Seconds of server CPU by design, where known."""
    spent = {design: cpu_s(counts) for design, counts in first_counts(lab).items()}
    return {design: value for design, value in spent.items() if value}


def least(spent: Mapping[str, float]) -> list[str]:
    """The designs that used the least; several if their figures are equal."""
    return [design for design, value in spent.items() if value == min(spent.values())]


def winner_of_one_run(lab: Lab) -> StepResult:
    spent = first_spent(lab)
    said = f"In this table {listed(least(spent))} needs the least server CPU time."
    if not spent:
        said = "No file contains a server's CPU time: repeat this step."
    return StepResult(said=(said,), tables=(first_table(lab),))


def first_table(lab: Lab) -> Table:
    """A counter that no run has is named in the caption instead of a column."""
    servers, clients = first_counts(lab), first_counts(lab, CLIENT)
    columns = {
        "server CPU, ms": [milliseconds(cpu_s(counts)) for counts in servers.values()],
        "context switches": [count(counts.get("context_switches")) for counts in servers.values()],
        "page faults": [count(counts.get("page_faults")) for counts in servers.values()],
        "instructions": [count(counts.get(INSTRUCTIONS)) for counts in servers.values()],
        "elapsed, s": [
            short(counts[ELAPSED]) if ELAPSED in counts else "" for counts in servers.values()
        ],
        "client CPU, ms": [milliseconds(cpu_s(counts)) for counts in clients.values()],
    }
    known = {name: texts for name, texts in columns.items() if any(texts)}
    says = (
        f"{lab.setting.connections} connections at once, one request each; work "
        f"{lab.setting.work}. Counted from the start of each program to its exit; of commands "
        "that you typed, the elapsed time is mostly typing."
    )
    if lacking := [name for name in columns if name not in known]:
        says += f" {NOT_COUNTED.capitalize()} here: {listed(lacking)}."
    rows = zip(servers, *known.values(), strict=True)
    return plain_table(
        title="One run of each design",
        says=says,
        header=["design", *known],
        rows=[[text or NOT_COUNTED for text in row] for row in rows],
    )


def milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else short(seconds * 1e3)


def count(value: float | None) -> str:
    """Exact if small; large ones as `2.85 M`; empty if unknown."""
    if value is None:
        return ""
    return short(value) if value >= LARGE else f"{value:,.0f}"
