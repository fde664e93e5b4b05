"""regatta-client against servers that answer well, badly, slowly or not at all.

Every test of a load runs with each engine: they must tell the same story about the same server.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import os
import re
import resource
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers import program, running

ENGINES = ["epoll", "thread", "fork"]
DIALECTS = ["line", "http"]
PATIENCE_S = 20.0

TITLE = b"rank pid user_seconds system_seconds name\n"
ROWS = b"1 4242 12.340000 1.250000 postgres: writer\n2 7 0.500000 0.250000 sh\n"
LINE_REPLY = TITLE + ROWS + b"\n"


def http(body: bytes, status: bytes = b"200 OK", headers: bytes = b"") -> bytes:
    length = str(len(body)).encode()
    return b"HTTP/1.1 %s\r\n%sContent-Length: %s\r\n\r\n%s" % (status, headers, length, body)


REPLIES = {"line": LINE_REPLY, "http": http(TITLE + ROWS)}


# A server that does what a test wants


def read_request(connection: socket.socket) -> bytes:
    """One request of either dialect; b"" when the client hung up."""
    request = b""
    while not request.endswith((b"\r\n\r\n",)) and not re.fullmatch(rb"top \d+\n", request):
        more = connection.recv(4096)
        if not more:
            return b""
        request += more
    return request


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def address_of(listener: socket.socket) -> str:
    return f"127.0.0.1:{listener.getsockname()[1]}"


Handler = Callable[[socket.socket, int], None]
"""What is done with a connection; its number says how many came before it."""


class Scripted:
    """A server on loopback that hands each connection to a handler in a thread of its own."""

    def __init__(self, handler: Handler, backlog: int = 1024) -> None:
        self.handler = handler
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=backlog)
        self.address = address_of(self.listener)
        self.accepted = 0
        self.requests: list[int] = []
        self._over = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            number = self.accepted
            self.accepted += 1
            threading.Thread(target=self._handle, args=(connection, number), daemon=True).start()

    def _handle(self, connection: socket.socket, number: int) -> None:
        # The client may hang up at any time: that is its right.
        with connection, contextlib.suppress(OSError):
            connection.settimeout(PATIENCE_S)
            self.handler(connection, number)

    def hold(self) -> None:
        """Says nothing until the test is over."""
        self._over.wait(PATIENCE_S)

    def close(self) -> None:
        self._over.set()
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


@contextlib.contextmanager
def serving(handler: Handler, backlog: int = 1024) -> Iterator[Scripted]:
    server = Scripted(handler, backlog)
    try:
        yield server
    finally:
        server.close()


def once(reply: bytes) -> Handler:
    """Reads a request, answers, closes."""

    def handler(connection: socket.socket, _number: int) -> None:
        if read_request(connection):
            connection.sendall(reply)

    return handler


def always(reply: bytes, counts: dict[int, int] | None = None) -> Handler:
    """Answers until the client hangs up."""

    def handler(connection: socket.socket, number: int) -> None:
        while read_request(connection):
            if counts is not None:
                counts[number] = counts.get(number, 0) + 1
            connection.sendall(reply)

    return handler


# Running the client


def client(*options: str, **settings: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [program("regatta-client"), *options],
        capture_output=True,
        timeout=PATIENCE_S,
        stdin=subprocess.DEVNULL,
        check=False,
        **settings,
    )


def result_of(*options: str) -> tuple[dict[str, Any], int]:
    """The JSON object and the exit status; a failed load says so in one line."""
    finished = client("--json", *options)
    if finished.returncode == 0:
        assert finished.stderr == b""
    else:
        assert finished.stderr.startswith(b"regatta-client: ")
        assert finished.stderr.count(b"\n") == 1
    return json.loads(finished.stdout), finished.returncode


def errors(**kinds: int) -> dict[str, int]:
    return {"connect": 0, "timeout": 0, "closed": 0, "malformed": 0, "refused": 0} | kinds


def read_samples(path: Path) -> tuple[list[tuple[int, int, int, int, int]], int]:
    content = path.read_bytes()
    magic, size, reserved, count, offset_ns = struct.unpack_from("<8sIIQq", content)
    assert (magic, size, reserved) == (b"RGSAMPL1", 32, 0)
    assert len(content) == 32 + 32 * count
    return list(struct.iter_unpack("<qqqII", content[32:])), offset_ns


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# Servers that answer well


def test_every_connection_of_every_round_asks_once(engine: str, dialect: str) -> None:
    with serving(once(REPLIES[dialect])) as server:
        result, status = result_of(
            *("--engine", engine, "--dialect", dialect, "-c", "20", "--rounds", "3"),
            server.address,
        )
        assert server.accepted == 60
    assert status == 0
    assert (result["requests"], result["answered"], result["errors"]) == (60, 60, errors())
    assert result["connections_opened"] == 60
    assert result["bytes_received"] == 60 * len(REPLIES[dialect])
    assert (result["connections"], result["rounds"]) == (20, 3)
    assert (result["engine"], result["load"], result["dialect"]) == (engine, "burst", dialect)
    assert result["target"] == server.address


def test_a_closed_load_keeps_its_connections(engine: str, dialect: str) -> None:
    counts: dict[int, int] = {}
    with serving(always(REPLIES[dialect], counts)) as server:
        result, status = result_of(
            *("--engine", engine, "--dialect", dialect, "-c", "3"),
            *("--load", "closed", "--duration", "0.3"),
            server.address,
        )
    assert status == 0
    assert result["connections_opened"] == 3
    assert result["requests"] == result["answered"] == sum(counts.values())
    assert min(counts.values()) > 1
    assert 0.25e9 < result["elapsed_ns"] < 1e9
    assert (result["duration_ns"], result["per_connection"]) == (300_000_000, 0)
    assert "rounds" not in result


def test_a_closed_load_reconnects_after_so_many_requests(engine: str, dialect: str) -> None:
    counts: dict[int, int] = {}
    with serving(always(REPLIES[dialect], counts)) as server:
        result, status = result_of(
            *("--engine", engine, "--dialect", dialect, "-c", "2"),
            *("--load", "closed", "--duration", "0.2", "--per-connection", "4"),
            server.address,
        )
    assert status == 0
    assert result["connections_opened"] == len(counts) > 2
    assert sorted(counts.values())[2:] == [4] * (len(counts) - 2)  # two ended with the load


def test_the_last_request_on_an_http_connection_says_so(engine: str) -> None:
    requests: list[bytes] = []

    def handler(connection: socket.socket, _number: int) -> None:
        while request := read_request(connection):
            requests.append(request)
            connection.sendall(REPLIES["http"])

    with serving(handler) as server:
        result_of("--engine", engine, "--dialect", "http", "-n", "7", server.address)
    host = server.address.encode()
    assert requests == [b"GET /top?n=7 HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % host]


def test_a_reply_may_come_byte_by_byte(engine: str, dialect: str) -> None:
    def handler(connection: socket.socket, _number: int) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while read_request(connection):
            for byte in REPLIES[dialect]:
                connection.sendall(bytes([byte]))
                time.sleep(0.0003)

    with serving(handler) as server:
        result, status = result_of(
            "--engine", engine, "--dialect", dialect, "-c", "3", server.address
        )
    assert (status, result["answered"]) == (0, 3)
    # The first byte came long before the end, and both are measured.
    assert result["first_byte_ns"]["max"] < result["latency_ns"]["min"]


def test_an_announced_close_is_no_error(engine: str) -> None:
    reply = http(TITLE + ROWS, headers=b"Connection: close\r\n")
    with serving(once(reply)) as server:
        result, status = result_of(
            *("--engine", engine, "--dialect", "http", "-c", "2"),
            *("--load", "closed", "--duration", "0.2"),
            server.address,
        )
    assert (status, result["errors"]) == (0, errors())
    assert result["connections_opened"] == result["requests"] > 2


# Servers that answer badly


MALFORMED = {
    "garbage": b"hello\n\n",
    "binary garbage": bytes(range(256)),
    "no rows": TITLE + b"\n",
    "ranks from zero": TITLE + b"0 7 1.000000 0.000000 a\n\n",
    "a rank twice": TITLE + b"1 7 1.000000 0.000000 a\n1 8 1.000000 0.000000 b\n\n",
    "more rows than asked for": LINE_REPLY[:-1] + b"3 8 0.100000 0.000000 c\n\n",
    "five decimals": TITLE + b"1 7 1.00000 0.000000 a\n\n",
    "a control byte in a name": TITLE + b"1 7 1.000000 0.000000 \x1b[31mred\n\n",
    "a C1 control in a name": TITLE + b"1 7 1.000000 0.000000 \xc2\x9b31m\n\n",
    "a name that is not UTF-8": TITLE + b"1 7 1.000000 0.000000 \xff\n\n",
    "bytes after the end": LINE_REPLY + b"more",
    "an endless line": b"a" * 5000,
}


@pytest.mark.parametrize("reply", MALFORMED.values(), ids=MALFORMED.keys())
def test_a_wrong_reply_is_malformed(engine: str, reply: bytes) -> None:
    with serving(once(reply)) as server:
        result, status = result_of("--engine", engine, "-c", "3", server.address)
    assert (status, result["answered"], result["errors"]) == (1, 0, errors(malformed=3))


MALFORMED_HTTP = {
    "the line dialect": LINE_REPLY,
    "no length": b"HTTP/1.1 200 OK\r\n\r\n" + TITLE + ROWS,
    "chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    "two lengths": http(TITLE + ROWS, headers=b"Content-Length: 3\r\n"),
    "another body": http(b"ok\n"),
    "a body cut short": http(TITLE + ROWS[:-3]),
    "bare line feeds": http(TITLE + ROWS).replace(b"\r\n", b"\n"),
}


@pytest.mark.parametrize("reply", MALFORMED_HTTP.values(), ids=MALFORMED_HTTP.keys())
def test_a_wrong_http_reply_is_malformed(engine: str, reply: bytes) -> None:
    with serving(once(reply)) as server:
        result, status = result_of("--engine", engine, "--dialect", "http", server.address)
    assert (status, result["errors"]) == (1, errors(malformed=1))


REFUSED = {
    ("line", "an error"): b"error: no such request\n\n",
    ("line", "a server at its limit"): http(b"too many\n", status=b"503 Service Unavailable"),
    ("http", "a server at its limit"): http(b"too many\n", status=b"503 Service Unavailable"),
    ("http", "not found"): http(b"not found\n", status=b"404 Not Found"),
}


@pytest.mark.parametrize(("case", "reply"), REFUSED.items(), ids=[" ".join(k) for k in REFUSED])
def test_an_error_reply_is_refused(engine: str, case: tuple[str, str], reply: bytes) -> None:
    with serving(once(reply)) as server:
        result, status = result_of(
            "--engine", engine, "--dialect", case[0], "-c", "3", server.address
        )
    assert (status, result["errors"]) == (1, errors(refused=3))


def test_a_server_that_turns_away_before_it_is_asked_has_refused(engine: str, dialect: str) -> None:
    def handler(connection: socket.socket, _number: int) -> None:
        connection.sendall(http(b"too many\n", status=b"503 Service Unavailable"))

    with serving(handler) as server:
        result, status = result_of(
            "--engine", engine, "--dialect", dialect, "-c", "10", server.address
        )
    assert (status, result["errors"]) == (1, errors(refused=10))


CLOSED = {"nothing": b"", "half a row": LINE_REPLY[:60], "all but the end": LINE_REPLY[:-1]}


@pytest.mark.parametrize("reply", CLOSED.values(), ids=CLOSED.keys())
def test_a_reply_that_is_cut_off_is_closed(engine: str, reply: bytes) -> None:
    with serving(once(reply)) as server:
        result, status = result_of("--engine", engine, "-c", "3", server.address)
    assert (status, result["errors"]) == (1, errors(closed=3))
    assert result["latency_ns"] == dict.fromkeys(
        ["min", "mean", "p50", "p90", "p99", "p99_9", "max"]
    )


@pytest.mark.parametrize("reply", [b"", LINE_REPLY[:60]], ids=["nothing", "half a row"])
def test_a_reset_is_closed(engine: str, reply: bytes) -> None:
    def handler(connection: socket.socket, _number: int) -> None:
        read_request(connection)
        connection.sendall(reply)
        reset(connection)

    with serving(handler) as server:
        result, status = result_of("--engine", engine, "-c", "3", server.address)
    assert (status, result["errors"]) == (1, errors(closed=3))


def test_a_half_closed_connection_is_closed(engine: str) -> None:
    def handler(connection: socket.socket, _number: int) -> None:
        read_request(connection)
        connection.sendall(LINE_REPLY[:60])
        connection.shutdown(socket.SHUT_WR)
        server.hold()

    with serving(handler) as server:
        result, status = result_of("--engine", engine, "-c", "3", server.address)
    assert (status, result["errors"]) == (1, errors(closed=3))


def test_each_kind_of_failure_is_counted_by_itself(engine: str) -> None:
    replies = [LINE_REPLY, b"hello\n", b"error: no\n\n", LINE_REPLY[:50]]

    def handler(connection: socket.socket, number: int) -> None:
        read_request(connection)
        connection.sendall(replies[number % 4])

    with serving(handler) as server:
        result, status = result_of("--engine", engine, "-c", "40", server.address)
    assert (status, result["requests"], result["answered"]) == (1, 40, 10)
    assert result["errors"] == errors(malformed=10, refused=10, closed=10)


def test_one_bad_reply_among_many_fails_the_load(engine: str) -> None:
    def handler(connection: socket.socket, number: int) -> None:
        read_request(connection)
        connection.sendall(b"hello\n" if number == 13 else LINE_REPLY)

    with serving(handler) as server:
        result, status = result_of("--engine", engine, "-c", "10", "--rounds", "5", server.address)
    assert (status, result["answered"], result["errors"]) == (1, 49, errors(malformed=1))


def test_a_closed_load_goes_on_after_a_connection_is_dropped(engine: str) -> None:
    def handler(connection: socket.socket, _number: int) -> None:
        for _ in range(5):
            read_request(connection)
            connection.sendall(LINE_REPLY)

    with serving(handler) as server:
        result, status = result_of(
            "--engine", engine, "--load", "closed", "--duration", "0.4", server.address
        )
    failed = result["errors"]["closed"]
    assert status == 1
    assert result["errors"] == errors(closed=failed)
    assert failed >= 2
    assert result["connections_opened"] in (failed, failed + 1)
    assert 5 * failed <= result["answered"] <= 5 * failed + 5


# Servers that answer slowly or not at all


def test_a_server_that_never_answers_ends_in_time(engine: str, dialect: str) -> None:
    with serving(lambda *_: server.hold()) as server:
        begun = time.monotonic()
        result, status = result_of(
            *("--engine", engine, "--dialect", dialect, "-c", "5", "--timeout", "200"),
            server.address,
        )
        assert time.monotonic() - begun < 2
    assert (status, result["errors"]) == (1, errors(timeout=5))


def test_bytes_that_drip_do_not_stretch_the_time(engine: str) -> None:
    def handler(connection: socket.socket, _number: int) -> None:
        read_request(connection)
        for byte in LINE_REPLY:
            connection.sendall(bytes([byte]))
            time.sleep(0.02)

    with serving(handler) as server:
        result, status = result_of(
            "--engine", engine, "-c", "3", "--timeout", "300", server.address
        )
    assert (status, result["errors"]) == (1, errors(timeout=3))
    assert 0.29e9 < result["elapsed_ns"] < 0.6e9


def test_a_closed_load_ends_although_nothing_is_answered(engine: str) -> None:
    with serving(lambda *_: server.hold()) as server:
        begun = time.monotonic()
        result, status = result_of(
            *("--engine", engine, "-c", "4", "--load", "closed", "--duration", "0.1"),
            *("--timeout", "200"),
            server.address,
        )
        assert time.monotonic() - begun < 2
    assert (status, result["errors"]) == (1, errors(timeout=4))


def test_a_refused_port_is_a_connect_error_that_says_what_to_do(engine: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = address_of(listener)
    finished = client("--engine", engine, "-c", "3", "--json", address)
    assert finished.returncode == 1
    assert json.loads(finished.stdout)["errors"] == errors(connect=3)
    assert json.loads(finished.stdout)["connections_opened"] == 0
    assert finished.stderr.decode() == (
        "regatta-client: 3 of 3 requests failed, for example connect: Connection refused; "
        f"see whether a regatta-server runs at {address}\n"
    )


def test_a_closed_load_does_not_spin_on_a_refused_port(engine: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = address_of(listener)
    result, status = result_of("--engine", engine, "--load", "closed", "--duration", "0.5", address)
    assert status == 1
    assert 3 <= result["errors"]["connect"] <= 11
    assert result["usage"]["self"]["user_ns"] + result["usage"]["self"]["system_ns"] < 0.2e9


def test_a_server_that_does_not_accept_is_a_connect_error(engine: str) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = address_of(listener)
        result, status = result_of("--engine", engine, "-c", "6", "--timeout", "300", address)
    found = result["errors"]
    assert status == 1
    assert found == errors(connect=found["connect"], timeout=6 - found["connect"])
    assert found["connect"] >= 3


# What is recorded


def test_the_samples_agree_with_the_summary(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "samples"

    def handler(connection: socket.socket, number: int) -> None:
        read_request(connection)
        time.sleep(0.001 * (number % 7))
        connection.sendall(LINE_REPLY if number != 5 else b"error: no\n\n")

    before_ns = time.monotonic_ns()
    with serving(handler) as server:
        result, _ = result_of(
            *("--engine", engine, "-c", "8", "--rounds", "4", "--samples", str(path)),
            server.address,
        )
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


def test_a_sample_without_an_answer_has_no_first_byte(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "samples"
    with serving(once(b"")) as server:
        client("--engine", engine, "--samples", str(path), server.address)
    [(start_ns, first_byte_ns, end_ns, connection, error)], _ = read_samples(path)
    assert (first_byte_ns, connection, error) == (0, 0, 3)
    assert start_ns < end_ns


def test_samples_that_cannot_be_written_cost_no_load(tmp_path: Path) -> None:
    with serving(once(LINE_REPLY)) as server:
        finished = client("--samples", str(tmp_path / "no" / "samples"), server.address)
        assert server.accepted == 0
    assert finished.returncode == 1
    assert finished.stderr.count(b"\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_usage_is_that_of_the_window(engine: str) -> None:
    with serving(once(LINE_REPLY)) as server:
        result, _ = result_of("--engine", engine, "-c", "20", "--rounds", "5", server.address)
    own, children = result["usage"]["self"], result["usage"]["children"]
    assert set(own) == set(children)
    if engine == "fork":
        assert children["minor_faults"] > 100
    else:
        assert set(children.values()) == {0}
    assert own["minor_faults"] + own["voluntary_switches"] > 0


def test_a_process_that_dies_is_a_failure_and_no_hang() -> None:
    with serving(lambda *_: server.hold()) as server:
        running_client = subprocess.Popen(
            [program("regatta-client"), "--engine", "fork", "-c", "3", "--json", server.address],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        while server.accepted < 3:
            time.sleep(0.01)
        pid = running_client.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        assert len(children) == 3
        for child in children:
            os.kill(int(child), signal.SIGKILL)
        out, err = running_client.communicate(timeout=PATIENCE_S)
    assert running_client.returncode == 1
    assert json.loads(out)["errors"] == errors(closed=3)
    assert b"died" in err


# What a person sees


def test_by_hand_each_reply_is_printed_and_then_a_summary(engine: str, dialect: str) -> None:
    with serving(once(REPLIES[dialect])) as server:
        finished = client("--engine", engine, "--dialect", dialect, "-c", "3", server.address)
    shown = finished.stdout.decode()
    assert finished.returncode == 0
    assert finished.stderr == b""
    for number in (1, 2, 3):
        assert f"connection {number} of 3, answered in " in shown
    rows = (
        "  rank   pid  user_seconds  system_seconds  name\n"
        "     1  4242     12.340000        1.250000  postgres: writer\n"
        "     2     7      0.500000        0.250000  sh\n"
    )
    assert shown.count(rows) == 3
    assert f"3 requests to {server.address} over 3 connections" in shown
    assert "all answered" in shown
    assert re.search(r"latency .*p50 \d.*p90 .*p99 .*max \d", shown)


def test_quiet_prints_the_summary_only(engine: str) -> None:
    with serving(once(LINE_REPLY)) as server:
        finished = client("--engine", engine, "--quiet", "-c", "3", server.address)
    assert b"postgres" not in finished.stdout
    assert b"all answered" in finished.stdout


def test_no_control_byte_of_a_hostile_server_is_printed(engine: str) -> None:
    replies = [
        b"error: \x1b]0;owned\x07\xff\xc2\x9b\r\x08\n\n",
        TITLE + b"1 7 1.000000 0.000000 \x1b[2J\n\n",
        b"HTTP/1.1 503 \x1b[2J\x00\r\n\r\n",
        b"\x1b[2J\n",
    ]

    def handler(connection: socket.socket, number: int) -> None:
        read_request(connection)
        connection.sendall(replies[number % 4])

    with serving(handler) as server:
        finished = client("--engine", engine, "-c", "8", server.address)
    shown = (finished.stdout + finished.stderr).decode()
    assert finished.returncode == 1
    assert r"error: \x1b]0;owned\x07\xff\xc2\x9b\r\x08" in shown
    assert not [c for c in shown if c != "\n" and (ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0)]


@pytest.mark.parametrize("load", [["--load", "burst"], ["--load", "closed"]], ids=lambda o: o[1])
def test_ctrl_c_stops_and_sums_up_what_was_done(engine: str, load: list[str]) -> None:
    def handler(connection: socket.socket, number: int) -> None:
        read_request(connection)
        if number == 0:
            connection.sendall(LINE_REPLY)
        server.hold()

    with serving(handler) as server:
        running_client = subprocess.Popen(
            [program("regatta-client"), "--engine", engine, "-c", "4", *load, server.address],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        while server.accepted < 4:
            time.sleep(0.01)
        time.sleep(0.1)
        running_client.send_signal(signal.SIGINT)
        begun = time.monotonic()
        out, err = running_client.communicate(timeout=PATIENCE_S)
        assert time.monotonic() - begun < 1
    assert running_client.returncode == 1
    assert b"1 request to" in out
    assert err == b"regatta-client: interrupted; the summary covers what was done\n"


# The gate


def test_the_load_runs_between_the_gate_s_lines(engine: str) -> None:
    outside, inside = socket.socketpair()
    with serving(once(LINE_REPLY)) as server, outside, inside:
        outside.settimeout(PATIENCE_S)
        running_client = subprocess.Popen(
            [
                *(program("regatta-client"), "--engine", engine, "-c", "5", "--json"),
                *("--gate-fd", str(inside.fileno()), server.address),
            ],
            stdout=subprocess.PIPE,
            pass_fds=[inside.fileno()],
        )
        inside.close()
        assert outside.recv(100) == b"ready\n"
        time.sleep(0.1)
        assert server.accepted == 0
        outside.sendall(b"go\n")
        assert outside.recv(100) == b"done\n"
        assert server.accepted == 5
        time.sleep(0.1)
        assert running_client.poll() is None
        outside.sendall(b"closed\n")
        out, _ = running_client.communicate(timeout=PATIENCE_S)
        assert outside.recv(100) == b""
    assert running_client.returncode == 0
    assert json.loads(out)["answered"] == 5


def test_a_gate_that_goes_away_starts_no_load() -> None:
    outside, inside = socket.socketpair()
    with serving(once(LINE_REPLY)) as server, inside:
        outside.close()
        finished = client(
            "--gate-fd", str(inside.fileno()), server.address, pass_fds=[inside.fileno()]
        )
        assert server.accepted == 0
    assert finished.returncode == 1
    assert finished.stdout == b""
    assert finished.stderr.startswith(b"regatta-client: the gate was not opened")
    assert finished.stderr.count(b"\n") == 1


# The command line


WRONG = [
    ["-c", "0"],
    ["-c", "-5"],
    ["-c", "five"],
    ["-c", ""],
    ["-c", "99999999999999999999"],
    ["-n", "0"],
    ["-n", "65"],
    ["--rounds", "0"],
    ["--timeout", "0"],
    ["--timeout", "1.5"],
    ["--load", "closed", "--duration", "0"],
    ["--load", "closed", "--duration", "-1"],
    ["--load", "closed", "--duration", "inf"],
    ["--load", "closed", "--duration", "0x10"],
    ["--load", "closed", "--duration", ""],
    ["--load", "closed", "--duration", "1.2.3"],
    ["--load", "closed", "--per-connection", "-1"],
    ["--load", "closed", "--rounds", "2"],
    ["--duration", "1"],
    ["--per-connection", "1"],
    ["--load", "open"],
    ["--dialect", "gopher"],
    ["--engine", "warp"],
    ["--cpus", "9999"],
    ["--cpus", "zero"],
    ["--gate-fd", "99"],
    ["--gate-fd", "x"],
    ["--json=yes"],
    ["--no-such-option"],
    ["-x"],
    ["-c"],
    ["--engine"],
    ["-c", "1000000", "--rounds", "1000000"],
    ["::1"],
    ["127.0.0.1:"],
    ["127.0.0.1:0"],
    ["127.0.0.1:65536"],
    ["::1:7342"],
    ["no.such.host.invalid:7342"],
    ["127.0.0.1:7342", "127.0.0.1:7343"],
]


@pytest.mark.parametrize("options", WRONG, ids=" ".join)
def test_a_wrong_command_line_is_one_clear_line(options: list[str]) -> None:
    finished = client(*options)
    assert finished.returncode == 2
    assert finished.stdout == b""
    assert finished.stderr.startswith(b"regatta-client: ")
    assert finished.stderr.count(b"\n") == 1


def test_help_names_every_engine_and_shows_examples() -> None:
    finished = client("--help")
    assert finished.returncode == 0
    shown = finished.stdout.decode()
    assert "Examples:" in shown
    for word in (*ENGINES, "--samples", "--gate-fd", "--per-connection", "Exit status"):
        assert word in shown
    assert max(len(line) for line in shown.splitlines()) <= 100


def test_version() -> None:
    assert re.fullmatch(rb"regatta-client \d+\.\d+\.\d+\n", client("--version").stdout)


def test_output_that_cannot_be_written_is_a_failure() -> None:
    with serving(once(LINE_REPLY)) as server, Path("/dev/full").open("wb") as full:
        finished = subprocess.run(
            [program("regatta-client"), "--json", server.address],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=PATIENCE_S,
            check=False,
        )
    assert finished.returncode == 1
    assert b"cannot print the summary" in finished.stderr


@pytest.mark.parametrize("engine", ["epoll", "thread"])
def test_the_limit_of_descriptors_is_raised_to_what_is_needed(engine: str) -> None:
    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 4096))

    with serving(once(LINE_REPLY)) as server:
        finished = client("--engine", engine, "-c", "100", server.address, preexec_fn=few)
    assert finished.returncode == 0


@pytest.mark.parametrize("engine", ["epoll", "thread"])
def test_a_hard_limit_of_descriptors_is_named(engine: str) -> None:
    drop_from_bounding_set, sys_resource = 24, 24
    libc = ctypes.CDLL(None)

    def few() -> None:
        libc.prctl(drop_from_bounding_set, sys_resource, 0, 0, 0)  # root could go beyond
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))

    with serving(once(LINE_REPLY)) as server:
        finished = client("--engine", engine, "-c", "100", server.address, preexec_fn=few)
        assert server.accepted == 0
    assert finished.returncode == 1
    assert b"limit of open files" in finished.stderr
    assert finished.stderr.count(b"\n") == 1


# Our own server


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "[::1]:0"])
def test_our_own_server_answers_every_engine(
    engine: str, dialect: str, listen: str, tmp_path: Path
) -> None:
    if listen.startswith("[") and not Path("/proc/net/if_inet6").exists():
        listen = "127.0.0.1:0"
    with running(tmp_path, listen=listen) as server:
        result, status = result_of(
            *("--engine", engine, "--dialect", dialect, "-c", "100", "-n", "5"), server.address
        )
    assert (status, result["answered"]) == (0, 100)
    assert server.summary["requests"] == 100
