"""Races a study on several machines, a fleet, at the same time: hosts reached over ssh.

The fleet can be resumed from its folder, which has `fleet.json` and one folder a machine with
`report.html` and `ledger.sqlite`. The ledger is written last: a machine that has one is finished.
On the machine the race's folder stays until its files are here, so that a machine that was lost can
resume.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from regatta.errors import LedgerError, PlacementError, RegattaError, UsageError
from regatta.measure.places.hosts.ssh_host import DaskCluster, SshHost
from regatta.measure.processes import guard_environment, guarded
from regatta.record.schema import FILE_NAME
from regatta.record.study.placement import host_name
from regatta.verbs.collected import MachineResult, result_in

FLEET = "fleet.json"
STUDY, RACE = "study.toml", "race"
FILES = ("report.html", FILE_NAME)
"""Of each race, in the order in which they are fetched."""
FINISHED = (0, 1)
"""Exit statuses of a race with results; 1 if some trials failed."""
QUOTED = 300
T = TypeVar("T")


@dataclass(frozen=True)
class Fleet:
    """A study and the machines that race it."""

    name: str
    """Also of its folder on each machine."""
    study: str
    """The text of the study."""
    quick: bool
    urls: list[str]
    """`ssh://…`"""

    def write(self, folder: Path) -> None:
        if (folder / FLEET).exists():
            raise UsageError(f"{folder} already has a fleet; name another --out, or --resume it")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FLEET).write_text(json.dumps(asdict(self), indent=1))


def read_fleet(folder: Path) -> Fleet:
    try:
        return Fleet(**json.loads((folder / FLEET).read_text()))
    except (OSError, ValueError, TypeError) as error:
        raise LedgerError(f"{folder} is not the folder of a fleet") from error


def finished(folder: Path) -> list[MachineResult]:
    """Of the machines whose ledger is in the folder."""
    found = []
    for path in sorted(folder.glob(f"*/{FILE_NAME}")):
        try:
            found.append(MachineResult(path.parent.name, result_in(path)))
        except LedgerError as error:
            raise LedgerError(f"{error}; or remove this file and --resume") from error
    return found


def run_fleet(
    fleet: Fleet, folder: Path, on_result: Callable[[MachineResult], None]
) -> list[MachineResult]:
    """Races on every machine that has no result yet, and returns the results of all."""
    outcomes = finished(folder)
    done = {outcome.name for outcome in outcomes}
    with closing(Machines(fleet.urls)) as machines:
        left = [name for name in machines.names if name not in done]
        pool = ThreadPoolExecutor(max(1, len(left)))
        try:
            begun = [pool.submit(race_on, machines, name, fleet, folder) for name in left]
            for race in as_completed(begun):
                outcomes.append(race.result())
                on_result(outcomes[-1])
        except BaseException:
            machines.close()  # ends the calls that wait for a machine
            raise
        finally:
            pool.shutdown(cancel_futures=True)
    return outcomes


def race_on(machines: Machines, name: str, fleet: Fleet, folder: Path) -> MachineResult:
    """Races on one machine. Any error becomes its reason and does not stop the others."""
    try:
        machines.ask(name, race_on_this_host, fleet, name)
        (folder / name).mkdir(exist_ok=True)
        for file in FILES:
            packed = machines.ask(name, read_packed, fleet.name, name, file)
            (folder / name / f".{file}").write_bytes(zlib.decompress(packed))
        result = result_in(folder / name / f".{FILE_NAME}")
        for file in FILES:
            (folder / name / f".{file}").rename(folder / name / file)
    except Exception as error:
        said = str(error).removeprefix("on ").removeprefix(f"{name}: ")
        known = isinstance(error, RegattaError)
        return MachineResult(name, None, said if known else f"{type(error).__name__}: {said}")
    with suppress(Exception):  # the result is here; the rest is cleanup
        machines.ask(name, remove_race, fleet.name, name)
    return MachineResult(name, result)


# What each machine does.


def fleet_folder(fleet: str) -> Path:
    """The folder of a fleet; machines may share it if they share a home."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "regatta" / "fleet" / fleet


def race_on_this_host(fleet: Fleet, machine: str) -> None:
    """Runs the race, or resumes it. It ends with this worker: its successor may resume it."""
    folder = fleet_folder(fleet.name) / machine
    folder.mkdir(parents=True, exist_ok=True)
    (folder / STUDY).write_text(fleet.study)
    begun = (folder / RACE / FILE_NAME).exists()
    words = ["--resume", RACE] if begun else [STUDY, "--out", RACE, *["--quick"] * fleet.quick]
    done = subprocess.run(
        guarded([sys.executable, "-m", "regatta", "race", *words, "--json", "--quiet"]),
        cwd=folder,
        env=guard_environment(),
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode not in FINISHED or not done.stdout.strip():
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise RegattaError(last.removeprefix("regatta: ")[:QUOTED])


def read_packed(fleet: str, machine: str, name: str) -> bytes:
    """A file of the race, compressed."""
    return zlib.compress((fleet_folder(fleet) / machine / RACE / name).read_bytes())


def remove_race(fleet: str, machine: str) -> None:
    """Removes the folder of the race, once the fleet has its files."""
    shutil.rmtree(fleet_folder(fleet) / machine, ignore_errors=True)
    with suppress(OSError):  # not empty: other machines use it
        fleet_folder(fleet).rmdir()


class Machines:
    """Hosts on which we start a worker over ssh, by unique names, also of their folders."""

    def __init__(self, urls: list[str]) -> None:
        named = [host_name(url) for url in urls]
        self.names = {
            host.host.replace(":", "-") + (f"-{host.port}" if host.port else ""): host
            for host in named
        }
        if len(self.names) < len(urls):
            raise PlacementError(
                "a host is named twice; two races on one host would disturb each other"
            )
        self.engine = DaskCluster()
        self.hosts: dict[str, SshHost] = {}
        self.lock = Lock()
        self.closed = False

    def ask(self, name: str, question: Callable[..., T], *args: Any) -> T:
        """Calls a function on a machine; HostLostError if it is lost meanwhile."""
        if name not in self.hosts:
            host = SshHost(self.names[name], self.engine)
            with self.lock:
                self.hosts[name] = host
                if self.closed:  # while it started
                    host.close()
        return self.hosts[name].ask(question, *args)

    def close(self) -> None:
        """Ends all calls."""
        with self.lock:
            self.closed = True
            hosts = list(self.hosts.values())
        for host in hosts:
            host.close()
        self.engine.close()
