"""Races a study on several machines, a fleet, at the same time and collects their results.

The fleet can be resumed from its folder, which has `fleet.json` and one folder a machine with
`ledger.sqlite`, `report.html` and `result.json`. The result is written last: a machine that has one
is finished.
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
from regatta.verbs.fleet.machines import (
    FILES,
    RaceOrder,
    RaceOutput,
    race_on_this_host,
    read_chunk,
    remove_race,
)
from regatta.verbs.fleet.standings import standings_of, summary_of

FLEET, RESULT = "fleet.json", "result.json"


@dataclass(frozen=True)
class Plan:
    """The study of a fleet and its machines."""

    order: RaceOrder
    urls: list[str]
    """`ssh://…`; empty if the workers of a cluster race."""
    cluster: str | None = None

    def write(self, folder: Path) -> None:
        if (folder / FLEET).exists():
            raise UsageError(f"{folder} already has a fleet; name another --out, or --resume it")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FLEET).write_text(json.dumps(asdict(self), indent=1))


def read_plan(folder: Path) -> Plan:
    try:
        found = json.loads((folder / FLEET).read_text())
        order = RaceOrder(**{**found["order"], "options": tuple(found["order"]["options"])})
        return Plan(order, found["urls"], found["cluster"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LedgerError(f"{folder} is not the folder of a fleet") from error


@dataclass(frozen=True)
class MachineResult:
    """The result of one machine, or why it has none."""

    name: str
    result: dict[str, Any] | None
    reason: str = ""


def finished(folder: Path) -> dict[str, dict[str, Any]]:
    """The results in the folder, by machine."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob(f"*/{RESULT}")):
        try:
            found[path.parent.name] = read_result(path.parent.name, path.read_text())
        except RegattaError as error:
            raise LedgerError(f"{path}: {error}; or remove this file and --resume") from error
    return found


def run_fleet(
    plan: Plan, folder: Path, on_result: Callable[[MachineResult], None]
) -> list[MachineResult]:
    """Races on every machine that has no result yet, and returns the results of all."""
    done = finished(folder)
    outcomes = [MachineResult(name, result) for name, result in done.items()]
    with machines_of(plan) as machines:
        left = [name for name in machines.names if name not in done]
        pool = ThreadPoolExecutor(max(1, len(left)))
        try:
            begun = [pool.submit(race_on, machines, name, plan.order, folder) for name in left]
            for one in as_completed(begun):
                outcomes.append(one.result())
                on_result(outcomes[-1])
        except BaseException:
            machines.close()  # ends the calls that wait for a machine
            raise
        finally:
            pool.shutdown(cancel_futures=True)
    return outcomes


def machines_of(plan: Plan) -> Any:
    """Imports Dask only when a fleet runs."""
    from regatta.verbs.fleet.machines import ClusterMachines, SshMachines  # noqa: PLC0415

    return SshMachines(plan.urls) if plan.cluster is None else ClusterMachines(plan.cluster)


def race_on(machines: Any, name: str, order: RaceOrder, folder: Path) -> MachineResult:
    """Races on one machine. Any error becomes its reason and does not stop the others."""
    try:
        raced: RaceOutput = machines.ask(name, race_on_this_host, order, name)
        result = read_result(name, raced.result)

        def chunk_of(file: str, offset: int) -> bytes:
            compressed: bytes = machines.ask(name, read_chunk, order.name, name, file, offset)
            return zlib.decompress(compressed)

        save(folder / name, raced, chunk_of)
    except Exception as error:
        said = str(error).removeprefix("on ").removeprefix(f"{name}: ")
        known = isinstance(error, RegattaError)
        return MachineResult(name, None, said if known else f"{type(error).__name__}: {said}")
    with suppress(Exception):  # the result is here; the rest is cleanup
        machines.ask(name, remove_race, order.name, name)
    return MachineResult(name, result)


def read_result(name: str, text: str) -> dict[str, Any]:
    """Parses what a machine printed; PlacementError if this version cannot read it."""
    try:
        result: dict[str, Any] = json.loads(text)
        version = result["regatta_version"]
        standings_of({name: result})
        summary_of(result)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise PlacementError(
            f"its result cannot be read ({error}); build Regatta {__version__} there"
        ) from error
    if version != __version__:
        raise PlacementError(f"it runs Regatta {version} and this machine {__version__}")
    return result


def save(folder: Path, raced: RaceOutput, chunk_of: Callable[[str, int], bytes]) -> None:
    """Writes the files of a machine, the result last."""
    folder.mkdir(exist_ok=True)
    for name in FILES:
        with (folder / name).open("wb") as file:
            while file.tell() < raced.sizes[name]:
                file.write(chunk_of(name, file.tell()))
    partial = folder / f".{RESULT}"
    partial.write_text(raced.result)
    partial.rename(folder / RESULT)
