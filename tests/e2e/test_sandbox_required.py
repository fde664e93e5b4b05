"""A sandbox that is required is whole, or nothing is served; and no other process of its user reads
the memory of a server that holds a token."""

import json
import os
from pathlib import Path

import pytest

from tests.commands import assert_refused, run, run_well
from tests.servers import REPOSITORY, needs, program, rows_of, running
from tests.users import NOBODYS, as_user, opened, runnable_by_all

IS_ROOT = os.geteuid() == 0
REQUIRED = ("--sandbox", "require")
TOKEN = "correct-horse-battery-staple"


def refusal(*options: str, prefix: tuple[str, ...] = ()) -> str:
    """The one line with which it ends instead of serving."""
    server = runnable_by_all(program("regatta-server"))
    where = ("--listen", "127.0.0.1:0", "--source", "procfs")
    done = run(*prefix, server, "--quiet", *where, *REQUIRED, *options)
    assert_refused(done, status=1)
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


def test_as_a_service_of_systemd_it_is_required() -> None:
    unit = (REPOSITORY / "deploy/systemd/regatta-server.service").read_text()
    (command,) = (line for line in unit.splitlines() if line.startswith("ExecStart="))
    assert " ".join(REQUIRED) in command


@pytest.mark.parametrize("has_token", [False, True])
def test_the_memory_that_holds_a_token_is_not_for_others_of_its_user(
    tmp_path: Path, has_token: bool
) -> None:
    """Whoever may read the memory may read the file `environ`, which is a piece of it."""
    prefix = as_user(NOBODYS) if IS_ROOT else []
    folder = opened(tmp_path)
    token = folder / "token"
    token.write_text(TOKEN)
    token.chmod(0o600)
    if IS_ROOT:
        os.chown(token, NOBODYS, NOBODYS)
    options = ("--token-file", str(token)) if has_token else ()
    with running(folder, *options, prefix=prefix) as server:
        shown = run(*prefix, "cat", f"/proc/{server.process.pid}/environ")
        assert (shown.returncode != 0) == has_token, shown.stderr
        assert rows_of(server.ask(f"auth {TOKEN}\ntop 2\n".encode()).removeprefix(b"ok\n\n"))
