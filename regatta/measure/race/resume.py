"""Restores the settings of a stopped race: blocks, sittings, placement and accounts."""

import json
from dataclasses import replace

from regatta.errors import LedgerError, UsageError
from regatta.measure.accounts import whole_cpu
from regatta.measure.perf import GROUP, Perf
from regatta.measure.places.sides import Placement
from regatta.record.cell import matched_cells
from regatta.record.inputs import Claim, read_inputs
from regatta.record.rate_search import held_by
from regatta.record.study import Study, with_rates
from regatta.record.study.limits import OWN_SIDE, UNSTEERED
from regatta.record.write import Ledger

NUMBERS = (
    *("blocks", "counted_blocks", "alone_blocks", "sampled_blocks", "search_blocks", "sittings"),
    "pause_s",
)
"""Fields of the study that options may override, by their names in the ledger."""
SWITCHES = ("quick", "few_blocks")


def keep_options(ledger: Ledger, study: Study) -> Study:
    """The study with its original overrides and claims."""
    said = {name: ledger.meta(name) for name in (*NUMBERS, "most_blocks")}
    numbers = {name: int(text) for name, text in said.items() if text is not None}
    switches = {name: ledger.meta(name) == "yes" for name in SWITCHES}
    same = study.but(claims=recorded_claims(ledger), **numbers, **switches)
    keeps_width = same.sittings == 1 and ledger.meta("ends_by_width") != "no"
    return same if keeps_width else same.but(width_percent=None, most_blocks=None)


def left_out_then(ledger: Ledger) -> dict[str, str]:
    """Designs that could not run where the race was started, and why."""
    recorded = ledger.environment("left_out")
    return recorded if isinstance(recorded, dict) else {}


def recorded_claims(ledger: Ledger) -> tuple[Claim, ...]:
    """The recorded claims, as the study's files may have changed since the start."""
    try:
        return tuple(recorded.claim for recorded in read_inputs(ledger.database).claims)
    except ValueError as error:
        raise LedgerError(
            f"{ledger.path}: its claims cannot be read ({error}); is the file complete?"
        ) from error


def keep_accounts(ledger: Ledger, placement: Placement, found: Perf) -> Perf:
    """The perf to resume with; also drops accounts from the placement that the race never had.

    UsageError if accounts that the race started with are unavailable now, as its trials would not
    be comparable.
    """
    then = ledger.environment("placement")
    if not isinstance(then, dict):
        return found
    grouped = then.get("control_groups") is True
    followed = ledger.environment("perf_follows") == GROUP
    steered = then.get("steering") == OWN_SIDE
    source = (then.get("whole_cpu") or {}).get("source", placement.sleep_source)
    exact = source == whole_cpu.TIMER_LIST
    lost = {
        "CPU time from control groups": (grouped and placement.server.groups is None)
        or (followed and not found.by_group),
        "packets steered to the receiving side's CPUs": steered
        and placement.steering.kind != OWN_SIDE,
        "exact sleep times of its CPUs": exact and placement.sleep_source != source,
    }
    for what, is_lost in lost.items():
        if is_lost:
            raise UsageError(
                f"the race was started with {what}, which is not permitted now; resume it as root, "
                "or start a new race"
            )
    placement.sleep_source = source
    if not grouped:
        placement.server = replace(placement.server, groups=None)
        placement.client = replace(placement.client, groups=None)
    return replace(found, by_group=followed)


def settled(ledger: Ledger, study: Study) -> Study:
    """The study with the rates that its searches found, and the durations that fitted."""
    held = held_by(matched_cells(study.cells), ledger.probes(), study.search_blocks)
    cells = with_rates(study.cells, held)
    durations_s = json.loads(ledger.meta("durations_s") or "[]") or [
        cell.duration_s for cell in cells
    ]
    return study.but(
        cells=tuple(
            replace(cell, duration_s=duration_s)
            for cell, duration_s in zip(cells, durations_s, strict=True)
        )
    )


def restore_placement(study: Study, ledger: Ledger) -> Study:
    recorded = ledger.environment("placement")
    kind = ledger.placement() or study.placement
    if not isinstance(recorded, dict):
        return study.but(placement=kind)
    return study.but(
        placement=kind,
        server_cpus=tuple(recorded["server_cpus"]),
        client_cpus=tuple(recorded["client_cpus"]),
        steering=recorded.get("steering", UNSTEERED),
        network=recorded.get("network", study.network),
        engine=recorded.get("engine", study.engine),
    )
