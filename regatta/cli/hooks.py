"""Whom a race asks: the doctor, the calibration and the analysis, which are built on races."""

from regatta.analysis.running.foretell import foretold
from regatta.analysis.running.foretell_claims import claims_foretold
from regatta.analysis.running.width import widest_lead
from regatta.analysis.statistics.blocks_needed import quick_note, too_few_note
from regatta.calibrate import store
from regatta.doctor import RaceSetup, serious
from regatta.machine.placed import HOSTS, Placement
from regatta.race.hooks import Hooks
from regatta.study import Study


def spoilers(study: Study, placement: Placement) -> dict[str, str]:
    """What the doctor finds serious for this race."""
    if placement.kind == HOSTS:
        return {}  # `regatta hosts check` looks at those
    most = max(cell.connections + cell.idle + cell.slow for cell in study.cells)
    groups = placement.server.groups is not None
    return serious(
        RaceSetup(
            placement.server.cpus,
            placement.client.cpus,
            placement.kind,
            most,
            groups,
            placement.steering,
            placement.network,
        )
    )


def unseen(study: Study) -> tuple[str, ...]:
    """What the study's verdicts cannot show."""
    notes = (quick_note(study), too_few_note(study), foretold(study), claims_foretold(study))
    return tuple(note for note in notes if note)


HOOKS = Hooks(
    spoilers=spoilers, unseen=unseen, calibration=store.for_ledger, widest_lead=widest_lead
)
