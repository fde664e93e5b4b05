"""Who may ask, as a person meets it: what refuses to start, and the client that knows the token."""

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.commands import assert_refused, run, run_well
from tests.given import giving
from tests.servers import PATIENCE_S, RunningServer, needs, program, running
from tests.users import as_user, runnable_by_all

TOKEN = "correct-horse-battery-staple"
NOBODY = 65534


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    return written(tmp_path / "token", f"{TOKEN}\n")


@pytest.fixture
def server(tmp_path: Path, token_file: Path) -> Iterator[RunningServer]:
    with running(tmp_path, "--work", "snapshot", "--token-file", str(token_file)) as started:
        yield started


def written(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


def refusal(*arguments: str, prefix: Sequence[str] = (), name: str = "regatta-server") -> str:
    """The one line with which a program refuses to start; nothing of it is on stdout."""
    done = run(*prefix, runnable_by_all(program(name)), *arguments)
    assert_refused(done, name=name)
    assert TOKEN not in done.stderr
    return done.stderr


@pytest.mark.parametrize("listen", ["0.0.0.0:0", "[2001:db8::1]:0"])
def test_where_others_can_connect_it_must_be_said_who_may_ask(
    listen: str, token_file: Path
) -> None:
    token, networks = ("--token-file", str(token_file)), ("--allow", "10.0.0.0/8")
    neither = refusal("--listen", listen)
    assert "--allow" in neither
    assert "--token-file" in neither
    assert "--no-token" in neither
    assert "--allow" in refusal("--listen", listen, *token)
    assert "--allow" in refusal("--listen", listen, "--no-token")
    assert "--token-file" in refusal("--listen", listen, *networks)
    assert "--allow" in refusal("--allow", "10.0.0.1/8")
    assert "exclude each other" in refusal("--listen", listen, *networks, *token, "--no-token")


def test_a_socket_of_the_service_manager_needs_it_as_well() -> None:
    """Though it is not the server that chose where it listens."""
    done = run(*giving("0.0.0.0"), program("regatta-server"), "--quiet")
    assert_refused(done, status=1)
    assert "--allow" in done.stderr
    assert "--token-file" in done.stderr


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "127.1.2.3:0", "[::1]:0"])
def test_where_only_this_host_can_connect_nothing_needs_to_be_said(
    tmp_path: Path, listen: str
) -> None:
    with running(tmp_path, listen=listen) as server:
        assert server.ask(b"top\n").startswith(b"rank ")


@pytest.mark.parametrize("name", ["regatta-server", "regatta-client"])
@pytest.mark.parametrize(
    ("text", "mode", "says"), [(TOKEN, 0o640, "chmod 600"), ("too-short", 0o600, "16 to 256")]
)
def test_a_token_file_that_is_none_refuses_to_start(
    tmp_path: Path, name: str, text: str, mode: int, says: str
) -> None:
    path = written(tmp_path / "token", text, mode)
    assert says in refusal("--token-file", str(path), name=name)


@pytest.mark.parametrize("name", ["regatta-server", "regatta-client"])
def test_a_token_file_that_is_not_there_or_no_file_refuses_to_start(
    tmp_path: Path, name: str
) -> None:
    assert "No such file" in refusal("--token-file", str(tmp_path / "missing"), name=name)
    assert "not a regular file" in refusal("--token-file", str(tmp_path), name=name)
    os.mkfifo(tmp_path / "pipe", 0o600)  # nobody writes to it: it must not be waited for
    assert "not a regular file" in refusal("--token-file", str(tmp_path / "pipe"), name=name)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_token_file_of_somebody_else_refuses_to_start() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = written(Path(folder) / "token", TOKEN)
        said = refusal("--token-file", str(path), prefix=as_user(NOBODY))
    assert "Permission denied" in said


def test_the_token_is_nowhere_to_be_seen(tmp_path: Path, token_file: Path) -> None:
    with running(tmp_path, "--verbose", "--token-file", str(token_file)) as server:
        server.ask(f"auth {TOKEN}\ntop 2\n".encode())
        server.ask(f"auth {TOKEN}x\n".encode())
        header = f"Authorization: Bearer {TOKEN}"
        server.ask(f"GET /top HTTP/1.1\r\nHost: x\r\n{header}\r\n\r\n".encode())
        command = Path(f"/proc/{server.process.pid}/cmdline").read_bytes()
        server.process.send_signal(15)
        printed, complaint = server.process.communicate(timeout=PATIENCE_S)
        server.summary = json.loads((tmp_path / "server.json").read_text())
        server.is_over = True
    assert b"asks auth" in printed
    assert b"answered 401: this is not the token" in printed
    for seen in (command, printed, complaint, json.dumps(server.summary).encode()):
        assert TOKEN.encode() not in seen


def ask(server: RunningServer, *options: str) -> tuple[dict[str, Any], int]:
    """What our client says of a load, and its exit status."""
    done = run(program("regatta-client"), "--json", *options, server.address)
    return json.loads(done.stdout), done.returncode


@pytest.mark.parametrize("per_connection", ["0", "1", "3"])
def test_a_client_with_the_token_is_answered(
    server: RunningServer, token_file: Path, engine: str, dialect: str, per_connection: str
) -> None:
    """As many answers as the server gave: the one to the token is in no sample."""
    load = ("--load", "closed", "--duration", "0.2", "--per-connection", per_connection)
    how = ("--engine", engine, "--dialect", dialect, "--token-file", str(token_file))
    result, status = ask(server, "-c", "3", *load, *how)
    assert status == 0
    assert result["answered"] == result["requests"] > 3
    summary = server.stop()
    said = result["connections_opened"] if dialect == "line" else 0
    assert summary["requests"] == result["requests"] + said
    assert sum(summary["errors"].values()) == 0


def test_every_load_knows_the_token(server: RunningServer, token_file: Path, dialect: str) -> None:
    know = ("--dialect", dialect, "--token-file", str(token_file))
    result, status = ask(server, "-c", "5", "--rounds", "4", *know)
    assert (status, result["answered"]) == (0, 20)
    options = ("--load", "open", "--rate", "100", "--duration", "8", "--slow", "2", "--idle", "2")
    result, status = ask(server, "-c", "3", "-n", "1", *options, *know)
    assert status == 0
    assert result["answered"] == result["requests"] > 700
    assert (result["slow_lost"], result["idle_lost"]) == (0, 0)
    if dialect == "line":  # a reply of HTTP takes longer, at a byte every 10 ms
        assert result["slow_requests"] >= 1


def test_a_client_without_the_token_or_with_another_is_refused(
    tmp_path: Path, server: RunningServer, engine: str, dialect: str
) -> None:
    other = written(tmp_path / "other", f"{TOKEN}-of-another-server\n")
    for know in ((), ("--token-file", str(other))):
        result, status = ask(server, "-c", "3", "--engine", engine, "--dialect", dialect, *know)
        assert status == 1
        assert result["errors"]["refused"] == 3


def test_where_no_token_is_asked_for_any_is_taken(
    tmp_path: Path, token_file: Path, dialect: str
) -> None:
    with running(tmp_path) as open_to_all:
        result, status = ask(
            open_to_all, "--dialect", dialect, "--token-file", str(token_file), "-c", "2"
        )
    assert (status, result["answered"]) == (0, 2)


def test_curl_is_told_and_answered(server: RunningServer) -> None:
    url = f"http://{server.address}/top?n=3"
    header = f"Authorization: Bearer {TOKEN}"
    for options, status in (((), "401"), (("-H", header), "200")):
        printed = run_well(needs("curl"), "-sS", "-w", "\n%{http_code}", *options, url)
        assert printed.splitlines()[-1] == status


def test_names_are_told_without_a_port_and_not_beside_a_token(token_file: Path) -> None:
    assert "without a port" in refusal("--host", "db1:7342")
    assert "expected names" in refusal("--host", "")
    assert "by any name" in refusal("--host", "db1", "--token-file", str(token_file))


def test_a_strangers_name_that_leads_here_reads_nothing(tmp_path: Path) -> None:
    """As in a browser whose name server is a stranger's."""
    with running(tmp_path, "--host", "db1") as server:
        for host, status in (("evil.example", "421"), ("localhost", "200"), ("db1", "200")):
            resolve = ("--resolve", f"{host}:{server.port}:{server.host}")
            url = f"http://{host}:{server.port}/top?command=1"
            printed = run_well(needs("curl"), "-sS", "-w", "\n%{http_code}", *resolve, url)
            assert printed.splitlines()[-1] == status
            assert printed.startswith("rank ") == (status == "200")
