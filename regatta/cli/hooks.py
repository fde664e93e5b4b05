"""What a race calls in the layers above it: doctor, calibration and analysis."""

from regatta.analysis.running.claims_power import claims_power_note
from regatta.analysis.running.lead_width import reason_to_stop
from regatta.analysis.running.standings_power import standings_power_note
from regatta.analysis.statistics.blocks_needed import quick_note, too_few_note
from regatta.calibrate import store
from regatta.doctor.examine import serious
from regatta.doctor.finding import RaceSetup
from regatta.machine.sides.placement import HOSTS, Placement
from regatta.race.hooks import Hooks
from regatta.study import Study


def spoilers(study: Study, placement: Placement) -> dict[str, str]:
    """The serious findings of the doctor for this race."""
    if placement.kind == HOSTS:
        return {}  # `regatta doctor STUDY` examines remote hosts
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
    """Notes on what the verdicts of the study cannot show."""
    notes = (
        quick_note(study),
        too_few_note(study),
        standings_power_note(study),
        claims_power_note(study),
    )
    return tuple(note for note in notes if note)


HOOKS = Hooks(spoilers=spoilers, unseen=unseen, calibration=store.for_ledger, enough=reason_to_stop)
