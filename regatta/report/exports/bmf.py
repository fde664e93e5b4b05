"""Bencher Metric Format: {benchmark: {measure: {value, lower_value, upper_value}}}."""

import json

from regatta.analysis.results import Analysis
from regatta.report.exports.figures import figures
from regatta.report.text.printable import printable


def to_bmf(analysis: Analysis) -> str:
    found: dict[str, dict[str, dict[str, float]]] = {}
    for one in figures(analysis):
        metric = {"value": one.value}
        for key, end in (("lower_value", one.estimate.low), ("upper_value", one.estimate.high)):
            if end is not None:
                metric[key] = end
        found.setdefault(printable(one.benchmark), {})[one.metric.name] = metric
    return json.dumps(found, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
