"""A look at the answers of each contender before the race: its clients compare theirs with them.

Of two processes, at different times, as ids and dates may belong to either. Our own designs are not
looked at: the client checks their rows.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from subprocess import SubprocessError
from typing import Any

from regatta.errors import HostLostError, RegattaError, TrialError
from regatta.measure.trial.answers import (
    Answer,
    Expected,
    ask_http,
    difference_notes,
    differences,
    expected,
    is_right,
)
from regatta.measure.trial.load import asked_of
from regatta.measure.trial.server import start_server, stop_server
from regatta.measure.trial.setup import TrialSetup
from regatta.record.cell import Cell
from regatta.record.records import ANSWERS, DIFFER, SERVER
from regatta.record.study import Study
from regatta.record.study.request_file import Request
from regatta.record.write import Ledger

PROCESSES, TIMES = 2, 3
APART_S = 1.1
"""Between the processes' answers, so that the second of a date differs."""


@dataclass(frozen=True)
class Look:
    """At one contender and what it is asked."""

    contender: str
    asked: str
    """Its path or file of requests."""
    expected: tuple[Expected, ...]
    why: str = ""
    """There is nothing to compare with."""


def look(ledger: Ledger, study: Study, setup: TrialSetup) -> list[Look]:
    """That of this race; one that is resumed has it in its ledger."""
    if study.answers_may_differ:
        return []
    if recorded := recorded_looks({ANSWERS: ledger.environment(ANSWERS)}):
        return recorded
    looks = look_at_all(study, setup)
    differ: dict[str, str] = {}
    for of in side_by_side(looks):
        differ |= differences(of)
    ledger.record_environment({ANSWERS: [asdict(found) for found in looks], DIFFER: differ})
    return looks


def recorded_looks(environment: Mapping[str, Any]) -> list[Look]:
    """From a ledger; empty if it has none."""
    return [
        Look(**{**look, "expected": tuple(Expected(**of) for of in look["expected"])})
        for look in environment.get(ANSWERS) or ()
    ]


def side_by_side(looks: Sequence[Look]) -> Iterator[dict[str, tuple[Expected, ...]]]:
    """What contenders answer that are asked the same."""
    for asked in dict.fromkeys(look.asked for look in looks):
        same = (look for look in looks if look.asked == asked and look.expected)
        yield {look.contender: look.expected for look in same}


def look_notes(looks: Sequence[Look]) -> Iterator[str]:
    """What of the answers is not compared, and which differ: a line each."""
    for look in looks:
        said = [note for of in look.expected if (note := of.note())]
        said += [f"its answers are not compared: {look.why}"] if look.why else []
        if said:
            more = f"; so do {len(said) - 1} more of its answers" if len(said) > 1 else ""
            yield f"{look.contender}: {said[0]}{more}"
    for of in side_by_side(looks):
        yield from difference_notes(of, "no star, unless answers_may_differ")


def expected_by(looks: Sequence[Look]) -> dict[tuple[str, str | None], str]:
    """For a TrialSetup."""
    return {
        (look.contender, look.asked): "".join(of.line() for of in look.expected)
        for look in looks
        if look.expected
    }


def look_at_all(study: Study, setup: TrialSetup) -> list[Look]:
    cells: dict[str, dict[str, Cell]] = {}
    for cell in study.cells:
        if cell.contender in study.contenders and (asked := asked_of(cell)):
            cells.setdefault(cell.contender, {})[asked] = cell
    found: dict[tuple[str, str], list[list[Answer]]] = {}
    faults: dict[str, str] = {}
    for number in range(PROCESSES if cells else 0):
        begun_s = time.monotonic()
        for name in cells.keys() - faults.keys():
            try:
                for asked, answers in answers_of(setup, cells[name]):
                    before = found.get((name, asked), [[] for _ in answers])
                    both = zip(before, answers, strict=True)
                    found[name, asked] = [first + second for first, second in both]
            except HostLostError:
                raise
            except (RegattaError, OSError, SubprocessError) as error:
                faults[name] = str(error)
        if number == 0:
            time.sleep(max(0.0, begun_s + APART_S - time.monotonic()))
    return [
        Look(name, asked, (), faults[name])
        if name in faults
        else Look(name, asked, tuple(map(expected, found[name, asked])))
        for name, by_asked in cells.items()
        for asked in by_asked
    ]


def answers_of(
    setup: TrialSetup, cells: dict[str, Cell]
) -> Iterator[tuple[str, list[list[Answer]]]]:
    """Of one process, to all that it is asked; TrialError if one is none to compare with."""
    setup.clear_scratch()
    first = next(iter(cells.values()))
    contender = setup.contenders[first.contender]
    if contender.uncompared:
        raise TrialError(contender.uncompared)
    with setup.side(setup.placement.server, SERVER, accounted=True) as server:
        target = start_server(setup, first, (), server)
        for asked, cell in cells.items():
            file = contender.sent if cell.requests is not None else None
            requests = [Request(path=asked)] if file is None else file.requests
            answers = ask_http(target, requests, TIMES, setup.placement.client, contender.speaks)
            for request, of in zip(requests, answers, strict=True):
                for answer in of:
                    if not is_right(answer, request.status):
                        raise TrialError(f"it answers {answer.status} to {answer.asked}")
            yield asked, answers
        stop_server(setup, first, server)
