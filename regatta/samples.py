"""Checks that a samples file is whole, and packs it for the ledger."""

from __future__ import annotations

import struct
import zlib

from regatta.errors import TrialError

MAGIC = b"RGSAMPL1"
HEADER = struct.Struct("<8sIIQq")
RECORD_SIZE = 32


def pack_samples(data: bytes, requests: int) -> bytes:
    """The bytes of the samples file, compressed; an error if it is not one record a request."""
    if len(data) < HEADER.size:
        raise TrialError("the client wrote no samples")
    magic, record_size, _, records, _ = HEADER.unpack_from(data)
    if magic != MAGIC or record_size != RECORD_SIZE:
        raise TrialError("the client wrote samples of another format")
    if len(data) != HEADER.size + records * RECORD_SIZE or records != requests:
        raise TrialError(f"the client wrote {records} samples for {requests} requests")
    return zlib.compress(data)
