"""github-action-benchmark, tool customSmallerIsBetter: [{name, unit, value, range, extra}]."""

import json

from regatta.analysis.results import Analysis
from regatta.report.exports.figures import figures
from regatta.report.text.numbers import around, plural
from regatta.report.text.printable import printable


def to_github_action(analysis: Analysis) -> str:
    found = []
    for one in figures(analysis):
        _, half = around(one.estimate)
        entry = {
            "name": printable(f"{one.benchmark}: {one.metric.label}"),
            "unit": one.metric.unit,
            "value": one.value,
            "extra": f"{plural(one.estimate.trials, 'trial')}\n95 % interval",
        }
        found.append(entry | ({"range": f"± {half}"} if half else {}))
    return json.dumps(found, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
