"""A study says what is wrong with it in one line that names the key and what it may be."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regatta.errors import RegattaError, StudyError, UsageError
from regatta.record.study import cpus_option, find_study, load_study, parse_study
from regatta.record.study.cells import CellGroup
from regatta.record.study.claims import ClaimTable, Source
from regatta.record.study.contender import Contender
from regatta.record.study.cpus import cpu_list, cpus_of, cpus_text
from regatta.record.study.find import Design, shipped_names
from regatta.record.study.keys import TomlTable
from regatta.record.study.parse import BaselineTable, StudyTable
from regatta.record.study.placement import PlacementTable
from regatta.record.study.race import RaceTable
from tests.lab.designs import every_design

ROOT = Path(__file__).resolve().parents[3]
DESIGNS = [
    Design("iterative", "one by one"),
    Design("thread-per-client", "a thread each"),
    Design("select", "a loop"),
    Design("prefork", "processes", pool=True),
    Design("prethread", "threads", pool=True),
    Design("uring", "a ring", missing="this kernel has no io_uring"),
]
BOXES = '[placement]\nkind = "containers"\n'
GOOD = """
name = "mine"
[[cells]]
designs = ["iterative", "select"]
connections = [1, 10]
"""
POOL = GOOD.replace('["iterative", "select"]', '["prefork"]')
OPEN = 'load = "open"\nduration_s = 1\nrate = 100\n'
GO = '[contenders.go]\ncommand = "go {host} {port}"\n'
H2 = f"""name = "mine"
{GO}speaks = "h2"
streams = 10
[[cells]]
contenders = ["go"]
dialect = "http"
"""
EVENTS = H2.replace('speaks = "h2"\nstreams = 10', "events = 1")
WHOLE = GOOD + 'scope = ["window", "process"]\n'
CELLS = '[[cells]]\ndesigns = ["select"]\nconnections = [1]\n'


def test_every_key_is_on_the_page_of_studies() -> None:
    page = (ROOT / "docs" / "studies.md").read_text()
    sections = dict(part.split("`", 1) for part in page.split("\n## `")[1:])
    for name, form in (("[race]", RaceTable), ("[[cells]]", CellGroup)):
        assert [key for key in form.known_keys() if f"`{key}`" not in sections[name]] == []
    for key in StudyTable.known_keys():
        assert any(f"`{form}" in page for form in (f"{key}`", f"[{key}", f"[[{key}"))


def test_a_group_is_the_cross_product_of_its_lists() -> None:
    study = parse_study(
        """
        name = "mine"
        title = "Mine"
        events = ["task-clock", "syscalls"]
        [race]
        blocks = 3
        counted_blocks = 1
        seed = 9
        [placement]
        kind = "loopback"
        server_cpus = [0]
        client_cpus = "1-2"
        [[cells]]
        designs = ["iterative", "select"]
        connections = [1, 30]
        work = ["scan", "snapshot"]
        engine = ["thread", "fork"]
        requests = 100
        max_age_ms = 50
        """,
        DESIGNS,
    )
    assert len(study.cells) == 16
    assert {cell.contender_order for cell in study.cells} == {0, 2}
    assert {cell.rounds for cell in study.cells if cell.connections == 30} == {4}
    assert {cell.rounds for cell in study.cells if cell.connections == 1} == {100}
    assert (study.blocks, study.counted_blocks, study.seed) == (3, 1, 9)
    assert (study.server_cpus, study.client_cpus) == ((0,), (1, 2))
    assert study.steering == "own-side"
    assert study.events == ("task-clock", "syscalls")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GOOD + "nonsense = 1", ["cells[1].nonsense", "connections"]),
        ("surprise = 1\n" + GOOD, ["surprise", "title"]),
        (GOOD + "[race]\nblokcs = 1", ["race.blokcs", "seed", "did you mean blocks?"]),
        (GOOD + "[race]\nsittings = 0", ["race.sittings", "0", "1 to 100"]),
        (GOOD + '[race]\npause = "1d"', ["race.pause", "1d", "10min"]),
        (GOOD + '[race]\npause = "169h"', ["race.pause", "169h", "168h"]),
        (
            GOOD + "[race]\nsittings = 2\nwidth_percent = 5\nmost_blocks = 20",
            ["race.width_percent", "race.sittings", "blocks"],
        ),
        (GOOD + "[race]\nblocks = 0", ["race.blocks", "0", "1 to"]),
        (GOOD + "[race]\nblocks = true", ["race.blocks", "whole number"]),
        (GOOD + '[placement]\nkind = "moon"', ["placement.kind", "moon", "netns"]),
        (GOOD + '[placement]\nnetwork = "host"', ["placement.network", 'kind = "containers"']),
        (GOOD + '[placement]\nengine = "podman"', ["placement.engine", 'kind = "containers"']),
        (GOOD + BOXES + 'network = "tor"', ["placement.network", "tor", "bridge, host, veth"]),
        (GOOD + BOXES + 'engine = "lxc"', ["placement.engine", "lxc", "podman, docker"]),
        (GOOD + '[placement]\nsteering = "left"', ["placement.steering", "left", "own-side"]),
        (GOOD + '[placement]\nserver_cpus = "x"', ["placement.server_cpus", "0,2"]),
        (GOOD + "[placement]\nserver_cpus = []", ["placement.server_cpus", "not empty"]),
        ('events = ["cyclez"]\n' + GOOD, ["events", "cyclez", "cycles"]),
        ("events = []\n" + GOOD, ["events", "not empty"]),
        (GOOD.replace('"select"', '"selekt"'), ["cells[1].designs", "selekt", "mean select?"]),
        (GOOD.replace('"iterative", "select"', ""), ["cells[1].designs", "not empty"]),
        (GOOD.replace("[1, 10]", "[0]"), ["cells[1].connections", "0", "1 to"]),
        (GOOD.replace("[1, 10]", "[1, 1]"), ["cells[1].connections", "without duplicates"]),
        (GOOD.replace("[1, 10]", '"ten"'), ["cells[1].connections", "ten"]),
        (GOOD + 'work = "dance"', ["cells[1].work", "dance", "scan, classic, snapshot"]),
        (GOOD + 'load = "flood"', ["cells[1].load", "flood", "burst, closed"]),
        (GOOD + 'engine = "steam"', ["cells[1].engine", "steam", "thread, fork, epoll"]),
        (GOOD + 'dialect = "latin"', ["cells[1].dialect", "latin", "line, http"]),
        (GOOD + "rounds = 1\nrequests = 1", ["rounds", "requests"]),
        (GOOD + "top = 65", ["cells[1].top", "64"]),
        (GOOD + "max_age_ms = 5", ["max_age_ms", "snapshot"]),
        (GOOD + 'load = "closed"', ["duration_s"]),
        (GOOD + 'load = "closed"\nduration_s = nan', ["duration_s", "above 0"]),
        (GOOD + 'load = "closed"\nduration_s = 1\nrounds = 1', ["rounds", "burst"]),
        (GOOD + CELLS, ["twice", "select"]),
        (GOOD + 'work = "wait=0ms"', ["cells[1].work", "wait=0ms", "1us to 60s"]),
        (GOOD + 'work = "wait=61s"', ["cells[1].work", "wait=61s", "1us to 60s"]),
        (GOOD + 'load = "open"\nduration_s = 1', ["open", "`rate`"]),
        (GOOD + 'load = "open"\nrate = 5', ["open", "`duration_s`"]),
        (GOOD + OPEN + 'engine = "thread"', ["load open", "epoll", "thread"]),
        (GOOD + OPEN.replace("100", "0"), ["cells[1].rate", "0", "1 to"]),
        (GOOD + OPEN + 'arrivals = "bus"', ["cells[1].arrivals", "bus", "even, poisson"]),
        (GOOD + "rate = 100", ["cells[1].rate", "open", "burst"]),
        (GOOD + 'arrivals = "even"', ["cells[1].arrivals", "open", "burst"]),
        (GOOD + "idle = -1", ["cells[1].idle", "-1", "0 to"]),
        (GOOD + 'idle = 5\nengine = "thread"', ["cells[1].idle", "epoll", "thread"]),
        (GOOD + 'slow = [0, 5]\nengine = ["epoll", "fork"]', ["cells[1].slow", "epoll", "fork"]),
        (GOOD + "workers = 4", ["cells[1].workers", "iterative", "pools"]),
        (POOL + "workers = 0", ["cells[1].workers", "0", "1 to 4096"]),
        (POOL + "workers = 4\n" + POOL.partition("mine")[2][2:], ["prefork", "without", "workers"]),
        (GOOD + "backlog = [3, 65536]", ["cells[1].backlog", "65536", "1 to 65535"]),
        (
            GOOD + 'backlog = 3\ndialect = "http"\ncontenders = ["go"]\n' + GO,
            ["cells[1].backlog", "the command of go sets its own"],
        ),
        (WHOLE + "requests = 200", ["`rounds` instead of `requests`"]),
        (WHOLE + 'load = ["burst", "closed"]\nduration_s = 1', ["allows only the load burst"]),
        (GOOD + "linger_s = 1", ["cells[1].linger_s", "process"]),
        (GOOD + "counts_taskset = true", ["cells[1].counts_taskset", "process"]),
        (GOOD + 'scope = "process"\ncounts_taskset = 1', ["counts_taskset", "true or false"]),
        (GOOD + 'request = "top 2"\ndialect = "http"', ["cells[1].request", "line"]),
        (GOOD + 'request = "top \\u001b[2J"', ["cells[1].request", "printable ASCII"]),
        (GOOD + f'request = "{"x" * 1025}"', ["cells[1].request", "1024"]),
        (GOOD + GO + 'request = "hello"', ["contenders.go.request", "line"]),
        (GOOD + 'path = "/x"', ["cells[1].path", "http"]),
        (GOOD + 'dialect = "http"\npath = "x"', ["cells[1].path", "x", "slash"]),
        (
            GOOD.replace('["iterative", "select"]', '"uring"'),
            ["uring", "this kernel has no io_uring"],
        ),
        (GOOD + 'contenders = ["go"]', ["cells[1].contenders", "[contenders.NAME]"]),
        (GOOD + 'contenders = ["og"]\n' + GO, ["cells[1].contenders", "og", "go"]),
        (GOOD + 'contenders = ["go"]\n' + GO, ["dialect line", "go speaks http"]),
        (GOOD + GO.replace("command", "comand"), ["contenders.go.comand", "command"]),
        (GOOD + "[contenders.go]", ["contenders.go", "`command`"]),
        (GOOD + "[contenders.select]", ["contenders.select", "name of a design"]),
        (GOOD + "[contenders]\ngo = 3", ["[contenders.go]"]),
        (GOOD + '[contenders."a b"]', ["contenders.a b", "letters"]),
        (GOOD + "[contenders.go]\ncommand = []", ["contenders.go.command", "[]"]),
        (GOOD + "[contenders.go]\ncommand = 'a \"b'", ["contenders.go.command", "quot"]),
        (GOOD + '[contenders.go]\ncommand = "a {host}"', ["contenders.go.command", "{port}"]),
        (GOOD + '[contenders.go]\ncommand = "a {prot}"', ["{prot}", "{port}"]),
        (GOOD + "[contenders.go]\nport = 80", ["contenders.go", "`command`"]),
        (GOOD + GO + 'dialect = "latin"', ["contenders.go.dialect", "latin", "line, http"]),
        (GOOD + GO + 'dialect = "line"\npath = "/x"', ["contenders.go.path", "http"]),
        (GOOD + GO + 'speaks = "spdy"', ["contenders.go.speaks", "spdy", "http, https, h2, h2c"]),
        (GOOD + GO + 'speaks = "h2"\ndialect = "line"', ["contenders.go.speaks", "http"]),
        (GOOD + GO + "streams = 2", ["contenders.go.streams", "needs HTTP/2"]),
        (GOOD + GO + 'speaks = "grpc"', ["contenders.go.speaks", "needs `body`"]),
        (GOOD + GO + 'speaks = "ws"\nevents = 1', ["contenders.go.speaks", "is only for `path`"]),
        (GOOD + GO + 'events = 1\ndialect = "line"', ["contenders.go.events", "dialect http"]),
        (H2.replace("h2", "wss"), ["contenders.go.streams", "needs HTTP/2"]),
        (
            EVENTS + 'load = "closed"\nduration_s = 1\nconnections = 1\nengine = "thread"',
            ["engine", "must be epoll for go, which sends events"],
        ),
        (H2 + "connections = 25", ["connections", "multiple of the 10 streams of go"]),
        (H2 + "connections = 20\nper_connection = 1", ["per_connection", "not for go"]),
        (H2 + "connections = 20\nidle = 3", ["idle", "go speaks h2"]),
        (GOOD + GO + 'ready = "soon"', ["contenders.go.ready", "soon", "port, line"]),
        (GOOD + GO + 'ready = "line"', ["contenders.go", "ready_line"]),
        (GOOD + GO + 'ready = "port"\nready_line = "x"', ["contenders.go.ready_line", "line"]),
        (GOOD + GO + 'ready_line = "("', ["contenders.go.ready_line", "regular expression"]),
        (GOOD + GO + 'stop_signal = "SIGNAL"', ["contenders.go.stop_signal", "SIGTERM"]),
        (GOOD + "[baseline]", ["baseline", "contender"]),
        (GOOD + '[baseline]\ncontender = "poll"', ["baseline.contender", "poll", "iterative"]),
        ('name = "mine"', ["[[cells]]"]),
        ('name = "mine"\ncells = 3', ["[[cells]]"]),
        (CELLS, ["name"]),
        ('name = "../up"\n' + CELLS, ["name", "letters"]),
        ("name = ", ["TOML"]),
        ('name = "a"\nrace = 1\n' + CELLS, ["[race]"]),
        ('name = "a"\n[[cells]]\nconnections = [1]', ["designs"]),
        ('name = "a"\n[[cells]]\ndesigns = "select"', ["connections"]),
    ],
)
def test_a_mistake_is_named_in_one_line(text: str, words: list[str]) -> None:
    with pytest.raises(StudyError) as error:
        parse_study(text, DESIGNS)
    message = str(error.value)
    assert "\n" not in message
    for word in words:
        assert word in message


def test_a_race_has_one_sitting_unless_told_and_rests_as_long_as_is_written() -> None:
    assert parse_study(GOOD, DESIGNS).sittings == 1
    for text, seconds in (("0s", 0), ("90s", 90), ("10min", 600), ("1h", 3600)):
        study = parse_study(GOOD + f'[race]\nsittings = 5\npause = "{text}"', DESIGNS)
        assert (study.sittings, study.pause_s) == (5, seconds)


def test_a_short_listen_queue_and_what_stands_beside_the_load_are_part_of_the_cell() -> None:
    cells = parse_study(GOOD + "backlog = [3, 50]", DESIGNS).cells
    assert len({cell.identity() for cell in cells}) == len(cells) == 8
    assert cells[0].label().endswith(" · backlog 3")
    text = POOL + "idle = [0, 100]\nslow = 5\nworkers = [2, 4]\n"
    cells = parse_study(text, DESIGNS).cells
    assert len({cell.identity() for cell in cells}) == len(cells) == 8
    assert "1 connection · 100 idle connections · 5 slow connections · 4 workers" in {
        cell.label().removeprefix("prefork · ").removesuffix(" · scan · burst") for cell in cells
    }


@pytest.mark.parametrize(
    ("text", "keys", "values"),
    [
        (
            'load = "closed"\nduration_s = 0.5\nper_connection = 4\n',
            ("rounds", "duration_s", "per_connection"),
            {(None, 0.5, 4)},
        ),
        (
            OPEN.replace("100", "[100, 200]"),
            ("rate", "arrivals", "duration_s"),
            {(100, "even", 1.0), (200, "even", 1.0)},
        ),
        (
            'scope = "process"\nlinger_s = 0.5\n',
            ("rounds", "scope", "linger_s"),
            {(1, "process", 0.5)},
        ),
        (
            'scope = ["window", "process"]\ncounts_taskset = true\nlinger_s = 2\n',
            ("scope", "counts_taskset", "linger_s"),
            {("window", False, 0.0), ("process", True, 2.0)},
        ),
    ],
)
def test_a_cell_has_the_keys_of_its_load_and_scope(
    text: str, keys: tuple[str, ...], values: set[tuple[object, ...]]
) -> None:
    cells = parse_study(GOOD + text, DESIGNS).cells
    assert {tuple(getattr(cell, key) for key in keys) for cell in cells} == values


def test_a_contender_of_the_line_dialect_is_asked_in_its_own_words() -> None:
    text = (
        GOOD.replace("[1, 10]", "1")
        + 'scope = "process"\nrequest = "top 2 threads=1"\ncontenders = ["go", "on"]\n'
        + GO
        + 'dialect = "line"\nrequest = "GET TOP"\n'
        + GO.replace(".go]", ".on]")
        + 'dialect = "line"\n'
    )
    cells = parse_study(text, DESIGNS).cells
    assert {cell.contender: cell.request for cell in cells} == {
        "iterative": "top 2 threads=1",
        "select": "top 2 threads=1",
        "go": "GET TOP",
        "on": "top 2 threads=1",
    }


@pytest.mark.parametrize("key", ["top = 3", "max_age_ms = 7"])
def test_cells_that_differ_in_one_key_are_two_cells(key: str) -> None:
    text = CELLS + 'work = "snapshot"\n'
    study = parse_study(f'name = "a"\n{text}{text}{key}\n', DESIGNS)
    assert len(study.cells) == 2


def test_all_designs_are_those_that_can_run_here() -> None:
    study = parse_study(GOOD.replace('["iterative", "select"]', '"all"'), DESIGNS)
    raced = {cell.contender for cell in study.cells}
    assert raced == {design.name for design in DESIGNS} - {"uring"}
    assert study.left_out == {"uring": "this kernel has no io_uring"}


def test_a_contender_is_started_as_the_study_says(tmp_path: Path) -> None:
    text = (
        GOOD
        + 'dialect = "http"\ncontenders = "go"\n'
        + GO.replace('"go {host} {port}"', "\"{folder}/go 'a b' {host}:{port} -c{cpus} ${x} {0}\"")
    )
    study = parse_study(text, DESIGNS, tmp_path)
    words = study.contenders["go"].words("10.0.0.1", 80, (0, 2), study.folder)
    assert words == [f"{tmp_path}/go", "a b", "10.0.0.1:80", "-c0,2", "${x}", "{0}"]
    (cell,) = (cell for cell in study.cells if cell.contender == "go" and cell.connections == 1)
    assert (cell.contender_order, cell.path) == (len(DESIGNS), None)


TABLES: dict[str, tuple[type[TomlTable], str]] = {
    "[race]": (RaceTable, ""),
    "[placement]": (PlacementTable, ""),
    "[[cells]]": (CellGroup, 'designs = "select"\nconnections = 3\n'),
    "[contenders.go]": (Contender, 'command = "go {port}"\n'),
    "[baseline]": (BaselineTable, ""),
    "[sources.A]": (Source, ""),
    "[[claim]]": (
        ClaimTable,
        'id = "X"\nsays = "y"\nmetric = "task_clock"\nconnections = 1\n'
        'order = ["select", "iterative"]\n',
    ),
}
VALUES = [
    *("1", "-1", "1.5", "nan", "true", "1979-05-27", '"x"', '""', '"select"', '"1 %"'),
    *("[]", "[[]]", "[{}]", "{}", "{ a = 1 }", '["x", "x"]', '[1, "x"]', '["select", "prefork"]'),
]


@given(st.data(), st.sampled_from(sorted(TABLES)))
def test_any_table_is_read_or_refused_in_one_line_that_names_it(
    data: st.DataObject, head: str
) -> None:
    form, rest = TABLES[head]
    key = data.draw(st.sampled_from([*form.known_keys(), "other"]))
    said = f"{key} = {data.draw(st.sampled_from(VALUES))}\n"
    others = [line for line in rest.splitlines(keepends=True) if not line.startswith(f"{key} ")]
    try:
        parse_study(GOOD + head + "\n" + "".join(others) + said, DESIGNS)
    except StudyError as error:
        message = str(error)
        assert "\n" not in message
        assert {"[[cells]]": "cell", "[[claim]]": "claim"}.get(head, head.strip("[]")) in message


@pytest.mark.parametrize(
    "path", sorted((ROOT / "studies").glob("*.toml")), ids=lambda path: path.stem
)
@settings(max_examples=25)
@given(data=st.data())
def test_a_damaged_study_is_read_or_refused(path: Path, data: st.DataObject) -> None:
    text, designs = path.read_text(), every_design()
    for at in data.draw(st.lists(st.integers(0, len(text) - 1), min_size=1, max_size=3)):
        changed = data.draw(st.sampled_from(["", "0", "-", '"', "]", "[", "\n", "=", "é", "\0"]))
        text = text[:at] + changed + text[at + 1 :]
    try:
        study = parse_study(text, designs, path.parent)
    except StudyError as error:
        message = str(error)
        assert "\n" not in message
    else:
        assert study.name


@pytest.mark.parametrize(
    ("text", "numbers"), [("0", (0,)), ("0,2", (0, 2)), ("2-4,1", (1, 2, 3, 4)), (" 1 ", (1,))]
)
def test_cpus_are_read_as_taskset_writes_them(text: str, numbers: tuple[int, ...]) -> None:
    assert cpus_option(text, "--server-cpus") == numbers


def test_cpus_are_written_as_they_are_read() -> None:
    assert cpus_text((7, 0, 1, 2)) == "CPUs 0-2,7"
    assert cpus_text([3]) == "CPU 3"
    assert cpus_of(cpu_list((7, 0, 1, 2))) == (0, 1, 2, 7)


@pytest.mark.parametrize("text", ["", "a", "1-", "3-1", "-1", "1,,2", "99999999", "0-9999999"])
def test_cpus_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--server-cpus"):
        cpus_option(text, "--server-cpus")


@pytest.mark.parametrize("name", shipped_names())
def test_the_shipped_studies_are_found_by_name_and_valid(name: str) -> None:
    study = load_study(find_study(name), every_design())
    assert study.name == name


@pytest.mark.parametrize(
    "path",
    [ROOT / "contenders/go/go.toml", ROOT / "contenders/nginx/nginx.toml"],
    ids=lambda path: path.stem,
)
def test_the_worked_examples_are_valid(path: Path) -> None:
    study = load_study(path, every_design())
    assert study.contenders
    assert {cell.contender for cell in study.cells} >= set(study.contenders)


def test_the_reports_study_has_their_connections_and_client_engines() -> None:
    cells = load_study(find_study("reports"), DESIGNS).cells
    assert {cell.connections for cell in cells} == {1, 3, 5, 10, 15, 20, 25, 30, 50, 100}
    assert {cell.engine for cell in cells} == {"thread", "fork"}
    assert {cell.work for cell in cells} == {"classic"}
    places = [
        {(cell.contender, cell.connections, cell.engine) for cell in cells if cell.scope == scope}
        for scope in ("window", "process")
    ]
    assert places[0] == places[1], "each as they measured, and as it should be"


def test_a_study_that_is_not_there_lists_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(RegattaError, match="all-designs, .*quick, reports"):
        find_study(str(tmp_path / "none.toml"))


def test_a_study_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(StudyError, match="UTF-8"):
        load_study(path, DESIGNS)


LOOPS = [Design("epoll", "a loop"), Design("select", "a loop")]
MISTAKEN = """
name = "x y"
[race]
blokcs = 3
blocks = "many"
[contenders.mine]
command = ["mine", "{port}"]
[[cells]]
designs = ["epol", "selct"]
connections = 0
[[cells]]
desings = "all"
"""
FIRST = "`name` is 'x y'"
MISTAKES = (
    "unknown key `race.blokcs`",
    "did you mean blocks?",
    "`race.blocks` is 'many'",
    "`cells[1].designs` contains 'epol'",
    "did you mean epoll?",
    "`cells[1].designs` contains 'selct'",
    "`cells[1].connections` contains 0",
    "unknown key `cells[2].desings`",
    "did you mean designs?",
)


def mistakes(text: str) -> tuple[str, ...]:
    with pytest.raises(StudyError) as found:
        parse_study(text, LOOPS)
    return found.value.mistakes


def test_every_table_is_checked_and_each_mistake_named_once() -> None:
    found = mistakes(MISTAKEN)
    assert len(found) == 7
    assert found[0].startswith(FIRST)
    for words in MISTAKES:
        assert sum(words in mistake for mistake in found) == 1, words
    message = str(StudyError(*found))
    assert message.startswith(f"7 mistakes: (1) {found[0]}; (2) ")
    assert "\n" not in message


def test_a_misspelt_key_that_is_required_is_not_also_missing() -> None:
    (mistake,) = mistakes(
        MISTAKEN.replace("command", "comand").split("[race]")[0].replace("x y", "x")
        + '[contenders.mine]\ncomand = ["mine", "{port}"]'
    )
    assert "did you mean command?" in mistake


def test_without_valid_contenders_the_cells_are_not_blamed() -> None:
    found = mistakes(MISTAKEN.replace("command", "comand"))
    assert any("contenders.mine.comand" in mistake for mistake in found)
    assert not any("cells" in mistake for mistake in found)


def test_claims_are_all_checked() -> None:
    cells = 'name = "x"\n[[cells]]\ndesigns = "all"\nconnections = 4\n'
    claim = '[[claim]]\nid = "{}"\nsays = "x"\nmetric = "{}"\nconnections = 4\n'
    claim += 'order = ["epoll", "select"]\n'
    found = mistakes(cells + claim.format("a", "task_clok") + claim.format("b", "elapst"))
    assert [mistake.partition(".")[0] for mistake in found] == ["`claim a", "`claim b"]


def test_a_long_list_is_cut() -> None:
    assert str(StudyError(*"abcdefghijkl")).endswith("(10) j; and 2 more")
    assert str(StudyError("a")) == "a"
