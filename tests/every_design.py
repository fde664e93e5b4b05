"""Parametrization by design."""

import pytest

from tests.servers import runnable


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Runs a test with a `design` argument once for each design that this machine supports."""
    if "design" in metafunc.fixturenames:
        designs = runnable()
        assert designs, "none of the server's designs can run on this machine"
        metafunc.parametrize("design", designs, ids=lambda design: design.name, scope="module")
