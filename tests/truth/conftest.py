"""Answers against /proc, for every source that the server knows, and for the work `classic`.

A test that names `source` or `scanner` runs once for each; where one cannot be had on a machine its
tests are skipped, and say why."""

from collections.abc import Iterator

import pytest

from tests.truth.programs import CLASSIC, CannotOpenError, Scanner, scanning, sources


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "source" in metafunc.fixturenames:
        metafunc.parametrize("source", (*sources(), CLASSIC), scope="session")


@pytest.fixture(scope="session")
def scanner(source: str) -> Iterator[Scanner]:
    """The source, open for as long as the tests run: what it keeps from scan to scan is theirs."""
    try:
        with scanning(source) as started:
            yield started
    except CannotOpenError as error:
        pytest.skip(f"the source {source} cannot be had here: {error}")
