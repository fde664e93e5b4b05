"""Packet steering: which CPUs process the packets received at each end of the link.

By default the sending CPU also receives a packet over veth: the client's CPU runs the server's TCP
input, and vice versa. Receive packet steering (RPS) moves that work to the receiving side's CPUs.
Only root in the initial user namespace may set it, from within the network of that end; the setting
is read back.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regatta.errors import PlacementError
from regatta.measure.network import link_end
from regatta.measure.network.veth import run_tool
from regatta.measure.programs import need_tool
from regatta.record.study.limits import OWN_SIDE, UNSTEERED

PROGRAM = Path(link_end.__file__)
# /sys shows the devices of the network in which it was mounted, so it is mounted again. A container
# engine mounts it read-only first, hence the remount.
WITH_ITS_DEVICES = 'mount -t sysfs sysfs /sys && { mount -o remount,rw /sys; exec "$@"; }'
ON_LOOPBACK = (
    "packets are not steered: loopback is one device for both sides, so the sender's CPU also "
    "receives"
)
NOT_PERMITTED = (
    "packets are not steered ({}): the sender's CPU also receives; run as root to steer them"
)


LinkEnd = dict[str, Any]
"""One end of the link, as `link_end.read_end` tells it."""


@dataclass(frozen=True)
class Steering:
    """How packets are steered, and the settings found at both ends."""

    kind: str = UNSTEERED
    note: str | None = None
    """Why packets are not steered as requested."""
    server: LinkEnd | None = None
    client: LinkEnd | None = None
    """None where it could not be read."""

    def describe(self) -> dict[str, Any]:
        """For the environment in the ledger."""
        ends = {"server": self.server, "client": self.client}
        return {"steering": self.kind, "steering_note": self.note, "ends": ends}


Receiver = tuple[Sequence[str], Sequence[int]]
"""How to enter the network of a side that receives packets, and its CPUs."""


def steer(wanted: str, sides: Mapping[str, Receiver], device: str | None = None) -> Steering:
    """Steers both ends of the link, if that is wanted and permitted.

    `device`: the name of both ends, each in its own network; None: each end is named after its
    side.
    """
    ends: dict[str, LinkEnd] = {}
    reasons: list[str] = []
    for name, (enter, cpus) in sides.items():
        try:
            end = steer_end(enter, device or name, cpus if wanted == OWN_SIDE else ())
        except (PlacementError, ValueError) as error:
            reasons.append(str(error))
            continue
        if refused := end.pop("refused"):
            reasons.append(refused)
        ends[name] = end
    if all(name in ends and goes_to(ends[name], cpus) for name, (_, cpus) in sides.items()):
        return Steering(OWN_SIDE, None, **ends)
    reason = reasons[0] if reasons else "the kernel ignored it"
    return Steering(
        UNSTEERED, None if wanted == UNSTEERED else NOT_PERMITTED.format(reason), **ends
    )


def steer_end(enter: Sequence[str], device: str, cpus: Sequence[int]) -> dict[str, Any]:
    """Steers packets received at an end to these CPUs, if any; returns the resulting settings."""
    unshare = need_tool("unshare", "util-linux")
    within = [*enter, unshare, "--mount", "--", "/bin/sh", "-c", WITH_ITS_DEVICES, "mount"]
    named = [",".join(map(str, cpus))] if cpus else []
    command = [*within, sys.executable, "-E", "-S", str(PROGRAM), device, *named]
    state: dict[str, Any] = json.loads(run_tool(command))
    return state


def goes_to(end: LinkEnd, cpus: Sequence[int]) -> bool:
    return bool(end["rps_cpus"]) and all(queue == sorted(cpus) for queue in end["rps_cpus"])


def on_loopback(wanted: str) -> Steering:
    """Loopback is one device for both ends, so it cannot be steered to both sides."""
    both = link_end.read_end("lo")
    return Steering(UNSTEERED, None if wanted == UNSTEERED else ON_LOOPBACK, both, both)
