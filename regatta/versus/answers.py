"""What a server answers in HTTP to each of its requests."""

from __future__ import annotations

import hashlib
import http.client
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regatta.errors import TrialError
from regatta.study.request_file import Request

TIMES = 3
ANSWER_TIMEOUT_S = 10.0
PIECE = 1 << 16
OK = 200
SUCCESSES = range(200, 300)
NOT_MODIFIED = 304


@dataclass(frozen=True)
class Answer:
    asked: str
    """In words: `POST /items`."""
    status: int | None
    """None: it has no status, as it is not HTTP."""
    length: int
    content_type: str
    digest: str
    closes: bool
    """Whether the server closes the connection after it."""


def ask_http(target: str, requests: Sequence[Request]) -> Iterator[Answer]:
    """Sends each request TIMES times over one connection; TrialError without an answer."""
    host, _, port = target.rpartition(":")
    connection = http.client.HTTPConnection(host.strip("[]"), int(port), ANSWER_TIMEOUT_S)
    asked = ""
    try:
        for request in requests:
            asked = f"{request.method} {request.path}"
            for _ in range(TIMES):
                body = request.body.encode() or None
                headers = {name: value.encode() for name, value in request.headers.items()}
                connection.request(request.method, request.path, body, headers)
                yield _answer(asked, connection.getresponse())
    except TimeoutError as error:
        raise TrialError(f"it does not answer {asked} within {ANSWER_TIMEOUT_S:g} s") from error
    except http.client.HTTPException as error:
        raise TrialError(f"its answer to {asked} is not HTTP/1.1 ({_said(error)})") from error
    except OSError as error:
        raise TrialError(f"it does not answer {asked}: {error.strerror or error}") from error
    finally:
        connection.close()


def is_right(answer: Answer, listed: bool) -> bool:
    """Whether the client takes it; `listed`: as the answer to a request of a file."""
    if listed and answer.status is not None:
        return answer.status in SUCCESSES or answer.status == NOT_MODIFIED
    return answer.status in (None, OK)


def _answer(asked: str, response: http.client.HTTPResponse) -> Answer:
    """TimeoutError if it takes too long as a whole, a piece at a time."""
    deadline_s = time.monotonic() + ANSWER_TIMEOUT_S
    closes, digest, length = response.will_close, hashlib.sha256(), 0
    while piece := response.read1(PIECE):
        digest.update(piece)
        length += len(piece)
        if time.monotonic() > deadline_s:
            raise TimeoutError
    if response.length:  # it promised more
        raise http.client.IncompleteRead(b"", response.length)
    response.close()
    kind = response.getheader("Content-Type", "").partition(";")[0].strip()
    return Answer(asked, response.status, length, kind, digest.hexdigest(), closes)


def _said(error: http.client.HTTPException) -> str:
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
