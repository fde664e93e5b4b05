"""Where a request's time goes, as the report tells and draws it."""

import json
from pathlib import Path

import numpy as np
import pytest

from regatta.judge.analyse import analyse
from regatta.judge.anatomy import in_band
from regatta.judge.results import Analysis
from regatta.record.read import read
from regatta.record.recordings import QUEUED, RUNNING, STAGES
from regatta.show.build import view_of
from regatta.show.markdown import to_markdown
from regatta.show.requests import slowest_sentence, trace_events
from tests.lab import synthetic

WAITS = {
    "epoll": {QUEUED: 10.0, RUNNING: 50.0},
    "select": {QUEUED: 400.0, RUNNING: 50.0},
    "threads": {"blocked": 100.0},
}


def analysed(folder: Path, **changes: object) -> Analysis:
    race = synthetic.SyntheticRace(contenders=list(WAITS), connections=[1, 1000], waits_us=WAITS)
    return analyse(read(synthetic.make(folder / "race.sqlite", race, **changes)))


def new_folder(path: Path) -> Path:
    (path / "other").mkdir()
    return path / "other"


def test_the_bands_have_the_requests_around_their_percentile() -> None:
    spent = np.zeros((1000, len(STAGES)))
    spent[:, 0] = np.random.default_rng(1).permutation(1000)
    spent[:, 1] = 0.001 * spent[:, 0]
    near = in_band(spent, (45, 55))
    assert near["on the way"] == pytest.approx(499.5)
    assert near["in a queue"] == pytest.approx(0.4995)
    assert in_band(spent[:40], (98.5, 99.5)) == {}


def test_the_table_has_the_stages_at_the_last_step(tmp_path: Path) -> None:
    analysis = analysed(tmp_path)
    (group,) = analysis.groups
    found = group.time_spent
    assert set(found) == set(WAITS)
    assert found["select"].requests == 1000
    assert found["select"].at["p99"][QUEUED] > 1000 > found["select"].at["p50"][QUEUED] > 150
    assert found["threads"].at["p50"] == pytest.approx(
        {stage: 100 * 0.69 if stage == "blocked" else 0.0 for stage in STAGES}, rel=0.2
    )
    assert found["epoll"].cost == pytest.approx(1, abs=0.2)
    text = to_markdown(view_of(analysis))
    assert "Where a request's time goes" in text
    assert "| select, p99 |" in text
    assert analysed(new_folder(tmp_path), waits_us={}).groups[0].time_spent == {}


def test_the_slowest_request_is_told(tmp_path: Path) -> None:
    (group,) = analysed(tmp_path).groups
    said = slowest_sentence("select", group.time_spent["select"])
    took = f"{group.time_spent['select'].slowest[0].took_ns / 1e6:.3g}"
    assert said.startswith(f"The slowest of 1,000 requests to select took {took} ms: ")
    assert " ms in a queue" in said
    assert said.endswith("; meanwhile cron (" + said.rpartition("cron (")[2])


def test_a_trace_file_has_a_process_a_request_and_a_thread_a_task(tmp_path: Path) -> None:
    analysis = analysed(tmp_path)
    found = json.loads(trace_events(analysis))
    assert found["displayTimeUnit"] == "ns"
    names = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in found["traceEvents"]
        if event["name"] == "thread_name"
    }
    assert sorted({name for _, name in names.items()}) == ["cron 30", "server 20", "the request"]
    spans = [event for event in found["traceEvents"] if event["ph"] == "X"]
    assert {(event["pid"], event["tid"]) for event in spans} <= set(names)
    of_request = [event for event in spans if names[event["pid"], event["tid"]] == "the request"]
    (group,) = analysis.groups
    slowest = sum(of.slowest[0].took_ns for of in group.time_spent.values())
    assert sum(event["dur"] + 0.001 for event in of_request) == pytest.approx(slowest / 1e3)
    for before, after in zip(of_request, of_request[1:], strict=False):
        if before["pid"] == after["pid"]:
            assert before["ts"] + before["dur"] < after["ts"]
    assert all(event["dur"] >= 0 and event["ts"] >= 0 for event in spans)
    assert trace_events(analysed(new_folder(tmp_path), waits_us={})) == ""
