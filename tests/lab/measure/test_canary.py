"""The clock that trials ran at is recorded, and told where it is not the same for all."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from regatta.judge.analyse import analyse
from regatta.judge.results import Analysis
from regatta.measure.places.side import SidePlacement
from regatta.measure.trial import canary
from regatta.measure.trial.canary import Canary, canary_on, describe
from regatta.record.read import read
from regatta.record.schema import FILE_NAME
from regatta.show.notes import different_clocks, notes
from regatta.show.soundness import clocks_sentence
from tests.lab import fake_races
from tests.lab.needs import CPUS, NEEDS_TWO_CPUS
from tests.lab.reports import told
from tests.lab.synthetic import make
from tests.ledgers import change, rows

HERE = SidePlacement((), (0,))
PAIR = f"{fake_races.PAIR}connections = [2]\n"
STUDY = fake_races.on_one_cpu(
    f'{PAIR}requests = 6\n{PAIR}rounds = 1\nscope = "process"',
    **{"blocks": 1, "counted_blocks": 0, "slices": 3},
)
# Counts how often it was asked, and says so.
SINGS = """#!{python}
import sys
asked = 0
while sys.stdin.buffer.read(1):
    asked += 1
    print(40_000 + asked, 50_000, flush=True)
"""


def program(folder: Path, text: str) -> Path:
    path = folder / "regatta-canary"
    path.write_text(text.format(python=sys.executable))
    path.chmod(0o755)
    return path


def test_it_is_asked_again_and_again(tmp_path: Path) -> None:
    with canary_on(HERE, program(tmp_path, SINGS)) as bird:
        assert [bird.ask(), bird.ask()] == [(40_001, 50_000), (40_002, 50_000)]
        assert describe([(1, 3), (2, 5)]) == {"canary_ns": 1.5, "canary_median_ns": 4.0}
    assert bird.process.returncode is not None
    assert describe([]) == {}
    with canary_on(HERE, None) as none:
        assert none is None


@pytest.mark.parametrize(
    "text", ["#!/bin/sh\nexit 1\n", "#!/bin/sh\nexec sleep 600\n", "#!/bin/sh\nexec cat\n"]
)
def test_one_that_does_not_answer_costs_a_figure_and_no_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(canary, "ANSWER_TIMEOUT_S", 0.1)
    bird = Canary(HERE, program(tmp_path, text))
    assert bird.ask() is None
    assert bird.ask() is None
    bird.leave()


@pytest.mark.parametrize("sings", [True, False])
def test_the_canary_runs_before_each_slice_and_each_whole_process(
    tmp_path: Path, programs_folder: Path, sings: bool
) -> None:
    if sings:
        program(programs_folder, SINGS)
    study = fake_races.parse(STUDY)
    folder = fake_races.race(study, tmp_path / "race", use_perf=False)
    ledger = read(folder / FILE_NAME)
    assert [trial.status for trial in ledger.trials] == ["ok"] * 4
    songs = [trial.conditions.get("canary_ns") for trial in ledger.trials]
    if not sings:
        assert songs == [None] * 4
        return
    # Two trials of three slices each, and two of a whole process: eight songs, each later by one.
    whole = sum(
        (song or 0) * (3 if trial.scope == "window" else 1)
        for song, trial in zip(songs, ledger.trials, strict=True)
    )
    assert whole == pytest.approx(sum(40_000 + asked for asked in range(1, 9)), abs=1)


def test_the_song_comes_after_the_server_and_before_the_load(
    tmp_path: Path, programs_folder: Path
) -> None:
    """Of a whole process before its server: all of its life is counted."""
    log = tmp_path / "log"
    program(programs_folder, SINGS.replace("asked += 1", f"open({str(log)!r}, 'a').write('s')"))
    for name, letter, when in (("server", "v", "--summary"), ("client", "l", "--samples")):
        path = programs_folder / f"regatta-{name}"
        note = f'case "$*" in *{when}*) printf {letter} >>{log};; esac'
        path.write_text(path.read_text().replace("exec", f"{note}\nexec"))
    fake_races.race(STUDY, tmp_path / "race", use_perf=False)
    assert re.fullmatch("(vv(sl){6}|svl)+", log.read_text())


@pytest.mark.usefixtures("programs_folder")
@NEEDS_TWO_CPUS
def test_it_sings_on_the_servers_cpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, ...]] = []

    def listen(server: SidePlacement, _: Path | None) -> None:
        asked.append(server.cpus)
        raise fake_races.StopError

    monkeypatch.setattr("regatta.measure.race.sittings.canary_on", listen)
    with pytest.raises(fake_races.StopError):
        fake_races.race(STUDY.replace("client_cpus = [0]", f"client_cpus = [{CPUS[-1]}]"), tmp_path)
    assert asked == [(0,)]


def sung(folder: Path, clocks: dict[str, float], noise: float = 0.002) -> Analysis:
    """A race whose contenders ran at these clocks, on a CPU whose own clock drifts by 10 %."""
    path = make(folder / FILE_NAME, connections=[1, 10], requests=40, counted_blocks=1)
    chance = np.random.default_rng(4)
    drift = chance.uniform(0.95, 1.05, 20)
    query = "SELECT trial.id, block, contender FROM trial JOIN cell ON cell.id = cell_id"
    songs = "json_set(conditions, '$.canary_ns', ?, '$.canary_median_ns', ?)"
    for number, block, contender in rows(path, query):
        song = 36_000 * drift[block] / clocks.get(contender, 1.0) * chance.normal(1, noise)
        values = (song, song * 1.01, number)
        change(path, f"UPDATE trial SET conditions = {songs} WHERE id = ?", *values)
    return analyse(read(path))


def test_a_contender_at_another_clock_speed_is_reported_with_the_others_clock(
    tmp_path: Path,
) -> None:
    analysis = sung(tmp_path, {"select": 0.95})
    found = {ran.contender: ran for ran in analysis.clocks}
    assert found["select"].clock.value == pytest.approx(0.95 ** (2 / 3), abs=0.002)
    assert found["select"].clock.low < 0.95 ** (2 / 3) < found["select"].clock.high
    assert found["select"].differs
    (note,) = different_clocks(analysis)
    said = note.sentence
    assert note in notes(analysis)
    assert "relative to the contenders it is compared with, iterative ran at" in said
    assert f"select ran at {found['select'].clock.value:.3f} (" in said
    assert "Clock speeds differ" in told(analysis)


def test_clock_drift_that_all_contenders_share_is_no_difference(tmp_path: Path) -> None:
    analysis = sung(tmp_path, {})
    assert [ran.differs for ran in analysis.clocks] == [False] * 3
    assert not any(different_clocks(analysis))
    assert clocks_sentence(analysis) == (
        "The clock speed before each window is not distinguishable between the contenders."
    )


def test_a_difference_that_moves_no_figure_is_none(tmp_path: Path) -> None:
    analysis = sung(tmp_path, {"select": 0.997}, noise=0.0001)
    assert not any(ran.differs for ran in analysis.clocks)
