"""The study's claims, baseline and calibration, for the ledger: a report needs nothing else."""

from dataclasses import replace

from regatta.ledger.inputs.records import Baseline, RaceInputs
from regatta.race.hooks import Hooks
from regatta.study import Study
from regatta.study.claims.published import recorded_claims
from regatta.study.published_csv import read_published


def given_to(study: Study, hooks: Hooks) -> RaceInputs:
    return RaceInputs(recorded_claims(study), recorded_baseline(study), hooks.calibration())


def recorded_baseline(study: Study) -> Baseline | None:
    """`[baseline]` with its published figures."""
    baseline = study.baseline
    if baseline is None:
        return None
    if baseline.published is None:
        return Baseline(baseline.contender)
    table = read_published(study.folder / baseline.published)
    return Baseline(baseline.contender, replace(table, at=baseline.published_at))
