"""What else takes a trial's CPUs is seen and named, and the trial run again: not forever."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from regatta.errors import StudyError
from regatta.judge.analyse import analyse
from regatta.measure.accounts import disturbance
from regatta.measure.accounts.disturbance import (
    ENDED,
    LEAST_NS,
    ClockReading,
    Others,
    merge,
    others_between,
    read_clocks,
    too_much,
)
from regatta.measure.accounts.process_tree import cpu_clock_ns
from regatta.measure.processes import NS_PER_TICK, read_stat
from regatta.measure.race.events import Event, RaceNote, TrialDisturbed, TrialFinished
from regatta.measure.race.run_plan import FIRST_HEATS, MAX_ATTEMPTS, Repeats
from regatta.record.read import read
from regatta.record.records import Trial
from regatta.record.schema import FILE_NAME
from regatta.record.study.race import make_plan
from regatta.record.write import Ledger
from regatta.show.notes import disturbed, progress
from tests.lab import fake_races, reports
from tests.ledgers import rows
from tests.waiting import wait_until

STUDY = fake_races.on_one_cpu(
    f"{fake_races.PAIR}connections = [3]\nrequests = 6\n", blocks=6, counted_blocks=0, seed=5
)
QUIET = Others(length_ns=100_000_000)
BUSY = Others(length_ns=100_000_000, used_ns={"rustc": 41_000_000, "cron": 100})
SPIN = "import time\nwhile True: pass"
SPUN_NS = 50_000_000
pytestmark = [pytest.mark.disturbed, pytest.mark.usefixtures("programs_folder")]


def test_a_busy_program_is_seen_and_named_and_the_labs_own_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A shell that ends at once leaves its child to somebody else: it is no longer ours.
    start = f'{sys.executable} -c "{SPIN}" >/dev/null 2>&1 & echo $!'
    told = subprocess.run(["sh", "-c", start], capture_output=True, text=True, check=True)
    foreign = int(told.stdout)
    own = subprocess.Popen([sys.executable, "-c", SPIN])
    cpus = range(os.cpu_count() or 1)

    def spun(pid: int) -> bool:
        return cpu_clock_ns(pid) > before.clocks[pid] + SPUN_NS

    try:
        wait_until(lambda: read_stat(foreign).name.startswith("python"), "it does not start")
        before = read_clocks()
        wait_until(lambda: spun(foreign) and spun(own.pid), "they do not run")
        after = read_clocks()
        alone = replace(after, clocks={pid: after.clocks[pid] for pid in (foreign, own.pid)})
        found = others_between(before, alone, list(cpus))
        monkeypatch.setattr(disturbance, "adopted", {foreign})
        adopted = others_between(before, alone, list(cpus))
    finally:
        os.kill(foreign, 9)
        own.kill()
        own.wait()
    ran_ns = after.clocks[foreign] - before.clocks[foreign]
    # Its clock may be read a little later after the window than before it.
    told_ns = [min(ran_ns, after.at_ns - before.at_ns)]
    assert list(found.used_ns.values()) == told_ns, "the foreign one alone, to the nanosecond"
    assert found.describe()["others"][0]["name"].startswith("python")
    assert adopted.used_ns == {}


@pytest.mark.parametrize(("allowed", "busy_ns"), [({0, 1}, 60_000_000), ({0, 1, 2}, 100_000_000)])
def test_the_labs_time_is_not_subtracted_from_cpus_that_it_stays_off(
    allowed: set[int], busy_ns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: allowed)
    before, after = (
        ClockReading(at_ns, {os.getpid(): ran_ns}, {1: [ticks] + [0] * 7})
        for at_ns, ran_ns, ticks in ((0, 0, 0), (500_000_000, 40_000_000, 10))
    )
    assert others_between(before, after, [0, 1]).busy_ns == busy_ns


def test_looking_is_cheap() -> None:
    assert min(price_of_a_look() for _ in range(20)) < 1


def price_of_a_look() -> float:
    """By what it may cost with as many processes as it found. In CPU time: others may run."""
    started = time.thread_time()
    found = read_clocks()
    return (time.thread_time() - started) / (1e-3 + len(found.clocks) * 20e-6)


@pytest.mark.parametrize(
    ("others", "words"),
    [
        (QUIET, None),
        (BUSY, "rustc used 41 % of a CPU"),
        (
            Others(100_000_000, {"rustc": 41_000_000, "python": 12_000_000}),
            "other programs used 53 % of a CPU (rustc 41 %, python 12 %)",
        ),
        (Others(50_000_000, {"cron": 16_000_000}), None),
        (Others(40_000_000, {"cron": LEAST_NS - 1}), None),
        (Others(40_000_000, {"cron": LEAST_NS + 1}), "cron used 50 % of a CPU"),
        (Others(1_000_000_000, {"cron": 99_000_000}), None),
        (Others(1_000_000_000, {"cron": 101_000_000}), "cron used 10 % of a CPU"),
        (Others(100_000_000, steal_ns=30_000_000), None),
        (Others(100_000_000, steal_ns=40_000_000), "the host took 40 % of a CPU"),
        (
            Others(100_000_000, {"rustc": 41_000_000}, steal_ns=40_000_000),
            "rustc used 41 % of a CPU and the host took 40 % of a CPU",
        ),
        (Others(100_000_000, kernel_ns=50_000_000), None),
    ],
)
def test_what_is_too_much(others: Others, words: str | None) -> None:
    assert too_much(others, 10) == words


def met(chance: np.random.Generator, length_s: float) -> float:
    """What others used in a window, in s: a daemon's ticks, 1 % in all, and bursts of 50 ms."""
    used_s = chance.gamma(length_s * 0.01 / 0.004, 0.004)
    for _ in range(chance.poisson(0.5 * (length_s + 0.3))):
        start_s, burst_s = chance.uniform(-0.3, length_s), chance.exponential(0.05)
        used_s += max(0.0, min(start_s + burst_s, length_s) - max(start_s, 0.0))
    return float(used_s)


def test_short_windows_are_cleaned_no_more_than_long_ones() -> None:
    """Both are repeated until neither is disturbed; then others have used alike of both."""
    chance = np.random.default_rng(1)
    lengths_s = np.array([0.06, 0.6])
    shares = []
    for _ in range(20_000):
        for _ in range(MAX_ATTEMPTS):
            used_s = np.array([met(chance, length_s) for length_s in lengths_s])
            others = [
                Others(round(length_s * 1e9), {"cron": round(used * 1e9)})
                for length_s, used in zip(lengths_s, used_s, strict=True)
            ]
            if not any(too_much(one, 10) for one in others):
                break
        shares.append(used_s / lengths_s)
    short, long = np.mean(shares, axis=0)
    assert abs(short - long) < 0.006, "by a trial that costs half as much more: 0.3 %"


STOLEN = Others(10**9, steal_ns=450_000_000, client_steal_ns=450_000_000)
BESIDE = Others(10**9, {"rustc": 410_000_000}, steal_ns=10**8, client_busy_ns=200_000_000)
SHARED = Others(10**9, {"rustc": 410_000_000}, client_busy_ns=700_000_000)


@pytest.mark.parametrize(
    ("others", "own_s", "cpu_share", "words"),
    [
        (STOLEN, 0.3, 0.3, "the host took 45 % of a CPU"),
        # What the host took may be in what the client seems to have used; all of this was not.
        (STOLEN, 0.9, 0.9, "the host took 45 % of a CPU"),
        (BESIDE, 0.15, 0.15, None),
        (SHARED, 0.2, 0.2, "rustc used 33 % of a CPU"),
        (SHARED, 0.85, 0.85, None),
        (QUIET, 0.0, 0.1, None),
    ],
)
def test_a_client_is_held_up_by_what_took_its_own_cpus(
    others: Others, own_s: float, cpu_share: float, words: str | None
) -> None:
    seen = disturbance.on_client(others, own_s * 1e9, 1)
    assert disturbance.held_up(seen, cpu_share, 10) == words


def test_the_windows_of_a_trial_are_one() -> None:
    whole = merge([BUSY, QUIET])
    assert whole.describe() == {
        "steal_percent": 0.0,
        "other_percent": 20.5,
        "kernel_percent": 0.0,
        "lab_percent": 0.0,
        "others": [{"name": "rustc", "percent": 20.5}, {"name": "cron", "percent": 0.0}],
    }


def test_programs_that_have_ended_show_in_the_ticks_beyond_chance() -> None:
    second = Others(length_ns=10**9, busy_ns=10**9)
    assert disturbance.with_ended(second, 0.8e9, 2) is second
    found = disturbance.with_ended(second, 0.1e9, 2).used_ns
    assert found[ENDED] == pytest.approx(0.67e9, abs=0.01e9)


def test_the_labs_own_time_does_not_count_as_ended_programs() -> None:
    """It reads the accounts of 10,000 threads between the two looks."""
    lab, cpus = os.getpid(), sorted(os.sched_getaffinity(0))
    before = ClockReading(0, {lab: 0}, {cpus[0]: [0] * 8})
    after = ClockReading(10**9, {lab: 10**9}, {cpus[0]: [100, *[0] * 6, 3]})
    alone = others_between(before, after, cpus, cpus[:1])
    assert alone.client_busy_ns == 100 * NS_PER_TICK
    assert alone.steal_ns == alone.client_steal_ns == 3 * NS_PER_TICK
    assert disturbance.with_ended(alone, 0.0, 2) is alone
    unknown = others_between(before, replace(after, clocks={lab: 0}), cpus)
    assert ENDED in disturbance.with_ended(unknown, 0.0, 2).used_ns


def test_what_others_did_on_two_hosts_at_once_is_added_over_one_length() -> None:
    found = disturbance.at_once([Others(10, {"cc": 4}), Others(12, {"cc": 1, "cron": 2}), Others()])
    assert (found.length_ns, found.used_ns) == (12, {"cc": 5, "cron": 2})


def test_a_machine_that_is_always_busy_makes_no_race_longer() -> None:
    repeats = Repeats()
    asked = [repeats.wanted(True, 1) for _ in range(FIRST_HEATS + 5)]
    assert asked == [True] * (FIRST_HEATS - 1) + [False] * 6
    assert "disturbed 11 of 11 groups of compared trials" in (repeats.note() or "")
    assert repeats.note() is None, "it is said once"
    for _ in range(100):
        repeats.wanted(False, 1)
    assert repeats.wanted(True, 1), "it has become quiet since"
    assert not repeats.wanted(True, MAX_ATTEMPTS)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> list[Others]:
    """What the next trials meet, in their order; all later ones are quiet."""
    coming: list[Others] = []
    monkeypatch.setattr(
        "regatta.measure.trial.trial.RunningTrial.others",
        lambda _, __: coming.pop(0) if coming else QUIET,
    )
    return coming


def race(tmp_path: Path, events: list[Event], text: str = STUDY) -> Path:
    return fake_races.race(text, tmp_path / "race", events.append, use_perf=False)


def raced_until(tmp_path: Path, kind: type[Event]) -> Path:
    """The ledger of a race that somebody stopped at the first event of the kind."""
    fake_races.stopped(STUDY, tmp_path / "race", at=kind, use_perf=False)
    return tmp_path / "race" / FILE_NAME


def test_a_disturbed_trial_is_run_again_with_those_it_is_compared_with(
    tmp_path: Path, script: list[Others]
) -> None:
    # In the first block one of two is hit, in the second one of them at each attempt.
    script += [QUIET, BUSY, QUIET, QUIET]
    script += [BUSY, QUIET, QUIET, BUSY, QUIET, BUSY]
    events: list[Event] = []
    folder = race(tmp_path, events)
    ledger = read(folder / FILE_NAME)
    told = [(trial.block, trial.attempt) for trial in ledger.trials]
    assert sorted(told) == sorted(
        [*[(1, 1), (1, 2)] * 2, *[(2, 1), (2, 2), (2, 3)] * 2, *[(n, 1) for n in range(3, 7)] * 2]
    )
    for trial in ledger.trials:
        assert trial.superseded == (trial.attempt < {1: 2, 2: 3}.get(trial.block, 1))
        assert trial.counts != trial.superseded
    marked = [trial for trial in ledger.trials if trial.disturbed is not None]
    assert sorted(trial.superseded for trial in marked) == [False, True, True, True]
    assert marked[0].disturbed == "rustc used 41 % of a CPU"
    assert marked[0].conditions["others"][0] == {"name": "rustc", "percent": 41.0}
    assert sum(isinstance(event, TrialDisturbed) for event in events) == 6
    finished = [event for event in events if isinstance(event, TrialFinished)]
    assert {event.number for event in finished} == set(range(1, 13))
    assert finished[-1].left == 0
    analysis = analyse(ledger)
    assert (analysis.trials, analysis.planned) == (12, 12)
    (note,) = disturbed(analysis)
    assert note.sentence == (
        "4 trials disturbed: other programs or the host took more than 10 % of a CPU during the "
        "window; 3 repeated (only the last attempt is kept), 1 kept in the averages."
    )
    reports.write(folder / FILE_NAME)
    for name in ("report.html", "summary.md"):
        text = (folder / name).read_text()
        assert text.count("rustc used 41 % of a CPU") == 4
        assert "Disturbed trials" in text
        assert "Repeated trials" in text
    told_json = reports.summary_json(folder / FILE_NAME)
    assert told_json["trials"]["disturbed"] == 4
    assert sorted(one["run_again"] for one in told_json["disturbed"]) == [False, True, True, True]
    again = {one["contender"]: one["again"] for one in told_json["repeated"]["contenders"]}
    assert again == {"iterative": 3, "select": 3}


def test_only_those_of_a_block_that_are_compared_are_run_again(
    tmp_path: Path, script: list[Others]
) -> None:
    text = STUDY.replace("connections = [3]", "connections = [3, 6]")
    plan = make_plan(4, 6, 0, seed=5)
    script += [BUSY]
    folder = race(tmp_path, [], text)
    ledger = read(folder / FILE_NAME)
    connections = {cell.id: cell.connections for cell in ledger.cells}
    hit = connections[plan[0].cell_id]
    again = [trial for trial in ledger.trials if trial.attempt == 2]
    assert [connections[trial.cell_id] for trial in again] == [hit, hit]
    assert {trial.block for trial in again} == {1}


def test_trials_side_by_side_are_run_again_together(tmp_path: Path, script: list[Others]) -> None:
    script += [QUIET, BUSY]
    events: list[Event] = []
    folder = race(tmp_path, events, STUDY.replace("seed = 5", "seed = 5\nslices = 2"))
    trials = read(folder / FILE_NAME).trials
    assert sorted(trial.attempt for trial in trials if trial.block == 1) == [1, 1, 2, 2]
    again = [event for event in events if isinstance(event, TrialDisturbed)]
    assert [event.disturbed for event in again] == [None, "rustc used 41 % of a CPU"]
    assert [event.number for event in again] == [1, 2]


@pytest.mark.parametrize(
    ("met", "at", "superseded"),
    [([BUSY, QUIET], TrialDisturbed, [True, True]), ([BUSY], TrialFinished, [False])],
    ids=["before the second attempt", "within a heat"],
)
def test_a_resumed_race_runs_again_what_was_disturbed_when_it_was_stopped(
    tmp_path: Path,
    script: list[Others],
    met: list[Others],
    at: type[Event],
    superseded: list[bool],
) -> None:
    script += met
    path = raced_until(tmp_path, at)
    assert [trial.superseded for trial in read(path).trials] == superseded
    fake_races.resume(tmp_path / "race")
    trials = read(path).trials
    assert sorted((trial.block, trial.attempt, trial.superseded) for trial in trials) == sorted(
        [(1, 1, True), (1, 2, False), *[(block, 1, False) for block in range(2, 7)]] * 2
    )


def test_a_race_killed_before_its_last_trials_were_run_again_is_not_finished(
    tmp_path: Path, script: list[Others]
) -> None:
    script += [*[QUIET] * 11, BUSY]
    path = raced_until(tmp_path, TrialDisturbed)
    ledger = read(path)
    assert sum(trial.superseded for trial in ledger.trials) == 2
    analysis = analyse(ledger)
    assert (analysis.trials, analysis.planned) == (10, 12)
    (note,) = progress(analysis)
    assert "not finished: 10 of 12 trials" in note.sentence
    fake_races.resume(tmp_path / "race")
    assert analyse(read(path)).trials == 12


def test_a_kill_between_two_trials_side_by_side_leaves_neither(
    tmp_path: Path, script: list[Others], monkeypatch: pytest.MonkeyPatch
) -> None:
    script.append(QUIET)
    written: list[int] = []
    real = Ledger.write_trial

    def killed(book: Ledger, trial: Trial) -> None:
        written.append(trial.cell_id)
        if len(written) == 2:
            raise KeyboardInterrupt
        real(book, trial)

    text = STUDY.replace("seed = 5", "seed = 5\nslices = 2")
    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "write_trial", killed)
        with pytest.raises(KeyboardInterrupt):
            race(tmp_path, [], text)
    path = tmp_path / "race" / FILE_NAME
    assert read(path).trials == []
    fake_races.resume(tmp_path / "race")
    assert len(read(path).trials) == 12


def test_a_busy_machine_is_reported_once_and_its_trials_are_kept(
    tmp_path: Path, script: list[Others]
) -> None:
    script += [BUSY] * 100
    events: list[Event] = []
    folder = race(tmp_path, events)
    notes = [event.text for event in events if isinstance(event, RaceNote)]
    assert len(notes) == 1
    assert "disturbed 6 of 6 groups of compared trials" in notes[0]
    attempts = rows(folder, "SELECT max(attempt) FROM trial GROUP BY cell_id, block")
    assert sorted(attempt for (attempt,) in attempts) == [1] * 2 + [3] * 10, (
        "the last of six blocks is the sixth heat"
    )


@pytest.mark.parametrize("value", ["0", "-1", '"ten"', "true", "2e6"])
def test_a_limit_is_a_percentage(value: str) -> None:
    text = STUDY.replace("seed = 5", f"disturbance_limit_percent = {value}")
    with pytest.raises(StudyError, match=r"race.disturbance_limit_percent.*a number from"):
        fake_races.parse(text)
