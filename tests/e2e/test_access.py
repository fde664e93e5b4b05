"""Access control: unsafe server options are refused, and the client sends the token."""

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.commands import assert_refused, run
from tests.servers import RunningServer, program, running
from tests.tokens import TOKEN, token_file
from tests.users import as_user, runnable_by_all

NOBODY = 65534


@pytest.fixture
def know(tmp_path: Path) -> tuple[str, str]:
    """The option with the right token."""
    return ("--token-file", str(token_file(tmp_path)))


@pytest.fixture
def server(tmp_path: Path, know: tuple[str, str]) -> Iterator[RunningServer]:
    with running(tmp_path, "--work", "snapshot", *know) as started:
        yield started


def refusal(*arguments: str, prefix: Sequence[str] = (), name: str = "regatta-server") -> str:
    """The error line of a program that refuses to start."""
    done = run(*prefix, runnable_by_all(program(name)), *arguments)
    assert_refused(done, name=name)
    assert TOKEN not in done.stderr
    return done.stderr


@pytest.mark.parametrize("listen", ["0.0.0.0:0", "[2001:db8::1]:0"])
def test_an_address_that_other_hosts_can_reach_needs_access_control(
    listen: str, know: tuple[str, str]
) -> None:
    networks = ("--allow", "10.0.0.0/8")
    neither = refusal("--listen", listen)
    assert "--allow" in neither
    assert "--token-file" in neither
    assert "--no-token" in neither
    assert "--allow" in refusal("--listen", listen, *know)
    assert "--allow" in refusal("--listen", listen, "--no-token")
    assert "--token-file" in refusal("--listen", listen, *networks)
    assert "--allow" in refusal("--allow", "10.0.0.1/8")
    assert "exclude each other" in refusal("--listen", listen, *networks, *know, "--no-token")


# What else is wrong with one: tests/unit/server/test_access.c.
@pytest.mark.parametrize("name", ["regatta-server", "regatta-client"])
def test_a_wrong_token_file_is_refused(tmp_path: Path, name: str) -> None:
    path = token_file(tmp_path, mode=0o640)
    assert "chmod 600" in refusal("--token-file", str(path), name=name)
    os.mkfifo(tmp_path / "pipe", 0o600)  # without a writer: it must not block
    assert "not a regular file" in refusal("--token-file", str(tmp_path / "pipe"), name=name)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_token_file_of_another_user_is_refused() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = token_file(Path(folder))
        said = refusal("--token-file", str(path), prefix=as_user(NOBODY))
    assert "Permission denied" in said


def test_the_token_appears_in_no_output(tmp_path: Path, know: tuple[str, str]) -> None:
    with running(tmp_path, "--verbose", *know) as server:
        server.ask(f"auth {TOKEN}\ntop 2\n".encode())
        server.ask(f"auth {TOKEN}x\n".encode())
        header = f"Authorization: Bearer {TOKEN}"
        server.ask(f"GET /top HTTP/1.1\r\nHost: x\r\n{header}\r\n\r\n".encode())
        command = Path(f"/proc/{server.process.pid}/cmdline").read_text()
        summary = json.dumps(server.stop())
    assert "asks auth" in server.stdout
    assert "answered 401: wrong token" in server.stdout
    assert TOKEN not in command + summary + server.stdout + server.stderr


def ask(server: RunningServer, *options: str) -> tuple[dict[str, Any], int]:
    """The client's JSON result and exit status."""
    done = run(program("regatta-client"), "--json", *options, server.address)
    return json.loads(done.stdout), done.returncode


@pytest.mark.parametrize("per_connection", ["0", "1", "3"])
def test_a_client_with_the_token_is_answered(
    server: RunningServer, know: tuple[str, str], engine: str, dialect: str, per_connection: str
) -> None:
    """The reply to the token itself is not in the samples."""
    load = ("--load", "closed", "--duration", "0.2", "--per-connection", per_connection)
    how = ("--engine", engine, "--dialect", dialect, *know)
    result, status = ask(server, "-c", "3", *load, *how)
    assert status == 0
    assert result["answered"] == result["requests"] > 3
    summary = server.stop()
    tokens_sent = result["connections_opened"] if dialect == "line" else 0
    assert summary["requests"] == result["requests"] + tokens_sent
    assert sum(summary["errors"].values()) == 0


# A reply of HTTP takes a slow connection longer than 3 s, at a byte every 10 ms.
@pytest.mark.parametrize(("dialect", "duration", "fewest"), [("line", "3", 1), ("http", "0.3", 0)])
def test_every_load_sends_the_token(
    server: RunningServer, know: tuple[str, str], dialect: str, duration: str, fewest: int
) -> None:
    know = ("--dialect", dialect, *know)
    result, status = ask(server, "-c", "5", "--rounds", "4", *know)
    assert (status, result["answered"]) == (0, 20)
    options = ("--load", "open", "--rate", "100", "--slow", "2", "--idle", "2")
    result, status = ask(server, "-c", "3", "-n", "1", *options, "--duration", duration, *know)
    assert status == 0
    assert result["answered"] == result["requests"] > 75 * float(duration)
    assert (result["slow_lost"], result["idle_lost"]) == (0, 0)
    assert result["slow_requests"] >= fewest


def test_a_client_without_the_token_or_with_another_is_refused(
    tmp_path: Path, server: RunningServer, engine: str, dialect: str
) -> None:
    (tmp_path / "other").mkdir()
    other = token_file(tmp_path / "other", f"{TOKEN}-of-another-server\n")
    how = ("--json", "-c", "3", "--engine", engine, "--dialect", dialect)
    for know, says in (
        ((), "; this server requires a token: give --token-file FILE\n"),
        (("--token-file", other), "; the token of --token-file is not this server's\n"),
    ):
        done = run(program("regatta-client"), *how, *know, server.address)
        assert done.returncode == 1
        assert json.loads(done.stdout)["errors"]["refused"] == 3
        assert done.stderr.endswith(says)
