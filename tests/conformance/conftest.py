"""The conformance suite: every design that the server lists must pass every test here.

A test with a `design`, `server` or `start` argument runs once for each design that this machine
supports; one with a `dialect` argument runs once for each dialect."""

import resource
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests import every_design
from tests.dialects import DIALECTS
from tests.processes import sleepers
from tests.servers import ListedDesign, RunningServer, Start, running, starting

DESCRIPTORS = 4096
"""What the tests themselves need: a thousand connections, and some to spare."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    every_design.parametrize(metafunc)
    if "dialect" in metafunc.fixturenames:
        metafunc.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)


@pytest.fixture(scope="session", autouse=True)
def _descriptors() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert hard >= DESCRIPTORS, f"the tests need `ulimit -Hn` of {DESCRIPTORS}; it is {hard}"
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, DESCRIPTORS), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture(scope="session", autouse=True)
def _processes() -> Iterator[None]:
    """A container may run nothing but the tests and their server, too few for the replies."""
    with sleepers(8):
        yield


@pytest.fixture(scope="module")
def many_processes() -> Iterator[None]:
    """As many as a reply can list."""
    with sleepers(64):
        yield


@pytest.fixture
def small_buffers() -> Iterator[Callable[[], socket.socket]]:
    """Opens listeners for servers whose sends the kernel buffers only a little."""
    with ExitStack() as stack:

        def listen() -> socket.socket:
            listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
            return listener

        yield listen


@pytest.fixture(scope="module")
def server(
    design: ListedDesign, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    """A server of the design, shared by the tests of one file: they must leave it intact."""
    options = ("--design", design.name, "--work", "snapshot", "--max-age", "0")
    with running(tmp_path_factory.mktemp(design.name), *options) as started:
        yield started


@pytest.fixture
def start(design: ListedDesign, tmp_path: Path) -> Iterator[Start]:
    """Starts a server of the design with the test's own options."""
    with starting(tmp_path, "--design", design.name) as start_one:
        yield start_one
