"""The records of a samples file: checked, compressed for the ledger, and read back."""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regatta.errors import LedgerError, TrialError

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
"""`told` of replies that name no processes, and of all replies in older ledgers."""


def records_in(data: bytes) -> NDArray[np.void]:
    """The records (`SAMPLE`) of a decompressed file; an incomplete last one is dropped."""
    body = data[HEADER.size :]
    return np.frombuffer(body[: len(body) // RECORD_SIZE * RECORD_SIZE], SAMPLE)


def pack_samples(files: Sequence[tuple[bytes, int]]) -> bytes:
    """Joins and compresses the samples files of a load's slices.

    Each comes with its number of requests; TrialError if the file has another number of records.
    """
    for data, requests in files:
        check_samples(data, requests)
    magic, size, reserved, _, start_ns = HEADER.unpack_from(files[0][0])
    records = sum(requests for _, requests in files)
    bodies = [data[HEADER.size :] for data, _ in files]
    return zlib.compress(HEADER.pack(magic, size, reserved, records, start_ns) + b"".join(bodies))


@dataclass(frozen=True)
class ClientFile:
    """The samples file of one of several clients that shared a load."""

    data: bytes
    requests: int
    """The number of records that the file must have."""
    first_connection: int
    """The number, in the whole load, of this client's connection 0."""
    ahead_ns: int
    """Offset of its clock from the first client's."""


def pool_samples(files: Sequence[ClientFile]) -> bytes:
    """One file for the whole load, with the first client's clock and the load's connections."""
    bodies: list[bytes] = []
    for file in files:
        check_samples(file.data, file.requests)
        records = records_in(file.data).copy()
        for name in ("start_ns", "end_ns"):
            records[name] -= file.ahead_ns
        begun = records["first_byte_ns"] != 0
        records["first_byte_ns"][begun] -= file.ahead_ns
        records["connection"] += file.first_connection
        bodies.append(records.tobytes())
    magic, size, reserved, _, start_ns = HEADER.unpack_from(files[0].data)
    count = sum(file.requests for file in files)
    return HEADER.pack(magic, size, reserved, count, start_ns) + b"".join(bodies)


def check_samples(data: bytes, requests: int) -> None:
    if len(data) < HEADER.size:
        raise TrialError("the client wrote no samples")
    magic, record_size, _, records, _ = HEADER.unpack_from(data)
    if magic != MAGIC or record_size != RECORD_SIZE:
        raise TrialError("the client wrote samples of another format")
    if len(data) != HEADER.size + records * RECORD_SIZE or records != requests:
        raise TrialError(f"the client wrote {records} samples for {requests} requests")


def all_samples(samples: bytes | None) -> NDArray[np.void]:
    """The records (`SAMPLE`), as the client wrote them."""
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
    """The records of the answered requests."""
    records = all_samples(samples)
    answered: NDArray[np.void] = records[records["error"] == ANSWERED]
    return answered


def latencies_ns(samples: bytes | None) -> NDArray[np.int64]:
    """The latencies of the answered requests, sorted."""
    return np.sort(latencies_in_order(samples))


def latencies_in_order(samples: bytes | None) -> NDArray[np.int64]:
    """The latencies of the answered requests, in the order of their starts."""
    answered = answered_samples(samples)
    order = np.argsort(answered["start_ns"], kind="stable")
    latencies: NDArray[np.int64] = (answered["end_ns"] - answered["start_ns"])[order]
    return latencies
