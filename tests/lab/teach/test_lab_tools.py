"""The tools of a machine: each missing one is reported in a line, and replaced."""

import os
from pathlib import Path

import pytest

from regatta.measure.perf import Perf, without_perf
from regatta.measure.programs import Programs, discover
from regatta.teach.lab import tools as having
from regatta.teach.lab.tools import Tools, can_end, find_tools

PERF_JSON = (
    '{{"counter-value" : "{value}", "unit" : "", "event" : "{event}", "pcnt-running" : 100}}'
)


@pytest.fixture
def programs(programs_folder: Path) -> Programs:
    assert programs_folder.is_dir()
    return discover()


def found_with(programs: Programs, monkeypatch: pytest.MonkeyPatch, cpus: set[int]) -> Tools:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: cpus)
    return find_tools(programs)


def test_each_missing_tool_is_reported_in_one_line(
    programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(having, "find_tool", lambda _: None)
    monkeypatch.setattr(having, "probe", lambda _: without_perf("perf is not installed"))
    found = found_with(programs, monkeypatch, {3})
    assert (found.perf, found.taskset, found.nc) == (False, False, False)
    assert (found.server_cpus, found.client_cpus) == ((3,), (3,))
    for word, line in zip(("one CPU", "perf", "taskset", "nc"), found.lacks, strict=True):
        assert word in line
        assert "\n" not in line


@pytest.mark.parametrize(
    ("value", "event", "words"),
    [
        ("4711", "cycles", []),
        ("<not supported>", "cycles", ["hardware counters"]),
        ("4711", "cycles:u", ["user space only"]),
        ("<not supported>", "cycles:u", ["hardware counters", "user space only"]),
    ],
)
def test_limits_of_perf_are_reported(
    value: str,
    event: str,
    words: list[str],
    programs: Programs,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    has_perf = without_perf(None)
    monkeypatch.setattr(having, "probe", lambda _: vary(has_perf))
    monkeypatch.setattr(
        having, "try_stat", lambda *_: (PERF_JSON.format(value=value, event=event), "")
    )
    monkeypatch.setattr(having, "can_end", lambda _: True)
    found = found_with(programs, monkeypatch, {0, 1})
    assert found.perf
    assert (found.server_cpus, found.client_cpus) == ((0,), (1,))
    said = [line for line in found.lacks if "nc" not in line.split()]
    assert len(said) == len(words)
    assert all(word in line for word, line in zip(words, said, strict=True))


def vary(found: Perf) -> Perf:
    return Perf(**{**vars(found), "path": "/usr/bin/perf"})


@pytest.mark.parametrize(
    ("help_text", "knows"), [("\t\t-N\t\tShutdown the network socket", True), ("-n", False)]
)
def test_an_nc_without_the_option_n_is_not_used(
    help_text: str, knows: bool, tmp_path: Path
) -> None:
    nc = tmp_path / "nc"
    nc.write_text(f"#!/bin/sh\nprintf '%s' '{help_text}' >&2\n")
    nc.chmod(0o755)
    assert can_end(str(nc)) == knows
    assert not can_end(None)
