"""`[[claim]]` and `[sources]`: what a study tests of what others, or you, have said."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from regatta.errors import StudyError
from regatta.study.cell import Cell
from regatta.study.claims.cells import check_cells
from regatta.study.claims.claim import (
    BOTH,
    COMPARE,
    ENGINES,
    LINEAR,
    METRIC_SIDES,
    ORDER,
    RATIO,
    SIDES,
    Claim,
    Source,
    Statement,
)
from regatta.study.claims.margin import read_within
from regatta.study.limits import (
    DIALECTS,
    LOADS,
    MAX_CLAIMS,
    MAX_CONNECTIONS,
    MAX_RATE_PER_S,
    MAX_WORKERS,
    NAME_NEEDED,
    NAME_PATTERN,
    WORK_NEEDED,
    is_work,
)
from regatta.study.limits import ENGINES as CLIENT_ENGINES
from regatta.study.table import Table, subtable

WHERE_KEYS = ("engine", "workers", "work", "load", "dialect", "rate", "idle", "slow")
STATEMENT_KEYS = (
    "metric",
    "side",
    "connections",
    "designs",
    "order",
    "compare",
    "shape",
    "ratio",
    "client_engines",
    "at_least",
    "within",
)
CLAIM_KEYS = (
    *("id", "says", "source", "per", "published_agrees"),
    *STATEMENT_KEYS,
    "and",
    "process_engines",
    *WHERE_KEYS,
)
KINDS = {
    "order": ORDER,
    "compare": COMPARE,
    "shape": LINEAR,
    "ratio": RATIO,
    "client_engines": ENGINES,
}
SOURCE_KEYS = ("title", "published", "metric", "connections")
COMPARED = re.compile(r"\s*(server|client)\s*([<~])\s*(server|client)\s*")
MAX_TIMES = 1e9


def read_claims(content: Mapping[str, Any], cells: Sequence[Cell]) -> tuple[Claim, ...]:
    """All claims of a study; each must be over cells of the study."""
    groups = content.get("claim", [])
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        raise StudyError("`claim` must be tables; write [[claim]]")
    if len(groups) > MAX_CLAIMS:
        raise StudyError(f"the study has {len(groups)} claims; the most is {MAX_CLAIMS}")
    sources = [source.name for source in read_sources(content)]
    claims: list[Claim] = []
    for number, group in enumerate(groups, start=1):
        claim = read_claim(group, f"claim[{number}]", cells, sources)
        if any(claim.id == other.id for other in claims):
            raise StudyError(f"the claim {claim.id} comes twice; give each an `id` of its own")
        check_cells(claim, cells)
        claims.append(claim)
    return tuple(claims)


def read_sources(content: Mapping[str, Any]) -> tuple[Source, ...]:
    """`[sources.NAME]`: who claims what, and where the figures are."""
    found: list[Source] = []
    sources = content.get("sources", {})
    if not isinstance(sources, dict):
        raise StudyError("`sources` must be tables; write [sources.NAME]")
    for name in sources:
        table = subtable(sources, name, SOURCE_KEYS)
        table.place = f"sources.{name}"
        text = {
            key: table.text(key, "") if table.has(key) else None for key in ("published", "metric")
        }
        if text["metric"] is not None:
            table.choice("metric", "", tuple(METRIC_SIDES))
        connections = None
        if table.has("connections"):
            connections = table.integer("connections", 1, 1, MAX_CONNECTIONS)
        found.append(Source(name, table.text("title", name), **text, connections=connections))
    return tuple(found)


def read_claim(
    content: dict[str, Any], place: str, cells: Sequence[Cell], sources: Sequence[str]
) -> Claim:
    """One [[claim]]; `sources` are all that the study names."""
    if isinstance(content.get("id"), str) and NAME_PATTERN.fullmatch(content["id"]):
        place = f"claim {content['id']}"
    table = Table(content, place, CLAIM_KEYS)
    for key in ("id", "says", "metric", "connections"):
        if not table.has(key):
            raise StudyError(f"`{place}` has no `{key}`; add it")
    if not NAME_PATTERN.fullmatch(table.text("id", "")):
        raise table.fail("id", NAME_NEEDED)
    if table.has("source") and not sources:
        raise StudyError(
            f"`{table.named('source')}` names a source and the study describes none; "
            "add [sources.NAME]"
        )
    statements = [read_statement(table, cells)]
    for joined in read_joined(table):
        statements.append(read_statement(Table(shared(content, joined), place, CLAIM_KEYS), cells))
    agrees = content.get("published_agrees", True)
    if not isinstance(agrees, bool):
        raise table.fail("published_agrees", "true or false")
    return Claim(
        id=table.text("id", ""),
        says=table.text("says", ""),
        statements=tuple(statements),
        source=table.choice("source", "", sources) if table.has("source") else None,
        per=table.choice("per", "process", ("process", "request")),
        published_agrees=agrees,
        where=read_where(table),
        process_engines=read_process_engines(table, cells),
    )


def read_joined(table: Table) -> list[dict[str, Any]]:
    """What `and` adds: one table, or a list of them."""
    value = table.content.get("and", [])
    joined = value if isinstance(value, list) else [value]
    if not all(isinstance(one, dict) for one in joined):
        raise StudyError(f"`{table.place}`: `and` must be a table, or a list of tables")
    return [Table(one, "and", STATEMENT_KEYS).content for one in joined]


def read_process_engines(table: Table, cells: Sequence[Cell]) -> dict[str, str]:
    """`process_engines`: whose client was of another kind where they measured whole processes."""
    if not table.has("process_engines"):
        return {}
    raced = list(dict.fromkeys(cell.contender for cell in cells))
    engines = subtable(table.content, "process_engines", raced)
    return {name: engines.choice(name, "", CLIENT_ENGINES) for name in engines.content}


def shared(content: Mapping[str, Any], joined: Mapping[str, Any]) -> dict[str, Any]:
    """The second half of a claim: what it does not say itself it has from the first."""
    keys = ["metric", "connections"]
    keys += [] if "compare" in joined else ["side"]
    keys += [] if {"order", "ratio"} & joined.keys() else ["designs"]
    return {key: content[key] for key in keys if key in content} | dict(joined)


def read_statement(table: Table, cells: Sequence[Cell]) -> Statement:
    kinds = [key for key in KINDS if table.has(key)]
    if len(kinds) != 1:
        found = " and ".join(f"`{kind}`" for kind in kinds) or "none of them"
        raise StudyError(f"`{table.place}` must have one of {', '.join(KINDS)}; it has {found}")
    key = kinds[0]
    metric = table.choice("metric", "", tuple(METRIC_SIDES))
    raced = list(dict.fromkeys(cell.contender for cell in cells))
    groups = read_groups(table, key, raced)
    at_least = read_at_least(table, key)
    connections = tuple(sorted(table.integers("connections", None, 1, MAX_CONNECTIONS)))
    designs = [name for group in groups for name in group]
    if key in ("order", "ratio"):
        if table.has("designs"):
            raise StudyError(f"`{table.named('designs')}` follows from `{key}`; remove it")
    else:
        designs = table.choices("designs", designs_at(table, connections, cells), raced)
    return Statement(
        kind=KINDS[key],
        metric=metric,
        side=read_side(table, key, metric),
        connections=connections,
        groups=groups,
        designs=tuple(designs),
        at_least=at_least,
        within=read_within(table, KINDS[key], metric, groups),
    )


def designs_at(table: Table, connections: Sequence[int], cells: Sequence[Cell]) -> list[str]:
    """`under every design`: all that race with each of these numbers of connections."""
    engines = table.content.get("client_engines", [])
    found: dict[str, set[tuple[int, str]]] = {}
    for cell in cells:
        places = found.setdefault(cell.contender, set())
        places.update({(cell.connections, cell.engine), (cell.connections, "")})
    wanted = {(count, engine) for count in connections for engine in engines or [""]}
    return [name for name, places in found.items() if wanted <= places] or list(found)


def read_groups(table: Table, key: str, raced: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """What is compared, from the smallest to the largest."""
    if key == "shape":
        table.choice("shape", "", ("linear",))
        if len(table.integers("connections", None, 1, MAX_CONNECTIONS)) < 3:
            raise table.fail("connections", "at least three numbers, where a shape is claimed")
        return ()
    if key == "compare":
        match = COMPARED.fullmatch(table.text("compare", ""))
        if match is None or match[1] == match[3]:
            raise table.fail("compare", "`client < server`, `server < client` or with ~")
        return ((match[1], match[3]),) if match[2] == "~" else ((match[1],), (match[3],))
    if key == "client_engines":
        return tuple((engine,) for engine in of_several(table, key, CLIENT_ENGINES))
    if key == "ratio":
        numerator, denominator = of_several(table, key, raced, most=2)
        return ((denominator,), (numerator,))
    return read_order(table, raced)


def of_several(
    table: Table, key: str, allowed: Sequence[str], most: int | None = None
) -> list[str]:
    names = table.choices(key, None, allowed)
    if len(names) < 2 or (most is not None and len(names) > most):
        raise table.fail(key, "a list of two" if most == 2 else "a list of at least two")
    return names


def read_order(table: Table, raced: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """`["iterative~select", "fork-per-client"]`: two equal ones, and one above them."""
    value = table.content["order"]
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise table.fail("order", "a list of names, from the smallest to the largest")
    groups = tuple(tuple(name.strip() for name in entry.split("~")) for entry in value)
    names = [name for group in groups for name in group]
    for name in names:
        if name not in raced:
            raise StudyError(
                f"`{table.named('order')}` names {name!r}, which the study does not race; "
                f"its contenders: {', '.join(raced)}"
            )
    if len(names) < 2 or len(set(names)) != len(names):
        raise table.fail("order", "a list of at least two names, in which none comes twice")
    return groups


def read_side(table: Table, key: str, metric: str) -> str:
    if key == "compare":
        if table.has("side"):
            raise StudyError(f"`{table.named('side')}` follows from `compare`; remove it")
        if METRIC_SIDES[metric] != SIDES:
            raise table.fail("metric", "one that both sides have, where they are compared")
        return BOTH
    return table.choice("side", METRIC_SIDES[metric][0], METRIC_SIDES[metric])


def read_at_least(table: Table, key: str) -> float | None:
    if not table.has("at_least"):
        if key == "ratio":
            raise StudyError(f"`{table.place}` has a `ratio` and no `at_least`; add it")
        return None
    value = table.content["at_least"]
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    if not plain or not math.isfinite(value) or not 1 < value <= MAX_TIMES:
        raise table.fail("at_least", f"a number above 1 and up to {MAX_TIMES:g}")
    if key == "shape":
        raise StudyError(f"`{table.named('at_least')}` is not for a shape; remove it")
    return float(value)


def read_where(table: Table) -> dict[str, str | int]:
    """What tells the claim's cells from others with the same contender and connections."""
    found: dict[str, str | int] = {}
    choices = {"engine": CLIENT_ENGINES, "load": LOADS, "dialect": DIALECTS}
    most = {
        "workers": MAX_WORKERS,
        "rate": MAX_RATE_PER_S,
        "idle": MAX_CONNECTIONS,
        "slow": MAX_CONNECTIONS,
    }
    for key in WHERE_KEYS:
        if not table.has(key):
            continue
        if key in choices:
            found[key] = table.choice(key, "", choices[key])
        elif key in most:
            found[key] = table.integer(key, 0, 0, most[key])
        elif is_work(table.content[key]):
            found[key] = table.text(key, "")
        else:
            raise table.fail(key, WORK_NEEDED)
    if "engine" in found and table.has("client_engines"):
        raise StudyError(f"`{table.named('engine')}` follows from `client_engines`; remove it")
    return found
