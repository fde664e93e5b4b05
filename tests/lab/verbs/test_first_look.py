"""What the look before a race says of servers as people have them: each the right line."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from regatta.measure.programs import discover
from regatta.verbs.servers.client import fewer
from regatta.verbs.servers.look import (
    Seen,
    faults,
    look_at,
    notes,
    p99_limit_ms,
    queue_notes,
    stalls,
)
from regatta.verbs.servers.servers import Server
from regatta.verbs.servers.wanted import Wanted, study_text
from tests.e2e.racing import needs_two_cpus
from tests.lab import fake_races

SCRIPT = Path(__file__).with_name("odd_servers.py")
MESSAGES = SCRIPT.parents[2] / "e2e" / "messages_server.py"
CERTIFICATE = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=x"
CPU = min(os.sched_getaffinity(0))
HTTP, RAW = Wanted(), Wanted(raw=r"PING\r\n", until=r"\r\n")
SHORT = replace(RAW, short=True)
POSTS = """{"path": "/", "weight": 2}
{"method": "POST", "path": "/items", "body": "x"}
{"method": "DELETE", "path": "/gone"}
"""


def server(how: str, folder: Path = Path()) -> Server:
    command = (sys.executable, str(SCRIPT), "{port}", how, str(folder))
    return Server(how, False, command, SCRIPT.parent)


def looked_at(
    *servers: Server, wanted: Wanted = HTTP, cpus: tuple[int, ...] = (CPU,)
) -> list[Seen]:
    text = study_text(servers, wanted, SCRIPT.parent)
    study = fake_races.parse(text, SCRIPT.parent)
    return look_at(study.but(server_cpus=cpus, client_cpus=(CPU,)), discover())


def look(server: Server, wanted: Wanted = HTTP, cpus: tuple[int, ...] = (CPU,)) -> Seen:
    (seen,) = looked_at(server, wanted=wanted, cpus=cpus)
    return seen


def test_a_large_upload_is_taken_from_many_clients(tmp_path: Path) -> None:
    script = SCRIPT.parents[2] / "e2e" / "upload_server.py"
    (tmp_path / "file").write_bytes(bytes(8 << 20))
    up = Server("up", False, (sys.executable, str(script), "{port}"), SCRIPT.parent)
    seen = look(up, Wanted(path="/up", body=tmp_path / "file", connections=(20,)))
    assert (seen.fault, seen.connected, seen.answered) == (None, 20, 20)
    assert seen.expected[0].status == 200
    assert seen.answers[0].body.startswith(b"length 8388608 ")


@pytest.mark.parametrize(
    ("how", "wanted", "says", "do"),
    [
        ("two-lengths", HTTP, "Content-Length is not one number", ""),
        ("greets", HTTP, 'it speaks before it is asked ("220 ready")', "--raw and --until"),
        ("six", HTTP, "it listens only on ::1, not on 127.0.0.1", "let it listen on {host}"),
        ("redirect", HTTP, "it answers 302 to GET /", "the path that it leads to with --path"),
        ("locked", HTTP, "it answers 401 to GET /", "into the headers of --request FILE"),
        ("broken", HTTP, "it answers 500 to GET /: KeyError: 'price'", "--path, or expect it"),
        ("lost", HTTP, "answers 404 to GET /", "name a path"),
        ("dies", HTTP, "cannot open config.toml", "it must stay in the foreground"),
        ("daemon", HTTP, "", "it must stay in the foreground"),
        ("garbage", HTTP, "does not begin with an HTTP/1.x status line", ""),
        ("short", HTTP, "the server closed the connection", ""),
        ("unready", Wanted(ready_timeout_s=1), "it answers 503 to GET /: hello", ""),
        ("late", Wanted(ready_timeout_s=1), "was not ready within 1 s", "--ready-timeout"),
        ("pong-closes", RAW, "not again on the same connection", "add --short if it closes"),
        ("pong-twice", RAW, "does not answer --raw so that --until matches: bytes follow", ""),
    ],
)
def test_a_server_that_cannot_be_raced_gets_one_line_with_what_to_do(
    how: str, wanted: Wanted, says: str, do: str
) -> None:
    (line,) = faults([look(server(how), wanted)])
    assert line.startswith(f"{how}: ")
    assert says in line
    assert do in line
    assert "\n" not in line
    assert how != "late" or "must listen" not in line, "it will"


@pytest.mark.parametrize("how", ["tls", "tls-told"])
def test_tls_is_recognised_whatever_a_plain_request_is_told(tmp_path: Path, how: str) -> None:
    """And raced so."""
    files = ("-keyout", "key.pem", "-out", "cert.pem")
    subprocess.run([*CERTIFICATE.split(), *files], cwd=tmp_path, check=True, capture_output=True)
    seen = look(server(how, tmp_path))
    assert (seen.fault, seen.speaks, seen.expected[0].most) == (None, "https", 5)
    assert list(notes([seen])) == [f"asked in: {how} https"]


@pytest.mark.parametrize("wanted", [HTTP, Wanted(http2=True), Wanted(streams=2, http2=True)])
def test_http2_alone_is_recognised_and_its_answers_are_not_compared(wanted: Wanted) -> None:
    seen = look(server("h2c"), wanted)
    assert (seen.fault, seen.speaks, seen.expected) == (None, "h2c", ())


def test_who_is_asked_in_http2_must_speak_it() -> None:
    (line,) = faults([look(server("well"), Wanted(http2=True))])
    assert line == "well: its answer cannot be read: HTTP/2: the server answers in HTTP/1.1"


@pytest.mark.parametrize(
    ("kind", "wanted", "speaks"),
    [
        ("ws", Wanted(websocket=True), "ws"),
        ("grpc", Wanted(path="/a.Echo/Turn", grpc=Path(__file__)), "grpc"),
    ],
)
def test_servers_of_messages_are_asked_as_they_speak(
    kind: str, wanted: Wanted, speaks: str
) -> None:
    command = (sys.executable, str(MESSAGES), kind, "{port}")
    seen = look(Server(kind, False, command, SCRIPT.parent), wanted)
    assert (seen.fault, seen.speaks, seen.expected) == (None, speaks, ())
    assert seen.answered == seen.tried


@pytest.mark.parametrize(
    ("how", "wanted", "note"),
    [
        *((how, HTTP, "") for how in ("well", "long-line", "hints", "empty", "created", "host")),
        ("late", Wanted(ready_timeout_s=10), ""),
        ("closes", HTTP, "closes the connection after each answer"),
        ("logs", HTTP, "prints something for each request"),
        ("varies", HTTP, "answers differently each time"),
        ("pong", RAW, ""),
        ("pong-closes", SHORT, ""),
    ],
)
def test_a_valid_server_is_raced_and_what_makes_it_unfair_is_a_note(
    how: str, wanted: Wanted, note: str
) -> None:
    seen = look(server(how), wanted)
    assert (seen.fault, seen.was_early, seen.only_on_loopback) == (None, False, True)
    said = list(notes([seen]))
    assert [note in line for line in said] == [True] * bool(note)
    assert not list(queue_notes([seen], None))


def test_answers_that_differ_are_told_with_their_lengths() -> None:
    seen = looked_at(server("well"), server("longer"))
    assert list(notes(seen)) == [
        "well answers 5 bytes of no type to GET /, longer 12 bytes of text/plain: the work may "
        "differ too"
    ]
    assert not list(notes(seen, checked=True)), "the race itself tells it"


def test_each_request_of_a_file_is_looked_at_and_a_status_that_is_expected_is_right(
    tmp_path: Path,
) -> None:
    file = tmp_path / "posts.jsonl"
    for text, how, fault in (
        (POSTS, "well", 'it answers 404 to DELETE /gone; correct the request, or expect it: "sta'),
        (POSTS.replace('gone"', 'gone", "status": 404'), "well", "None"),
        ('{"path": "/login", "status": 302}', "redirect", "None"),
        ('{"path": "/login", "status": 302}', "well", "it answers 200 to GET /login"),
    ):
        file.write_text(text)
        assert str(look(server(how), Wanted(requests=file)).fault).startswith(fault)


@pytest.mark.parametrize("how", ["early", "early-closed"])
def test_a_server_that_listens_before_it_can_answer_is_waited_for(how: str) -> None:
    """In the look, and in each trial that starts it as the look has found."""
    seen = look(server(how))
    assert (seen.fault, seen.was_early) == (None, True)
    again = look(replace(server(how), was_early=True))
    assert (again.fault, again.was_early) == (None, False)


def test_a_short_listen_queue_is_told_with_what_to_do() -> None:
    seen = look(server("short-queue"))
    assert seen.fault is None
    assert 5 <= seen.connected < 12, "5 in the queue, one served, a few between the two"
    (line,) = queue_notes([seen], None)
    assert f"took only {seen.connected} of 50 connections" in line
    assert f"use --connections {fewer(seen.connected)}" in line
    (line,) = queue_notes([seen], 3)
    assert line.endswith("its listen queue is short: raced over 3")


@pytest.mark.parametrize(("how", "many"), [("one", 1), ("four", 4)])
def test_a_server_with_few_workers_is_raced_over_as_many_connections(how: str, many: int) -> None:
    seen = look(server(how), Wanted(connections=(20,)))
    assert (seen.fault, seen.connected, seen.answered) == (None, 20, many)
    (line,) = stalls([seen])
    assert line.startswith(f"{how}: it answers ")
    assert f"--connections {many} or --short" in line
    (note,) = queue_notes([seen], many)
    assert note.startswith(f"{how} answers ")
    assert note.endswith(f"raced over {many}")
    assert look(server(how), Wanted(connections=(20,), short=True)).answered == 20


@pytest.mark.parametrize(("connected", "raced_over"), [(0, 1), (7, 2), (30, 10), (120, 50)])
def test_half_of_what_was_connected_at_once_leaves_a_margin(
    connected: int, raced_over: int
) -> None:
    assert fewer(connected) == raced_over


@needs_two_cpus
def test_a_server_whose_connections_all_go_to_one_worker_is_noted() -> None:
    seen = look(server("one-sided"), Wanted(connections=(20,)), cpus=(0, 1))
    assert seen.taken == (20, 0), "the master accepts nothing, so it does not count"
    (note,) = notes([seen], checked=True)
    assert "one worker accept nearly all connections, 20 of 20: 1 other has" in note
    for taken, connected in (((12, 8), 20), ((3, 0), 20), ((0, 0), 20), ((15, 0), 15)):
        others = replace(seen, taken=taken, connected=connected)
        assert not list(notes([others], checked=True))
    assert look(server("one-sided")).taken == (), "on one CPU it does not matter"


def test_a_slow_answer_raises_the_limit_of_p99_for_all() -> None:
    slow, quick = looked_at(server("slow"), server("quick"))
    assert 80 <= slow.p99_ms < 200
    limit_ms, note = p99_limit_ms([quick, slow])
    assert limit_ms >= 5 * slow.p99_ms
    assert re.search(rf"p99 of {limit_ms:g} ms, as slow takes [\d.]+ ms without load", note)
    assert p99_limit_ms([replace(quick, p99_ms=9.9)]) == (50.0, "")


def test_a_wrapper_that_waits_for_its_child_is_no_fault(tmp_path: Path) -> None:
    """As `npm start`: a shell that hands no signal on."""
    words = f'{sys.executable} {SCRIPT} "$1" well; true'
    command = ("sh", "-c", words, "sh", "{port}")
    assert look(Server("npm", False, command, tmp_path)).fault is None
