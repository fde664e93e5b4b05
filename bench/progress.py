"""How far a run is: a bar on a terminal, else a line for each block."""

from __future__ import annotations

import time

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from bench.side_by_side import Run


class Teller:
    """Use it in a `with` statement; tell it of each trial before it starts."""

    def __init__(self, console: Console, what: str, trials: int) -> None:
        self.console = console
        self.what = what
        self.started = time.monotonic()
        self.block = -1
        self.bar = Progress(
            TextColumn(what),
            BarColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        self.task = self.bar.add_task("", total=trials)
        self.told = 0

    def __enter__(self) -> Teller:
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def tell(self, block: int, run: Run) -> None:
        self.bar.update(self.task, description=run.name, completed=self.told)
        self.told += 1
        if block != self.block and not self.console.is_terminal:
            seconds = time.monotonic() - self.started
            self.console.print(
                f"bench: {self.what}, block {block + 1} begins after {seconds:.0f} s"
            )
        self.block = block
