"""What a person is told to type next can be copied, whatever the folder is called."""

from pathlib import Path

import pytest

from regatta.cli.calibrate import CalibrationSession, repeated_options
from regatta.errors import UsageError
from regatta.machine.programs import called_with
from regatta.race.events import Event, Started
from tests.lab import faked

RESUME = "regatta race --resume 'my race'"


def stop(event: Event) -> None:
    if isinstance(event, Started):
        raise faked.StopError


@pytest.mark.usefixtures("programs_folder")
def test_a_race_that_is_there_says_how_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("my race")
    with pytest.raises(faked.StopError):
        faked.race(faked.TINY, folder, stop)
    with pytest.raises(UsageError) as refused:
        faked.race(faked.TINY, folder)
    assert str(refused.value).endswith(f"resume it: {RESUME}")
    other = faked.parse(faked.TINY.replace("seed = 5", "seed = 6"))
    with pytest.raises(UsageError) as refused:
        faked.resume(folder, study=other)
    assert str(refused.value).endswith(f"resume this one as it was: {RESUME}")


def test_a_calibration_goes_on_with_the_options_that_it_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    session = CalibrationSession(None, quick=True, quiet=True, shape="reports", races=3)
    session.folder = tmp_path / "my calibration"
    assert called_with("calibrate", *repeated_options(session, ["equals", "power"])) == (
        "regatta calibrate --quick --only equals --only power --races 3 --shape reports "
        "--out 'my calibration'"
    )
