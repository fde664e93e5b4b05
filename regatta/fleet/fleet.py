"""Races a study on every machine of a fleet at once, and keeps what each sends back.

The folder says what the fleet is, so that it can go on: `fleet.json`, and one folder a machine with
`ledger.sqlite`, `report.html` and, last, `result.json`. A machine with a result is finished.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from regatta import __version__
from regatta.errors import LedgerError, PlacementError, RegattaError, UsageError
from regatta.fleet.standings import standings_of, summary_of
from regatta.fleet.there import KEPT, Order, Raced, forget, piece, race_there

FLEET, RESULT = "fleet.json", "result.json"


@dataclass(frozen=True)
class Plan:
    """What a fleet races, and where."""

    order: Order
    urls: list[str]
    """`ssh://…`; empty: the workers of a cluster."""
    cluster: str | None = None

    def write(self, folder: Path) -> None:
        if (folder / FLEET).exists():
            raise UsageError(f"{folder} holds a fleet already; name another --out, or --resume it")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FLEET).write_text(json.dumps(asdict(self), indent=1))


def read_plan(folder: Path) -> Plan:
    try:
        found = json.loads((folder / FLEET).read_text())
        order = Order(**{**found["order"], "options": tuple(found["order"]["options"])})
        return Plan(order, found["urls"], found["cluster"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LedgerError(f"{folder} holds no fleet; name the folder of one") from error


@dataclass(frozen=True)
class Came:
    """One machine has raced, or has not."""

    name: str
    result: dict[str, Any] | None
    reason: str = ""
    """Why not."""


Tell = Callable[[Came], None]


def finished(folder: Path) -> dict[str, dict[str, Any]]:
    """What machines have sent, by their names."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob(f"*/{RESULT}")):
        try:
            found[path.parent.name] = read_result(path.parent.name, path.read_text())
        except RegattaError as error:
            raise LedgerError(f"{path}: {error}; or remove it, and --resume") from error
    return found


def run_fleet(plan: Plan, folder: Path, tell: Tell) -> list[Came]:
    """Of every machine that has no result yet; what went wrong on one stops no other."""
    done = finished(folder)
    came = [Came(name, result) for name, result in done.items()]
    with machines_of(plan) as machines:
        left = [name for name in machines.names if name not in done]
        pool = ThreadPoolExecutor(max(1, len(left)))
        try:
            begun = [pool.submit(race_on, machines, name, plan.order, folder) for name in left]
            for one in as_completed(begun):
                came.append(one.result())
                tell(came[-1])
        except BaseException:
            machines.close()  # who waits for a machine hears that it is gone
            raise
        finally:
            pool.shutdown(cancel_futures=True)
    return came


def machines_of(plan: Plan) -> Any:
    """Only who races elsewhere needs the engine, and waits for its import."""
    from regatta.fleet.machines import ClusterMachines, SshMachines  # noqa: PLC0415  (the same)

    return SshMachines(plan.urls) if plan.cluster is None else ClusterMachines(plan.cluster)


def race_on(machines: Any, name: str, order: Order, folder: Path) -> Came:
    """Whatever goes wrong on one machine is a reason, and stops no other."""
    try:
        raced: Raced = machines.ask(name, race_there, order, name)
        result = read_result(name, raced.result)

        def piece_of(file: str, offset: int) -> bytes:
            there: bytes = machines.ask(name, piece, order.name, name, file, offset)
            return zlib.decompress(there)

        keep(folder / name, raced, piece_of)
    except Exception as error:
        said = str(error).removeprefix("on ").removeprefix(f"{name}: ")
        known = isinstance(error, RegattaError)
        return Came(name, None, said if known else f"{type(error).__name__}: {said}")
    with suppress(Exception):  # what was to be had of it is here
        machines.ask(name, forget, order.name, name)
    return Came(name, result)


def read_result(name: str, text: str) -> dict[str, Any]:
    """What a machine printed; PlacementError if this version cannot read all of it."""
    try:
        result: dict[str, Any] = json.loads(text)
        version = result["regatta_version"]
        standings_of({name: result})
        summary_of(result)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise PlacementError(
            f"its result cannot be read ({error}); build this version there"
        ) from error
    if version != __version__:
        raise PlacementError(f"it has Regatta {version}, and this machine {__version__}")
    return result


def keep(folder: Path, raced: Raced, piece_of: Callable[[str, int], bytes]) -> None:
    """The result last: it says that all is there."""
    folder.mkdir(exist_ok=True)
    for name in KEPT:
        with (folder / name).open("wb") as file:
            while file.tell() < raced.sizes[name]:
                file.write(piece_of(name, file.tell()))
    partial = folder / f".{RESULT}"
    partial.write_text(raced.result)
    partial.rename(folder / RESULT)
