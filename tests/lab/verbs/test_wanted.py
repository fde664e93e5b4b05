"""What the servers of a comparison are asked: checked before it, and the same in its study, with
as many processes as fit: fewer and longer ones where warming takes long."""

from dataclasses import replace
from pathlib import Path

import pytest

from regatta.errors import UsageError
from regatta.judge.statistics.units import BLOCKS, FEW_BLOCKS
from regatta.measure.race.run_plan import MOST_SPOILT
from regatta.measure.trial.warming import FirstProcess, WarmUps
from regatta.record.steady import WARMED, Slice, WarmUp
from regatta.record.study import Study, parse_study
from regatta.record.study.parse import WHY_BLOCKS
from regatta.verbs.servers.servers import Server
from regatta.verbs.servers.wanted import LONG_S, Wanted, fit, study_of, study_text
from regatta.verbs.versus import cpus_of_sides
from tests.lab import fake_races
from tests.servers import program

CLIENT = Path(program("regatta-client"))
MINE = Server("mine", design=False, command=("mine", "{port}"))
POST = '{"path": "/", "weight": 2}\n{"method": "POST", "path": "/items", "body": "x"}\n'
PING, PONG = r"PING\r\n", r"^\+PONG\r\n"


@pytest.mark.parametrize(
    ("wanted", "complaint"),
    [
        (Wanted(path="/x", raw="a", until="b"), "--path and --raw exclude each other"),
        (Wanted(path="/x", body=Path("b"), raw="a", until="b"), "--raw and --body exclude"),
        (Wanted(path="/x", body=Path("none")), "none, which cannot be read: No such file"),
        (Wanted(path="/x", body=Path("b"), grpc=Path("g")), "--body and --grpc exclude"),
        (Wanted(grpc=Path("g")), "--grpc needs --path /PACKAGE.SERVICE/METHOD"),
        (Wanted(path="/x", grpc=Path("none")), "none, which cannot be read: No such file"),
        (Wanted(websocket=True, http2=True), "--http2 is not for WebSocket"),
        (Wanted(websocket=True, raw="a", until="b"), "--raw is not for --websocket"),
        (Wanted(websocket=True, events=0), "--events is not for WebSocket"),
        (Wanted(events=1, raw="a", until="b"), "--raw is not for --events"),
        (Wanted(path="x"), "--path is 'x'; it must be a path such as /hello"),
        (Wanted(raw="a"), "give both"),
        (Wanted(until="a"), "give both"),
        (Wanted(requests=Path("none")), "--request names"),
        (Wanted(raw="é", until="b"), "--raw is 'é'"),
        (Wanted(raw="a", until="b$"), "leave out $"),
        (Wanted(p99_limit_ms=0.0), "--p99-limit is 0; it must be a number from 0.1 to 60000"),
        (Wanted(width_percent=0.0), "--width is 0; it must be a number from 0.1 to 100"),
    ],
)
def test_wrong_options_are_refused_in_one_line(
    wanted: Wanted, complaint: str, tmp_path: Path
) -> None:
    def checked() -> None:
        wanted.check([MINE], CLIENT)
        study_of([MINE], wanted, (), tmp_path)

    with pytest.raises(UsageError) as error:
        checked()
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)


def test_a_design_answers_only_its_own_paths() -> None:
    asked = Wanted(raw=PING, until=PONG)
    asked.check([MINE], CLIENT)
    with pytest.raises(UsageError, match="epoll is a design"):
        asked.check([Server("epoll", True), MINE], CLIENT)
    with pytest.raises(UsageError, match="designs need nothing"):
        Wanted(needs={"env": {"A": "b"}}).check([Server("epoll", True)] * 2, CLIENT)


def test_a_path_in_any_script_is_encoded() -> None:
    asked = Wanted(path="/café au lait?q=%20&x=[1]")
    asked.check([MINE], CLIENT)
    assert asked.encoded_path == "/caf%C3%A9%20au%20lait?q=%20&x=[1]"


def test_the_study_asks_the_same(tmp_path: Path) -> None:
    file, folder = tmp_path / "posts.jsonl", tmp_path / "there"
    file.write_text(POST)
    folder.mkdir()
    for place, name in ((tmp_path, "posts.jsonl"), (folder, str(file))):
        text = study_text([MINE], Wanted(requests=file, ready_timeout_s=120), place)
        contender = fake_races.parse(text, place).contenders["mine"]
        assert contender.requests is not None
        assert (contender.requests.name, contender.ready_timeout_s) == (name, 120)
        assert [request.method for request in contender.requests.requests] == ["GET", "POST"]
    wanted = Wanted(raw=PING, until=PONG, p99_limit_ms=400)
    (cell,) = fake_races.parse(study_text([MINE], wanted, folder), folder).cells
    assert (cell.dialect, cell.request, cell.until) == ("line", PING, PONG)
    assert getattr(cell, "p99_limit_ms", None) == 400


TEXT = """
name = "two"
[race]
blocks = 6
most_blocks = 50
width_percent = 5
counted_blocks = 1
[contenders.a]
command = ["a", "{port}"]
[contenders.b]
command = ["b", "{port}"]
[[cells]]
contenders = ["a", "b"]
connections = 10
dialect = "http"
work = "snapshot"
load = "open"
rate = 1000
duration_s = 1
path = "/"
"""


def raced() -> Study:
    return parse_study(TEXT, ())


def warmed(seconds: float) -> WarmUps:
    found = WarmUps(30.0)
    for cell in raced().cells:
        slices = [Slice(0.25, 250, 100.0, 200.0)] * 20
        requests = round(seconds * 1000)
        found.learn(FirstProcess(cell, WarmUp(WARMED, requests, seconds), slices))
    return found


def test_what_is_warm_soon_is_raced_in_many_processes() -> None:
    study = fit(raced(), warmed(0.5), 100.0, needs_flips=False, say=lambda _: None)
    assert study.blocks == 6
    assert 6 < study.most_blocks <= 50
    assert not study.few_blocks
    assert {cell.duration_s for cell in study.cells} == {1.0}


@pytest.mark.parametrize("left_s", [5.0, 60.0, 100.0])
def test_what_takes_long_to_warm_is_raced_in_fewer_and_longer_ones(left_s: float) -> None:
    study = fit(raced(), warmed(12.0), left_s, needs_flips=False, say=lambda _: None)
    assert study.few_blocks
    assert study.blocks == 3
    assert study.blocks + MOST_SPOILT <= study.most_blocks < 6
    assert {cell.duration_s for cell in study.cells} == {LONG_S}


def test_a_verdict_that_needs_sign_flips_gets_its_blocks() -> None:
    study = fit(raced(), warmed(12.0), 60.0, needs_flips=True, say=lambda _: None)
    assert (study.blocks, study.few_blocks) == (6, False)


def test_why_takes_blocks_of_its_own_if_there_is_time() -> None:
    assert "sampled_blocks" not in study_text([MINE], Wanted(), Path.cwd())
    wanted = fake_races.parse(study_text([MINE], Wanted(why=True), Path.cwd()))
    assert wanted.sampled_blocks == WHY_BLOCKS
    sampled = raced().but(sampled_blocks=WHY_BLOCKS)
    said: list[str] = []
    found = {
        left_s: fit(sampled, warmed(0.5), left_s, needs_flips=False, say=said.append)
        for left_s in (30.0, 115.0, 300.0)
    }
    assert [study.sampled_blocks for study in found.values()] == [0, 7, 7]
    assert [study.counted_blocks for study in found.values()] == [0, 0, 1]
    assert "there is no time for --why" in said[0]


@pytest.mark.parametrize("needs", [{"with": {"db": "x {port}"}}, {"setup": "x"}, {}])
def test_servers_that_may_share_what_they_need_do_not_run_at_once(needs: dict[str, str]) -> None:
    text = study_text([MINE], Wanted(needs=needs), Path.cwd())
    assert fake_races.parse(text).slices == (1 if needs else 4)


def test_few_blocks_are_rotated() -> None:
    assert (BLOCKS.fewest, FEW_BLOCKS.fewest) == (6, 3)
    assert len(FEW_BLOCKS.ways(3)) > 100
    assert len(BLOCKS.ways(3)) <= 8
    assert replace(FEW_BLOCKS, few=False) == BLOCKS


def test_cpus_are_those_that_are_named_or_half_of_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = Wanted(**cpus_of_sides("0,2-3", None))
    study = study_of([MINE], wanted, (), tmp_path)
    assert (study.server_cpus, study.client_cpus) == ((0, 2, 3), None)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {*range(1000, 1006)})  # none has siblings
    study = study_of([MINE], Wanted(**cpus_of_sides(None, None)), (), tmp_path)
    assert (study.server_cpus, study.client_cpus) == ((1000, 1001, 1002), (1003, 1004, 1005))
    with pytest.raises(UsageError, match="--client-cpus is 'x'"):
        cpus_of_sides(None, "x")
