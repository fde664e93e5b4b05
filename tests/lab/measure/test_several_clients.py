"""Clients that share a load: their shares, their clocks, their samples, their one summary."""

import math
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regatta.errors import StudyError, TrialError
from regatta.measure.accounts import whole_cpu
from regatta.measure.accounts.disturbance import Others, others_between
from regatta.measure.accounts.whole_cpu import WholeCpu
from regatta.measure.places import placement
from regatta.measure.places.hosts.peers import fastest, offset_of
from regatta.measure.places.side import SidePlacement
from regatta.measure.places.sides import ClockOffset, share_cpus
from regatta.measure.trial.load import shared
from regatta.measure.trial.merge import (
    ClientStart,
    began_apart,
    latency_of,
    merge_one,
    pool_clients,
    with_samples,
)
from regatta.measure.trial.side import Side
from regatta.measure.trial.trial import run_side_by_side
from regatta.record.records import COUNTED_TRIAL, Trial
from regatta.record.samples import (
    SAMPLE,
    all_samples,
    answered_samples,
    join_samples,
    pack_samples,
    shift_samples,
)
from tests.lab import fake_races
from tests.processes import marked

CELL = fake_races.parse(fake_races.TINY).cells[0]
MS = 1_000_000
Records = list[tuple[int, int, int]]
RECORDS = st.lists(
    st.tuples(st.integers(1, 2**40), st.integers(0, 2**30), st.integers(0, 99)), max_size=30
)


@given(
    clients=st.integers(1, 64),
    connections=st.integers(1, 1000),
    rate=st.none() | st.integers(1, 10**6),
    beside=st.integers(0, 1000),
)
def test_the_shares_of_a_load_are_the_load(
    clients: int, connections: int, rate: int | None, beside: int
) -> None:
    cell = replace(CELL, connections=connections, rate=rate, idle=beside, slow=beside // 2)
    parts = shared(cell, clients)
    assert len(parts) == min(clients, connections, rate or clients)
    for name in ("connections", "idle", "slow") if rate is None else ("connections", "rate"):
        of_each = [getattr(part, name) for part in parts]
        assert sum(of_each) == getattr(cell, name)
        assert max(of_each) - min(of_each) <= 1
    assert min(part.connections for part in parts) >= 1


@pytest.mark.parametrize(
    ("cpus", "count", "shares"),
    [
        ([1, 2, 3], 3, [(1,), (2,), (3,)]),
        ([1, 2, 3, 4, 5], 2, [(1, 3, 5), (2, 4)]),
        ([1, 2], 3, [(1,), (2,), (1,)]),
    ],
)
def test_clients_share_the_cpus_of_their_side(
    cpus: list[int], count: int, shares: list[tuple[int, ...]]
) -> None:
    assert share_cpus(cpus, count) == shares


@given(
    ahead_ns=st.integers(-(10**15), 10**15),
    ways=st.lists(st.tuples(*[st.integers(0, 10**8)] * 3), min_size=1, max_size=20),
)
def test_a_clock_is_never_further_off_than_its_bound_says(
    ahead_ns: int, ways: list[tuple[int, int, int]]
) -> None:
    asked = []
    for number, (there, kept, back) in enumerate(ways):
        sent = 10**9 * number
        came = sent - ahead_ns + there
        asked.append(offset_of(sent, came, came + kept, sent + there + kept + back))
    found = fastest(asked)
    assert abs(found.ns - ahead_ns) <= found.bound_ns + 1
    assert found.bound_ns == (min(there + back for there, _, back in ways) + 1) // 2


def file_of(records: Records, ahead_ns: int = 0) -> bytes:
    body = b"".join(
        struct.pack("<qqqIHH", start + ahead_ns, 0, start + took + ahead_ns, connection, 0, 0)
        for start, took, connection in records
    )
    return struct.pack("<8sIIQq", b"RGSAMPL1", 32, 0, len(records), 7) + body


@given(parts=st.lists(st.tuples(RECORDS, st.integers(-(10**12), 10**12)), min_size=1, max_size=8))
def test_pooled_percentiles_are_those_of_one_file_of_all_samples(
    parts: list[tuple[Records, int]],
) -> None:
    """Each client has connections from 0 and a clock of its own; the load has one of each."""
    parts = [(parts[0][0], 0), *parts[1:]]
    whole = [
        (start, took, connection + 100 * at)
        for at, (records, _) in enumerate(parts)
        for start, took, connection in records
    ]
    pooled = join_samples(
        [
            shift_samples(file_of(one, ahead_ns), ahead_ns, 100 * at)
            for at, (one, ahead_ns) in enumerate(parts)
        ]
    )
    assert pooled == file_of(whole)
    answered = answered_samples(pack_samples(pooled))
    found = answered["end_ns"] - answered["start_ns"]
    assert found.tolist() == [took for _, took, _ in whole]


def summary(**more: object) -> dict[str, Any]:
    usage = dict.fromkeys(("user_ns", "system_ns"), 5)
    late = {"p99": 300, "over": {}}
    return {
        **{"load": "open", "rate_per_s": 100, "connections": 5, "requests": 50, "answered": 50},
        **{"unstarted": 0, "began_ns": 1000 * MS, "elapsed_ns": 500 * MS, "cpu_share": 0.5},
        **{"client_bound": None, "late_ns": late, "errors": {"timeout": 0}},
        **{"usage": {"self": usage, "children": usage}},
        **more,
    }


def test_what_several_did_at_once_is_one_load() -> None:
    ahead = 77_000 * MS
    pooled = pool_clients(
        [
            summary(),
            summary(
                began_ns=1002 * MS + ahead,
                requests=70,
                answered=69,
                errors={"timeout": 1},
                client_bound="used 93 % of its CPU",
                cpu_share=0.93,
                late_ns={"p99": None, "over": {"p99": 900}},
            ),
        ],
        [
            ClientStart("a", (1,), 999 * MS, ClockOffset()),
            ClientStart("b", (1,), 999 * MS + ahead, ClockOffset(ahead, 40)),
        ],
    )
    assert (pooled["rate_per_s"], pooled["connections"]) == (200, 10)
    assert (pooled["requests"], pooled["answered"], pooled["errors"]) == (120, 119, {"timeout": 1})
    records = np.zeros(121, SAMPLE)
    records["start_ns"], records["end_ns"] = 1000 * MS, 1100 * MS
    records["end_ns"][7], records["error"][7] = 1502 * MS, 2
    records["start_ns"][9], records["end_ns"][9], records["error"][9] = 1, 9000 * MS, 6
    whole = with_samples(pooled, records)
    assert whole["elapsed_ns"] == 502 * MS, "of what was started, by one clock"
    assert whole["throughput_per_s"] == pytest.approx(119 / 0.502)
    assert pooled["client_bound"] == "used 93 % of its CPU (client 2 of 2)"
    assert pooled["usage"]["self"]["user_ns"] == 10
    assert pooled["start_skew_ns"] == 2 * MS
    assert (began_apart(pooled) or "").startswith("its clients began up to 2.0 ms apart")
    near = {**pooled, "start_skew_ns": MS - 50}
    assert began_apart(near) is None
    near["clients"][0]["clock_bound_ns"] = 20  # and 40: together more than is left
    assert began_apart(near) is not None
    assert began_apart(summary()) is None, "one client begins with itself"
    pooled["clients"][0]["clock_bound_ns"] = 0
    assert [one["host"] for one in pooled["clients"]] == ["a", "b"]
    assert [one["clock_bound_ns"] for one in pooled["clients"]] == [0, 40]
    assert [one["clock_offset_ns"] for one in pooled["clients"]] == [0, ahead]
    with pytest.raises(TrialError, match="a client's JSON lacks"):
        pool_clients([summary(), {"load": "open"}], [ClientStart("", (1,), 0, ClockOffset())] * 2)


def test_the_offset_is_of_the_slice_whose_bound_is_kept() -> None:
    starts = [
        [ClientStart(host, (1,), 999 * MS, ClockOffset(ns, bound)) for host in ("a", "b")]
        for ns, bound in ((5, 10), (-7, 30), (90, 20))
    ]
    rows = [pool_clients([summary(), summary()], of_slice)["clients"][0] for of_slice in starts]
    merged = merge_one(rows, [1, 1, 1])
    assert (merged["clock_offset_ns"], merged["clock_bound_ns"]) == (-7, 30)


def test_clients_on_one_cpu_are_the_limit_together() -> None:
    halves = [summary(), summary(cpu_share=0.45)]
    shared_cpu = [ClientStart("", (1,), 0, ClockOffset())] * 2
    pooled = pool_clients(halves, shared_cpu)
    assert pooled["cpu_share"] == pytest.approx(0.95)
    assert pooled["client_bound"] == "used 95 % of a CPU that several clients share"
    short = [{**one, "elapsed_ns": MS} for one in halves]
    assert pool_clients(short, shared_cpu)["client_bound"] is None, "too short to tell"
    for own in ([("", (1,)), ("", (2,))], [("a", (1,)), ("b", (1,))]):
        apart = pool_clients(halves, [ClientStart(*place, 0, ClockOffset()) for place in own])
        assert apart["client_bound"] is None
        assert apart["cpu_share"] == pytest.approx(0.5), "the busiest: it is the limit first"


@given(
    known=st.lists(st.integers(1, 10**9), max_size=300),
    timed_out=st.lists(st.integers(1, 10**9), max_size=9),
    unstarted=st.lists(st.integers(1, 10**9), max_size=9),
)
def test_the_p99_of_a_pool_is_the_clients_own_by_its_own_rule(
    known: list[int], timed_out: list[int], unstarted: list[int]
) -> None:
    """src/client/results/percentile.h, for one client: nearest rank, what has no end comes last."""
    rows = [
        (took, error)
        for error, list_ in ((0, known), (2, timed_out), (6, unstarted))
        for took in list_
    ]
    if not rows:
        return
    records = np.zeros(len(rows), SAMPLE)
    records["end_ns"], records["error"] = zip(*rows, strict=True)
    last = sorted(timed_out + unstarted)
    rank = math.ceil(0.99 * len(rows))
    found = latency_of(records)
    if rank <= len(known):
        assert found == {"p99": sorted(known)[rank - 1], "over": {}}
    else:
        assert found == {"p99": None, "over": {"p99": sorted(known + last)[rank - 1]}}


def race_of_three(tmp_path: Path, slices: int = 1) -> Trial:
    study = fake_races.parse(
        fake_races.TINY.replace("client_cpus = [0]", "client_cpus = [0]\nclients = 3")
    )
    assert study.client_count == 3
    with placement.make_placement("loopback", [0], [0]) as place:
        place.client_count = study.client_count
        setup = fake_races.trial_setup(tmp_path, place)
        return run_side_by_side(setup, [study.cells[0]], COUNTED_TRIAL, 0, slices)[0]


@pytest.mark.usefixtures("programs_folder")
@pytest.mark.parametrize("slices", [1, 2])
def test_three_clients_are_one_trial(tmp_path: Path, slices: int) -> None:
    result = race_of_three(tmp_path, slices=slices)
    assert (result.status, result.reason) == ("ok", None)
    assert (result.requests, result.answered) == (6, 6)
    assert len(answered_samples(result.samples)) == 6
    assert sorted({int(one) for one in all_samples(result.samples)["connection"]}) == [0, 1, 2]
    assert result.client
    assert [one["requests"] for one in result.client["clients"]] == [2, 2, 2]
    assert result.client["start_skew_ns"] >= 0
    used = result.counters["client", "kernel", "user-time"]
    assert used.value == 6000 * slices, "of three clients, itself and its children"


@pytest.mark.parametrize(
    ("told_ms", "watched_ms"),
    [(0, 510), (100, 510), (245, 750)],
    ids=["at once", "in time", "too late to start again"],
)
def test_a_side_watches_from_shortly_before_the_common_start(
    told_ms: int, watched_ms: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`told_ms`: how long after the opening it learns of a start 250 ms after the opening."""
    now_ns = 10**12

    def wait(seconds: float) -> None:
        nonlocal now_ns
        now_ns += round(seconds * 1e9)

    monkeypatch.setattr("time.monotonic_ns", lambda: now_ns)
    monkeypatch.setattr("time.sleep", wait)
    side = Side(SidePlacement((), (0,)), "client", tmp_path)
    side.open(WholeCpu(whole_cpu.STAT, client=(0,)))
    wait(told_ms / 1000)
    side.watch_from(10**12 + 250 * MS)
    now_ns = 10**12 + 750 * MS
    assert side.close().others.length_ns == watched_ms * MS


@pytest.mark.usefixtures("programs_folder")
def test_the_time_before_the_common_start_is_not_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths_ns = []

    def noted(*args: Any) -> Others:
        lengths_ns.append(others_between(*args).length_ns)
        return Others(length_ns=lengths_ns[-1])

    monkeypatch.setattr("regatta.measure.accounts.disturbance.others_between", noted)
    monkeypatch.setattr("regatta.measure.places.sides.SOON_NS", 3000 * MS)
    assert race_of_three(tmp_path).status == "ok"
    assert 0 < max(lengths_ns) < 2000 * MS


@pytest.mark.usefixtures("programs_folder")
@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("client-dies", "the client-1 exited before it was done: out of luck"),
        ("client-misses-one", "3 of 6 requests failed (3 timeout)"),
        ("client-never-done", "the client-1 was not done within 2 s"),
    ],
)
def test_a_failure_of_one_client_is_reported_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, reason: str
) -> None:
    monkeypatch.setenv("FAKE", fault)
    if fault == "client-never-done":
        monkeypatch.setattr("regatta.measure.trial.measure.load_timeout_s", lambda _: 2)
    result = race_of_three(tmp_path)
    assert result.status == "failed"
    assert reason in (result.reason or "")
    assert marked(tmp_path) == []


def test_a_whole_process_is_counted_with_one_client(tmp_path: Path) -> None:
    whole = fake_races.TINY.replace("client_cpus = [0]", "client_cpus = [0]\nclients = 3")
    study = fake_races.parse(f'{whole}\nscope = "process"\nrounds = 1'.replace("requests = 6", ""))
    with pytest.raises(StudyError, match="remove `placement.clients`"):
        fake_races.race(study, tmp_path)
