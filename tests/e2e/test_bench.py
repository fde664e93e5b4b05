"""`make bench` on the smallest scale: real programs, real peers, two blocks."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from tests.servers import REPOSITORY

TIMEOUT_S = 100


def bench(*options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench", "--blocks", "2", *options],
        env={**os.environ, **environment},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def test_one_comparison_as_json() -> None:
    answer = bench("--only", "^epoll / bare epoll loop, 50 ", "--json")
    assert answer.returncode == 0, answer.stderr
    report = json.loads(answer.stdout)
    (row,) = report["comparisons"]
    assert len(row["our_values"]) == len(row["peer_values"]) == report["blocks"] == 2
    assert 1 < min(row["our_values"] + row["peer_values"]) < 1000
    assert row["low"] <= row["value"] <= row["high"]
    assert row["verdict"] in ("met", "missed", "undecided")
    assert (
        report["environment"]["placement"]["server_cpus"]
        != (report["environment"]["placement"]["client_cpus"])
    )
    assert "block 2 begins" in answer.stderr


def test_a_peer_that_is_missing_is_named_before_anything_runs() -> None:
    answer = bench("--only", "^epoll / bare epoll loop, 50 ", PATH="/nowhere")
    assert answer.returncode == 2
    assert "the program wrk is missing; install the package wrk" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_pattern_without_a_match_lists_what_there_is() -> None:
    answer = bench("--only", "no such row")
    assert answer.returncode == 2
    assert "epoll / bare epoll loop, 50 connections" in answer.stderr
