"""Ledgers of the schemas before today's, read as if they were of it. The file stays as it is.

Schema 5 kept in `environment`, as JSON, what has tables of its own now, the race's settings, and
what the study's text says too. Schema 6 had fewer columns of a cell, and not what perf stat
printed.
"""

from typing import Any

from pydantic import TypeAdapter

from regatta.ledger.given.calibration import Calibration, from_plain
from regatta.ledger.given.records import BASELINE, RECORDED, Given, RecordedClaim
from regatta.ledger.plain import checked

BEFORE = 5
"""The oldest schema that is read still. A race goes on in today's alone."""
BEFORE_PRINTED = ("5", "6")
"""Schemas without what perf stat printed."""
GIVEN = ("claims", "baseline", "calibration")
SETTINGS = ("use_perf", "disturbance_limit_percent")
SAID_ELSEWHERE = ("seed", "contenders", "twins")
CAME_WITH = {7: ("backlog", "counts_taskset", "request")}
"""Columns of a cell, by the first schema that has them."""

Environment = dict[str, Any]
CLAIMS = TypeAdapter(list[dict[str, Any]])


def migrate(
    meta: dict[str, str], environment: Environment
) -> tuple[dict[str, str], Environment, Given]:
    """Three parts of today's ledger from two of schema 5.

    ValueError, in a few words, where these hold something else.
    """
    settings = {key: setting(environment[key]) for key in SETTINGS if key in environment}
    moved = (*GIVEN, *SETTINGS, *SAID_ELSEWHERE)
    facts = {key: value for key, value in environment.items() if key not in moved}
    claims, baseline, calibration = (environment.get(key) for key in GIVEN)
    plain = checked(CLAIMS, claims or [])
    given = Given(
        claims=tuple(map(claim_of, plain)),
        baseline=checked(BASELINE, baseline) if baseline else None,
        calibration=calibration_of(calibration),
    )
    return meta | settings, facts, given


def missing(schema: str) -> frozenset[str]:
    """The columns of a cell that a ledger of this schema lacks: it raced what is usual of each."""
    version = int(schema) if schema.isdigit() else max(CAME_WITH)
    return frozenset(name for came, names in CAME_WITH.items() if version < came for name in names)


def setting(value: Any) -> str:
    """As `meta` has it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def claim_of(plain: dict[str, Any]) -> RecordedClaim:
    source, published = plain.get("title") or "", plain.get("published")
    return checked(RECORDED, {"claim": plain, "source": source, "published": published})


def calibration_of(plain: Any) -> Calibration | str | None:
    if plain is None:
        return None
    problem = plain.get("problem") if isinstance(plain, dict) else None
    try:
        return from_plain(plain) if problem is None else str(problem)
    except ValueError as error:
        return str(error)
