"""A look at each server before the race: does it start, what does it answer, and does it end?

Every server is started alone on loopback, as a trial would start it. The race's client asks it, and
then each request is sent three times. What makes a comparison meaningless is an error; what makes
it unfair is a note. What its answers must be under load is looked at in the race itself
(race/look.py).
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from regatta.errors import RegattaError, TrialError
from regatta.measure.network import ports
from regatta.measure.perf import Perf
from regatta.measure.places.sides import Placement
from regatta.measure.processes import descendants_left
from regatta.measure.programs import Programs
from regatta.measure.race.place_sides import place_sides
from regatta.measure.trial import answers as replies
from regatta.measure.trial.program import READY_POLL_S
from regatta.measure.trial.server import start_server, stop_server
from regatta.measure.trial.setup import TrialSetup
from regatta.measure.trial.side import Side
from regatta.measure.trial.trial import DYING_S
from regatta.record.cell import Cell
from regatta.record.records import SERVER
from regatta.record.study import Study
from regatta.record.study.limits import (
    CONTAINERS,
    DEFAULT_P99_LIMIT_MS,
    HTTP,
    HTTP2,
    LOOPBACK,
    UNSTEERED,
)
from regatta.record.study.request_file import Request
from regatta.show.numbers import plural
from regatta.verbs.servers import client

DEFAULT_PATH = "/top?n=2"
"""What a design of ours is asked for."""
MOST_ASKED = 20
"""Of the requests of a file."""
QUIET_S = 1.0
"""From one answer to the next; longer for slow servers."""
LOG_LINES = 20
ENOUGH, NEARLY_ALL = 8, 0.9
"""For a note: connections for each accepting process, and the share that one of them takes."""
P99_FACTOR = 5
P99_LIMITS_MS = (DEFAULT_P99_LIMIT_MS, 100.0, 200.0, 500.0, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4)
NS_PER_MS = 1e6
SERVER_ERROR = 500
MOST_SAID = 200
LARGE = 64 << 10
"""Bytes of a request."""
ONLY_IPV6 = (
    "it listens only on ::1, not on 127.0.0.1 (`localhost` may mean either); let it listen on "
    "{host}, 127.0.0.1 or 0.0.0.0"
)
ONLY_INSIDE = (
    "it listens only on 127.0.0.1, where no other container reaches it; let it listen on 0.0.0.0"
)
UNHEARD = "it does not answer: {why}"
RAW = "raw"
UNANSWERED = {
    "timeout": "it does not answer within 10 s",
    "malformed": "its answer cannot be read: {why}",
    RAW: "it does not answer --raw so that --until matches: {why}",
}
"""By the kind of the client's error."""


@dataclass(frozen=True)
class Seen:
    """What one server did."""

    name: str
    answers: tuple[replies.Answer, ...] = ()
    expected: tuple[replies.Expected, ...] = ()
    """What it answers to each request."""
    only_on_loopback: bool = False
    """Whether clients of other networks cannot reach it."""
    logs: bool = False
    """Whether it printed something for each request."""
    tried: int = 1
    """How many clients connected at once, as in the race ..."""
    connected: int = 1
    """... how many of them succeeded at the first attempt ..."""
    answered: int = 1
    """... and how many of these were answered while all were connected."""
    taken: tuple[int, ...] = ()
    """On several CPUs, how many connections each accepting process took, the most first."""
    was_early: bool = False
    """Whether it listened before it could answer."""
    p99_ms: float = 0.0
    """Of one client alone."""
    speaks: str = HTTP
    runs: bool = False
    """Whether others have started it ..."""
    pid: int | None = None
    """... and its first process, if its CPU time can be read ..."""
    on_clients_cpus: bool = False
    """... and whether that may run where the clients do."""
    fault: str | None = None
    """Why it cannot be raced, in one line."""
    log: tuple[str, ...] = ()
    """The last lines that it printed, if it cannot be raced."""

    @property
    def queue_is_short(self) -> bool:
        """Whether some clients must try again, and wait a second or more."""
        return self.connected < self.tried

    @property
    def at_once(self) -> int:
        """How many clients it serves at once, or twice as many as it is sure to take."""
        return min(self.connected, 2 * self.answered)

    @property
    def leaves_waiting(self) -> str:
        """Clients that are connected but never answered; empty if there are none."""
        if self.answered == self.connected:
            return ""
        many = "one keep-alive connection" if self.answered == 1 else f"{self.answered} of them"
        return f"answers {many} at a time, and leaves other clients waiting"


def look_at(study: Study, programs: Programs) -> list[Seen]:
    """Each contender of the study once, one after the other."""
    by_connections = sorted(study.cells, key=lambda cell: cell.connections)
    cells = {cell.contender: cell for cell in by_connections}  # of each, the one with the most
    placed = study.but(placement=LOOPBACK) if study.placement != CONTAINERS else study
    with (
        place_sides(placed.but(steering=UNSTEERED), programs) as placement,
        tempfile.TemporaryDirectory(prefix="regatta-versus-") as folder,
    ):
        setup = TrialSetup(
            programs=programs,
            placement=placement,
            perf=Perf(),
            events=study.events,
            scratch=Path(folder) / "trial",
            contenders=study.contenders,
            folder=study.folder,
        )
        return [_look(setup, cell) for cell in cells.values()]


def faults(seen: Sequence[Seen]) -> list[str]:
    """What must be put right before a race, a line for each server."""
    return [f"{server.name}: {server.fault}" for server in seen if server.fault is not None]


def notes(seen: Sequence[Seen], checked: bool = False) -> Iterator[str]:
    """What a reader of the verdict must know. `checked`: answers in HTTP are compared under load,
    and the race tells what of them is not."""
    running = [server for server in seen if server.runs]
    if running:
        names = ", ".join(server.name for server in running)
        yield f"not started by the race, so how starts differ is in no interval: {names}"
    if unread := ", ".join(server.name for server in running if server.pid is None):
        yield (
            f"CPU time and memory cannot be read from here: {unread}; of a server on this host "
            "name the --account"
        )
    if any(server.speaks != HTTP for server in seen):
        yield f"asked in: {', '.join(f'{server.name} {server.speaks}' for server in seen)}"
    for server in seen:
        name = server.name
        if server.on_clients_cpus:
            yield (
                f"{name} may run on the client's CPUs: pin it, as by taskset -acp CPU {server.pid}"
            )
        if any(answer.closes for answer in server.answers):
            yield f"{name} closes the connection after each answer: its clients must reconnect"
        if server.logs:
            yield f"{name} prints something for each request: turn its log off, or log in all"
        enough = len(server.taken) > 1 and server.connected >= ENOUGH * len(server.taken)
        if enough and server.taken[0] >= NEARLY_ALL * server.connected:
            others = plural(len(server.taken) - 1, "other has", "others have")
            yield (
                f"{name} lets one worker accept nearly all connections, {server.taken[0]} of "
                f"{server.connected}: {others} little to do"
            )
    loose = [
        server
        for server in seen
        if not checked or server.expected and server.expected[0].status is None
    ]
    for server in loose:
        if len({(answer.asked, answer.body) for answer in server.answers}) > len(server.expected):
            yield f"{server.name} answers differently each time"
    known = {server.name: server.expected for server in loose}
    yield from replies.difference_notes(known, "the work may differ too")


def queue_notes(seen: Sequence[Seen], raced_over: int | None) -> Iterator[str]:
    """Of servers that take few clients at once. `raced_over`: fewer connections, for their sake."""
    for server in seen:
        then = (
            f"raced over {raced_over}"
            if raced_over is not None
            else "the other clients wait a second or more in each trial; enlarge its backlog, "
            f"or use --connections {client.fewer(server.connected)}"
        )
        if server.queue_is_short:
            yield (
                f"{server.name} took only {server.connected} of {server.tried} connections that "
                f"were opened at once, as its listen queue is short: {then}"
            )
        elif server.leaves_waiting and raced_over is not None:
            yield f"{server.name} {server.leaves_waiting}: {then}"


def stalls(seen: Sequence[Seen]) -> list[str]:
    """Servers that never answer some of so many clients."""
    return [
        f"{server.name}: it {server.leaves_waiting}; give it more workers, or use --connections "
        f"{server.answered} or --short"
        for server in seen
        if server.leaves_waiting
    ]


def p99_limit_ms(seen: Sequence[Seen]) -> tuple[float, str]:
    """The same for all, so that a slow answer alone is no overload; and a note if it is not usual.

    A round number, so that a race can be repeated under the same limit.
    """
    slowest = max(seen, key=lambda server: server.p99_ms)
    enough = P99_FACTOR * slowest.p99_ms
    limit = next((ms for ms in P99_LIMITS_MS if ms >= enough), P99_LIMITS_MS[-1])
    if limit == P99_LIMITS_MS[0]:
        return limit, ""
    return limit, (
        f"a rate is held up to a p99 of {limit:g} ms, as {slowest.name} takes "
        f"{slowest.p99_ms:.3g} ms without load; --p99-limit sets another"
    )


def _look(setup: TrialSetup, cell: Cell) -> Seen:
    setup.clear_scratch()
    with setup.side(setup.placement.server, SERVER, accounted=True) as server:
        try:
            target = start_server(setup, cell, (), server)
            seen = _seen(setup, cell, target, server)
            stop_server(setup, cell, server)
            check_stopped(server)
        except TrialError as error:
            died = server.ended(DYING_S) and "exited" not in str(error)
            why = server.failure(f"the server died ({error})") if died else error
            log = tuple(server.last_output()[-LOG_LINES:])
            return Seen(cell.contender, fault=_fault(str(why), server), log=log)
        except RegattaError as error:
            return Seen(cell.contender, fault=str(error))
    return seen


def _seen(setup: TrialSetup, cell: Cell, target: str, server: Side) -> Seen:
    """TrialError if it cannot be raced."""
    placement = setup.placement
    port = int(target.rpartition(":")[2])
    hosts = placement.server.ask(ports.listening_at, placement.network_of, port)
    confined = server.running.is_ours and ports.are_loopback(hosts)
    if confined and set(hosts) == {ports.IPV6_LOOPBACK}:
        raise TrialError(ONLY_IPV6)
    if confined and placement.is_private:
        raise TrialError(ONLY_INSIDE)
    before, requests = _printed(server), _requests(setup, cell)
    was_early, setup = _wait_answered(setup, cell, target, server)
    contender = setup.contenders.get(cell.contender)
    speaks = HTTP if contender is None else contender.speaks
    # In another protocol the client itself compares each reply with what it must end with.
    compared = contender is None or not contender.uncompared
    asked = _ask(target, requests, placement, speaks) if requests and compared else []
    asked = asked or [[] for _ in requests]  # streams and messages are not compared
    for request, of in zip(requests, asked, strict=True):
        for answer in of:
            if not replies.is_right(answer, request.status):
                raise _not_right(answer, cell, server)
    answers = tuple(answer for of in asked for answer in of)
    load = client.under_load(setup, cell, target)
    logs = 2 * (_printed(server) - before) >= len(answers) + load["requests"]
    p99_ms = (load["latency_ns"]["p99"] or 0) / NS_PER_MS
    tried = min(cell.connections, client.MOST_TRIED)
    keeps = requests and not cell.per_connection and speaks == HTTP and compared
    again = replies.spelled(requests[0], target) if keeps else b""
    if len(again) > LARGE:  # no socket takes all of it at once
        again = b""
    patience_s = QUIET_S + P99_FACTOR * p99_ms / 1000
    spread_of = server.pid if len(placement.server.cpus) > 1 else None
    connected, answered, taken = client.taken_at_once(target, tried, again, patience_s, spread_of)
    return Seen(
        name=cell.contender,
        answers=answers,
        expected=tuple(replies.expected(of) for of in asked if of),
        only_on_loopback=confined,
        logs=logs,
        tried=tried,
        connected=connected,
        answered=answered,
        taken=taken,
        was_early=was_early,
        p99_ms=p99_ms,
        speaks=speaks,
        runs=not server.running.is_ours,
        pid=server.pid,
        on_clients_cpus=not server.running.is_ours
        and server.pid is not None
        and not os.sched_getaffinity(server.pid).isdisjoint(placement.client.cpus),
    )


def _ask(
    target: str, requests: Sequence[Request], placement: Placement, speaks: str
) -> list[list[replies.Answer]]:
    """The answers to each request; none of a server that speaks HTTP/2 alone."""
    try:
        return replies.ask_http(target, requests, client.TIMES, placement.client, speaks)
    except TrialError:
        if speaks in HTTP2:
            return [[] for _ in requests]
        raise


def _wait_answered(
    setup: TrialSetup, cell: Cell, target: str, server: Side
) -> tuple[bool, TrialSetup]:
    """Waits for a first good answer; returns whether an earlier one was none, and what the server
    speaks, in the setup. TrialError if there is no answer, or it cannot be read; a wrong status is
    left for others to tell."""
    ends_s = time.monotonic() + server.patience_s
    was_early = False
    while (outcome := client.by_client(setup, cell, target)).why:
        if server.ended():
            raise server.failure("the server exited before it was ready")
        if outcome.is_foreign and not was_early:
            if other := client.speaking_other(setup, cell, target):
                return was_early, other
            if said := client.greeting(target):
                raise TrialError(said)
        if not outcome.is_early or time.monotonic() > ends_s:
            if outcome.kind == "refused":
                break
            kind = outcome.kind if cell.until is None else RAW
            raise TrialError(UNANSWERED.get(kind, UNHEARD).format(why=outcome.why))
        was_early = True
        time.sleep(READY_POLL_S)
    return was_early, setup


def _requests(setup: TrialSetup, cell: Cell) -> Sequence[Request]:
    """In HTTP; empty in another protocol."""
    contender = setup.contenders.get(cell.contender)
    if contender is not None and contender.sent is not None:
        return contender.sent.requests[:MOST_ASKED]
    return [Request(path=cell.path or DEFAULT_PATH)] if cell.until is None else []


def _not_right(answer: replies.Answer, cell: Cell, server: Side) -> RegattaError:
    """With what the server said of an error of its own: it printed that, or answered so."""
    why = f"it answers {answer.status} to {answer.asked}"
    if cell.requests is not None:
        return RegattaError(f'{why}; correct the request, or expect it: "status": {answer.status}')
    if (answer.status or 0) < SERVER_ERROR:
        return TrialError(why)
    found = server.failure(why)
    said = answer.body[:MOST_SAID].decode(errors="replace").strip().partition("\n")[0]
    readable = "html" not in answer.content_type and said and str(found) == why
    return TrialError(f"{why}: {said}") if readable else found


def check_stopped(server: Side) -> None:
    """TrialError if it has left its session as a daemon does: no signal would reach it there."""
    if not server.running.is_ours:
        return
    assert server.pid is not None
    for pid in descendants_left(server.pid):
        with suppress(ProcessLookupError):
            if os.getsid(pid) != server.running.process.pid:
                raise TrialError("it went on in the background; it must stay in the foreground")


def _printed(server: Side) -> int:
    """Lines of its output so far."""
    files = (server.folder / f"{server.name}.{stream}" for stream in ("stdout", "stderr"))
    return sum(file.read_bytes().count(b"\n") for file in files if file.exists())


def _fault(why: str, server: Side) -> str:
    """With what to do."""
    if "was not ready" in why and (other := elsewhere(server)):
        return f"{other}; it must listen on {{port}} ({why})"
    return client.advised(why)


def elsewhere(server: Side) -> str:
    """Where it listens instead; empty if nowhere."""
    pid = server.running.process.pid
    every = (pid, *descendants_left(pid))
    found = {port for each in every for port in ports.ports_of(each, ports.LISTEN)}
    return f"it listens on port {', '.join(map(str, sorted(found)))}" if found else ""
