"""A server started by hand: one request, many clients at once, and a CPU for each side."""

import re
import socket
from collections.abc import Sequence
from typing import ClassVar

from regatta.teach.lab import commands
from regatta.teach.lab.commands import HERE
from regatta.teach.lab.processes import output_of, serving
from regatta.teach.lab.state import ROUNDS, CommandOutput, StepResult
from regatta.teach.lab.step import Lab, Step, Typed

ITERATIVE = "iterative"
"""The simplest design; the first steps are about it."""
QUESTION = "top 2\n"
PATIENCE_MS = 1000
"""Timeout of the client that waits behind a silent one."""
SUMMARY = re.compile(r"^\d+ requests? to ", re.MULTILINE)
ONE_ANSWER = re.compile(r"^connection \d+ of \d+.*$", re.MULTILINE)
ANSWERED = re.compile(r"^rank |: (all|[1-9]\d*) answered", re.MULTILINE)
UNANSWERED = re.compile(r": 0 answered, \d+ timeout$", re.MULTILINE)
BLOCKED = (
    "The last request timed out, as expected: while the silent client is connected, the iterative "
    "server serves no other client. It continues as soon as that client disconnects."
)
NOT_BLOCKED = (
    "The last request did not wait behind a silent client: the silent client must still be "
    "connected when you send it. To repeat this step:"
)


def summary_of(lab: Lab, command: str, name: str) -> CommandOutput:
    """Of a load's output: the first and the last answer, and the summary that follows."""
    whole = lab.printed(command, name)
    found = list(SUMMARY.finditer(whole.output))
    if not found:
        return whole
    answers = ONE_ANSWER.findall(whole.output)
    ends = [*answers[:1], *answers[1:][-1:]]
    return CommandOutput(command, "\n".join([*ends, whole.output[found[-1].start() :]]))


class Asking(Step):
    """A step with a client, which also writes its file if it finds no server."""

    answered: ClassVar[tuple[str, ...]]
    """Files that must hold an answer."""

    def missing_files(self, lab: Lab) -> list[str]:
        found = super().missing_files(lab)
        return found + [
            name
            for name in self.answered
            if name not in found and not ANSWERED.search(lab.printed("", name).output)
        ]


class AskByHand(Asking):
    name = "server"
    title = "One server, queried by hand"
    text = (
        "A server waits for requests and answers them. This one reports which processes on this "
        "machine have used the most CPU time; it finds that out from the files in /proc. The "
        "server comes in many designs, which differ only in how they serve several clients. "
        "`iterative` is the simplest: one process, one client at a time.",
        "Keep this terminal open, and open two more in the same folder. Start the server in the "
        "first one and send it a request from the second: `top 2` is the whole request. Then stop "
        "the server with Ctrl-C.",
    )
    questions = (
        "Which process has used the most CPU time, and how much of that time was spent in the "
        "kernel?",
        "What must the server do to find that out? Look at the output of `ls /proc` and "
        "`cat /proc/self/stat`.",
    )
    answer: ClassVar[str] = "answer.txt"
    answered = (answer,)

    def commands(self, lab: Lab) -> Sequence[Typed]:
        ask = commands.tee(lab.tools.asking_line(), lab, self.answer)
        return commands.while_serving(lab, ITERATIVE, Typed(2, ask))

    def files(self, lab: Lab) -> Sequence[str]:
        del lab
        return (self.answer,)

    def run(self, lab: Lab) -> None:
        with serving(commands.server(lab, ITERATIVE)) as address:
            host, port = address.split(":")
            if lab.tools.nc:
                answer = output_of(["nc", "-N", host, port], QUESTION)
            else:
                answer = output_of(["bash", "-c", lab.tools.bash_request(address)])
        lab.path(self.answer).write_text(answer)

    def result(self, lab: Lab) -> StepResult:
        return StepResult(printed=(lab.printed(lab.tools.asking_line(), self.answer),))


class AskWithMany(Asking):
    name = "clients"
    title = "Many clients, and a silent one"
    text = (
        "The client program opens many connections at once, sends one request on each, checks "
        "every answer, and prints how long each one took. An iterative server answers the "
        "connections one after another, so the last one waits for all the others.",
        "The last lines are a summary. The words in brackets say how the client sent its requests: "
        "`burst` means all connections at once; `epoll` is how the client waits for its answers, "
        "whatever the server's design; `line` is the plain-text request that you typed.",
        "Next, let a client connect and send nothing, and meanwhile send another request. The "
        "server cannot know that the silent client will never send anything. The second client "
        "gives up after one second.",
    )
    questions = (
        "How much longer did the last client wait than the first, and why?",
        "How did the silent client affect the others? Which designs could keep serving meanwhile, "
        "and what does each of them need for that: a process, a thread, a call such as select?",
    )
    many: ClassVar[str] = "clients.txt"
    behind: ClassVar[str] = "behind-a-silent-one.txt"
    answered = (many,)

    def commands(self, lab: Lab) -> Sequence[Typed]:
        return commands.while_serving(
            lab,
            ITERATIVE,
            Typed(2, commands.line([*commands.client(lab), HERE], lab, self.many)),
            Typed(3, lab.tools.silent_line()),
            Typed(2, commands.line([*self.impatient(lab), HERE], lab, self.behind)),
            Typed(3, commands.CTRL_C),
        )

    def impatient(self, lab: Lab) -> list[str]:
        return [lab.tools.client, "--timeout", str(PATIENCE_MS)]

    def files(self, lab: Lab) -> Sequence[str]:
        del lab
        return (self.many, self.behind)

    def run(self, lab: Lab) -> None:
        with serving(commands.server(lab, ITERATIVE)) as address:
            lab.path(self.many).write_text(output_of([*commands.client(lab), address]))
            host, port = address.split(":")
            with socket.create_connection((host, int(port))):
                answer = output_of([*self.impatient(lab), address], may_fail=True)
            lab.path(self.behind).write_text(answer)

    def result(self, lab: Lab) -> StepResult:
        many = commands.line([*commands.client(lab), HERE], lab)
        behind = commands.line([*self.impatient(lab), HERE], lab)
        blocked = lab.printed(f"{behind}   (behind a silent client)", self.behind)
        said = BLOCKED
        if not UNANSWERED.search(blocked.output):
            said = f"{NOT_BLOCKED} {commands.lab_command(lab.folder, '--again', self.name)}"
        return StepResult(said=(said,), printed=(summary_of(lab, many, self.many), blocked))


class AskOnTwoCpus(Asking):
    name = "cpus"
    title = "A CPU for each side"
    text = (
        "Server and client run on the same machine, and the kernel moves processes between CPUs "
        "as it sees fit. If both run on one CPU, they compete for it, and a slow client looks like "
        "a slow server. `taskset` restricts a program to certain CPUs.",
        "More CPUs are not always faster: with short requests, a single CPU for both may answer "
        "more of them, because no process has to be woken up on another CPU for each answer. We "
        "use two CPUs to measure the two sides separately.",
        "Run the client twice: first with a CPU for each side, then with both on the server's CPU. "
        "From now on the server runs with `--quiet`, because logging its clients costs CPU time, "
        "too.",
    )
    questions = (
        "How many requests per second were answered with a CPU for each side, and how many with "
        "one CPU for both?",
        "Which of the two tells you more about the server? What would you need in order to measure "
        "it without a client on the same machine?",
    )
    apart: ClassVar[str] = "cpus-apart.txt"
    together: ClassVar[str] = "cpus-together.txt"
    answered = (apart, together)

    def commands(self, lab: Lab) -> Sequence[Typed]:
        start = Typed(1, commands.line(commands.pinned_server(lab, ITERATIVE), lab))
        asking = [
            Typed(2, commands.line([*words, HERE], lab, name)) for name, words in self.clients(lab)
        ]
        return [start, *asking, Typed(1, commands.CTRL_C)]

    def clients(self, lab: Lab) -> list[tuple[str, list[str]]]:
        """Each client's output file and command."""
        words = commands.client(lab, "--rounds", str(ROUNDS), "--quiet")
        return [
            (self.apart, lab.tools.pinned(words, lab.tools.client_cpus)),
            (self.together, lab.tools.pinned(words, lab.tools.server_cpus)),
        ]

    def files(self, lab: Lab) -> Sequence[str]:
        del lab
        return (self.apart, self.together)

    def run(self, lab: Lab) -> None:
        with serving(commands.pinned_server(lab, ITERATIVE)) as address:
            for name, words in self.clients(lab):
                lab.path(name).write_text(output_of([*words, address]))

    def result(self, lab: Lab) -> StepResult:
        return StepResult(
            printed=tuple(
                lab.printed(commands.line([*words, HERE], lab), name)
                for name, words in self.clients(lab)
            )
        )
