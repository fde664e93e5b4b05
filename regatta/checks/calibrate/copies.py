"""Equal copies: four designs, each raced twice.

The copies of a pair differ in name, file, link order and place in the study, all drawn again for
each race, so that nothing systematically favours one. They race as contenders, which the lab treats
alike.
"""

import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from regatta.checks.calibrate.goals import Context
from regatta.checks.calibrate.shape import Shape
from regatta.errors import RegattaError
from regatta.measure.race.relink import relink_all
from regatta.record.records import RaceRecord
from regatta.record.study import Study

DESIGNS = ("fork-per-client", "thread-per-client", "prefork-accept", "epoll")
"""A process per client, a thread per client, a pool, an event loop."""
COPIES = ("a", "b")
NAMES = tuple(f"{design}-{copy}" for design in DESIGNS for copy in COPIES)
FILES = "servers"
ORDER = "order-"
"""Prefix of the folder of a relinked server."""

Relink = Callable[[Path, Mapping[int, int], Path], dict[int, Path]]


def design_of(name: str) -> str:
    return name.rpartition("-")[0]


def in_order(number: int) -> list[str]:
    """All copies, in the order of this race."""
    names = list(NAMES)
    random.Random(number).shuffle(names)
    return names


def copies_study(context: Context, shape: Shape, files: Mapping[str, Path], number: int) -> Study:
    """The study of this race."""
    return shape.study(
        context,
        "Equal copies of four designs",
        {name: shape.command(str(files[name]), design_of(name)) for name in in_order(number)},
    )


def make_files(
    context: Context, folder: Path, number: int, relink: Relink = relink_all
) -> dict[str, Path]:
    """Creates a file for each copy, so that no two share pages.

    The copies of a pair have different link orders, if the server can be relinked.
    """
    orders = dict(zip(COPIES, (2 * number, 2 * number + 1), strict=True))
    server, servers = context.programs.server, folder / FILES
    try:
        linked = relink(server, {order: order for order in orders.values()}, servers / "linked")
    except RegattaError as error:
        context.say(f"all copies have the same link order: {error}")
        linked = {}
    found: dict[str, Path] = {}
    for name in NAMES:
        order = orders[name.rpartition("-")[2]]
        path = servers / (f"{ORDER}{order}" if order in linked else "as-built") / name / server.name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(linked.get(order, server), path)
        found[name] = path
    return found


def remove_files(folder: Path) -> None:
    shutil.rmtree(folder / FILES, ignore_errors=True)


def is_relinked(ledger: RaceRecord) -> bool:
    """Whether the copies of a pair had different link orders."""
    return f"/{ORDER}" in ledger.meta.get("study_toml", "")


def pairs_of(ledger: RaceRecord) -> dict[str, tuple[str, str]]:
    """By design, the first and the second copy in the order of the study."""
    order = {cell.contender: cell.contender_order for cell in ledger.cells}
    names = sorted(order, key=order.__getitem__)
    found = {design: [one for one in names if design_of(one) == design] for design in DESIGNS}
    return {design: (both[0], both[1]) for design, both in found.items() if len(both) == 2}
