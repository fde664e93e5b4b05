"""The claims of a study on a terminal, below the standings."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from regatta.analysis.claims.result import (
    NOT_MEASURABLE,
    REFUTED,
    SUPPORTED,
    TOO_FEW,
    UNDECIDED,
    ClaimResult,
)
from regatta.report.claims import words
from regatta.report.claims.lines import ClaimLine, claim_lines
from regatta.report.text.terminal import encodable, plain

STYLES = {
    SUPPORTED: "green",
    REFUTED: "red",
    UNDECIDED: "yellow",
    TOO_FEW: "yellow",
    NOT_MEASURABLE: "dim",
}


def print_claims(claims: list[ClaimResult], console: Console) -> None:
    """Prints nothing if the study has no claims."""
    if not claims:
        return
    console.print()
    console.print(plain("Claims", console, "bold underline"))
    table = Table.grid(padding=(0, 2))
    table.add_column("claim", overflow="fold", max_width=console.width // 3)
    table.add_column("what was found", overflow="fold")
    for claim in claims:
        name = Text("\n").append_text(plain(claim.id, console, "bold"))
        table.add_row(name, _body(claim, console))
    console.print(table)
    console.print()
    console.print(plain(words.tally(claims), console, "bold"))
    console.print(plain(words.LEGEND, console, "dim"))


def _body(claim: ClaimResult, console: Console) -> Text:
    text = Text("\n")
    text.append_text(_verdict(claim.verdict, console))
    text.append_text(plain(f"  {claim.says}", console, "bold"))
    for line in claim_lines(claim):
        text.append("\n")
        text.append_text(_line(line, console))
    if claim.why:
        text.append("\n")
        text.append_text(plain(f"why: {claim.why}", console, "italic"))
    return text


def _line(line: ClaimLine, console: Console) -> Text:
    text = plain(f"{line.title}: ", console, "dim")
    if line.verdict:
        text.append_text(_verdict(line.verdict, console))
        text.append(": " if line.figures else "")
    text.append_text(plain(line.figures, console))
    if line.notes:
        text.append_text(
            plain(f" ({line.notes})" if line.verdict else f". {line.notes}", console, "dim")
        )
    return text


def _verdict(verdict: str, console: Console) -> Text:
    return Text(encodable(f"{words.MARKS[verdict]} {verdict}", console), style=STYLES[verdict])
