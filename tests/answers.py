"""Strict parsers of text and JSON replies, with one result for both (docs/formats.md)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.http_replies import parse_replies

if TYPE_CHECKING:
    from tests.servers import RunningServer

SECONDS = r"(\d+\.\d{6})"
ROW = re.compile(rf"(\d+) (\d+) {SECONDS} {SECONDS} (.*)")
THREAD = re.compile(rf"\+ (\d+) {SECONDS} {SECONDS} (.*)")
MORE = re.compile(r"\+ - - - \((\d+) more threads(?:, (\d+) of them not looked at)?\)")
REST = re.compile(rf"- - {SECONDS} {SECONDS} \(everything else\)")
SOURCE = re.compile(
    r"# source (\w+) \((.+)\), (\d+) tasks, (\d+) lost, "
    r"taken (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)(?:, over (\d+\.\d{3}) s)?"
)
ESCAPE = re.compile(rb"\\(?:x([0-9a-f]{2})|(.))", re.DOTALL)
# Characters that a terminal interprets: they must always be escaped.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def unescape(shown: str) -> bytes:
    """The original bytes of an escaped name."""
    named = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"\\": b"\\"}
    return ESCAPE.sub(
        lambda found: bytes([int(found[1], 16)]) if found[1] else named[found[2]], shown.encode()
    )


@dataclass
class Thread:
    tid: int
    us: int
    name: str


@dataclass
class ProcessRow:
    """`number`: a pid, or the number of processes in a group. Times are in microseconds."""

    number: int
    user_us: int
    system_us: int
    name: str
    command: str | None = None
    threads: list[Thread] = field(default_factory=list)
    threads_alive: int = 0
    threads_unread: int = 0

    @property
    def us(self) -> int:
        return self.user_us + self.system_us


@dataclass
class Answer:
    title: str
    rows: list[ProcessRow]
    rest_us: int
    source: str
    tasks: int
    lost: int
    elapsed: str | None

    @property
    def total_us(self) -> int:
        return sum(row.us for row in self.rows) + self.rest_us


def us(seconds: str) -> int:
    whole, decimals = seconds.split(".")
    return int(whole) * 10**6 + int(decimals)


def add_line(rows: list[ProcessRow], line: str) -> None:
    """Adds a row, or the command or thread lines that belong to the previous row."""
    if line.startswith("= "):
        assert rows[-1].command is None
        assert not rows[-1].threads
        rows[-1].command = line.removeprefix("= ")
    elif more := MORE.fullmatch(line):
        rows[-1].threads_alive += int(more[1])
        rows[-1].threads_unread = int(more[2] or 0)
    elif thread := THREAD.fullmatch(line):
        rows[-1].threads.append(Thread(int(thread[1]), us(thread[2]) + us(thread[3]), thread[4]))
        rows[-1].threads_alive += 1
    else:
        row = ROW.fullmatch(line)
        assert row, f"not a line of the text form: {line!r}"
        assert int(row[1]) == len(rows) + 1
        rows.append(ProcessRow(int(row[2]), us(row[3]), us(row[4]), row[5]))


def read_text(body: bytes) -> Answer:
    text = body.decode("utf-8")
    assert text.endswith("\n")
    title, *lines, rest_line, source_line = text.removesuffix("\n").split("\n")
    assert not [line for line in text.split("\n") if CONTROL.search(line)]
    rest, source = REST.fullmatch(rest_line), SOURCE.fullmatch(source_line)
    assert rest, rest_line
    assert source, source_line
    rows: list[ProcessRow] = []
    for line in lines:
        add_line(rows, line)
    tasks, lost = int(source[3]), int(source[4])
    return Answer(title, rows, us(rest[1]) + us(rest[2]), source[1], tasks, lost, source[6])


KEYS = ["host", "taken_at", "age_ms", "source", "source_reason", "tasks_seen", "tasks_lost", "by"]


def read_json(body: bytes) -> Answer:
    # Keep decimals as text: a float would round them.
    answer: dict[str, Any] = json.loads(body.decode("utf-8"), parse_float=str)
    assert body.count(b"\n") == 1
    assert not CONTROL.search(body.decode("utf-8").removesuffix("\n"))
    many = "processes" if answer["group"] is None else "groups"
    assert list(answer) == [*KEYS, "group", "elapsed_seconds", many, "rest"]
    assert all(process["rank"] == rank for rank, process in enumerate(answer[many], start=1))
    rows = [
        ProcessRow(
            shown["pid" if many == "processes" else "processes"],
            us(shown["user_seconds"]),
            us(shown["system_seconds"]),
            shown["name"],
            shown.get("command"),
            [
                Thread(
                    thread["tid"],
                    us(thread["user_seconds"]) + us(thread["system_seconds"]),
                    thread["name"],
                )
                for thread in shown.get("threads", [])
            ],
            shown.get("threads_alive", 0),
            shown.get("threads_unread", 0),
        )
        for shown in answer[many]
    ]
    rest = answer["rest"]
    listed = sum(row.number for row in rows) if many == "groups" else len(rows)
    assert rest["processes"] + listed == answer["tasks_seen"]
    title = f"rank {'pid' if many == 'processes' else 'processes'} user_seconds system_seconds "
    return Answer(
        title + ("name" if many == "processes" else "group"),
        rows,
        us(rest["user_seconds"]) + us(rest["system_seconds"]),
        answer["source"],
        answer["tasks_seen"],
        answer["tasks_lost"],
        answer["elapsed_seconds"] if answer["by"] == "recent" else None,
    )


def rows_of(reply: bytes) -> list[ProcessRow]:
    """The rows of one text reply, including the empty line at its end. Checks the format."""
    assert reply.endswith(b"\n\n")
    answer = read_text(reply.removesuffix(b"\n"))
    assert answer.title == "rank pid user_seconds system_seconds name"
    return answer.rows


def ask_line(server: RunningServer, parameters: list[str]) -> Answer:
    reply = server.ask(" ".join(["top", *parameters]).encode() + b"\n")
    assert not reply.startswith(b"error"), reply
    assert reply.endswith(b"\n\n")
    return read_whole(reply.removesuffix(b"\n"), is_json="format=json" in parameters)


def ask_http(server: RunningServer, parameters: list[str]) -> Answer:
    target = "/top?" + "&".join(parameters)
    request = f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n"
    (reply,) = parse_replies(server.ask(request.encode()))
    assert reply.status == 200, reply.body
    is_json = reply.headers["content-type"] == "application/json"
    assert is_json == ("format=json" in parameters)
    return read_whole(reply.body, is_json=is_json)


def read_whole(body: bytes, *, is_json: bool) -> Answer:
    answer = (read_json if is_json else read_text)(body)
    assert answer.lost == 0
    return answer
