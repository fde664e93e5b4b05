"""What HTTP servers do that is valid, or nearly so, and what they must not do with an upload."""

import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.commands import run
from tests.e2e.hosts_file import with_hosts, within
from tests.e2e.scripted_servers import (
    Handler,
    address_of,
    always,
    client,
    errors,
    read_request,
    result_of,
    serving,
)
from tests.e2e.scripted_servers import http as whole
from tests.servers import program
from tests.sockets import reset
from tests.waiting import PATIENCE_S

OK = whole(b"ok")
ASK = "--path / --load closed --duration 0.2"


def asking(tmp_path: Path, *lines: str) -> str:
    """Options of a closed load of these requests."""
    file = tmp_path / "requests"
    file.write_text("".join(f"{line}\n" for line in lines))
    return f"--requests {file} --load closed --duration 0.2"


# Connections that end at rest


def ending(after: int, with_reset: bool = False) -> Handler:
    """Ends each connection when it gets a further request, without a byte of a reply."""

    def handler(connection: socket.socket, _number: int) -> None:
        for _ in range(after):
            if not read_request(connection):
                return
            connection.sendall(OK)
        read_request(connection)
        if with_reset:
            reset(connection)

    return handler


@pytest.mark.parametrize("with_reset", [False, True], ids=["FIN", "RST"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_request_that_met_a_closed_connection_is_sent_again(
    engine: str, tmp_path: Path, method: str, with_reset: bool
) -> None:
    body = b"" if method == "HEAD" else b"ok"

    def handler(connection: socket.socket, _number: int) -> None:
        for _ in range(5):
            if not read_request(connection):
                return
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + body)
        if read_request(connection) and with_reset:
            reset(connection)

    asked = asking(tmp_path, rf"1 {method} / HTTP/1.1\r\n\r\n")
    with serving(handler) as server:
        result, status = result_of(server, f"{asked} -c 3", engine, "http")
    assert (status, result["errors"]) == (0, errors())
    assert result["resent"] >= 1
    assert result["resent"] in range(result["connections_opened"] - 3, server.accepted)
    assert result["answered"] == result["requests"]


def test_a_request_that_changes_something_is_sent_once(engine: str, tmp_path: Path) -> None:
    asked = asking(tmp_path, r"1 DELETE / HTTP/1.1\r\n\r\n")
    with serving(ending(after=2)) as server:
        result, status = result_of(server, asked, engine, "http")
    assert (status, result["resent"]) == (1, 0)
    assert result["errors"] == errors(closed=result["errors"]["closed"])
    assert result["errors"]["closed"] >= 1


def test_a_request_is_sent_again_only_once_and_never_after_a_byte(engine: str) -> None:
    def first_only(connection: socket.socket, number: int) -> None:
        if number == 0 and read_request(connection):
            connection.sendall(OK)
        read_request(connection)

    with serving(first_only) as server:
        result, status = result_of(server, ASK, engine, "http")
    assert (status, result["answered"], result["resent"]) == (1, 1, 1)
    assert result["errors"] == errors(closed=result["requests"] - 1)

    def cut(connection: socket.socket, _number: int) -> None:
        if read_request(connection):
            connection.sendall(OK)
        if read_request(connection):
            connection.sendall(OK[:5])

    with serving(cut) as server:
        result, status = result_of(server, ASK, engine, "http")
    assert (status, result["resent"]) == (1, 0)
    assert result["errors"]["closed"] >= 1


# Uploads that are answered before they are read


def answering_first(taken: list[bytes], reply: bytes = OK, closes: bool = False) -> Handler:
    """Answers each upload when its head has come, then reads it, or closes the connection."""

    def handler(connection: socket.socket, _number: int) -> None:
        with connection.makefile("rb") as file:
            while line := file.readline():
                taken.append(line)
                length = 0
                while line.strip():
                    line = file.readline()
                    said = re.match(rb"Content-Length: (\d+)", line)
                    length = int(said[1]) if said else length
                connection.sendall(reply)
                if closes:
                    return
                file.read(length)

    return handler


def upload(tmp_path: Path, size: int, status: str = "200") -> str:
    return asking(tmp_path, rf"1:{status} POST / HTTP/1.1\r\n\r\n" + "a" * size)


NARROW = """
import json, socket, subprocess, sys
from pathlib import Path
from tests.e2e.scripted_servers import http, result_of, serving
from tests.e2e.test_client_http import answering_first
Path("/proc/sys/net/ipv4/tcp_wmem").write_text("4096 4096 4096")
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
taken = []
options, engine, reply = sys.argv[1:]
with serving(answering_first(taken, http(b"ok", status=reply.encode()))) as server:
    server.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    server.listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 100)
    result, status = result_of(server, options, engine, "http")
print(json.dumps([status, result, sorted({line.decode() for line in taken})]))
"""
"""Runs a load where only a few kB of an upload are on their way, and prints what came of it."""


@pytest.mark.parametrize(
    ("size", "reply", "kind"),
    [
        (60_000, "200 OK", "answered"),
        (900_000, "200 OK", "early"),
        (900_000, "413 Content Too Large", "answered"),  # it declines, and need not read
    ],
)
def test_no_request_begins_behind_half_an_upload(
    engine: str, tmp_path: Path, size: int, reply: str, kind: str
) -> None:
    options = upload(tmp_path, size, reply[:3]) + " -c 2 --timeout 1000"
    done = run(*within("--net"), sys.executable, "-c", NARROW, options, engine, reply)
    status, result, taken = json.loads(done.stdout)
    assert taken == ["POST / HTTP/1.1\r\n"]
    assert result["requests"] > 2
    assert {kind: result["requests"]} == {
        name: count
        for name, count in {"answered": result["answered"], **result["errors"]}.items()
        if count
    }
    assert status == (kind == "early")


def test_an_upload_whose_connection_is_closed_unread_fails(engine: str, tmp_path: Path) -> None:
    with serving(answering_first([], closes=True)) as server:
        options = upload(tmp_path, 3_000_000)
        result, status = result_of(server, options, engine, "http")
        how = ("--engine", engine, "--dialect", "http", "--quiet", *options.split())
        said = client(*how, server.address).stderr
    assert status == 1
    assert result["errors"] == errors(early=result["requests"])
    assert "early: answered before the request was read" in said


def test_an_upload_that_is_read_is_answered(engine: str, tmp_path: Path) -> None:
    """Also one whose reply begins before it is read: an echo."""

    def echo(connection: socket.socket, _number: int) -> None:
        with connection.makefile("rb") as file:
            while file.readline():
                length = 0
                while line := file.readline().strip():
                    said = re.match(rb"Content-Length: (\d+)", line)
                    length = int(said[1]) if said else length
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % length)
                while length > 0:
                    piece = file.read(min(length, 16384))
                    length -= len(piece)
                    connection.sendall(piece)

    with serving(echo) as server:
        result, status = result_of(server, upload(tmp_path, 3_000_000), engine, "http")
    assert (status, result["errors"]) == (0, errors())
    assert result["answered"] > 0


# Names with several addresses


def test_a_name_is_asked_at_the_address_that_answers(engine: str, tmp_path: Path) -> None:
    bound = with_hosts(tmp_path, "::1 two-of-them\n127.0.0.1 two-of-them\n")
    with serving(always(OK)) as server:
        port = address_of(server.listener).split(":")[1]
        how = ("--engine", engine, "--dialect", "http", "--path", "/", "-c", "3", "--quiet")
        done = run(*bound, program("regatta-client"), *how, f"two-of-them:{port}")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"3 requests to 127.0.0.1:{port} over 3 connections" in done.stdout


def test_ctrl_c_sends_nothing_again(engine: str) -> None:
    """A request that is on its way when the load is stopped."""
    has_read = threading.Event()

    def handler(connection: socket.socket, _number: int) -> None:
        read_request(connection)
        connection.sendall(OK)
        read_request(connection)
        has_read.set()
        server.hold()

    with serving(handler) as server:
        command = [program("regatta-client"), "--engine", engine, "--dialect", "http"]
        command += ["--path", "/", "--load", "closed", "--json", server.address]
        running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert has_read.wait(PATIENCE_S)
        running.send_signal(signal.SIGINT)
        out, _ = running.communicate(timeout=PATIENCE_S)
    result = json.loads(out)
    assert (result["resent"], result["connections_opened"]) == (0, 1)


def test_the_timeout_covers_a_slow_upload_and_its_reply(engine: str, tmp_path: Path) -> None:
    """Neither takes longer than the timeout alone."""
    length = 3_000_000
    part_s = 0.7

    def handler(connection: socket.socket, _number: int) -> None:
        begun, taken = time.monotonic(), 0
        while taken < length:
            piece = connection.recv(1 << 16)
            if not piece:
                return
            taken += len(piece)
            time.sleep(max(0, begun + part_s * taken / length - time.monotonic()))
        time.sleep(part_s)
        connection.sendall(OK)

    asked = upload(tmp_path, length).replace("closed --duration 0.2", "burst")
    with serving(handler) as server:
        result, status = result_of(server, f"{asked} --timeout 1000", engine, "http")
    assert (status, result["errors"]) == (1, errors(timeout=1))
