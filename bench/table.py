"""The outcomes as tables and as JSON."""

import json
from dataclasses import asdict, dataclass
from functools import partial
from statistics import median
from typing import Any

from rich.table import Table

from bench.rows import Best
from bench.side_by_side import Outcome
from regatta.judge.estimates import digits
from regatta.record.study.limits import NETNS

UNSURE = "?"

four_digits = partial(digits, count=4)


@dataclass(frozen=True)
class Report:
    """The results of a run. `left_out`: rows that cannot be measured here, with the reason."""

    outcomes: list[Outcome]
    left_out: dict[str, str]
    failures: list[str]
    environment: dict[str, Any]
    blocks: int
    seed: int


def met(outcome: Outcome) -> str:
    """Whether the estimate meets the goal; marked if the interval includes the goal's bound."""
    goal = outcome.row.goal
    if goal is None or outcome.value is None:
        return ""
    word = "yes" if goal.is_met(outcome.value) else "no"
    return word + (UNSURE if outcome.verdict == "undecided" else "")


def caption(report: Report) -> str:
    placement = report.environment["placement"]
    kind = "two network namespaces joined by veth" if placement["kind"] == NETNS else "loopback"
    peers = ", ".join(f"{name} {version}" for name, version in report.environment["peers"].items())
    lines = [
        f"{report.blocks} blocks, seed {report.seed}; server on CPU {placement['server_cpus'][0]}, "
        f"client on CPU {placement['client_cpus'][0]}, {kind}; {peers}",
        "ours, peer: medians; ratio: the geometric mean over blocks; "
        f"{UNSURE}: the interval includes the goal's bound",
    ]
    lines += [f"left out: {name}: {reason}" for name, reason in report.left_out.items()]
    return "\n".join(lines)


def cells(outcome: Outcome) -> tuple[str, ...]:
    row = outcome.row
    if outcome.value is None or outcome.low is None or outcome.high is None:
        return (row.name, "", "", "failed", "", str(row.goal or ""), "")
    with_peer = row.peer is not None
    show = "{:.3f}".format if with_peer else four_digits
    return (
        row.name,
        four_digits(median(outcome.ours)),
        four_digits(median(outcome.peer)) if with_peer else "",
        show(outcome.value) if with_peer else "",
        f"{show(outcome.low)} to {show(outcome.high)}",
        str(row.goal or ""),
        met(outcome),
    )


def tables(report: Report) -> list[Table | str]:
    """A table for each figure, and a caption for all."""
    found: list[Table | str] = []
    for figure in dict.fromkeys(outcome.row.figure for outcome in report.outcomes):
        table = Table(title=figure, title_justify="left")
        for column in ("comparison", "ours", "peer", "ratio", "95 % interval", "goal", "met"):
            table.add_column(column, justify="left" if column == "comparison" else "right")
        for outcome in report.outcomes:
            if outcome.row.figure == figure:
                table.add_row(*cells(outcome))
        found.append(table)
    return [*found, caption(report)]


def as_record(outcome: Outcome) -> dict[str, Any]:
    row = outcome.row
    assert not isinstance(row.ours, Best)
    return {
        "comparison": row.name,
        "figure": row.figure,
        "ours": row.ours.name,
        "peer": row.peer.name if row.peer is not None else None,
        "value": outcome.value,
        "low": outcome.low,
        "high": outcome.high,
        "goal": asdict(row.goal) if row.goal is not None else None,
        "verdict": outcome.verdict,
        "our_values": outcome.ours,
        "peer_values": outcome.peer,
    }


def as_json(report: Report) -> str:
    """The rows with the values of every block, for other estimates."""
    return json.dumps(
        {
            "blocks": report.blocks,
            "seed": report.seed,
            "comparisons": [as_record(outcome) for outcome in report.outcomes],
            "left_out": report.left_out,
            "failures": report.failures,
            "environment": report.environment,
        },
        indent=1,
    )
