"""Outliers are listed and kept, and latencies are in the order of their requests."""

import struct
import zlib
from pathlib import Path

import numpy as np

from regatta.judge.analyse import analyse
from regatta.judge.soundness.repeated import outlying_blocks
from regatta.record.read import read
from regatta.record.samples import latencies_in_order
from tests import ledgers
from tests.lab import reports
from tests.lab.synthetic import make, pack

TRIALS = "SELECT trial.id, contender FROM trial JOIN cell ON cell.id = cell_id ORDER BY trial.id"


def series(path: Path, contender: str, factors: np.ndarray) -> None:
    """Every latency of the contender's trials becomes 1 ms, give or take, times its factor."""
    generator = np.random.default_rng(3)
    for number, name in ledgers.rows(path, TRIALS):
        if name == contender:
            latencies = 1e6 * factors * generator.lognormal(0, 0.1, len(factors))
            samples = in_time(pack(latencies.astype(np.int64), 10))
            ledgers.change(path, "UPDATE trial SET samples = ? WHERE id = ?", samples, number)


def in_time(samples: bytes) -> bytes:
    """The records as they stand, a microsecond after one another."""

    raw = zlib.decompress(samples)
    head, body = raw[:32], raw[32:]
    records = [struct.unpack_from("<qqqII", body, at) for at in range(0, len(body), 32)]
    shifted = [
        struct.pack("<qqqII", start + at * 1000, first + at * 1000, end + at * 1000, *rest)
        for at, (start, first, end, *rest) in enumerate(records)
    ]
    return zlib.compress(head + b"".join(shifted))


def test_latencies_are_in_the_order_of_their_start(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", connections=[10], contenders=["select"])
    series(path, "select", np.arange(1, 401))
    found = latencies_in_order(read(path).trials[0].samples)
    assert np.median(found[:100]) < np.median(found[-100:])


def test_an_outlier_is_listed_and_kept_in_the_average(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", connections=[10], contenders=["iterative", "select"])
    before = analyse(read(path))
    ledgers.change(
        path,
        "UPDATE counter SET value = value * 3 WHERE event = 'cpu-time' AND side = 'server'"
        " AND trial_id = (SELECT trial.id FROM trial JOIN cell ON cell.id = cell_id"
        " WHERE contender = 'select' AND block = 4)",
    )
    after = analyse(read(path))
    name = "cpu_time_per_request_us"
    (found,) = (one for one in after.outliers if one.metric == name)
    assert (found.cell.contender, found.block) == ("select", 4)
    assert found.value > 2.5 * found.median
    means = [
        next(
            result.estimates["server", name].value
            for result in of.groups[0].cells
            if result.cell.contender == "select"
        )
        for of in (before, after)
    ]
    assert means[1] > 1.15 * means[0]
    assert {"block": 4, "metric": name}.items() <= reports.summary_json(path)["outliers"][0].items()


def test_fences_are_those_of_tukey() -> None:
    plain = dict(enumerate(map(float, range(-3, 9))))
    assert outlying_blocks(plain) == []
    assert outlying_blocks(plain | {99: 8 + 3 * 5.5 + 5}) == [99]
    assert outlying_blocks({0: 1.0, 1: 1.0, 2: 1.0, 3: 1.0, 4: 5.0}) == [], (
        "whole numbers that agree"
    )
    assert outlying_blocks({0: 1.0, 1: 1.1, 2: 1.2, 3: 99.0}) == [], "too few"
