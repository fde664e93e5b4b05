"""Scans and replies against /proc, for every source of the server and for the work `classic`.

A test with a `source` or `scanner` argument runs once for each. Tests of a source that is not
available here are skipped with the reason."""

from collections.abc import Iterator

import pytest

from tests.truth.programs import CLASSIC, CannotOpenError, Scanner, scanning, sources


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "source" in metafunc.fixturenames:
        metafunc.parametrize("source", (*sources(), CLASSIC), scope="session")


@pytest.fixture(scope="session")
def scanner(source: str) -> Iterator[Scanner]:
    """The source, open during all tests, so that its caches are tested too."""
    try:
        with scanning(source) as started:
            yield started
    except CannotOpenError as error:
        pytest.skip(f"the source {source} is not available here: {error}")
