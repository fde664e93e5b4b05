"""What a person asks of a comparison, what its time allows, and the study that does the same."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from string import ascii_letters, digits, punctuation
from typing import Any
from urllib.parse import quote

from regatta.errors import StudyError, UsageError
from regatta.judge.statistics.blocks_needed import FEWEST_BLOCKS, FEWEST_SITTINGS
from regatta.measure.race.run_plan import MOST_SPOILT
from regatta.measure.trial.warming import SLICE_COSTS_S, WarmUps
from regatta.record.study import Study, limits, parse_study
from regatta.record.study.find import Design
from regatta.record.study.limits import HTTP, HTTPS
from regatta.record.study.parse import WHY_BLOCKS
from regatta.record.study.race import traced_blocks
from regatta.show.numbers import plural
from regatta.show.text import duration
from regatta.verbs.servers.client import check_raw
from regatta.verbs.servers.servers import Server

ANY = "/"
PRINTED = ascii_letters + digits + punctuation
BLOCKS, MOST_BLOCKS = 6, 200
"""The fewest that carry a verdict, and how many are enough."""
OVERHEAD_S = 3.0
"""Of a trial, beside its load: starting, warming up and stopping a server."""
SEARCH_BLOCKS = 3
"""The fewest whose ratio can be told from 1."""
SLICES = 4
TRIAL_S = 1.0
SHARED = ("with", "setup", "teardown", "port")
"""Keys of servers that cannot run at the same time."""
SHARE = 0.5
"""Of what the weakest holds: the rate at which all are compared."""


@dataclass(frozen=True)
class Wanted:
    path: str = ANY
    connections: tuple[int, ...] = (50,)
    short: bool = False
    """Whether each request has a connection of its own."""
    width_percent: float = 5.0
    placement: str = "auto"
    server_cpus: tuple[int, ...] | None = None
    client_cpus: tuple[int, ...] | None = None
    """None: the lab chooses."""
    time_s: int = 120
    """The race takes no more blocks than fit into it, but for the fewest that carry a verdict."""
    requests: Path | None = None
    """A file of requests, instead of the path."""
    body: Path | None = None
    """A file that is posted to the path."""
    raw: str | None = None
    """What servers of another protocol are sent, with escapes, instead of the path."""
    until: str | None = None
    """What their reply ends with."""
    warmup_limit_s: float = limits.DEFAULT_WARMUP_LIMIT_S
    cold: int | None = None
    """Only so many requests, the first after the start."""
    answers_may_differ: bool = False
    search_blocks: int = SEARCH_BLOCKS
    ready_timeout_s: int | None = None
    """Of commands; None: the usual one."""
    p99_limit_ms: float | None = None
    """None: the usual one, or more if a server is slow without load."""
    why: bool = False
    """Whether to sample what the servers' CPU time is spent on."""
    http2: bool = False
    """Whether to ask in HTTP/2 ..."""
    websocket: bool = False
    """Whether to send messages instead, which must come back."""
    grpc: Path | None = None
    """The encoded message of a gRPC call of the path."""
    streams: int | None = None
    """... and how many requests each connection carries at once; None: one."""
    events: int | None = None
    """Server-sent events that each answer is left after; None: answers are none."""
    needs: Mapping[str, Any] = field(default_factory=dict)
    """More keys of each command's `[contenders.NAME]`: `env`, `setup` and the like."""

    def spoken(self, server: Server) -> str:
        """What it is asked in, unless the look before the race finds another."""
        if server.speaks is not None:
            return server.speaks
        if self.grpc is not None or self.websocket:
            return (limits.WEBSOCKET if self.websocket else limits.GRPC)[server.tls]
        if self.http2:
            return "h2" if server.tls else "h2c"
        return HTTPS if server.tls else HTTP

    @property
    def encoded_path(self) -> str:
        """As HTTP writes it."""
        return quote(self.path, safe=PRINTED)

    def most_blocks(self, servers: int) -> int:
        block_s = servers * len(self.connections) * (TRIAL_S + OVERHEAD_S)
        return min(MOST_BLOCKS, max(BLOCKS, round(self.time_s / block_s)))

    def check(self, servers: Sequence[Server], client: Path) -> None:
        """UsageError unless all servers can be asked that."""
        asks_path = self.path != ANY and self.body is None and self.grpc is None
        given = {"--path": asks_path, "--request": self.requests, "--raw": self.raw}
        given |= {"--body": self.body, "--grpc": self.grpc}
        options = [option for option, value in given.items() if value not in (None, False)]
        if len(options) > 1:
            raise UsageError(f"{' and '.join(options)} exclude each other; choose one")
        if (self.raw is None) != (self.until is None):
            raise UsageError("--raw TEXT and --until REGEX need each other; give both")
        running = [server.name for server in servers if server.address is not None]
        if running and self.placement not in {limits.AUTO, limits.LOOPBACK}:
            raise UsageError(f"{running[0]} runs already: remove --placement {self.placement}")
        if running and self.cold is not None:
            raise UsageError(
                f"{running[0]} runs already: its first requests are past; remove --cold"
            )
        if self.needs and len(running) == len(servers):
            raise UsageError("all servers run already, and need nothing; remove what starts them")
        if self.needs and all(server.design for server in servers):
            raise UsageError("designs need nothing; remove what starts servers of your own")
        paths = [server.path for server in servers if server.address is not None and server.path]
        if paths and options:
            raise UsageError(
                f"{options[0]} and the path {paths[0]} of an address exclude each other"
            )
        designs = [server.name for server in servers if server.design]
        if designs and options and options != ["--path"]:
            raise UsageError(
                f"{options[0]} is only for commands; {designs[0]} is a design, which answers only "
                "its own paths; leave it out"
            )
        self._check_protocol(servers, designs)
        if self.raw is not None and self.until is not None:
            check_raw(client, self.raw, self.until)

    def _check_protocol(self, servers: Sequence[Server], designs: Sequence[str]) -> None:
        others = {"--grpc": self.grpc, "--http2": self.http2, "--events": self.events}
        given = [name for name, value in others.items() if value is not None and value is not False]
        spoken = {self.spoken(server) in limits.WEBSOCKET for server in servers}
        if len(spoken) > 1:
            raise UsageError("some servers speak WebSocket and others do not; race them apart")
        if True in spoken and given:
            raise UsageError(f"{given[0]} is not for WebSocket; remove it")
        for option in (*given, *(["--websocket"] if self.websocket else [])):
            if designs or self.raw is not None:
                what = f"the design {designs[0]}" if designs else "--raw"
                raise UsageError(f"{what} is not for {option}; remove one of them")
        if self.grpc is not None and self.path == ANY:
            raise UsageError("--grpc needs --path /PACKAGE.SERVICE/METHOD")


OPTIONS = {
    "path": "--path",
    "request": "--raw",
    "until": "--until",
    "requests": "--request",
    "body": "--body",
    "p99_limit_ms": "--p99-limit",
    "width_percent": "--width",
}
"""By key of the study, which checks what the option says."""


def study_of(
    servers: Sequence[Server], wanted: Wanted, designs: Sequence[Design], folder: Path
) -> Study:
    """The study of a comparison. UsageError for a wrong option."""
    try:
        return parse_study(study_text(servers, wanted, folder), designs, folder)
    except StudyError as error:
        named = re.sub(r"`\S*?(\w+)`", lambda key: OPTIONS.get(key[1], key[0]), str(error), count=1)
        raise UsageError(named) from error


def study_text(servers: Sequence[Server], wanted: Wanted, folder: Path) -> str:
    """`folder`: where the study will lie; commands below it are named relative to it."""
    # Images share one port, set-ups what they set up, and databases their folder; the first
    # requests come in one go.
    keys = {*wanted.needs}.union(*(server.keys for server in servers))
    shared = any(server.image for server in servers) or {*SHARED} & keys
    at_once = wanted.cold is None and not shared
    lines = [
        "# Written by regatta versus; race it again with: regatta race FILE",
        *pairs(name="versus", title=" versus ".join(server.name for server in servers)),
        *("", "[race]"),
        *pairs(
            blocks=BLOCKS,
            most_blocks=wanted.most_blocks(len(servers)),
            width_percent=wanted.width_percent,
            slices=SLICES if at_once else None,
            search_blocks=wanted.search_blocks,
            counted_blocks=1,
            sampled_blocks=WHY_BLOCKS if wanted.why else None,
            warmup_limit_s=wanted.warmup_limit_s,
            answers_may_differ=wanted.answers_may_differ or None,
        ),
        *("", "[placement]"),
        *pairs(
            kind=wanted.placement, server_cpus=wanted.server_cpus, client_cpus=wanted.client_cpus
        ),
    ]
    for server in servers:
        if not server.design:
            lines += ["", f"[contenders.{toml(server.name)}]", *contender(server, wanted, folder)]
    usual = wanted.p99_limit_ms == limits.DEFAULT_P99_LIMIT_MS
    lines += ["", "[[cells]]"]
    lines += pairs(
        designs=[server.name for server in servers if server.design] or None,
        contenders=[server.name for server in servers if not server.design] or None,
        connections=wanted.connections,
        work="snapshot",
        dialect="http" if wanted.raw is None else "line",
        load="matched",
        shares=[SHARE],
        p99_limit_ms=None if usual else wanted.p99_limit_ms,
        duration_s=TRIAL_S if wanted.cold is None else None,
        cold=wanted.cold,
        per_connection=1 if wanted.short else None,
    )
    return "\n".join(lines) + "\n"


def contender(server: Server, wanted: Wanted, folder: Path) -> Iterator[str]:
    """A command is started where it was typed, if not elsewhere."""
    cwd = None
    if server.folder is not None:
        here = server.folder.resolve()
        cwd = "{folder}" if here == folder.resolve() else str(here)
    needs = wanted.needs if server.address is None else {}
    replaced = {"ready_line"} if "ready" in needs else set()
    own = {key: value for key, value in server.keys.items() if key not in replaced}
    asked = {
        key: own[key] | value if key in own and isinstance(value, dict) else value
        for key, value in needs.items()
    }
    given = {
        "ready": "answer" if server.was_early else None,
        "address": server.address,
        "account": server.account,
        "speaks": speaks if (speaks := wanted.spoken(server)) != HTTP else None,
        "streams": wanted.streams,
        "events": wanted.events,
        "cpus": server.cpus,
        "ready_timeout_s": wanted.ready_timeout_s,
        "image": server.image,
        "port": server.port,
        # Process 1 of a container ignores a signal that it has no handler for.
        "stop_signal": "SIGKILL" if server.image else None,
        "cwd": cwd,
        "shell": True if server.shell else None,
        "command": None if own else server.shell or server.command or None,
    }
    yield from pairs(**own | {key: of for key, of in given.items() if of is not None} | asked)
    if wanted.requests is not None:
        yield from pairs(requests=within(folder, wanted.requests))
    elif wanted.raw is not None:
        yield from pairs(dialect="line", request=wanted.raw, until=wanted.until)
    else:
        yield from pairs(path=server.path or wanted.encoded_path)
        body = wanted.grpc or wanted.body
        if body is not None:
            yield from pairs(body=within(folder, body))


def within(folder: Path, file: Path) -> str:
    """Its name in this folder, or its whole one elsewhere."""
    file, here = file.absolute(), folder.absolute()
    return str(file.relative_to(here) if here in file.parents else file)


def pairs(**values: Any) -> list[str]:
    """A line for each that is not None."""
    return [f"{key} = {toml(value)}" for key, value in values.items() if value is not None]


def toml(value: Any) -> str:
    """As JSON, but for DEL, which a basic string of TOML must escape too."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{toml(name)} = {toml(each)}' for name, each in value.items())} }}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


# The process is the independent unit, so a race takes as many as fit. Where warming is long, fewer
# processes are each measured for longer.

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
    fit_in = int(left_s / block_seconds(study, warm_ups))
    further = (study.counted_blocks, study.sampled_blocks), (0, study.sampled_blocks)
    counted, sampled = next(
        (of for of in further if fit_in - sum(of) - traced_blocks(of[1]) >= FEWEST_BLOCKS), (0, 0)
    )
    if study.sampled_blocks > sampled == 0:
        needed_s = left_s * 2 * FEWEST_BLOCKS / max(1, fit_in)
        say(f"there is no time for --why, which needs about {duration(needed_s)} of --time")
    study = study.but(counted_blocks=counted, sampled_blocks=sampled)
    blocks = fit_in - counted - sampled - traced_blocks(sampled)
    few = blocks < FEWEST_BLOCKS and not needs_flips
    if few:
        study = study.but(cells=tuple(replace(cell, duration_s=LONG_S) for cell in study.cells))
        blocks = int(left_s / block_seconds(study, warm_ups))
    blocks = min(MOST_BLOCKS, max(blocks, FEWEST_SITTINGS if few else FEWEST_BLOCKS))
    each = ", ".join(f"{name} {duration(seconds)}" for name, seconds in warm_s.items())
    say(
        f"a process is warm after about: {each}; {duration(left_s)} allow "
        f"{plural(blocks, 'process', 'processes')} of each, {plural(blocks, 'block')} of "
        f"{duration(block_seconds(study, warm_ups))}"
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
