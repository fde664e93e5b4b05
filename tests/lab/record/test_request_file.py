"""Files of requests, and the contenders that are asked with them."""

import json
from pathlib import Path

import pytest

from regatta.errors import LedgerError, StudyError
from regatta.measure.trial.answers import spelled
from regatta.record.study.request_file import CHUNK_BYTES, RequestFileError, read_request_file
from tests.lab import fake_races

POST = {"method": "POST", "path": "/i", "headers": {"X-A": "ü\tb"}, "body": '{"a": 1}', "weight": 3}
STUDY = fake_races.on_one_cpu(
    '[contenders.mine]\ncommand = "sleep {port}"\n%s\n'
    '[[cells]]\ncontenders = ["mine"]\ndialect = "%s"\nload = "burst"\nconnections = 3\n'
)


def written(tmp_path: Path, content: str) -> Path:
    file = tmp_path / "asked.jsonl"
    file.write_text(content)
    return file


def test_requests_become_lines_of_the_client(tmp_path: Path) -> None:
    file = written(
        tmp_path, f'{json.dumps(POST)}\n\n{{"path": "/"}}\n{{"path": "/l", "status": 303}}'
    )
    assert read_request_file(file, "asked.jsonl").text().splitlines() == [
        r"3 POST /i HTTP/1.1\r\nX-A: \xc3\xbc\tb\r\n\r\n" + '{"a": 1}',
        r"1 GET / HTTP/1.1\r\n\r\n",
        r"1:303 GET /l HTTP/1.1\r\n\r\n",
    ]


def test_a_body_in_chunks_has_no_length(tmp_path: Path) -> None:
    body = "ü" * CHUNK_BYTES
    asked = {"method": "POST", "path": "/", "headers": {"Transfer-Encoding": "chunked"}}
    (long, short) = (json.dumps(asked | {"body": of}) for of in (body, ""))
    file = read_request_file(written(tmp_path, f"{long}\n{short}"), "asked.jsonl")
    head = b"POST / HTTP/1.1\r\nHost: localhost:80\r\nTransfer-Encoding: chunked\r\n\r\n"
    half = body.encode()[:CHUNK_BYTES]
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(of), of) for of in (half, half, b""))
    assert spelled(file.requests[0], "h:80") == head + chunks
    assert spelled(file.requests[1], "h:80") == head + b"0\r\n\r\n"
    assert file.text().splitlines()[1].endswith(r"chunked\r\n\r\n0\r\n\r\n")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("", "has no request"),
        ("GET /", "no JSON object in line 1"),
        ("[]", "`line[1]` must be a table"),
        ("{}", "`line[1]` has no `path`"),
        ('{"path": "x"}', "`line[1].path` is 'x'; it must be printable ASCII"),
        ('{"path": "/a b"}', "without blanks"),
        ('{"path": "/", "method": "get"}', "capital letters"),
        ('{"path": "/", "method": "GET\\r\\nX:"}', "capital letters"),
        ('{"path": "/", "method": "CONNECT"}', "CONNECT"),
        ('{"path": "/", "verb": "GET"}', "unknown key `line[1].verb`"),
        ('{"path": "/", "path": "/x"}', "'path' appears twice"),
        ('{"path": "/", "headers": {"A": "b\\r\\nC: d"}}', "without line ends"),
        ('{"path": "/", "headers": {"A": "b\\u202e"}}', "printable text"),
        ('{"path": "/", "headers": {"A b": "c"}}', "the name of a header"),
        ('{"path": "/", "headers": {"\\u001b[2J": "c"}}', r"`line[1].headers.\x1b[2J` is"),
        ('{"path": "/", "headers": {"Host": "a", "HOST": "b"}}', "'host' appears twice"),
        ('{"path": "/", "headers": {"content-length": "1"}}', "the client sets content-length"),
        ('{"path": "/", "headers": {"Connection": "close"}}', "the client sets content-length"),
        ('{"path": "/", "headers": {"transfer-encoding": "gzip"}}', "other than chunked"),
        ('{"path": "/", "headers": []}', "`line[1].headers` must be a table"),
        ('{"path": "/", "body": {"a": 1}}', "it must be a string; write JSON"),
        ('{"path": "/", "body": "\\ud800"}', r"`line[1].body` is '\ud800'"),
        ('{"path": "/", "weight": 0}', "1 to 1000"),
        ('{"path": "/", "weight": true}', "1 to 1000"),
        ('{"path": "/", "status": 100}', "200 to 599"),
        ('{"path": "/", "weight": ' + "9" * 5000 + "}", "line 1 (Exceeds"),
        ('{"path": ' + "[" * 100_000 + "}", "line 1"),
        ('{"path": "/", "weight": 1000}\n' * 11, "more than 10,000"),
        ('{"path": "/"}\n' * 1001, "more than 1,000 requests"),
        ('{"path": "/", "body": "' + "x" * (1 << 20) + '"}', "larger than 1 MiB"),
    ],
    ids=lambda text: text[:40],
)
def test_a_wrong_file_is_refused_in_one_line(tmp_path: Path, line: str, says: str) -> None:
    with pytest.raises(RequestFileError) as refused:
        read_request_file(written(tmp_path, line), "asked.jsonl")
    assert says in str(refused.value)
    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    ("keys", "dialect", "says"),
    [
        ('requests = "none"', "http", "names none, which does not exist"),
        ('requests = "asked.jsonl"\npath = "/"', "http", "without `path`"),
        ('requests = "asked.jsonl"\ndialect = "line"', "line", "only for the dialect http"),
        ("requests = 3", "http", "the name of a file"),
        ('body = "asked.jsonl"', "http", "needs `path`, to which it is posted"),
        ('path = "/"\nbody = "none"', "http", "names none, which cannot be read: No such file"),
        ('path = "/"\nbody = "."', "http", "names ., which cannot be read: Is a directory"),
        ('path = "/"\nbody = ""', "http", "the name of a file"),
        ('until = "x"', "http", "needs `request`"),
        ("until = 'x'\nrequest = 'a\\q'\ndialect = 'line'", "line", "with the escapes"),
        ("until = ''\nrequest = 'a'\ndialect = 'line'", "line", "a regular expression such as"),
    ],
)
def test_wrong_keys_are_refused(tmp_path: Path, keys: str, dialect: str, says: str) -> None:
    written(tmp_path, '{"path": "/"}')
    with pytest.raises(StudyError) as refused:
        fake_races.parse(STUDY % (keys, dialect), tmp_path)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_cell_records_what_its_contender_is_asked(tmp_path: Path) -> None:
    written(tmp_path, '{"path": "/"}')
    (cell,) = fake_races.parse(STUDY % ('requests = "asked.jsonl"', "http"), tmp_path).cells
    assert cell.path is None
    assert (cell.requests or "").startswith("asked.jsonl (sha256 ")
    (cell,) = fake_races.parse(STUDY % ('path = "/"\nbody = "asked.jsonl"', "http"), tmp_path).cells
    assert (cell.requests or "").startswith("asked.jsonl (sha256 ")
    raw = STUDY % ("request = 'PING\\r\\n'\nuntil = 'G\\r\\n'\ndialect = 'line'", "line")
    (cell,) = fake_races.parse(raw, tmp_path).cells
    assert (cell.request, cell.until) == (r"PING\r\n", r"G\r\n")


@pytest.mark.usefixtures("programs_folder")
def test_a_race_is_not_resumed_with_other_requests(tmp_path: Path) -> None:
    written(tmp_path, '{"path": "/"}')
    study = fake_races.parse(STUDY % ('requests = "asked.jsonl"', "http"), tmp_path)

    def stop(_: object) -> None:
        raise fake_races.StopError

    folder = tmp_path / "race"
    with pytest.raises(fake_races.StopError):
        fake_races.race(study, folder, stop)
    written(tmp_path, '{"path": "/x"}')
    with pytest.raises(LedgerError, match="has other cells"):
        fake_races.resume(folder)
