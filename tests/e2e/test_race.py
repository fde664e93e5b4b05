"""The race with the real programs: what it counts, and that it survives being killed."""

import os
import random
import re
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from regatta.ledger.read import read
from regatta.ledger.samples import latencies_ns
from regatta.ledger.schema import FILE_NAME
from regatta.machine.programs import find_tool
from tests.commands import run_well
from tests.e2e.racing import ROOT, end_well, environment, needs_programs, race, regatta, study
from tests.lab import rootless
from tests.ledgers import rows
from tests.processes import marked, network_namespaces
from tests.waiting import wait_until

THREE = """
[[cells]]
designs = ["iterative", "thread-per-client", "select"]
connections = [1, 4]
requests = 8
"""
TINY = study(THREE, blocks=3, counted_blocks=1)
ONE = study('[[cells]]\ndesigns = ["select"]\nconnections = 4\nrequests = 8', 3, 1)
ACCOUNTING = THREE.replace("[1, 4]", "10").replace("requests = 8", "requests = 200")
TWIN = f"""
[contenders.bare]
command = ["{ROOT}/build/bench/twin-fork-per-client", "{{host}}:{{port}}"]
twin_of = "fork-per-client"
[[cells]]
designs = ["fork-per-client"]
contenders = ["bare"]
work = "snapshot"
dialect = "http"
load = "burst"
connections = 4
requests = 40
"""

pytestmark = needs_programs


def test_a_design_is_raced_beside_its_bare_twin(tmp_path: Path) -> None:
    folder = race(tmp_path, study(TWIN, blocks=3))
    assert rows(folder, "SELECT DISTINCT status, reason FROM trial") == [("ok", None)]
    said = (folder / "summary.md").read_text()
    assert "### Cost of the strategy" in said
    assert re.search(r"fork\\?-per\\?-client: .* bare twin", said)


@pytest.fixture(scope="module")
def accounting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return race(tmp_path_factory.mktemp("accounting"), study(ACCOUNTING, counted_blocks=1))


def test_every_trial_of_every_design_is_answered(accounting: Path) -> None:
    found = rows(accounting, "SELECT status, reason, requests, answered FROM trial")
    assert found == [("ok", None, 200, 200)] * 6


def test_both_sides_are_counted_from_both_origins(accounting: Path) -> None:
    query = "SELECT DISTINCT side, origin FROM counter WHERE state = 'counted'"
    found = set(rows(accounting, query))
    assert {("server", "kernel"), ("client", "kernel")} <= found
    note = rows(accounting, "SELECT value FROM environment WHERE key = 'perf_note'")[0][0]
    if note != "null":
        pytest.skip(f"perf cannot be used here: {note}")
    assert {("server", "perf"), ("client", "perf")} <= found


def test_nothing_is_attached_in_a_timed_trial(accounting: Path) -> None:
    query = (
        "SELECT DISTINCT origin FROM counter JOIN trial ON trial.id = trial_id WHERE kind = 'timed'"
    )
    assert set(rows(accounting, query)) == {("kernel",), ("cpus",)}


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="both sides share the only CPU")
def test_a_sides_cpus_are_busy_for_at_least_what_it_is_charged(accounting: Path) -> None:
    query = """
        SELECT busy.value, own.value FROM counter AS busy JOIN counter AS own
        ON busy.trial_id = own.trial_id AND busy.side = own.side
        WHERE busy.event = 'busy-time' AND own.event = 'cpu-time' AND own.origin = 'kernel'
    """
    found = rows(accounting, query)
    assert len(found) == 12
    # Without rights both ends are told in ticks, and what the host took is in ticks anyway.
    ticks_ns = 3 * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    assert all(float(str(busy)) >= float(str(own)) - ticks_ns for busy, own in found)


@pytest.mark.skipif(os.geteuid() != 0, reason="steering needs root")
@pytest.mark.parametrize("asked", ["own-side", "none"])
def test_a_race_says_where_its_packets_were_steered(asked: str, tmp_path: Path) -> None:
    options = ("--blocks", "1", "--no-perf", "--placement", "netns", "--steering", asked)
    folder = race(tmp_path, TINY, *options)
    query = "SELECT json_extract(value, '$.steering') FROM environment WHERE key = 'placement'"
    assert rows(folder, query) == [(asked,)]


def test_the_window_holds_the_measured_load_only(accounting: Path) -> None:
    query = """
        SELECT window_ns, json_extract(client, '$.elapsed_ns'), json_extract(server, '$.requests')
        FROM trial
    """
    for window_ns, elapsed_ns, served in rows(accounting, query):
        assert isinstance(window_ns, int)
        assert isinstance(elapsed_ns, int)
        assert elapsed_ns <= window_ns
        # The server has also answered the warm-up, which is in no counter: one burst of ten.
        assert served == 210


def test_a_thread_per_client_switches_and_faults_more(accounting: Path) -> None:
    query = """
        SELECT contender, avg(value / requests) FROM trial JOIN cell ON cell.id = cell_id
        JOIN counter ON trial_id = trial.id
        WHERE side = 'server' AND origin = 'kernel' AND event = 'page-faults' GROUP BY contender
    """
    faults = {str(name): float(str(value)) for name, value in rows(accounting, query)}
    assert faults["thread-per-client"] > faults["select"] + 1
    assert faults["thread-per-client"] > faults["iterative"] + 1


def test_without_perf_it_races_with_the_kernels_accounting(tmp_path: Path) -> None:
    folder = race(tmp_path, ONE, "--no-perf", "--blocks", "1")
    query = "SELECT DISTINCT state FROM counter WHERE origin = 'perf'"
    assert rows(folder, query) == [("not supported",)]
    query = (
        "SELECT count(*) FROM counter WHERE side = 'server' AND event = 'cpu-time' AND value > 0"
    )
    assert rows(folder, query) == [(2,)]


@pytest.mark.parametrize(("load", "design"), [("burst", "select"), ("closed", "thread-per-client")])
def test_every_load_and_dialect_is_answered(tmp_path: Path, load: str, design: str) -> None:
    cells = ""
    for dialect in ("line", "http"):
        cells += f"""
        [[cells]]
        designs = ["{design}"]
        connections = [5]
        work = "snapshot"
        engine = ["thread", "fork", "epoll"]
        load = "{load}"
        dialect = "{dialect}"
        {"requests = 10" if load == "burst" else "duration_s = 0.1"}
        """
    folder = race(tmp_path, study(cells))
    assert rows(folder, "SELECT status, count(*), reason FROM trial") == [("ok", 6, None)]


def test_the_ledger_and_the_report_are_left_in_the_folder(accounting: Path) -> None:
    names = {path.name for path in accounting.iterdir()}
    assert {"ledger.sqlite", "report.html", "summary.md", "summary.csv"} <= names
    assert ".trial" not in names


def begin_or_resume(out: Path) -> list[str]:
    """What a person would type: on a slow machine the last one died before it had begun."""
    begun = (out / "ledger.sqlite").exists()
    return ["--resume", str(out)] if begun else ["study.toml", "--out", str(out)]


def is_all_gone(mark: str, networks: set[str]) -> bool:
    return not marked(mark) and not networks & network_namespaces()


def kill_and_resume(folder: Path, study: str, moments_s: list[float]) -> None:
    """Kills the lab outright at each moment of its life and resumes it, then lets it finish."""
    (folder / "study.toml").write_text(study)
    out = folder / "race"
    for moment_s in moments_s:
        mark = uuid.uuid4().hex
        lab = subprocess.Popen(
            regatta("race", *begin_or_resume(out)),
            cwd=folder,
            env=environment(mark),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(moment_s)
        its_own = network_namespaces(marked(mark)) - network_namespaces([os.getpid()])
        lab.send_signal(signal.SIGKILL)
        lab.wait()
        wait_until(partial(is_all_gone, mark, its_own), "something has survived")
    end_well(folder, "race", *begin_or_resume(out))
    planned = rows(out, "SELECT block, position, cell_id, kind FROM plan ORDER BY 1, 2")
    trials = rows(out, "SELECT block, position, cell_id, kind FROM trial ORDER BY 1, 2")
    assert trials == planned
    assert trials
    assert rows(out, "SELECT DISTINCT status FROM trial") == [("ok",)]
    # The counters of each trial are whole: every one of a kind has the same number of them.
    query = """
        SELECT count(DISTINCT number) FROM (
            SELECT kind, count(*) AS number FROM trial JOIN counter ON trial_id = trial.id
            GROUP BY trial.id) GROUP BY kind
    """
    assert rows(out, query) == [(1,), (1,)]


def moments(count: int, seed: int) -> list[float]:
    """Moments from before the first trial to near the end of what is left."""
    chance = random.Random(seed)
    return [chance.uniform(0.1, 2.5) for _ in range(count)]


def test_a_race_killed_three_times_is_the_race_undisturbed(tmp_path: Path) -> None:
    kill_and_resume(tmp_path, TINY, moments(3, seed=1))


def test_every_sitting_has_a_server_of_its_own_also_where_it_was_killed(tmp_path: Path) -> None:
    two = study(THREE, counted_blocks=1, sittings=2)
    kill_and_resume(tmp_path, two, moments(2, seed=4))
    folder = tmp_path / "race"
    query = "SELECT number, count(DISTINCT link_order), min(link_order) FROM sitting GROUP BY 1"
    first, second = rows(folder, query)
    assert (first[:2], second[:2]) == ((1, 1), (2, 1)), "each keeps its own"
    assert first[2] != second[2]
    linked = [(folder / "servers" / number / "regatta-server").read_bytes() for number in "12"]
    assert linked[0] != linked[1]


@pytest.mark.long
def test_a_race_killed_at_twenty_moments_is_the_race_undisturbed(tmp_path: Path) -> None:
    # Long enough that the last death still meets it at work.
    long = study(THREE, blocks=15, counted_blocks=1)
    kill_and_resume(tmp_path, long, moments(20, seed=2))


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that a user without rights can reach and write to, with the programs."""
    with tempfile.TemporaryDirectory(prefix="regatta-test-") as name:
        folder = Path(name)
        folder.chmod(0o777)
        for program in ("regatta-server", "regatta-client"):
            copy = folder / program
            copy.write_bytes((ROOT / "bin" / program).read_bytes())
            copy.chmod(0o755)
        yield folder


def test_without_rights_it_races_too(open_folder: Path) -> None:
    rootless.need_python()
    (open_folder / "study.toml").write_text(ONE)
    out = open_folder / "race"
    run_well(
        *(*rootless.prefix(), *regatta("race", "study.toml", "--out", str(out), "--blocks", "1")),
        cwd=open_folder,
        env={**environment(), "REGATTA_BIN": str(open_folder), "HOME": str(open_folder)},
        timeout=120,
    )
    assert rows(out, "SELECT DISTINCT status FROM trial") == [("ok",)]
    query = """
        SELECT DISTINCT event, state FROM counter
        WHERE origin = 'perf' AND event IN ('context-switches', 'syscalls')
    """
    assert {state for _, state in rows(out, query)} == {"not supported"}


def test_every_kind_of_load_and_pool_can_be_raced(tmp_path: Path) -> None:
    cells = """
        [placement]
        clients = 2
        [[cells]]
        designs = ["epoll"]
        connections = 5
        work = ["spin=50us", "wait=1ms"]
        load = "open"
        rate = [100, 200]
        arrivals = "poisson"
        duration_s = 0.2
        idle = 20
        slow = 2
        dialect = "http"
        [[cells]]
        designs = ["reactors", "prefork-mutex"]
        connections = 4
        workers = [2, 3]
        requests = 40
        dialect = "http"
        path = "/healthz"
    """
    folder = race(tmp_path, study(cells, blocks=2))
    assert rows(folder, "SELECT status, count(*), reason FROM trial") == [("ok", 16, None)]
    query = """
        SELECT DISTINCT workers, json_array_length(server, '$.workers') FROM trial
        JOIN cell ON cell.id = cell_id WHERE workers IS NOT NULL ORDER BY 1
    """
    assert rows(folder, query) == [(2, 2), (3, 3)]
    query = """
        SELECT json_extract(client, '$.idle'), json_extract(client, '$.slow'), rate
        FROM trial JOIN cell ON cell.id = cell_id WHERE load = 'open'
    """
    assert set(rows(folder, query)) == {(20, 2, 100), (20, 2, 200)}
    for trial in read(folder / FILE_NAME).trials:
        assert sum(one.requests for one in trial.clients) == trial.requests
        assert len(trial.clients) == 2
        assert latencies_ns(trial.samples).size == trial.answered
    page = (folder / "summary.md").read_text()
    assert "200 requests/s" in page
    assert "Connections per worker" in page


@pytest.mark.skipif(find_tool("nginx") is None, reason="nginx is not installed")
def test_nginx_races_beside_ours_and_both_its_processes_are_counted(tmp_path: Path) -> None:
    text = (ROOT / "contenders" / "nginx" / "nginx.toml").read_text()
    text = text.replace("{folder}", str(ROOT / "contenders" / "nginx"))
    text = text.replace("blocks = 8", "blocks = 1").replace('"uring"', '"select"')
    text = text.replace("[race]", "[race]\ndisturbance_limit_percent = 1e6")
    # To find what each holds would take a minute.
    text = text.replace("duration_s = 0.5", 'load = "closed"\nduration_s = 0.3')
    folder = race(tmp_path, text.replace("counted_blocks = 2", "counted_blocks = 1"))
    query = "SELECT DISTINCT contender, status, reason FROM trial JOIN cell ON cell.id = cell_id"
    assert set(rows(folder, query)) == {(name, "ok", None) for name in ("epoll", "select", "nginx")}
    # All the work is the worker's, a child of the process that the lab has started.
    query = """
        SELECT min(value / requests) FROM counter JOIN trial ON trial.id = trial_id
        JOIN cell ON cell.id = cell_id
        WHERE contender = 'nginx' AND side = 'server' AND event = 'cpu-time'
    """
    assert float(str(rows(folder, query)[0][0])) > 1000
