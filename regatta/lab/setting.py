"""What a lab is about: chosen at its start, and kept when it goes on."""

from collections.abc import Sequence
from dataclasses import dataclass

from regatta.errors import UsageError
from regatta.lab.by_hand import ANSWER_S
from regatta.study.design import Design
from regatta.study.limits import US_PER_UNIT, WORK_NEEDED, WORK_PATTERN, is_work

FEWEST_DESIGNS, MOST_DESIGNS = 2, 8
MOST_CONNECTIONS = 500
"""More clients at once need more descriptors than a shell permits everywhere."""
ROUNDS = 20
"""Of a load that is long enough for its rate to mean something."""
CLIENT_WAITS_S = 10.0
"""The client's own default for each request."""
LONGEST_ROUND_S = min(CLIENT_WAITS_S, ANSWER_S / ROUNDS)
"""In which a server that takes one client after another must have answered each once."""
READINGS = {
    "scan": "reads all processes in /proc anew",
    "classic": "reads all processes in /proc anew, with opendir, fopen and fscanf",
    "snapshot": "answers from a reading of /proc that requests share",
}
"""Of the processes, by the work that asks for it."""


@dataclass(frozen=True)
class Setting:
    designs: tuple[str, ...] = ("iterative", "thread-per-client", "select", "epoll")
    connections: int = 10
    work: str = "classic"
    quick: bool = False
    """Few blocks of few requests: to see the hour, not its results."""


def check_setting(setting: Setting, known: Sequence[Design]) -> None:
    """UsageError for what no server can be asked."""
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
            "with commas between them"
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
            f"--work {setting.work} for {setting.connections} connections, one after the other, is "
            f"{round_s:g} s; it must be less than {LONGEST_ROUND_S:g} s: choose shorter work, or "
            "fewer --connections"
        )


def work_s(work: str) -> float:
    """How long a request takes at least, by the name of its work."""
    found = WORK_PATTERN.fullmatch(work)
    return int(found[1]) * US_PER_UNIT[found[2]] / 1e6 if found else 0.0


def work_words(work: str) -> str:
    """What the server does for each request, after `the server`."""
    doing, _, time = work.partition("=")
    first, _, then = doing.partition("+")
    if not time:
        return READINGS[first]
    pause = f"sleeps {time} as if for a database" if first == "wait" else f"computes for {time}"
    # `scan+spin`: what is read stands first.
    return f"{pause}, then {READINGS[first if then else 'snapshot']}"
