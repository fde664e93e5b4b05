"""What the servers of a comparison are asked: checked before it, and the same in its study."""

from pathlib import Path

import pytest

from regatta.errors import UsageError
from regatta.record.cell import MatchedCell
from regatta.verbs.servers.look import faults, look_at, notes
from regatta.verbs.servers.servers import Server
from regatta.verbs.servers.wanted import Wanted, study_text
from tests.lab import fake_races
from tests.lab.verbs.line_servers import placed_here
from tests.servers import program

CLIENT = Path(program("regatta-client"))
MINE = Server("mine", design=False, command=("mine", "{port}"))
POST = '{"path": "/", "weight": 2}\n{"method": "POST", "path": "/items", "body": "x"}\n'
PING, PONG = r"PING\r\n", r"^\+PONG\r\n"


def refused(*servers: Server, **options: object) -> str:
    with pytest.raises(UsageError) as error:
        Wanted(**options).check(servers or [MINE], CLIENT)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)
    return str(error.value)


def test_wrong_options_are_refused_in_one_line(tmp_path: Path) -> None:
    assert "--path and --raw exclude each other" in refused(path="/x", raw="a", until="b")
    assert "give both" in refused(raw="a")
    assert "give both" in refused(until="a")
    assert "does not exist" in refused(requests=tmp_path / "none")
    assert "--raw is 'a\\\\q'" in refused(raw=r"a\q", until="b")
    assert "leave out $" in refused(raw="a", until="b$")
    assert "epoll is a design" in refused(Server("epoll", True), MINE, raw="a", until="b")
    Wanted(raw=PING, until=PONG).check([MINE], CLIENT)


def test_a_path_in_any_script_is_encoded() -> None:
    asked = Wanted(path="/café au lait?q=%20&x=[1]")
    asked.check([MINE], CLIENT)
    assert asked.encoded_path == "/caf%C3%A9%20au%20lait?q=%20&x=[1]"


def test_how_long_a_server_may_start_and_answer(tmp_path: Path) -> None:
    text = study_text([MINE], Wanted(ready_timeout_s=120), tmp_path)
    assert fake_races.parse(text, tmp_path).contenders["mine"].ready_timeout_s == 120
    assert "--p99-limit is 0; it must be from 0.1" in refused(p99_limit_ms=0.0)
    study = fake_races.parse(study_text([MINE], Wanted(p99_limit_ms=400), tmp_path), tmp_path)
    (cell,) = study.cells
    assert isinstance(cell, MatchedCell)
    assert cell.p99_limit_ms == 400


def test_the_study_asks_the_same(tmp_path: Path) -> None:
    file, folder = tmp_path / "posts.jsonl", tmp_path / "there"
    file.write_text(POST)
    folder.mkdir()
    for place, name in ((tmp_path, "posts.jsonl"), (folder, str(file))):
        text = study_text([MINE], Wanted(requests=file), place)
        contender = fake_races.parse(text, place).contenders["mine"]
        assert contender.requests is not None
        assert contender.requests.name == name
        assert [one.method for one in contender.requests.requests] == ["GET", "POST"]
    study = fake_races.parse(study_text([MINE], Wanted(raw=PING, until=PONG), folder), folder)
    (cell,) = study.cells
    assert (cell.dialect, cell.request, cell.until) == ("line", PING, PONG)


@pytest.mark.parametrize(
    ("how", "short", "says"),
    [
        ("pong", False, ""),
        ("varies", False, "answers differently each time"),
        ("closes", False, "add --short if it closes"),
        ("closes", True, ""),
        ("garbage", False, "does not answer --raw so that --until matches: bytes follow"),
    ],
)
def test_a_server_of_another_protocol_is_looked_at(
    tmp_path: Path, how: str, short: bool, says: str
) -> None:
    servers, programs = placed_here(tmp_path, how)
    wanted = Wanted(raw=PING, until=r"\r\n", short=short)
    study = fake_races.parse(study_text(servers, wanted, tmp_path), tmp_path)
    seen = look_at(study.but(server_cpus=(0,), client_cpus=(0,)), programs)
    said = [*faults(seen)] or [*notes(seen)]
    assert says in " ".join(said)
    assert bool(said) == bool(says)


def test_each_request_of_a_file_is_looked_at(tmp_path: Path) -> None:
    servers, programs = placed_here(tmp_path, "http")
    file = tmp_path / "posts.jsonl"
    file.write_text(POST + '{"method": "DELETE", "path": "/gone"}\n')
    study = fake_races.parse(study_text(servers, Wanted(requests=file), tmp_path), tmp_path)
    (seen,) = look_at(study.but(server_cpus=(0,), client_cpus=(0,)), programs)
    assert seen.fault == (
        'it answers 404 to DELETE /gone; correct the request, or expect it: "status": 404'
    )
