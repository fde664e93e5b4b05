"""What an attacker with code execution in the server cannot do, in every design. The last test
shows that each attempt succeeds without the sandbox."""

import contextlib
import errno
import mmap
import os
import signal
import socket
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.conformance.preload import preloaded
from tests.servers import SANITIZER, ListedDesign, rows_of, running, sandbox_layers
from tests.sockets import datagram_socket
from tests.users import UNUSED_UID, as_user, world_writable

pytestmark = pytest.mark.skipif(
    bool(SANITIZER), reason="a sanitizer makes system calls that the sandbox forbids"
)
IS_ROOT = os.geteuid() == 0
NOBODY = 65534
REFUSALS = {errno.EPERM, errno.EACCES}
HEAD, ATTEMPT = "=5i", "=28si"

FILES = {
    *("read_a_file", "read_by_its_root", "read_its_program", "list_a_folder"),
    *("open_a_device", "make_a_file", "write_to_proc"),
}
OTHERS_FILES = {
    *("read_by_anothers_root", "read_memory_file", "write_memory_file", "read_environment"),
}
SIGNALS = {"signal_another", "signal_its_thread"}
UNSEEN = "have_the_kernel_signal"
"""The call itself succeeds: what counts is whether the signal arrives."""


@dataclass
class Intrusion:
    """Each attempt with its errno; 0: it succeeded."""

    errors: dict[str, int] = field(default_factory=dict)
    has_connected: bool = False
    has_written: bool = False
    """To a socket that does not belong to the server."""
    victim_ended_by: int | None = None
    """Signal number; None: it is alive."""

    def successes(self) -> set[str]:
        return {name for name, error in self.errors.items() if error not in REFUSALS} - {UNSEEN}


@pytest.fixture(scope="session")
def unprotected() -> set[str]:
    """Attempts that would be refused by a sandbox layer which is not available here."""
    layers = sandbox_layers()
    if not layers["seccomp"]["holds"]:
        pytest.skip("seccomp is not available here")
    missing: set[str] = set()
    if not layers["landlock"]["holds"]:
        missing |= FILES | OTHERS_FILES
    if "no signals to others" not in layers["landlock"]["what"]:
        missing |= SIGNALS
    return missing


@contextlib.contextmanager
def victim(user: int | None) -> Iterator[subprocess.Popen[bytes]]:
    """Another process of the server's user."""
    prefix = as_user(user) if user is not None else []
    command = [*prefix, "sh", "-c", "echo; exec cat"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.communicate()


def signal_that_ended(other: subprocess.Popen[bytes]) -> int | None:
    """None: it is alive, which its echo proves: a signal sent before would end it first."""
    with contextlib.suppress(BrokenPipeError):
        other.stdin.write(b"alive\n")
        other.stdin.flush()
    return None if other.stdout.readline() == b"alive\n" else -other.wait()


def intrude(
    folder: Path, options: tuple[str, ...], victim_user: int | None, prefix: list[str]
) -> Intrusion:
    """victim_user: the user of another process; None: our own."""
    room = world_writable(folder)
    notes, manager, other_socket = room / "notes", room / "manager", room / "socket"
    notes.write_bytes(bytes(mmap.PAGESIZE))
    notes.chmod(0o666)
    environment = {
        "LD_PRELOAD": preloaded("intruder"),
        "INTRUDER": str(notes),
        "INTRUDER_NAME": str(other_socket),
        "NOTIFY_SOCKET": str(manager),
    }
    found = Intrusion()
    with (
        socket.create_server(("127.0.0.1", 0)) as outside,
        datagram_socket(str(manager)),
        datagram_socket(str(other_socket)) as receiver,
        victim(victim_user) as other,
    ):
        for path in (manager, other_socket):
            path.chmod(0o666)
        with running(notes.parent, *options, prefix=prefix, environment=environment) as server:
            with notes.open("r+b") as file:
                has_ring = any("uring" in option for option in options)
                file.write(struct.pack(HEAD, 0, 0, other.pid, outside.getsockname()[1], has_ring))
                file.seek(0)
                file.write(struct.pack("=i", 1))
            assert rows_of(server.ask(b"top 2\n"))
        noted = notes.read_bytes()
        (_, count, *_) = struct.unpack_from(HEAD, noted)
        for i in range(count):
            at = struct.calcsize(HEAD) + i * struct.calcsize(ATTEMPT)
            name, error = struct.unpack_from(ATTEMPT, noted, at)
            found.errors[name.rstrip(b"\0").decode()] = error
        outside.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            outside.accept()[0].close()
            found.has_connected = True
        receiver.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            found.has_written = receiver.recv(100) == b"x"
        found.victim_ended_by = signal_that_ended(other)
    return found


def assert_kept_out(found: Intrusion, unprotected: set[str]) -> None:
    assert len(found.errors) > 40
    assert found.successes() <= unprotected, {
        name: os.strerror(found.errors[name]) for name in found.successes() - unprotected
    }
    assert not found.has_connected
    assert not found.has_written
    if not unprotected & SIGNALS:
        assert found.victim_ended_by is None


@pytest.mark.skipif(not IS_ROOT, reason="takes root")
def test_an_intruder_in_a_server_started_by_root_is_confined(
    design: ListedDesign, unprotected: set[str], tmp_path: Path
) -> None:
    """Not even to other processes of the user that the server became."""
    options = ("--design", design.name, *design.workers(2), "--user", "nobody", "--sandbox", "on")
    assert_kept_out(intrude(tmp_path, options, NOBODY, []), unprotected)


def test_an_intruder_in_a_users_server_cannot_reach_the_users_other_resources(
    design: ListedDesign, unprotected: set[str], tmp_path: Path
) -> None:
    user = UNUSED_UID if IS_ROOT else None
    options = ("--design", design.name, *design.workers(2), "--sandbox", "on")
    prefix = as_user(UNUSED_UID) if IS_ROOT else []
    assert_kept_out(intrude(tmp_path, options, user, prefix), unprotected)


PERHAPS_FORBIDDEN = {
    *("load_bpf", "make_a_map", "watch_events", "make_a_ring", "make_a_namespace"),
    *("trace_another", "read_memory", "write_memory", "read_memory_file", "write_memory_file"),
    *("send_by_a_ring", "make_tcp6", "map_code", "turn_data_into_code", "become_root"),
}
"""Attempts that a container or host settings may forbid anyway."""


def test_every_attempt_succeeds_without_the_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a datagram socket, which the server itself does not keep."""
    monkeypatch.setenv("INTRUDER_DATAGRAMS", "1")
    options = ("--design", "epoll", "--sandbox", "off")
    found = intrude(tmp_path, options, None, [])
    failed = {name: os.strerror(error) for name, error in found.errors.items() if error != 0}
    assert set(failed) <= PERHAPS_FORBIDDEN, failed
    assert found.has_connected
    assert found.has_written
    assert found.victim_ended_by == signal.SIGUSR1
