"""The summary as plain data, for `regatta race --json` and for programs."""

from dataclasses import asdict
from typing import Any

from regatta.judge.claims.result import ClaimResult
from regatta.judge.results import Analysis, CellResult, Group, NotedTrial
from regatta.judge.soundness.repeated import Outlier
from regatta.judge.standings import Verdict
from regatta.judge.statistics.blocks_needed import FEWEST_BLOCKS
from regatta.judge.statistics.leads import RankConflict
from regatta.record.cell import AXES
from regatta.record.metrics import BY_NAME, PRIMARY, metric_named
from regatta.show.claim_words import detectable, seen_of
from regatta.show.environment import calibration_json
from regatta.show.group_tables import shares, twin_sentence
from regatta.show.held import held_json
from regatta.show.notes import notes
from regatta.show.soundness import sittings_sentence
from regatta.show.trials import cell_words
from regatta.show.verdicts import FAMILIES, verdict_sentence


def to_dict(analysis: Analysis) -> dict[str, Any]:
    return {
        "study": analysis.meta.get("study_name"),
        "title": analysis.names.heading,
        "regatta_version": analysis.meta.get("regatta_version"),
        "seed": analysis.meta.get("seed"),
        "quick": analysis.meta.get("quick") == "yes",
        "created_at": analysis.meta.get("created_at"),
        "finished_at": analysis.meta.get("finished_at"),
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
        "baseline": None if analysis.baseline is None else asdict(analysis.baseline),
        "claims": [_claim(claim) for claim in analysis.claims],
        "warm_ups": [asdict(one) for one in analysis.warm_ups],
        "outliers": [_outlier(one) for one in analysis.outliers],
        "left_out": analysis.left_out,
        "notices": [note.sentence for note in notes(analysis)],
        "failures": [_noted(noted, noted.trial.reason) for noted in analysis.failures],
        "client_bound": [
            _noted(noted, noted.trial.client_bound) for noted in analysis.client_bound
        ],
        "disturbed": [
            {
                **_noted(noted, noted.trial.disturbed),
                "attempt": noted.trial.attempt,
                "run_again": noted.trial.superseded,
            }
            for noted in analysis.disturbed
        ],
        "repeated": {
            "contenders": [asdict(hit) for hit in analysis.repeated.hits],
            "p_value": analysis.repeated.p_value,
            "furthest": analysis.repeated.furthest,
            "verdicts_that_move": len(analysis.repeated.changed),
        },
        "memory_per_connection": [
            {
                "cell": one.cell.label(),
                "contender": one.cell.contender,
                "metric": one.metric,
                "kib": asdict(one.kib),
            }
            for one in analysis.memory_per_connection
        ],
        "clients": asdict(analysis.clients),
        "lab_use": None if analysis.lab_use is None else asdict(analysis.lab_use),
        "wire": [
            {
                "contender": one.cell.contender,
                "cell": one.cell.label(),
                "share": one.share,
                "ms": one.ms,
                "says": one.says,
                "do": one.sign.do,
            }
            for one in analysis.wire
        ],
        "clocks": [asdict(ran) for ran in analysis.clocks],
        "company": [asdict(one) for one in analysis.side_by_side],
        "calibration": calibration_json(analysis),
        "environment": analysis.environment,
    }


def _claim(claim: ClaimResult) -> dict[str, Any]:
    plain = asdict(claim)
    for scope, result in claim.scopes.items():
        for part, known in zip(plain["scopes"][scope]["parts"], result.parts, strict=True):
            part |= {"detectable": seen_of(known), "detectable_says": detectable(known)}
    return plain


def _outlier(one: Outlier) -> dict[str, Any]:
    return {
        "cell": one.cell.label(),
        "contender": one.cell.contender,
        "block": one.block,
        "metric": one.metric,
        "value": one.value,
        "median": one.median,
        "unit": BY_NAME[one.metric].unit,
    }


def _noted(noted: NotedTrial, why: str | None) -> dict[str, Any]:
    return {
        "cell": noted.cell.label(),
        "contender": noted.cell.contender,
        "connections": noted.cell.connections,
        "engine": noted.cell.engine,
        "block": noted.trial.block,
        "kind": noted.trial.kind,
        "reason": why,
    }


def group_json(analysis: Analysis, group: Group) -> dict[str, Any]:
    return {
        "title": group.title,
        "axis": group.axis.name,
        "cells_share": group.facts,
        "overall": _verdict(group, group.overall),
        "by_step": [_verdict(group, verdict) for verdict in group.by_step],
        "differences": [asdict(difference) for difference in group.differences],
        "between_sittings": None if group.between is None else asdict(group.between),
        "against_best": [asdict(one) for one in group.against],
        "accounts_contradict": [_opposed(one, "charged", "busy") for one in group.contradictions],
        "leads_unconfirmed": [_opposed(one, "charged", "busy") for one in group.unconfirmed],
        "clock_inverts": [_opposed(one, "time", "cycles") for one in group.inversions],
        "twins": [
            {**asdict(share), "sentence": twin_sentence(share)} for share in shares(analysis, group)
        ],
        "cells": [_cell(result) for result in group.cells],
    }


def _opposed(one: RankConflict, first: str, second: str) -> dict[str, Any]:
    """`first` and `second`: names of the two measures."""
    return {"at": one.at, "less": one.less, "more": one.more, first: one.first, second: one.second}


def _verdict(group: Group, verdict: Verdict) -> dict[str, Any]:
    return {**asdict(verdict), "sentence": verdict_sentence(group, verdict)}


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
