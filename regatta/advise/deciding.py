"""The deciding study: exactly this situation, for the designs in question."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from regatta.advise.limits import POOLS_THAT_HOLD
from regatta.advise.power import Spread, spread
from regatta.advise.ranking import Ranking
from regatta.advise.situation import Situation
from regatta.report.text.numbers import percent
from regatta.study.limits import DEFAULT_REQUESTS, MAX_REQUESTS

MARK = "# Written by `regatta advise`."
SEEN = 1.05
"""The ratio that the study should detect at 80 % power."""
FEWEST_BLOCKS, MOST_BLOCKS = 8, 60
TYPICAL_BLOCKS = 12
OVERHEAD_S = 0.3
"""Seconds of a trial besides its load: start, warm-up, stop."""
DURATION_S = 0.5
MOST_WORKERS = 64
# One design of each strategy that scales to many connections.
STRATEGIES = ("thread-per-client", "epoll", "epoll-workers", "reactors", "uring")


@dataclass(frozen=True)
class Deciding:
    designs: list[str]
    blocks: int
    seconds: float
    """About how long it takes."""
    toml: str
    cannot: str
    """Why this machine cannot run it; empty if it can."""


def deciding_study(
    situation: Situation, ranking: Ranking | None, known: Sequence[str], cpus: int
) -> Deciding | None:
    """None if only one design serves the situation.

    `known` are the designs that run on this machine, `cpus` its number of CPUs.
    """
    designs = _designs(ranking, known)
    if len(designs) < 2:
        return None
    spreads = _spreads(ranking)
    blocks = _blocks(spreads, len(designs))
    cell, load_s = _cell(situation, ranking)
    lines = [
        MARK,
        f"# Which of {', '.join(designs)} for {situation.words()}?",
        'name = "advise"',
        f'title = "{situation.words()}"',
        "",
        "[race]",
        f"blocks = {blocks}{_purpose(spreads, blocks, len(designs))}",
        "counted_blocks = 2",
    ]
    if situation.memory_bytes is not None:
        lines.append("whole_cost = true")
    cannot = ""
    if situation.cpus is not None:
        server, client = range(situation.cpus), range(situation.cpus, cpus)
        if not client:
            cannot = f"it needs {situation.cpus} CPUs and one for the client; there are {cpus}"
            client = range(situation.cpus, situation.cpus + 1)
        lines += ["", "[placement]"]
        lines += [f"server_cpus = {list(server)}", f"client_cpus = {list(client)}"]
    for group, workers in _groups(designs, situation):
        names = ", ".join(f'"{name}"' for name in group)
        lines += ["", "[[cells]]", f"designs = [{names}]"]
        lines += [f"workers = {workers}"] if workers else []
        lines += cell
    seconds = (blocks + 2) * len(designs) * (load_s + OVERHEAD_S)
    return Deciding(designs, blocks, seconds, "\n".join(lines) + "\n", cannot)


def _designs(ranking: Ranking | None, known: Sequence[str]) -> list[str]:
    if ranking is None or not ranking.favoured:
        return [name for name in STRATEGIES if name in known]
    best = ranking.favoured[0].measured.design
    return [best, *(one.measured.design for one in ranking.rivals)]


def _groups(designs: list[str], situation: Situation) -> list[tuple[list[str], int]]:
    """Splits the designs: a pool of blocking workers needs a worker for each connection."""
    pools = [name for name in designs if name.startswith(POOLS_THAT_HOLD)]
    others = [name for name in designs if name not in pools]
    workers = min(max(situation.connections, 1), MOST_WORKERS)
    return [(group, size) for group, size in ((others, 0), (pools, workers)) if group]


def _spreads(ranking: Ranking | None) -> list[Spread]:
    """For each rival, how its ratio to the best varies in the nearest race."""
    if ranking is None or not ranking.favoured:
        return []
    best = ranking.favoured[0].measured
    known = [spread(best, one.measured) for one in ranking.rivals]
    return [one for one in known if one is not None]


def _blocks(spreads: Sequence[Spread], designs: int) -> int:
    needed = [one.needed(SEEN, designs, FEWEST_BLOCKS, MOST_BLOCKS) for one in spreads]
    return max(needed, default=TYPICAL_BLOCKS)


def _purpose(spreads: Sequence[Spread], blocks: int, designs: int) -> str:
    """A comment on what this number of blocks detects, given the noise of the nearest race."""
    if not spreads:
        return ""
    seen = max(one.seen(blocks, designs) for one in spreads)
    return f"    # a difference of {percent(seen - 1)} is detectable at 80 % power"


def _cell(situation: Situation, ranking: Ranking | None) -> tuple[list[str], float]:
    """The TOML lines of a group without its designs, and about how long its load takes."""
    near = None if ranking is None else ranking.group.cell
    dialect = "http" if near is None else near.dialect
    lines = [f"connections = {situation.busy}", f'work = "{situation.work}"']
    if situation.idle:
        lines.append(f"idle = {situation.idle}")
    lines.append(f'dialect = "{dialect}"')
    for key in ("path", "request"):
        if asked := getattr(near, key, None):
            lines.append(f"{key} = {json.dumps(asked)}")
    if situation.rate is None and near is not None and near.load == "burst":
        requests = max(DEFAULT_REQUESTS, situation.busy)
        return [*lines, 'load = "burst"', f"requests = {min(requests, MAX_REQUESTS)}"], DURATION_S
    duration = DURATION_S if near is None or near.duration_s is None else near.duration_s
    if situation.rate is not None:
        # A trial of few requests has no p99.
        duration = min(max(duration, DEFAULT_REQUESTS / situation.rate), 10.0)
        lines += ['load = "open"', f"rate = {situation.rate}"]
    else:
        lines.append('load = "closed"')
    lines.append(f"duration_s = {duration:g}")
    if near is not None and near.per_connection:
        lines.append(f"per_connection = {near.per_connection}")
    return lines, duration
