"""What the client advises when requests fail: another server, a missing token, a wrong one."""

from pathlib import Path

import pytest

from tests.commands import run
from tests.e2e.scripted_servers import REPLIES, http, once, serving
from tests.servers import program, running
from tests.tokens import TOKEN, token_file

NEEDED = "this server requires a token: give --token-file FILE"
WRONG = "the token of --token-file is not this server's"


def advice(address: str, *options: str) -> str:
    done = run(program("regatta-client"), "--quiet", *options, address)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    return done.stderr.rpartition("; ")[2].strip()


@pytest.mark.parametrize(
    "reply",
    [http(b"hello"), http(b"hello", b"404 Not Found"), http(b""), b"220 ready\r\n"],
    ids=["another body", "404", "no body", "not HTTP"],
)
def test_the_reply_of_another_server_is_named_with_the_way_to_ask_it(reply: bytes) -> None:
    with serving(once(reply)) as server:
        assert advice(server.address, "--dialect", "http") == (
            'the reply is not Regatta\'s: for another server give --path / (in a study: path = "/")'
        )


def test_a_server_that_answered_before_is_regatta(dialect: str) -> None:
    """A single odd reply is not another server."""
    with serving(
        once(lambda number: REPLIES[dialect] if number == 0 else b"odd\r\n\r\n")
    ) as server:
        said = advice(server.address, "--dialect", dialect, "--rounds", "2", "-c", "2")
        assert said == f"check the server at {server.address}"


def test_a_missing_and_a_wrong_token_are_told_apart(tmp_path: Path, dialect: str) -> None:
    right = token_file(tmp_path)
    (tmp_path / "other").mkdir()
    wrong = token_file(tmp_path / "other", TOKEN[::-1])
    with running(tmp_path, "--work", "snapshot", "--token-file", str(right)) as server:
        assert advice(server.address, "--dialect", dialect) == NEEDED
        other = ("--dialect", dialect, "--token-file", str(wrong))
        assert advice(server.address, *other) == WRONG
