"""The summary as plain data, for `regatta race --json` and for programs."""

from dataclasses import asdict
from typing import Any

from regatta.judge.claims.result import ClaimResult
from regatta.judge.results import Analysis, CellResult, Group, NotedTrial
from regatta.judge.standings import Verdict
from regatta.judge.statistics.blocks_needed import FEWEST_BLOCKS
from regatta.judge.twins import twin_shares
from regatta.record.cell import AXES, Cell
from regatta.record.inputs import Calibration, to_plain
from regatta.record.metrics import BY_NAME, PRIMARY, metric_named
from regatta.show.claim_words import detectable, seen_of
from regatta.show.held import held_json
from regatta.show.notes import notes
from regatta.show.soundness import sittings_sentence
from regatta.show.trials import cell_words
from regatta.show.verdicts import FAMILIES, verdict_sentence

META = ("regatta_version", "seed", "created_at", "finished_at")


def to_dict(analysis: Analysis) -> dict[str, Any]:
    meta, repeated, known = analysis.meta, analysis.repeated, analysis.calibration
    return {
        "study": meta.get("study_name"),
        "title": analysis.names.heading,
        **{name: meta.get(name) for name in META},
        "quick": meta.get("quick") == "yes",
        "trials": {
            "planned": analysis.planned,
            "run": analysis.trials,
            "failed": len(analysis.failures),
            "client_bound": len(analysis.client_bound),
            "disturbed": len(analysis.disturbed),
            "ok": analysis.trial_kinds,
        },
        "contenders": analysis.contenders,
        "families": {"primary": PRIMARY.name, "fewest_blocks": FEWEST_BLOCKS, "says": FAMILIES},
        "units": {"are": analysis.units.name, "fewest": analysis.units.fewest},
        "sittings": [asdict(sitting) for sitting in analysis.sittings],
        "sittings_say": sittings_sentence(analysis),
        "groups": [group_json(analysis, group) for group in analysis.groups],
        "held": held_json(analysis),
        "baseline": analysis.baseline and asdict(analysis.baseline),
        "claims": [_claim(claim) for claim in analysis.claims],
        "warm_ups": [asdict(warm) for warm in analysis.warm_ups],
        "outliers": [
            _of_cell(outlier.cell, vars(outlier) | {"unit": BY_NAME[outlier.metric].unit})
            for outlier in analysis.outliers
        ],
        "left_out": analysis.left_out,
        "notices": [note.sentence for note in notes(analysis)],
        "failures": [_noted(noted, noted.trial.reason) for noted in analysis.failures],
        "client_bound": [
            _noted(noted, noted.trial.client_bound) for noted in analysis.client_bound
        ],
        "disturbed": [
            _noted(noted, noted.trial.disturbed)
            | {"attempt": noted.trial.attempt, "run_again": noted.trial.superseded}
            for noted in analysis.disturbed
        ],
        "repeated": {
            "contenders": [asdict(hit) for hit in repeated.hits],
            "p_value": repeated.p_value,
            "furthest": repeated.furthest,
        },
        "memory_per_connection": [
            _of_cell(slope.cell, {"metric": slope.metric, "kib": asdict(slope.kib)})
            for slope in analysis.memory_per_connection
        ],
        "shared_loads": analysis.shared_loads and asdict(analysis.shared_loads),
        "lab_use": analysis.lab_use and asdict(analysis.lab_use),
        "wire": [
            _of_cell(
                wait.cell,
                {"share": wait.share, "ms": wait.ms, "says": wait.says, "do": wait.sign.do},
            )
            for wait in analysis.wire
        ],
        "clocks": [asdict(ran) for ran in analysis.clocks],
        "company": [asdict(ran) for ran in analysis.side_by_side],
        # Or what is wrong with its file.
        "calibration": to_plain(known)
        if isinstance(known, Calibration)
        else known and {"problem": known},
        "environment": analysis.environment,
    }


def _claim(claim: ClaimResult) -> dict[str, Any]:
    plain = asdict(claim)
    for scope, result in claim.scopes.items():
        for part, known in zip(plain["scopes"][scope]["parts"], result.parts, strict=True):
            part |= {"detectable": seen_of(known), "detectable_says": detectable(known)}
    return plain


def _of_cell(cell: Cell, more: dict[str, Any]) -> dict[str, Any]:
    return more | {"cell": cell.label(), "contender": cell.contender}


def _noted(noted: NotedTrial, why: str | None) -> dict[str, Any]:
    of_cell = {name: getattr(noted.cell, name) for name in ("connections", "engine")}
    of_trial = {name: getattr(noted.trial, name) for name in ("block", "kind")}
    return _of_cell(noted.cell, {**of_cell, **of_trial, "reason": why})


def group_json(analysis: Analysis, group: Group) -> dict[str, Any]:
    return {
        "title": group.title,
        "axis": group.axis.name,
        "cells_share": group.facts,
        "overall": _verdict(group, group.overall),
        "by_step": [_verdict(group, verdict) for verdict in group.by_step],
        "differences": [asdict(found) for found in group.differences],
        "between_sittings": group.between and asdict(group.between),
        "against_best": [asdict(against) for against in group.against],
        "leads_unconfirmed": [asdict(lead) for lead in group.unconfirmed],
        "twins": [asdict(share) for share in twin_shares(group, analysis.names.twins)],
        "anatomy": group.anatomy and asdict(group.anatomy),
        "time_spent": {name: asdict(spent) for name, spent in group.time_spent.items()},
        "cells": [_cell(result) for result in group.cells],
    }


def _verdict(group: Group, verdict: Verdict) -> dict[str, Any]:
    said = asdict(verdict)
    # In logarithms, and beside `leads_unconfirmed`, which has figures.
    del said["standing_of"], said["unconfirmed"]
    return {**said, "sentence": verdict_sentence(group, verdict)}


def _cell(result: CellResult) -> dict[str, Any]:
    metrics: dict[str, dict[str, Any]] = {"server": {}, "client": {}}
    for (side, name), estimate in result.estimates.items():
        metrics[side][name] = {**asdict(estimate), "unit": metric_named(name).unit}
    return {
        **{name: getattr(result.cell, name) for name in ("contender", *AXES)},
        "connections_per_worker": result.workers,
        "trials_ok": result.ok,
        "trials_failed": result.failed,
        "trials_client_bound": result.client_bound,
        "trials_held_up": result.held_up,
        "client_comfortable_rate": result.comfortable_rate,
        "started_share": result.started,
        "says": cell_words(result),
        "metrics": metrics,
    }
