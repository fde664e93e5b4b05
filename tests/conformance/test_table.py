"""The table of designs, including those that this machine does not support."""

import pytest

from tests.commands import assert_refused, run
from tests.servers import ListedDesign, program, runnable, table


@pytest.mark.parametrize("listed", table(), ids=lambda listed: listed.name)
def test_an_unsupported_design_is_refused_with_the_reason(listed: ListedDesign) -> None:
    if listed.missing is None:
        assert listed in runnable()
        return
    done = run(program("regatta-server"), "--design", listed.name, "--listen", "127.0.0.1:0")
    assert done.returncode == 1
    assert done.stderr == f"regatta-server: --design {listed.name}: {listed.missing}\n"
    pytest.skip(f"{listed.name} is not tested here: {listed.missing}")


def test_only_a_pool_takes_workers(design: ListedDesign) -> None:
    assert design.serves in ("one", "workers", "all")
    assert design.pool or design.serves != "workers"
    if not design.pool:
        done = run(program("regatta-server"), "--design", design.name, "--workers", "2")
        assert_refused(done)
        assert "no pool of workers" in done.stderr
