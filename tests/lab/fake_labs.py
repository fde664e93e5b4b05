"""Labs for tests: without programs, with a synthetic first table and synthetic races."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from regatta.record.schema import FILE_NAME
from regatta.teach.lab.state import LabSetting, LabState
from regatta.teach.lab.step import Lab
from regatta.teach.lab.steps import STEPS
from regatta.teach.lab.steps.counting import CLIENT, SERVER, counted_file
from regatta.teach.lab.steps.racing import RACE, SINGLE_RUNS
from regatta.teach.lab.tools import Tools
from tests.lab.synthetic import make
from tests.lab.teach.printed import perf_text

THREE = ("iterative", "thread-per-client", "select")
BY_HAND = {"iterative": 20.0, "thread-per-client": 14.0, "select": 16.5}
"""A first table: each server's CPU time in ms."""
BY_NAME = {step.name: step for step in STEPS}
TOOLS = Tools(
    server="bin/regatta-server",
    client="bin/regatta-client",
    server_cpus=(0,),
    client_cpus=(1,),
    perf=True,
    nc=True,
    lacks=("There is only one CPU.",),
)


def no_answer(_: str) -> str:
    return ""


def never_raced(_text: str, _folder: Path) -> Path:
    raise AssertionError("this test races nothing")


def lab_in(folder: Path, ask: Callable[[str], str] = no_answer, **changes: Any) -> Lab:
    """`changes`: to the state."""
    heard: list[str] = []
    state = LabState(**{"setting": LabSetting(designs=THREE), **changes})
    lab = Lab(folder, state, TOOLS, never_raced, ask, heard.append)
    lab.remember()
    return lab


def count_by_hand(lab: Lab, cpu_ms: dict[str, float]) -> None:
    """Writes perf's files of each design's server and client, as if a student had counted them."""
    for design, spent in cpu_ms.items():
        for side, share in ((SERVER, 1.0), (CLIENT, 0.25)):
            figures = {"task_clock_ms": spent * share, "elapsed_s": 2.5}
            figures |= {"context_switches": 12, "page_faults": 130}
            path = lab.path(counted_file(design, side))
            path.parent.mkdir(exist_ok=True)
            path.write_text(perf_text(figures, command=f"regatta-server --design {design}"))


def race_made_up(lab: Lab, **changes: Any) -> None:
    """Synthetic ledgers of both races."""
    for name, more in (
        (SINGLE_RUNS, {"scopes": ("process",), "counted_blocks": 0}),
        (RACE, {"blocks": 20}),
    ):
        lab.path(name).mkdir()
        make(lab.path(name) / FILE_NAME, connections=(10,), **{**more, **changes})
