"""Labs of tests: a desk without programs, and a first table and races that are made up."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from regatta.lab.setting import Setting
from regatta.lab.state import State
from regatta.lab.step import Desk
from regatta.lab.steps.counting import CLIENT, SERVER, counted_file
from regatta.lab.steps.racing import RACE, SINGLE_RUNS
from regatta.lab.tools import Tools
from regatta.ledger.schema import FILE_NAME
from tests.lab.review.printed import perf_text
from tests.lab.synthetic import make

THREE = ("iterative", "thread-per-client", "select")
BY_HAND = {"iterative": 20.0, "thread-per-client": 14.0, "select": 16.5}
"""A first table: milliseconds of CPU of each design's server."""
TOOLS = Tools(
    server="bin/regatta-server",
    client="bin/regatta-client",
    server_cpus=(0,),
    client_cpus=(1,),
    perf=True,
    taskset=True,
    nc=True,
    lacks=("There is only one CPU.",),
)


def nobody(_: str) -> str:
    return ""


def never_raced(_text: str, _folder: Path) -> Path:
    raise AssertionError("this test races nothing")


def desk_in(folder: Path, ask: Callable[[str], str] = nobody, **changes: Any) -> Desk:
    """`changes`: of the state."""
    heard: list[str] = []
    state = State(**{"setting": Setting(designs=THREE), **changes})
    desk = Desk(folder, state, TOOLS, never_raced, ask, heard.append)
    desk.remember()
    return desk


def count_by_hand(desk: Desk, cpu_ms: dict[str, float]) -> None:
    """As if somebody had typed it: perf's files of each design's server and client."""
    for design, spent in cpu_ms.items():
        for side, share in ((SERVER, 1.0), (CLIENT, 0.25)):
            figures = {"task_clock_ms": spent * share, "elapsed_s": 2.5}
            figures |= {"context_switches": 12, "page_faults": 130}
            path = desk.path(counted_file(design, side))
            path.parent.mkdir(exist_ok=True)
            path.write_text(perf_text(figures, command=f"regatta-server --design {design}"))


def race_made_up(desk: Desk, **changes: Any) -> None:
    """Both races of the hour."""
    for name, more in (
        (SINGLE_RUNS, {"scopes": ("process",), "counted_blocks": 0}),
        (RACE, {"blocks": 20}),
    ):
        desk.path(name).mkdir()
        make(desk.path(name) / FILE_NAME, connections=(10,), **{**more, **changes})
