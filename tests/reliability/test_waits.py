"""A wait that fails for long."""

from pathlib import Path

from tests.processes import tree
from tests.reliability.injection import Fault, attached
from tests.servers import PATIENCE_S, running


def test_a_loop_that_can_wait_no_more_says_so_and_ends(tmp_path: Path) -> None:
    """Some seconds later: a shortage may pass."""
    with running(tmp_path, "--design", "poll") as server:
        with attached(tree(server.process.pid), tmp_path, Fault("poll", "ENOMEM")) as trace:
            server.connect().close()  # it wakes, and waits again
            said = server.process.communicate(timeout=PATIENCE_S)[1].decode()
        server.is_over = True
    assert trace.injections > 1
    assert server.process.returncode == 1
    assert said.splitlines()[-1] == "regatta-server: poll: Cannot allocate memory"
