"""All checks of a machine, in the order of the report, and their findings in print, the worst
first."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from rich.console import Console
from rich.table import Table
from rich.text import Text

from regatta.checks.doctor.activity import Activity, watch
from regatta.checks.doctor.checks import contention, counting, cpus, limits, network, speed
from regatta.checks.doctor.finding import (
    FINE,
    LEVELS,
    MINOR,
    SERIOUS,
    UNKNOWN,
    Finding,
    RaceSetup,
    Subject,
    by_level,
)
from regatta.checks.doctor.machine import Machine
from regatta.checks.doctor.probes.bench import Bench
from regatta.errors import RegattaError

EXAMINE_S = 1.0
GLANCE_S = 0.2
"""Before each race: short, to delay the race little."""

Inspect = Callable[[Machine, RaceSetup, Activity], Finding]
Measure = Callable[[Finding, Bench], Finding]


@dataclass(frozen=True)
class Check:
    subject: Subject
    inspect: Inspect
    measure: Measure | None = None
    """Measures how much it matters here; None if there is nothing to measure."""

    @property
    def name(self) -> str:
        return self.subject.name


CHECKS = (
    Check(cpus.ENOUGH, cpus.inspect_number),
    Check(cpus.KINDS, cpus.inspect_kinds),
    Check(cpus.SMT, cpus.inspect_smt, cpus.measure_smt),
    Check(speed.GOVERNOR, speed.inspect_governor, speed.measure_governor),
    Check(speed.TURBO, speed.inspect_turbo, speed.measure_turbo),
    Check(speed.IDLE, speed.inspect_idle, speed.measure_idle),
    Check(speed.POWER, speed.inspect_power),
    Check(contention.LOAD, contention.inspect_load, contention.measure_load),
    Check(contention.STEAL, contention.inspect_steal, contention.measure_steal),
    Check(contention.QUOTA, contention.inspect_quota),
    Check(counting.CLOCK, counting.inspect_clock, counting.measure_clock),
    Check(counting.COUNTERS, counting.inspect_counters, counting.measure_counters),
    Check(counting.PARANOID, counting.inspect_paranoid),
    Check(counting.ACCOUNTING, counting.inspect_accounting),
    Check(counting.IRQ_TIME, counting.inspect_irq_time),
    Check(network.STEERING, network.inspect_steering),
    Check(limits.DESCRIPTORS, limits.inspect_descriptors),
    Check(limits.TASKS, limits.inspect_tasks),
    Check(network.PORTS, network.inspect_ports),
    Check(network.TRACKING, network.inspect_tracking),
    Check(network.BACKLOG, network.inspect_backlog),
    Check(limits.CONTAINERS, limits.inspect_containers),
)


def examine(machine: Machine, setup: RaceSetup, activity: Activity) -> list[Finding]:
    """One finding a check, in the order of the checks."""
    return [check.inspect(machine, setup, activity) for check in CHECKS]


def measure(findings: list[Finding], bench: Bench) -> list[Finding]:
    """The findings with the results of the probes. A failed probe is noted in its finding."""
    checks = {check.name: check for check in CHECKS}
    return [measured(checks[finding.name], finding, bench) for finding in findings]


def measured(check: Check, finding: Finding, bench: Bench) -> Finding:
    if check.measure is None:
        return finding
    try:
        return check.measure(finding, bench)
    except (RegattaError, OSError) as error:
        words = error.strerror if isinstance(error, OSError) else str(error)
        return replace(finding, unmeasured=words or type(error).__name__)


def serious(setup: RaceSetup, machine: Machine | None = None) -> dict[str, str]:
    """The serious findings before a race, by the name of the check."""
    machine = machine or Machine()
    findings = examine(machine, setup, watch(machine, GLANCE_S))
    return {finding.name: finding.says for finding in findings if finding.level == SERIOUS}


STYLES = {SERIOUS: "bold red", MINOR: "yellow", UNKNOWN: "cyan", FINE: "green"}
INDENT = 9  # the width of the longest level and a space


def show(console: Console, findings: list[Finding], measured: bool | None) -> None:
    """Prints problems in full, one line for each check that is fine, and the counts.

    `measured`: whether effects were; None where none can be.
    """
    for finding in by_level(findings):
        head = Text.assemble((f"{finding.name}: ", "bold"), finding.says)
        print_row(console, Text(finding.level, STYLES[finding.level]), head)
        if finding.level != FINE:
            print_row(console, Text("why", "dim"), Text(finding.matters))
        for effect in finding.effects:
            print_row(console, Text("here", "dim"), Text(effect.text()))
        if finding.unmeasured:
            print_row(console, Text("here", "dim"), Text(f"not measured: {finding.unmeasured}"))
        if finding.level != FINE:
            print_remedy(console, finding)
            console.print()
    console.print()
    console.print(verdict(findings), markup=False, highlight=False)
    if measured and any(f.name == contention.LOAD.name and f.level == SERIOUS for f in findings):
        console.print(
            "Other programs were running: measure again without them for narrower intervals.",
            markup=False,
            highlight=False,
        )
    if measured is False:
        console.print(
            "To measure how much each matters here: regatta doctor --measure (half a minute)",
            markup=False,
            highlight=False,
        )


def print_remedy(console: Console, finding: Finding) -> None:
    for word, commands in (("fix", finding.fix), ("undo", finding.undo)):
        for command in commands:
            # Not wrapped, so that it can be copied.
            line = Text.assemble((f"  {word}".ljust(INDENT), "dim"), (command, "bold"))
            console.print(line, soft_wrap=True)
    if finding.advice:
        print_row(console, Text("do", "dim"), Text(finding.advice))


def print_row(console: Console, word: Text, text: Text) -> None:
    """Prints a word and beside it a wrapped paragraph."""
    grid = Table.grid()
    grid.add_column(width=INDENT, no_wrap=True)
    grid.add_column()
    grid.add_row(word if word.plain in LEVELS else Text("  ").append(word), text)
    console.print(grid)


def verdict(findings: list[Finding]) -> str:
    counts = {level: sum(finding.level == level for finding in findings) for level in LEVELS}
    words = ", ".join(f"{counts[level]} {level}" for level in LEVELS)
    if counts[SERIOUS]:
        return f"{words}: fix the serious ones before you trust a race."
    return f"{words}: nothing here spoils a race."
