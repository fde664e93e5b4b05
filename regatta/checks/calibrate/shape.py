"""The shape of a study for the contenders of a calibration, races of that shape, and work on all
CPUs while none runs.

The shape of a study is its blocks, slices and cells. It is read from the file of the study `quick`,
so that a calibration measures what people race. Of its groups of cells only the first is used.
"""

import json
import os
import signal
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from regatta.checks.calibrate.goals import Context
from regatta.measure.race.race import is_finished
from regatta.record.schema import FILE_NAME
from regatta.record.study import Study, find_study, load_study, parse_study
from regatta.show.text import duration

STUDY = "quick"
QUICK_BLOCKS = {"blocks": 6, "counted_blocks": 2}
"""The fewest blocks that can show a difference."""
NOT_OF_THE_SHAPE = ("designs", "contenders", "workers")
"""Keys of a group of cells that define the contenders."""
TRIAL_S = 0.25
"""About how long a trial takes besides its load."""


@dataclass(frozen=True)
class Shape:
    name: str
    race: Mapping[str, Any]
    """The study's `[race]`."""
    cells: Mapping[str, Any]
    """Its first `[[cells]]`, without contenders."""
    groups: int
    """The number of its groups of cells."""
    cut: bool = False
    """Whether it was reduced to a few blocks, for a smoke test."""

    @property
    def work(self) -> str:
        return str(self.cells["work"])

    def words(self) -> str:
        """A description of what is raced of the study."""
        whole = "all cells" if self.groups == 1 else f"the first of {self.groups} groups of cells"
        parts = "slices and requests, in few blocks" if self.cut else "blocks, slices and requests"
        return f"{self.name}'s {parts}; {whole} (work {self.work})"

    def command(self, server: str, design: str, work: str | None = None) -> list[str]:
        """The command of our server as a contender."""
        return [
            *(server, "--design", design, "--listen", "{host}:{port}"),
            *("--work", work or self.work, "--allow", "0.0.0.0/0", "--no-token", "--no-recorder"),
            *("--source", "procfs", "--sandbox", "off"),
        ]

    def study(
        self, context: Context, title: str, commands: Mapping[str, Sequence[str]], **changes: int
    ) -> Study:
        """The race of these contenders, in order; `changes` override keys of `[race]`.

        They are our server, which is warm after a round of requests as a design is; of other
        contenders each process is warmed until it is steady.
        """
        cells = {"contenders": list(commands), **self.cells}
        lines = [
            'name = "calibration"',
            *_toml({"title": title}),
            *("[race]", *_toml({**self.race, "warmup_limit_s": 0, **changes})),
        ]
        for name, command in commands.items():
            contender = {"command": command, "dialect": self.cells["dialect"]}
            lines += [f"[contenders.{name}]", *_toml(contender)]
        lines += ["[[cells]]", *_toml(cells)]
        return parse_study("\n".join(lines) + "\n", context.programs.designs, context.folder)


def _toml(values: Mapping[str, object]) -> list[str]:
    """JSON's numbers, strings and lists are valid TOML."""
    return [f"{key} = {json.dumps(value)}" for key, value in values.items()]


def shape_of(context: Context) -> Shape:
    """The shape of the study that a calibration races."""
    study = load_study(find_study(STUDY), context.programs.designs)
    content = tomllib.loads(study.toml)
    first = {
        key: value for key, value in content["cells"][0].items() if key not in NOT_OF_THE_SHAPE
    }
    return Shape(
        name=study.name,
        race=content["race"] | (QUICK_BLOCKS if context.quick else {}),
        cells=first | {key: getattr(study.cells[0], key) for key in ("work", "load", "dialect")},
        groups=len(content["cells"]),
        cut=context.quick,
    )


def run_races(
    context: Context, part: str, shape: Shape, wanted: int, study_of: Callable[[int, Path], Study]
) -> list[Path]:
    """Runs the races that are not finished and returns the ledgers of all.

    `study_of` gets the number of the race, from 1, and its folder.
    """
    folders = [context.folder_for(f"{part}/{shape.name}-{at + 1:02}") for at in range(wanted)]
    finished = [folder / FILE_NAME for folder in folders if is_finished(folder / FILE_NAME)]
    if context.inject and finished:
        return finished  # an injected error is applied to existing races
    left, done, begun_s = wanted - len(finished), 0, time.monotonic()
    for number, folder in enumerate(folders, start=1):
        if folder / FILE_NAME in finished:
            continue
        study = study_of(number, folder)
        each_s = (time.monotonic() - begun_s) / done if done else _about_s(study)
        progress = f"{shape.words()}; about {duration(each_s * (left - done))} left"
        context.say(f"race {number} of {wanted}, {progress}")
        context.race(study, folder)
        done += 1
    return [folder / FILE_NAME for folder in folders]


def _about_s(study: Study) -> float:
    """About how long a race of it takes."""
    blocks = study.blocks + study.counted_blocks
    return blocks * sum(TRIAL_S + (cell.duration_s or 0.0) for cell in study.cells)


Task = TypeVar("Task")
Outcome = TypeVar("Outcome")


def on_all_cpus(work: Callable[[Task], Outcome], tasks: Sequence[Task]) -> list[Outcome]:
    """The outcomes in the order of the tasks. Workers inherit the memory of this process."""
    workers = min(len(os.sched_getaffinity(0)), len(tasks))
    if workers < 2:
        return [work(task) for task in tasks]
    # Only the parent handles Ctrl-C; leaving the pool ends the workers.
    with get_context("fork").Pool(workers, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        return list(pool.imap(work, tasks, chunksize=1))
