"""`--why` with the real programs: sampled trials, and what they leave out where perf may not."""

import json
import os
import re
from pathlib import Path

import pytest

from regatta.judge.activity import activity
from regatta.measure.perf import probe
from regatta.measure.trial.recorders import why_no_trace
from regatta.record.recordings import ACTIVITIES, IDLE, OTHERS, unpack_stacks
from tests.commands import run_well
from tests.e2e.racing import environment, needs_programs, race, regatta, study
from tests.ledgers import rows
from tests.servers import program

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

TRACE = Path(program("regatta-trace"))
CAN_TRACE = why_no_trace(TRACE if TRACE.exists() else None) is None

pytestmark = needs_programs


@pytest.mark.skipif(probe(()).no_samples is not None, reason="perf may not sample here")
def test_only_sampled_trials_have_activities(tmp_path: Path) -> None:
    out = race(tmp_path, study(CELLS, sampled_blocks=1, slices=2))
    kinds = {*rows(out, "SELECT kind, stacks IS NULL, traced IS NULL FROM trial")}
    followed = {("traced", 1, 0)} if CAN_TRACE else set()
    assert kinds == {("timed", 1, 1), ("sampled", 0, 1)} | followed
    for packed, window_ns in rows(
        out, "SELECT stacks, window_ns FROM trial WHERE kind = 'sampled'"
    ):
        found = unpack_stacks(packed)
        told = {activity(stack) for stack in found}
        assert {path.partition(";")[0] for path in told} <= {*ACTIVITIES, IDLE, OTHERS}
        assert told & {"system calls;accept4", "system calls;close"}, told
        # Whole CPUs, idle or not. A busy host keeps a virtual one from some of its samples.
        assert 0.3 < sum(found.values()) / window_ns < len(os.sched_getaffinity(0)) + 0.3
    profile = tmp_path / "profile.folded"
    words = ("report", str(out), "--explain", "--profile", str(profile))
    shown = run_well(*regatta(*words), env=environment())
    assert "what a request's CPU time is spent on" in shown
    assert ("Where a request's time goes" in shown) == CAN_TRACE
    lines = profile.read_text().splitlines()
    assert all(re.fullmatch(r"(?:[^;]+;)+[^;]+ [1-9]\d*", line) for line in lines)
    assert {line.partition(";")[0] for line in lines} == {"epoll", "thread-per-client"}


@pytest.mark.skipif(not CAN_TRACE, reason="requests cannot be followed here")
def test_the_slowest_requests_are_written_for_perfetto(tmp_path: Path) -> None:
    out = race(tmp_path, study(CELLS, sampled_blocks=1), "--no-perf")
    trace = tmp_path / "trace.json"
    run_well(*regatta("report", str(out), "--trace", str(trace)), env=environment())
    events = json.loads(trace.read_text())["traceEvents"]
    titles, tracks = (
        [event["args"]["name"] for event in events if event["name"] == kind]
        for kind in ("process_name", "thread_name")
    )
    assert len(titles) == 10
    assert {title.partition(": ")[0] for title in titles} == {"epoll", "thread-per-client"}
    assert tracks.count("the request") == 10
    assert sum(track.startswith("regatta-server ") for track in tracks) >= 10


def test_without_perf_a_sampled_trial_has_the_kernels_accounts(tmp_path: Path) -> None:
    out = race(tmp_path, study(CELLS, sampled_blocks=1), "--no-perf")
    assert rows(out, "SELECT count(*) FROM trial WHERE kind = 'sampled' AND status = 'ok'") == [
        (2,)
    ]
    assert rows(out, "SELECT count(stacks) FROM trial") == [(0,)]
