"""What a study and its machine give a race: a report needs nothing but the ledger."""

from dataclasses import replace

from regatta.ledger.given.records import Baseline, Given
from regatta.race.hooks import Hooks
from regatta.study import Study
from regatta.study.claims.published import recorded_claims
from regatta.study.published import read_published


def given_to(study: Study, hooks: Hooks) -> Given:
    return Given(recorded_claims(study), recorded_baseline(study), hooks.calibration())


def recorded_baseline(study: Study) -> Baseline | None:
    """`[baseline]` with its published figures."""
    baseline = study.baseline
    if baseline is None:
        return None
    if baseline.published is None:
        return Baseline(baseline.contender)
    table = read_published(study.folder / baseline.published)
    return Baseline(baseline.contender, replace(table, at=baseline.published_at))
