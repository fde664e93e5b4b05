"""What a client says of its load once it is over, and whether that is believed."""

from typing import Any

from regatta.errors import TrialError
from regatta.ledger.cell import Cell
from regatta.ledger.result import CLIENT
from regatta.trial.serve import read_json
from regatta.trial.side import Side


class AnswersError(TrialError):
    """Not every request was answered correctly; the client's summary tells more."""

    def __init__(self, what: str, summary: dict[str, Any]) -> None:
        super().__init__(what)
        self.summary = summary


def samples_of(name: str) -> str:
    """The file that a client of this name writes."""
    return f"{name}.samples"


def read_samples(client: Side, name: str) -> bytes:
    """Of every request's latency, by the client of this name."""
    samples = client.file(samples_of(name))
    if samples is None:
        raise client.failure("the client wrote no samples")
    return samples


def sum_up(cell: Cell, client: Side, timeout_s: float) -> dict[str, Any]:
    """The client's report of its load; an error unless every request was answered."""
    status, summary = hear(client, timeout_s)
    if summary is not None:
        check_answers(cell, summary)
    return heard(client, CLIENT, status, summary)


def hear(client: Side, timeout_s: float) -> tuple[int, dict[str, Any] | None]:
    """Its status, and what it says; None if it says nothing."""
    status = client.wait(timeout_s)
    text = client.stdout()
    return status, read_json(text, CLIENT) if text.strip() else None


def heard(client: Side, name: str, status: int, summary: dict[str, Any] | None) -> dict[str, Any]:
    """An error if it did not end well."""
    if status != 0 or summary is None:
        raise client.failure(f"the {name} exited with status {status}")
    return summary


def check_answers(cell: Cell, summary: dict[str, Any]) -> None:
    """Every request must have been answered correctly."""
    requests, answered = summary.get("requests"), summary.get("answered")
    if not isinstance(requests, int) or not isinstance(answered, int):
        raise AnswersError("the client's JSON has no numbers of requests and answers", summary)
    expected = None if cell.rounds is None else cell.rounds * cell.connections
    if expected is not None and requests != expected:
        what = f"the client made {requests} requests where {expected} were planned"
        raise AnswersError(what, summary)
    if requests == 0:
        raise AnswersError("the client made no request", summary)
    if answered != requests:
        kinds = summary.get("errors")
        named = kinds.items() if isinstance(kinds, dict) else ()
        wrong = ", ".join(f"{count} {kind}" for kind, count in named if count)
        raise AnswersError(
            f"{requests - answered} of {requests} requests failed ({wrong})", summary
        )
