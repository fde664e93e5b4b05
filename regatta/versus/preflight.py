"""A look at each server before the race: does it start, what does it answer, and does it end?

Every server is started alone on loopback, as a trial would start it, and gets each request three
times. What makes a comparison meaningless is an error; what makes it unfair is a note. What its
answers must be under load is looked at in the race itself (race/look.py).
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from regatta.errors import RegattaError, TrialError
from regatta.ledger.cell import Cell
from regatta.ledger.result import SERVER
from regatta.machine.guard import descendants_left
from regatta.machine.network.ports import listening_ports, only_on_loopback
from regatta.machine.network.steering import NONE
from regatta.machine.perf.stat import without_perf
from regatta.machine.programs import Programs
from regatta.machine.sides.placement import CONTAINERS, LOOPBACK, Placement
from regatta.race.place_sides import place_sides
from regatta.study import Study
from regatta.study.request_file import Request
from regatta.trial.answers import (
    Answer,
    Expected,
    ask_http,
    difference_notes,
    differences,
    expected,
    is_right,
)
from regatta.trial.server import start_server, stop_server
from regatta.trial.setup import TrialSetup
from regatta.trial.side import Side
from regatta.versus.listen_queue import MOST_TRIED, connected_at_once, fewer
from regatta.versus.raw import TIMES, ask_raw

STREAMS = ("stdout", "stderr")
TAKEN = re.compile(r"EADDRINUSE|address already in use|Address in use", re.IGNORECASE)
DEFAULT_PATH = "/top?n=2"
"""What a design of ours is asked for."""
MOST_ASKED = 20
"""Of the requests of a file."""


@dataclass(frozen=True)
class Seen:
    """What one server did."""

    name: str
    answers: tuple[Answer, ...] = ()
    expected: tuple[Expected, ...] = ()
    """What it answers to each request."""
    only_on_loopback: bool = False
    """Whether clients of other networks cannot reach it."""
    logs: bool = False
    """Whether it printed something for each request."""
    tried: int = 1
    """How many clients connected at once, as in the race ..."""
    connected: int = 1
    """... and how many of them succeeded at the first attempt."""
    fault: str | None = None
    """Why it cannot be raced, in one line."""

    @property
    def queue_is_short(self) -> bool:
        """Whether some clients must try again, and wait a second or more."""
        return self.connected < self.tried


def look_at(study: Study, programs: Programs) -> list[Seen]:
    """Each contender of the study once, one after the other."""
    by_connections = sorted(study.cells, key=lambda cell: cell.connections)
    cells = {cell.contender: cell for cell in by_connections}  # of each, the one with the most
    placed = study.but(placement=LOOPBACK) if study.placement != CONTAINERS else study
    with (
        place_sides(placed.but(steering=NONE), programs) as placement,
        tempfile.TemporaryDirectory(prefix="regatta-versus-") as folder,
    ):
        setup = TrialSetup(
            programs=programs,
            placement=placement,
            perf=without_perf(None),
            events=study.events,
            scratch=Path(folder) / "trial",
            contenders=study.contenders,
            folder=study.folder,
        )
        return [_look(setup, placement, cell) for cell in cells.values()]


def faults(seen: Sequence[Seen]) -> list[str]:
    """What must be put right before a race, a line for each server."""
    return [f"{one.name}: {one.fault}" for one in seen if one.fault is not None]


def notes(seen: Sequence[Seen], checked: bool = False) -> Iterator[str]:
    """What a reader of the verdict must know. `checked`: answers in HTTP are compared under load,
    and the race tells what of them is not."""
    for one in seen:
        if any(answer.closes for answer in one.answers):
            yield f"{one.name} closes the connection after each answer: its clients must reconnect"
        if one.logs:
            yield f"{one.name} prints something for each request: turn its log off, or log in all"
    loose = [one for one in seen if not checked or one.expected and one.expected[0].status is None]
    for one in loose:
        if len({(of.asked, of.body) for of in one.answers}) > len(one.expected):
            yield f"{one.name} answers differently each time"
    known = {one.name: one.expected for one in loose}
    yield from difference_notes(known, "the work may differ too")


def queue_notes(seen: Sequence[Seen], raced_over: int | None) -> Iterator[str]:
    """Of servers with a short listen queue. `raced_over`: fewer connections, for their sake."""
    for one in seen:
        if one.queue_is_short:
            then = (
                f"raced over {raced_over}"
                if raced_over is not None
                else "the other clients wait a second or more in each trial; enlarge its backlog, "
                f"or use --connections {fewer(one.connected)}"
            )
            yield (
                f"{one.name} took only {one.connected} of {one.tried} connections that were "
                f"opened at once, as its listen queue is short: {then}"
            )


def differing(seen: Sequence[Seen]) -> dict[str, str]:
    """By name, what it answers otherwise than the others."""
    return differences({one.name: one.expected for one in seen})


def _look(setup: TrialSetup, placement: Placement, cell: Cell) -> Seen:
    setup.clear_scratch()
    with setup.side(placement.server, SERVER, accounted=True) as server:
        try:
            target = start_server(setup, cell, (), server)
            port = int(target.rpartition(":")[2])
            confined = placement.server.ask(only_on_loopback, placement.network_of, port)
            if confined and placement.is_private:
                raise TrialError(
                    "it listens only on 127.0.0.1, where no other container reaches it; let it "
                    "listen on 0.0.0.0"
                )
            before = _printed(server)
            asked = _answers(setup, cell, target)
            answers = tuple(answer for of in asked for answer in of)
            logs = _printed(server) - before >= len(answers)
            tried = min(cell.connections, MOST_TRIED)
            connected = connected_at_once(target, tried)
            stop_server(setup, cell, server)
            check_stopped(server)
        except TrialError as error:
            return Seen(cell.contender, fault=_advice(str(error), server))
        except RegattaError as error:
            return Seen(cell.contender, fault=str(error))
    listed = cell.requests is not None
    wrong = next((answer for answer in answers if not is_right(answer)), None)
    fault = None
    if wrong is not None:
        advice = "correct the request" if listed else "name a path that it serves with --path"
        fault = f"it answers {wrong.status} to {wrong.asked}; {advice}"
    each = () if fault else tuple(map(expected, asked))
    return Seen(cell.contender, answers, each, confined, logs, tried, connected, fault)


def _answers(setup: TrialSetup, cell: Cell, target: str) -> list[list[Answer]]:
    """To each request."""
    if cell.until is not None:
        return [ask_raw(setup, cell, target)]
    contender = setup.contenders.get(cell.contender)
    requests: Sequence[Request] = [Request(cell.path or DEFAULT_PATH)]
    if contender is not None and contender.requests is not None:
        requests = contender.requests.requests[:MOST_ASKED]
    return ask_http(target, requests, TIMES, setup.placement.client)


def check_stopped(server: Side) -> None:
    """TrialError if it has left its session as a daemon does: no signal would reach it there."""
    assert server.pid is not None
    for pid in descendants_left(server.pid):
        with suppress(ProcessLookupError):
            if os.getsid(pid) != server.process.pid:
                raise TrialError("it went on in the background; it must stay in the foreground")


def _printed(server: Side) -> int:
    """Lines of its output so far."""
    return sum(
        path.read_bytes().count(b"\n")
        for path in (server.folder / f"{server.name}.{stream}" for stream in STREAMS)
        if path.exists()
    )


def _advice(why: str, server: Side) -> str:
    """With what most often helps."""
    if TAKEN.search(why):
        return (
            f"{why}; let it listen on {{port}} alone, or stop the program that has its other port"
        )
    if any(when in why for when in ("before it was ready", "before it was stopped")):
        return f"{why}; it must stay in the foreground and listen on {{port}}"
    if "was not ready" in why:
        return f"{elsewhere(server) or why}; it must listen on {{port}}"
    return why


def elsewhere(server: Side) -> str:
    """Where it listens instead; empty if nowhere."""
    pid = server.process.pid
    ports = {port for one in (pid, *descendants_left(pid)) for port in listening_ports(one)}
    return f"it listens on port {', '.join(map(str, sorted(ports)))}" if ports else ""
