"""A server started by hand: asked once, by many at once, and with a CPU for each side."""

import re
import socket
from collections.abc import Sequence
from typing import ClassVar

from regatta.lab import commands
from regatta.lab.by_hand import asked, serving
from regatta.lab.commands import HERE
from regatta.lab.kept import Kept, Printed
from regatta.lab.setting import ROUNDS
from regatta.lab.step import Desk, Step, Typed

ITERATIVE = "iterative"
"""The design that the first steps are about: the simplest."""
QUESTION = "top 2\n"
PATIENCE_MS = 1000
"""How long a client waits behind a silent one before it gives up."""
SUMMARY = re.compile(r"^\d+ requests? to ", re.MULTILINE)
ONE_ANSWER = re.compile(r"^connection \d+ of \d+.*$", re.MULTILINE)
ANSWERED = re.compile(r"^rank |: (all|[1-9]\d*) answered", re.MULTILINE)
UNANSWERED = re.compile(r": 0 answered, \d+ timeout$", re.MULTILINE)
NOBODY_SERVED = (
    "The last request failed, as it should: nobody is served behind the silent client. The server "
    "is well, and goes on when that client has gone."
)
NOBODY_SILENT = (
    "The last request was not kept waiting by a silent client: that one must be connected while "
    "you ask. To do this step again:"
)


def summary_of(desk: Desk, command: str, name: str) -> Printed:
    """Of a load: its first and its last answer, and what it comes to, which stands after them."""
    whole = desk.printed(command, name)
    found = list(SUMMARY.finditer(whole.output))
    if not found:
        return whole
    answers = ONE_ANSWER.findall(whole.output)
    ends = [*answers[:1], *answers[1:][-1:]]
    return Printed(command, "\n".join([*ends, whole.output[found[-1].start() :]]))


class Asking(Step):
    """Asks a server that may not be there."""

    answered: ClassVar[tuple[str, ...]]
    """Its files in which an answer must be: a client that found no server writes there too."""

    def lacking(self, desk: Desk) -> list[str]:
        found = super().lacking(desk)
        return found + [
            name
            for name in self.answered
            if name not in found and not ANSWERED.search(desk.printed("", name).output)
        ]


class AskByHand(Asking):
    name = "server"
    title = "One server, asked by hand"
    text = (
        "A server waits for requests and answers them. This one says which processes of this "
        "machine have used the most CPU time; it reads that from the files in /proc. It can serve "
        "in many ways, called designs, that differ in nothing else. `iterative` is the simplest: "
        "one process, one client at a time.",
        "Beside the lab's own terminal, open two more in the same folder. Start the server in one, "
        "and ask it in the other: `top 2` is the whole request. Then end it.",
    )
    questions = (
        "Which process has used the most CPU time, and how much of it in the kernel?",
        "What must the server do to find that out? Look at `ls /proc` and `cat /proc/self/stat`.",
    )
    answer: ClassVar[str] = "answer.txt"
    answered = (answer,)

    def commands(self, desk: Desk) -> Sequence[Typed]:
        ask = commands.kept(desk.tools.asking_line(), desk, self.answer)
        return commands.between(desk, ITERATIVE, Typed(2, ask))

    def files(self, desk: Desk) -> Sequence[str]:
        del desk
        return (self.answer,)

    def run(self, desk: Desk) -> None:
        with serving(commands.server(desk, ITERATIVE)) as address:
            host, port = address.split(":")
            if desk.tools.nc:
                answer = asked(["nc", "-N", host, port], QUESTION)
            else:
                answer = asked(["bash", "-c", desk.tools.talk(address)])
        desk.path(self.answer).write_text(answer)

    def keep(self, desk: Desk) -> Kept:
        return Kept(printed=(desk.printed(desk.tools.asking_line(), self.answer),))


class AskWithMany(Asking):
    name = "clients"
    title = "Many clients, and a silent one"
    text = (
        "The client opens many connections at once, asks once on each, checks every answer and "
        "says how long they took. An iterative server answers one after the other: who comes last "
        "waits for all before it.",
        "Its last lines sum up. In brackets stands how it asked: `burst`, all connections at once; "
        "`epoll`, how the client waits for its answers, whatever the server's design; `line`, with "
        "the plain line that you typed.",
        "Then let a client connect and say nothing, and ask again. The server cannot know that "
        "nothing will come. Who asks now has patience for a second.",
    )
    questions = (
        "How much longer than the first did the last client wait, and why?",
        "What did the silent client do to the others? Which designs could go on meanwhile, and "
        "what does each need for that: a process, a thread, a call such as select?",
    )
    many: ClassVar[str] = "clients.txt"
    behind: ClassVar[str] = "behind-a-silent-one.txt"
    answered = (many,)

    def commands(self, desk: Desk) -> Sequence[Typed]:
        return commands.between(
            desk,
            ITERATIVE,
            Typed(2, commands.line([*commands.client(desk), HERE], desk, self.many)),
            Typed(3, desk.tools.silent_line()),
            Typed(2, commands.line([*self.impatient(desk), HERE], desk, self.behind)),
            Typed(3, commands.CTRL_C),
        )

    def impatient(self, desk: Desk) -> list[str]:
        return commands.one_client(desk, "--timeout", str(PATIENCE_MS))

    def files(self, desk: Desk) -> Sequence[str]:
        del desk
        return (self.many, self.behind)

    def run(self, desk: Desk) -> None:
        with serving(commands.server(desk, ITERATIVE)) as address:
            desk.path(self.many).write_text(asked([*commands.client(desk), address]))
            host, port = address.split(":")
            with socket.create_connection((host, int(port))):
                answer = asked([*self.impatient(desk), address], may_fail=True)
            desk.path(self.behind).write_text(answer)

    def keep(self, desk: Desk) -> Kept:
        many = commands.line([*commands.client(desk), HERE], desk)
        behind = commands.line([*self.impatient(desk), HERE], desk)
        in_vain = desk.printed(f"{behind}   (behind a silent client)", self.behind)
        said = NOBODY_SERVED
        if not UNANSWERED.search(in_vain.output):
            said = f"{NOBODY_SILENT} {commands.lab(desk.folder, '--again', self.name)}"
        return Kept(said=(said,), printed=(summary_of(desk, many, self.many), in_vain))


class AskOnTwoCpus(Asking):
    name = "cpus"
    title = "A CPU for each side"
    text = (
        "Server and client are programs of one machine, and the kernel moves programs between "
        "CPUs as it likes. On one CPU each takes time from the other, and a slow client looks like "
        "a slow server. `taskset` says where a program may run.",
        "More CPUs need not be faster: with short requests one for both may answer more of them, "
        "as nobody sleeps on another CPU and must be woken there for each answer. Two CPUs are "
        "there to tell the sides apart.",
        "Ask twice: with a CPU for each side, then with both on the server's. From here on the "
        "server is `--quiet`: the lines that it writes of its clients cost it time, too.",
    )
    questions = (
        "How many requests a second were answered, with a CPU for each and with one for both?",
        "Which of the two is a better picture of the server? What would you need to measure it "
        "without any client on the same machine?",
    )
    apart: ClassVar[str] = "cpus-apart.txt"
    together: ClassVar[str] = "cpus-together.txt"
    answered = (apart, together)

    def commands(self, desk: Desk) -> Sequence[Typed]:
        start = Typed(1, commands.line(commands.pinned_server(desk, ITERATIVE), desk))
        asking = [
            Typed(2, commands.line([*words, HERE], desk, name))
            for name, words in self.clients(desk)
        ]
        return [start, *asking, Typed(1, commands.CTRL_C)]

    def clients(self, desk: Desk) -> list[tuple[str, list[str]]]:
        """By the file that keeps what it prints."""
        words = commands.client(desk, "--rounds", str(ROUNDS), "--quiet")
        return [
            (self.apart, desk.tools.pinned(words, desk.tools.client_cpus)),
            (self.together, desk.tools.pinned(words, desk.tools.server_cpus)),
        ]

    def files(self, desk: Desk) -> Sequence[str]:
        del desk
        return (self.apart, self.together)

    def run(self, desk: Desk) -> None:
        with serving(commands.pinned_server(desk, ITERATIVE)) as address:
            for name, words in self.clients(desk):
                desk.path(name).write_text(asked([*words, address]))

    def keep(self, desk: Desk) -> Kept:
        return Kept(
            printed=tuple(
                desk.printed(commands.line([*words, HERE], desk), name)
                for name, words in self.clients(desk)
            )
        )
