"""Slowed servers: one design, plain and with a spin before each answer."""

import random
from collections.abc import Sequence

from regatta.calibrate.goals import Context
from regatta.calibrate.shape import Shape
from regatta.errors import UsageError
from regatta.study import Study

DESIGN = "select"
PLAIN = "plain"
SLOWED_WORKS = {"scan": "scan+spin", "classic": "classic+spin", "snapshot": "spin"}
"""By work, the one that first computes and then does that work."""


def name_of(spin_us: int) -> str:
    return f"spin-{spin_us}us"


def spin_of(name: str) -> int:
    return int(name.removeprefix("spin-").removesuffix("us"))


def slowed_study(
    context: Context, shape: Shape, spins_us: Sequence[int], number: int, **changes: int
) -> Study:
    """The study of this race; each race has another order."""
    if shape.work not in SLOWED_WORKS:
        raise UsageError(f"the work {shape.work} cannot be slowed; use another --shape")
    server = str(context.programs.server)
    works = {PLAIN: shape.work}
    works |= {name_of(spin): f"{SLOWED_WORKS[shape.work]}={spin}us" for spin in spins_us}
    names = list(works)
    random.Random(number).shuffle(names)
    return shape.study(
        context,
        "A server, and the same slowed by known amounts",
        {name: shape.command(server, DESIGN, works[name]) for name in names},
        **changes,
    )
