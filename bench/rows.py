"""What a row of the tables compares, and its goal."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from statistics import fmean

from bench.readings import ReaderTrial
from bench.servers import Load, Ours, Server, Twin, serving
from bench.sleepers import NO_SLEEPERS, Sleepers
from bench.testbed import Figures, Testbed


@dataclass(frozen=True)
class ServerTrial:
    """A fresh server under a load. Rows with equal trials share the measurements."""

    server: Server
    load: Load
    sleepers: Sleepers = NO_SLEEPERS

    @property
    def name(self) -> str:
        among = "" if self.sleepers == NO_SLEEPERS else f", {self.sleepers.name}"
        return f"{self.server.name} under {self.load.name}{among}"

    def check(self) -> None:
        self.server.check()
        self.load.check()

    def lack(self, designs: Mapping[str, str | None]) -> str | None:
        """Why it cannot run here; None if it can."""
        return lack(self.server, designs) or self.load.lack() or self.sleepers.lack()

    def run(self, testbed: Testbed) -> Figures:
        testbed.sleepers.want(self.sleepers)
        with serving(testbed, self.server) as started:
            return self.load.run(testbed, self.server, started)


@dataclass(frozen=True)
class Turns:
    """Servers that run at the same time and take turns under every load.

    The slices are short, so the machine's drift affects all servers alike, and a waiting server
    costs nothing. The order is ABBA, which cancels linear drift within two turns.
    """

    servers: tuple[Server, ...]
    loads: tuple[Load, ...]
    turns: int

    @property
    def name(self) -> str:
        return f"{', '.join(server.name for server in self.servers)} by turns"

    def trials(self) -> list[ServerTrial]:
        return [ServerTrial(server, load) for load in self.loads for server in self.servers]

    def run(self, testbed: Testbed) -> dict[ServerTrial | ReaderTrial, Figures]:
        """Each trial's figures: means over its slices."""
        testbed.sleepers.want(NO_SLEEPERS)
        slices: dict[ServerTrial, list[Figures]] = {trial: [] for trial in self.trials()}
        with ExitStack() as stack:
            started = {
                server: stack.enter_context(serving(testbed, server, f"server-{number}"))
                for number, server in enumerate(self.servers)
            }
            for turn in range(self.turns):
                for trial in self.trials() if turn % 2 == 0 else reversed(self.trials()):
                    one = trial.load.run(testbed, trial.server, started[trial.server])
                    slices[trial].append(one)
        return {trial: mean_figures(found) for trial, found in slices.items()}


def mean_figures(slices: list[Figures]) -> Figures:
    return {name: fmean(figures[name] for figures in slices) for name in slices[0]}


@dataclass(frozen=True)
class Best:
    """A load for the server that costs least in a separate screening."""

    servers: tuple[Server, ...]
    screened_under: Load
    load: Load

    def screening(self) -> list[ServerTrial | ReaderTrial]:
        return [ServerTrial(server, self.screened_under) for server in self.servers]


@dataclass(frozen=True)
class Target:
    """The bound of a row's value."""

    bound: float
    at_least: bool = False
    """The value should not be below the bound; else it should not be above."""
    down_to: float | None = None
    """The lower bound, if the value should lie between two."""

    def side(self, value: float) -> int:
        """0 if the goal is met, -1 if the value is too low, 1 if too high."""
        if self.at_least:
            return -1 if value < self.bound else 0
        if self.down_to is not None and value < self.down_to:
            return -1
        return 1 if value > self.bound else 0

    def is_met(self, value: float) -> bool:
        return self.side(value) == 0

    def __str__(self) -> str:
        if self.down_to is not None:
            return f"{self.down_to:g} to {self.bound:g}"
        return f"{'≥' if self.at_least else '≤'} {self.bound:g}"


@dataclass(frozen=True)
class Row:
    """One line of the table: the ratio of ours to the peer's or, without a peer, our value.

    Trials of one group run close together within a block, as they are compared.
    """

    name: str
    group: str
    figure: str
    ours: ServerTrial | ReaderTrial | Best
    peer: ServerTrial | ReaderTrial | None
    goal: Target | None
    most_blocks: int | None = None
    """Fewer blocks, for values that vary little and take long; None: all blocks."""
    turns: Turns | None = None
    """The turns that measure its two trials; None: each trial runs by itself."""

    def trials(self) -> list[ServerTrial | ReaderTrial]:
        ours = self.ours.screening() if isinstance(self.ours, Best) else [self.ours]
        return ours if self.peer is None else [*ours, self.peer]

    def runs(self) -> Sequence[ServerTrial | ReaderTrial | Turns]:
        """The runs that it needs."""
        return self.trials() if self.turns is None else [self.turns]


def present(row: Row, designs: Mapping[str, str | None]) -> Row | str:
    """The row as it can be measured here, or the reason why it is left out.

    `designs`: this server's designs, each with None or the reason why it cannot run here.
    """
    if isinstance(row.ours, Best):
        servers = tuple(server for server in row.ours.servers if not lack(server, designs))
        if not servers:
            return f"this server has none of {', '.join(s.name for s in row.ours.servers)}"
        row = replace(row, ours=replace(row.ours, servers=servers))
    return next(filter(None, (trial.lack(designs) for trial in row.trials())), row)


def lack(server: Server, designs: Mapping[str, str | None]) -> str | None:
    """Why one of our servers or its twin cannot run here; None if it can, or if it is a peer."""
    if not isinstance(server, Ours | Twin):
        return None
    return designs.get(server.design, f"this server has no design {server.design}")
