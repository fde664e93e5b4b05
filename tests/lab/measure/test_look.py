"""The look at a contender's answers before a race, and what its clients are told of it."""

import json
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

import pytest

from regatta.measure.places.placement import make_placement
from regatta.measure.places.sides import Placement
from regatta.measure.race.look import Look, expected_by, look, look_notes
from regatta.measure.trial.load import EXPECTED, client_command, give_requests
from regatta.measure.trial.side import Side
from regatta.record.records import DIFFER
from regatta.record.study import Study
from regatta.record.study.limits import LOOPBACK
from regatta.record.write import Ledger
from tests.lab import fake_races

SERVER = """
import http.server, itertools, os, sys, time
how, count = sys.argv[2], itertools.count(1)
class Pages(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        body = {
            "page": "a page that is always the same",
            "dated": time.strftime("a page of %a, %d %b %Y %H:%M:%S GMT", time.gmtime()),
            "own": "by " + "".join(chr(97 + int(digit)) for digit in f"{os.getpid():08}"),
            "counts": f"page {next(count)}",
            "broken": "Traceback (most recent call last)",
            "lost": "no such page",
            "host": self.headers["Host"].rpartition(":")[0],
        }[how].encode()
        self.send_response(404 if how == "lost" else 200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_POST = do_GET
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("", int(sys.argv[1])), Pages).serve_forever()
"""


class FakeLedger:
    """Stands for a ledger: its environment."""

    def __init__(self) -> None:
        self.recorded: dict[str, object] = {}

    def environment(self, key: str) -> object:
        return self.recorded.get(key)

    def record_environment(self, more: dict[str, object]) -> None:
        self.recorded |= json.loads(json.dumps(more))


class Looked:
    """A look at these servers, with its ledger."""

    def __init__(self, folder: Path, place: Placement, *how: str, **more: str) -> None:
        self.study = study_of(folder, *how, **more)
        self.setup = replace(
            fake_races.trial_setup(folder, place), contenders=self.study.contenders, folder=folder
        )
        self.ledger = FakeLedger()
        self.found = self.again()
        self.notes = list(look_notes(self.found))

    def again(self) -> list[Look]:
        return look(cast("Ledger", self.ledger), self.study, self.setup)


def study_of(folder: Path, *how: str, race: str = "", asked: str = 'path = "/"') -> Study:
    (folder / "server.py").write_text(SERVER)
    text = f'name = "mine"\n[race]\n{race}\n'
    for name in how:
        command = [sys.executable, "{folder}/server.py", "{port}", name.partition("-")[0]]
        text += f"[contenders.{name}]\ncommand = {json.dumps(command)}\n{asked}\n"
    text += f'[[cells]]\ncontenders = {json.dumps(how)}\nconnections = [2]\ndialect = "http"\n'
    return fake_races.parse(text + 'load = "closed"\nduration_s = 1\n', folder)


@pytest.fixture
def looked(tmp_path: Path, programs_folder: Path) -> Iterator[Callable[..., Looked]]:
    del programs_folder
    with make_placement(LOOPBACK, (0,), (0,), "none", None) as place:
        yield partial(Looked, tmp_path, place)


def test_the_clients_are_told_what_was_seen(looked: Callable[..., Looked], tmp_path: Path) -> None:
    seen = looked("page", "dated", "counts", "own")
    setup = replace(seen.setup, expected=expected_by(seen.found))
    page, *_ = seen.study.cells
    with Side(setup.placement.client, "client", tmp_path) as client:
        give_requests(setup, page, client)
    assert client_command(setup, page, "a:1", [])[-3:-1] == ["--expect", EXPECTED]
    body = b"a page that is always the same"
    assert (tmp_path / EXPECTED).read_text() == f"200 30 30 {zlib.crc32(body):08x}\n"
    lines = {name: line.split() for (name, _), line in setup.expected.items()}
    assert lines["dated"][:3] == ["200", "39", "39"]
    assert lines["dated"][4].endswith("27-35"), "the time"
    assert lines["own"][4] == "3-11", "the process, as two were looked at"
    assert lines["counts"] == ["200", "6", "26", "-"]
    noted = {line.partition(":")[0] for line in seen.notes}
    assert noted >= {"dated", "counts", "own"}
    assert "page" not in noted


def test_what_differs_is_told_and_recorded_and_a_resumed_race_has_it(
    looked: Callable[..., Looked],
) -> None:
    seen = looked("page", "page-again", "broken")
    assert seen.ledger.recorded[DIFFER] == {
        "broken": "answers 33 bytes of text/plain to GET /, page 30 bytes of text/plain"
    }
    (line,) = seen.notes
    assert line.startswith("broken answers 33 bytes of text/plain")
    seen.setup = replace(seen.setup, contenders={})  # nothing can be started again
    assert expected_by(seen.again()) == expected_by(seen.found)


def test_an_error_is_nothing_to_compare_with(looked: Callable[..., Looked]) -> None:
    seen = looked("lost")
    assert expected_by(seen.found) == {}
    assert seen.notes == ["lost: its answers are not compared: it answers 404 to GET /"]


def test_each_request_of_a_file_has_its_line(looked: Callable[..., Looked], tmp_path: Path) -> None:
    posts = '{"path": "/"}\n{"path": "/", "headers": {"Host": "shop:1"}}\n'
    (tmp_path / "asked.jsonl").write_text(posts)
    seen = looked("host", asked='requests = "asked.jsonl"')
    (text,) = expected_by(seen.found).values()
    assert [line.split()[1] for line in text.splitlines()] == [str(len("127.0.0.1")), "4"]


def test_answers_that_may_differ_are_not_looked_at(looked: Callable[..., Looked]) -> None:
    seen = looked("page", "broken", race="answers_may_differ = true")
    assert seen.found == []
    assert seen.ledger.recorded == {}
