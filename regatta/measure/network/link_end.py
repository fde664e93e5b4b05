"""One end of the link between the sides, seen from its own network: its driver and receiving CPUs.

Also a program to be run within that network: `link_end.py DEVICE [CPU,CPU]` steers received packets
to these CPUs, if any, and prints the resulting settings as JSON. Standard library only.
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
"""The kernel writes a CPU mask in words of this size, highest CPUs first."""

# linux/sockios.h, linux/ethtool.h
SIOCGIFMTU, SIOCETHTOOL = 0x8921, 0x8946
ETHTOOL_GDRVINFO, DRIVER_INFO_BYTES = 0x03, 196
OFFLOADS = {"GRO": 0x2B, "TSO": 0x1E, "GSO": 0x23}
"""ETHTOOL_G…: merging received segments; splitting large packets, by the card or the kernel."""
VALUE_BYTES = 8
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
    return sorted((sysfs / "class/net" / device / "queues").glob("rx-*"))


def steer(device: str, cpus: Sequence[int], sysfs: Path = SYSFS) -> None:
    """Makes these CPUs process received packets."""
    for queue in queues(device, sysfs):
        (queue / "rps_cpus").write_text(mask_of(cpus))


def read_end(device: str, sysfs: Path = SYSFS) -> dict[str, Any]:
    """The current settings; None for each that the kernel does not show.

    `gro`: whether received segments are merged before processing; `rfs_flows`: above 0, packets may
    follow the thread that reads them.
    """
    found = queues(device, sysfs)
    return {
        "device": device,
        "cable": cable(device, sysfs),
        "gro": offload(device, "GRO"),
        "rps_cpus": [cpus for queue in found if (cpus := receivers(queue)) is not None],
        "rfs_flows": sum(number(queue / "rps_flow_cnt") for queue in found),
    }


def receivers(queue: Path) -> list[int] | None:
    """The CPUs that process the queue; empty: the CPU that delivers a packet also processes it."""
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


def offload(device: str, name: str) -> bool | None:
    """Whether it is on; None if the kernel does not say."""
    answer = ask_driver(device, OFFLOADS[name], VALUE_BYTES)
    return None if answer is None else struct.unpack("=II", answer)[1] != 0


def mtu(device: str) -> int:
    """Not from /sys, which in a network namespace may show another network's devices."""
    reply = ask_kernel(SIOCGIFMTU, device.encode())
    return int(struct.unpack_from("=i", reply, NAME_BYTES)[0])


def ask_driver(device: str, command: int, size: int) -> bytes | None:
    buffer = array.array("B", struct.pack("=I", command) + bytes(size - 4))
    request = struct.pack(f"{NAME_BYTES}sP", device.encode(), buffer.buffer_info()[0])
    try:
        ask_kernel(SIOCETHTOOL, request)
    except OSError:
        return None
    return buffer.tobytes()


def ask_kernel(question: int, request: bytes) -> bytes:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        return fcntl.ioctl(any_socket, question, request.ljust(IFREQ_BYTES, b"\0"))


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
