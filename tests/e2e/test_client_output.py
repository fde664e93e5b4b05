"""regatta-client: samples, output, interruption and command line."""

import ctypes
import json
import math
import re
import resource
import signal
import socket
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.e2e.scripted_servers import (
    LINE_REPLY,
    PATIENCE_S,
    REPLIES,
    TITLE,
    begin_client,
    client,
    errors,
    once,
    processes_named,
    read_request,
    read_samples,
    refusal,
    result_of,
    serving,
    shown_by,
)
from tests.processes import children, kill_all


def test_the_samples_agree_with_the_summary(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "samples"

    def handler(connection: socket.socket, number: int) -> None:
        read_request(connection)
        time.sleep(0.001 * (number % 7))
        connection.sendall(LINE_REPLY if number != 5 else b"error: no\n\n")

    before_ns = time.monotonic_ns()
    with serving(handler) as server:
        result, _ = result_of(server, f"-c 8 --rounds 4 --samples {path}", engine)
    samples, offset_ns = read_samples(path)
    assert abs(time.time_ns() - time.monotonic_ns() - offset_ns) < 1e9
    assert sorted(connection for *_, connection, _ in samples) == sorted(list(range(8)) * 4)
    assert [error for *_, error in samples].count(5) == 1
    for start_ns, first_byte_ns, end_ns, _, _ in samples:
        assert before_ns < start_ns <= first_byte_ns <= end_ns < time.monotonic_ns()
    elapsed_ns = max(sample[2] for sample in samples) - min(sample[0] for sample in samples)
    assert result["elapsed_ns"] == elapsed_ns
    assert result["throughput_per_s"] == pytest.approx(31 / elapsed_ns * 1e9, abs=0.1)
    for name, moment in (("latency_ns", 2), ("first_byte_ns", 1)):
        values = sorted(sample[moment] - sample[0] for sample in samples if sample[4] == 0)
        assert result[name]["min"] == values[0]
        assert result[name]["max"] == values[-1]
        assert result[name]["mean"] == pytest.approx(sum(values) / len(values), abs=0.1)
        for key, p in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99_9", 0.999)):
            assert result[name][key] == values[math.ceil(p * len(values)) - 1]


def test_a_sample_identifies_the_processes_in_its_reply(
    engine: str, dialect: str, tmp_path: Path
) -> None:
    path = tmp_path / "samples"
    other = {name: reply.replace(b" 4242 ", b" 4243 ") for name, reply in REPLIES.items()}
    replies = once(lambda number: (other if number == 2 else REPLIES)[dialect])
    with serving(replies) as server:
        result_of(server, f"-c 4 --samples {path}", engine, dialect)
    found = Counter(processes_named(path))
    assert sorted(found.values()) == [1, 3]
    assert 0 not in found


def test_resource_usage_covers_the_window(engine: str) -> None:
    with serving(once(LINE_REPLY)) as server:
        result, _ = result_of(server, "-c 20 --rounds 5", engine)
    itself, children = result["usage"]["self"], result["usage"]["children"]
    assert set(itself) == set(children)
    if engine == "fork":
        assert children["minor_faults"] > 100
    else:
        assert set(children.values()) == {0}
    assert itself["minor_faults"] + itself["voluntary_switches"] > 0


def test_killed_client_processes_are_a_failure_and_no_hang() -> None:
    with serving(lambda *_: server.hold()) as server:
        running_client = begin_client("--engine", "fork", "-c", "3", "--json", server.address)
        server.wait_for(3)
        engines = children(running_client.pid)
        assert len(engines) == 3
        kill_all(engines)
        out, err = running_client.communicate(timeout=PATIENCE_S)
    assert running_client.returncode == 1
    assert json.loads(out)["errors"] == errors(closed=3)
    assert b"died" in err


ROWS_SHOWN = """\
  rank   pid  user_seconds  system_seconds  name
     1  4242     12.340000        1.250000  postgres: writer
     2     7      0.500000        0.250000  sh
"""


def test_each_reply_is_printed_and_then_a_summary(engine: str, dialect: str) -> None:
    with serving(once(REPLIES[dialect])) as server:
        shown = shown_by("--engine", engine, "--dialect", dialect, "-c", "3", server.address)
    for number in (1, 2, 3):
        assert f"connection {number} of 3, answered in " in shown
    assert shown.count(ROWS_SHOWN) == 3
    assert f"3 requests to {server.address} over 3 connections" in shown
    assert "all answered" in shown
    assert re.search(r"latency .*p50 \d.*p90 .*p99 .*max \d", shown)


def test_control_characters_of_a_hostile_server_are_not_printed(engine: str) -> None:
    replies = [
        b"error: \x1b]0;owned\x07\xff\xc2\x9b\r\x08\n\n",
        TITLE + b"1 7 1.000000 0.000000 \x1b[2J\n\n",
        b"HTTP/1.1 503 \x1b[2J\x00\r\n\r\n",
        b"\x1b[2J\n",
    ]
    with serving(once(lambda number: replies[number % 4])) as server:
        finished = client("--engine", engine, "-c", "8", server.address)
    shown = finished.stdout + finished.stderr
    assert finished.returncode == 1
    assert r"error: \x1b]0;owned\x07\xff\xc2\x9b\r\x08" in shown
    assert not [c for c in shown if c != "\n" and (ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0)]


@pytest.mark.parametrize("load", ["burst", "closed"])
def test_ctrl_c_stops_with_a_summary_and_sends_nothing_again(engine: str, load: str) -> None:
    """While requests are on their way, one of them behind an answered one."""
    has_read = threading.Event()

    def handler(connection: socket.socket, number: int) -> None:
        read_request(connection)
        if number == 0:
            connection.sendall(REPLIES["http"])
            connection.recv(100)  # closed, or the next request: it has read the reply
            has_read.set()
        server.hold()

    with serving(handler) as server:
        how = ("--engine", engine, "--dialect", "http", "-c", "4", "--load", load)
        running_client = begin_client(*how, server.address)
        server.wait_for(4)
        assert has_read.wait(PATIENCE_S)
        running_client.send_signal(signal.SIGINT)
        begun = time.monotonic()
        out, err = running_client.communicate(timeout=PATIENCE_S)
        assert time.monotonic() - begun < 1
        assert server.accepted == 4
    assert running_client.returncode == 1
    assert b"1 request to" in out
    assert err == b"regatta-client: interrupted; the summary covers the load until then\n"


def test_output_that_cannot_be_written_is_a_failure() -> None:
    with serving(once(LINE_REPLY)) as server, Path("/dev/full").open("wb") as full:
        finished = begin_client("--json", server.address, stdout=full)
        _, err = finished.communicate(timeout=PATIENCE_S)
    assert finished.returncode == 1
    assert b"cannot print the summary" in err


@pytest.mark.parametrize("engine", ["epoll", "thread"])
def test_the_descriptor_limit_is_raised_as_needed(engine: str) -> None:
    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 4096))

    with serving(once(LINE_REPLY)) as server:
        shown_by("--engine", engine, "-c", "100", server.address, preexec_fn=few)


@pytest.mark.parametrize(
    ("engine", "what"),
    [("epoll", "-c"), ("thread", "-c"), ("epoll", "--idle"), ("epoll", "--slow")],
)
def test_a_hard_descriptor_limit_is_reported(engine: str, what: str) -> None:
    drop_from_bounding_set, sys_resource = 24, 24
    libc = ctypes.CDLL(None)

    def few() -> None:
        libc.prctl(drop_from_bounding_set, sys_resource, 0, 0, 0)  # root could exceed it
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))

    with serving(once(LINE_REPLY)) as server:
        said = refusal("--engine", engine, what, "100", server.address, status=1, preexec_fn=few)
        assert server.accepted == 0
    assert "limit of open files" in said
