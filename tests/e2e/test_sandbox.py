"""The sandbox of a serving server, in every design; systemd.

The unit tests of sandbox/ show that each layer refuses what it should. These tests show that every
process of every design is inside."""

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

from tests.commands import run
from tests.dialects import DIALECTS
from tests.every_design import parametrize as pytest_generate_tests
from tests.processes import all_pids, descriptors, tasks, tree
from tests.servers import (
    PATIENCE_S,
    REPOSITORY,
    ListedDesign,
    needs,
    program,
    rows_of,
    running,
    sandbox_layers,
)
from tests.sockets import OWN_HOST, datagram_socket, datagram_sockets
from tests.users import as_user, runnable_by_all, world_writable
from tests.waiting import wait_until

__all__ = ["pytest_generate_tests"]
IS_ROOT = os.geteuid() == 0
SECCOMP_FILTER = "2"


@pytest.fixture(scope="module")
def layers() -> dict[str, bool]:
    """Which layers are available here."""
    return {name: layer["holds"] for name, layer in sandbox_layers().items()}


def assert_sandboxed(task: int, layers: dict[str, bool]) -> None:
    lines = Path(f"/proc/{task}/status").read_text().splitlines()
    status = {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}
    none = "0" * 16
    assert status["NoNewPrivs"] == "1"
    assert [status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")] == [none] * 4
    assert layers["seccomp"] == (status["Seccomp"] == SECCOMP_FILTER)
    if IS_ROOT and layers["user"]:
        assert status["CapBnd"] == none
        assert "0" not in status["Uid"].split()
        assert "0" not in status["Gid"].split()
        assert "0" not in status["Groups"].split()


def test_every_process_and_thread_serves_without_rights(
    design: ListedDesign, layers: dict[str, bool], tmp_path: Path
) -> None:
    """It answers in both dialects. A client is connected while its processes are examined."""
    with running(tmp_path, "--design", design.name, *design.workers(3)) as server:
        for dialect in DIALECTS:
            for _ in range(3):
                (rows,) = dialect.answers(server.ask(dialect.request(2)))
                assert len(rows) == 2
        with server.connect() as connection:
            connection.sendall(b"top 1\n")
            connection.recv(65536)
            for task in tasks(server.process.pid):
                # A child that served an earlier client may just end. The kernel's thread that polls
                # a ring runs no program: it can do what the ring may, and that is restricted.
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    if not Path(f"/proc/{task}/comm").read_text().startswith("iou-sqp-"):
                        assert_sandboxed(task, layers)
            assert_sandboxed(server.process.pid, layers)
        assert server.stop()["requests"] == 7


@pytest.mark.parametrize("source", ["procfs", "bpf"])
def test_processes_of_other_users_are_seen(source: str, tmp_path: Path) -> None:
    """All of them, although the server has dropped its privileges."""
    try:
        started = running(tmp_path, "--source", source)
        server = started.__enter__()
    except AssertionError as refused:
        pytest.skip(f"no source {source} here: {refused}")
    with contextlib.ExitStack() as stack:
        stack.push(started)
        before = set(all_pids())
        body = server.ask(b"GET /top?n=64&format=json HTTP/1.0\r\n\r\n").partition(b"\r\n\r\n")[2]
        answer = json.loads(body)
        present = before & set(all_pids())
        own = Path(f"/proc/{server.process.pid}").stat().st_uid
        others = 0
        for row in answer["processes"]:
            with contextlib.suppress(FileNotFoundError):
                others += Path(f"/proc/{row['pid']}").stat().st_uid != own
    assert answer["source"] == source
    assert others > 0
    assert answer["tasks_seen"] >= len(present)


@pytest.mark.skipif(not IS_ROOT, reason="takes root")
@pytest.mark.parametrize("pool", ["reactors", "prefork-flock"])
def test_a_privileged_port_is_served_by_an_unprivileged_user(pool: str, tmp_path: Path) -> None:
    """All listeners are opened before the change of user."""
    with socket.socket() as probe:
        for port in range(700, 1000):
            with contextlib.suppress(OSError):
                probe.bind(("127.0.0.1", port))
                break
    with running(
        tmp_path, "--design", pool, "--workers", "3", listen=f"127.0.0.1:{port}"
    ) as server:
        for _ in range(20):
            assert rows_of(server.ask(b"top 2\n"))


@pytest.mark.skipif(not IS_ROOT, reason="takes root")
def test_hidden_processes_are_reported(tmp_path: Path) -> None:
    mount = 'mount -t proc -o hidepid=2 proc /proc && exec "$@"'
    prefix = [needs("unshare"), "--mount", "sh", "-c", mount, "sh"]
    if run(*prefix, "true").returncode != 0:
        pytest.skip("/proc cannot be mounted here")
    with running(tmp_path, "--source", "procfs", prefix=prefix) as server:
        rows_of(server.ask(b"top 2\n"))
        server.stop()
    assert "processes of other users are hidden" in server.stderr
    with running(tmp_path, "--source", "procfs") as server:
        server.stop()
    assert "hidden" not in server.stderr


def test_no_process_keeps_an_unconnected_datagram_socket(
    design: ListedDesign, tmp_path: Path
) -> None:
    """An attacker in a process with io_uring or sendmsg could write to the host's log. The service
    manager is notified once."""

    def kept() -> set[str]:
        found = tree(server.process.pid)
        return {name for pid in found for name in descriptors(pid).values()} & datagram_sockets()

    options = ("--design", design.name, *design.workers(3))
    with datagram_socket(str(tmp_path / "n")) as listening:
        notify = {"NOTIFY_SOCKET": str(tmp_path / "n")}
        with running(tmp_path, *options, environment=notify) as server:
            assert listening.recv(100) == b"READY=1"
            with server.connect() as connection:
                connection.sendall(b"top 1\n")
                assert connection.recv(100)
                wait_until(lambda: not kept(), "a datagram socket stays open")
            server.stop()
            listening.setblocking(False)
            with pytest.raises(BlockingIOError):
                listening.recv(100)


def test_a_service_manager_with_an_abstract_name_is_notified(tmp_path: Path) -> None:
    name = f"regatta-{os.getpid()}-{time.monotonic_ns()}"
    with (
        datagram_socket("\0" + name) as listening,
        running(tmp_path, environment={"NOTIFY_SOCKET": "@" + name}),
    ):
        assert listening.recv(100) == b"READY=1"


def test_capabilities_from_the_service_manager_are_dropped(
    layers: dict[str, bool], tmp_path: Path
) -> None:
    """As in our unit: an unprivileged user with inheritable capabilities."""
    given = "+net_raw,+sys_ptrace"
    prefix = as_user(54323)
    prefix += [f"--inh-caps={given}", f"--ambient-caps={given}", f"--bounding-set=-all,{given}"]
    show = run(*prefix, "cat", "/proc/self/status")
    version = run(*prefix, runnable_by_all(program("regatta-server")), "--version")
    if show.returncode != 0 or version.returncode != 0:
        pytest.skip("capabilities cannot be passed on here, or another user cannot run the server")
    assert "CapEff:\t" + "0" * 16 not in show.stdout
    with running(world_writable(tmp_path), prefix=prefix) as server:
        assert rows_of(server.ask(b"top 2\n"))
        assert_sandboxed(server.process.pid, {**layers, "user": False})


UNITS = ("regatta-server.service", "regatta-server.socket")
MOST_EXPOSED = 2.0
"""Of 10, as `systemd-analyze security` counts: "OK"."""


def analyze(*words: str) -> str:
    tool = shutil.which("systemd-analyze")
    if tool is None:
        pytest.skip("systemd is not installed")
    done = run(tool, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_the_units_are_valid_and_have_a_low_exposure_level(tmp_path: Path) -> None:
    """The units of deploy/, with the program under test."""
    for name in UNITS:
        text = (REPOSITORY / "deploy" / "systemd" / name).read_text()
        text = text.replace("/usr/local/bin/regatta-server", program("regatta-server"))
        (tmp_path / name).write_text(text)
    units = [str(tmp_path / name) for name in UNITS]
    assert analyze("verify", "--man=no", *units) == ""
    said = analyze("security", "--offline=true", "--no-pager", units[0])
    level = re.search(r"Overall exposure level for \S+: ([0-9.]+)", said)
    assert level is not None, said
    assert float(level[1]) <= MOST_EXPOSED


def test_systemd_can_activate_it_by_socket() -> None:
    tool = shutil.which("systemd-socket-activate")
    if tool is None:
        pytest.skip("systemd is not installed")
    with socket.create_server((OWN_HOST, 0)) as probe:
        port = probe.getsockname()[1]
    where = f"{OWN_HOST}:{port}"
    process = subprocess.Popen(
        [tool, "--listen", where, program("regatta-server"), "--quiet"], stderr=subprocess.PIPE
    )
    while line := process.stderr.readline():
        if b"Listening" in line:
            break
    try:
        with socket.create_connection((OWN_HOST, port), PATIENCE_S) as connection:
            connection.sendall(b"top 2\n")
            assert connection.recv(65536).startswith(b"rank")
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
