"""What a statement compares, as it is written: designs, sides, engines of the client."""

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ValidationInfo

from regatta.study.form import Many, among, must, wrong
from regatta.study.values import Engine

COMPARED = re.compile(r"\s*(server|client)\s*([<~])\s*(server|client)\s*")
MOST_IN_A_GAP = 5
"""Designs; each pair is held against each, and all are tested together."""

Groups = tuple[tuple[str, ...], ...]
"""What is compared, from the smallest to the largest."""
Raced = Annotated[str, among("raced")]


def read_order(value: Any, info: ValidationInfo) -> Groups:
    """`["iterative~select", "fork-per-client"]`: two equal ones, and one above them."""
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise must("a list of names, from the smallest to the largest")
    groups = tuple(tuple(name.strip() for name in entry.split("~")) for entry in value)
    names = [name for group in groups for name in group]
    raced = info.context["raced"] if info.context else ()
    for name in names:
        if name not in raced:
            raise wrong(
                "",
                f"names {name!r}, which the study does not race; "
                f"its contenders: {', '.join(raced)}",
            )
    if len(names) < 2 or len(set(names)) != len(names):
        raise must("a list of at least two different names")
    return groups


def read_compare(value: Any) -> Groups:
    match = COMPARED.fullmatch(value) if isinstance(value, str) else None
    if match is None or match[1] == match[3]:
        raise must("`client < server`, `server < client` or with ~")
    return ((match[1], match[3]),) if match[2] == "~" else ((match[1],), (match[3],))


def two(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(names) != 2:
        raise must("a list of two")
    return names


def three(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(names) != 3:
        raise must("a list of three: the first nearer to the second than to the third")
    return names


def several(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(names) < 2:
        raise must("a list of at least two")
    return names


def few(names: tuple[str, ...]) -> tuple[str, ...]:
    if not 2 <= len(names) <= MOST_IN_A_GAP:
        raise must(f"a list of two to {MOST_IN_A_GAP}")
    return names


Order = Annotated[Groups, BeforeValidator(read_order)]
Compare = Annotated[Groups, BeforeValidator(read_compare)]
Two = Annotated[Many[Raced], AfterValidator(two)]
Three = Annotated[Many[Raced], AfterValidator(three)]
Few = Annotated[Many[Raced], AfterValidator(few)]
Engines = Annotated[Many[Engine], AfterValidator(several)]
