"""What a server answers, and what its answers under load must be.

Some bytes may vary: dates, ids, counters. They are found by asking several times and left out of
the digest, each with the word that it stands in. Where the length may vary too, only the length is
compared, with a margin.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pickle import dumps, loads

import numpy as np

from regatta.errors import TrialError
from regatta.measure.places.side import SidePlacement
from regatta.measure.processes import guard_environment
from regatta.measure.trial import ask
from regatta.measure.trial.load import SPEAKING, host_of
from regatta.record.study.limits import HTTP2
from regatta.record.study.request_file import Request

PATIENCE_S = 3 * ask.LONGEST_S
SUCCESSES = range(200, 300)
NOT_MODIFIED = 304
WITH_BODY = ("POST", "PUT", "PATCH")
WORD = np.array([chr(byte).isalnum() or chr(byte) in ":._-" for byte in range(128)] + [False] * 128)
"""The bytes of a word: a date, an id, a number."""
DIGITS = re.compile(rb"\d{1,20}")
MOST_DIGITS = 20
CLOCK = re.compile(rb"\d:\d\d|\d{4}-\d\d|\d\d\.\d\d\.\d{4}")
CLOCKS = ("%H:%M", "%I:%M", "%Y-%m-%d", "%d %b %Y", "%a, %d", "%B %d, %Y", "%b %d, %Y")
"""What changes more seldom than anybody asks before a race."""
DAY_S = 86_400
MOST_WORDS = 64
"""That vary; an answer with more has no digest."""
SPARE_BYTES = 64


@dataclass(frozen=True)
class Answer:
    asked: str
    """In words: `POST /items`."""
    status: int | None
    """None: it has no status, as it is not HTTP."""
    body: bytes
    content_type: str
    closes: bool
    """Whether the server closes the connection after it."""
    counted: int | None = None
    """Its bytes, if they are more than the body."""

    @property
    def length(self) -> int:
        return len(self.body) if self.counted is None else self.counted

    @property
    def size(self) -> int:
        """Its length, of JSON without what depends on who wrote it: blanks, escapes, order."""
        if "json" in self.content_type:
            try:
                return len(json.dumps(json.loads(self.body), separators=(",", ":")))
            except (ValueError, RecursionError):
                pass
        return self.length


@dataclass(frozen=True)
class Expected:
    """Of the answers to one request."""

    asked: str
    status: int | None
    content_type: str
    fewest: int
    """Bytes of the body at least; at most `most`."""
    most: int
    crc: str
    """Of the body without what varies, in hexadecimal; `-`: not known."""
    varying: tuple[tuple[int, int], ...]
    """From the first byte to behind the last one."""
    sizes: tuple[int, int]
    """As `fewest` and `most`, to compare servers."""

    def line(self) -> str:
        """As the client reads it."""
        ranges = ",".join(f"{start}-{end}" for start, end in self.varying)
        words = (self.status, self.fewest, self.most, self.crc, ranges)
        return " ".join(map(str, words)).strip() + "\n"

    def note(self) -> str:
        """What of it is not compared; empty if all is."""
        if self.crc == "-":
            return f"{self.asked} varies; any {between(self.fewest, self.most)} pass"
        left_out = sum(end - start for start, end in self.varying)
        return f"{left_out:,} of {self.most:,} bytes vary and are not compared" if left_out else ""

    def __str__(self) -> str:
        """`200 with 6 bytes of text/plain`"""
        kind = "" if self.status is None else f" of {self.content_type or 'no type'}"
        status = "" if self.status in (None, ask.OK) else f"{self.status} with "
        return f"{status}{between(*self.sizes)}{kind}"

    def differs_from(self, other: Expected) -> bool:
        same = (self.status, self.content_type) == (other.status, other.content_type)
        overlap = self.sizes[0] <= other.sizes[1] and other.sizes[0] <= self.sizes[1]
        return not (same and overlap)


def between(low: int, high: int) -> str:
    many = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f"{many} byte{'s' * (high != 1)}"


def ask_http(
    target: str, requests: Sequence[Request], times: int, client: SidePlacement, speaks: str
) -> list[list[Answer]]:
    """The answers to each request, asked that often from the client's network; TrialError if one
    has none. In HTTP/1.1, which most servers of HTTP/2 speak too."""
    tls = "--tls" in SPEAKING[speaks]
    written = [
        (f"{request.method} {request.path}", spelled(request, target)) for request in requests
    ]
    if client.enter:
        done = subprocess.run(
            client.entered([sys.executable, "-I", "-S", ask.__file__]),
            input=dumps((target, written, times, tls)),
            capture_output=True,
            check=True,
            timeout=PATIENCE_S,
            env=guard_environment(),
        )
        replies = loads(done.stdout)
    else:
        replies = client.ask(ask.ask, target, written, times, tls)
    if isinstance(replies, str):
        raise TrialError("it speaks HTTP/2 alone" if speaks in HTTP2 else replies)
    return [
        [Answer(asked, *answer) for answer in answers]
        for (asked, _), answers in zip(written, replies, strict=True)
    ]


def spelled(request: Request, target: str) -> bytes:
    """As the client writes it (src/client/load/request.c)."""
    body = request.payload()
    said = {name.lower() for name in request.headers}
    head = [f"{request.method} {request.path} HTTP/1.1"]
    head += [] if "host" in said else [f"Host: {host_of(target)}"]
    has_length = not request.is_chunked and (body or request.method in WITH_BODY)
    head += [f"Content-Length: {len(body)}"] if has_length else []
    head += [f"{name}: {value}" for name, value in request.headers.items()]
    return "".join(f"{line}\r\n" for line in (*head, "")).encode() + body


def is_right(answer: Answer, status: int | None = None) -> bool:
    """Whether the client takes it; `status`: what the request expects, if not any success."""
    if status is not None:
        return answer.status == status
    return answer.status in (None, NOT_MODIFIED) or answer.status in SUCCESSES


def expected(answers: Sequence[Answer]) -> Expected:
    """`answers`: to one request."""
    first, lengths = answers[0], [answer.length for answer in answers]
    words = varying_words([answer.body for answer in answers])
    fewer, more = (min(lengths) // 2, max(lengths) + SPARE_BYTES) if words is None else (0, 0)
    for word in words or ():
        fewer, more = fewer + word.fewer, more + word.more
    is_known = words is not None and not more
    varying = tuple((word.start, word.end) for word in words or () if is_known)
    sizes = [answer.size for answer in answers]
    return Expected(
        first.asked,
        first.status,
        first.content_type,
        min(lengths) - fewer,
        max(lengths) + more,
        f"{zlib.crc32(without(first.body, varying)):08x}" if is_known else "-",
        varying,
        (min(sizes) - fewer, max(sizes) + more),
    )


def without(body: bytes, ranges: Sequence[tuple[int, int]]) -> bytes:
    pieces, at = [], 0
    for start, end in ranges:
        pieces.append(body[at:start])
        at = end
    return b"".join([*pieces, body[at:]])


@dataclass(frozen=True)
class Word:
    """One that varies."""

    start: int
    end: int
    fewer: int
    """Bytes by which it may be shorter."""
    more: int


def varying_words(bodies: Sequence[bytes]) -> list[Word] | None:
    """Those that differ, or will with the time; None if all else may move."""
    if len({len(body) for body in bodies}) > 1:
        return None
    every = [np.frombuffer(body, np.uint8) for body in dict.fromkeys(bodies)]
    differs = np.zeros(len(bodies[0]), dtype=bool)
    in_word = differs.copy()
    for body in every:
        differs |= body != every[0]
        in_word |= WORD[body]
    varies = differs.copy()
    for start, end in clocks_in(bodies[0]):
        varies[start:end] = True
    edges = np.flatnonzero(np.diff(np.concatenate([[False], in_word | varies, [False]])))
    found: list[Word] = []
    for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if varies[start:end].any():
            spellings = [body[start:end].tobytes() for body in every]
            if len(found) == MOST_WORDS or not all(map(is_text, spellings)):
                return None
            counts = [body[start:end][differs[start:end]].tobytes() for body in every]
            grows = all(map(bytes.isdigit, counts)) and not any(map(is_clock, spellings))
            found.append(Word(start, end, *((end - start - 1, MOST_DIGITS) if grows else (0, 0))))
    return found


def clocks_in(body: bytes) -> Iterator[tuple[int, int]]:
    """Where the present time or date is written."""
    now = time.time()
    written = {
        time.strftime(form, at(now)) for form in CLOCKS for at in (time.localtime, time.gmtime)
    }
    for found in re.finditer(b"|".join(re.escape(text.encode()) for text in written), body):
        yield found.span()


def is_text(word: bytes) -> bool:
    return word.isascii() and word.decode().isprintable()


def is_clock(word: bytes) -> bool:
    """Whether it is a date or a time, which keeps its length; else digits that vary may be more
    under load, as those of a counter."""
    now = time.time()
    return CLOCK.search(word) is not None or any(
        abs(int(digits) / per_s - now) < DAY_S
        for digits in DIGITS.findall(word)
        for per_s in (1, 10**3, 10**6, 10**9)
    )


def differences(of: Mapping[str, Sequence[Expected]]) -> dict[str, str]:
    """By contender, what it answers that most others do not, in words that follow its name.

    Only those that are asked the same are compared. Of two that differ nobody knows which is right.
    """
    found = {}
    for name, mine in of.items():
        asked = [answer.asked for answer in mine]
        others = {
            other: answers
            for other, answers in of.items()
            if other != name and [answer.asked for answer in answers] == asked
        }
        for number, answer in enumerate(mine):
            unlike = [other for other in others if answer.differs_from(others[other][number])]
            if 2 * len(unlike) > len(others):
                second = others[unlike[0]][number]
                found[name] = f"answers {answer} to {answer.asked}, {unlike[0]} {second}"
                break
    return found


def difference_notes(of: Mapping[str, Sequence[Expected]], then: str) -> Iterator[str]:
    """A line for each that differs, with what follows; one for two that differ from each other."""
    found = differences(of)
    for name in list(found)[:1] if len(of) == len(found) else found:
        yield f"{name} {found[name]}: {then}"
