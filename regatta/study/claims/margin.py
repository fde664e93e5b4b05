"""`within` of a claim: how far apart two may be that it calls equal."""

import re
from typing import Any

from regatta.ledger.given.claim import LINEAR, EquivalenceMargin
from regatta.study.claims.metrics import unit_of
from regatta.study.form import listed, wrong

MARGIN = re.compile(r"(\d{1,9}(?:\.\d{1,9})?) ?(%|[a-z][a-z ]*)")
SHARE = "%"


def read_within(
    value: Any, kind: str, metric: str, groups: tuple[tuple[str, ...], ...]
) -> EquivalenceMargin:
    """A share, an amount, or both: then the wider of the two."""
    if value is None:
        return EquivalenceMargin()
    if kind != LINEAR and all(len(group) == 1 for group in groups):
        raise wrong("within", "is for what is equal (~); remove it")
    unit = "" if kind == LINEAR else unit_of(metric)
    found: dict[str, float] = {}
    for one in listed(value):
        match = MARGIN.fullmatch(one) if isinstance(one, str) else None
        if match is not None and match[2] in (SHARE, unit):
            found[match[2]] = float(match[1])
    share, amount = found.get(SHARE), found.get(unit)
    fits = found and len(found) == len(listed(value)) and min(found.values()) > 0
    if not fits or (share is not None and share >= 100):
        also = f', "0.1 {unit}", or a list of both' if unit else ""
        raise wrong("within", f'is {value!r}; it must be a share below 100 %, as "10 %"{also}')
    return EquivalenceMargin(None if share is None else share / 100, amount, unit if amount else "")
