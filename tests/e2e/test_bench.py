"""`make bench` at the smallest scale: real programs and peers, two blocks."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.__main__ import make_testbed
from bench.idle_connections import MEMORY, RestingConnections
from bench.loads import CLIENT_CPU, SERVER_CPU, GetClient, RedisBenchmark, Wrk, closed, newcomers
from bench.rows import ServerTrial
from bench.servers import Memcached, Nginx, Ours, Redis, Twin, serving
from bench.side_by_side import Measurements
from bench.testbed import Testbed
from regatta.errors import UsageError
from tests.commands import Done, run
from tests.servers import REPOSITORY, running

TIMEOUT_S = 100


@pytest.fixture(scope="module")
def testbed() -> Iterator[Testbed]:
    with make_testbed() as made:
        yield made


def bench(*options: str) -> Done:
    command = (sys.executable, "-m", "bench", "--blocks", "2", *options)
    return run(*command, cwd=REPOSITORY, timeout=TIMEOUT_S)


def test_one_comparison_as_json() -> None:
    answer = bench("--only", "^epoll / bare epoll loop, 50 ", "--json")
    assert answer.returncode == 0, answer.stderr
    report = json.loads(answer.stdout)
    (row,) = report["comparisons"]
    assert len(row["our_values"]) == len(row["peer_values"]) == report["blocks"] == 2
    assert 1 < min(row["our_values"] + row["peer_values"]) < 1000
    assert row["low"] <= row["value"] <= row["high"]
    assert row["verdict"] in ("met", "missed", "undecided")
    assert (
        report["environment"]["placement"]["server_cpus"]
        != (report["environment"]["placement"]["client_cpus"])
    )
    assert "block 2 begins" in answer.stderr


def head_and_body(reply: bytes) -> tuple[bytes, bytes]:
    """The reply without date and length, which differ between two replies."""
    head, _, body = reply.partition(b"\r\n\r\n")
    head, blanked = re.subn(rb"(?m)^Content-Length: \d{3}\r$", b"Content-Length", head)
    assert blanked == 1, head
    head, blanked = re.subn(rb"(?m)^Date: .{25} GMT$", b"Date", head)
    assert blanked == 1, head
    return head, body


def test_a_twin_sends_the_same_reply_as_ours(testbed: Testbed) -> None:
    with serving(testbed, Ours("select")) as ours:
        our_head, our_body = head_and_body(ours.reply)
    with serving(testbed, Twin("select")) as twin:
        head, body = head_and_body(twin.reply)
    assert body == testbed.body
    assert int(re.findall(rb"Content-Length: (\d+)", twin.reply)[0]) == len(body)
    assert len(body.splitlines()) == len(our_body.splitlines())
    assert head == our_head


@pytest.mark.parametrize(
    "trial",
    [
        ServerTrial(Nginx(), Wrk(10)),
        ServerTrial(Nginx(deferred=False), Wrk(10, closing=True)),
        ServerTrial(Redis(), RedisBenchmark(10, requests=1000)),
        ServerTrial(Memcached(), GetClient(10)),
        ServerTrial(Ours("select"), GetClient(10)),
        ServerTrial(Ours("select"), closed(10)),
        ServerTrial(Ours("select"), Wrk(10, idle=100)),
        ServerTrial(Ours("fork-per-client"), newcomers(500, 0.3, 16)),
        ServerTrial(Twin("fork-per-client"), newcomers(500, 0.3, 16)),
    ],
    ids=lambda trial: trial.name,
)
def test_a_trial_measures_both_sides(trial: ServerTrial, testbed: Testbed) -> None:
    try:
        trial.server.check()
        trial.load.check()
    except UsageError as error:
        pytest.skip(f"{error}, or run scripts/setup bench")
    measured = Measurements()
    measured.run(testbed, trial, 0)
    assert measured.failures == []
    for figure in (SERVER_CPU, CLIENT_CPU):
        assert 1 < measured.values(trial, figure)[0] < 1000


def test_memory_at_rest_is_less_than_a_page_a_connection(testbed: Testbed) -> None:
    trial, measured = ServerTrial(Ours("epoll"), RestingConnections(500, asks=True)), Measurements()
    measured.run(testbed, trial, 0)
    assert measured.failures == []
    # No lower bound: the kernel may reclaim other pages of an idle server meanwhile.
    assert measured.values(trial, MEMORY)[0] < 4096


def test_connections_closed_by_the_server_are_an_error(tmp_path: Path) -> None:
    with (
        running(tmp_path) as server,
        subprocess.Popen(
            [sys.executable, "bench/hold_connections.py", server.host, str(server.port), "silent"],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as holder,
    ):
        print(5, file=holder.stdin, flush=True)
        assert holder.stdout.readline() == "5\n"
        server.stop()
        _, complaint = holder.communicate(timeout=TIMEOUT_S)
    assert holder.returncode == 1
    assert "closed 5 of 5" in complaint
