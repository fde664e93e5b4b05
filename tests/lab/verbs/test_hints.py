"""Commands in messages can be copied into a shell, whatever the folder is called."""

from pathlib import Path

import pytest

from regatta.errors import UsageError
from regatta.measure.race.events import Event, Started
from regatta.verbs.calibrate import command_again
from tests.lab import fake_races


def stop(event: Event) -> None:
    if isinstance(event, Started):
        raise fake_races.StopError


@pytest.mark.usefixtures("programs_folder")
def test_another_study_is_refused_with_the_command_that_resumes_the_race(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("my race")
    with pytest.raises(fake_races.StopError):
        fake_races.race(fake_races.TINY, folder, stop)
    other = fake_races.parse(fake_races.TINY.replace("seed = 5", "seed = 6"))
    with pytest.raises(UsageError) as refused:
        fake_races.resume(folder, study=other)
    resume = "regatta race --resume 'my race'"
    assert str(refused.value).endswith(f"resume this one unchanged: {resume}")


def test_a_calibration_is_continued_with_its_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "my calibration"
    assert command_again(folder, True, ["equals", "power"], 3) == (
        "regatta calibrate --quick --only equals --only power --races 3 --out 'my calibration'"
    )
