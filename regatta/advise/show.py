"""Prints advice, or converts it to plain data."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from regatta.advise.advice import Advice
from regatta.advise.deciding import Deciding
from regatta.advise.evidence import MeasuredDesign, MeasuredGroup
from regatta.advise.ranking import Favoured
from regatta.analysis.estimates import OVER, Estimate
from regatta.analysis.standings import UNCONFIRMED
from regatta.ledger.axes import AXES
from regatta.ledger.cell import Cell
from regatta.report.text.numbers import (
    TOO_FEW_TO_SAY,
    between,
    interval_of,
    more_than_one,
    times,
    value_of,
)
from regatta.report.text.terminal import plain

MOST_OTHERS = 3
CORRECTED = "The intervals of differences hold simultaneously at 95 %."


def print_advice(advice: Advice, study: Path, console: Console) -> None:
    """`study` is the file of the deciding study."""
    _line(f"Situation: {advice.situation.words()}.", console, "bold")
    for line in advice.not_measured:
        _line(line, console, "yellow")
    if advice.ranking is not None:
        _print_ranking(advice, console)
    if advice.deciding is not None:
        _line(deciding_words(advice.deciding, study), console)
    for note in advice.notes:
        _line(note, console, "yellow")


def _print_ranking(advice: Advice, console: Console) -> None:
    ranking = advice.ranking
    assert ranking is not None
    _line(f"Nearest measured: {group_words(ranking.group)}.", console)
    console.print()
    for number, one in enumerate(ranking.favoured, start=1):
        style = "bold" if number == 1 else ""
        _line(f"{number}. {one.measured.design}", console, style)
        _line(f"   {figures(one.measured)}", console)
        if number > 1:
            _line(f"   {difference(one, ranking.favoured[0].measured.design)}", console)
    if any(one.against_best and one.against_best.blocks for one in ranking.favoured):
        _line(CORRECTED, console, "dim")
    for name, why in ranking.may_need_less:
        _line(f"{name} {why} and may need less.", console, "yellow")
    console.print()
    for name, why in ranking.left_out:
        _line(f"Not {name}: {why}.", console)
    shown = advice.others[:MOST_OTHERS]
    for group in shown:
        _line(f"Also near: {group_words(group)}.", console, "dim")
    if len(advice.others) > len(shown):
        _line(f"And {len(advice.others) - len(shown)} more nearby.", console, "dim")


def group_words(group: MeasuredGroup) -> str:
    how = "exactly this" if group.distance == 0 else "within a factor of 2"
    return f"{cell_words(group.cell)} ({how}), in {group.race}"


def cell_words(cell: Cell) -> str:
    """The cell without its design and the size of its pool."""
    parts = [
        axis.count(value)
        for name, axis in AXES.items()
        if name != "workers" and ((value := getattr(cell, name)) or name == "connections")
    ]
    parts += [f"work {cell.work}", f"load {cell.load}", cell.dialect]
    if cell.per_connection is not None:
        parts.append(
            "persistent connections"
            if cell.per_connection == 0
            else f"{cell.per_connection} requests per connection"
        )
    return ", ".join(parts)


def figures(one: MeasuredDesign) -> str:
    pool = "" if one.cell.workers is None else f"{AXES['workers'].count(one.cell.workers)}, "
    memory = "" if one.memory.value is None else f", memory {_figure(one.memory, 'MiB')}"
    kernel = "" if one.kernel.value is None else f", kernel memory {_figure(one.kernel, 'MiB')}"
    return (
        f"{pool}server CPU {_figure(one.cpu, 'µs/request')}, p50 {_figure(one.p50, 'ms')}, "
        f"p99 {_figure(one.p99, 'ms')}, "
        f"{_figure(one.throughput, 'requests/s')}{memory}{kernel}"
    )


def _figure(estimate: Estimate, unit: str) -> str:
    interval = interval_of(estimate)
    if estimate.value is None and estimate.state != OVER:
        return value_of(estimate)
    return f"{value_of(estimate)} {unit}" + (f" ({interval})" if interval else "")


def difference(one: Favoured, best: str) -> str:
    found = one.against_best
    if found is None or found.value is None or found.low is None or found.high is None:
        return f"too few blocks in common with {best} to compare"
    if found.scale == "ratio":
        interval = between(found.value, found.low, found.high)
        factor = times(found.value, found.low, found.high)
        words = f"{factor} times the CPU of {best} ({interval})"
        if found.outcome == UNCONFIRMED:
            return f"charged {words}, which busy time does not show"
        size = more_than_one(found.detectable)
    else:
        words = f"{found.value:+.3g} µs against {best} ({found.low:.3g} to {found.high:.3g})"
        size = None
    if not one.undecided:
        return words
    detectable = f"; {size} is detectable" if size else ""
    if size == TOO_FEW_TO_SAY:
        detectable = f"; {TOO_FEW_TO_SAY} what is detectable"
    return f"{words}: not distinguishable{detectable}"


def deciding_words(deciding: Deciding, study: Path) -> str:
    minutes = f"{deciding.seconds / 60:.0f} minutes"
    length = f"{deciding.seconds:.0f} s" if deciding.seconds < 120 else minutes
    names = ", ".join(deciding.designs)
    cannot = f". This machine cannot run it: {deciding.cannot}." if deciding.cannot else ""
    return (
        f"To decide between {names}, run {study} ({deciding.blocks} blocks, about {length}): "
        f"regatta race {study}{cannot}"
    )


def to_dict(advice: Advice, study: Path) -> dict[str, Any]:
    """For `--json`."""
    ranking = advice.ranking
    return {
        "situation": asdict(advice.situation),
        "measured": ranking is not None,
        "not_measured": advice.not_measured,
        "place": None if ranking is None else _group(ranking.group),
        "favoured": [] if ranking is None else [_favoured(one) for one in ranking.favoured],
        "left_out": []
        if ranking is None
        else [{"design": name, "why": why} for name, why in ranking.left_out],
        "may_need_less": []
        if ranking is None
        else [{"design": name, "why": why} for name, why in ranking.may_need_less],
        "also_near": [_group(group) for group in advice.others],
        "deciding": None
        if advice.deciding is None
        else {**asdict(advice.deciding), "study": str(study)},
        "ledgers": advice.ledgers,
        "notes": advice.notes,
    }


def _group(group: MeasuredGroup) -> dict[str, Any]:
    return {
        "race": str(group.race),
        "cell": cell_words(group.cell),
        "distance": group.distance,
        "another_machine": group.elsewhere,
        "designs": [one.design for one in group.measured],
    }


def _favoured(one: Favoured) -> dict[str, Any]:
    found = one.against_best
    measured = one.measured
    return {
        "design": measured.design,
        "workers": measured.cell.workers,
        "cpu_time_per_request_us": asdict(measured.cpu),
        "latency_p50_ms": asdict(measured.p50),
        "latency_p99_ms": asdict(measured.p99),
        "throughput_per_s": asdict(measured.throughput),
        "memory_mib": asdict(measured.memory),
        "kernel_memory_mib": asdict(measured.kernel),
        "against_best": None
        if found is None or found.value is None
        else {
            "scale": found.scale,
            "value": found.value,
            "low": found.low,
            "high": found.high,
            "blocks": found.blocks,
            "detectable": found.detectable,
            "undecided": one.undecided,
        },
    }


def _line(text: str, console: Console, style: str = "") -> None:
    console.print(plain(text, console, style))
