"""`[[cells]]`: each group is the cross product of its lists."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import product
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, ValidationInfo, model_validator

from regatta.errors import StudyError
from regatta.record.cell import MATCHED, PROCESS, WINDOW, Cell, MatchedCell
from regatta.record.study import keys, limits
from regatta.record.study.contender import (
    Contender,
    HttpPath,
    RequestLine,
    Until,
    mistakes_in_asked,
)
from regatta.record.study.keys import Many, number, seconds, whole

LOAD_KEYS = {
    "requests": ("burst",),
    "rounds": ("burst",),
    "duration_s": ("closed", "open", MATCHED),
    "per_connection": ("closed", "open", MATCHED),
    "rate": ("open",),
    "arrivals": ("open", MATCHED),
    "shares": (MATCHED,),
    "p99_limit_ms": (MATCHED,),
    "knee": (MATCHED,),
}
"""The loads that each of these keys belongs to."""
ALL = "all"
LISTS = (
    *("dialect", "engine", "workers", "idle", "slow", "scope", "backlog"),
    *("connections", "contender"),
)
"""Keys for which a group has a cell per value, besides `work` and `load`."""


def all_designs(value: Any, info: ValidationInfo) -> Any:
    return list(info.context["designs"]) if value == ALL and info.context else value


class CellGroup(keys.TomlTable):
    designs: Annotated[
        Many[Annotated[str, keys.among("designs")]], BeforeValidator(all_designs)
    ] = ()
    contenders: Many[Annotated[str, keys.among("contenders")]] = ()
    connections: Many[keys.Connections] = (50,)
    work: Many[keys.Work] = ("scan",)
    load: Many[keys.Load] = ("burst",)
    engine: Many[keys.Engine] = ("epoll",)
    dialect: Many[keys.Dialect] = ("line",)
    path: HttpPath | None = None
    request: RequestLine | None = None
    until: Until | None = None
    requests: Annotated[int, whole(1, limits.MAX_REQUESTS)] = 200
    rounds: Annotated[int, whole(1, 1_000_000)] | None = None
    duration_s: Annotated[float, seconds(3_600)] = 1.0
    per_connection: Annotated[int, whole(0, limits.MAX_REQUESTS)] = 0
    rate: Many[keys.Rate] = ()
    arrivals: Annotated[str, keys.one_of(limits.ARRIVALS)] = "even"
    shares: Many[Annotated[float, number(0.01, 1)]] = (0.25, 0.5, 0.75)
    p99_limit_ms: Annotated[float, number(0.1, 60_000)] = limits.DEFAULT_P99_LIMIT_MS
    knee: keys.Flag = False
    idle: Many[keys.BackgroundConnections] = (0,)
    slow: Many[keys.BackgroundConnections] = (0,)
    workers: Many[keys.Workers | None] = (None,)
    top: Annotated[int, whole(1, 64)] = 2
    max_age_ms: Annotated[int, whole(1, 3_600_000)] = 100
    scope: Many[Annotated[str, keys.one_of(limits.SCOPES)]] = (WINDOW,)
    linger_s: Annotated[float, seconds(600)] = 0.0
    backlog: Many[keys.Backlog | None] = (None,)
    counts_taskset: keys.Flag = False
    cold: Annotated[int, whole(1, limits.MAX_REQUESTS)] | None = None
    """Race the first requests after the start, without a warm-up."""

    @model_validator(mode="before")
    @classmethod
    def name_all_contenders(cls, content: Any, info: ValidationInfo) -> Any:
        """`contenders = "all"`: those that serve the group's path."""
        if not (isinstance(content, dict) and content.get("contenders") == ALL and info.context):
            return content
        path = content.get("path")
        names = [
            name
            for name, contender in info.context["contenders"].items()
            if path is None or contender.serves is None or path in contender.serves
        ]
        return {**content, "contenders": names}

    @property
    def loads(self) -> tuple[str, ...]:
        """The default for contenders is a matched load, because nothing is known about them."""
        unknown = self.has("contenders") and not self.has("scope") and not self.has("load")
        return (MATCHED,) if unknown else self.load

    def mistakes(self) -> Iterator[tuple[str, str]]:
        yield from self._what_is_needed()
        yield from self._what_belongs_to_a_load()
        yield from self._what_belongs_to_a_scope()

    @model_validator(mode="after")
    def check_contenders(self, info: ValidationInfo[dict[str, Any]]) -> Self:
        for mistake in self._what_contenders_allow(info.context):
            raise keys.wrong(*mistake)
        return self

    def _what_is_needed(self) -> Iterator[tuple[str, str]]:
        if not self.designs and not self.contenders:
            yield "", "has neither `designs` nor `contenders`; add one of them"
        if not self.has("connections") and self.loads != (MATCHED,):
            yield "", "has no `connections`; add it"
        for load, key in (("closed", "duration_s"), ("open", "duration_s"), ("open", "rate")):
            if load in self.loads and not self.has(key):
                yield "", f"has the load {load} but no `{key}`; add it"

    def _what_belongs_to_a_load(self) -> Iterator[tuple[str, str]]:
        for key, owners in LOAD_KEYS.items():
            if self.has(key) and not set(owners) & set(self.loads):
                has = ", ".join(self.loads)
                yield key, f"is only for the load {' or '.join(owners)}; this group has {has}"
        if self.has("rounds") and self.has("requests"):
            yield "", "has both `rounds` and `requests`; keep one of them"
        if self.has("max_age_ms") and all(limits.scans_each_request(work) for work in self.work):
            yield "max_age_ms", "is only for the work snapshot, wait or spin; remove it"
        # Only the engine epoll supports background connections and open loads.
        other = next((engine for engine in self.engine if engine != "epoll"), None)
        for key in ("idle", "slow"):
            if other and self.has(key):
                yield key, f"needs the engine epoll; this group has {other}"
        for load in ("open", MATCHED):
            if other and load in self.loads:
                yield "", f"has the load {load}, which needs the engine epoll, not {other}"

    def _what_belongs_to_a_scope(self) -> Iterator[tuple[str, str]]:
        """A whole process serves bursts, as in published reports that count whole processes."""
        if PROCESS in self.scope and (self.loads != ("burst",) or self.has("requests")):
            yield (
                "",
                'has scope = "process", which allows only the load burst, with `rounds` instead of '
                "`requests`; put other cells into another group",
            )
        for key in ("linger_s", "counts_taskset"):
            if self.has(key) and PROCESS not in self.scope:
                yield key, 'is only for scope = "process"; remove one of them'
        if self.cold is not None and (PROCESS in self.scope or "closed" in self.loads):
            yield "cold", "is only for the loads burst, open and matched over the window"

    def _what_contenders_allow(self, known: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        apart = "put it into a group without"
        for name in self.designs + self.contenders:
            if self.has("workers") and not (
                name in known["designs"] and known["designs"][name].pool
            ):
                yield "workers", f"is only for pools, and {name} has none; {apart} `workers`"
        if self.has("backlog") and self.contenders:
            command = f"the command of {self.contenders[0]} sets its own"
            yield "backlog", f"is only for designs; {command}; {apart} `backlog`"
        for name in self.contenders:
            spoken = known["contenders"][name].dialect
            if self.dialect != (spoken,):
                yield (
                    "",
                    f"has the dialect {' and '.join(self.dialect)}, but the contender {name} "
                    f'speaks {spoken}; set dialect = "{spoken}"',
                )
            yield from self._what_a_protocol_allows(name, known["contenders"][name])
        yield from mistakes_in_asked(self, self.dialect)

    def _what_a_protocol_allows(self, name: str, of: Contender) -> Iterator[tuple[str, str]]:
        """TLS and HTTP/2 are only for measured connections of the engine epoll."""
        if self.engine != ("epoll",) and of.speaks != limits.HTTP:
            yield "engine", f"must be epoll for {name}, which speaks {of.speaks}"
        if self.engine != ("epoll",) and of.events is not None:
            yield "engine", f"must be epoll for {name}, which sends events"
        for key in ("idle", "slow"):
            if of.speaks != limits.HTTP and any(getattr(self, key)):
                yield key, f"is only for plain HTTP/1.1, but {name} speaks {of.speaks}"
        if of.streams > 1 and self.per_connection:
            yield "per_connection", f"is not for {name}, whose connections carry several requests"
        for count in self.connections:
            if count % of.streams:
                yield "connections", f"must be a multiple of the {of.streams} streams of {name}"

    def rounds_of(self, connections: int) -> int:
        """The number of bursts that gives at least `requests` requests."""
        if self.cold is not None:
            return -(-self.cold // connections)
        if self.rounds is not None:
            return self.rounds
        return 1 if PROCESS in self.scope else -(-self.requests // connections)

    def cells(self, order: Sequence[str], contenders: Mapping[str, Contender]) -> Iterator[Cell]:
        """`order`: the names of all possible contenders."""
        names = self.designs + self.contenders
        lists = [names if key == "contender" else getattr(self, key) for key in LISTS]
        for work, load in product(self.work, self.loads):
            for rate in self.rate if load == "open" else (None,):
                for values in product(*lists):
                    chosen = dict(zip(LISTS, values, strict=True), work=work, load=load, rate=rate)
                    asked = self.asked(contenders.get(chosen["contender"]))
                    position = order.index(chosen["contender"])
                    yield self.cell(contender_order=position, **asked, **chosen)

    def asked(self, contender: Contender | None) -> dict[str, str | None]:
        """What the contender is asked: its own requests, or those of the group."""
        if contender is not None and contender.sent is not None:
            return {"requests": contender.sent.identity()}
        asked = {key: getattr(contender, key, None) for key in ("path", "request", "until")}
        if asked["request"] is None:
            asked["request"], asked["until"] = self.request, self.until
        asked["path"] = asked["path"] or self.path
        return asked

    def cell(self, **chosen: Any) -> Cell:
        load, scope = chosen["load"], chosen["scope"]
        values = {key: getattr(self, key) for key in ("top", "max_age_ms", "cold")}
        for key in ("duration_s", "per_connection", "arrivals", "rounds"):
            values[key] = getattr(self, key) if load in LOAD_KEYS[key] else None
        if load == "burst":
            values["rounds"] = self.rounds_of(chosen["connections"])
        elif self.cold is not None and chosen["rate"]:
            values["duration_s"] = self.cold / chosen["rate"]
        if scope == PROCESS:
            values |= {"linger_s": self.linger_s, "counts_taskset": self.counts_taskset}
        cell = Cell(**chosen, **values)
        if load != MATCHED:
            return cell
        shares = tuple(sorted(self.shares))
        return MatchedCell(
            **asdict(cell), shares=shares, p99_limit_ms=self.p99_limit_ms, knee=self.knee
        )


def all_cells(
    groups: Sequence[CellGroup], order: Sequence[str], contenders: Mapping[str, Contender]
) -> tuple[Cell, ...]:
    """`order`: the names of all designs and contenders."""
    if not groups:
        raise StudyError("the study has no cells; add a [[cells]] table")
    cells = tuple(cell for group in groups for cell in group.cells(order, contenders))
    if len(cells) > limits.MAX_CELLS:
        raise StudyError(
            f"the study has {len(cells)} cells; at most {limits.MAX_CELLS} are allowed"
        )
    seen: set[tuple[object, ...]] = set()
    sized: dict[tuple[object, ...], bool] = {}
    for cell in cells:
        if cell.identity() in seen:
            raise StudyError(f"the cell `{cell.label()}` appears twice; remove one of them")
        seen.add(cell.identity())
        # One table cannot hold a pool both with its default size and with a given size.
        table = replace(cell, rounds=None, connections=0, rate=None, idle=0, slow=0, workers=None)
        if sized.setdefault(table.identity(), cell.workers is None) != (cell.workers is None):
            raise StudyError(
                f"the pool {cell.contender} appears with and without `workers`; give `workers` in "
                "all groups that otherwise agree"
            )
    return cells
