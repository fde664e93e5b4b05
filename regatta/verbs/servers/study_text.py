"""The study that does what a command line of `regatta versus` does, as TOML, and what time
allows.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from regatta.judge.statistics.blocks_needed import FEWEST_BLOCKS, FEWEST_SITTINGS
from regatta.measure.race.run_plan import MOST_SPOILT
from regatta.measure.trial.warming import SLICE_COSTS_S, WarmUps
from regatta.record.study import Study, limits
from regatta.show.numbers import plural
from regatta.show.text import duration
from regatta.verbs.servers.servers import Server

# What the time allows: how many processes of each server, warmed, and how long each is measured.
# The process is the independent unit, so a race takes as many as fit. Where warming is long, fewer
# processes are each measured for longer.

MOST_BLOCKS = 200
COSTS_S = 0.5
"""Of a process: starting it, looking at it until it listens, stopping it."""
LONG_S = 3.0
"""A window of a server that takes long to be warm."""


def fit(
    study: Study, warm_ups: WarmUps, left_s: float, needs_flips: bool, say: Callable[[str], None]
) -> Study:
    """The study with the blocks that `left_s` allows.

    `needs_flips`: never fewer than sign flips need, even if it takes longer.
    """
    warm_s = {cell.contender: warm_ups.expected_s(cell) for cell in study.cells}
    block_s = block_seconds(study, warm_ups)
    blocks = int(left_s / block_s) - study.counted_blocks
    if blocks < FEWEST_BLOCKS and study.counted_blocks:
        study = study.but(counted_blocks=0)
        blocks = int(left_s / block_s)
    few = blocks < FEWEST_BLOCKS and not needs_flips
    if few:
        long = tuple(replace(cell, duration_s=LONG_S) for cell in study.cells)
        study = study.but(cells=long)
        block_s = block_seconds(study, warm_ups)
        blocks = max(FEWEST_SITTINGS, int(left_s / block_s))
    blocks = min(MOST_BLOCKS, max(blocks, FEWEST_SITTINGS if few else FEWEST_BLOCKS))
    each = ", ".join(f"{name} {duration(seconds)}" for name, seconds in warm_s.items())
    say(
        f"a process is warm after about: {each}; {duration(left_s)} allow "
        f"{plural(blocks, 'process', 'processes')} of each, {plural(blocks, 'block')} of "
        f"{duration(block_s)}"
    )
    fewest = FEWEST_SITTINGS if few else FEWEST_BLOCKS
    # A trial may fail: the fewest are to be left. A verdict for CI plans its looks for the blocks
    # that there is time for.
    most = blocks if needs_flips else max(blocks, fewest + MOST_SPOILT)
    return study.but(blocks=fewest, most_blocks=most, few_blocks=few)


def block_seconds(study: Study, warm_ups: WarmUps) -> float:
    return sum(
        COSTS_S
        + warm_ups.expected_s(cell)
        + (cell.duration_s or 0.0)
        + study.slices * SLICE_COSTS_S
        for cell in study.cells
    )


BLOCKS = 6
"""The fewest that carry a verdict."""
OVERHEAD_S = 3.0
"""Of a trial, beside its load: starting, warming up and stopping a server."""
SEARCH_BLOCKS = 3
"""The fewest whose ratio can be told from 1."""
SLICES = 4
TRIAL_S = 1.0
SHARE = 0.5
"""Of what the weakest holds: the rate at which all are compared."""


@dataclass(frozen=True)
class Wanted:
    """What a person asks of the comparison."""

    path: str = "/"
    connections: tuple[int, ...] = (50,)
    short: bool = False
    """Whether each request has a connection of its own."""
    width_percent: float = 5.0
    placement: str = "auto"
    time_s: int = 120
    """The race takes no more blocks than fit into it, but for the fewest that carry a verdict."""
    requests: Path | None = None
    """A file of requests, instead of the path."""
    raw: str | None = None
    """What servers of another protocol are sent, with escapes, instead of the path."""
    until: str | None = None
    """What their reply ends with."""
    warmup_limit_s: float = limits.DEFAULT_WARMUP_LIMIT_S
    cold: int | None = None
    """Only so many requests, the first after the start."""
    answers_may_differ: bool = False
    search_blocks: int = SEARCH_BLOCKS
    rates: Mapping[int, int] | None = None
    """By number of connections; None: half of what the weakest holds."""

    ready_timeout_s: int | None = None
    """Of commands; None: the usual one."""
    p99_limit_ms: float = limits.DEFAULT_P99_LIMIT_MS

    def most_blocks(self, servers: int) -> int:
        block_s = servers * len(self.connections) * (TRIAL_S + OVERHEAD_S)
        return min(MOST_BLOCKS, max(BLOCKS, round(self.time_s / block_s)))


def study_text(servers: Sequence[Server], wanted: Wanted, folder: Path) -> str:
    """`folder`: where the study will lie; commands below it are named relative to it."""
    return "\n".join(_lines(servers, wanted, folder)) + "\n"


def _lines(servers: Sequence[Server], wanted: Wanted, folder: Path) -> Iterator[str]:
    yield "# Written by regatta versus; race it again with: regatta race FILE"
    yield f"name = {_text('versus')}"
    yield f"title = {_text(' versus '.join(one.name for one in servers))}"
    yield ""
    yield "[race]"
    yield f"blocks = {BLOCKS}"
    yield f"most_blocks = {wanted.most_blocks(len(servers))}"
    yield f"width_percent = {wanted.width_percent:g}"
    # Images share one port, so they cannot run at once; the first requests come in one go.
    if wanted.cold is None and not any(one.image for one in servers):
        yield f"slices = {SLICES}"
    yield f"search_blocks = {wanted.search_blocks}"
    yield "counted_blocks = 1"
    yield f"warmup_limit_s = {wanted.warmup_limit_s:g}"
    if wanted.answers_may_differ:
        yield "answers_may_differ = true"
    yield ""
    yield "[placement]"
    yield f"kind = {_text(wanted.placement)}"
    for one in servers:
        if not one.design:
            yield ""
            yield from _contender(one, wanted, folder)
    if wanted.rates is None:
        yield from _load(servers, wanted, wanted.connections, None)
    else:
        for connections, rate in wanted.rates.items():
            yield from _load(servers, wanted, (connections,), rate)


def _load(
    servers: Sequence[Server], wanted: Wanted, connections: Sequence[int], rate: int | None
) -> Iterator[str]:
    yield ""
    yield "[[cells]]"
    for key, design in (("designs", True), ("contenders", False)):
        names = [one.name for one in servers if one.design is design]
        if names:
            yield f"{key} = {_list(names)}"
    yield f"connections = [{', '.join(map(str, connections))}]"
    yield 'work = "snapshot"'
    yield f"dialect = {_text('http' if wanted.raw is None else 'line')}"
    if rate is None:
        yield 'load = "matched"'
        yield f"shares = [{SHARE:g}]"
        if wanted.p99_limit_ms != limits.DEFAULT_P99_LIMIT_MS:
            yield f"p99_limit_ms = {wanted.p99_limit_ms:g}"
    else:
        yield f'load = "open"\nrate = {rate}'
    yield f"duration_s = {TRIAL_S:g}" if wanted.cold is None else f"cold = {wanted.cold}"
    if wanted.short:
        yield "per_connection = 1"


def _contender(one: Server, wanted: Wanted, folder: Path) -> Iterator[str]:
    """A command is started where it was typed: by env, which becomes the server."""
    yield f"[contenders.{_text(one.name)}]"
    if wanted.ready_timeout_s is not None:
        yield f"ready_timeout_s = {wanted.ready_timeout_s}"
    if one.was_early:
        yield 'ready = "answer"'
    if one.image is not None:
        yield f"image = {_text(one.image)}"
        yield f"port = {one.port}"
        # Process 1 of a container ignores a signal that it has no handler for.
        yield 'stop_signal = "SIGKILL"'
        yield from _asked(one, wanted, folder)
        return
    words = list(one.command)
    if one.folder is not None:
        same = one.folder.resolve() == folder.resolve()
        words = ["env", "-C", "{folder}" if same else str(one.folder.resolve()), *words]
    yield f"command = {_list(words)}"
    yield from _asked(one, wanted, folder)
    if one.ready_line is not None and not one.was_early:
        yield 'ready = "line"'
        yield f"ready_line = {_text(one.ready_line)}"


def _asked(one: Server, wanted: Wanted, folder: Path) -> Iterator[str]:
    if wanted.requests is not None:
        file = wanted.requests.absolute()
        inside = file.is_relative_to(folder.absolute())
        yield f"requests = {_text(str(file.relative_to(folder.absolute()) if inside else file))}"
    elif wanted.raw is not None:
        yield 'dialect = "line"'
        yield f"request = {_text(wanted.raw)}"
        yield f"until = {_text(wanted.until or '')}"
    else:
        yield f"path = {_text(one.path or wanted.path)}"


def _text(value: str) -> str:
    """A basic string of TOML: JSON's, but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


def _list(values: Sequence[str]) -> str:
    return f"[{', '.join(map(_text, values))}]"
