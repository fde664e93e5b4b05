"""Sampled stacks as the ledger has them, folded as for a flame graph: a thread, then frames, the
outermost first. A function of the kernel ends in `_[k]`, another one has its file in brackets.
"""

import zlib
from collections.abc import Mapping

from regatta.errors import LedgerError

SEPARATOR = ";"
KERNEL = "_[k]"
IDLE = "idle"
"""In place of a thread: nothing ran, or only an interrupt."""
OTHERS = "other programs"
"""Before the thread of a process that is not the server's."""
ENDED = "[ended]"
"""In place of a thread that has no name any more."""
GENERATED = "generated code"
"""In place of a file: made by the program at run time."""
UNKNOWN = "[unknown]"
"""A function without a name."""


def folded(*names: str) -> str:
    return SEPARATOR.join(name.replace(SEPARATOR, ",") for name in names)


def pack_stacks(spent: Mapping[str, int]) -> bytes:
    """A line each, `STACK NS`, compressed for the ledger."""
    return zlib.compress("".join(f"{stack} {ns}\n" for stack, ns in spent.items()).encode())


def unpack_stacks(packed: bytes) -> dict[str, int]:
    try:
        lines = zlib.decompress(packed).decode().splitlines()
        return {stack: int(ns) for stack, _, ns in (line.rpartition(" ") for line in lines)}
    except (zlib.error, ValueError) as error:
        raise LedgerError(
            f"stacks cannot be unpacked ({error}); is the ledger complete?"
        ) from error
