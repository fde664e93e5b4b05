"""A resumed race is the race that was begun: as many sittings, the same accounts."""

from __future__ import annotations

from dataclasses import replace

from regatta.errors import UsageError
from regatta.ledger.cell import matched_cells
from regatta.ledger.write import Ledger
from regatta.machine import sleep
from regatta.machine.perf import GROUP, Perf
from regatta.machine.placement import Placement
from regatta.machine.steering import NONE, OWN_SIDE
from regatta.race.matched.held import held_by
from regatta.study import Study, with_rates


def keep_sittings(book: Ledger, study: Study) -> Study:
    """The study in as many sittings as the race was begun with."""
    sittings, pause_s = (int(book.meta(name) or 0) for name in ("sittings", "pause_s"))
    kept = study.but(sittings=sittings, pause_s=pause_s)
    return kept if sittings == 1 else kept.but(width_percent=None, most_blocks=None)


def keep_accounts(book: Ledger, place: Placement, found: Perf) -> Perf:
    """The perf to resume with; the place drops what the race did without so far.

    An error if the race was begun with accounts that are unavailable now: its trials would not be
    of one kind.
    """
    then = book.environment("placement")
    if not isinstance(then, dict):
        return found
    grouped = then.get("control_groups") is True
    followed = book.environment("perf_follows") == GROUP
    if (grouped and place.server.groups is None) or (followed and not found.by_group):
        raise UsageError(
            "the race was begun with accounts of control groups, which are not permitted now; "
            "resume it as root, or start a new race"
        )
    if then.get("steering") == OWN_SIDE and place.steering.kind != OWN_SIDE:
        raise UsageError(
            "the race was begun with packets steered to the receiving side's CPUs, which is not "
            "permitted now; resume it as root, or start a new race"
        )
    source = (then.get("whole_cpu") or {}).get("source", place.sleep_source)
    if source == sleep.TIMER_LIST and place.sleep_source != source:
        raise UsageError(
            "the race was begun with an exact account of its CPUs' sleep, which may not be read "
            "now; resume it as root, or start a new race"
        )
    place.sleep_source = source
    if not grouped:
        place.server = replace(place.server, groups=None)
        place.client = replace(place.client, groups=None)
    return replace(found, by_group=followed)


def settled(book: Ledger, study: Study) -> Study:
    """The study with the cells from its searches."""
    held = held_by(matched_cells(study.cells), book.probes(), study.search_blocks)
    return study.but(cells=with_rates(study.cells, held))


def restore_place(study: Study, book: Ledger) -> Study:
    """The study with the race's original CPUs and network."""
    place = book.environment("placement")
    kind = book.placement() or study.placement
    if not isinstance(place, dict):
        return study.but(placement=kind)
    return study.but(
        placement=kind,
        server_cpus=tuple(place["server_cpus"]),
        client_cpus=tuple(place["client_cpus"]),
        steering=place.get("steering", NONE),
    )
