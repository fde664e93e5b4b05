"""A server started by hand: one request, many clients at once, and a CPU for each side."""

import re
import shlex
from collections.abc import Sequence

from regatta.teach.lab.state import CommandOutput, StepResult, lab_command
from regatta.teach.lab.step import CTRL_C, HERE, Lab, Step, Typed

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


def clients_in(commands: Sequence[Typed]) -> list[Typed]:
    return [typed for typed in commands if typed.asks]


def one_request(lab: Lab) -> list[Typed]:
    return [
        Typed(1, shlex.join(lab.server(ITERATIVE))),
        lab.asking(lab.tools.request(), "answer.txt"),
        Typed(1, CTRL_C),
    ]


ASK_BY_HAND = Step(
    name="server",
    title="One server, queried by hand",
    text=(
        "A server waits for requests and answers them. This one reports which processes on this "
        "machine have used the most CPU time; it finds that out from the files in /proc. It comes "
        "in many designs, which differ only in how they serve several clients. `iterative` is the "
        "simplest: one process, one client at a time.",
        "Keep this terminal open, and open two more in the same folder. Start the server in the "
        "first one and send it a request from the second: `top 2` is the whole request. Then stop "
        "the server with Ctrl-C.",
    ),
    questions=(
        "Which process has used the most CPU time, and how much of that time was spent in the "
        "kernel?",
        "What must the server do to find that out? Look at the output of `ls /proc` and "
        "`cat /proc/self/stat`.",
    ),
    commands=one_request,
    result=lambda lab: StepResult(printed=tuple(map(lab.printed, clients_in(one_request(lab))))),
)


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


def served_behind(lab: Lab) -> StepResult:
    many, behind = map(lab.printed, clients_in(many_and_a_silent_one(lab)))
    said = BLOCKED
    if not UNANSWERED.search(behind.output):
        said = f"{NOT_BLOCKED} {lab_command(lab.folder, '--again', ASK_WITH_MANY.name)}"
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


ASK_WITH_MANY = Step(
    name="clients",
    title="Many clients, and a silent one",
    text=(
        "The client program opens many connections at once, sends one request on each, checks "
        "every answer, and prints how long each one took. An iterative server answers the "
        "connections one after another, so the last one waits for all the others.",
        "The last lines are a summary. The words in brackets say how the client sent its requests: "
        "`burst` means all connections at once; `epoll` is how the client waits for its answers, "
        "whatever the server's design; `line` is the plain-text request that you typed.",
        "Next, let a client connect and send nothing, and meanwhile send another request. The "
        "server cannot know that the silent client will never send anything. The second client "
        "gives up after one second.",
    ),
    questions=(
        "How much longer did the last client wait than the first, and why?",
        "How did the silent client affect the others? Which designs could keep serving meanwhile, "
        "and what does each of them need for that: a process, a thread, a call such as select?",
    ),
    commands=many_and_a_silent_one,
    result=served_behind,
)


def apart_and_together(lab: Lab) -> list[Typed]:
    client = lab.client("--rounds", str(ROUNDS), "--quiet")
    placed = (("apart", lab.tools.client_cpus), ("together", lab.tools.server_cpus))
    return [
        Typed(1, shlex.join(lab.pinned_server(ITERATIVE))),
        *(
            lab.asking([*lab.tools.pinned(client, cpus), HERE], f"cpus-{name}.txt")
            for name, cpus in placed
        ),
        Typed(1, CTRL_C),
    ]


ASK_ON_TWO_CPUS = Step(
    name="cpus",
    title="A CPU for each side",
    text=(
        "Server and client run on the same machine, and the kernel moves processes between CPUs "
        "as it sees fit. If both run on one CPU, they compete for it, and a slow client looks like "
        "a slow server. `taskset` restricts a program to certain CPUs.",
        "More CPUs are not always faster: with short requests, a single CPU for both may answer "
        "more of them, because no process has to be woken up on another CPU for each answer. We "
        "use two CPUs to measure the two sides separately.",
        "Run the client twice: first with a CPU for each side, then with both on the server's CPU. "
        "From now on the server runs with `--quiet`, because logging its clients costs CPU time, "
        "too.",
    ),
    questions=(
        "How many requests per second were answered with a CPU for each side, and how many with "
        "one CPU for both?",
        "Which of the two tells you more about the server? What would you need in order to measure "
        "it without a client on the same machine?",
    ),
    commands=apart_and_together,
    result=lambda lab: StepResult(
        printed=tuple(map(lab.printed, clients_in(apart_and_together(lab))))
    ),
)
