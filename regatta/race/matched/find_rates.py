"""Finds the rate that each contender holds, block by block, before the race is planned.

Each probe is recorded before the next one runs, so a stopped search can be resumed.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from contextlib import ExitStack

from regatta.errors import HopelessRaceError
from regatta.ledger.cell import Cell, MatchedCell, matched_cells
from regatta.ledger.probe import CLOSED, KNEE, SEARCH, PlannedProbe, Probe
from regatta.ledger.rate_search import LOWEST, Search, held_by, searches
from regatta.ledger.write import Ledger
from regatta.race.events import Note, Searched, Searching, Tell
from regatta.race.matched.probe_server import ProbeServer, probe_server
from regatta.race.repeats import Repeats
from regatta.study import Study, with_rates
from regatta.trial.load import SEEDS_PER_BLOCK
from regatta.trial.setup import TrialSetup
from regatta.trial.trial import with_scratch

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
    nothing = notes_on_dropped(finder)
    for line in nothing:
        tell(Note(line))
    cells = with_rates(study.cells, finder.held())
    if not cells:
        raise HopelessRaceError(f"there is nothing to race: {nothing[0]}")
    return cells


def notes_on_dropped(finder: Finder) -> list[str]:
    """One line for each contender that holds no rate."""
    return [
        f"{cell.contender} does not hold {LOWEST} requests a second ({search.why}), and is not "
        "in this race"
        for number, cell in enumerate(finder.cells, start=1)
        for search in finder.searches(number)[:1]
        if search.held == 0
    ]


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
                number: stack.enter_context(probe_server(with_scratch(self.setup, number), cell))
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
            with probe_server(self.setup, cell) as server:
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
                self.tell(Note(note))
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
