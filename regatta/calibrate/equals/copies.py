"""Equal copies: four designs, each twice, with nothing by which a lab may favour either.

The two of a pair have different names, are different files with different orders of functions, and
stand at different places of the study, all drawn anew in each race. They race as contenders, so the
lab treats all alike.
"""

import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from regatta.calibrate.goals import Context
from regatta.calibrate.shape import Shape
from regatta.errors import RegattaError
from regatta.ledger.records import RaceRecord
from regatta.race.relink import relink_all
from regatta.study import Study

DESIGNS = ("fork-per-client", "thread-per-client", "prefork-accept", "epoll")
"""A process or a thread per client, a pool, a loop."""
COPIES = ("a", "b")
NAMES = tuple(f"{design}-{copy}" for design in DESIGNS for copy in COPIES)
FILES = "servers"
ORDER = "order-"
"""Name of a relinked server's folder."""

Relink = Callable[[Path, Mapping[int, int], Path], dict[int, Path]]


def design_of(name: str) -> str:
    return name.rpartition("-")[0]


def in_order(number: int) -> list[str]:
    """All copies, in the order of that race."""
    names = list(NAMES)
    random.Random(number).shuffle(names)
    return names


def copies_study(context: Context, shape: Shape, files: Mapping[str, Path], number: int) -> Study:
    """The race of that number."""
    return shape.study(
        context,
        "Equal copies of four designs",
        {name: shape.command(str(files[name]), design_of(name)) for name in in_order(number)},
    )


def make_files(
    context: Context, folder: Path, number: int, relink: Relink = relink_all
) -> dict[str, Path]:
    """A file each, so that no two share a page of memory.

    The two of a pair have different orders of functions, if the server can be relinked.
    """
    orders = dict(zip(COPIES, (2 * number, 2 * number + 1), strict=True))
    server, servers = context.programs.server, folder / FILES
    try:
        linked = relink(server, {order: order for order in orders.values()}, servers / "linked")
    except RegattaError as error:
        context.say(f"all copies have one order of functions: {error}")
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


def is_linked_anew(ledger: RaceRecord) -> bool:
    """Whether the two of a pair had different orders of functions."""
    return f"/{ORDER}" in ledger.meta.get("study_toml", "")


def pairs(order: Mapping[str, int]) -> dict[str, tuple[str, str]]:
    """By design who stands first in the study and who second; `order` is where each stands."""
    found: dict[str, tuple[str, str]] = {}
    for design in DESIGNS:
        both = sorted((name for name in order if design_of(name) == design), key=order.__getitem__)
        if len(both) == len(COPIES):
            found[design] = (both[0], both[1])
    return found
