"""Server-sent events: how many come, when the first does, and those after it."""

import random
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.scripted_servers import (
    CHUNKED_HEAD,
    NO_FIGURES,
    Handler,
    address_of,
    errors,
    read_request,
    refusal,
    result_of,
    serving,
    shown_by,
)
from tests.servers import needs
from tests.sockets import free_port, wait_until_accepting

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
EVENT = b"event: tick\ndata: 1\n\n"
FIRST_S, NEXT_S = 0.05, 0.02
PIECES = [b"data", b"data: x", b"data:", b"datax: 1", b": ping", b"id: 7", b" data: x", b"dat"]
ENDS = [b"\n", b"\r\n", b"\r"]
NGINX = """
daemon off; pid {folder}/pid; error_log stderr; events {{ }}
http {{
  access_log off; proxy_buffering off; proxy_http_version 1.1; {temporary}
  server {{ listen 127.0.0.1:{port} http2; location / {{ proxy_pass http://{behind}; }} }}
}}
"""
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def counted(stream: bytes) -> int:
    """As the HTML standard has it."""
    lines = re.split(rb"\r\n|\r|\n", stream)[:-1]
    events, has_data = 0, False
    for line in lines:
        if not line:
            events += has_data
            has_data = False
        has_data |= line == b"data" or line.startswith(b"data:")
    return events


def sending(*pieces: bytes, first_s: float = 0.0, next_s: float = 0.0) -> Handler:
    """Each stream has these pieces, and ends with its connection."""

    def handler(connection: socket.socket, _number: int) -> None:
        if read_request(connection):
            connection.sendall(HEAD)
            for number, piece in enumerate(pieces):
                time.sleep(next_s if number else first_s)
                connection.sendall(piece)

    return handler


def endless(connection: socket.socket, _number: int) -> None:
    """In chunks, until the client leaves."""
    while read_request(connection):
        connection.sendall(CHUNKED_HEAD)
        while True:
            connection.sendall(b"%x\r\n%s\r\n" % (len(EVENT), EVENT))
            time.sleep(0.001)


def events_of(server: Any, options: str) -> dict[str, Any]:
    """Of requests that are all answered."""
    found, status = result_of(server, f"--path / --timeout 5000 {options}", dialect="http")
    assert status == 0, found["problem"]
    return found


def test_events_are_counted_as_the_standard_has_it() -> None:
    chance = random.Random(1)
    streams = []
    while len(streams) < 200:
        end = chance.choice(ENDS)
        lines = chance.choices([*PIECES, b"", b"data: y"], k=chance.randint(2, 12))
        if counted(stream := b"data: 0\n\n" + b"".join(line + end for line in lines)):
            streams.append(stream)

    def handler(connection: socket.socket, number: int) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if read_request(connection):
            cut = number % 17 + 1
            for at in range(0, len(whole := HEAD + streams[number]), cut):
                connection.sendall(whole[at : at + cut])

    with serving(handler) as server:
        found = events_of(server, f"--events 0 --rounds {len(streams)}")
    assert found["events"] == sum(map(counted, streams))


def test_the_first_event_and_those_after_it_are_timed() -> None:
    with serving(sending(*[EVENT] * 4, first_s=FIRST_S, next_s=NEXT_S)) as server:
        found = events_of(server, "-c 3 --events 0")
    assert found["events"] == 12
    assert found["first_byte_ns"]["min"] <= found["first_event_ns"]["min"]
    assert found["first_event_ns"]["min"] >= FIRST_S * 1e9
    assert found["next_event_ns"]["mean"] >= NEXT_S * 1e9 * 0.9
    assert found["latency_ns"]["max"] >= (FIRST_S + 3 * NEXT_S) * 1e9


def test_a_stream_is_left_after_the_events_that_were_wanted() -> None:
    with serving(endless) as server:
        found = events_of(server, "--events 5 --load closed --duration 0.3")
        shown = shown_by("--path", "/", "--dialect", "http", "--events", "2", server.address)
    assert found["events"] == 5 * found["requests"] >= 10
    assert found["connections_opened"] == found["requests"]
    assert "  first event p50" in shown
    assert "  next event " in shown


@contextmanager
def nginx_before(address: str, folder: Path) -> Iterator[str]:
    temporary = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in TEMPORARY)
    port = free_port()
    text = NGINX.format(folder=folder, port=port, behind=address, temporary=temporary)
    (folder / "nginx.conf").write_text(text)
    command = [needs("nginx"), "-e", "stderr", "-c", folder / "nginx.conf"]
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stderr=log) as nginx:
        try:
            wait_until_accepting(nginx, port, log=(folder / "log").read_text)
            yield f"127.0.0.1:{port}"
        finally:
            nginx.terminate()


def test_in_http2_the_connection_stays(tmp_path: Path) -> None:
    with serving(endless) as server, nginx_before(server.address, tmp_path) as front:
        options = "--http2 --streams 4 --events 5 --load closed --duration 0.3"
        found = events_of(front, options)
    assert found["events"] == 5 * found["requests"] >= 10
    assert found["connections_opened"] == 1


@pytest.mark.parametrize(
    ("pieces", "wanted"), [((), 0), ((b": ping\n\n", b"data: cut off\n"), 0), ((EVENT, EVENT), 3)]
)
def test_a_stream_that_ends_too_early_is_no_answer(pieces: tuple[bytes, ...], wanted: int) -> None:
    with serving(sending(*pieces)) as server:
        found, status = result_of(server, f"--path / --events {wanted}", dialect="http")
    assert (status, found["errors"]) == (1, errors(malformed=1))
    said = (
        "ended after fewer server-sent events"
        if pieces == (EVENT, EVENT)
        else "has no server-sent event"
    )
    assert said in found["problem"]


def test_an_event_that_does_not_come_is_longer_than_the_longest() -> None:
    def handler(connection: socket.socket, number: int) -> None:
        read_request(connection)
        connection.sendall(HEAD + EVENT * (number + 1))
        connection.recv(1)

    with serving(handler) as server:
        options = "--path / --events 2 --rounds 2 --timeout 200"
        found, status = result_of(server, options, dialect="http")
    assert (status, found["errors"]) == (1, errors(timeout=1))
    assert found["first_event_ns"]["max"] < found["next_event_ns"]["over"]["max"]
    assert found["next_event_ns"]["max"] is None
    assert found["events"] == 3


def test_streams_that_never_began_are_longer_than_the_longest() -> None:
    with serving(sending(EVENT, first_s=0.05)) as server:
        options = "--path / --events 0 --load open --rate 200 --duration 0.5"
        found, _ = result_of(server, options, dialect="http")
    assert found["unstarted"] > found["requests"]
    assert found["first_event_ns"]["p50"] is None
    assert found["first_event_ns"]["over"]["p99"] > 0


def test_without_events_there_are_no_figures() -> None:
    with serving(sending(EVENT)) as server:
        found = events_of(server, "")
    assert (found["events"], found["first_event_ns"]) == (0, NO_FIGURES)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--events 3", "--events is for --path or --requests of --dialect http"),
        ("--events 3 --path /a --dialect http --engine thread", "--events needs --engine epoll"),
        ("--events -1 --path /a --dialect http", "--events must be"),
        ("--events 1 --path /a --dialect http --expect x", "--events and --expect exclude"),
    ],
)
def test_wrong_options_are_refused(options: str, said: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert said in refusal(*options.split(), address_of(listener))
