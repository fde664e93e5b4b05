"""A server started by hand: one request, many clients at once, and a CPU for each side."""

import re
import shlex

from regatta.teach.lab.state import CommandOutput, StepResult, lab_command
from regatta.teach.lab.step import CTRL_C, HERE, Lab, Typed

ITERATIVE = "iterative"
"""The simplest design; the first steps are about it."""
ROUNDS = 20
"""Enough rounds for a meaningful rate."""
PATIENCE_MS = 1000
"""Timeout of the client that waits behind a silent one."""
SUMMARY = re.compile(r"^\d+ requests? to ", re.MULTILINE)
ONE_ANSWER = re.compile(r"^connection \d+ of \d+.*$", re.MULTILINE)
UNANSWERED = re.compile(r": 0 answered, \d+ timeout$", re.MULTILINE)
BLOCKED = (
    "The last request timed out, as expected: while the silent client is connected, the iterative "
    "server serves no other client. It continues as soon as that client disconnects."
)
NOT_BLOCKED = (
    "The last request did not wait behind a silent client: the silent client must still be "
    "connected when you send it. To repeat this step:"
)


def one_request(lab: Lab) -> list[Typed]:
    return [
        Typed(1, shlex.join(lab.server(ITERATIVE))),
        lab.asking(lab.tools.request(), "answer.txt"),
        Typed(1, CTRL_C),
    ]


def many_and_a_silent_one(lab: Lab) -> list[Typed]:
    impatient = [lab.tools.client, "--timeout", str(PATIENCE_MS), HERE]
    return [
        Typed(1, shlex.join(lab.server(ITERATIVE))),
        lab.asking([*lab.client(), HERE], "clients.txt"),
        Typed(3, lab.tools.silent_client()),
        lab.asking(impatient, "behind-a-silent-one.txt"),
        Typed(3, CTRL_C),
        Typed(1, CTRL_C),
    ]


def served_behind_a_silent_one(lab: Lab) -> StepResult:
    many, behind = lab.printed(many_and_a_silent_one(lab))
    said = BLOCKED
    if not UNANSWERED.search(behind.output):
        said = f"{NOT_BLOCKED} {lab_command(lab.folder, '--again', 'clients')}"
    behind = CommandOutput(f"{behind.command}   (behind a silent client)", behind.output)
    return StepResult(said=(said,), printed=(shortened(many), behind))


def shortened(whole: CommandOutput) -> CommandOutput:
    """Of a load's output: the first and the last answer, and the summary that follows."""
    found = list(SUMMARY.finditer(whole.output))
    if not found:
        return whole
    answers = ONE_ANSWER.findall(whole.output)
    ends = [*answers[:1], *answers[1:][-1:]]
    return CommandOutput(whole.command, "\n".join([*ends, whole.output[found[-1].start() :]]))


def apart_and_together(lab: Lab) -> list[Typed]:
    client = lab.client("--rounds", str(ROUNDS), "--quiet")
    apart = [*lab.tools.pinned(client, lab.tools.client_cpus), HERE]
    together = [*lab.tools.pinned(client, lab.tools.server_cpus), HERE]
    return [
        Typed(1, shlex.join(lab.pinned_server(ITERATIVE))),
        lab.asking(apart, "cpus-apart.txt"),
        lab.asking(together, "cpus-together.txt"),
        Typed(1, CTRL_C),
    ]
