"""A race in several sittings: each draws anew what a single one keeps, and none is lost."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regatta.judge.statistics.blocks_needed import too_few_note
from regatta.measure.network.steering import Steering
from regatta.measure.places.side import SidePlacement
from regatta.measure.places.sides import Placement
from regatta.measure.race import sittings
from regatta.measure.race.events import Event, Pausing, RaceNote, SittingStarted, Started
from regatta.measure.race.place_sides import place_sides
from regatta.measure.race.sittings import MOST_BYTES, draw_sitting, remake_placement, unchanged_note
from regatta.record.read import read
from regatta.record.schema import FILE_NAME
from regatta.record.study import Study
from regatta.record.study.limits import STEERINGS
from tests.lab import fake_races
from tests.ledgers import rows

SITTINGS = 3
TRIALS = 2 * 3 * SITTINGS
STUDY = fake_races.on_one_cpu(
    f"{fake_races.PAIR}connections = [3]\nrequests = 6\n",
    **{"blocks": 2, "counted_blocks": 1, "sittings": SITTINGS, "pause": '"90s"', "seed": 5},
)
pytestmark = pytest.mark.usefixtures("programs_folder")


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses, which a test does not wait for."""
    found: list[float] = []
    monkeypatch.setattr("regatta.measure.race.sittings.sleep", found.append)
    return found


def study() -> Study:
    return fake_races.parse(STUDY)


def raced(folder: Path, tell: Callable[[Event], None] = lambda _: None) -> Path:
    return fake_races.race(study(), folder / "race", tell)


def test_every_sitting_runs_the_whole_study_in_its_own_order(
    tmp_path: Path, slept: list[float]
) -> None:
    events: list[Event] = []
    folder = raced(tmp_path, events.append)
    done = rows(folder, "SELECT sitting, kind, count(*) FROM trial GROUP BY 1, 2 ORDER BY 1, 2")
    kinds = [("counted", 2), ("timed", 4)]
    assert done == [(number, *kind) for number in (1, 2, 3) for kind in kinds]
    query = "SELECT block, position, cell_id, sitting FROM {} ORDER BY 1, 2"
    assert rows(folder, query.format("plan")) == rows(folder, query.format("trial"))
    assert slept == [90, 90]
    said = [event.text for event in events if isinstance(event, RaceNote)]
    assert len(said) == 1
    assert "our server cannot be relinked" in said[0]
    assert "make build" in said[0], "these programs have no build folder"


def test_every_sitting_has_its_own_networks(
    tmp_path: Path, slept: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Placement] = []

    def fresh(*asked: Any) -> Placement:
        assert slept, "the pause comes first: what lives through it is not fresh"
        made.append(place_sides(*asked))
        return made[-1]

    monkeypatch.setattr(sittings, "place_sides", fresh)
    raced(tmp_path)
    assert len(made) == SITTINGS - 1
    assert {place.kind for place in made} == {"loopback"}
    assert all(not place.holders for place in made)


@pytest.mark.parametrize("kind", STEERINGS)
def test_every_sitting_is_placed_steered_and_loaded_as_the_first(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sittings, "place_sides", lambda study, _: study)
    sides = (SidePlacement((), (0, 2)), SidePlacement((), (1,)))
    first = Placement("netns", None, *sides, "198.18.0.1", steering=Steering(kind), client_count=3)
    three = fake_races.parse(STUDY.replace("client_cpus = [0]", "client_cpus = [0]\nclients = 3"))
    asked = remake_placement(fake_races.trial_setup(tmp_path, first), three)
    assert (asked.placement, asked.server_cpus, asked.client_cpus) == ("netns", (0, 2), (1,))
    assert (asked.steering, asked.client_count) == (kind, 3)


@pytest.mark.usefixtures("slept")
def test_a_sitting_records_its_time_its_machine_and_its_own_environment(tmp_path: Path) -> None:
    folder = raced(tmp_path)
    found = read(folder / FILE_NAME).sittings
    assert [sitting.number for sitting in found] == [1, 2, 3]
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert {sitting.boot_id for sitting in found} == {boot}
    assert all(sitting.cpu_model and sitting.kernel for sitting in found)
    began = [sitting.started_at for sitting in found]
    assert sorted(began) == began
    query = "SELECT DISTINCT sitting, json_extract(server, '$.padding') FROM trial ORDER BY 1"
    sizes = [(sitting.number, sitting.environment_bytes) for sitting in found]
    assert rows(folder, query) == sizes, "the same for all contenders"
    assert len({size for _, size in sizes}) == SITTINGS


@pytest.mark.parametrize("after", range(0, TRIALS, 8))
def test_a_race_stopped_in_any_sitting_loses_none_and_repeats_none(
    tmp_path: Path, slept: list[float], after: int
) -> None:
    folder = tmp_path / "race"
    fake_races.stopped(STUDY, folder, after=after)
    before = rows(folder, "SELECT * FROM trial")
    assert len(before) == after + 1
    fake_races.resume(folder)
    assert rows(folder, "SELECT * FROM trial")[: after + 1] == before
    query = "SELECT count(*), count(DISTINCT block * 100 + cell_id) FROM trial"
    assert rows(folder, query) == [(TRIALS, TRIALS)]
    sizes = "SELECT count(DISTINCT environment_bytes) FROM sitting GROUP BY number"
    assert rows(folder, sizes) == [(1,)] * SITTINGS, "one that goes on is as it was begun"
    assert len(slept) == SITTINGS - 1


def test_a_race_stopped_in_a_pause_resumes_with_the_next_sitting_at_once(
    tmp_path: Path, slept: list[float]
) -> None:
    def stop(event: Event) -> None:
        if isinstance(event, Pausing):
            raise KeyboardInterrupt

    folder = tmp_path / "race"
    fake_races.stopped(STUDY, folder, at=Pausing)
    assert rows(folder, "SELECT DISTINCT sitting FROM trial") == [(1,)]
    events: list[Event] = []
    with pytest.raises(KeyboardInterrupt):
        fake_races.resume(folder, lambda event: (events.append(event), stop(event))[1])
    assert rows(folder, "SELECT DISTINCT sitting FROM trial") == [(1,), (2,)]
    begun = [event for event in events if isinstance(event, SittingStarted | Pausing)]
    assert [type(event) for event in begun] == [SittingStarted, Pausing]
    assert slept == []


def test_the_command_line_wants_more_sittings_than_the_study(
    tmp_path: Path, slept: list[float]
) -> None:
    single = fake_races.parse(STUDY.replace(f"sittings = {SITTINGS}", ""))
    events = fake_races.stopped(single, tmp_path / "race", after=1, sittings=2, pause_s=7)
    assert isinstance(events[0], Started)
    assert (events[0].sittings, events[0].trials) == (2, 12)
    folder = fake_races.resume(tmp_path / "race")
    assert rows(folder, "SELECT DISTINCT sitting FROM trial ORDER BY 1") == [(1,), (2,)]
    assert slept == [7]


def test_other_servers_are_named_as_the_same_in_every_sitting() -> None:
    assert unchanged_note(study()) == ""
    theirs = '["select"]\ncontenders = ["go"]\nload = "burst"'
    text = STUDY.replace('["iterative", "select"]', theirs)
    text += '[contenders.go]\ncommand = "go {host} {port}"\ndialect = "line"\n'
    said = unchanged_note(fake_races.parse(text))
    assert said.startswith("the same binary in every sitting: go;")


@pytest.mark.parametrize(("sittings", "words"), [(2, "which needs 3: there are 2"), (3, "")])
def test_the_race_says_before_it_starts_if_its_sittings_carry_no_verdict(
    sittings: int, words: str
) -> None:
    text = STUDY.replace(f"sittings = {SITTINGS}", f"sittings = {sittings}")
    said = too_few_note(fake_races.parse(text))
    assert words in said
    assert bool(said) == bool(words), "two blocks in each are enough where there are three"


def test_the_seed_draws_what_is_new_and_one_sitting_is_as_built() -> None:
    assert draw_sitting(1, 1, 1) == (0, None)
    many = [draw_sitting(seed, number, 5) for seed in range(20) for number in range(1, 6)]
    assert many == [draw_sitting(seed, number, 5) for seed in range(20) for number in range(1, 6)]
    sizes = [size for size, _ in many]
    assert len(set(sizes)) > 90
    assert min(sizes) < MOST_BYTES / 10
    assert MOST_BYTES * 0.9 < max(sizes) <= MOST_BYTES
