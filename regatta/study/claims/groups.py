"""Types of the keys that say what a statement compares: designs, sides, client engines."""

import math
import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ValidationInfo

from regatta.study.toml_table import Many, among, must, wrong
from regatta.study.values import Engine

COMPARED = re.compile(r"\s*(server|client)\s*([<~])\s*(server|client)\s*")
MOST_IN_A_GAP = 5
"""Every pair of designs is compared, and all are tested together."""

Groups = tuple[tuple[str, ...], ...]
"""The compared names, from the smallest to the largest; those of one group are equal."""
Raced = Annotated[str, among("raced")]


def read_order(value: Any, info: ValidationInfo) -> Groups:
    """`["iterative~select", "fork-per-client"]`: two equal designs, and a larger one."""
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
                f"the contenders are {', '.join(raced)}",
            )
    if len(names) < 2 or len(set(names)) != len(names):
        raise must("a list of at least two different names")
    return groups


def read_compare(value: Any) -> Groups:
    match = COMPARED.fullmatch(value) if isinstance(value, str) else None
    if match is None or match[1] == match[3]:
        raise must("`client < server`, `server < client` or `client ~ server`")
    return ((match[1], match[3]),) if match[2] == "~" else ((match[1],), (match[3],))


def count(low: int, high: float, words: str) -> AfterValidator:
    def check(names: tuple[str, ...]) -> tuple[str, ...]:
        if not low <= len(names) <= high:
            raise must(words)
        return names

    return AfterValidator(check)


Order = Annotated[Groups, BeforeValidator(read_order)]
Compare = Annotated[Groups, BeforeValidator(read_compare)]
Ratio = Annotated[Many[Raced], count(2, 2, "a list of two")]
Nearer = Annotated[
    Many[Raced], count(3, 3, "a list of three: the first nearer to the second than to the third")
]
Gap = Annotated[Many[Raced], count(2, MOST_IN_A_GAP, f"a list of two to {MOST_IN_A_GAP}")]
Engines = Annotated[Many[Engine], count(2, math.inf, "a list of at least two")]
