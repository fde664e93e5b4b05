"""Steering: which CPUs process what arrives at each end of the cable.

A packet over a virtual cable is received by the sending CPU: the client's CPU runs the server's TCP
input, and the reverse. Receive packet steering (RPS) hands it to the CPUs of the receiving side.
Only root of the whole machine may set it, and only in the network of that end; what is set is read
back.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from regatta.machine import link_end
from regatta.machine.programs import need_tool
from regatta.machine.side_placement import SidePlacement

OWN_SIDE = "own-side"
NONE = "none"
STEERINGS = (OWN_SIDE, NONE)

PROGRAM = Path(link_end.__file__)
TIMEOUT_S = 20
# The devices that /sys shows are those of the network in which it was mounted. Of a network that a
# container holds, /sys was mounted first by its engine, which forbids writing.
WITH_ITS_DEVICES = 'mount -t sysfs sysfs /sys && { mount -o remount,rw /sys; exec "$@"; }'
ON_LOOPBACK = (
    "packets are not steered: loopback is one device for both sides, so the sender's CPU also "
    "receives"
)
NOT_PERMITTED = (
    "packets are not steered ({}): the sender's CPU also receives; run as root to steer them"
)


@dataclass(frozen=True)
class End:
    """One end of the cable, as it was read back."""

    device: str
    cable: str | None
    """`veth`, `lo`, or the driver of a network card."""
    gro: bool | None
    """Whether segments that arrive are put together before they are processed."""
    rps_cpus: tuple[tuple[int, ...], ...]
    """Of each queue; none: whoever delivers a packet processes it."""
    rfs_flows: int
    """Above 0 packets may follow the thread that reads them."""

    def goes_to(self, cpus: Sequence[int]) -> bool:
        return bool(self.rps_cpus) and all(queue == tuple(sorted(cpus)) for queue in self.rps_cpus)


@dataclass(frozen=True)
class Steering:
    """Whose CPUs process what arrives, and what was found at both ends."""

    kind: str = NONE
    note: str | None = None
    """Why it is not as it was asked for."""
    server: End | None = None
    client: End | None = None
    """None where it could not be asked."""

    def describe(self) -> dict[str, Any]:
        """What the ledger's environment says of it."""
        ends = {"server": self.server, "client": self.client}
        return {
            "steering": self.kind,
            "steering_note": self.note,
            "ends": {side: None if end is None else asdict(end) for side, end in ends.items()},
        }


def steer(wanted: str, sides: Mapping[str, SidePlacement], device: str | None = None) -> Steering:
    """Steers both ends of a cable, if that is wanted and permitted.

    Each is named as its side; or both are this device, each in its own network.
    """
    ends: dict[str, End] = {}
    reasons: list[str] = []
    for name, side in sides.items():
        try:
            state = steer_end(side.enter, device or name, side.cpus if wanted == OWN_SIDE else ())
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            reasons.append(why(error))
            continue
        refused = state.pop("refused")
        reasons += [refused] if refused else []
        ends[name] = end_of(state)
    if all(name in ends and ends[name].goes_to(side.cpus) for name, side in sides.items()):
        return Steering(OWN_SIDE, None, **ends)
    reason = reasons[0] if reasons else "the kernel ignored it"
    return Steering(NONE, None if wanted == NONE else NOT_PERMITTED.format(reason), **ends)


def steer_end(enter: Sequence[str], device: str, cpus: Sequence[int]) -> dict[str, Any]:
    """Has these CPUs, if any, process what arrives at an end; what is there then."""
    unshare = need_tool("unshare", "util-linux")
    within = [*enter, unshare, "--mount", "--", "/bin/sh", "-c", WITH_ITS_DEVICES, "mount"]
    named = [",".join(map(str, cpus))] if cpus else []
    command = [*within, sys.executable, "-E", "-S", str(PROGRAM), device, *named]
    run = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    state: dict[str, Any] = json.loads(run.stdout)
    return state


def why(error: Exception) -> str:
    """What the tools said last, or the error's own words."""
    output = getattr(error, "stderr", None) or str(error)
    return str(output).strip().splitlines()[-1]


def end_of(state: dict[str, Any]) -> End:
    queues = tuple(tuple(cpus) for cpus in state.pop("rps_cpus"))
    return End(**state, rps_cpus=queues)


def on_loopback(wanted: str) -> Steering:
    """One device is both ends, so it can be steered to one side at most."""
    both = end_of(link_end.read_end("lo"))
    return Steering(NONE, None if wanted == NONE else ON_LOOPBACK, both, both)
