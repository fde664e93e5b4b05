"""An open load that two clients on hosts with different clocks share."""

import json
from pathlib import Path

import numpy as np
import pytest

from regatta.record.read import read
from regatta.record.samples import all_samples
from regatta.record.schema import FILE_NAME
from tests.e2e.racing import study
from tests.ledgers import rows
from tests.namespaces import AWAY_S
from tests.pooled_loads import assert_one_load

NEAR_NS, BUSY_NS = 50e6, 5e9
"""How well clocks are known, and how far apart clients begin: the race's own limit is 1 ms, but the
last attempt on a busy machine may miss that. Far less than the 5,000 s between the clocks."""
LOAD = """
[[cells]]
designs = ["epoll"]
connections = [5]
work = "snapshot"
load = "open"
rate = 600
duration_s = 0.5
"""


def shared_load(placement: str) -> str:
    """A study of two trials of 300 requests."""
    return study(placement + LOAD, counted_blocks=1, slices=2)


def assert_shared(out: Path, *clients: str) -> None:
    """`clients`: the names of their hosts, the second and the third of the network."""
    trials = read(out / FILE_NAME).trials
    assert [trial.status for trial in trials if not trial.superseded] == ["ok", "ok"]
    for trial in trials:
        assert trial.client is not None
        parts = trial.client["clients"]
        assert [part["host"] for part in parts] == list(clients)
        assert [part["connections"] for part in parts] == [3, 2]
        assert sum(part["requests"] for part in parts) + trial.unstarted == 300
        # Their clocks are 5,000 s apart, the common start is not.
        assert 0 < max(part["clock_bound_ns"] for part in parts) < NEAR_NS
        assert trial.start_skew_ns < BUSY_NS
        starts = np.sort(all_samples(trial.samples)["start_ns"])
        assert starts[-1] - starts[0] < 60e9
        assert trial.window_ns is not None
        assert trial.window_ns < 60e9
    for (text,) in rows(out, "SELECT client FROM trial"):
        ahead = [client["clock_offset_ns"] for client in json.loads(text)["clients"]]
        assert ahead == [pytest.approx(away * AWAY_S * 1e9, abs=NEAR_NS) for away in (1, 2)]
    assert_one_load(out, clients=len(clients))
    assert "clients shared each load, and used at most" in (out / "report.html").read_text()
