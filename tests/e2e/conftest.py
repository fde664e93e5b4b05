"""Fixtures of the client tests: every engine, both dialects."""

from collections.abc import Iterator

import pytest

from tests.e2e.scripted_servers import DIALECTS, ENGINES
from tests.e2e.watched_hosts import Pair, two_servers


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Two servers, shared by the tests of a module."""
    with two_servers(tmp_path_factory.mktemp("pair")) as servers:
        yield servers
