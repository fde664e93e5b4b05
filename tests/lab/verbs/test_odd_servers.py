"""What the look before a race says of servers as people have them: each the right line."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from regatta.measure.programs import discover
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
CERTIFICATE = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=x"


def server(how: str, folder: Path = Path()) -> Server:
    command = (sys.executable, str(SCRIPT), "{port}", how, str(folder))
    return Server(how, False, command, SCRIPT.parent)


def look(
    one: Server,
    wanted: Wanted = Wanted(),  # noqa: B008  (frozen)
    cpus: tuple[int, ...] = (0,),
) -> Seen:
    study = fake_races.parse(study_text([one], wanted, SCRIPT.parent), SCRIPT.parent)
    (seen,) = look_at(study.but(server_cpus=cpus, client_cpus=(0,)), discover())
    return seen


@pytest.mark.parametrize(
    ("how", "says", "do"),
    [
        ("bare-lf", r"a line of the head does not end with \r\n", "RFC 9112, 2.2"),
        ("folded", "a header line is not NAME: VALUE", "write it in one line"),
        ("two-lengths", "Content-Length is not one number", "send it once"),
        ("greets", 'it speaks before it is asked ("220 ready")', "--raw and --until"),
        ("http2", "it speaks HTTP/2 alone", "let it serve HTTP/1.1 too"),
        ("six", "it listens only on ::1, not on 127.0.0.1", "let it listen on {host}"),
        ("redirect", "it answers 302 to GET /", "name the path that it leads to with --path"),
        ("locked", "it answers 401 to GET /", "into the headers of --request FILE"),
        ("broken", "it answers 500 to GET /: KeyError: 'price'", "--path, or expect it"),
        ("dies", "cannot open config.toml", "it must stay in the foreground"),
    ],
)
def test_a_server_that_cannot_be_raced_gets_one_line_with_what_to_do(
    how: str, says: str, do: str
) -> None:
    (line,) = faults([look(server(how))])
    assert says in line
    assert do in line
    assert "\n" not in line


@pytest.mark.parametrize("how", ["tls", "tls-told"])
def test_tls_is_recognised_whatever_a_plain_request_is_told(tmp_path: Path, how: str) -> None:
    files = ("-keyout", "key.pem", "-out", "cert.pem")
    subprocess.run([*CERTIFICATE.split(), *files], cwd=tmp_path, check=True, capture_output=True)
    fault = look(server(how, tmp_path)).fault
    assert fault == "it speaks TLS, and versus asks in plain HTTP/1.1; start it without TLS"


@pytest.mark.parametrize("how", ["long-line", "hints", "empty", "created", "host"])
def test_a_valid_server_is_raced(how: str) -> None:
    seen = look(server(how))
    assert seen.fault is None
    assert not seen.was_early


def test_a_status_that_is_expected_is_right(tmp_path: Path) -> None:
    file = tmp_path / "login.jsonl"
    file.write_text('{"method": "POST", "path": "/login", "body": "", "status": 302}\n')
    assert look(server("redirect"), Wanted(requests=file)).fault is None
    assert "it answers 200 to POST /login" in str(look(server("well"), Wanted(requests=file)).fault)


@pytest.mark.parametrize("how", ["early", "early-closed"])
def test_a_server_that_listens_before_it_can_answer_is_waited_for(how: str) -> None:
    """In the look, and in each trial that starts it as the look has found."""
    seen = look(server(how))
    assert seen.fault is None
    assert seen.was_early
    again = look(replace(server(how), was_early=True))
    assert again.fault is None
    assert not again.was_early


def test_a_server_that_never_answers_well_is_told_after_the_ready_timeout() -> None:
    fault = look(server("unready"), Wanted(ready_timeout_s=1)).fault
    assert fault is not None
    assert fault.startswith("it answers 503 to GET /; ")


def test_a_server_that_starts_slowly_is_told_how_to_be_waited_for() -> None:
    """That it should listen on {port} would be wrong: it will."""
    fault = look(server("late"), Wanted(ready_timeout_s=1)).fault
    assert fault is not None
    assert "was not ready within 1 s" in fault
    assert "--ready-timeout" in fault
    assert "must listen" not in fault
    assert look(server("late"), Wanted(ready_timeout_s=10)).fault is None


@pytest.mark.parametrize(("how", "many"), [("one", 1), ("four", 4)])
def test_a_server_with_few_workers_is_raced_over_as_many_connections(how: str, many: int) -> None:
    seen = look(server(how), Wanted(connections=(20,)))
    assert seen.fault is None
    assert (seen.connected, seen.answered) == (20, many)
    (line,) = stalls([seen])
    assert f"--connections {many} or --short" in line
    (note,) = queue_notes([seen], many)
    assert note.endswith(f"raced over {many}")
    assert look(server(how), Wanted(connections=(20,), short=True)).answered == 20


@needs_two_cpus
def test_a_server_whose_connections_all_go_to_one_worker_is_noted() -> None:
    seen = look(server("one-sided"), Wanted(connections=(20,)), cpus=(0, 1))
    assert seen.taken == (20, 0), "the master accepts nothing, so it does not count"
    (note,) = notes([seen], checked=True)
    assert "one worker accept nearly all connections, 20 of 20: 1 other has" in note
    for taken in ((12, 8), (3, 0), (0, 0)):
        assert not list(notes([replace(seen, taken=taken)], checked=True))
    assert not list(notes([replace(seen, connected=15, taken=(15, 0))], checked=True)), "too few"
    assert look(server("one-sided")).taken == (), "on one CPU it does not matter"


def test_a_slow_answer_raises_the_limit_of_p99_for_all() -> None:
    slow, quick = look(server("slow")), look(server("quick"))
    assert 80 <= slow.p99_ms < 200
    limit_ms, note = p99_limit_ms([quick, slow])
    assert limit_ms >= 5 * slow.p99_ms
    assert re.search(rf"p99 of {limit_ms:g} ms, as slow takes [\d.]+ ms without load", note)
    assert f"p99_limit_ms = {limit_ms:g}\n" in study_text(
        [server("slow")], Wanted(p99_limit_ms=limit_ms), Path()
    )
    assert p99_limit_ms([replace(quick, p99_ms=9.9)]) == (50.0, "")


def test_a_log_that_is_buffered_is_noted_too() -> None:
    assert any(
        "prints something for each request" in line for line in notes([look(server("logs"))])
    )


def test_a_wrapper_that_waits_for_its_child_is_no_fault(tmp_path: Path) -> None:
    """As `npm start`: a shell that hands no signal on."""
    words = f'{sys.executable} {SCRIPT} "$1" well; true'
    command = ("sh", "-c", words, "sh", "{port}")
    assert look(Server("npm", False, command, tmp_path)).fault is None
