"""A system call fails, for whatever reason the manual gives: while clients are served, while the
server stops, while it starts. strace lets it fail; docs/reliability.md says how to repeat a case.

A server that serves has 40 clients meanwhile. Afterwards it holds no more processes, threads,
descriptors and memory than before, answers ten of ten, and ends with status 0."""

from pathlib import Path

import pytest

from tests.reliability.cases import MOMENTS, is_wanted, kinds, unknown
from tests.reliability.injection import NONE, Fault
from tests.reliability.starts import calls_of_start, start
from tests.reliability.stops import stop
from tests.reliability.tally import Tally
from tests.reliability.trials import SHORT_S, endure_all, serving
from tests.servers import ListedDesign

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
    with serving(design, tmp_path) as trials:
        usual = trials.calls(SHORT_S)
    faults = [Fault(call, error, "1") for call, error in A_FEW if call in usual]
    endure_all(design, tmp_path, faults, tally)
    assert tally.short == []
    assert tally.tried > 0


@pytest.mark.long
def test_whatever_call_fails_while_it_serves_it_is_then_as_before(
    design: ListedDesign, tmp_path: Path, tally: Tally
) -> None:
    """The first, the third, every tenth, and all for a second."""
    with serving(design, tmp_path) as trials:
        usual = trials.calls()
        replacing = trials.calls(replaces=True) - usual
    assert not unknown(usual | replacing)
    for call, error in kinds(design, usual | replacing):
        faults = [Fault(call, error, when) for when in MOMENTS]
        endure_all(design, tmp_path, filter(is_wanted, faults), tally, call in replacing)
    assert tally.short == []


@pytest.mark.long
def test_whatever_call_fails_while_it_stops_it_ends(
    design: ListedDesign, tmp_path: Path, tally: Tally
) -> None:
    """The first, or the third: with status 0, or a line that says why not."""
    _, calls = stop(design, NONE, tmp_path)
    assert not unknown(calls)
    for call, error in kinds(design, calls):
        for fault in filter(is_wanted, (Fault(call, error, when) for when in ("1", "3"))):
            tally.add(stop(design, fault, tmp_path)[0])
    assert tally.short == []


@pytest.mark.long
def test_whatever_call_fails_while_it_starts_it_serves_or_says_why_not(
    design: ListedDesign, tmp_path: Path, tally: Tally
) -> None:
    """The first, the third, every tenth of its own: those before are the loader's."""
    outcome, trace = start(design, NONE, tmp_path)
    assert outcome.problem is None
    loaders, ours = calls_of_start(trace)
    assert not unknown(ours)
    for call, error in kinds(design, ours):
        before = loaders[call]
        moments = [f"{before + 1}", f"{before + 3}"]
        if ours[call] >= 10:
            moments.append(f"{before + 10}..{before + ours[call]}+10")
        for fault in filter(is_wanted, (Fault(call, error, when) for when in moments)):
            tally.add(start(design, fault, tmp_path)[0])
    assert tally.short == []
