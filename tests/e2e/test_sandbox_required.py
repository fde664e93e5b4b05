"""A sandbox that is required is whole, or nothing is served; and no other process of its user reads
the memory of a server that holds a token."""

import json
import os
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.commands import assert_refused, run, run_well
from tests.conformance.preload import preloaded
from tests.servers import REPOSITORY, SANITIZER, needs, program, rows_of, running
from tests.sockets import OWN_HOST, free_port
from tests.users import NOBODYS, as_user, opened, runnable_by_all
from tests.waiting import PATIENCE_S, wait_until

IS_ROOT = os.geteuid() == 0
REQUIRED = ("--sandbox", "require")
TOKEN = "correct-horse-battery-staple"
MISSING = 78
"""The status of a server that lacks a layer of the sandbox that it must have."""


def refusal(*options: str, prefix: tuple[str, ...] = (), **settings: Any) -> str:
    """The one line with which it ends instead of serving."""
    server = runnable_by_all(program("regatta-server"))
    where = ("--listen", "127.0.0.1:0", "--source", "procfs")
    done = run(*prefix, server, "--quiet", *where, *REQUIRED, *options, **settings)
    assert_refused(done, status=MISSING)
    return done.stderr


def test_required_it_serves_where_all_layers_can_be_had(tmp_path: Path) -> None:
    listed = json.loads(run_well(program("regatta-server"), "--list-sandbox", "--json"))
    missing = [row["layer"] for row in listed if not row["holds"]]
    if missing:
        pytest.skip(f"not here: {', '.join(missing)}")
    with running(tmp_path, *REQUIRED) as server:
        assert rows_of(server.ask(b"top 2\n"))


def test_required_it_does_not_serve_as_root_of_a_user_namespace_alone() -> None:
    unshare = (needs("unshare"), "--user", "--map-root-user")
    if run(*unshare, "true").returncode != 0:
        pytest.skip("user namespaces are not permitted here")
    said = refusal(prefix=unshare)
    assert "--sandbox require: without user: it stays root: its user namespace does not" in said


@pytest.mark.skipif(not IS_ROOT, reason="takes root")
def test_required_it_does_not_stay_root() -> None:
    said = refusal("--user", "root")
    assert "--sandbox require: without user: it stays root, as asked" in said


@pytest.mark.skipif(not IS_ROOT, reason="takes root")
@pytest.mark.parametrize("kept", [("--euid=65534",), ("--reuid=65534", "--groups=0", "--regid=1")])
def test_required_it_does_not_keep_what_it_could_become_root_by(kept: tuple[str, ...]) -> None:
    said = refusal(prefix=(needs("setpriv"), *kept))
    assert "without user: it runs as user 65534, but keeps root or root's group" in said


@pytest.mark.skipif(bool(SANITIZER), reason="it would come after what is preloaded")
@pytest.mark.parametrize(
    ("lacks", "says"),
    [
        ("landlock", "without landlock: this kernel has none (needs Linux 5.13)"),
        ("enabled", "without landlock: disabled in this kernel (see the boot option lsm=)"),
        ("seccomp", "without seccomp: the kernel refused the filter (Invalid argument)"),
    ],
)
def test_required_it_names_what_an_old_kernel_lacks(tmp_path: Path, lacks: str, says: str) -> None:
    environment = {"LD_PRELOAD": str(preloaded("old_kernel", tmp_path)), "LACKS": lacks}
    said = refusal(env={**os.environ, **environment})
    assert said.startswith("regatta-server: --sandbox require: ")
    assert says in said


@pytest.mark.skipif(not IS_ROOT, reason="takes root")
def test_the_list_of_what_is_required_says_by_its_status_that_a_layer_is_missing() -> None:
    done = run(program("regatta-server"), "--list-sandbox", *REQUIRED, "--user", "root")
    assert done.returncode == MISSING
    assert "not held   it stays root, as asked" in done.stdout
    assert "--sandbox require: without user: it stays root, as asked" in done.stderr


@pytest.mark.parametrize("options", [(), ("--list-sandbox",)])
def test_a_user_that_it_cannot_become_ends_it_with_the_same_words(options: tuple[str, ...]) -> None:
    wanted = ("--user", "no-such-user", "--listen", "127.0.0.1:0")
    done = run(program("regatta-server"), *options, *wanted)
    assert_refused(done, status=1)
    assert done.stderr == "regatta-server: --user no-such-user: no such user\n"


def test_as_a_service_of_systemd_it_is_required() -> None:
    unit = (REPOSITORY / "deploy/systemd/regatta-server.service").read_text()
    (command,) = (line for line in unit.splitlines() if line.startswith("ExecStart="))
    assert " ".join(REQUIRED) in command
    assert f"\nRestartPreventExitStatus={MISSING}\n" in unit


AS_OTHER = as_user(NOBODYS) if IS_ROOT else []


def with_token(folder: Path) -> tuple[str, ...]:
    """Options of a server that asks for it."""
    token = folder / "token"
    token.write_text(TOKEN)
    token.chmod(0o600)
    if IS_ROOT:
        os.chown(token, NOBODYS, NOBODYS)
    return ("--token-file", str(token))


def may_be_read(pid: int) -> bool:
    """By another process of its user: such a one may read the file `environ`, a piece of it."""
    return run(*AS_OTHER, "cat", f"/proc/{pid}/environ").returncode == 0


def listens(where: tuple[str, int]) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(where) == 0


@pytest.mark.parametrize("has_token", [False, True])
def test_the_memory_that_holds_a_token_is_not_for_others_of_its_user(
    tmp_path: Path, has_token: bool
) -> None:
    folder = opened(tmp_path)
    options = with_token(folder) if has_token else ()
    with running(folder, *options, prefix=AS_OTHER) as server:
        assert may_be_read(server.process.pid) != has_token
        assert rows_of(server.ask(f"auth {TOKEN}\ntop 2\n".encode()).removeprefix(b"ok\n\n"))


@pytest.mark.parametrize("has_token", [False, True])
def test_its_memory_is_hidden_before_it_serves(tmp_path: Path, has_token: bool) -> None:
    """It listens, and goes no further: nobody reads the pipe that its summary is to go to."""
    folder = opened(tmp_path)
    pipe = folder / "summary"
    os.mkfifo(pipe)
    pipe.chmod(0o666)
    where = (OWN_HOST, free_port(OWN_HOST))
    options = [*(with_token(folder) if has_token else ()), "--summary", str(pipe)]
    options += ["--quiet", "--listen", f"{where[0]}:{where[1]}", "--source", "procfs"]
    server = runnable_by_all(program("regatta-server"))
    process = subprocess.Popen([*AS_OTHER, server, *options])
    try:
        wait_until(lambda: listens(where), "it does not listen")
        assert may_be_read(process.pid) != has_token
    finally:
        process.kill()
        process.wait(PATIENCE_S)
