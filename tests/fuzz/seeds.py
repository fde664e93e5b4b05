"""The inputs that the fuzzer begins with: what the tests of the dialects ask, and a good example of
whatever else a target reads. Writes those that the corpus lacks.

usage: .venv/bin/python -m tests.fuzz.seeds"""

from pathlib import Path

from tests.conformance import test_dialects, test_http_h11, test_query

CORPUS = Path(__file__).parent / "corpus"
MOST_BYTES = 8400  # some more than the longest head

STAT = (
    b"42 (%s) %s 1 1 1 0 -1 %d 100 200 3 4 250 75 9 8 20 0 %d 0 500 1000000 300 "
    b"18446744073709551615 1 1 0 0 0 0 0 4096 1260 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
)
USER, KERNEL, WORKER = 4194560, 0x208040, 0x4208060
STATS = {
    "plain": STAT % (b"cat", b"S", USER, 1),
    "running": STAT % (b"cat", b"R", USER, 1),
    "threads": STAT % (b"java", b"S", USER, 40),
    "hostile-name": STAT % (b"a) R 1 (b\n\\\xff", b"S", USER, 1),
    "no-name": STAT % (b"", b"S", USER, 1),
    "kernel-thread": STAT % (b"pool_workqueue_release", b"I", KERNEL, 1),
    "kernel-worker": STAT % (b"kworker/u8:3+flush-254:0", b"I", WORKER, 1),
    "kernel-rescuer": STAT % (b"kworker/R-kvfree_rcu_reclaim", b"I", WORKER, 1),
    "schedstat": b"1234567 89 1011\n",
    "all-cpus": b"cpu  100 2 30 4000 5 6 7 8 0 0\ncpu0 100 2 30 4000 5 6 7 8 0 0\nintr 1 2\n",
}

TEXT_REPLY = (
    b"rank pid user_seconds system_seconds name\n1 4242 12.340000 1.250000 postgres: writer\n"
    b"2 7 0.500000 0.250000 \\x1b\\n\\\\\xc3\xa9\n- - 1.000000 2.000000 (everything else)\n"
    b"# source procfs (no rights for bpf), 75 tasks, 0 lost, taken 2026-11-21T13:20:01.123Z\n"
)
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
CHUNKS = b'5;a="b"\r\nhello\r\n00a\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n'
LINE, HTTP, AFTER_TOKEN = 0, 1, 2
TWO_ROWS = 2 << 2

WATCHED = (
    b'{"host": "alpha", "taken_at": 1795267201.123456, "age_ms": 12, "source": "procfs", '
    b'"source_reason": %s, "tasks_seen": 75, "tasks_lost": 0, "by": "%s", "group": %s, '
    b'"elapsed_seconds": 10.000000, "%s": [{"rank": 1, "%s": 42, "name": "%s", '
    b'"user_seconds": 1.500000, "system_seconds": 0.250000, "started_at": 1795267000.000000, '
    b'"command": null, "threads": [{"tid": 42}], "threads_alive": true}], "rest": '
    b'{"user_seconds": 123456789.000001, "system_seconds": 2.000000, "processes": 70}}\n'
)
ESCAPES = rb"\\x1b\u202e\ud83d\ude00\u0000 \/\b\f\n\r\t\"" + "é\u202e😀".encode() + b"\xff\x9b"
RECENT = WATCHED % (b"null", b"recent", b"null", b"processes", b"pid", b"cat")
HUGE = b'{"processes": [%s, %s]}' % (
    2 * (b'{"user_seconds": 8000000000, "system_seconds": 8000000000.1}',)
)
LONG_HEAD = b"GET /top?n=2 HTTP/1.1\r\nHost: x\r\nA: " + 2000 * b"y" + b"\r\n\r\n"
TOKENS = {
    "good": b"0123456789abcdef\n",
    "carriage-return": b"0123456789abcdef\r\n",
    "empty": b"\n",
    "short": b"0123456789abcde\n",
    "long": 257 * b"x" + b"\n",
    "longer": 300 * b"x",
    "blank": b"01234567 9abcdef\n",
}


BAD_OPTIONS = [
    *(b"\x00" + text for text in (b"wait=1h", b"wait=61s", b"wait", b"scan=1s", b"x")),
    *(b"\x01" + text for text in (b"a:b:c", b"[::1", b"[::1]x", b":1", b"localhost")),
    *(b"\x01" + text for text in (b"h:99999", b"h:x", b"99999999999999999999999")),
    *(b"\x02" + text for text in (b"300.0.0.0", b"10.1.0.0/8", b"10.0.0.0/33", b"::/129")),
    *(b"\x03" + text for text in (b"127.0.0.9-127.0.0.1", b"0.0.0.0-9.9.9.9", b"::1-::2")),
]


def dialects() -> dict[str, bytes]:
    """Everything that the tests of the dialects ask in both."""
    asked = {
        "health": test_dialects.GET % b"/healthz",
        "metrics": b"GET /metrics HTTP/1.1\r\nHost: localhost:7342\r\nAccept: "
        b"application/openmetrics-text;version=1.0.0;q=0.75,text/plain;q=0.5,*/*;q=0.1\r\n\r\n",
        "json": b"GET /top HTTP/1.1\r\nHost: [::1]:7342\r\nAccept: application/json\r\n\r\n",
        "absolute": b"GET http://localhost/top?n=2 HTTP/1.1\r\nHost: x\r\n\r\n",
        "keep-alive": b"GET /top HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
        "close": b"GET /top HTTP/1.1\r\nHost: localhost\r\nConnection: a, close\r\n\r\n",
        "head": b"HEAD /top HTTP/1.2\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n",
        "bearer": b"GET /top HTTP/1.1\r\nHost: a.example\r\n"
        b"Authorization: Bearer 0123456789abcdef\r\n\r\n",
        "pipeline": b"\r\n" + 3 * (test_dialects.GET % b"/top?n=1"),
        "valid": test_http_h11.VALID,
        "line": b"top 2\ntop\r\ntop 64\n",
        "auth": b"auth 0123456789abcdef\ntop 2\n",
        "wrong-auth": b"auth 0123456789abcdeX\ntop 2\n",
        "empty-lines": b"\r\n\r\nGET /x HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n",
    }
    for number, parameters in enumerate(test_query.GOOD):
        asked[f"line-good-{number}"] = b"top " + " ".join(parameters).encode() + b"\n"
        asked[f"http-good-{number}"] = test_dialects.GET % f"/top?{'&'.join(parameters)}".encode()
    for test in (
        test_dialects.test_a_bad_http_request_is_answered_in_one_line,
        test_dialects.test_a_bad_line_is_answered_with_an_error,
    ):
        for mark in test.pytestmark:
            for number, one in enumerate(mark.args[1]):
                request = one[0] if isinstance(one, tuple) else one
                asked[f"bad-{test.__name__.split('_')[2]}-{number}"] = request[:MOST_BYTES]
    asked["nothing"] = b""
    return asked


def seeds() -> dict[str, dict[str, bytes]]:
    asked = dialects()
    requests = {name: text for name, text in asked.items() if text[:1].isupper()}
    lines = {name: text for name, text in asked.items() if name not in requests}
    # Choices of the conversation: none; admission; with a token; long answers and lent buffers;
    # each with its end, and split in its own way.
    choices = {"plain": 0x08, "admitted": 0x01, "token": 0x0B, "long": 0xEC, "idle": 0x10}
    choices |= {"last": 0x68, "lost": 0xA8}
    replies = {
        "line": bytes([LINE | TWO_ROWS, 0]) + TEXT_REPLY + b"\n",
        "token": bytes([LINE | AFTER_TOKEN | TWO_ROWS, 2]) + b"ok\n\n" + TEXT_REPLY + b"\n",
        "any-line": bytes([LINE, 0]) + b"anything\r\nelse\n\n",
        "refused-line": bytes([LINE | TWO_ROWS, 3]) + b"error: n must be a number\n\n",
        "refused-http": bytes([LINE, 4]) + b"HTTP/1.1 503 Service Unavailable\r\n\r\n",
        "http": bytes([HTTP | TWO_ROWS, 5])
        + OK
        + b"Content-Length: %d\r\n\r\n" % len(TEXT_REPLY)
        + TEXT_REPLY,
        "http-404": bytes([HTTP, 0]) + b"HTTP/1.1 404 Not Found\r\n\r\n",
        "http-any": bytes([HTTP, 6]) + OK + b"Content-Length: 2\r\n\r\nok",
        "http-chunked": bytes([HTTP, 7]) + OK + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKS,
        "http-to-end": bytes([HTTP, 8]) + b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nall",
        "http-both": bytes([HTTP, 9])
        + OK
        + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
    }
    answers = {
        "processes": (b"null", b"recent", b"null", b"processes", b"pid", b"cat"),
        "groups": (b'"no rights"', b"total", b'"unit"', b"groups", b"processes", b"ssh.service"),
        "escapes": (b"null", b"total", b"null", b"processes", b"pid", ESCAPES),
    }
    return {
        "exchange": {
            f"{choice}-{name}": bytes([value, len(name), 0]) + text
            for choice, value in choices.items()
            for name, text in asked.items()
            if (choice == "plain" and "good" not in name)
            or name in ("valid", "bearer", "auth", "line", "pipeline")
        }
        | {f"last-bytes-{name}": b"\x68\x00\x00" + asked[name] for name in ("line", "pipeline")}
        | {"empty": b""},
        "http_head": requests,
        "query": {name: text.rstrip(b"\r\n") for name, text in lines.items()}
        | {f"target-{n}": "&".join(one).encode() for n, one in enumerate(test_query.GOOD)},
        "hosts": {
            "names": b"metrics.example,db1.\nDB1.:7342",
            "ipv4": b"a\n127.0.0.1:80",
            "ipv6": b"a\n[fe80::1%eth0]:7342",
            "other": b"localhost\nevil.example",
        },
        "accept": {
            "prometheus": b"application/openmetrics-text;version=1.0.0,application/"
            b"openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            "browser": b"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "json": b"Application/JSON; q=0.5 , text/*;q=1.000, application/*;q=0",
        },
        "reply": replies,
        "body": {
            "length": bytes([4 * 5, 0]) + b"hello",
            "to-end": bytes([1, 3]) + b"hello",
            "chunks": bytes([2, 4]) + CHUNKS,
            "bad-size": bytes([2, 0]) + b"x\r\n",
            "bad-end": bytes([2, 0]) + b"1\r\nabc",
            "into-chunks": bytes([3, 9]) + TEXT_REPLY,
        },
        "watch": {name: b"\x51" + WATCHED % words for name, words in answers.items()}
        | {"failing": b"\x50refused: 401 \x1b]0;owned\x07\xc2\x9b" + "\u202eevil".encode()}
        | {"unreachable": b"\x0cno route", "new": b"\x00"}
        | {f"age-{2**bits}-ns": bytes([4 * bits + 1]) + RECENT for bits in (30, 36, 42, 45, 50)}
        | {"overflow": b"\x01" + HUGE},
        "stat": STATS,
        "classic": STATS | {"nothing": b""},
        "cgroup": {
            "version-2": b"0::/user.slice/user-1000.slice/user@1000.service/app.slice/a.scope\n",
            "hybrid": b"12:cpu,cpuacct:/a\n1:name=systemd:/user.slice\n0::/\n",
            "version-1": b"3:cpuset:/\n4:memory:/docker/1f\n1:name=systemd:/\n0::/\n",
            "escaped": b"0::/system.slice/_dev-disk-by\\x2dlabel-x\\x7g.swap\n",
        },
        "names": {
            "plain": b"\x03\x00cat/bin/cat -n",
            "threads": b"\x03\x30cat/bin/cat",
            "group": b"\x0b\x07ssh.service",
            "controls": b"\x0f\x00\x1b]0;owned\x07\xc2\x9b2J\x7f\xff\xfe\x1b[2J",
            "direction": b"\x0e\x00" + "\u202eevil\u2028\u061c".encode() + b"= x\n+ 7 1.0 1.0 x",
            "quotes": b'\x08\x00"\\\n\t\r\\x"',
            "long": b"\x08\x00" + 255 * b"x" + "é".encode() + 20 * b"y",
            "long-controls": b"\x08\x00" + 255 * b"\x01" + "\u202e".encode() + b"y",
        },
        "surplus": {
            f"{pause}-{name}": bytes([len(name), pause, 31]) + text[:500]
            for pause in (0, 2, 6, 63)
            for name, text in asked.items()
            if name in ("valid", "line", "pipeline", "head", "empty-lines")
        }
        | {"long-head": bytes([2, 5, 0]) + LONG_HEAD},
        "token": {
            f"{kind}-{name}": bytes([kind]) + text
            for kind in range(6)
            for name, text in TOKENS.items()
            if kind == 0 or name == "good"
        },
        "options": {f"bad-{number}": text for number, text in enumerate(BAD_OPTIONS)}
        | {
            "work": b"\x00classic+spin=50us",
            "work-plain": b"\x00scan",
            "address": b"\x01[::1]:7342",
            "address-v4": b"\x01127.0.0.1",
            "network": b"\x0210.0.0.0/8",
            "network-v6": b"\x02::ffff:10.0.0.0/104",
            "sources": b"\x03127.0.0.2,127.0.0.5-127.0.0.9,::1",
        },
    }


def main() -> None:
    for target, inputs in seeds().items():
        folder = CORPUS / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in inputs.items():
            (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
