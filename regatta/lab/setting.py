"""The settings of a lab: chosen at the start, fixed afterwards."""

from collections.abc import Sequence
from dataclasses import dataclass

from regatta.errors import UsageError
from regatta.lab.processes import ANSWER_S
from regatta.study.design import Design
from regatta.study.limits import US_PER_UNIT, WORK_NEEDED, WORK_PATTERN, is_work

FEWEST_DESIGNS, MOST_DESIGNS = 2, 8
MOST_CONNECTIONS = 500
"""More clients at once exceed the descriptor limit of many shells."""
ROUNDS = 20
"""Enough rounds for a meaningful rate."""
CLIENT_WAITS_S = 10.0
"""The client's own default for each request."""
LONGEST_ROUND_S = min(CLIENT_WAITS_S, ANSWER_S / ROUNDS)
"""An iterative server must serve every client once within this time."""
READINGS = {
    "scan": "reads all of /proc again",
    "classic": "reads all of /proc again, with opendir, fopen and fscanf",
    "snapshot": "answers from a snapshot of /proc that several requests share",
}
"""What each work does, after `the server`."""


@dataclass(frozen=True)
class Setting:
    designs: tuple[str, ...] = ("iterative", "thread-per-client", "select", "epoll")
    connections: int = 10
    work: str = "classic"
    quick: bool = False
    """Few short blocks: shows the steps, not reliable results."""


def check_setting(setting: Setting, known: Sequence[Design]) -> None:
    """UsageError for a setting that cannot be measured here."""
    names = {design.name: design for design in known}
    for name in setting.designs:
        if name not in names:
            raise UsageError(f"--designs names {name}; it must be one of {', '.join(names)}")
        if (missing := names[name].missing) is not None:
            raise UsageError(f"--designs names {name}, which cannot run here: {missing}")
    count = len(set(setting.designs))
    if count != len(setting.designs) or not FEWEST_DESIGNS <= count <= MOST_DESIGNS:
        raise UsageError(
            f"--designs must name {FEWEST_DESIGNS} to {MOST_DESIGNS} designs, each once, "
            "separated by commas"
        )
    if not 1 <= setting.connections <= MOST_CONNECTIONS:
        raise UsageError(
            f"--connections is {setting.connections}; it must be a whole number from 1 to "
            f"{MOST_CONNECTIONS}"
        )
    if not is_work(setting.work):
        raise UsageError(f"--work is {setting.work}; it must be {WORK_NEEDED}")
    round_s = setting.connections * work_s(setting.work)
    if round_s >= LONGEST_ROUND_S:
        raise UsageError(
            f"--work {setting.work} for {setting.connections} connections, one after another, "
            f"takes {round_s:g} s; it must take less than {LONGEST_ROUND_S:g} s: choose shorter "
            "work or fewer --connections"
        )


def work_s(work: str) -> float:
    """The shortest time that a request of this work takes."""
    found = WORK_PATTERN.fullmatch(work)
    return int(found[1]) * US_PER_UNIT[found[2]] / 1e6 if found else 0.0


def work_words(work: str) -> str:
    """What the server does for each request; continues `the server`."""
    doing, _, time = work.partition("=")
    first, _, then = doing.partition("+")
    if not time:
        return READINGS[first]
    pause = (
        f"sleeps for {time}, as if waiting for a database"
        if first == "wait"
        else f"computes for {time}"
    )
    return f"{pause}, then {READINGS[first if then else 'snapshot']}"
