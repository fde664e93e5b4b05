"""--sandbox require: the server runs with all layers or not at all. Other processes of its user
cannot read the memory of a server with a token."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.commands import assert_refused, run
from tests.conformance.preload import preloaded
from tests.servers import (
    PRELOADABLE,
    REPOSITORY,
    SANITIZER,
    needs,
    program,
    rows_of,
    running,
    sandbox_layers,
)
from tests.sockets import OWN_HOST, free_port, wait_until_accepting
from tests.tokens import TOKEN, token_file
from tests.users import UNUSED_UID, as_user, runnable_by_all, world_writable
from tests.waiting import PATIENCE_S

IS_ROOT = os.geteuid() == 0
REQUIRED = ("--sandbox", "require")
MISSING = 78
"""Exit status of a server that lacks a required sandbox layer."""


def refusal(
    *options: str, prefix: tuple[str, ...] = (), binary: str | None = None, **settings: Any
) -> str:
    """The error line of a server that refuses to serve."""
    server = runnable_by_all(binary or program("regatta-server"))
    where = ("--listen", "127.0.0.1:0", "--source", "procfs")
    done = run(*prefix, server, "--quiet", *where, *REQUIRED, *options, **settings)
    assert_refused(done, status=MISSING)
    return done.stderr


def test_it_serves_where_all_layers_are_available(tmp_path: Path) -> None:
    missing = [name for name, layer in sandbox_layers().items() if not layer["holds"]]
    if missing:
        pytest.skip(f"not here: {', '.join(missing)}")
    with running(tmp_path, *REQUIRED) as server:
        assert rows_of(server.ask(b"top 2\n"))


def test_it_does_not_serve_as_root_of_a_user_namespace() -> None:
    unshare = (needs("unshare"), "--user", "--map-root-user")
    if run(*unshare, "true").returncode != 0:
        pytest.skip("user namespaces are not permitted here")
    message = refusal(prefix=unshare)
    assert "--sandbox require: without user: it stays root: its user namespace does not" in message


@pytest.mark.skipif(not IS_ROOT, reason="takes root")
def test_it_does_not_serve_as_root() -> None:
    message = refusal("--user", "root")
    assert "--sandbox require: without user: it stays root, as asked" in message


@pytest.mark.skipif(bool(SANITIZER), reason="the sanitizer must be preloaded first")
@pytest.mark.parametrize(
    ("lacks", "says"),
    [
        ("landlock", "without landlock: this kernel has none (needs Linux 5.13)"),
        ("enabled", "without landlock: disabled in this kernel (see the boot option lsm=)"),
        ("seccomp", "without seccomp: the kernel refused the filter (Invalid argument)"),
    ],
)
def test_it_names_the_layer_that_an_old_kernel_lacks(lacks: str, says: str) -> None:
    environment = {"LD_PRELOAD": preloaded("old_kernel"), "LACKS": lacks}
    message = refusal(binary=PRELOADABLE, env={**os.environ, **environment})
    assert message.startswith("regatta-server: --sandbox require: ")
    assert says in message


def test_our_systemd_unit_requires_the_sandbox() -> None:
    unit = (REPOSITORY / "deploy/systemd/regatta-server.service").read_text()
    (command,) = (line for line in unit.splitlines() if line.startswith("ExecStart="))
    assert " ".join(REQUIRED) in command
    assert f"\nRestartPreventExitStatus={MISSING}\n" in unit


AS_OTHER = as_user(UNUSED_UID) if IS_ROOT else []


def with_token(folder: Path) -> tuple[str, ...]:
    token = token_file(folder)
    if IS_ROOT:
        os.chown(token, UNUSED_UID, UNUSED_UID)
    return ("--token-file", str(token))


def may_be_read(pid: int) -> bool:
    """Whether another process of the user may read its memory, here `environ`."""
    return run(*AS_OTHER, "cat", f"/proc/{pid}/environ").returncode == 0


@pytest.mark.parametrize("has_token", [False, True])
def test_memory_with_a_token_is_protected_from_other_processes_of_the_user(
    tmp_path: Path, has_token: bool
) -> None:
    folder = world_writable(tmp_path)
    options = with_token(folder) if has_token else ()
    with running(folder, *options, prefix=AS_OTHER) as server:
        assert may_be_read(server.process.pid) != has_token
        assert rows_of(server.ask(f"auth {TOKEN}\ntop 2\n".encode()).removeprefix(b"ok\n\n"))


@pytest.mark.parametrize("has_token", [False, True])
def test_the_memory_is_protected_before_it_serves(tmp_path: Path, has_token: bool) -> None:
    """It listens and then blocks, because its summary is a pipe without a reader."""
    folder = world_writable(tmp_path)
    pipe = folder / "summary"
    os.mkfifo(pipe)
    pipe.chmod(0o666)
    port = free_port()
    options = [*(with_token(folder) if has_token else ()), "--summary", str(pipe)]
    options += ["--quiet", "--listen", f"{OWN_HOST}:{port}", "--source", "procfs"]
    server = runnable_by_all(program("regatta-server"))
    process = subprocess.Popen([*AS_OTHER, server, *options])
    try:
        wait_until_accepting(process, port, OWN_HOST)
        assert may_be_read(process.pid) != has_token
    finally:
        process.kill()
        process.wait(PATIENCE_S)
