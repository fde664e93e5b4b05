"""One end of a cable as its own network shows it: its kind, and which CPUs receive.

Also a program, run within that network: `link_end.py DEVICE [CPU,CPU]` steers what arrives to these
CPUs, if any are named, and prints what is set then as JSON. Standard library only.
"""

import array
import fcntl
import json
import socket
import struct
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SYSFS = Path("/sys")
MASK_BITS = 32
"""A mask is written in words of so many bits, the last CPUs first."""

# linux/sockios.h, linux/ethtool.h
SIOCETHTOOL = 0x8946
ETHTOOL_GDRVINFO, DRIVER_INFO_BYTES = 0x03, 196
ETHTOOL_GGRO, VALUE_BYTES = 0x2B, 8
IFREQ_BYTES, NAME_BYTES = 40, 16
DRIVER_AT = slice(4, 36)


def mask_of(cpus: Sequence[int]) -> str:
    bits = sum(1 << cpu for cpu in set(cpus))
    words = [f"{bits & 0xFFFFFFFF:08x}"]
    while bits := bits >> MASK_BITS:
        words.insert(0, f"{bits & 0xFFFFFFFF:08x}")
    return ",".join(words)


def cpus_of(mask: str) -> list[int]:
    bits = int(mask.strip().replace(",", ""), 16)
    return [cpu for cpu in range(bits.bit_length()) if bits >> cpu & 1]


def queues(device: str, sysfs: Path = SYSFS) -> list[Path]:
    """Where what arrives waits."""
    return sorted((sysfs / "class/net" / device / "queues").glob("rx-*"))


def steer(device: str, cpus: Sequence[int], sysfs: Path = SYSFS) -> None:
    """Has these CPUs process whatever arrives."""
    for queue in queues(device, sysfs):
        (queue / "rps_cpus").write_text(mask_of(cpus))


def read_end(device: str, sysfs: Path = SYSFS) -> dict[str, Any]:
    """What is there now; None for what the kernel does not tell."""
    found = queues(device, sysfs)
    return {
        "device": device,
        "cable": cable(device, sysfs),
        "gro": receive_offload(device),
        "rps_cpus": [cpus for queue in found if (cpus := receivers(queue)) is not None],
        "rfs_flows": sum(number(queue / "rps_flow_cnt") for queue in found),
    }


def receivers(queue: Path) -> list[int] | None:
    """The CPUs that the queue is handed to; none: whoever delivers a packet processes it."""
    try:
        return cpus_of((queue / "rps_cpus").read_text())
    except (OSError, ValueError):
        return None


def number(path: Path) -> int:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return 0


def cable(device: str, sysfs: Path = SYSFS) -> str | None:
    """`veth`, `lo`, or the driver of a network card."""
    if device == "lo":
        return device
    answer = ask_driver(device, ETHTOOL_GDRVINFO, DRIVER_INFO_BYTES)
    if answer is not None:
        return answer[DRIVER_AT].split(b"\0")[0].decode(errors="replace") or None
    driver = sysfs / "class/net" / device / "device/driver"
    return driver.resolve().name if driver.exists() else None


def receive_offload(device: str) -> bool | None:
    """Whether segments that arrive are put together before they are processed (GRO)."""
    answer = ask_driver(device, ETHTOOL_GGRO, VALUE_BYTES)
    return None if answer is None else struct.unpack("=II", answer)[1] != 0


def ask_driver(device: str, command: int, size: int) -> bytes | None:
    buffer = array.array("B", struct.pack("=I", command) + bytes(size - 4))
    request = struct.pack(f"{NAME_BYTES}sP", device.encode(), buffer.buffer_info()[0])
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            fcntl.ioctl(any_socket, SIOCETHTOOL, request.ljust(IFREQ_BYTES, b"\0"))
    except OSError:
        return None
    return buffer.tobytes()


def main(device: str, cpus: str = "") -> None:
    refused = None
    try:
        if cpus:
            steer(device, [int(cpu) for cpu in cpus.split(",")])
    except OSError as error:
        refused = error.strerror
    print(json.dumps({**read_end(device), "refused": refused}))


if __name__ == "__main__":
    main(*sys.argv[1:])
