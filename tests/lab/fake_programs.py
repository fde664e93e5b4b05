"""Programs that speak docs/formats.md and misbehave as FAKE in their environment says.

`install(folder)` leaves a regatta-server and a regatta-client there.
"""

import argparse
import json
import os
import signal
import socket
import struct
import sys
import time
from pathlib import Path

# The fake server's designs, and one that it says it cannot run.
DESIGNS = (
    {"name": "iterative", "summary": "one by one", "pool": False, "missing": None},
    {"name": "thread-per-client", "summary": "a thread each", "pool": False, "missing": None},
    {"name": "select", "summary": "a loop", "pool": False, "missing": None},
    {"name": "pool", "summary": "workers", "pool": True, "missing": None},
    {
        "name": "absent",
        "summary": "something newer",
        "pool": False,
        "missing": "this kernel is too old",
    },
)
FAKE = os.environ.get("FAKE", "")


def install(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for name in ("server", "client"):
        path = folder / f"regatta-{name}"
        path.write_text(
            f'#!/bin/sh\nexec {sys.executable} {Path(__file__).resolve()} {name} "$@"\n'
        )
        path.chmod(0o755)


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    for option in ("--design", "--listen", "--work", "--max-age", "--summary", "--workers"):
        parser.add_argument(option)
    for option in ("--backlog", "--timeout", "--request"):
        parser.add_argument(option)
    parser.add_argument("--source")
    parser.add_argument("--sandbox")
    parser.add_argument("--ready-fd", type=int)
    parser.add_argument("--gate-fd", type=int)
    parser.add_argument("-c", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1)
    for option in ("--engine", "--load", "--dialect", "-n", "--samples", "--path", "--duration"):
        parser.add_argument(option)
    for option in ("--per-connection", "--rate", "--arrivals", "--seed", "--idle", "--slow"):
        parser.add_argument(option)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--no-recorder", action="store_true")
    parser.add_argument("--version", action="store_true")
    parser.add_argument("--list-designs", action="store_true")
    parser.add_argument("target", nargs="?")
    return parser.parse_args(arguments)


def serve(options: argparse.Namespace) -> int:
    if FAKE == "server-fails-to-start":
        print("cannot listen: the moon is in the way", file=sys.stderr)
        return 1
    if FAKE == "server-never-ready":
        time.sleep(600)
    host, _, port = options.listen.rpartition(":")
    listener = socket.create_server((host, int(port)))
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    os.write(options.ready_fd, f"ready {host}:{listener.getsockname()[1]}\n".encode())
    os.close(options.ready_fd)
    signal.sigwait([signal.SIGTERM])
    if FAKE == "server-never-stops":
        time.sleep(600)
    if FAKE == "server-dies":
        os.kill(os.getpid(), signal.SIGKILL)
    padding = len(os.environ.get("REGATTA_PADDING", ""))
    Path(options.summary).write_text(json.dumps({"requests": 0, "padding": padding}))
    if FAKE == "server-stops-badly":
        print("could not drain", file=sys.stderr)
        return 1
    return 0


def ask(options: argparse.Namespace) -> int:
    host, _, port = options.target.rpartition(":")
    requests = options.c * options.rounds
    if options.c > int(os.environ.get("FAKE_MOST", "1000000")):
        print("too many connections", file=sys.stderr)
        return 1
    measured = options.gate_fd is not None
    gate = socket.socket(fileno=options.gate_fd) if measured else None
    if gate:
        gate.sendall(b"ready\n")
        gate.recv(64)
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        if FAKE == "contender" and measured:
            connection.sendall(b"measured\n")
            if not connection.recv(1):
                print("closed early", file=sys.stderr)
                return 1
    if FAKE == "client-never-done" and measured:
        time.sleep(600)
    if gate:
        if FAKE == "client-dies":
            print("out of luck", file=sys.stderr)
            return 1
        gate.sendall(b"done\n")
        gate.recv(64)
    answered = requests - (1 if FAKE == "client-misses-one" and measured else 0)
    records = requests - (1 if FAKE == "client-loses-a-sample" else 0)
    if options.samples:
        data = struct.pack("<8sIIQq", b"RGSAMPL1", 32, 0, records, 0)
        data += struct.pack("<qqqII", 1, 2, 3, 0, 0) * records
        Path(options.samples).write_bytes(data)
    six = dict.fromkeys(
        ["user_ns", "system_ns", "minor_faults", "major_faults", "voluntary_switches"]
        + ["involuntary_switches"],
        1000,
    )
    report = {
        "requests": requests,
        "answered": answered,
        "errors": {"connect": 0, "timeout": requests - answered},
        "throughput_per_s": 100.0,
        "elapsed_ns": 10_000_000 * requests,
        "cpu_share": 0.93 if FAKE == "client-bound" else 0.2,
        "client_bound": "used 93 % of its CPU" if FAKE == "client-bound" else None,
        "arguments": sys.argv[1:],
        "usage": {"self": six, "children": six},
    }
    print("not json" if FAKE == "client-babbles" else json.dumps(report))
    return 1 if answered < requests else 0


def main() -> int:
    role, *arguments = sys.argv[1:]
    options = parse(arguments)
    if options.version:
        print(f"regatta-{role} 0.0-fake")
        return 0
    if options.list_designs:
        print(json.dumps(DESIGNS))
        return 0
    return serve(options) if role == "server" else ask(options)


if __name__ == "__main__":
    sys.exit(main())
