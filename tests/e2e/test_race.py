"""Races with the real programs: counters, loads, and resuming after SIGKILL."""

import json
import os
import random
import time
import uuid
from pathlib import Path

import pytest

from regatta.record.read import read
from regatta.record.samples import answered_samples
from regatta.record.schema import FILE_NAME
from tests.e2e.racing import (
    ROOT,
    assert_complete,
    begin,
    end_well,
    environment,
    needs_programs,
    race,
    study,
)
from tests.lab import rootless
from tests.ledgers import rows
from tests.processes import marked, network_namespaces
from tests.servers import program
from tests.users import runnable_by_all, world_writable
from tests.waiting import wait_until

THREE = """
[[cells]]
designs = ["iterative", "thread-per-client", "select"]
connections = [1, 4]
requests = 8
"""
LOADED = '[[cells]]\ndesigns = ["select"]\nconnections = 4\nrequests = 8'
ONE = study(LOADED, 3, 1)
ACCOUNTING = """
[[cells]]
designs = ["iterative", "thread-per-client", "fork-per-client", "select"]
connections = 10
requests = 200
"""
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


def test_a_design_is_raced_with_its_bare_twin(tmp_path: Path) -> None:
    folder = race(tmp_path, study(TWIN, blocks=3))
    assert rows(folder, "SELECT DISTINCT status, reason FROM trial") == [("ok", None)]
    assert "*Cost of the strategy*" in (folder / "summary.md").read_text()


@pytest.fixture(scope="module")
def accounting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return race(tmp_path_factory.mktemp("accounting"), study(ACCOUNTING, counted_blocks=1))


def test_every_request_is_answered_and_the_window_covers_the_measured_load_only(
    accounting: Path,
) -> None:
    query = """
        SELECT status, reason, requests, answered, json_extract(server, '$.requests'), window_ns,
            json_extract(client, '$.elapsed_ns') FROM trial
    """
    found = rows(accounting, query)
    # The server has also answered the warm-up, one burst of ten, which is not counted.
    assert [row[:5] for row in found] == [("ok", None, 200, 200, 210)] * 8
    assert [row for row in found if row[6] > row[5]] == []


def test_both_sides_have_counters_of_kernel_and_perf(accounting: Path) -> None:
    """If perf missed a thread or a child, it would miss nearly all the work of some designs."""
    query = "SELECT DISTINCT side, origin FROM counter WHERE state = 'counted'"
    found = set(rows(accounting, query))
    assert {("server", "kernel"), ("client", "kernel")} <= found
    note = rows(accounting, "SELECT value FROM environment WHERE key = 'perf_note'")[0][0]
    if note != "null":
        pytest.skip(f"perf cannot be used here: {note}")
    assert {("server", "perf"), ("client", "perf")} <= found
    query = """
        SELECT contender, perf.value / kernel.value FROM counter AS perf JOIN counter AS kernel
        ON perf.trial_id = kernel.trial_id JOIN trial ON trial.id = perf.trial_id
        JOIN cell ON cell.id = cell_id WHERE perf.side = 'server' AND kernel.side = 'server'
        AND perf.event = 'task-clock' AND kernel.event = 'cpu-time' AND kernel.origin = 'kernel'
    """
    shares = {str(name): float(str(share)) for name, share in rows(accounting, query)}
    assert shares == dict.fromkeys(shares, pytest.approx(1, abs=0.3))
    assert len(shares) == 4


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="both sides share the only CPU")
def test_the_cpus_of_a_side_are_busy_for_at_least_its_cpu_time(accounting: Path) -> None:
    query = """
        SELECT busy.value, own.value FROM counter AS busy JOIN counter AS own
        ON busy.trial_id = own.trial_id AND busy.side = own.side
        WHERE busy.event = 'busy-time' AND own.event = 'cpu-time' AND own.origin = 'kernel'
    """
    found = rows(accounting, query)
    assert len(found) == 16
    # Without privileges both readings are in ticks, and stolen time always is.
    ticks_ns = 3 * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    assert all(float(str(busy)) >= float(str(own)) - ticks_ns for busy, own in found)


def test_a_server_is_watched_until_it_is_warm_under_its_own_load(tmp_path: Path) -> None:
    folder = race(tmp_path, study(LOADED, blocks=2, warmup_limit_s=6))
    ((text,),) = rows(folder, "SELECT value FROM environment WHERE key = 'warm_ups'")
    firsts = json.loads(text)
    assert len({first["contender"] for first in firsts}) == len(firsts) >= 1
    for first in firsts:
        slices = first["slices"]
        # On a busy machine the limit ends it before there are slices enough to judge.
        assert len(slices) >= 8 or sum(slices_s for slices_s, *_ in slices) >= 6
        assert all(
            seconds > 0 and requests > 0 and cpu_us > 0 for seconds, requests, cpu_us, *_ in slices
        )
    watched = "SELECT count(*) FROM trial WHERE json_extract(conditions, '$.warm_up.kind') NOTNULL"
    assert rows(folder, watched) >= [(1,)]
    assert rows(folder, "SELECT DISTINCT status FROM trial") == [("ok",)]


def begin_or_resume(out: Path) -> list[str]:
    """Arguments to resume; on a slow machine the last race may have died before it began."""
    begun = (out / "ledger.sqlite").exists()
    return ["--resume", str(out)] if begun else ["study.toml", "--out", str(out)]


def kill_and_resume(folder: Path, study: str, times: int, seed: int) -> None:
    """Kills and resumes the lab so many times, then lets it finish."""
    chance = random.Random(seed)
    (folder / "study.toml").write_text(study)
    out = folder / "race"
    for _ in range(times):
        mark = uuid.uuid4().hex
        lab = begin(folder, "race", *begin_or_resume(out), env=environment(mark))
        time.sleep(chance.uniform(0.1, 2.5))  # from the start to about the end of the race
        networks = network_namespaces(marked(mark)) - network_namespaces([os.getpid()])
        lab.kill()
        lab.communicate()
        wait_until(
            lambda mark=mark, networks=networks: (
                not marked(mark) and not networks & network_namespaces()
            ),
            "a process or namespace is left",
        )
    end_well(folder, "race", *begin_or_resume(out))
    assert_complete(out)
    # All trials of a kind have the same number of counters: none is incomplete.
    query = """
        SELECT count(DISTINCT number) FROM (
            SELECT kind, count(*) AS number FROM trial JOIN counter ON trial_id = trial.id
            GROUP BY trial.id) GROUP BY kind
    """
    assert rows(out, query) == [(1,), (1,)]


def test_every_sitting_has_its_own_server_even_after_a_kill(tmp_path: Path) -> None:
    two = study(THREE, counted_blocks=1, sittings=2)
    kill_and_resume(tmp_path, two, times=2, seed=4)
    folder = tmp_path / "race"
    query = "SELECT number, count(DISTINCT link_order), min(link_order) FROM sitting GROUP BY 1"
    first, second = rows(folder, query)
    assert (first[:2], second[:2]) == ((1, 1), (2, 1)), "each sitting has one link order"
    assert first[2] != second[2]
    linked = [(folder / "servers" / number / "regatta-server").read_bytes() for number in "12"]
    assert linked[0] != linked[1]


@pytest.mark.long
def test_a_race_killed_twenty_times_is_complete(tmp_path: Path) -> None:
    # Long enough to be still at work at the last kill.
    long = study(THREE, blocks=15, counted_blocks=1)
    kill_and_resume(tmp_path, long, times=20, seed=2)


def test_an_unprivileged_user_can_race(tmp_path: Path) -> None:
    rootless.need_python()
    folder = world_writable(tmp_path)
    for name in ("regatta-server", "regatta-client"):
        programs = Path(runnable_by_all(program(name))).parent
    mine = {**environment(), "REGATTA_BIN": str(programs), "HOME": str(folder)}
    out = race(folder, ONE, "--blocks", "1", prefix=rootless.prefix(), env=mine)
    assert rows(out, "SELECT DISTINCT status FROM trial") == [("ok",)]
    query = """
        SELECT DISTINCT event, state FROM counter
        WHERE origin = 'perf' AND event IN ('context-switches', 'syscalls')
    """
    assert {state for _, state in rows(out, query)} == {"not supported"}


def test_open_loads_several_clients_and_pools_can_be_raced(tmp_path: Path) -> None:
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
    # On a busy machine the clients may start too far apart; such a trial is repeated.
    attempts = read(folder / FILE_NAME).last_attempts
    assert [(trial.status, trial.reason) for trial in attempts] == [("ok", None)] * 16
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
        parts = trial.client["clients"]
        assert sum(part["requests"] for part in parts) == trial.requests
        assert len(parts) == len(trial.client_shares) == 2
        assert answered_samples(trial.samples).size == trial.answered


CLIENTS = 12
SERVED_S = 0.02
LATER_S = 0.1
"""A client connected by SYN cookie retransmits after 0.2 s, others after 1 s."""
SLOWLY = f"""
[[cells]]
designs = ["iterative"]
connections = {CLIENTS}
work = "wait={SERVED_S * 1000:g}ms"
engine = "thread"
scope = "process"
rounds = 1
"""


def test_clients_that_find_the_backlog_full_retry_later(tmp_path: Path) -> None:
    """Only 3 + 1 fit into the backlog, and serving one takes longer than all need to connect."""
    folder = race(tmp_path, study(f"{SLOWLY}backlog = 3\n{SLOWLY}", 2), "--no-perf")
    query = (
        "SELECT backlog, status, reason, json_extract(client, '$.elapsed_ns') / 1e9 "
        "FROM trial JOIN cell ON cell.id = cell_id"
    )
    found = rows(folder, query)
    assert [row[1:3] for row in found] == [("ok", None)] * 4
    took_s: dict[object, list[float]] = {}
    for backlog, _, _, elapsed_s in found:
        took_s.setdefault(backlog, []).append(float(elapsed_s))
    assert min(took_s[None]) > CLIENTS * SERVED_S
    # The minimum of two, because a busy machine may delay one.
    assert min(took_s[3]) > min(took_s[None]) + LATER_S
