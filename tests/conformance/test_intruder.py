"""Somebody has got code of their own to run in the server, where it serves a client: what such code
cannot do, in every design. Without the sandbox each attempt succeeds, as the last test shows."""

import contextlib
import errno
import json
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

from tests.commands import run_well
from tests.conformance.preload import preloaded
from tests.servers import SANITIZER, ListedDesign, program, rows_of, running
from tests.users import NOBODYS, as_user, opened

pytestmark = pytest.mark.skipif(
    bool(SANITIZER), reason="it makes calls of its own, which the sandbox forbids"
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
"""The call is fine: whether the signal arrives is what counts."""


@dataclass
class Intrusion:
    """What was tried, and what the kernel said: 0, it could."""

    errors: dict[str, int] = field(default_factory=dict)
    has_connected: bool = False
    has_written: bool = False
    """To a socket that is none of the server's business."""
    victim_ended_by: int | None = None
    """A signal, or None: it lives on."""

    def successes(self) -> set[str]:
        return {name for name, error in self.errors.items() if error not in REFUSALS} - {UNSEEN}


@pytest.fixture(scope="session")
def intruder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return preloaded("intruder", opened(tmp_path_factory.mktemp("preload")))


@pytest.fixture(scope="session")
def beyond() -> set[str]:
    """Attempts that a layer refuses which cannot be had here."""
    listed = json.loads(run_well(program("regatta-server"), "--list-sandbox", "--json"))
    holds = {row["layer"]: row["holds"] for row in listed}
    (landlock,) = (row["what"] for row in listed if row["layer"] == "landlock")
    if not holds["seccomp"]:
        pytest.skip("nothing forbids system calls here")
    missing: set[str] = set()
    if not holds["landlock"]:
        missing |= FILES | OTHERS_FILES
    if "no signals to others" not in landlock:
        missing |= SIGNALS
    return missing


@contextlib.contextmanager
def victim(user: int | None) -> Iterator[subprocess.Popen[bytes]]:
    """Another process of the same user."""
    prefix = as_user(user) if user is not None else []
    process = subprocess.Popen([*prefix, "sh", "-c", "echo; exec sleep 600"], stdout=-1)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.communicate()


@contextlib.contextmanager
def letterbox(path: Path) -> Iterator[socket.socket]:
    """For datagrams of whoever finds it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(path))
        path.chmod(0o666)
        listening.setblocking(False)
        yield listening


def intrude(
    folder: Path, library: Path, options: tuple[str, ...], user: int | None, prefix: list[str]
) -> Intrusion:
    """user: whose another process is; None: ours."""
    room = opened(folder)
    notes, anothers = room / "notes", room / "anothers"
    notes.write_bytes(bytes(mmap.PAGESIZE))
    notes.chmod(0o666)
    environment = {
        "LD_PRELOAD": str(library),
        "INTRUDER": str(notes),
        "INTRUDER_NAME": str(anothers),
        "NOTIFY_SOCKET": str(room / "manager"),
    }
    found = Intrusion()
    with (
        socket.create_server(("127.0.0.1", 0)) as outside,
        letterbox(room / "manager"),
        letterbox(anothers) as unasked,
        victim(user) as other,
    ):
        with running(notes.parent, *options, prefix=prefix, environment=environment) as server:
            with notes.open("r+b") as file:
                has_ring = any("uring" in option for option in options)
                file.write(struct.pack(HEAD, 0, 0, other.pid, outside.getsockname()[1], has_ring))
                file.seek(0)
                file.write(struct.pack("=i", 1))
            assert rows_of(server.ask(b"top 2\n"))
        told = notes.read_bytes()
        (_, count, *_) = struct.unpack_from(HEAD, told)
        for i in range(count):
            at = struct.calcsize(HEAD) + i * struct.calcsize(ATTEMPT)
            name, error = struct.unpack_from(ATTEMPT, told, at)
            found.errors[name.rstrip(b"\0").decode()] = error
        outside.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            outside.accept()[0].close()
            found.has_connected = True
        with contextlib.suppress(BlockingIOError):
            found.has_written = unasked.recv(100) == b"x"
        with contextlib.suppress(subprocess.TimeoutExpired):
            found.victim_ended_by = -other.wait(0)
    return found


def assert_kept_out(found: Intrusion, beyond: set[str]) -> None:
    assert len(found.errors) > 40
    assert found.successes() <= beyond, {
        name: os.strerror(found.errors[name]) for name in found.successes() - beyond
    }
    assert not found.has_connected
    assert not found.has_written
    if not beyond & SIGNALS:
        assert found.victim_ended_by is None


@pytest.mark.skipif(not IS_ROOT, reason="takes root")
def test_whoever_gets_into_a_server_that_root_started_gets_no_further(
    design: ListedDesign, intruder: Path, beyond: set[str], tmp_path: Path
) -> None:
    """Not even to what belongs to the user that it became."""
    options = ("--design", design.name, *design.workers(2), "--user", "nobody", "--sandbox", "on")
    assert_kept_out(intrude(tmp_path, intruder, options, NOBODY, []), beyond)


def test_whoever_gets_into_a_server_of_a_user_does_not_get_at_what_else_is_the_users(
    design: ListedDesign, intruder: Path, beyond: set[str], tmp_path: Path
) -> None:
    user = NOBODYS if IS_ROOT else None
    options = ("--design", design.name, *design.workers(2), "--sandbox", "on")
    prefix = as_user(NOBODYS) if IS_ROOT else []
    assert_kept_out(intrude(tmp_path, intruder, options, user, prefix), beyond)


PERHAPS_FORBIDDEN = {
    *("load_bpf", "make_a_map", "watch_events", "make_a_ring", "make_a_namespace"),
    *("trace_another", "read_memory", "write_memory", "read_memory_file", "write_memory_file"),
    *("send_by_a_ring", "make_tcp6", "map_code", "turn_data_into_code", "become_root"),
}
"""To everybody, or to all but root: by a container, or by the settings of a host."""


def test_all_that_is_refused_could_be_done_without_the_sandbox(
    intruder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And with a socket of datagrams, which it does not keep by itself."""
    monkeypatch.setenv("INTRUDER_DATAGRAMS", "1")
    options = ("--design", "epoll", "--sandbox", "off")
    found = intrude(tmp_path, intruder, options, None, [])
    failed = {name: os.strerror(error) for name, error in found.errors.items() if error != 0}
    assert set(failed) <= PERHAPS_FORBIDDEN, failed
    assert found.has_connected
    assert found.has_written
    assert found.victim_ended_by == signal.SIGUSR1
