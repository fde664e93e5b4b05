"""Programs that speak docs/formats.md and misbehave as FAKE in their environment says.

`install(folder)` leaves a regatta-server and a regatta-client there.
"""

from __future__ import annotations

# Two of these are started for each trial of a test: what their imports would load takes longer
# than all that they do. So these are the modules below `signal`, `socket` and `struct`.
import _signal as signal
import _socket as socket
import _struct as struct
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
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


WORDS = """
--design --listen --work --max-age --summary --workers --backlog --timeout --request --source
--sandbox --ready-fd --gate-fd -c --rounds --engine --load --dialect -n --samples --path --duration
--per-connection --host --rate --arrivals --seed --idle --slow
"""
"""Options that a word follows; and those that stand alone."""
ALONE = "--json --no-recorder --version --list-designs"


def install(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for name in ("server", "client"):
        path = folder / f"regatta-{name}"
        path.write_text(
            # None of the packages is looked for.
            f'#!/bin/sh\nexec {sys.executable} -S {__file__} {name} "$@"\n'
        )
        path.chmod(0o755)


class Called:
    """What one was called with. argparse alone would take half of a start."""

    def __init__(self, arguments: list[str]) -> None:
        self.given: dict[str, str] = {}
        self.target = ""
        followed, alone, left = WORDS.split(), ALONE.split(), iter(arguments)
        for one in left:
            if one in followed:
                self.given[one] = next(left)
            elif one in alone:
                self.given[one] = ""
            elif one.startswith("-") or self.target:
                sys.exit(f"there is no {one}")
            else:
                self.target = one

    def number(self, option: str, otherwise: int) -> int:
        return int(self.given.get(option, otherwise))


def as_json(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{as_json(key)}: {as_json(of)}" for key, of in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(as_json, value)) + "]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return {"None": "null", "True": "true", "False": "false"}.get(repr(value), repr(value))


def serve(called: Called) -> int:
    if FAKE == "server-fails-to-start":
        print("cannot listen: the moon is in the way", file=sys.stderr)
        return 1
    if FAKE == "server-never-ready":
        time.sleep(600)
    host, _, port = called.given["--listen"].rpartition(":")
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, int(port)))
    listener.listen()
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    ready = int(called.given["--ready-fd"])
    os.write(ready, f"ready {host}:{listener.getsockname()[1]}\n".encode())
    os.close(ready)
    signal.sigwait([signal.SIGTERM])
    if FAKE == "server-never-stops":
        time.sleep(600)
    if FAKE == "server-dies":
        os.kill(os.getpid(), signal.SIGKILL)
    padding = len(os.environ.get("REGATTA_PADDING", ""))
    with open(called.given["--summary"], "w") as file:  # noqa: PTH123  (pathlib takes longer)
        file.write(as_json({"requests": 0, "padding": padding}))
    if FAKE == "server-stops-badly":
        print("could not drain", file=sys.stderr)
        return 1
    return 0


def ask(called: Called) -> int:
    host, _, port = called.target.rpartition(":")
    connections = called.number("-c", 1)
    requests = connections * called.number("--rounds", 1)
    if connections > int(os.environ.get("FAKE_MOST", "1000000")):
        print("too many connections", file=sys.stderr)
        return 1
    measured = "--gate-fd" in called.given
    gate = socket.socket(fileno=called.number("--gate-fd", -1)) if measured else None
    if gate:
        gate.sendall(b"ready\n")
        told = gate.recv(64).split()
        if len(told) > 1:
            time.sleep(max(0, int(told[1]) - time.monotonic_ns()) / 1e9)
    began_ns = time.monotonic_ns()
    connection = socket.socket()
    connection.settimeout(5)
    connection.connect((host, int(port)))
    if FAKE == "contender" and measured:
        connection.sendall(b"measured\n")
        if not connection.recv(1):
            print("closed early", file=sys.stderr)
            return 1
    connection.close()
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
    if "--samples" in called.given:
        data = struct.pack("<8sIIQq", b"RGSAMPL1", 32, 0, records, 0)
        data += struct.pack("<qqqII", began_ns, began_ns + 1, began_ns + 2, 0, 0) * records
        with open(called.given["--samples"], "wb") as file:  # noqa: PTH123
            file.write(data)
    six = dict.fromkeys(
        ["user_ns", "system_ns", "minor_faults", "major_faults", "voluntary_switches"]
        + ["involuntary_switches"],
        1000,
    )
    report = {
        "load": called.given.get("--load"),
        **{f"{kind}_lost": int(f"server-drops-{kind}" == FAKE) for kind in ("idle", "slow")},
        "connections": connections,
        "began_ns": began_ns,
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
    print("not json" if FAKE == "client-babbles" else as_json(report))
    return 1 if answered < requests else 0


def main() -> int:
    role, *arguments = sys.argv[1:]
    called = Called(arguments)
    if "--version" in called.given:
        print(f"regatta-{role} 0.0-fake")
        return 0
    if "--list-designs" in called.given:
        print(as_json(DESIGNS))
        return 0
    return serve(called) if role == "server" else ask(called)


if __name__ == "__main__":
    sys.exit(main())
