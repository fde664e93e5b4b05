"""Races a study on every machine of a fleet at once, and keeps what each sends back.

The folder says what the fleet is, so that it can go on: `fleet.json`, and one folder a machine with
`ledger.sqlite`, `report.html` and, last, `result.json`. A machine with a result is finished.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from regatta.errors import LedgerError, RegattaError, UsageError
from regatta.fleet.there import Order, Raced, forget, race_there

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
            found[path.parent.name] = json.loads(path.read_text())
        except ValueError as error:
            raise LedgerError(f"{path} is damaged; remove it, and --resume") from error
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
    try:
        raced: Raced = machines.ask(name, race_there, order, name)
        result = json.loads(raced.result)
        keep(folder / name, raced)
        machines.ask(name, forget, order.name, name)
    except (RegattaError, ValueError, zlib.error, OSError) as error:
        return Came(name, None, str(error).removeprefix("on ").removeprefix(f"{name}: "))
    return Came(name, result)


def keep(folder: Path, raced: Raced) -> None:
    """The result last: it says that all is there."""
    folder.mkdir(exist_ok=True)
    for name, content in raced.files.items():
        (folder / name).write_bytes(zlib.decompress(content))
    partial = folder / f".{RESULT}"
    partial.write_text(raced.result)
    partial.rename(folder / RESULT)
