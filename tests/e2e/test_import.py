"""scripts/import-httparena: a made-up checkout becomes a study, and a race judges its claims."""

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from regatta.record.study import Study, parse_study
from regatta.record.study.published import recorded_claims
from tests.commands import Done, assert_refused, run
from tests.e2e.racing import end_well, environment, needs_programs, regatta
from tests.servers import table
from tests.sockets import free_port

pytestmark = needs_programs
SERVER = """
import sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        time.sleep(float(sys.argv[2]))
        assert self.path == "/baseline11?a=1&b=1"
        self.send_response(200)
        self.send_header("Content-Length", "1")
        self.end_headers()
        self.wfile.write(b"2")

    def log_message(self, *_):
        pass

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "import-httparena"
DOCKERFILE = 'FROM scratch AS build\nCMD ["no"]\nFROM scratch\nWORKDIR /app\nCMD ["serve", "it"]\n'


def framework(  # noqa: PLR0913, PLR0917  (what a made-up framework has)
    checkout: Path,
    name: str,
    rps: Any,
    dockerfile: str | None = DOCKERFILE,
    meta: Any = None,
    result: dict[str, Any] | None = None,
) -> Path:
    folder = checkout / "frameworks" / name
    folder.mkdir(parents=True)
    tests = {"tests": ["baseline", "latency-10k"], "enabled": True}
    (folder / "meta.json").write_text(
        meta
        if isinstance(meta, str)
        else json.dumps({"display_name": name, **tests, **(meta or {})})
    )
    if dockerfile is not None:
        (folder / "Dockerfile").write_text(dockerfile)
    results = checkout / "site/data/results"
    results.mkdir(parents=True, exist_ok=True)
    figures = {"rps": rps, "connections": 4}
    content = {"results": {"baseline-4": figures, **(result or {})}}
    (results / f"{name}.json").write_text(json.dumps(content))
    return folder


def imported(folder: Path, *options: str) -> Done:
    command = [sys.executable, str(SCRIPT), "arena", *options]
    return run(*command, cwd=folder, env=environment(), timeout=120)


def study_of(folder: Path, name: str = "httparena-baseline.toml") -> Study:
    return parse_study((folder / name).read_text(), table(), folder)


def test_the_ranking_becomes_claims_and_the_best_are_chosen(tmp_path: Path) -> None:
    for name, rps in (("slow", 100), ("fast", 300), ("middle", 200), ("last", 50)):
        framework(tmp_path / "arena", name, rps)
    done = imported(tmp_path, "--most", "3")
    assert done.returncode == 0, done.stderr
    assert "not imported: last: behind the best 3; raise --most\n" in done.stdout
    study = study_of(tmp_path)
    assert [*study.contenders] == ["fast", "middle", "slow"]
    assert [claim.says for claim in study.claims] == [
        "fast serves more requests a second than middle.",
        "middle serves more requests a second than slow.",
    ]
    assert study.claims[0].statements[0].groups == (("middle",), ("fast",))
    assert len(recorded_claims(study)) == 2
    fast = study.contenders["fast"]
    assert fast.command == ("sh", "-c", 'cd "$0" && exec "$@"', "/app", "serve", "it")
    assert (fast.image, fast.port) == ("localhost/httparena-fast", 8080)
    script = (tmp_path / "httparena-baseline.build.sh").read_text()
    assert f"build -t localhost/httparena-fast {tmp_path}/arena/frameworks/fast\n" in script
    again = imported(tmp_path)
    assert_refused(again, 2, "regatta") if not again.stdout else None
    assert "exists; choose another --out" in again.stderr


def test_cpu_per_request_is_claimed_at_the_published_rate(tmp_path: Path) -> None:
    for name, cost_us in (("dear", 90.5), ("cheap", 30)):
        paced = {"connections": 4, "cpu_per_req_us": cost_us, "target_rate": 10000}
        framework(tmp_path / "arena", name, 1, result={"latency-10k-4": paced})
    assert imported(tmp_path, "--test", "latency-10k", "--out", "l.toml").returncode == 0
    study = study_of(tmp_path, "l.toml")
    assert {(cell.load, cell.rate, cell.connections) for cell in study.cells} == {
        ("open", 10000, 4)
    }
    assert study.claims[0].statements[0].groups == (("cheap",), ("dear",))
    assert study.counted_blocks >= 6


def test_what_cannot_be_imported_is_listed_with_its_reason(tmp_path: Path) -> None:
    arena = tmp_path / "arena"
    for name, rps in (("fine", 100), ("good", 300)):
        framework(arena, name, rps)
    framework(arena, "huge", 10**400)
    framework(arena, "infinite", float("inf"))
    framework(arena, "truth", True)
    framework(arena, "text", 1, result={"baseline-4": {"rps": "9", "connections": 4}})
    framework(arena, "list", 1, result={"baseline-4": []})
    framework(arena, "wrong", 1, meta="{")
    framework(arena, "array", 1, meta="[]")
    framework(arena, "deep", 1, meta="[" * 100_000)
    framework(arena, "off", 1, meta={"enabled": False})
    framework(arena, "other", 1, meta={"tests": ["echo-ws"]})
    framework(arena, "bare", 1, dockerfile=None)
    framework(arena, "silent", 1, dockerfile="FROM scratch\n")
    framework(arena, "braces", 1, dockerfile='FROM x\nCMD ["a", "{port}"]\n')
    framework(arena, "epoll", 1)
    framework(arena, "red\x1b[31m", 1)
    framework(arena, "many", 1, result={"baseline-9": {"rps": 5, "connections": 9}})
    framework(arena, "scripted", 1).joinpath("build.sh").touch()
    (tmp_path / "secret").write_text(DOCKERFILE)
    (framework(arena, "link", 1, dockerfile=None) / "Dockerfile").symlink_to(tmp_path / "secret")
    (framework(arena, "circle", 1, dockerfile=None) / "Dockerfile").symlink_to("Dockerfile")
    framework(arena, "title", 200, meta={"display_name": "a\x1b]0;b\x07\n"})
    done = imported(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    reasons = dict(re.findall(r"^not imported: (.+?): (.+)$", done.stdout, re.MULTILINE))
    expected = {
        "huge": "rps is not from 0",
        "infinite": "rps is not from 0",
        "truth": "rps is not a number",
        "text": "rps is not a number",
        "list": "no result of baseline",
        "wrong": "meta.json is not valid JSON",
        "array": "meta.json is not a JSON object",
        "deep": "meta.json is not valid JSON",
        "off": "disabled",
        "other": "does not take the test baseline",
        "bare": "Dockerfile: No such file",
        "silent": "names no command",
        "braces": "word in braces",
        "epoll": "a design has this name",
        "many": "published under another load",
        "scripted": "build.sh",
        "link": "leads out of the checkout",
        "circle": "Dockerfile",
    }
    for name, words in expected.items():
        assert words in reasons[name], name
    assert sum("its name cannot" in why for why in reasons.values()) == 1
    assert len(reasons) == len(expected) + 1
    study = study_of(tmp_path)
    assert [*study.contenders] == ["good", "title", "fine"]
    assert study.contenders["title"].title == "title"


def test_a_folder_that_is_no_checkout_or_has_too_little_is_refused(tmp_path: Path) -> None:
    assert "is no checkout of HttpArena" in imported(tmp_path).stderr
    framework(tmp_path / "arena", "alone", 1)
    assert "a race needs two" in imported(tmp_path).stderr
    assert "there is no frameworks/x" in imported(tmp_path, "--only", "x").stderr
    assert "did you mean baseline?" in imported(tmp_path, "--test", "baselin").stderr
    assert [path.name for path in tmp_path.iterdir()] == ["arena"]


@pytest.mark.long
def test_a_race_of_the_study_judges_the_claims(tmp_path: Path) -> None:
    """Published: a before b before c; here b is the slowest by far."""
    port = free_port()
    (tmp_path / "server.py").write_text(SERVER)
    for name, rps, delay in (("a", 300, "0"), ("b", 200, "0.1"), ("c", 100, "0.02")):
        words = json.dumps([sys.executable, str(tmp_path / "server.py"), str(port), delay])
        framework(tmp_path / "arena", name, rps, f"FROM scratch\nENTRYPOINT {words}\n")
    assert imported(tmp_path).returncode == 0
    path = tmp_path / "httparena-baseline.toml"
    text = path.read_text().replace('kind = "containers"', 'kind = "loopback"')
    text = text.replace("port = 8080", f"port = {port}").replace(
        "duration_s = 2", "duration_s = 0.3"
    )
    text = text.replace(
        "blocks = 10", "blocks = 7\nwarmup_limit_s = 0\ndisturbance_limit_percent = 1e6", 1
    )
    assert tomllib.loads(text)["race"]["blocks"] == 7
    path.write_text(text.replace("counted_blocks = 2", "counted_blocks = 0"))
    end_well(tmp_path, "race", str(path), "--out", "race", "--no-perf", "--quiet")
    done = run(*regatta("report", "race", "--json"), cwd=tmp_path, env=environment(), timeout=120)
    verdicts = {claim["id"]: claim["verdict"] for claim in json.loads(done.stdout)["claims"]}
    assert verdicts == {"H1": "supported", "H2": "refuted"}


def test_a_fixed_port_is_refused_where_servers_run_at_the_same_time(tmp_path: Path) -> None:
    text = (
        'name = "x"\n[race]\nslices = 2\n[contenders.a]\ncommand = ["a"]\nport = 80\n'
        '[[cells]]\ncontenders = ["a"]\ndialect = "http"\n'
    )
    with pytest.raises(Exception, match=r"remove `race\.slices`"):
        parse_study(text, table(), tmp_path)
    with pytest.raises(Exception, match=r"only for a command without \{port\}"):
        parse_study(text.replace('["a"]\nport', '["a", "{port}"]\nport'), table(), tmp_path)
    with pytest.raises(Exception, match=r"contenders\.a\.command` lacks \{port\}"):
        parse_study(text.replace("port = 80\n", ""), table(), tmp_path)
