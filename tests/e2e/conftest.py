"""What the tests of the client share: each runs with every engine, and in both dialects."""

from __future__ import annotations

import pytest

from tests.e2e.scripted import DIALECTS, ENGINES


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> str:
    return str(request.param)
