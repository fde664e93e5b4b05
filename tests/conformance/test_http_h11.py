"""The head parser against an independent one: what ours takes, h11 takes too."""

import h11
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.http_replies import parse_replies
from tests.servers import RunningServer, running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory):
    with running(tmp_path_factory.mktemp("h11"), "--work", "snapshot") as started:
        yield started


token = st.text(
    "abcdefghijklmnopqrstuvwxyz-ABCXYZ!#$%&'*+.^_`|~0123456789", min_size=1, max_size=12
)
value = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=30)
plain_names = token.filter(
    lambda name: (
        name.lower()
        not in {"host", "connection", "content-length", "transfer-encoding", "accept", "upgrade"}
    )
)
targets = st.sampled_from(
    ["/top", "/top?n=3", "/healthz", "/", "/x", "/top?format=json", "/top?n="]
)
FAST = settings(max_examples=300, suppress_health_check=list(HealthCheck))


@FAST
@given(
    method=st.sampled_from(["GET", "HEAD"]),
    target=targets,
    fields=st.lists(st.tuples(plain_names, value), max_size=6),
)
def test_every_valid_request_is_understood(
    server: RunningServer, method: str, target: str, fields: list[tuple[str, str]]
) -> None:
    head = f"{method} {target} HTTP/1.1\r\nHost: localhost\r\n"
    head += "".join(f"{name}: {text}\r\n" for name, text in fields) + "\r\n"
    (reply,) = parse_replies(server.ask(head.encode()), [method])
    expected = {"/top?n=": 400, "/": 404, "/x": 404}.get(target, 200)
    assert reply.status == expected


def h11_takes(request: bytes) -> bool:
    # An empty line before the request is to be ignored (RFC 9112, 2.2); h11 takes none.
    while request.startswith(b"\r\n"):
        request = request[2:]
    connection = h11.Connection(h11.SERVER)
    try:
        connection.receive_data(request)
        return isinstance(connection.next_event(), h11.Request)
    except h11.RemoteProtocolError:
        return False


VALID = b"GET /top?n=2 HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\nUser-Agent: y\r\n\r\n"


@FAST
@given(
    damage=st.lists(
        st.tuples(
            st.integers(0, len(VALID) - 1),
            st.sampled_from(
                [
                    b"",
                    b" ",
                    b"\r",
                    b"\n",
                    b"\r\n",
                    b":",
                    b"\0",
                    b"\t",
                    b"\x80",
                    b"a",
                    b"Host: z\r\n",
                ]
            ),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_whatever_is_taken_is_valid(server: RunningServer, damage: list[tuple[int, bytes]]) -> None:
    request = VALID
    for at, inserted in damage:
        request = request[:at] + inserted + request[at + (inserted == b"") :]
    reply = server.ask(request)
    # Another host than ours is asked for in a valid way too.
    if reply.startswith((b"HTTP/1.1 200", b"HTTP/1.1 421")):
        assert h11_takes(request), request
