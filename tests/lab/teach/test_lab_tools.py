"""The tools of a machine: each missing one is reported in a line, and replaced."""

import os
from pathlib import Path

import pytest

from regatta.measure.perf import Perf
from regatta.measure.programs import discover
from regatta.teach.lab import tools as having
from regatta.teach.lab.tools import can_end, find_tools


@pytest.mark.usefixtures("programs_folder")
def test_each_missing_tool_is_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(having, "find_tool", lambda _: None)
    monkeypatch.setattr(having, "probe", lambda _: Perf(note="perf is not installed"))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3})
    found = find_tools(discover())
    assert (found.perf, found.nc) == (False, False)
    assert (found.server_cpus, found.client_cpus) == ((3,), (3,))
    for word, line in zip(("one CPU", "perf", "nc"), found.lacks, strict=True):
        assert word in line
        assert "\n" not in line
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    found = find_tools(discover())
    assert (found.server_cpus, found.client_cpus, len(found.lacks)) == ((0,), (1,), 2)


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
