"""Finds the rate that each contender holds, block by block, by short probes at several rates.

Each probe is recorded before the next one runs, so a stopped search can be resumed.
"""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import replace

import numpy as np

from regatta.errors import HopelessRaceError, RegattaError
from regatta.measure.race.events import RaceNote, Searched, Searching, Tell
from regatta.measure.race.run_plan import Repeats
from regatta.measure.trial.load import SEEDS_PER_BLOCK
from regatta.measure.trial.measure import disturbed_by
from regatta.measure.trial.server import stop_server
from regatta.measure.trial.setup import TrialSetup
from regatta.measure.trial.trial import RunningTrial, with_scratch
from regatta.measure.trial.warming import SLICE_S
from regatta.record.cell import Cell, MatchedCell, matched_cells
from regatta.record.files import need_room
from regatta.record.rate_search import LOWEST, Search, held_by, searches, why_not_held
from regatta.record.records import CLOSED, KNEE, SEARCH, TIMED, PlannedProbe, Probe
from regatta.record.samples import ANSWERED, pack_samples, records_in
from regatta.record.study import Study, with_rates
from regatta.record.write import Ledger

NS_PER_S = 1e9


def backlog_growth(samples: bytes, duration_s: float) -> float:
    """Growth of the backlog, as a share of the requests due in the second half of the window.

    The backlog is the requests that are due and not answered. Its minimum in the last quarter is
    compared with that in the second quarter: the difference is what half a window adds, and a pause
    that is recovered within a quarter does not show. One request more does not count as growth.
    """
    records = records_in(samples)
    if len(records) == 0:
        return 0.0
    answered = records[records["error"] == ANSWERED]
    times = np.concatenate([records["start_ns"], answered["end_ns"]])
    steps = np.repeat(np.array([1, -1]), [len(records), len(answered)])
    order = np.argsort(times, kind="stable")
    times, backlog = times[order], np.cumsum(steps[order])
    marks = records["start_ns"].min() + np.arange(5) * (duration_s * NS_PER_S / 4)
    at = np.searchsorted(times, marks, side="right")
    second, last = (backlog[max(0, at[quarter - 1] - 1) : at[quarter]].min() for quarter in (2, 4))
    grown = int(last - second)
    due = np.count_nonzero(records["start_ns"] >= marks[2])
    return grown / due if grown > 1 else 0.0


class ProbeServer(AbstractContextManager["ProbeServer"]):
    """One server for several probes, as in a trial; a new one after a failure. Use it in a `with`
    statement, which stops the server."""

    def __init__(self, setup: TrialSetup, cell: MatchedCell) -> None:
        self.setup = setup
        self.cell = cell
        self.stack = ExitStack()
        self.running: RunningTrial | None = None

    def __exit__(self, *_: object) -> None:
        """A bad exit status is ignored here, as trials will show it."""
        if self.running is not None:
            with suppress(RegattaError, OSError):
                stop_server(self.setup, self.cell, self.running.server)
        self.stack.close()
        shutil.rmtree(self.setup.scratch, ignore_errors=True)

    def start(self) -> RunningTrial:
        """A fresh server, warmed up, unless one is running.

        By a closed load, the fastest: the race's rate is not known yet. A later process is not
        watched for longer than it needs: a probe tells nothing of its cost.
        """
        if self.running is None:
            self.setup.clear_scratch()
            plain = replace(self.setup, whole_cost=False)
            running = RunningTrial(plain, self.cell.closed(SLICE_S), TIMED, self.stack)
            running.start()
            self.running = running  # only now can it be stopped
            warming = running.warming
            while not running.is_warm and (warming.needs_requests or not warming.follows):
                running.warm_slice()
        return self.running

    def load(self, planned: PlannedProbe) -> Cell:
        if planned.kind == CLOSED:
            return self.cell.closed(planned.duration_s)
        return self.cell.at(planned.rate, planned.duration_s)

    def probe(self, planned: PlannedProbe, seed: int) -> Probe:
        """Runs a probe; a failure means that the rate is not held."""
        self.setup.placement.need()
        started_at = time.time()
        running = self.start()
        if not running.failed:
            running.run_slice(self.load(planned), seed)
        if running.failed:
            failed = running.result
            self.stack.close()
            self.running = None
            need_room(self.setup.scratch.parent)
            return Probe(planned, f"failed: {failed.reason}", started_at, client=failed.client)
        window = running.windows.pop()
        why_not = None
        if planned.kind != CLOSED:
            growth = backlog_growth(window.samples, planned.duration_s)
            why_not = why_not_held(window.client, self.cell.p99_limit_ms, growth)
        return Probe(
            planned=planned,
            why_not=why_not,
            started_at=started_at,
            disturbed=disturbed_by(self.setup, window),
            client=window.client,
            samples=pack_samples(window.samples) if planned.kind == KNEE else None,
        )


SHORTEST_S, LONGEST_S = 0.3, 1.0
REQUESTS_PER_CONNECTION = 20
"""With fewer requests, a growing backlog cannot be distinguished from chance."""
FEWEST_REQUESTS = 100
"""Fewer requests have no p99."""
KNEE_SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
"""Shares of the rate that the contender itself holds."""


def find_cells(ledger: Ledger, study: Study, setup: TrialSetup, tell: Tell) -> tuple[Cell, ...]:
    """The cells of the race, once the held rates are known."""
    finder = Finder(ledger, study, setup, tell)
    for block in range(1, study.search_blocks + 1):
        finder.search_all(block)
    for block in range(1, study.search_blocks + 1):
        finder.knee_all(block)
    dropped = [
        f"{cell.contender} does not hold {LOWEST} requests a second ({first.why}), and is not in "
        "this race"
        for number, cell in enumerate(finder.cells, start=1)
        for first in finder.searches(number)[:1]
        if first.held == 0
    ]
    for line in dropped:
        tell(RaceNote(line))
    cells = with_rates(study.cells, finder.held())
    if not cells:
        raise HopelessRaceError(f"there is nothing to race: {dropped[0]}")
    return cells


def search_s(rate: int, connections: int) -> float:
    """Duration of a probe: short at high rates, as a search takes many."""
    wanted_s = REQUESTS_PER_CONNECTION * connections / rate
    return max(SHORTEST_S, min(LONGEST_S, wanted_s), FEWEST_REQUESTS / rate)


class Finder:
    """The searches of a race."""

    def __init__(self, ledger: Ledger, study: Study, setup: TrialSetup, tell: Tell) -> None:
        self.ledger = ledger
        self.setup = setup
        self.tell = tell
        self.blocks = study.search_blocks
        self.in_turns = study.slices > 1
        self.cells = matched_cells(study.cells)
        self.repeats = Repeats()
        self.probes = ledger.probes()
        """All valid probes, in order."""
        kneed = sum(cell.knee for cell in self.cells)
        self.turns = self.blocks * (len(self.cells) + kneed)
        self.turn = self.turns_run = 0
        self.started_s = time.monotonic()

    def searches(self, number: int, blocks: int | None = None) -> list[Search]:
        return searches(number, self.probes, blocks or self.blocks)

    def held(self) -> dict[MatchedCell, float]:
        return held_by(self.cells, self.probes, self.blocks)

    def order(self, kind: str, block: int) -> list[tuple[int, MatchedCell]]:
        """All contenders in a new random order."""
        numbered = list(enumerate(self.cells, start=1))
        random.Random(f"{self.setup.seed} {kind} {block}").shuffle(numbered)
        return numbered

    def search_all(self, block: int) -> None:
        """Those that are compared take turns, a probe each, if they may run side by side: drift of
        the machine affects all of them alike then."""
        heats: dict[object, list[tuple[int, MatchedCell]]] = {}
        for number, cell in self.order(SEARCH, block):
            found = self.searches(number, block)
            if len(found) < block or found[-1].next_rate() is None:
                self.turn += 1
                continue
            key = cell.comparison_key() if self.in_turns else number
            heats.setdefault(key, []).append((number, cell))
        for heat in heats.values():
            self.search_heat(heat, block)

    def search_heat(self, heat: Sequence[tuple[int, MatchedCell]], block: int) -> None:
        with ExitStack() as stack:
            servers = {
                number: stack.enter_context(ProbeServer(with_scratch(self.setup, number), cell))
                for number, cell in heat
            }
            left = {
                number: self.limited_search(server, number, block)
                for number, server in servers.items()
            }
            while left:
                for number, search in list(left.items()):
                    cell, rate = servers[number].cell, search.next_rate()
                    if rate is None:
                        del left[number]
                        self.turn += 1
                        says = f"holds {search.held:,} a second; beyond, {search.why}"
                        self.ended(cell, block, says)
                        continue
                    self.tell(Searching(cell, block, self.blocks, rate))
                    planned = PlannedProbe(
                        number, SEARCH, block, rate, search_s(rate, cell.connections)
                    )
                    search.record(rate, self.run(servers[number], planned).why_not)

    def limited_search(self, server: ProbeServer, number: int, block: int) -> Search:
        """The block's search so far, after a closed load has measured the client's capacity.

        If that load fails, no limit is set, and only the client's own report limits the search.
        """
        closed = PlannedProbe(number, CLOSED, block, 0, SHORTEST_S)
        if closed not in [probe.planned for probe in self.probes]:
            self.tell(Searching(server.cell, block, self.blocks, None))
            self.run(server, closed)
        return self.searches(number, block)[-1]

    def knee_all(self, block: int) -> None:
        for number, cell in self.order(KNEE, block):
            if not cell.knee:
                continue
            self.turn += 1
            left = self.knee_left(number, cell, block)
            if not left:
                continue
            with ProbeServer(self.setup, cell) as server:
                for planned in left:
                    self.tell(Searching(cell, block, self.blocks, planned.rate))
                    self.run(server, planned)
            self.ended(cell, block, f"latency measured at {len(left)} rates")

    def knee_left(self, number: int, cell: MatchedCell, block: int) -> list[PlannedProbe]:
        """The missing probes of a latency knee, in a new random order."""
        held = self.held()[cell]
        done = {
            probe.planned.share
            for probe in self.probes
            if (probe.planned.search_id, probe.planned.kind) == (number, KNEE)
            and probe.planned.block == block
        }
        shares = list(KNEE_SHARES)
        random.Random(f"{self.setup.seed} {number} {block}").shuffle(shares)
        assert cell.duration_s is not None, "a matched load has a duration"
        rates = [(max(1, round(share * held)), share) for share in shares]
        return [
            PlannedProbe(
                number, KNEE, block, rate, max(cell.duration_s, FEWEST_REQUESTS / rate), share
            )
            for rate, share in rates
            if held > 0 and share not in done
        ]

    def run(self, server: ProbeServer, planned: PlannedProbe) -> Probe:
        """Runs and records a probe, and repeats it while other programs disturb it.

        A rate that is held despite a disturbance is held; only its latency is not trusted.
        """
        attempt, again = 0, True
        while again:
            attempt += 1
            probe = server.probe(planned, planned.block * SEEDS_PER_BLOCK + len(self.probes))
            spoilt = planned.kind != SEARCH or probe.why_not is not None
            again = self.repeats.wanted(spoilt and probe.disturbed is not None, attempt)
            again = again and self.has_time()
            self.ledger.record_probe(probe, again)
            if note := self.repeats.note():
                self.tell(RaceNote(note))
        self.probes.append(probe)
        return probe

    def has_time(self) -> bool:
        """Whether no more than a third of the race's time has been spent."""
        ends_s = self.setup.ends_s
        return ends_s is None or 3 * time.monotonic() < 2 * self.started_s + ends_s

    def ended(self, cell: MatchedCell, block: int, says: str) -> None:
        self.turns_run += 1
        per_turn_s = (time.monotonic() - self.started_s) / self.turns_run
        left_s = per_turn_s * (self.turns - self.turn)
        self.tell(Searched(cell, block, self.blocks, self.turn, self.turns, says, left_s))
