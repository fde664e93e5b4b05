"""The charts of a lab; each design has the same colour and shape as in all other reports."""

from collections.abc import Mapping

from regatta.show.charts import SCHEMA, colours, drawn_digits, quantity, shapes, word
from regatta.show.view import Spec

HEIGHT = 240
MS = "server CPU time, ms"
US = "server CPU per request, µs"


def bars(values: Mapping[str, float], title: str) -> Spec:
    """One bar per design, starting at 0."""
    rows = [{"design": name, "value": drawn_digits(value)} for name, value in values.items()]
    names = list(values)
    return {
        "$schema": SCHEMA,
        "height": {"step": 30},
        "data": {"values": rows},
        "mark": {"type": "bar", "size": 18},
        "encoding": {
            "x": quantity("value", title=title, scale={"zero": True}),
            "y": word("design", title=None, sort=names, axis={"labelLimit": 160}),
            "color": colours(names),
        },
    }


def runs(values: Mapping[str, Mapping[int, float]], title: str) -> Spec:
    """One line per design; x is the number of the run."""
    rows = [
        {"design": name, "run": run, "value": drawn_digits(value)}
        for name, by_run in values.items()
        for run, value in by_run.items()
    ]
    names = list(values)
    at = {
        "x": {"field": "run", "type": "ordinal", "title": "run", "axis": {"labelAngle": 0}},
        "y": quantity("value", title=title, scale={"zero": False}),
        "color": colours(names),
    }
    points = {
        "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
        "encoding": {**at, "shape": shapes(names)},
    }
    line = {"mark": {"type": "line", "strokeWidth": 1.25, "opacity": 0.6}, "encoding": at}
    return {
        "$schema": SCHEMA,
        "height": HEIGHT,
        "data": {"values": rows},
        "layer": [line, points],
    }
