"""Amounts in a claim: `within`, the margin of equality, and the bounds `below` and `above`."""

import re
from typing import Any

from regatta.ledger.inputs.claim import FLAT, GROWTH, LINEAR, EquivalenceMargin
from regatta.study.claims.metrics import PERCENT_SIGN, unit_of, unit_of_rate
from regatta.study.toml_table import listed, wrong

AMOUNT = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?(%|[a-z][a-z ]*)")
SHARE = PERCENT_SIGN
LARGEST_BOUND = 1e12


def read_within(
    value: Any, kind: str, metric: str, groups: tuple[tuple[str, ...], ...]
) -> EquivalenceMargin:
    """A share, an amount, or both; with both, the wider one counts."""
    if value is None:
        return EquivalenceMargin()
    if kind not in (LINEAR, FLAT) and all(len(group) == 1 for group in groups):
        raise wrong("within", "is only for equality (~); remove it")
    unit = "" if kind in (LINEAR, GROWTH) else unit_of(metric)
    found: dict[str, float] = {}
    for one in listed(value):
        match = AMOUNT.fullmatch(one) if isinstance(one, str) else None
        if match is not None and match[2] in (SHARE, unit):
            found[match[2]] = float(match[1])
    share, amount = found.get(SHARE), found.get(unit)
    fits = found and len(found) == len(listed(value)) and min(found.values()) > 0
    if not fits or (share is not None and share >= 100):
        also = f', "0.1 {unit}", or a list of both' if unit else ""
        raise wrong("within", f'is {value!r}; it must be a share below 100 %, such as "10 %"{also}')
    return EquivalenceMargin(None if share is None else share / 100, amount, unit if amount else "")


def read_bound(value: Any, kind: str, metric: str) -> EquivalenceMargin:
    """The bound of a figure, with a unit if the metric has one."""
    unit = unit_of(metric) or unit_of_rate(metric)
    match = AMOUNT.fullmatch(value) if isinstance(value, str) else None
    if match is not None and match[2] == unit:
        return EquivalenceMargin(None, float(match[1]), unit)
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    if plain and not unit and 0 <= value <= LARGEST_BOUND:
        return EquivalenceMargin(None, float(value))
    needed = f'an amount such as "0.1 {unit}"' if unit else "a number from 0, such as 0.1"
    raise wrong(kind, f"is {value!r}; it must be {needed}")
