"""What the tests of the client share: each runs with every engine, and in both dialects."""

from collections.abc import Iterator

import pytest

from tests.e2e.scripted import DIALECTS, ENGINES
from tests.e2e.watching import Pair, two_servers


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Two servers that no test stops."""
    with two_servers(tmp_path_factory.mktemp("pair")) as servers:
        yield servers
