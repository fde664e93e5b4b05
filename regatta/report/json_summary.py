"""The summary as plain data, for `regatta race --json` and for programs."""

from dataclasses import asdict
from typing import Any

from regatta.analysis.analyse import Analysis, CellResult, Group
from regatta.analysis.metrics import BY_NAME
from regatta.analysis.standings import Verdict
from regatta.report.sentences import verdict_sentence


def to_dict(analysis: Analysis) -> dict[str, Any]:
    return {
        "study": analysis.meta.get("study_name"),
        "title": analysis.meta.get("study_title"),
        "regatta_version": analysis.meta.get("regatta_version"),
        "seed": analysis.meta.get("seed"),
        "created_at": analysis.meta.get("created_at"),
        "finished_at": analysis.meta.get("finished_at"),
        "trials": {
            "planned": analysis.planned,
            "run": analysis.trials,
            "failed": len(analysis.failures),
            "ok": analysis.trial_kinds,
        },
        "contenders": analysis.contenders,
        "groups": [_group(group) for group in analysis.groups],
        "failures": [
            {
                "contender": failure.cell.contender,
                "connections": failure.cell.connections,
                "engine": failure.cell.engine,
                "block": failure.trial.block,
                "kind": failure.trial.kind,
                "reason": failure.trial.reason,
            }
            for failure in analysis.failures
        ],
        "environment": analysis.environment,
    }


def _group(group: Group) -> dict[str, Any]:
    return {
        "title": group.title,
        "cells_share": group.facts,
        "overall": _verdict(group, group.overall),
        "by_connections": [_verdict(group, verdict) for verdict in group.by_connections],
        "cells": [_cell(result) for result in group.cells],
    }


def _verdict(group: Group, verdict: Verdict) -> dict[str, Any]:
    return {**asdict(verdict), "sentence": verdict_sentence(group, verdict)}


def _cell(result: CellResult) -> dict[str, Any]:
    metrics: dict[str, dict[str, Any]] = {"server": {}, "client": {}}
    for (side, name), estimate in result.estimates.items():
        metrics[side][name] = {**asdict(estimate), "unit": BY_NAME[name].unit}
    return {
        "contender": result.cell.contender,
        "connections": result.cell.connections,
        "trials_ok": result.ok,
        "trials_failed": result.failed,
        "metrics": metrics,
    }
