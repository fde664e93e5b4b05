"""Equal copies: four designs, each of them twice, and nothing by which a lab may favour either.

The two of a pair have different names, are different files and stand at different places of the
study, another order in each race. They race as servers of somebody's own, so that the lab treats
all alike.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping
from pathlib import Path

from regatta.calibrate.goals import Context
from regatta.calibrate.shape import Shape
from regatta.study import Study

DESIGNS = ("fork-per-client", "thread-per-client", "prefork-accept", "epoll")
"""A process or a thread for each client, a pool, a loop."""
COPIES = ("a", "b")
NAMES = tuple(f"{design}-{copy}" for design in DESIGNS for copy in COPIES)
FILES = "servers"


def design_of(name: str) -> str:
    return name.rpartition("-")[0]


def in_order(number: int) -> list[str]:
    """All copies, as they stand in that race."""
    names = list(NAMES)
    random.Random(number).shuffle(names)
    return names


def copies_study(context: Context, shape: Shape, folder: Path, number: int) -> Study:
    """The race of that number."""
    return shape.study(
        context,
        "Equal copies of four designs",
        {
            name: shape.command(str(file_of(folder, name)), design_of(name))
            for name in in_order(number)
        },
    )


def file_of(folder: Path, name: str) -> Path:
    return folder / FILES / name / "server"


def make_files(folder: Path, server: Path) -> None:
    """A file of its own for each: no two share a page of memory."""
    for name in NAMES:
        path = file_of(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(server, path)


def remove_files(folder: Path) -> None:
    shutil.rmtree(folder / FILES, ignore_errors=True)


def pairs(order: Mapping[str, int]) -> dict[str, tuple[str, str]]:
    """By design who stands first in the study and who second; `order` is where each stands."""
    found: dict[str, tuple[str, str]] = {}
    for design in DESIGNS:
        both = sorted((name for name in order if design_of(name) == design), key=order.__getitem__)
        if len(both) == len(COPIES):
            found[design] = (both[0], both[1])
    return found
