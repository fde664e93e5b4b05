"""The records of a samples file: checked, compressed for the ledger, read back; and what one
trial's bursts tell of them.
"""

import struct
import zlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regatta.errors import LedgerError, TrialError
from regatta.record.counters import NOT_SUPPORTED
from regatta.record.readings import Reading
from regatta.record.records import Trial

MAGIC = b"RGSAMPL1"
HEADER = struct.Struct("<8sIIQq")
SAMPLE = np.dtype(
    [
        ("start_ns", "<i8"),
        ("first_byte_ns", "<i8"),
        ("end_ns", "<i8"),
        ("connection", "<u4"),
        ("error", "<u2"),
        ("told", "<u2"),
    ]
)
RECORD_SIZE = SAMPLE.itemsize
ANSWERED, TIMED_OUT, UNSTARTED = 0, 2, 6
"""Values of `error`."""
NOT_TOLD = 0
"""`told` of replies that name no processes."""


def records_in(data: bytes) -> NDArray[np.void]:
    """The records (`SAMPLE`) of a decompressed file; an incomplete last one is dropped."""
    body = data[HEADER.size :]
    return np.frombuffer(body[: len(body) // RECORD_SIZE * RECORD_SIZE], SAMPLE)


def join_samples(files: Sequence[bytes]) -> bytes:
    """The records of several files in one, with the clock of the first."""
    magic, size, reserved, _, start_ns = HEADER.unpack_from(files[0])
    records = sum(HEADER.unpack_from(file)[3] for file in files)
    bodies = [file[HEADER.size :] for file in files]
    return HEADER.pack(magic, size, reserved, records, start_ns) + b"".join(bodies)


def shift_samples(data: bytes, ahead_ns: int, first_connection: int) -> bytes:
    """The file of one of several clients, whose clock is that far ahead, as part of the load.

    `first_connection`: the number, in the whole load, of this client's connection 0.
    """
    records = records_in(data).copy()
    for name in ("start_ns", "end_ns"):
        records[name] -= ahead_ns
    records["first_byte_ns"][records["first_byte_ns"] != 0] -= ahead_ns
    records["connection"] += first_connection
    return data[: HEADER.size] + records.tobytes()


def pack_samples(data: bytes) -> bytes:
    """Compressed for the ledger."""
    return zlib.compress(data)


def check_samples(data: bytes, requests: int) -> None:
    """TrialError unless it is a whole samples file with so many records."""
    if len(data) < HEADER.size:
        raise TrialError("the client wrote no samples")
    magic, record_size, _, records, _ = HEADER.unpack_from(data)
    if magic != MAGIC or record_size != RECORD_SIZE:
        raise TrialError("the client wrote samples of another format")
    if len(data) != HEADER.size + records * RECORD_SIZE or records != requests:
        raise TrialError(f"the client wrote {records} samples for {requests} requests")


@lru_cache(maxsize=64)  # several metrics of a cell's trials read the same samples
def all_samples(samples: bytes | None) -> NDArray[np.void]:
    """The records (`SAMPLE`), as the client wrote them; read-only."""
    if not samples:
        return np.empty(0, SAMPLE)
    try:
        raw = zlib.decompress(samples)
    except zlib.error as error:
        raise LedgerError(
            f"samples cannot be unpacked ({error}); is the ledger complete?"
        ) from error
    if raw[: len(MAGIC)] != MAGIC:
        raise LedgerError("samples lack their magic; is the ledger complete?")
    return records_in(raw)


def answered_samples(samples: bytes | None) -> NDArray[np.void]:
    records = all_samples(samples)
    answered: NDArray[np.void] = records[records["error"] == ANSWERED]
    return answered


# Metrics of one trial's bursts: latency by arrival, order of replies, number of different answers.
# By the client's clock: a request arrives when its connection starts.


def ranks(values: ArrayLike) -> NDArray[np.float64]:
    """Ranks from 1 along the last axis of whole numbers; equal ones get the mean of their ranks.

    Importing scipy.stats for it takes half a second, in every command.
    """
    given = np.asarray(values)
    rows = given.reshape(-1, given.shape[-1])
    # All rows are ranked at once: each begins above the largest of the row before it.
    row = np.arange(len(rows))[:, np.newaxis]
    apart = rows - rows.min() + row * (np.ptp(rows) + 1)
    _, place, times = np.unique(apart, return_inverse=True, return_counts=True)
    ranked = (np.cumsum(times) - (times - 1) / 2)[place].reshape(rows.shape)
    found: NDArray[np.float64] = (ranked - row * rows.shape[1]).reshape(given.shape)
    return found


Bursts = NDArray[np.void]
"""Records (`SAMPLE`), one row per burst, in the order of arrival."""


def bursts(trial: Trial) -> Bursts:
    """The bursts of a trial, with one request per connection; empty for other loads."""
    return _bursts_in(trial.samples if trial.rounds is not None else None)


@lru_cache(maxsize=64)
def _bursts_in(samples: bytes | None) -> Bursts:
    answered = answered_samples(samples)
    if len(answered) > 0:
        each = np.unique(answered["connection"], return_counts=True)[1]
        if each.min() == each.max():
            ordered = answered[np.lexsort((answered["start_ns"], answered["connection"]))]
            rows = ordered.reshape(len(each), int(each[0])).T
            arrival = np.argsort(rows["start_ns"], axis=1, kind="stable")
            found: Bursts = np.take_along_axis(rows, arrival, axis=1)
            return found
    return np.empty((0, 0), SAMPLE)


def burst_latencies_ns(found: Bursts) -> NDArray[np.int64]:
    latencies: NDArray[np.int64] = found["end_ns"] - found["start_ns"]
    return latencies


def latency_by_arrival(trial: Trial, _side: str) -> Reading:
    """Spearman's rank correlation, from -1 to 1; the mean over bursts."""
    found = bursts(trial)
    if found.shape[1] < 2:
        return NOT_SUPPORTED
    known = _correlations(found["start_ns"], burst_latencies_ns(found))
    return sum(known) / len(known) if known else NOT_SUPPORTED


def out_of_order_percent(trial: Trial, _side: str) -> Reading:
    """As RFC 4737 for packets: a reply is late if a later arrival was answered before it."""
    found = bursts(trial)
    if found.shape[1] < 2:
        return NOT_SUPPORTED
    came = np.argsort(found["end_ns"], axis=1, kind="stable")
    return float(np.mean(came < np.maximum.accumulate(came, axis=1)) * 100)


def answers_per_burst(trial: Trial, _side: str) -> Reading:
    """The mean over bursts."""
    answers = np.sort(bursts(trial)["told"], axis=1)
    if answers.size == 0 or NOT_TOLD in answers:
        return NOT_SUPPORTED
    return float(np.mean(1 + np.count_nonzero(np.diff(answers, axis=1), axis=1)))


def _correlations(starts: NDArray[np.int64], waits: NDArray[np.int64]) -> list[float]:
    """Rank correlation of each row; rows of equal values have no order and are skipped."""
    first, second = (of - of.mean(axis=1, keepdims=True) for of in (ranks(starts), ranks(waits)))
    together, *alone = (
        (a * b).sum(axis=1) for a, b in ((first, second), (first, first), (second, second))
    )
    spread = alone[0] * alone[1]
    found: list[float] = (together[spread > 0] / np.sqrt(spread[spread > 0])).tolist()
    return found
