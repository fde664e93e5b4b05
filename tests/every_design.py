"""Tests that run once for each design."""

import pytest

from tests.servers import runnable


def parametrize(metafunc: pytest.Metafunc) -> None:
    """A test that names `design` runs for each that this machine can run."""
    if "design" in metafunc.fixturenames:
        designs = runnable()
        assert designs, "none of the server's designs can run on this machine"
        metafunc.parametrize("design", designs, ids=lambda design: design.name, scope="module")
