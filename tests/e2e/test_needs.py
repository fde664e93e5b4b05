"""What a server needs: its environment, a folder, a program beside it, set-up and teardown."""

import json
import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from regatta.errors import StudyError
from regatta.record.study import keys
from regatta.record.study.contender import Contender
from regatta.record.study.cpus import cpus_of
from tests.commands import run, run_well
from tests.e2e.needy_server import SPIN_S
from tests.e2e.racing import environment, needs_programs, needs_two_cpus, regatta
from tests.ledgers import rows
from tests.servers import program

NEEDY = shlex.join([sys.executable, str(Path(__file__).with_name("needy_server.py"))])
WEB = Path(__file__).with_name("postgres_server.py")
DATABASE = "-D {0}/data -k {0} -p {{port}}"
TABLE = (
    "DROP TABLE IF EXISTS item; "
    "CREATE TABLE item AS SELECT i AS id, i::text AS name FROM generate_series(1, 1000) i"
)
OF_DATABASE = (
    "SELECT contender, AVG(value / answered) FROM counter JOIN trial ON trial.id = trial_id "
    "JOIN cell ON cell.id = cell_id WHERE event = 'companions-time' GROUP BY contender"
)
SHORT = ("--time", "1s", "--warmup-limit", "0", "--connections", "2", "--seed", "1")

pytestmark = [needs_programs, needs_two_cpus]


def test_all_that_versus_offers(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    words = (
        f"a={NEEDY} server {{port}} {{server}}",
        f"b=exec {NEEDY} server {{port}} {{server}} ; true",
        *("--shell", "--env", "MOOD=good", "--cwd", "home"),
        *("--with", f"server={NEEDY} db {{port}}"),  # a name that a side has too
        *("--setup", 'test -z "$(ls)" && touch filled && echo up >>../log'),
        *("--teardown", "rm filled && echo down >>../log"),
        *("--ready", "log:server is ready", "--out", str(tmp_path / "race")),
    )
    done = run(*regatta("versus", *words, *SHORT), cwd=tmp_path, env=environment(), timeout=300)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert "companions" in done.stdout
    assert "companions" in (tmp_path / "race" / "summary.md").read_text()
    used = rows(
        tmp_path / "race",
        "SELECT value / answered, status FROM counter JOIN trial ON trial.id = trial_id "
        "WHERE event = 'companions-time'",
    )
    assert len(used) >= 4
    assert all(SPIN_S * 1e9 < each < 3 * SPIN_S * 1e9 and status == "ok" for each, status in used)
    log = (tmp_path / "log").read_text().split()
    assert len(log) >= 2 * len(used)
    assert log == ["up", "down"] * (len(log) // 2)
    assert not (tmp_path / "home" / "filled").exists()


def test_what_runs_beside_a_failed_server_is_stopped_in_order(tmp_path: Path) -> None:
    beside = "trap 'echo down >>log; exit' TERM; echo up; while :; do sleep 0.01; done; : {port}"
    words = ("--with", f"db=sh -c {shlex.quote(beside)}", "--ready", "db=log:up")
    words += ("--setup", "echo set up >>log; exit 3")
    server = f"{sys.executable} -m http.server {{port}}"
    command = regatta("versus", f"a={server}", f"b={server}", *words)
    done = run(*command, cwd=tmp_path, env=environment(), timeout=60)
    assert "its setup failed (exit status 3)" in done.stderr
    assert (tmp_path / "log").read_text() == "set up\ndown\n" * 2


POSTGRES = max(Path("/usr/lib/postgresql").glob("*/bin/postgres"), default=Path())


@pytest.mark.long
@pytest.mark.skipif(not POSTGRES.is_file(), reason="needs postgresql")
def test_two_servers_before_a_database_twice(tmp_path: Path) -> None:
    """Ten queries for ten rows instead of one cost both more."""
    with tempfile.TemporaryDirectory(prefix="postgres-") as folder:
        other = ("setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups")
        user = other if os.geteuid() == 0 else ()  # postgres refuses root
        if user:
            shutil.chown(folder, "postgres", "postgres")
        begin = (POSTGRES.with_name("initdb"), "-D", f"{folder}/data", "-U", "postgres")
        run_well(*user, *begin, "--auth", "trust", "--no-sync", cwd=folder)
        words = [
            f"{how}={shlex.join([sys.executable, str(WEB)])} {how} {{port}} {{db}}"
            for how in ("once", "each")
        ]
        words += ("--with", shlex.join([*user, str(POSTGRES), *DATABASE.format(folder).split()]))
        words[-1] = f"db={words[-1]}"
        words += ("--ready", "db=log:ready to accept connections")
        words += ("--setup", f"psql -q -h 127.0.0.1 -p {{db}} -U postgres -c '{TABLE}'")
        for turn in ("first", "second"):
            race = ("--time", "45s", "--connections", "4", "--json", "--out", turn)
            command = regatta("versus", *words, *race)
            done = run(*command, cwd=tmp_path, env=environment(), timeout=300)
            assert done.returncode == 0, done.stderr
            [group] = json.loads(done.stdout)["groups"]
            verdict = group["overall"]
            assert (verdict["front"], verdict["worse"]) == ("once", ["each"]), verdict
            of_database = dict(rows(tmp_path / turn, OF_DATABASE))
            assert of_database["each"] > 1.5 * of_database["once"] > 0


def test_one_cpu_or_all(tmp_path: Path) -> None:
    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))[:2]))
    log = tmp_path / "log"
    ours = f"{program('regatta-server')} --design epoll --work snapshot"
    command = f"echo $(taskset -cp $$) >>{log}; exec {ours} --listen 127.0.0.1:{{port}}"
    words = (f"a={command}", "--shell", "--path", "/top?n=2", "--out", str(tmp_path / "race"))
    words += ("--server-cpus", cpus, "--client-cpus", cpus)
    scale = ("--scale", "1,2")
    done = run(*regatta("versus", *words, *SHORT, *scale), env=environment(), timeout=300)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    summary = (tmp_path / "race" / "summary.md").read_text()
    assert "a-1" in summary
    assert "a-2" in summary
    counts = [len(cpus_of(line.rpartition(": ")[2])) for line in log.read_text().splitlines()]
    assert {*counts} == {1, 2}
    done = run(*regatta("versus", *words, *SHORT, "--scale", "1,99"), env=environment())
    assert "it is to have 99 CPUs, but the server's are" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--env", "MOOD"), "--env MOOD: write it as NAME=VALUE"),
        (("--with", "db"), "--with db: write it as NAME=VALUE"),
        (("--with", "d b=x {port}"), "a name of small letters and _"),
        (("--with", "port=x {port}"), "a name of small letters and _"),
        (("--with", "db=x"), "has a command of db without {port}"),
        (("--cwd", "nowhere"), "nowhere"),
        (("--ready", "db=port"), "names db, but `with` does not"),
        (("--ready", "port", "--ready", "answer"), "--ready answer: a server has one"),
        (("--with", "db=x {port}", "--ready", "db=answer"), "it must be port or log:TEXT"),
        (("--ready", "soon"), "port, line, answer, http:/PATH or log:TEXT"),
        (("--ready", "http:healthz"), "port, line, answer, http:/PATH or log:TEXT"),
        (("--setup", "echo no >&2; exit 3"), "its setup failed (exit status 3): no"),
        (("--with", "db=sh -c 'echo I am full >&2; exit 1' {port}"), "I am full"),
        (("--ready", "http:/healthz", "--ready-timeout", "1s"), "was not ready within 1 s"),
    ],
)
def test_what_cannot_be_had_is_said_in_a_line(
    tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    server = f"{sys.executable} -m http.server {{port}}"
    command = regatta("versus", f"a={server}", f"b={server}", *SHORT, *words)
    done = run(*command, cwd=tmp_path, env=environment(), timeout=60)
    assert done.returncode in {1, 2}
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_server_that_does_not_start_shows_its_last_lines(tmp_path: Path) -> None:
    server = "sh -c 'seq -f \"line %g\" 30; exit 1' {port}"
    done = run(*regatta("versus", server, server), cwd=tmp_path, env=environment(), timeout=60)
    assert done.returncode == 1
    assert ": line 11\n" in done.stderr
    assert ": line 10\n" not in done.stderr


def test_a_text_for_a_shell_stays_one(tmp_path: Path) -> None:
    table = {"shell": True, "command": "cd x && awk '{print}' ${HOME} {port}", "cwd": "{folder}"}
    found = keys.read(Contender, table, designs=(), folder=tmp_path)
    assert found.words("h", 80, (0,), tmp_path) == [
        *("env", "-C", str(tmp_path), "/bin/sh", "-c"),
        "cd x && awk '{print}' ${HOME} 80",
    ]
    with pytest.raises(StudyError, match="contains {db}; the placeholders are"):
        keys.read(Contender, table | {"shell": False, "command": "a {port} {db}"}, folder=tmp_path)
