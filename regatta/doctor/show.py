"""The findings for people: the worst first, each with why it matters and what to type."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from regatta.doctor.checks import others
from regatta.doctor.finding import FINE, LEVELS, MINOR, SERIOUS, UNKNOWN, Finding, by_level

STYLES = {SERIOUS: "bold red", MINOR: "yellow", UNKNOWN: "cyan", FINE: "green"}
INDENT = 9  # as wide as the widest level and a blank


def show(console: Console, findings: list[Finding], measured: bool) -> None:
    """Everything that is not fine at length, what is fine in a line each, and the sum."""
    for finding in by_level(findings):
        head = Text.assemble((f"{finding.name}: ", "bold"), finding.says)
        row(console, Text(finding.level, STYLES[finding.level]), head)
        if finding.level != FINE:
            row(console, Text("why", "dim"), Text(finding.matters))
        for effect in finding.effects:
            row(console, Text("here", "dim"), Text(effect.text()))
        if finding.unmeasured:
            row(console, Text("here", "dim"), Text(f"not measured: {finding.unmeasured}"))
        if finding.level != FINE:
            cure(console, finding)
            console.print()
    console.print()
    console.print(verdict(findings), markup=False, highlight=False)
    if measured and any(f.name == others.LOAD.name and f.level == SERIOUS for f in findings):
        console.print(
            "Measured under other load: measure again without it, and the intervals shrink.",
            markup=False,
            highlight=False,
        )
    if not measured:
        console.print(
            "How much each matters here: regatta doctor --measure (half a minute)",
            markup=False,
            highlight=False,
        )


def cure(console: Console, finding: Finding) -> None:
    for word, commands in (("fix", finding.fix), ("undo", finding.undo)):
        for command in commands:
            # Never wrapped: it is there to be copied.
            line = Text.assemble((f"  {word}".ljust(INDENT), "dim"), (command, "bold"))
            console.print(line, soft_wrap=True)
    if finding.advice:
        row(console, Text("do", "dim"), Text(finding.advice))


def row(console: Console, word: Text, text: Text) -> None:
    """A word and a paragraph that stays beside it."""
    grid = Table.grid()
    grid.add_column(width=INDENT, no_wrap=True)
    grid.add_column()
    grid.add_row(word if word.plain in LEVELS else Text("  ").append(word), text)
    console.print(grid)


def verdict(findings: list[Finding]) -> str:
    counts = {level: sum(finding.level == level for finding in findings) for level in LEVELS}
    words = ", ".join(f"{counts[level]} {level}" for level in LEVELS)
    if counts[SERIOUS]:
        return f"{words}: correct what is serious before you believe a race."
    return f"{words}: nothing that would spoil a race."
