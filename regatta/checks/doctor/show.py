"""Prints findings, the worst first, each with why it matters and what to do."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from regatta.checks.doctor.checks import contention
from regatta.checks.doctor.finding import FINE, LEVELS, MINOR, SERIOUS, UNKNOWN, Finding, by_level

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
