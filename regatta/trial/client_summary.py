"""The summary that a client prints after its load, and its checks."""

import re
from typing import Any

from regatta.errors import TrialError
from regatta.ledger.cell import Cell
from regatta.ledger.result import CLIENT
from regatta.trial.server import read_json
from regatta.trial.side import Side

EXAMPLE = re.compile(r"for example (?:\w+: )?(.*); check ")
"""In the client's words (src/results/advice.c)."""


class AnswersError(TrialError):
    """Not every request was answered correctly; `summary` has the details."""

    def __init__(self, what: str, summary: dict[str, Any]) -> None:
        super().__init__(what)
        self.summary = summary


def samples_of(name: str) -> str:
    """The samples file of the client with this name."""
    return f"{name}.samples"


def read_samples(client: Side, name: str) -> bytes:
    """The latency samples that the client with this name wrote."""
    samples = client.file(samples_of(name))
    if samples is None:
        raise client.failure("the client wrote no samples")
    return samples


def sum_up(cell: Cell, client: Side, timeout_s: float) -> dict[str, Any]:
    """Waits for the client's end; an error unless every request was answered."""
    status, summary = wait_for_end(client, timeout_s)
    if summary is not None:
        check_answers(cell, summary, client)
    return check_end(client, CLIENT, status, summary)


def wait_for_end(client: Side, timeout_s: float) -> tuple[int, dict[str, Any] | None]:
    """The client's exit status and summary; None if it printed none."""
    status = client.wait(timeout_s)
    text = client.stdout()
    return status, read_json(text, CLIENT) if text.strip() else None


def check_end(
    client: Side, name: str, status: int, summary: dict[str, Any] | None
) -> dict[str, Any]:
    """The summary; an error if the client failed."""
    if status != 0 or summary is None:
        raise client.failure(f"the {name} exited with status {status}")
    return summary


def check_answers(cell: Cell, summary: dict[str, Any], *clients: Side) -> None:
    """Every request must have been answered correctly; the clients' words give an example."""
    requests, answered = summary.get("requests"), summary.get("answered")
    if not isinstance(requests, int) or not isinstance(answered, int):
        raise AnswersError("the client's JSON has no counts of requests and answers", summary)
    expected = None if cell.rounds is None else cell.rounds * cell.connections
    if expected is not None and requests != expected:
        what = f"the client made {requests} requests instead of {expected}"
        raise AnswersError(what, summary)
    if requests == 0:
        raise AnswersError("the client made no request", summary)
    if answered != requests:
        kinds = summary.get("errors")
        named = kinds.items() if isinstance(kinds, dict) else ()
        wrong = ", ".join(f"{count} {kind}" for kind, count in named if count)
        said = next(filter(None, (EXAMPLE.search(str(one.last_output())) for one in clients)), None)
        wrong += f", for example: {said[1]}" if said else ""
        raise AnswersError(
            f"{requests - answered} of {requests} requests failed ({wrong})", summary
        )
