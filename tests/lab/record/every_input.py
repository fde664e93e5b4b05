"""A study that gives a race every kind of input: claims, published figures, a baseline, a
calibration."""

from pathlib import Path

from regatta.measure.race.options import Hooks
from regatta.measure.race.race import given_to
from regatta.record.inputs import Calibration, Goal, RaceInputs
from regatta.record.study import parse_study
from regatta.record.study.find import Design

STUDY = """
[contenders.bare]
command = ["true", "{port}"]
title = "the bare loop"
twin_of = "select"
[baseline]
contender = "iterative"
published = "book.csv"
published_at = 10
[sources.E]
title = "report E"
published = "figures.csv"
[[cells]]
designs = ["iterative", "select"]
connections = [1, 10]
engine = ["thread", "fork"]
[[claim]]
id = "E1"
says = "select needs far less."
source = "E"
metric = "task_clock"
connections = 10
order = ["select", "iterative"]
at_least = 100
engine = "thread"
process_engines = { select = "fork" }
and = [
  { metric = "page_faults", order = ["select~iterative"], within = ["10 %", "0.1 page faults"] },
]
[[claim]]
id = "E2"
says = "The client needs less than the server."
per = "request"
published_agrees = false
metric = "task_clock"
connections = [1, 10]
compare = "client < server"
"""
FILES = {
    "book.csv": "# Source: a book\ndesign,solaris_s,third_edition_s\niterative,0,0\nselect,,1.75\n",
    "figures.csv": (
        "# Source: made up\nreport,design,connections,side,task_clock_ms\n"
        "E,iterative,10,server,460.31\nE,select,10,server,3.19\n"
    ),
}
CALIBRATION = Calibration(
    taken_at=1_790_000_000.0,
    elapsed_s=1234.5,
    regatta_version="0.1.0",
    machine={"cpus": 2},
    goals=(
        Goal("power of quick", "8 % is found", "4.9 %", True, "1,000 comparisons", 4.9),
        Goal("context switches", "within 1 %", "no perf here", None),
    ),
)


def every_input(folder: Path) -> RaceInputs:
    """The inputs that STUDY gives a race."""
    for name, text in FILES.items():
        (folder / name).write_text(text)
    designs = [Design("iterative", ""), Design("select", "")]
    study = parse_study(f'name = "quick"\n{STUDY}', designs, folder)
    return given_to(study, Hooks(calibration=lambda: CALIBRATION))
