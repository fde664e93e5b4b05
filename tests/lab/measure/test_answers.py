"""What answers must be under load, from those that were seen before it."""

import json
import time
import zlib

import pytest

from regatta.measure.trial.answers import Answer, Expected, differences, expected, spelled
from regatta.record.study.request_file import Request

PAGE = b"<h1>Prices</h1>" + 400 * b"<p>bread 2.40</p>"


def answer(body: bytes | str, kind: str = "text/html", status: int = 200) -> Answer:
    body = body if isinstance(body, bytes) else body.encode()
    return Answer("GET /", status, body, kind, closes=False)


def of(*bodies: bytes | str, kind: str = "text/html") -> Expected:
    return expected([answer(body, kind) for body in bodies])


def passes(known: Expected, body: bytes | str, status: int = 200) -> bool:
    """As the client decides it, by the line that it reads."""
    said, low, high, crc, *ranges = known.line().split()
    body = body if isinstance(body, bytes) else body.encode()
    if int(said) != status or not int(low) <= len(body) <= int(high):
        return False
    left, at = b"", 0
    for one in "".join(ranges).split(",") if ranges else ():
        start, end = map(int, one.split("-"))
        left, at = left + body[at:start], end
    return crc == "-" or f"{zlib.crc32(left + body[at:]):08x}" == crc


def test_an_answer_that_never_varies_must_be_the_same_to_the_byte() -> None:
    known = of(PAGE, PAGE)
    assert passes(known, PAGE)
    assert known.note() == ""
    for other in (b"!", PAGE + b" ", PAGE.replace(b"2.40", b"0.00"), b""):
        assert not passes(known, other)
    assert not passes(known, PAGE, status=404)


@pytest.mark.parametrize(
    ("seen", "later"),
    [
        (("at 2026-11-27T10:00:01Z", "at 2026-11-27T10:00:02Z"), "at 2026-11-28T11:59:59Z"),
        (("Fri, 27 Nov 2026 10:00:01 GMT", "Fri, 27 Nov 2026 10:00:02 GMT"),) * 2,
        (("id a3f0-77aa, ok", "id 09bc-0001, ok"), "id ffff-ffff, ok"),
    ],
)
def test_a_word_that_varies_is_left_out_whole(seen: tuple[str, str], later: str) -> None:
    later = later if isinstance(later, str) else later[0]
    known = of(*(f"{one}{PAGE.decode()}" for one in seen))
    assert passes(known, later + PAGE.decode())
    assert not passes(known, later + PAGE.decode().replace("2.40", "0.00"))
    assert "vary and are not compared" in known.note()


def test_a_clock_is_left_out_though_it_stood_still(monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    shown = time.strftime("%H:%M", time.localtime(now)).encode()
    known = of(b"it is " + shown + PAGE, b"it is " + shown + PAGE)
    assert passes(known, b"it is 23:59" + PAGE)
    assert not passes(known, b"it was " + shown + PAGE[1:])


def test_seconds_since_1970_keep_their_length() -> None:
    now = int(time.time())
    known = of(f"{now} bread", f"{now + 1} bread")
    assert passes(known, f"{now + 77} bread")
    assert not passes(known, f"{now + 77} broth")


@pytest.mark.parametrize("form", ["visit {} of many", "req-{}", '{{"took": 0.{}}}', "{}ms"])
def test_a_counter_may_grow(form: str) -> None:
    body = PAGE.decode() + form
    known = of(*(body.format(number) for number in (1, 2, 3)))
    assert passes(known, body.format(1_234_567))
    assert not passes(known, "1")
    assert "varies" in known.note()


def test_answers_of_several_lengths_may_have_others_within_reason() -> None:
    known = of(PAGE, PAGE + b"<p>more</p>")
    assert passes(known, PAGE[:-100])
    for other in (b"Internal error", 4 * PAGE):
        assert not passes(known, other)


def test_bytes_that_are_no_text_may_have_any_length_within_reason() -> None:
    """Compressed, as a body that differs in one date is."""
    known = of(bytes([0x1F, 0x8B, 200, 7]) * 100, bytes([0x1F, 0x8B, 201, 7]) * 100)
    assert passes(known, bytes(405))
    assert not passes(known, b"!")


def named(**bodies: str) -> dict[str, list[Expected]]:
    return {name: [of(body)] for name, body in bodies.items()}


def test_of_two_that_differ_neither_is_right() -> None:
    assert set(differences(named(a="page", b="Traceback"))) == {"a", "b"}
    assert (
        "answers 9 bytes of text/html to GET /, a 4 bytes"
        in differences(named(a="page", b="Traceback"))["b"]
    )


def test_of_several_the_odd_one_differs() -> None:
    assert set(differences(named(a="page", b="pige", c="Traceback"))) == {"c"}
    assert differences(named(a="page", b="page", c="page")) == {}


def test_status_and_type_differ_too() -> None:
    moved = [expected([answer("page", status=301)])]
    text = [expected([answer("page", "text/plain")])]
    for other in (moved, text):
        assert set(differences({"a": [of("page")], "b": other})) == {"a", "b"}


def test_json_that_is_only_written_otherwise_is_the_same() -> None:
    value = {"name": "é", "prices": [1, 2.5]}
    one, other = json.dumps(value), json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    pair = [of(text, kind="application/json") for text in (one, other)]
    assert differences({"a": pair[:1], "b": pair[1:]}) == {}
    assert not passes(pair[0], other), "under load it is still the same to the byte"


def test_what_is_not_asked_the_same_is_not_compared() -> None:
    there = expected([Answer("GET /there", 200, b"long page", "text/html", closes=False)])
    assert differences({"a": [of("page")], "b": [there]}) == {}


def test_a_request_is_spelled_as_the_client_does() -> None:
    post = Request(path="/items", method="POST", headers={"X-A": "b"}, body="é")
    assert spelled(post, "[::1]:80") == (
        b"POST /items HTTP/1.1\r\nHost: localhost:80\r\nContent-Length: 2\r\nX-A: b\r\n\r\n\xc3\xa9"
    )
    assert b"Host: shop\r\n" in spelled(Request(path="/", headers={"host": "shop"}), "a:1").replace(
        b"host", b"Host"
    )
    assert b"localhost" not in spelled(Request(path="/", headers={"host": "shop"}), "a:1")
