"""How the hour is shown: on a terminal, where a person decides, and in a log, where nobody does."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table as Grid

from regatta.lab.kept import Kept
from regatta.lab.step import Desk, Step
from regatta.lab.steps import STEPS
from regatta.lab.walk import Choice
from regatta.report.text.plain import plain
from regatta.report.text.table import Table

INDENT = "    "
MOST_LINES = 20
"""Of what a command printed: the rest is in the report."""
BY_HAND = "Enter: I have typed them   r: run them for me   q: stop here > "
BY_ITSELF = "Enter: go on   q: stop here > "
STOPPING = ("q", "quit", "exit")


class Log:
    """Shows everything, asks nothing, and has every step run."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def line(self, text: str = "", style: str = "") -> None:
        """However long: somebody may copy a command out of it."""
        self.console.print(plain(text, self.console, style), soft_wrap=True)

    def say(self, text: str) -> None:
        self.wrapped(text, "yellow")

    def wrapped(self, text: str, style: str = "") -> None:
        """With its lines broken between words."""
        self.console.print(plain(text, self.console, style))

    def paragraph(self, text: str) -> None:
        self.wrapped(text)
        self.console.print()

    def begin(self, number: int, step: Step, desk: Desk) -> None:
        self.line()
        self.line(f"Step {number} of {len(STEPS)}: {step.title}", "bold")
        self.line()
        for paragraph in step.text:
            self.paragraph(paragraph)
        terminal = 0
        for typed in step.commands(desk):
            if typed.terminal != terminal:
                terminal = typed.terminal
                self.line(f"In terminal {terminal}:", "dim")
            self.line(f"{INDENT}{typed.line}", "bold")
        if terminal:
            self.line()

    def choose(self, step: Step, by_hand: bool) -> Choice:
        del step, by_hand
        return Choice.RUN

    def not_there(self, names: Sequence[str]) -> None:
        for name in names:
            self.say(
                f"{name} is not there, or holds nothing yet: type the commands, from the server's "
                "start to its end, or press r."
            )

    def end(self, step: Step, kept: Kept) -> None:
        for printed in kept.printed:
            self.line(printed.command, "dim")
            lines = [text for text in printed.output.splitlines() if text.strip()]
            for text in lines[:MOST_LINES]:
                self.line(f"{INDENT}{text.expandtabs()}")
            if len(lines) > MOST_LINES:
                self.line(f"{INDENT}({len(lines) - MOST_LINES} more lines are in the report)")
            self.line()
        for table in kept.tables:
            self.line()
            self.table(table)
        for sentence in kept.said:
            self.paragraph(sentence)
        for question in step.questions:
            self.wrapped(f"? {question}", "cyan")

    def table(self, table: Table) -> None:
        grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), title_justify="left")
        for number, text in enumerate(table.header):
            heading = plain(text, self.console, "bold")
            grid.add_column(heading, justify="right" if number else "left", no_wrap=not number)
        for row in table.rows:
            grid.add_row(*(plain(text, self.console) for text in row))
        self.line(table.title, "bold")
        self.console.print(grid)
        self.paragraph(table.says)

    def ask(self, question: str) -> str:
        del question
        return ""


class Terminal(Log):
    """Waits for the person before each step."""

    def choose(self, step: Step, by_hand: bool) -> Choice:
        del step
        while True:
            key = self.read(BY_HAND if by_hand else BY_ITSELF)
            if key is None or key in STOPPING:
                return Choice.STOP
            if not key:
                return Choice.GO
            if key == "r":
                return Choice.RUN
            self.say(f"{key} is none of these keys.")

    def ask(self, question: str) -> str:
        return self.read(question) or ""

    def read(self, question: str) -> str | None:
        """None: the terminal has gone."""
        try:
            return self.console.input(plain(question, self.console, "bold")).strip()
        except EOFError:
            return None
