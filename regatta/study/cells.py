"""From the [[cells]] groups of a study to its cells."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from regatta.errors import StudyError
from regatta.study.cell import PROCESS, Cell
from regatta.study.contender import Contender, read_path
from regatta.study.design import Design
from regatta.study.limits import (
    ARRIVALS,
    DEFAULT_MATCHED_CONNECTIONS,
    DEFAULT_MATCHED_S,
    DEFAULT_MAX_AGE_MS,
    DEFAULT_REQUESTS,
    DEFAULT_TOP,
    DIALECTS,
    ENGINES,
    LOADS,
    MAX_AGE_MS,
    MAX_CELLS,
    MAX_CONNECTIONS,
    MAX_DURATION_S,
    MAX_LINGER_S,
    MAX_RATE_PER_S,
    MAX_REQUESTS,
    MAX_ROUNDS,
    MAX_TOP,
    MAX_WORKERS,
    SCOPES,
    WORK_NEEDED,
    is_afresh,
    is_work,
)
from regatta.study.matched import MATCHED, read_wanted
from regatta.study.table import Table

# The loads that each of these keys belongs to.
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
CELL_KEYS = (
    "designs",
    "contenders",
    "connections",
    "work",
    "load",
    "engine",
    "dialect",
    "path",
    *LOAD_KEYS,
    "idle",
    "slow",
    "workers",
    "top",
    "max_age_ms",
    "scope",
    "linger_s",
)


def check_load_keys(table: Table, loads: Sequence[str]) -> None:
    """Keys that belong to a load which the group does not have are mistakes, not wishes."""
    for load, key in (("closed", "duration_s"), ("open", "duration_s"), ("open", "rate")):
        if load in loads and not table.has(key):
            raise StudyError(f"`{table.place}` has the load {load} and no `{key}`; add it")
    for key, owners in LOAD_KEYS.items():
        if table.has(key) and not set(owners) & set(loads):
            raise StudyError(
                f"`{table.named(key)}` is for the load {' or '.join(owners)}; "
                f"this group has {', '.join(loads)}"
            )
    if table.has("rounds") and table.has("requests"):
        raise StudyError(f"`{table.place}` has both `rounds` and `requests`; keep one of them")


def check_engine(table: Table, engines: Sequence[str], loads: Sequence[str]) -> None:
    """Only one engine can hold many connections that do different things."""
    others = [engine for engine in engines if engine != "epoll"]
    needs = [key for key in ("idle", "slow") if table.has(key)]
    needs += [load for load in ("open", MATCHED) if load in loads]
    if others and needs:
        key = table.named(needs[0])
        what = f"the load {needs[0]}" if needs[0] in loads else f"`{key}`"
        raise StudyError(f"{what} needs the engine epoll; `{table.place}` has {others[0]}")


def check_whole(table: Table, scopes: Sequence[str], loads: Sequence[str]) -> None:
    """A whole process is counted as they did who publish such counts: it serves bursts."""
    if PROCESS not in scopes:
        return
    if list(loads) != ["burst"] or table.has("requests"):
        raise StudyError(
            f"the load of scope process is burst, once or as many times as `rounds` says: "
            f"`{table.place}` has no use for `requests` or another load; put other cells into "
            "another group"
        )


def burst_rounds(table: Table, connections: int, scopes: Sequence[str]) -> int:
    """How many rounds a burst of that many connections needs to reach the aimed requests."""
    if table.has("rounds"):
        return table.integer("rounds", 1, 1, MAX_ROUNDS)
    if PROCESS in scopes:
        return 1
    requests = table.integer("requests", DEFAULT_REQUESTS, 1, MAX_REQUESTS)
    return -(-requests // connections)


def read_names(
    table: Table, designs: Sequence[Design], contenders: Mapping[str, Contender]
) -> list[str]:
    """Who is raced in a group."""
    if not table.has("designs") and not table.has("contenders"):
        raise StudyError(f"`{table.place}` has no `designs` and no `contenders`; add one of them")
    names: list[str] = []
    if table.content.get("designs") == "all":
        names += [design.name for design in designs]
    elif table.has("designs"):
        names += table.choices("designs", None, [design.name for design in designs])
    if table.has("contenders"):
        if not contenders:
            raise StudyError(
                f"`{table.named('contenders')}` names contenders and the study describes none; "
                "add [contenders.NAME]"
            )
        names += table.choices("contenders", None, list(contenders))
    return names


def check_dialects(table: Table, dialects: Sequence[str], contenders: Sequence[Contender]) -> None:
    for contender in contenders:
        for dialect in dialects:
            if dialect != contender.dialect:
                raise StudyError(
                    f"`{table.place}` has the dialect {dialect} and the contender "
                    f"{contender.name} speaks {contender.dialect}; "
                    f'set dialect = "{contender.dialect}"'
                )


def read_workers(
    table: Table, names: Sequence[str], designs: Sequence[Design]
) -> list[int] | list[None]:
    """The sizes of the pools; a group without the key leaves them to the designs."""
    if not table.has("workers"):
        return [None]
    pools = {design.name for design in designs if design.pool}
    for name in names:
        if name not in pools:
            raise StudyError(
                f"`{table.named('workers')}` is for pools and {name} has none; put it into a "
                "group without `workers`"
            )
    return table.integers("workers", None, 1, MAX_WORKERS)


def read_linger(table: Table, scopes: Sequence[str]) -> float:
    """How long a whole process idles after its load."""
    if not table.has("linger_s"):
        return 0.0
    if PROCESS not in scopes:
        raise StudyError(f'`{table.named("linger_s")}` is for scope = "process"; remove one')
    return table.seconds("linger_s", MAX_LINGER_S)


def group_cells(
    content: dict[str, Any],
    place: str,
    designs: Sequence[Design],
    contenders: Mapping[str, Contender],
) -> list[Cell]:
    """One [[cells]] group: the cross product of its lists."""
    table = Table(content, place, CELL_KEYS)
    names = read_names(table, designs, contenders)
    # Of somebody's own server nothing else is known; a whole process has no choice.
    of_own = table.has("contenders") and not table.has("scope")
    loads = table.choices("load", MATCHED if of_own else "burst", LOADS)
    if not table.has("connections") and loads != [MATCHED]:
        raise StudyError(f"`{place}` has no `connections`; add it")
    connections = table.integers("connections", DEFAULT_MATCHED_CONNECTIONS, 1, MAX_CONNECTIONS)
    works = table.list_of("work", "scan", is_work, WORK_NEEDED)
    engines = table.choices("engine", "epoll", ENGINES)
    dialects = table.choices("dialect", "line", DIALECTS)
    check_load_keys(table, loads)
    check_engine(table, engines, loads)
    check_dialects(table, dialects, [contenders[name] for name in names if name in contenders])
    duration_s = DEFAULT_MATCHED_S
    if table.has("duration_s"):
        duration_s = table.seconds("duration_s", MAX_DURATION_S)
    per_connection = table.integer("per_connection", 0, 0, MAX_REQUESTS)
    rates = table.integers("rate", None, 1, MAX_RATE_PER_S) if table.has("rate") else []
    arrivals = table.choice("arrivals", "even", ARRIVALS)
    wanted = read_wanted(table)
    idle = table.integers("idle", 0, 0, MAX_CONNECTIONS)
    slow = table.integers("slow", 0, 0, MAX_CONNECTIONS)
    workers = read_workers(table, names, designs)
    path = read_path(table, dialects)
    top = table.integer("top", DEFAULT_TOP, 1, MAX_TOP)
    max_age_ms = table.integer("max_age_ms", DEFAULT_MAX_AGE_MS, 1, MAX_AGE_MS)
    if table.has("max_age_ms") and all(is_afresh(work) for work in works):
        raise StudyError(f"`{place}.max_age_ms` is for the work snapshot, wait or spin; remove it")
    scopes = table.choices("scope", "window", SCOPES)
    check_whole(table, scopes, loads)
    linger_s = read_linger(table, scopes)
    order = [design.name for design in designs] + list(contenders)
    shapes = [(load, rate) for load in loads for rate in (rates if load == "open" else [None])]
    product = itertools.product(
        works, shapes, dialects, engines, workers, idle, slow, scopes, connections, names
    )
    cells = [
        Cell(
            contender=name,
            contender_order=order.index(name),
            work=work,
            load=load,
            connections=count,
            engine=engine,
            dialect=dialect,
            rounds=burst_rounds(table, count, scopes) if load == "burst" else None,
            duration_s=None if load == "burst" else duration_s,
            per_connection=None if load == "burst" else per_connection,
            top=top,
            max_age_ms=max_age_ms,
            rate=rate,
            arrivals=arrivals if load in ("open", MATCHED) else None,
            idle=silent,
            slow=slowly,
            workers=pool,
            path=(contenders[name].path or path) if name in contenders else path,
            scope=scope,
            linger_s=linger_s if scope == PROCESS else 0.0,
        )
        for work, (load, rate), dialect, engine, pool, silent, slowly, scope, count, name in product
    ]
    return [wanted.cell(cell) if cell.load == MATCHED else cell for cell in cells]


def all_cells(
    groups: object, designs: Sequence[Design], contenders: Mapping[str, Contender]
) -> tuple[Cell, ...]:
    if not isinstance(groups, list) or not groups:
        raise StudyError("a study needs at least one group of cells; write [[cells]]")
    cells: list[Cell] = []
    for number, group in enumerate(groups, start=1):
        if not isinstance(group, dict):
            raise StudyError("`cells` must be groups; write [[cells]]")
        cells += group_cells(group, f"cells[{number}]", designs, contenders)
    if len(cells) > MAX_CELLS:
        raise StudyError(f"the study has {len(cells)} cells; the most is {MAX_CELLS}")
    seen: set[tuple[object, ...]] = set()
    for cell in cells:
        if cell.identity() in seen:
            raise StudyError(f"the cell `{cell.label()}` comes twice; remove one of them")
        seen.add(cell.identity())
    check_pools(cells)
    return tuple(cells)


def check_pools(cells: Sequence[Cell]) -> None:
    """In one table a pool of a size of its own choice cannot stand beside the same pool at 15."""
    sized: dict[tuple[object, ...], bool] = {}
    for cell in cells:
        table = replace(cell, contender_order=0, rounds=None, connections=0, rate=None)
        key = replace(table, idle=0, slow=0, workers=None).identity()
        if sized.setdefault(key, cell.workers is None) != (cell.workers is None):
            raise StudyError(
                f"the pool {cell.contender} comes with `workers` and without; give it in every "
                "group that is otherwise alike"
            )
