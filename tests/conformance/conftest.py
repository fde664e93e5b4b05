"""The conformance suite: every design that the server lists must pass every test here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.servers import Server, designs, running


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "design" in metafunc.fixturenames:
        metafunc.parametrize("design", designs(), scope="module")


@pytest.fixture(scope="module")
def server(design: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of the design, shared by the tests of one file: none may leave it harmed."""
    folder = tmp_path_factory.mktemp(design)
    with running(folder, "--design", design, "--work", "snapshot", "--max-age", "0") as started:
        yield started


@pytest.fixture
def start(design: str, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts a server of the design with options of the test's own."""
    with ExitStack() as stack:

        def start_one(*options: str, **settings: int) -> Server:
            return stack.enter_context(
                running(tmp_path, "--design", design, *options, **settings)  # type: ignore[arg-type]
            )

        yield start_one
