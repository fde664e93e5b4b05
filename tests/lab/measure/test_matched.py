"""Equal loads: the search before the race, its records, and a race that goes on in mid-search."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from regatta.errors import RegattaError, StudyError
from regatta.measure.race.events import Event, RaceNote, Searched, Searching, SearchStarted, Started
from regatta.measure.race.find_rates import ProbeServer
from regatta.record.cell import Cell, MatchedCell
from regatta.record.rate_search import beyond_half
from regatta.record.records import CLOSED, KNEE, SEARCH, PlannedProbe, Probe
from regatta.record.schema import FILE_NAME
from regatta.record.study import Study, with_rates
from tests.lab import fake_races
from tests.ledgers import change, rows

STUDY = """
name = "equal"
[race]
blocks = 1
counted_blocks = 0
warmup_limit_s = 0
search_blocks = 3
seed = 5
[[cells]]
designs = ["iterative", "select", "thread-per-client"]
connections = 2
load = "matched"
duration_s = 0.01
"""
ONE = STUDY + "shares = 0.5\n"
OWN = '[contenders.go]\ncommand = "go {host} {port}"\n'
CAPACITY = {"iterative": 4_000, "select": 20_000, "thread-per-client": 9_000}
pytestmark = pytest.mark.usefixtures("programs_folder")


def study(text: str = STUDY) -> Study:
    return fake_races.parse(text)


class Simulated:
    """Stands for a server: it holds what CAPACITY says. Remembers what it was asked."""

    def __init__(self) -> None:
        self.capacity = dict(CAPACITY)
        self.client = 1_000_000.0
        """Half of what the client can, in the first block; 1 % more in each that follows."""
        self.closed_fails = False
        self.loads: list[Cell] = []
        """What it would have been asked by."""
        self.asked: list[tuple[str, PlannedProbe]] = []
        self.disturb: set[int] = set()
        """Probes, counted from 1, that something else disturbs."""
        self.die_at = 0
        """The probe, counted from 1, in which somebody types Ctrl-C."""

    def probe(self, name: str, planned: PlannedProbe) -> Probe:
        self.asked.append((name, planned))
        count = len(self.asked)
        if count == self.die_at:
            raise KeyboardInterrupt
        disturbed = "rustc used 90 % of a CPU" if count in self.disturb else None
        if planned.kind == CLOSED:
            return self.closed(planned, disturbed)
        holds = planned.rate <= self.capacity[name] and disturbed is None
        return Probe(planned, None if holds else "too slow", 1.0, disturbed, {"requests": 1}, None)

    def closed(self, planned: PlannedProbe, disturbed: str | None) -> Probe:
        half = self.client * (1 + 0.01 * (planned.block - 1))
        if disturbed is not None:
            half /= 3
        client = {"requests": 1, "throughput_per_s": 1.6 * half, "cpu_share": 0.8}
        why_not = "failed: it died" if self.closed_fails else None
        return Probe(planned, why_not, 1.0, disturbed, client, None)


@pytest.fixture(autouse=True)
def simulated(monkeypatch: pytest.MonkeyPatch) -> Simulated:
    found = Simulated()

    def probe(stand: ProbeServer, planned: PlannedProbe, seed: int) -> Probe:  # noqa: ARG001
        found.loads.append(stand.load(planned))
        return found.probe(stand.cell.contender, planned)

    monkeypatch.setattr(ProbeServer, "probe", probe)
    return found


def race(folder: Path, text: str = ONE) -> list[Event]:
    events: list[Event] = []
    fake_races.race(study(text), folder, events.append, placement="loopback", use_perf=False)
    return events


def begin_or_resume(folder: Path) -> None:
    if (folder / FILE_NAME).exists():
        fake_races.resume(folder)
    else:
        race(folder, ONE + "knee = true\n")


PROBES = "SELECT search_id, kind, block, rate, share, why_not FROM probe ORDER BY id"
CELLS = "SELECT contender, load, rate FROM cell ORDER BY id"
TRIALS = "SELECT block, position, cell_id, kind, status FROM trial ORDER BY block, position"


def test_all_are_raced_at_the_same_shares_of_what_the_weakest_holds(tmp_path: Path) -> None:
    race(tmp_path / "race", STUDY)
    cells = rows(tmp_path / "race", CELLS)
    assert {load for _, load, _ in cells} == {"open"}
    rates = {
        name: [int(str(rate)) for contender, _, rate in cells if contender == name]
        for name in CAPACITY
    }
    assert len(set(map(tuple, rates.values()))) == 1
    assert rates["select"] == pytest.approx([1_000, 2_000, 3_000], rel=0.04)
    assert len(rows(tmp_path / "race", TRIALS)) == 9


def test_the_search_is_reported_and_precedes_the_race(tmp_path: Path) -> None:
    events = race(tmp_path / "race")
    kinds = [type(event) for event in events]
    assert kinds[0] is SearchStarted
    last = max(at for at, kind in enumerate(kinds) if kind is Searched)
    assert last < kinds.index(Started)
    ended = [event for event in events if isinstance(event, Searched)]
    assert [event.number for event in ended] == list(range(1, 10))
    assert {event.turns for event in ended} == {9}


def test_a_first_look_that_is_stopped_in_mid_search_goes_on_as_one(
    tmp_path: Path, simulated: Simulated
) -> None:
    longer = ONE.replace("blocks = 1\ncounted_blocks = 0", "blocks = 9\ncounted_blocks = 3")
    simulated.die_at = 5
    with pytest.raises(KeyboardInterrupt):
        fake_races.race(study(longer), tmp_path, placement="loopback", use_perf=False, quick=True)
    assert rows(tmp_path, CELLS) == []
    fake_races.resume(tmp_path)
    assert rows(tmp_path, "SELECT max(block) FROM probe") == [(2,)]
    kinds = "SELECT kind, count(DISTINCT block) FROM trial GROUP BY kind ORDER BY kind"
    assert rows(tmp_path, kinds) == [("counted", 2), ("timed", 7)]


def test_a_race_that_is_stopped_in_mid_search_goes_on_and_repeats_nothing(
    tmp_path: Path, simulated: Simulated
) -> None:
    simulated.client = 15_000.0  # select's limit, which is read from the ledger
    race(tmp_path / "whole", ONE + "knee = true\n")
    whole = rows(tmp_path / "whole", PROBES)
    assert {kind for _, kind, *_ in whole} == {CLOSED, SEARCH, KNEE}
    asked = len(simulated.asked)
    folder = tmp_path / "cut"
    cuts = [3, 20, len(whole) // 2, 1, 5]
    for cut in cuts:
        simulated.die_at = len(simulated.asked) + cut
        with pytest.raises(KeyboardInterrupt):
            begin_or_resume(folder)
    simulated.die_at = 0
    fake_races.resume(folder)
    assert rows(folder, PROBES) == whole
    assert len(simulated.asked) == 2 * asked + len(cuts), "only the probes that Ctrl-C met"
    assert rows(folder, CELLS) == rows(tmp_path / "whole", CELLS)
    assert rows(folder, TRIALS) == rows(tmp_path / "whole", TRIALS)


def test_a_race_that_is_resumed_after_its_search_does_not_search_again(
    tmp_path: Path, simulated: Simulated
) -> None:
    race(tmp_path / "race")
    asked = len(simulated.asked)
    change(tmp_path / "race", "DELETE FROM trial WHERE position = 3")
    change(tmp_path / "race", "DELETE FROM counter WHERE trial_id NOT IN (SELECT id FROM trial)")
    fake_races.resume(tmp_path / "race")
    assert len(simulated.asked) == asked
    assert len(rows(tmp_path / "race", TRIALS)) == 3


def test_a_contender_that_holds_nothing_is_one_line_and_the_race_goes_on(
    tmp_path: Path, simulated: Simulated
) -> None:
    simulated.capacity["iterative"] = 50
    events = race(tmp_path / "race")
    (line,) = [event.text for event in events if isinstance(event, RaceNote)]
    assert line == (
        "iterative does not hold 100 requests a second (too slow), and is not in this race"
    )
    cells = rows(tmp_path / "race", CELLS)
    assert {name for name, *_ in cells} == {"select", "thread-per-client"}
    assert min(int(str(rate)) for *_, rate in cells) == pytest.approx(9_000 / 2, rel=0.04)
    query = "SELECT block FROM probe WHERE search_id = 1 AND kind = 'search'"
    tried = rows(tmp_path / "race", query)
    assert set(tried) == {(1,)}, "it is not searched for again"


def test_a_race_in_which_no_contender_holds_a_rate_is_a_one_line_error(
    tmp_path: Path, simulated: Simulated
) -> None:
    simulated.capacity = dict.fromkeys(CAPACITY, 1)
    with pytest.raises(RegattaError, match="nothing to race: iterative does not hold 100") as error:
        race(tmp_path / "race")
    assert "\n" not in str(error.value)


def test_what_was_disturbed_is_repeated_and_not_believed(
    tmp_path: Path, simulated: Simulated
) -> None:
    race(tmp_path / "quiet")
    simulated.asked.clear()
    simulated.disturb = {1, 3, 20, 21}
    race(tmp_path / "race")
    believed = PROBES.replace("ORDER", "WHERE NOT again ORDER")
    assert rows(tmp_path / "race", believed) == rows(tmp_path / "quiet", PROBES)
    query = "SELECT count(*), min(disturbed) FROM probe WHERE again"
    assert rows(tmp_path / "race", query) == [(4, "rustc used 90 % of a CPU")]


def test_half_of_what_the_client_can_is_the_highest_rate_of_each_search(
    tmp_path: Path, simulated: Simulated
) -> None:
    simulated.client = 6_000.0
    events = race(tmp_path / "race")
    asked = [planned for name, planned in simulated.asked if name == "select"]
    for block, half in enumerate((6_000, 6_060, 6_120), start=1):
        first, *tried = [planned for planned in asked if planned.block == block]
        assert (first.kind, first.rate) == (CLOSED, 0)
        assert max(planned.rate for planned in tried) == tried[-1].rate == half
    says = [event.says for event in events if isinstance(event, Searched)]
    assert sum(beyond_half(6_000) in text for text in says) == 2
    limited = [text for text in says if "the client's limit" not in text]
    assert len(limited) == 3, "iterative holds less than that"
    assert sum(isinstance(event, Searching) and event.rate is None for event in events) == 9


@pytest.mark.parametrize("slices", [1, 2])
def test_searches_take_turns_where_servers_run_side_by_side(
    tmp_path: Path, simulated: Simulated, slices: int
) -> None:
    race(tmp_path / "race", STUDY.replace("[race]", f"[race]\nslices = {slices}"))
    in_first = [
        name for name, planned in simulated.asked if (planned.kind, planned.block) == (SEARCH, 1)
    ]
    changes = sum(name != after for name, after in pairwise(in_first))
    assert len(set(in_first)) == 3
    assert (changes == 2) == (slices == 1)
    assert slices == 1 or changes > 12


def test_each_search_begins_with_a_closed_load_over_the_same_connections(
    tmp_path: Path, simulated: Simulated
) -> None:
    race(tmp_path / "race", STUDY.replace("duration_s", 'arrivals = "poisson"\nduration_s'))
    closed = [load for load in simulated.loads if load.load == "closed"]
    assert len(closed) == 9
    assert {(load.connections, load.rate, load.arrivals, load.duration_s) for load in closed} == {
        (2, None, None, 0.3)
    }
    rest = [load for load in simulated.loads if load.load != "closed"]
    assert {(load.load, load.arrivals) for load in rest} == {("open", "poisson")}


def test_a_contender_that_fails_under_a_closed_load_is_searched_without_its_limit(
    tmp_path: Path, simulated: Simulated
) -> None:
    simulated.client, simulated.closed_fails = 6_000.0, True
    race(tmp_path / "race")
    highest = rows(tmp_path / "race", "SELECT max(rate) FROM probe WHERE why_not IS NULL")
    assert highest == [(pytest.approx(20_000, rel=0.04),)]
    assert rows(tmp_path / "race", "SELECT count(*) FROM probe WHERE kind = 'closed'") == [(9,)]


def test_the_knee_is_measured_at_shares_of_what_each_holds_itself(
    tmp_path: Path, simulated: Simulated
) -> None:
    race(tmp_path / "race", ONE + "knee = true\n")
    kneed = [(name, planned) for name, planned in simulated.asked if planned.kind == KNEE]
    assert len(kneed) == 3 * 3 * 6
    for name, planned in kneed:
        assert planned.rate == pytest.approx(planned.share * CAPACITY[name], rel=0.04)
        assert planned.rate * planned.duration_s >= 99, "fewer requests have no p99"


GROUP = STUDY.partition("load =")[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (STUDY + "shares = [0.5, 2]", ["cells[1].shares", "2", "0.01 to 1"]),
        (STUDY + "shares = []", ["cells[1].shares", "not empty"]),
        (STUDY + "shares = [0.5, 0.5]", ["cells[1].shares", "without duplicates"]),
        (STUDY + "shares = [true]", ["cells[1].shares", "True"]),
        (STUDY + "p99_limit_ms = 0", ["cells[1].p99_limit_ms", "0.1 to 60000"]),
        (STUDY + 'knee = "yes"', ["cells[1].knee", "yes", "true or false"]),
        (STUDY + "rate = 100", ["cells[1].rate", "load open", "matched"]),
        (STUDY + "rounds = 2", ["cells[1].rounds", "load burst", "matched"]),
        (STUDY + 'engine = "thread"', ["load matched", "epoll", "thread"]),
        (STUDY + 'scope = "process"', ["allows only the load burst", "burst"]),
        (GROUP + "knee = true", ["cells[1].knee", "load matched", "burst"]),
        (GROUP + 'load = "burst"\nshares = 0.5', ["cells[1].shares", "load matched", "burst"]),
        (STUDY.replace("search_blocks = 3", "search_blocks = 1"), ["race.search_blocks", "2 to"]),
    ],
)
def test_a_mistake_is_named_in_one_line(text: str, words: list[str]) -> None:
    with pytest.raises(StudyError) as error:
        study(text)
    assert "\n" not in str(error.value)
    for word in words:
        assert word in str(error.value)


def test_another_server_is_raced_at_equal_loads_by_default() -> None:
    group = 'name = "a"\n{own}[[cells]]\ndesigns = ["select"]\n{keys}\n'
    keys = 'contenders = ["go"]\ndialect = "http"'
    theirs = study(group.format(own=OWN, keys=keys))
    assert {(cell.contender, cell.load, cell.connections) for cell in theirs.cells} == {
        ("select", "matched", 50),
        ("go", "matched", 50),
    }
    burst = study(group.format(own=OWN, keys=keys + '\nload = "burst"\nconnections = 1'))
    assert {cell.load for cell in burst.cells} == {"burst"}
    ours = study(group.format(own="", keys="connections = 1"))
    assert {cell.load for cell in ours.cells} == {"burst"}


def test_each_combination_has_its_own_weakest() -> None:
    cells = study(STUDY.replace("connections = 2", "connections = [2, 9]")).cells
    matched = [cell for cell in cells if isinstance(cell, MatchedCell)]
    held = {cell: 1000.0 * cell.connections + len(cell.contender) for cell in matched}
    raced = with_rates(cells, held)
    rates = {(cell.connections, cell.rate) for cell in raced}
    assert {count for count, _ in rates} == {2, 9}
    assert len(rates) == 6
    assert len(raced) == 18


def test_shares_so_close_that_they_are_one_rate_make_one_cell() -> None:
    (cell, *_) = study(STUDY).cells
    assert isinstance(cell, MatchedCell)
    close = replace(cell, shares=(0.5, 0.501))
    assert [cell.rate for cell in with_rates([close], {close: 100.0})] == [50]
