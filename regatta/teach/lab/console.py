"""Shows the lab: interactively on a terminal, or as a log that runs every step."""

from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console

from regatta.show.terminal import draw_table
from regatta.show.text import plain
from regatta.show.view import Table
from regatta.teach.lab.state import StepResult
from regatta.teach.lab.step import Choice, Lab, Step
from regatta.teach.lab.steps import STEPS

INDENT = "    "
MOST_LINES = 20
"""Shown of a command's output; the rest is in the report."""
BY_HAND = "Enter: I have typed them   r: run them for me   q: stop here > "
BY_LAB = "Enter: continue   q: stop here > "
STOPPING = ("q", "quit", "exit")


class Log:
    """Shows everything, asks nothing, runs every step."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def line(self, text: str = "", style: str = "") -> None:
        """Never wrapped, so that commands can be copied."""
        self.console.print(plain(text, self.console, style), soft_wrap=True)

    def say(self, text: str) -> None:
        self.wrapped(text, "yellow")

    def wrapped(self, text: str, style: str = "") -> None:
        self.console.print(plain(text, self.console, style))

    def paragraph(self, text: str) -> None:
        self.wrapped(text)
        self.console.print()

    def begin(self, number: int, step: Step, lab: Lab) -> None:
        self.line()
        self.line(f"Step {number} of {len(STEPS)}: {step.title}", "bold")
        self.line()
        for paragraph in step.text:
            self.paragraph(paragraph)
        terminal = 0
        for typed in step.commands(lab):
            if typed.terminal != terminal:
                terminal = typed.terminal
                self.line(f"In terminal {terminal}:", "dim")
            self.line(f"{INDENT}{typed.line}", "bold")
        if terminal:
            self.line()

    def choose(self, by_hand: bool) -> Choice:
        """`by_hand`: whether the student could type the step's commands."""
        del by_hand
        return Choice.RUN

    def report_missing(self, names: Sequence[str]) -> None:
        for name in names:
            self.say(
                f"{name} is missing or holds no result yet: type all the commands, from starting "
                "the server to stopping it, or press r."
            )

    def end(self, step: Step, result: StepResult) -> None:
        for printed in result.printed:
            self.line(printed.command, "dim")
            lines = [text for text in printed.output.splitlines() if text.strip()]
            for text in lines[:MOST_LINES]:
                self.line(f"{INDENT}{text.expandtabs()}")
            if len(lines) > MOST_LINES:
                self.line(f"{INDENT}({len(lines) - MOST_LINES} more lines are in the report)")
            self.line()
        for table in result.tables:
            self.line()
            self.table(table)
        for sentence in result.said:
            self.paragraph(sentence)
        for question in step.questions:
            self.wrapped(f"? {question}", "cyan")

    def table(self, table: Table) -> None:
        self.line(table.title, "bold")
        draw_table(replace(table, title=""), [], self.console)
        self.console.print()

    def ask(self, question: str) -> str:
        del question
        return ""


class Terminal(Log):
    """Asks the student before each step."""

    def choose(self, by_hand: bool) -> Choice:
        while True:
            key = self.read(BY_HAND if by_hand else BY_LAB)
            if key is None or key in STOPPING:
                return Choice.STOP
            if not key:
                return Choice.GO
            if key == "r":
                return Choice.RUN
            self.say(f"{key} is not one of these keys.")

    def ask(self, question: str) -> str:
        return self.read(question) or ""

    def read(self, question: str) -> str | None:
        """None at the end of input."""
        try:
            return self.console.input(plain(question, self.console, "bold")).strip()
        except EOFError:
            return None
