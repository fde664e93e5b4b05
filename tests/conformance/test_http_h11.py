"""Our head parser against h11: both accept the same requests with the same meaning, except for what
ours rejects on purpose."""

import re
import struct
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import h11
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.servers import built

CORPUS = Path(__file__).parents[1] / "fuzz" / "corpus"


token = st.text(
    "abcdefghijklmnopqrstuvwxyz-ABCXYZ!#$%&'*+.^_`|~0123456789", min_size=1, max_size=12
)
value = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=30)
targets = st.sampled_from(
    ["/top", "/top?n=3", "/healthz", "/", "/x", "/top?format=json", "/top?n="]
)


@dataclass(frozen=True)
class Verdict:
    """The result of parsing the first request of an input."""

    status: int
    """Status of our reply, 0 if the request is incomplete; for h11 200 or 400."""
    keeps_open: bool
    left: int
    """Bytes after the request."""
    problem: str = "-"

    @property
    def is_about_its_meaning(self) -> bool:
        """Whether the request is answered, or refused for its meaning and not for its syntax. Of
        several problems the first is reported."""
        return self.status in (200, 404, 405) or self.problem.startswith(ABOUT_PARAMETERS)

    @property
    def is_taken(self) -> bool:
        """Whether we accept its syntax: its end is certain, otherwise we would close."""
        return self.status == 200 or (self.is_about_its_meaning and self.keeps_open)


# Complaints about the parameters of /top and their combinations.
ABOUT_PARAMETERS = ("n ", "format ", "by ", "window ", "group ", "threads", "command ", "unknown p")


Judge = Callable[[bytes], Verdict]


@pytest.fixture(scope="module")
def ours() -> Iterator[Judge]:
    """The exchange, without a server."""
    command = built("tests/conformance/heads")
    exchange = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def judge(request: bytes) -> Verdict:
        exchange.stdin.write(struct.pack("=I", len(request)) + request)
        exchange.stdin.flush()
        status, keeps_open, left, problem = exchange.stdout.readline().split(b" ", 3)
        return Verdict(int(status), keeps_open == b"1", int(left), problem.decode().rstrip("\n"))

    yield judge
    exchange.stdin.close()
    assert exchange.wait(10) == 0


def judge_by_h11(request: bytes) -> Verdict:
    connection = h11.Connection(h11.SERVER)
    try:
        connection.receive_data(request)
        if not isinstance(connection.next_event(), h11.Request):
            return Verdict(0, True, 0)
        if not isinstance(connection.next_event(), h11.EndOfMessage):
            return Verdict(200, True, 0, "a body")
    except h11.RemoteProtocolError as error:
        return Verdict(400, False, 0, str(error))
    keeps_open = connection.their_state is not h11.MUST_CLOSE
    return Verdict(200, keeps_open, len(connection.trailing_data[0]))


HOST = re.compile(rb"[-.!$&'()*+,;=:%_~\[\]0-9A-Za-z]*")
CONTROLS = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
LINE_LIMIT, HEAD_LIMIT = 1024, 8192


def refused_on_purpose(request: bytes) -> bool:
    """Whether it has something that h11 may accept and ours rejects (http_request.c)."""
    head = re.split(rb"\n\r?\n", request, maxsplit=1)[0]
    lines = head.split(b"\n")
    names = [line.partition(b":")[0].lower() for line in lines[1:]]
    values = dict(zip(names, (line.partition(b":")[2].strip() for line in lines[1:]), strict=True))
    return (
        len(lines[0]) > LINE_LIMIT
        or len(head) + len("\n\r\n") > HEAD_LIMIT
        or any(not line.endswith(b"\r") for line in lines)  # a bare LF
        or not request[len(head) :].startswith(b"\n\r\n")
        or any(line[:1] in (b" ", b"\t") for line in lines[1:])  # folded
        or CONTROLS.search((head + b"\n").replace(b"\r\n", b"")) is not None
        or HOST.fullmatch(values.get(b"host", b"")) is None
        or b"transfer-encoding" in names
        or names.count(b"content-length") > 1
        or values.get(b"content-length", b"0") != b"0"
        or re.match(rb"[^ ]* http://", lines[0], re.IGNORECASE) is not None
        or b" HTTP/1." not in lines[0]
    )


def compare(ours: Judge, request: bytes) -> None:
    """Compares in both directions. If both accept a request, they consume the same bytes and agree
    on keep-alive."""
    # Empty lines before a request are ignored (RFC 9112, 2.2); h11 rejects them.
    bare = re.sub(rb"\A(\r\n)+", b"", request)
    if not bare[:1].isupper():
        return  # the line dialect
    mine, theirs = ours(request), judge_by_h11(bare)
    if mine.is_taken:
        assert theirs.status == 200, (request, mine, theirs)
        assert mine.left == theirs.left, (request, mine, theirs)
        if b" HTTP/1.0\r\n" not in bare and b"pgrade" not in bare:
            assert mine.keeps_open == theirs.keeps_open, (request, mine, theirs)
    elif theirs.status == 200 and not mine.is_about_its_meaning:
        assert refused_on_purpose(bare), (request, mine, theirs)


VALID = b"GET /top?n=2 HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\nUser-Agent: y\r\n\r\n"
MANY = settings(max_examples=1000, suppress_health_check=list(HealthCheck))
garbage = st.sampled_from(
    [b"", b" ", b"\r", b"\n", b"\r\n", b":", b"\0", b"\t", b"\x80", b"\x0b", b"a", b"Host: z\r\n"]
)


@MANY
@given(
    damage=st.lists(
        st.tuples(st.integers(0, len(VALID) - 1), garbage),
        min_size=1,
        max_size=3,
    )
)
def test_both_agree_on_damaged_requests(ours: Judge, damage: list[tuple[int, bytes]]) -> None:
    request = VALID
    for at, inserted in damage:
        request = request[:at] + inserted + request[at + (inserted == b"") :]
    compare(ours, request)


versions = st.sampled_from([b"1.1", b"1.1", b"1.0", b"1.9", b"2.0", b"1.10", b"x.1"])
odd = st.sampled_from([b"close", b"keep-alive", b"0", b"1", b"chunked", b"x", b"a b", b"[::1]:80"])
names = st.sampled_from(
    [b"Host", b"host", b"Connection", b"Content-Length", b"Transfer-Encoding", b"Accept", b"X-\xff"]
)
fields = st.tuples(
    st.one_of(names, token.map(str.encode)),
    st.sampled_from([b":", b": ", b" :", b":\t ", b""]),
    st.one_of(odd, value.map(str.encode), st.binary(max_size=8), st.just(b"close, x")),
    st.sampled_from([b"\r\n"] * 9 + [b"\n", b"\r\n ", b"\r"]),
)


@MANY
@given(
    method=st.sampled_from([b"GET", b"GET", b"HEAD", b"POST", b"get", b"G\x00T", b""]),
    target=st.one_of(
        targets.map(str.encode),
        st.sampled_from([b"*", b"http://h/top", b"HTTP://h", b"/top?n=65", b"\xe9", b"/" * 1100]),
    ).flatmap(lambda path: versions.map(lambda version: path + b" HTTP/" + version)),
    some=st.lists(fields, max_size=5),
    behind=st.sampled_from([b"", b"x", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"]),
)
def test_both_agree_on_unusual_requests(
    ours: Judge,
    method: bytes,
    target: bytes,
    some: list[tuple[bytes, bytes, bytes, bytes]],
    behind: bytes,
) -> None:
    head = method + b" " + target + b"\r\nHost: x\r\n"
    compare(ours, head + b"".join(map(b"".join, some)) + b"\r\n" + behind)


@pytest.mark.parametrize("target", ["exchange", "http_head"])
def test_both_agree_on_the_fuzzing_corpus(ours: Judge, target: str) -> None:
    found = sorted((CORPUS / target).iterdir())
    assert found
    for path in found:
        # Inputs of the exchange target start with three bytes of settings.
        compare(ours, path.read_bytes()[3 if target == "exchange" else 0 :])
