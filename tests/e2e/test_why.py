"""`--why` with the real programs: sampled trials, and what they leave out where perf may not."""

import os
from pathlib import Path

import pytest

from regatta.measure.perf import probe
from regatta.record.activities import ACTIVITIES, IDLE, OTHERS
from tests.commands import run_well
from tests.e2e.racing import environment, needs_programs, race, regatta, study
from tests.ledgers import rows

CELLS = """
[[cells]]
designs = ["epoll", "thread-per-client"]
connections = 10
work = "snapshot"
load = "open"
rate = 500
per_connection = 1
duration_s = 1
"""
SAMPLES = "SELECT event, value FROM counter WHERE origin = 'samples' AND trial_id = "

pytestmark = needs_programs


@pytest.mark.skipif(probe(()).no_samples is not None, reason="perf may not sample here")
def test_only_sampled_trials_have_activities(tmp_path: Path) -> None:
    out = race(tmp_path, study(CELLS, sampled_blocks=1, slices=2))
    assert not rows(out, f"{SAMPLES} (SELECT max(id) FROM trial WHERE kind = 'timed')")
    trials = rows(out, "SELECT trial.id, window_ns FROM trial WHERE kind = 'sampled'")
    assert len(trials) == 2
    for trial, window_ns in trials:
        found = dict(rows(out, f"{SAMPLES} {trial}"))
        assert {path.partition(";")[0] for path in found} <= {*ACTIVITIES, IDLE, OTHERS}
        assert found.keys() & {"system calls;accept4", "system calls;close"}, found
        # Whole CPUs, idle or not. A busy host keeps a virtual one from some of its samples.
        assert 0.3 < sum(found.values()) / window_ns < len(os.sched_getaffinity(0)) + 0.3
    shown = run_well(*regatta("report", str(out), "--explain"), env=environment())
    assert "what a request's CPU time is spent on" in shown


def test_without_perf_a_sampled_trial_has_the_kernels_accounts(tmp_path: Path) -> None:
    out = race(tmp_path, study(CELLS, sampled_blocks=1), "--no-perf")
    assert rows(out, "SELECT count(*) FROM trial WHERE kind = 'sampled' AND status = 'ok'") == [
        (2,)
    ]
    assert rows(out, "SELECT count(*) FROM counter WHERE origin = 'samples'") == [(0,)]
