"""What the words of a command line are taken for, and what is said of those that are none."""

import re
import sys
from pathlib import Path

import pytest

from regatta.errors import UsageError
from regatta.record.study import parse_study
from regatta.record.study.find import Design
from regatta.verbs.servers import servers as module
from regatta.verbs.servers.servers import Server, read_servers, same_commands, scaled
from regatta.verbs.servers.wanted import BLOCKS, Wanted, study_text

DESIGNS = (
    Design("epoll", "", False, None),
    Design("select", "", False, None),
    Design("uring", "", False, "there is no liburing"),
)
PYTHON = sys.executable


def read(*words: str, folder: Path = Path("/tmp")) -> list[Server]:
    return scaled(read_servers(words, DESIGNS, folder), ())


def test_designs_commands_and_shipped_contenders_mix() -> None:
    servers = read("epoll", f"{PYTHON} -m http.server {{port}}", "nginx")
    assert [(server.name, server.design) for server in servers] == [
        ("epoll", True),
        ("http", False),
        ("nginx", False),
    ]
    assert servers[1].command == (PYTHON, "-m", "http.server", "{port}")
    assert servers[2].command[0].endswith("/contenders/nginx/serve")


def test_a_shipped_contender_is_started_as_its_file_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "contenders" / "mine").mkdir(parents=True)
    (tmp_path / "contenders" / "mine" / "contender.toml").write_text(
        'shell = true\ncommand = "exec {folder}/serve {port} {db} ${folder}"\ncwd = "{folder}"\n'
        'env = { A = "{folder}/a", B = "b" }\nwith = { db = "x {port}" }\nsetup = "fill {db}"\n'
        'teardown = "drop"\nready_line = "up"\nready_timeout_s = 7\nstop_signal = "SIGINT"\n'
    )
    monkeypatch.setattr(module, "shipped_folders", lambda: [tmp_path / "studies"])
    here = tmp_path / "contenders" / "mine"
    needs = {"env": {"B": "c"}, "teardown": "mop"}
    text = study_text(read("mine", "epoll"), Wanted(needs=needs), tmp_path)
    found = parse_study(text, DESIGNS, tmp_path).contenders["mine"]
    assert found.words("h", 80, (0,), tmp_path)[:3] == ["env", "-C", str(here)]
    assert found.command[-1] == f"exec {here}/serve {{port}} {{db}} ${{folder}}"
    assert found.env == {"A": f"{here}/a", "B": "c"}
    assert (found.companions, found.setup) == ({"db": ("/bin/sh", "-c", "x {port}")}, "fill {db}")
    assert (found.teardown, found.ready_timeout_s) == ("mop", 7)
    assert (found.printed_when_ready, found.stop_signal.name) == (re.compile("up"), "SIGINT")
    text = study_text(read("mine", "epoll"), Wanted(needs={"ready": "port"}), tmp_path)
    assert parse_study(text, DESIGNS, tmp_path).contenders["mine"].printed_when_ready is None


@pytest.mark.parametrize(
    ("first", "second", "names"),
    [
        ("./old {port}", "./new {port}", ["old", "new"]),
        ("python3 server.py {port}", "sh server.sh {port}", ["server", "server-2"]),
        ("./old {port}", "./old --fast {port}", ["old", "old-2"]),
        ("a=./old {port}", "b=./old {port}", ["a", "b"]),
        ("env PORT={port} python3 app.py", "X=env Y=1 ./old {port}", ["app", "X"]),
        ("python3 -m app {port}", "sh -c 'x {port}'", ["app", "sh"]),
        ("./epoll {port}", "epoll", ["epoll-2", "epoll"]),
    ],
)
def test_each_has_a_name_of_its_own(
    tmp_path: Path, first: str, second: str, names: list[str]
) -> None:
    for name in ("old", "new", "epoll"):
        (tmp_path / name).touch(0o755)
    assert [server.name for server in read(first, second, folder=tmp_path)] == names


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["epoll"], "needs two servers or more"),
        (["epoll", "epol"], "did you mean epoll?"),
        (["epoll", "./x --port 8080"], "has no {port}"),
        (["epoll", "./missing {port}"], "there is no program ./missing"),
        (["epoll", "no-such-program {port}"], "there is no program no-such-program"),
        (["epoll", "sh 'x {port}"], "cannot be split"),
        (["epoll", "uring"], "cannot run here: there is no liburing"),
        (["epoll", "epoll"], "named twice"),
        (["epoll", ""], "has no {port}"),
        # With the command that has a shell, or sets variables.
        (["epoll", "PORT={port} python3 app.py"], "'env PORT={port} python3 app.py'"),
        (["epoll", "PORT={port} A=b python3 app.py"], "'env PORT={port} A=b python3 app.py'"),
        (["epoll", "mine=PORT={port} python3 app.py"], "'mine=env PORT={port} python3 app.py'"),
        (["epoll", "cd web && python3 {port}"], "\"sh -c 'cd web && python3 {port}'\""),
        (["epoll", "mine=python3 {port} | cat"], "\"mine=sh -c 'python3 {port} | cat'\""),
        (["epoll", "python3 app.py {port} >log"], "or quote > if the server shall see it"),
        (["epoll", "python3 app.py {port} 2>&1"], "needs a shell for >"),
        (["epoll", "python3 app.py $HOST {port}"], "needs a shell for $HOST,"),
        (["epoll", "~/bin/app {port}"], "needs a shell for ~"),
    ],
)
def test_what_cannot_race_is_refused_in_one_line(words: list[str], complaint: str) -> None:
    with pytest.raises(UsageError) as refused:
        read(*words)
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_study_does_what_the_line_says(tmp_path: Path) -> None:
    odd = f"odd={PYTHON} -c 'print(\"\\ {{port}} \x7f é\")'"
    servers = read("select", odd, folder=tmp_path)
    wanted = Wanted("/api?id=7", (1, 50), True, 2.5, "loopback", 60)
    study = parse_study(study_text(servers, wanted, tmp_path), DESIGNS, tmp_path)
    assert {cell.contender for cell in study.cells} == {"select", "odd"}
    assert {cell.connections for cell in study.cells} == {1, 50}
    assert {cell.per_connection for cell in study.cells} == {1}
    assert {cell.path for cell in study.cells} == {None, "/api?id=7"}
    assert (study.width_percent, study.placement, study.blocks) == (2.5, "loopback", BLOCKS)
    words = study.contenders["odd"].words("127.0.0.1", 80, (0,), tmp_path)
    assert words[:4] == ["env", "-C", str(tmp_path), PYTHON]
    assert words[-1] == 'print("\\ 80 \x7f é")'


def test_a_study_saved_elsewhere_finds_the_commands_all_the_same(tmp_path: Path) -> None:
    servers = read("select", f"{PYTHON} {{port}}", folder=tmp_path)
    elsewhere = tmp_path / "studies"
    study = parse_study(study_text(servers, Wanted(), elsewhere), DESIGNS, elsewhere)
    (contender,) = study.contenders.values()
    assert contender.words("", 80, (), elsewhere)[:3] == ["env", "-C", str(tmp_path.resolve())]


def test_no_more_blocks_are_planned_than_fit_into_the_time() -> None:
    assert Wanted(time_s=1).most_blocks(2) == BLOCKS
    assert Wanted(time_s=160).most_blocks(2) == 20
    assert Wanted(time_s=160, connections=(1, 50)).most_blocks(2) == 10


def test_an_image_is_started_by_its_own_command_and_races_beside_no_other(tmp_path: Path) -> None:
    images = [Server("new", False, image="shop:1.5", port=8080)]
    servers = read_servers(["select"], DESIGNS, tmp_path, images)
    text = study_text(servers, Wanted(placement="containers"), tmp_path)
    contender = parse_study(text, DESIGNS, tmp_path).contenders["new"]
    assert (contender.image, contender.port, contender.command) == ("shop:1.5", 8080, ())
    with pytest.raises(UsageError, match="is a command, which cannot race beside"):
        read_servers([f"{PYTHON} {{port}}"], DESIGNS, tmp_path, images)


def test_a_shipped_contender_that_is_not_built_says_how_to_build_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(
        UsageError, match=r"node cannot run here: node is missing; run .*/build node"
    ):
        read("epoll", "node")


def test_commands_are_scaled(tmp_path: Path) -> None:
    a = read_servers([f"a={PYTHON} {{port}}"], DESIGNS, tmp_path)
    found = scaled(a, (1, 4))
    assert [(server.name, server.cpus) for server in found] == [("a-1", 1), ("a-4", 4)]
    assert not same_commands(found)
    with pytest.raises(UsageError, match="needs two servers or more"):
        scaled(a, (1,))
    for word, why in (("epoll", "a design"), ("x=http://127.0.0.1:1", "an address")):
        with pytest.raises(UsageError, match=f"--scale is for commands, but [a-z]+ is {why}"):
            scaled(read(word, f"{PYTHON} {{port}}"), (1, 2))
    with pytest.raises(UsageError, match="--scale is not for --base"):
        scaled(read_servers([f"base={PYTHON} {{port}}"], DESIGNS, tmp_path), (1, 2))


def test_the_same_command_twice_is_told() -> None:
    servers = read("epoll", "a=python3 x.py {port}", "python3 y.py {port}", "python3 x.py {port}")
    assert same_commands(servers) == [
        "x is the same command as a: only chance tells them apart",
    ]


@pytest.mark.parametrize(
    "word",
    [
        "sh -c 'cd web && exec python3 app.py {port} 2>&1'",
        "python3 app.py --path '/a?b=1&c=$d' {port}",
        'python3 app.py --match "a|b" {port}',
        "python3 app.py --route=/items/* {port}",
        r"python3 app.py a\;b {port}",
    ],
)
def test_what_is_quoted_or_no_sign_of_a_shell_is_the_servers(tmp_path: Path, word: str) -> None:
    assert any("{port}" in part for part in read("epoll", word, folder=tmp_path)[1].command)
