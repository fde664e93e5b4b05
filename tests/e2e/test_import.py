"""scripts/import-httparena: a made-up checkout becomes a study, and a race judges its claims."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from regatta.record.study import Study, parse_study
from regatta.record.study.published import recorded_claims
from tests.commands import Done, assert_refused, run
from tests.e2e.racing import environment, needs_programs
from tests.servers import table

pytestmark = needs_programs
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
    folder, results = checkout / "frameworks" / name, checkout / "site/data/results"
    for place in (folder, results):
        place.mkdir(parents=True, exist_ok=True)
    described = {"display_name": name, "tests": ["baseline", "latency-10k"], "enabled": True}
    text = meta if isinstance(meta, str) else json.dumps(described | (meta or {}))
    (folder / "meta.json").write_text(text)
    if dockerfile is not None:
        (folder / "Dockerfile").write_text(dockerfile)
    content = {"results": {"baseline-4": {"rps": rps, "connections": 4}, **(result or {})}}
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


# How a framework differs from one that can be imported, and the reason why it is left out.
LEFT_OUT: dict[str, tuple[dict[str, Any], str]] = {
    "huge": ({"rps": 10**400}, "rps is not from 0"),
    "truth": ({"rps": True}, "rps is not a number"),
    "list": ({"result": {"baseline-4": []}}, "no result of baseline"),
    "wrong": ({"meta": "{"}, "meta.json is not valid JSON"),
    "array": ({"meta": "[]"}, "meta.json is not a JSON object"),
    "deep": ({"meta": "[" * 100_000}, "meta.json is not valid JSON"),
    "off": ({"meta": {"enabled": False}}, "disabled"),
    "other": ({"meta": {"tests": ["echo-ws"]}}, "does not take the test baseline"),
    "bare": ({"dockerfile": None}, "Dockerfile: No such file"),
    "silent": ({"dockerfile": "FROM scratch\n"}, "names no command"),
    "braces": ({"dockerfile": 'FROM x\nCMD ["a", "{port}"]\n'}, "word in braces"),
    "epoll": ({}, "a design has this name"),
    "many": (
        {"result": {"baseline-9": {"rps": 5, "connections": 9}}},
        "published under another load",
    ),
    "link": ({"dockerfile": None}, "leads out of the checkout"),
}


def test_what_cannot_be_imported_is_listed_with_its_reason(tmp_path: Path) -> None:
    arena = tmp_path / "arena"
    for name, rps in (("fine", 100), ("good", 300), ("red\x1b[31m", 1)):
        framework(arena, name, rps)
    folders = {
        name: framework(arena, name, **({"rps": 1} | differs))
        for name, (differs, _) in LEFT_OUT.items()
    }
    (tmp_path / "secret").write_text(DOCKERFILE)
    (folders["link"] / "Dockerfile").symlink_to(tmp_path / "secret")
    framework(arena, "title", 200, meta={"display_name": "a\x1b]0;b\x07\n"})
    done = imported(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    reasons = dict(re.findall(r"^not imported: (.+?): (.+)$", done.stdout, re.MULTILINE))
    for name, (_, words) in LEFT_OUT.items():
        assert words in reasons[name], name
    assert sum("its name cannot" in why for why in reasons.values()) == 1
    assert len(reasons) == len(LEFT_OUT) + 1
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


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("", "", r"remove `race\.slices`"),
        ('["a"]\nport', '["a", "{port}"]\nport', r"only for a command without \{port\}"),
        ("port = 80\n", "", r"contenders\.a\.command` lacks \{port\}"),
    ],
)
def test_a_fixed_port_is_refused_where_servers_run_at_the_same_time(
    tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    text = (
        'name = "x"\n[race]\nslices = 2\n[contenders.a]\ncommand = ["a"]\nport = 80\n'
        '[[cells]]\ncontenders = ["a"]\ndialect = "http"\n'
    )
    with pytest.raises(Exception, match=complaint):
        parse_study(text.replace(old, new), table(), tmp_path)
