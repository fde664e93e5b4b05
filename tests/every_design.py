"""Tests of every design: parametrized by design, or of all at once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.servers import ListedDesign, runnable


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Runs a test with a `design` argument once for each design that this machine supports."""
    if "design" in metafunc.fixturenames:
        designs = runnable()
        assert designs, "none of the server's designs can run on this machine"
        metafunc.parametrize("design", designs, ids=lambda design: design.name, scope="module")


def all_at_once(check: Callable[[ListedDesign, Path], object], folder: Path) -> None:
    """Runs a check that mostly waits, for each design in a folder of its own, and names the designs
    that fail."""

    def check_named(design: ListedDesign) -> str:
        (place := folder / design.name).mkdir()
        try:
            check(design, place)
        except Exception as error:  # noqa: BLE001  (of any kind: it is shown)
            return f"{design.name}: {type(error).__name__}: {error}"
        return ""

    designs = runnable()
    with ThreadPoolExecutor(len(designs)) as pool:
        failed = [failure for failure in pool.map(check_named, designs) if failure]
    assert not failed, "\n".join(failed)
