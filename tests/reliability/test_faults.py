"""System calls that fail with any error of the manual, while a server starts, serves or stops.
strace injects the faults; docs/reliability.md says how to repeat a case.

While it serves it has 40 clients. Afterwards it must have no more processes, threads, descriptors
and memory than before, answer ten of ten requests, and exit with status 0."""

from pathlib import Path

import pytest

from tests.processes import tree
from tests.reliability.cases import is_wanted, kinds, moments, unknown
from tests.reliability.ends import calls_of_start, start, stop
from tests.reliability.injection import NONE, Fault, Tally, attached
from tests.reliability.serving_faults import SHORT_S, endure_all, serving
from tests.servers import PATIENCE_S, ListedDesign, read_reply, rows_of, running
from tests.waiting import wait_until

A_FEW = (
    ("accept4", "EMFILE"),
    ("epoll_ctl", "ENOSPC"),
    ("epoll_wait", "EINTR"),
    ("flock", "ENOLCK"),
    ("io_uring_enter", "EBUSY"),
    ("openat", "ENFILE"),
    ("poll", "ENOMEM"),
    ("pselect6", "ENOMEM"),
    ("recvfrom", "ENOMEM"),
    ("recvmsg", "ENOMEM"),
    ("sendmsg", "ENOBUFS"),
    ("sendto", "ENOBUFS"),
    ("write", "EAGAIN"),
)


def test_calls_that_fail_once_harm_no_later_client(
    design: ListedDesign, tmp_path: Path, tally: Tally
) -> None:
    with serving(design, tmp_path) as tested:
        usual = tested.calls(SHORT_S)
    faults = [Fault(call, error, "1") for call, error in A_FEW if call in usual]
    tally.kinds = len(faults)
    endure_all(design, tmp_path, faults, tally)
    assert tally.failures == []
    assert tally.tried > 0


def test_a_request_whose_event_was_of_no_use_is_read_at_the_deadline(tmp_path: Path) -> None:
    """Edge-triggered, no other event comes."""
    options = ("--design", "epoll-edge", "--idle-timeout", "500")
    with running(tmp_path, *options) as server, server.connect() as client:
        client.sendall(b"top 2\n")
        rows_of(read_reply(client))
        with attached([server.process.pid], tmp_path, Fault("recvfrom", "EAGAIN", "1")) as trace:
            client.sendall(b"top 2\n")
            wait_until(lambda: trace.injections == 1, "no call fails")
        rows_of(read_reply(client))


@pytest.mark.long
def test_it_recovers_from_any_failed_call_while_serving(
    design: ListedDesign, tmp_path: Path, tally: Tally
) -> None:
    """The first call, the third, every tenth, and all for a second (of close, 300)."""
    with serving(design, tmp_path) as tested:
        usual = tested.calls()
        replacing = tested.calls(replaces=True) - usual
    assert not unknown(usual | replacing)
    for call, error in kinds(design, usual | replacing, tally):
        faults = [Fault(call, error, when) for when in moments(call)]
        endure_all(design, tmp_path, filter(is_wanted, faults), tally, call in replacing)
    tally.check()


@pytest.mark.long
def test_it_stops_despite_any_failed_call(
    design: ListedDesign, tmp_path: Path, tally: Tally
) -> None:
    """The first or third call fails."""
    _, calls = stop(design, NONE, tmp_path)
    assert not unknown(calls)
    for call, error in kinds(design, calls, tally):
        for fault in filter(is_wanted, (Fault(call, error, when) for when in ("1", "3"))):
            tally.add(stop(design, fault, tmp_path)[0])
    tally.check()


@pytest.mark.long
def test_it_starts_or_reports_the_reason_after_any_failed_call(
    design: ListedDesign, tmp_path: Path, tally: Tally
) -> None:
    """The first, third or every tenth call of its own, after those of the loader."""
    outcome, trace = start(design, NONE, tmp_path)
    assert outcome.problem is None
    loaders, ours = calls_of_start(trace)
    assert not unknown(ours)
    for call, error in kinds(design, ours, tally):
        before = loaders[call]
        moments = [f"{before + 1}", f"{before + 3}"]
        if ours[call] >= 10:
            moments.append(f"{before + 10}..{before + ours[call]}+10")
        for fault in filter(is_wanted, (Fault(call, error, when) for when in moments)):
            tally.add(start(design, fault, tmp_path)[0])
    tally.check()


def test_a_loop_that_cannot_wait_any_more_reports_it_and_exits(tmp_path: Path) -> None:
    """After some seconds, because a shortage may be temporary."""
    with running(tmp_path, "--design", "poll") as server:
        with attached(tree(server.process.pid), tmp_path, Fault("poll", "ENOMEM")) as trace:
            server.connect().close()  # it wakes up and waits again
            stderr = server.process.communicate(timeout=PATIENCE_S)[1].decode()
        server.is_over = True
    assert trace.injections > 1
    assert server.process.returncode == 1
    assert stderr.splitlines()[-1] == "regatta-server: poll: Cannot allocate memory"
