"""Prints the table of many ledgers, or returns it as plain data."""

from typing import Any

from rich.console import Console
from rich.table import Table

from regatta.analysis.standings import LARGER
from regatta.lab.collect.verdicts import Collected, Machine, Pooled, Row
from regatta.report.text.fitted import print_table
from regatta.report.text.numbers import DASH, between, plural, times
from regatta.report.text.terminal import plain
from regatta.report.text.verdicts import listed

HEADER = ("ledger", "machine", "CPUs", "Linux", "least server CPU", "runner-up", "times as much")


def print_collected(found: Collected, console: Console) -> None:
    for pooled in found.pooled:
        print_pooled(pooled, console)
    for copy, original in found.copies:
        _line(f"{copy} is a copy of {original}: counted once.", console, "yellow")


def print_pooled(pooled: Pooled, console: Console) -> None:
    question = pooled.question
    _line(f"{question.text}: {plural(pooled.machines, 'machine')}", console, "bold")
    _line(f"Between {listed(question.designs)}.", console)
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in HEADER:
        grid.add_column(plain(name, console, "dim"), overflow="fold")
    for row in pooled.rows:
        grid.add_row(*(plain(text, console) for text in cells(row)))
    print_table(grid, console)
    _line(summary(pooled), console)
    console.print()


def cells(row: Row) -> tuple[str, ...]:
    verdict, machine = row.verdict, row.machine
    stopped = "" if row.trials >= row.planned else f" ({row.trials} of {row.planned} trials)"
    return (
        row.ledger + stopped,
        machine_words(machine),
        str(machine.cpus or DASH),
        machine.kernel,
        best_words(row),
        verdict.runner_up or DASH,
        ratio_words(row),
    )


def machine_words(machine: Machine) -> str:
    return f"{machine.cpu} (virtual: {machine.virtual})" if machine.virtual else machine.cpu


def best_words(row: Row) -> str:
    verdict = row.verdict
    if not verdict.best:
        return "no ranking"
    star = "★ " if verdict.outcome == LARGER else "☆ " if verdict.starred else ""
    return f"{star}{listed(verdict.best)}"


def ratio_words(row: Row) -> str:
    verdict = row.verdict
    if verdict.lead is None or verdict.low is None or verdict.high is None:
        return DASH
    lead = (verdict.lead, verdict.low, verdict.high)
    return f"{times(*lead)} ({between(*lead)})"


def summary(pooled: Pooled) -> str:
    """How often each design was best."""
    parts = [
        f"{star} {', '.join(f'{name} {count}' for name, count in counts.items())}"
        for star, counts in (("★", pooled.winners), ("☆", pooled.among))
        if counts
    ]
    if pooled.undecided:
        parts.append(f"undecided on {pooled.undecided}")
    return f"Of {plural(pooled.machines, 'machine')}: {'; '.join(parts)}."


def to_dict(found: Collected) -> dict[str, Any]:
    """As plain data (docs/teaching.md)."""
    return {
        "questions": [
            {
                "question": pooled.question.text,
                "designs": list(pooled.question.designs),
                "machines": [row_dict(row) for row in pooled.rows],
                "winners": pooled.winners,
                "among_the_best": pooled.among,
                "undecided": pooled.undecided,
            }
            for pooled in found.pooled
        ],
        "refused": list(found.refused),
        "copies": [{"ledger": copy, "of": original} for copy, original in found.copies],
    }


def row_dict(row: Row) -> dict[str, Any]:
    verdict = row.verdict
    return {
        "ledger": row.ledger,
        "cpu_model": row.machine.cpu,
        "cpus": row.machine.cpus,
        "kernel": row.machine.kernel,
        "virtualisation": row.machine.virtual,
        "outcome": verdict.outcome,
        "best": list(verdict.best),
        "runner_up": verdict.runner_up,
        "ratio": verdict.lead,
        "low": verdict.low,
        "high": verdict.high,
        "blocks": verdict.blocks,
        "trials": row.trials,
        "planned": row.planned,
    }


def _line(text: str, console: Console, style: str = "") -> None:
    console.print(plain(text, console, style), soft_wrap=True)
