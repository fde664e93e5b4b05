"""Where a request's time goes, from made-up traces of which that is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from regatta.errors import LedgerError, TrialError
from regatta.measure.accounts.requests import (
    ACCEPTED,
    CONNECTED,
    EVENT,
    LOST,
    MOST_REQUESTS,
    REACHED,
    RECEIVED,
    SENT,
    SWITCH,
    WAKEUP,
    traced,
)
from regatta.record.recordings import (
    BLOCKED,
    ON_THE_WAY,
    QUEUED,
    RUNNABLE,
    RUNNING,
    STAGES,
    Requests,
    pack_requests,
    unpack_requests,
)

CLIENT, SERVER, WORKER, OTHER = 10, 20, 21, 30
Event = tuple[int, int, int, int, int, int, int, int, int, int, bytes]


def event(kind: int, at: int, task: int = 0, **more: int) -> Event:
    known = dict.fromkeys(("began", "socket", "client", "next", "length", "flag"), 0) | more
    before = (known["began"], known["socket"], known["client"], task, known["next"])
    name = {CLIENT: b"client", OTHER: b"cron"}.get(known["next"], b"a server")
    return (at, *before, known["length"], more.get("cpu", 0), kind, known["flag"], name)


def switch(at: int, before: int, after: int, could_run: bool = False, cpu: int = 0) -> Event:
    return event(SWITCH, at, before, next=after, flag=int(could_run), cpu=cpu)


def wakeup(at: int, task: int, is_first: bool = False) -> Event:
    return event(WAKEUP, at, next=task, flag=int(is_first))


def sent(at: int, task: int = CLIENT, client: int = 1, began: int = 0) -> Event:
    of = {"client": client, "socket": client, "flag": int(task == CLIENT), "length": 9}
    return event(SENT, at, task, began=began, **of)


def received(at: int, task: int = SERVER, client: int = 1) -> Event:
    of = {"client": client, "socket": client, "flag": int(task == CLIENT), "length": 9}
    return event(RECEIVED, at, task, **of)


def reached(at: int, is_client: bool = False, client: int = 1) -> Event:
    return event(REACHED, at, client=client, flag=int(is_client), length=9)


def found(*events: Event) -> Requests:
    return unpack_requests(traced(np.array(list(events), EVENT), connects=True))


def stages(*events: Event) -> dict[str, int]:
    """Of the only request."""
    (spent,) = found(*events).spent
    return {stage: ns for stage, ns in zip(STAGES, spent, strict=True) if ns}


ASLEEP = (
    *(sent(1020, began=1000), reached(1010), wakeup(1011, SERVER), switch(1015, 0, SERVER)),
    *(received(1030), reached(1050, is_client=True), sent(1060, SERVER), received(1070, CLIENT)),
)
"""A server that slept, on a network without delay: packets arrive within the sender's call."""


def test_a_request_to_a_server_that_sleeps() -> None:
    assert stages(*ASLEEP) == {ON_THE_WAY: 10 + 20, QUEUED: 1, RUNNABLE: 4, RUNNING: 15 + 20}
    assert stages(*reversed(ASLEEP)) == stages(*ASLEEP)


def test_a_request_on_a_new_connection_begins_with_it() -> None:
    connects = event(CONNECTED, 900, CLIENT, socket=1)
    assert stages(connects, *ASLEEP)[ON_THE_WAY] == 100 + 10 + 20
    in_advance = traced(np.array([connects, *ASLEEP], EVENT), connects=False)
    assert unpack_requests(in_advance) == found(*ASLEEP)


def test_it_waits_behind_others_that_its_task_serves() -> None:
    loop = (received(1012, client=2), sent(1040, SERVER, client=2))
    read, answered = (received(1050), reached(1070, is_client=True))
    spent = stages(switch(900, 0, SERVER), sent(1000), reached(1010), *loop, read, answered,
                   sent(1071, SERVER), received(1080, CLIENT))  # fmt: skip
    assert spent == {ON_THE_WAY: 10 + 10, QUEUED: 30, RUNNING: 10 + 20}


@pytest.mark.parametrize(("could_run", "stage"), [(True, RUNNABLE), (False, BLOCKED)])
def test_its_task_is_kept_from_running_after_it_has_read(could_run: bool, stage: str) -> None:
    spent = stages(
        switch(900, 0, SERVER), sent(1000), reached(1010), received(1020),
        switch(1025, SERVER, OTHER, could_run), switch(1075, OTHER, SERVER, could_run=True),
        reached(1090, is_client=True), sent(1091, SERVER), received(1100, CLIENT),
    )  # fmt: skip
    assert spent == {ON_THE_WAY: 10 + 10, RUNNING: 10 + 5 + 15, stage: 50}


def test_a_request_that_another_task_answers() -> None:
    """The worker has slept until the request was handed over."""
    spent = stages(
        switch(900, 0, SERVER), sent(1000), reached(1010), received(1020),
        wakeup(1030, WORKER), switch(1040, SERVER, WORKER),
        reached(1060, is_client=True), sent(1061, WORKER), received(1070, CLIENT),
    )  # fmt: skip
    assert spent == {ON_THE_WAY: 20, RUNNING: 10 + 20, BLOCKED: 10, RUNNABLE: 10}


def test_a_loop_that_waits_for_a_database_though_it_serves_others_meanwhile() -> None:
    spent = stages(
        switch(900, 0, SERVER), sent(1000), reached(1010), received(1020),
        switch(1025, SERVER, 0), wakeup(1074, SERVER), switch(1075, 0, SERVER),
        received(1080, client=2), reached(1090, is_client=True), sent(1091, SERVER),
        received(1100, CLIENT),
    )  # fmt: skip
    assert spent == {ON_THE_WAY: 10 + 10, RUNNING: 10 + 10, BLOCKED: 49, QUEUED: 5 + 1 + 5}


def test_who_starts_the_task_that_serves_works_for_the_request() -> None:
    accepted = event(ACCEPTED, 1020, SERVER, client=1)
    spent = stages(
        switch(900, 0, SERVER), sent(1000), reached(1010), accepted,
        wakeup(1060, WORKER, is_first=True), switch(1065, SERVER, WORKER),
        received(1070, WORKER), reached(1080, is_client=True), sent(1081, WORKER),
        received(1090, CLIENT),
    )  # fmt: skip
    assert spent == {ON_THE_WAY: 10 + 10, RUNNING: 10 + 40 + 15, RUNNABLE: 5}


@pytest.mark.parametrize("by_another", [False, True])
def test_an_answer_whose_call_ends_when_the_client_has_asked_again(by_another: bool) -> None:
    """Even when another task has read that already."""
    reader = WORKER if by_another else SERVER
    late = sent(1065, SERVER, began=1040)
    events = [
        *(*ASLEEP[:-2], received(1052, CLIENT), sent(1055), reached(1058), late),
        *(wakeup(1060, WORKER), switch(1061, 0, WORKER, cpu=1), received(1064, reader)),
        *(reached(1090, is_client=True), sent(1091, reader), received(1100, CLIENT)),
    ]
    first, second = found(*events).spent
    assert dict(zip(STAGES, first, strict=True)) == {
        **{ON_THE_WAY: 10 + 2, QUEUED: 1, RUNNABLE: 4, RUNNING: 15 + 20, BLOCKED: 0}
    }
    assert dict(zip(STAGES, second, strict=True)) == {
        **{ON_THE_WAY: 3 + 10, QUEUED: 2 if by_another else 0, BLOCKED: 0},
        **{RUNNABLE: 1 if by_another else 0, RUNNING: 29 if by_another else 32},
    }


def test_a_timeline_shows_the_slowest_and_what_ran_meanwhile() -> None:
    events = [*ASLEEP, *(switch(at, 0, OTHER, cpu=1) for at in (1016, 2000))]
    slow = found(*events, *(sent(3000, client=2), reached(3001, client=2))).slowest
    assert [of.took_ns for of in slow] == [70]
    assert slow[0].stages[0] == [ON_THE_WAY, 0, 10]
    assert slow[0].serving == [f"a server {SERVER}"]
    assert slow[0].tasks == {
        f"a server {SERVER}": [[BLOCKED, 0, 11], [RUNNABLE, 11, 4], [RUNNING, 15, 55]],
        f"cron {OTHER}": [[BLOCKED, 0, 16], [RUNNING, 16, 54]],
    }


def test_a_task_does_not_run_on_when_the_kernel_leaves_out_an_event() -> None:
    """An interval of it is not known; but one CPU runs one task."""
    slow = found(switch(900, 0, OTHER), *ASLEEP).slowest[0]
    assert slow.tasks.keys() == {f"a server {SERVER}", f"cron {OTHER}"}
    assert slow.tasks[f"cron {OTHER}"] == [[RUNNING, 0, 15], [BLOCKED, 15, 55]]


@given(some.lists(some.integers(1, 40), min_size=6, max_size=60), some.data())
def test_stages_have_no_gap_and_add_up(steps: list[int], data: some.DataObject) -> None:
    """Of requests one after another, with any switches and wakeups in between."""
    at, events, took = 1000, [], []
    for step in steps:
        times = (at := at + step, at + 3, at + 7, at + 11, at + 12, at + 15)
        events += [
            *(sent(times[0]), reached(times[1]), received(times[2])),
            *(
                reached(times[3], is_client=True),
                sent(times[4], SERVER),
                received(times[5], CLIENT),
            ),
        ]
        took.append(15)
        at += 16
    tasks = some.sampled_from([0, SERVER, OTHER])
    for when in data.draw(some.lists(some.integers(990, at), max_size=30)):
        woken = data.draw(some.booleans())
        task = data.draw(tasks)
        events.append(
            wakeup(when, task) if woken else switch(when, task, data.draw(tasks), not when % 2)
        )
    requests = found(*events)
    assert [sum(spent) for spent in requests.spent] == took[:MOST_REQUESTS]
    assert all(ns >= 0 for spent in requests.spent for ns in spent)
    for slow in requests.slowest:
        ends = [start + length for _, start, length in slow.stages]
        assert [start for _, start, _ in slow.stages] == [0, *ends[:-1]]


def test_a_trace_that_cannot_be_used() -> None:
    with pytest.raises(TrialError, match="7 events had no room"):
        found(*ASLEEP, event(LOST, 0, length=7))
    with pytest.raises(TrialError, match="no whole request"):
        found(*ASLEEP[:-1])
    with pytest.raises(LedgerError, match="requests cannot be unpacked"):
        unpack_requests(b"x")


def test_requests_come_back_as_they_were_packed() -> None:
    requests = found(*ASLEEP)
    assert unpack_requests(pack_requests(requests)) == requests
