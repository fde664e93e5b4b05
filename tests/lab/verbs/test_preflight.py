"""Servers that do what servers of new users do, looked at before a race."""

import os
import sys
from pathlib import Path

import pytest

from regatta.measure.programs import discover
from regatta.verbs.servers.client import fewer
from regatta.verbs.servers.look import Seen, faults, look_at, notes, queue_notes
from regatta.verbs.servers.servers import Server
from regatta.verbs.servers.wanted import Wanted, study_text
from tests.lab import fake_races

SERVER = """
import itertools, os, socket, sys
port, how = int(sys.argv[1]), sys.argv[2]
if how == "throws":
    raise RuntimeError("no database")
if how == "daemon" and os.fork():
    sys.exit()
listener = socket.create_server(("127.0.0.1", port), backlog=5 if how == "short-queue" else 128)
for number in itertools.count():
    connection, _ = listener.accept()
    with connection, connection.makefile("rb") as lines:
        while lines.readline():
            while lines.readline() != b"\\r\\n":
                pass
            body = f"answer {number}".encode() if how == "varies" else b"answer"
            body = body * 2 if how == "longer" else body
            status = "404 No" if how == "lost" else "200 OK"
            head = f"HTTP/1.1 {status}\\r\\nContent-Type: text/plain\\r\\n"
            if how == "short":
                head += "Content-Length: 99\\r\\nConnection: close\\r\\n\\r\\n"
            elif how == "garbage":
                head = "220 mail.example ESMTP\\r\\n"
            else:
                head += f"Content-Length: {len(body)}\\r\\n"
                head += "Connection: close\\r\\n\\r\\n" if how in ("closes", "varies") else "\\r\\n"
            if how == "logs":
                print("GET /", flush=True)
            connection.sendall(head.encode() + body)
            if how in ("closes", "varies", "short", "garbage"):
                break
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    file = tmp_path / "served.py"
    file.write_text(SERVER)
    return file


def look(script: Path, *how: str) -> list[Seen]:
    """At a server for each of these ways."""
    cpu = min(os.sched_getaffinity(0))
    servers = [
        Server(name, False, (sys.executable, str(script), "{port}", name), script.parent)
        for name in how
    ]
    study = fake_races.parse(study_text(servers, Wanted(), script.parent), script.parent)
    placed = study.but(server_cpus=(cpu,), client_cpus=(cpu,))
    return look_at(placed, discover())


class TestPreflight:
    def test_one_that_answers_well_has_nothing_to_be_said(self, script: Path) -> None:
        (seen,) = look(script, "well")
        assert seen.fault is None
        assert [(one.status, one.length, one.content_type) for one in seen.answers] == [
            (200, 6, "text/plain")
        ] * 3
        assert seen.only_on_loopback
        assert not list(notes([seen]))
        assert seen.connected == seen.tried == 50
        assert not list(queue_notes([seen], None))

    def test_a_short_listen_queue_is_told_with_what_to_do(self, script: Path) -> None:
        (seen,) = look(script, "short-queue")
        assert seen.fault is None
        assert 5 <= seen.connected < 12, "5 in the queue, one served, a few between the two"
        (line,) = queue_notes([seen], None)
        assert f"took only {seen.connected} of 50 connections" in line
        assert f"use --connections {fewer(seen.connected)}" in line
        (line,) = queue_notes([seen], 3)
        assert line.endswith("its listen queue is short: raced over 3")

    @pytest.mark.parametrize(
        ("how", "fault"),
        [
            ("throws", "no database"),
            ("daemon", "it must stay in the foreground"),
            ("lost", "answers 404 to GET /; name a path"),
            ("garbage", "does not begin with an HTTP/1.x status line"),
            ("short", "the server closed the connection"),
        ],
    )
    def test_what_cannot_be_compared_is_a_fault(self, script: Path, how: str, fault: str) -> None:
        (line,) = faults(look(script, how))
        assert line.startswith(f"{how}: ")
        assert fault in line
        assert "\n" not in line

    @pytest.mark.parametrize(
        ("how", "note"),
        [
            ("closes", "closes the connection after each answer"),
            ("logs", "prints something for each request"),
            ("varies", "answers differently each time"),
        ],
    )
    def test_what_makes_it_unfair_is_a_note(self, script: Path, how: str, note: str) -> None:
        seen = look(script, how)
        assert not faults(seen)
        assert any(note in line for line in notes(seen))

    def test_answers_that_differ_are_told_with_their_lengths(self, script: Path) -> None:
        seen = look(script, "well", "longer")
        assert [line for line in notes(seen) if "the work may differ" in line] == [
            "well answers 6 bytes of text/plain to GET /, longer 12 bytes of text/plain: the work "
            "may differ too",
        ]
        assert not list(notes(seen, checked=True)), "the race itself tells it"


@pytest.mark.parametrize(("connected", "raced_over"), [(0, 1), (7, 2), (30, 10), (120, 50)])
def test_half_of_what_was_connected_at_once_leaves_a_margin(
    connected: int, raced_over: int
) -> None:
    assert fewer(connected) == raced_over
