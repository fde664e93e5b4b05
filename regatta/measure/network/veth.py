"""Network namespaces: the processes that hold them open, and the veth pair that joins two."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from regatta.errors import PlacementError
from regatta.measure.processes import guard_environment, with_input
from regatta.measure.programs import need_tool

# 198.18.0.0/15 is reserved for benchmarks of network devices (RFC 2544).
SERVER_ADDRESS = "198.18.0.1"
CLIENT_ADDRESS = "198.18.0.2"
PREFIX_LENGTH = 30
# By default connect tries every second one of 28,232 ports first, and each is free again only after
# a minute (TIME_WAIT): after 14,000 short connections it tries as many in vain each time, for
# milliseconds.
MANY_PORTS = {"ip_local_port_range": "1024 65535", "tcp_tw_reuse": "1"}
TOOL_TIMEOUT_S = 20
LINK_TIMEOUT_S = 10
LINK_POLL_S = 0.005


def last_line(text: str) -> str:
    """The last line that a tool printed, ignoring its hint at --help."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("Try ")]
    return lines[-1] if lines else "no reason was given"


def start_holder(
    command: Sequence[str], program: Sequence[str] | None = None
) -> subprocess.Popen[bytes]:
    """Starts `cat` to hold new namespaces open; it ends when the lab's pipe closes.

    `program`: what to append to the command; None: this machine's cat.
    """
    program = [need_tool("cat", "coreutils")] if program is None else program
    holder = with_input([*command, *program], subprocess.PIPE, subprocess.PIPE)
    assert holder.stdin
    assert holder.stdout
    assert holder.stderr
    with suppress(BrokenPipeError):
        holder.stdin.write(b".")
        holder.stdin.flush()
    # cat's echo proves that the namespaces exist.
    if holder.stdout.read(1) != b".":
        reason = last_line(holder.stderr.read().decode(errors="replace"))
        holder.kill()
        holder.wait()
        raise PlacementError(reason)
    holder.stderr.close()
    return holder


def run_tool(
    command: Sequence[str],
    stdin: bytes = b"",
    timeout_s: float = TOOL_TIMEOUT_S,
    folder: Path | None = None,
) -> str:
    """Returns what the tool prints; PlacementError with its last line if it fails."""
    try:
        run = subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            timeout=timeout_s,
            check=False,
            cwd=folder,
            env=guard_environment(),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PlacementError(str(error)) from error
    if run.returncode != 0:
        raise PlacementError(last_line((run.stderr or run.stdout).decode(errors="replace")))
    return run.stdout.decode(errors="replace")


def wait_link_up(enter: Sequence[str], ip: str, device: str) -> None:
    """Waits until the device carries packets; until then the first packet may be lost."""
    deadline = time.monotonic() + LINK_TIMEOUT_S
    while True:
        links: list[dict[str, Any]] = json.loads(
            run_tool([*enter, ip, "-j", "link", "show", "dev", device])
        )
        if links and links[0].get("operstate") == "UP":
            return
        if time.monotonic() > deadline:
            raise PlacementError(f"the device {device} did not come up within {LINK_TIMEOUT_S} s")
        time.sleep(LINK_POLL_S)


def join(enter_server: Sequence[str], enter_client: Sequence[str], client_pid: int) -> None:
    """Creates the veth pair between the two networks and gives each end its address."""
    ip = need_tool("ip", "iproute2")
    add = f"link add server type veth peer name client netns {client_pid}"
    run_tool([*enter_server, ip, "-batch", "-"], f"{add}\n".encode())
    ends = (("server", enter_server, SERVER_ADDRESS), ("client", enter_client, CLIENT_ADDRESS))
    for device, enter, address in ends:
        steps = [
            "link set lo up",
            f"address add {address}/{PREFIX_LENGTH} dev {device}",
            f"link set {device} up",
        ]
        run_tool([*enter, ip, "-batch", "-"], ("\n".join(steps) + "\n").encode())
    for device, enter, _ in ends:
        wait_link_up(enter, ip, device)


def widen_ports(enter_client: Sequence[str]) -> None:
    """Lets a client open some 30,000 short connections a second: more ports, each free after one.

    Not where /proc/sys is read-only, as in a container; the client then says that it is the limit.
    """
    writes = [f"echo {value} >/proc/sys/net/ipv4/{name}" for name, value in MANY_PORTS.items()]
    with suppress(PlacementError):
        run_tool([*enter_client, "/bin/sh", "-ec", "; ".join(writes)])
