"""Shows the lab: interactively on a terminal, or as a log that runs every step."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.console import Console

from regatta.show.terminal import draw_table
from regatta.show.text import plain
from regatta.teach.lab.state import StepResult
from regatta.teach.lab.step import Lab, Step

INDENT = "    "
MOST_LINES = 20
"""Shown of a command's output; the rest is in the report."""
BY_HAND = "Enter: I have typed them   r: run them for me   q: stop here > "
BY_LAB = "Enter: continue   q: stop here > "


GO, RUN, STOP = "go on", "run it", "stop"
"""What the student may choose to do about a step."""
KEYS = {"": GO, "r": RUN, **dict.fromkeys(("q", "quit", "exit"), STOP)}


@dataclass
class LabScreen:
    console: Console
    asks: bool
    """Whether it waits for the student before each step; else it runs every step."""

    def line(self, text: str = "", style: str = "") -> None:
        """Never wrapped, so that commands can be copied."""
        self.console.print(plain(text, self.console, style), soft_wrap=True)

    def wrapped(self, text: str, style: str = "") -> None:
        self.console.print(plain(text, self.console, style))

    def say(self, text: str) -> None:
        self.wrapped(text, "yellow")

    def paragraph(self, text: str) -> None:
        self.wrapped(text)
        self.console.print()

    def begin(self, number: int, of: int, step: Step, lab: Lab) -> None:
        self.line()
        self.line(f"Step {number} of {of}: {step.title}", "bold")
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

    def choose(self, by_hand: bool) -> str:
        """`by_hand`: whether the student could type the step's commands."""
        while self.asks:
            key = self.read(BY_HAND if by_hand else BY_LAB)
            if key is None:
                return STOP
            if key in KEYS:
                return KEYS[key]
            self.say(f"{key} is not one of these keys.")
        return RUN

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
            self.line(table.title, "bold")
            draw_table(replace(table, title=""), [], self.console)
            self.line()
        for sentence in result.said:
            self.paragraph(sentence)
        for question in step.questions:
            self.wrapped(f"? {question}", "cyan")

    def ask(self, question: str) -> str:
        return (self.read(question) if self.asks else None) or ""

    def read(self, question: str) -> str | None:
        """None at the end of input."""
        try:
            return self.console.input(plain(question, self.console, "bold")).strip()
        except EOFError:
            return None
