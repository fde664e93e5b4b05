"""The conformance suite: every design that the server lists must pass every test here.

A test that names `design`, `server` or `start` runs once for each design that this machine can run;
one that names `dialect` runs once for each dialect."""

import resource
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests import every_design
from tests.dialects import DIALECTS
from tests.processes import sleepers
from tests.servers import ListedDesign, RunningServer, Start, running, table

DESCRIPTORS = 4096
"""What the tests themselves may need: a crowd of a thousand, and room."""

cases = pytest.StashKey[Counter[str]]()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    every_design.parametrize(metafunc)
    if "dialect" in metafunc.fixturenames:
        metafunc.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)


def pytest_collection_finish(session: pytest.Session) -> None:
    session.config.stash[cases] = Counter(
        item.callspec.params["design"].name
        for item in session.items
        if isinstance(
            getattr(item, "callspec", None) and item.callspec.params.get("design"), ListedDesign
        )
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many cases each design had to pass, and which designs could not be tested, and why."""
    counted = terminalreporter.config.stash.get(cases, Counter())
    if counted:
        terminalreporter.section("conformance")
        for design in table():
            told = f"{counted[design.name]} cases" if not design.missing else design.missing
            terminalreporter.write_line(f"{design.name:18} {told}")
        terminalreporter.write_line(f"{'all designs':18} {counted.total()} cases")


@pytest.fixture(scope="session", autouse=True)
def _descriptors() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert hard >= DESCRIPTORS, f"the tests need `ulimit -Hn` of {DESCRIPTORS}; it is {hard}"
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, DESCRIPTORS), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture(scope="session", autouse=True)
def _processes() -> Iterator[None]:
    """As many as a test may ask for: a container may hold none but the tests and their server."""
    with sleepers(8):
        yield


@pytest.fixture(scope="module")
def many_processes() -> Iterator[None]:
    """As many as a reply can name at most."""
    with sleepers(64):
        yield


@pytest.fixture(scope="module")
def server(
    design: ListedDesign, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    """A server of the design, shared by the tests of one file: none may leave it harmed."""
    folder = tmp_path_factory.mktemp(design.name)
    with running(
        folder, "--design", design.name, "--work", "snapshot", "--max-age", "0"
    ) as started:
        yield started


@pytest.fixture
def start(design: ListedDesign, tmp_path: Path) -> Iterator[Start]:
    """Starts a server of the design with options of the test's own."""
    with ExitStack() as stack:

        def start_one(*options: str, **settings: object) -> RunningServer:
            return stack.enter_context(
                running(tmp_path, "--design", design.name, *options, **settings)
            )

        yield start_one
