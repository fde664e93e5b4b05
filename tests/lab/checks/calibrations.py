"""What the tests of a calibration share."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from regatta.checks.calibrate.goals import Context
from regatta.checks.calibrate.shape import Shape
from regatta.measure.programs import Programs
from regatta.measure.race.options import Options
from regatta.record.study import Study
from tests.lab.designs import every_design

SHAPE = Shape("quick", {}, {"work": "classic"}, 2)


def context(folder: Path, server: Path = Path("/opt/regatta-server"), **changes: Any) -> Context:
    def no_race(_study: Study, _place: Path) -> Path:
        raise AssertionError("nothing is raced here")

    programs = Programs(server, Path("/opt/regatta-client"), "", "", every_design())
    made = Context(programs, folder, Options(), False, None, lambda _text: None, no_race)
    return replace(made, **changes)
