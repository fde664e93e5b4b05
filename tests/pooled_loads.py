"""Whether several clients of a race made one load: its sums, its rate and its percentiles."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from regatta.judge.estimates import estimate_latency
from regatta.record.metrics import FRACTIONS
from regatta.record.read import read
from regatta.record.samples import all_samples
from regatta.record.schema import FILE_NAME
from tests.ledgers import rows

NS_PER_S = 1e9
NS_PER_MS = 1e6


def assert_one_load(out: Path, clients: int) -> None:
    """Of an open load that was answered in full; the race has one cell."""
    trials = [trial for trial in read(out / FILE_NAME).last_attempts if trial.kind == "timed"]
    assert trials
    files = []
    for trial in trials:
        ((text, rate),) = rows(
            out,
            "SELECT client, rate FROM trial JOIN cell ON cell.id = cell_id "
            f"WHERE trial.id = {trial.id}",
        )
        load = json.loads(text)
        assert len(load["clients"]) == clients
        assert sum(client["rate_per_s"] for client in load["clients"]) == load["rate_per_s"] == rate
        for key in ("connections", "requests", "answered", "unstarted"):
            assert sum(client[key] for client in load["clients"]) == load[key], key
        assert load["answered"] == load["requests"] == trial.answered
        throughput = trial.answered / (load["elapsed_ns"] / NS_PER_S)
        assert trial.throughput_per_s == pytest.approx(throughput)
        started = all_samples(trial.samples)
        started = started[started["error"] == 0]
        assert len(started) == trial.answered
        first = 0
        for client in load["clients"]:
            is_its = (started["connection"] - first) < client["connections"]
            is_its &= started["connection"] >= first
            assert is_its.sum() == client["answered"], "its requests are on its own connections"
            first += client["connections"]
        files.append(started["end_ns"] - started["start_ns"])
    whole = np.sort(np.concatenate(files))
    due = len(whole) + sum(trial.unstarted for trial in trials)  # these would come last
    found, _ = estimate_latency(trials)
    for name, fraction in FRACTIONS.items():
        at = math.ceil(fraction * due) - 1
        expected = whole[at] / NS_PER_MS if at < len(whole) else None
        assert found["client", name].value == expected, name
