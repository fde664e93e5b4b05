"""The records of a samples file; checks that it is whole, and packs it for the ledger."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from regatta.errors import TrialError

MAGIC = b"RGSAMPL1"
HEADER = struct.Struct("<8sIIQq")
SAMPLE = np.dtype(
    [
        ("start_ns", "<i8"),
        ("first_byte_ns", "<i8"),
        ("end_ns", "<i8"),
        ("connection", "<u4"),
        ("error", "<u4"),
    ]
)
RECORD_SIZE = SAMPLE.itemsize
ANSWERED, UNSTARTED = 0, 6
"""What `error` of a sample says of requests that did not fail."""


def records_in(data: bytes) -> NDArray[np.void]:
    """The records (`SAMPLE`) of an unpacked file; what was cut off at its end is left out."""
    body = data[HEADER.size :]
    return np.frombuffer(body[: len(body) // RECORD_SIZE * RECORD_SIZE], SAMPLE)


def pack_samples(files: Sequence[tuple[bytes, int]]) -> bytes:
    """The samples files of a load's slices as one, compressed.

    Each comes with the requests that it must hold a record of; an error if it does not.
    """
    for data, requests in files:
        check_samples(data, requests)
    magic, size, reserved, _, start_ns = HEADER.unpack_from(files[0][0])
    records = sum(requests for _, requests in files)
    bodies = [data[HEADER.size :] for data, _ in files]
    return zlib.compress(HEADER.pack(magic, size, reserved, records, start_ns) + b"".join(bodies))


def check_samples(data: bytes, requests: int) -> None:
    if len(data) < HEADER.size:
        raise TrialError("the client wrote no samples")
    magic, record_size, _, records, _ = HEADER.unpack_from(data)
    if magic != MAGIC or record_size != RECORD_SIZE:
        raise TrialError("the client wrote samples of another format")
    if len(data) != HEADER.size + records * RECORD_SIZE or records != requests:
        raise TrialError(f"the client wrote {records} samples for {requests} requests")
