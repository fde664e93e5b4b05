"""Exports, each read as its own tool reads it."""

import json
import math
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from regatta.errors import UsageError
from regatta.judge.analyse import analyse
from regatta.judge.results import Analysis
from regatta.record.read import read
from regatta.show.exports import REVISION, Export, parse_exports, write_exports
from tests.commands import run
from tests.lab.synthetic import make
from tests.lab.synthetic_held import add_held
from tests.ledgers import change

ROOT = Path(__file__).resolve().parents[3]
OTAVA = "apache-otava==0.8.0"
RUNS, CHANGED_AT = 60, 30
PLANTED = 1.05
PAIR = ("iterative", "select")
CPU = "cpu_time_per_request_us"


@pytest.fixture(autouse=True)
def no_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in sum(REVISION.values(), ()):
        monkeypatch.delenv(name, raising=False)


def raced(folder: Path, **more: Any) -> Analysis:
    path = folder / "ledger.sqlite"
    path.unlink(missing_ok=True)
    settings = {"contenders": PAIR, "connections": [10, 100], "blocks": 8, **more}
    return analyse(read(make(path, **settings)))


def exported(analysis: Analysis, name: str, folder: Path) -> str:
    file = folder / f"{name}.out"
    write_exports(analysis, [Export(name, file)])
    return file.read_text()


def test_bmf_follows_benchers_schema(tmp_path: Path) -> None:
    """bencher.dev/bmf.json, and its limits on names."""
    document = json.loads(exported(raced(tmp_path), "bmf", tmp_path))
    found = [(name, of, one) for name, each in document.items() for of, one in each.items()]
    assert len(found) == 2 * 2 * 4
    for benchmark, measure, metric in found:
        assert 0 < len(benchmark) <= 1024
        assert 0 < len(measure) <= 64
        assert metric.keys() <= {"value", "lower_value", "upper_value"}
        assert all(type(value) in (int, float) for value in metric.values())
        low, high = (metric.get(key, metric["value"]) for key in ("lower_value", "upper_value"))
        assert low <= metric["value"] <= high
    estimate = document["select, connections 10"][CPU]
    assert 580 < estimate["lower_value"] < estimate["value"] < estimate["upper_value"] < 680


def test_openmetrics_is_parsed_in_base_units(tmp_path: Path) -> None:
    hostile = 'a"b\\c\nd'
    path = make(tmp_path / "odd.sqlite", contenders=PAIR, connections=[10], blocks=8)
    change(path, f"UPDATE cell SET contender = '{hostile}' WHERE contender = 'iterative'")
    text = exported(analyse(read(path)), "openmetrics", tmp_path)
    families = {one.name: one for one in text_string_to_metric_families(text)}
    cpu = families["regatta_server_cpu_per_request_seconds"]
    assert (cpu.type, cpu.unit) == ("gauge", "seconds")
    values = {(one.labels["contender"], one.labels["bound"]): one.value for one in cpu.samples}
    assert {contender for contender, _ in values} == {hostile, "select"}
    low, value, high = (values["select", bound] for bound in ("low", "value", "high"))
    assert 580e-6 < low < value < high < 680e-6
    memory = families["regatta_peak_memory_bytes"].samples
    assert all(math.isclose(one.value, 2 * 2**20) for one in memory)


def otava(folder: Path, *arguments: str) -> str:
    """The tool itself, from its package in an environment of its own."""
    uv = shutil.which("uv", path=f"{ROOT / '.tools' / 'uv' / 'bin'}:{os.environ['PATH']}")
    if uv is None:
        pytest.skip("uv is not installed, which fetches Apache Otava: scripts/setup")
    command = (uv, "tool", "run", "--from", OTAVA, "otava", *arguments)
    try:
        done = run(*command, cwd=folder, timeout=300)
    except subprocess.TimeoutExpired:
        pytest.skip("Apache Otava could not be fetched within 300 s")
    if "No module" not in done.stderr and re.search(r"Failed to (fetch|download)", done.stderr):
        pytest.skip(f"Apache Otava could not be fetched: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_otava_finds_a_planted_change_in_a_history_of_60_runs(tmp_path: Path) -> None:
    history = tmp_path / "history.json"
    for number in range(RUNS):
        slower = PLANTED if number >= CHANGED_AT else 1.0
        cpu_us = {"iterative": 640.0, "select": 612.0 * slower}
        small = {"connections": [10], "blocks": 6, "requests": 20, "counted_blocks": 0}
        analysis = raced(tmp_path, cpu_us=cpu_us, seed=number, **small)
        analysis.meta["created_at"] = str(1_760_000_000 + 3_600 * number)
        write_exports(analysis, parse_exports([f"otava:{history}"]))
    (tmp_path / "otava.yaml").write_text(
        f"tests:\n  regatta:\n    type: json\n    file: {history}\n"
    )
    report = otava(
        *(tmp_path, "analyze", "regatta", "--config-file", "otava.yaml", "--output", "json"),
        *("--since", "2020-01-01", "--last", str(RUNS)),
    )
    found = json.loads(report)["regatta"]
    changes = {change["metric"]: point["time"] for point in found for change in point["changes"]}
    assert changes[f"select/connections-10/{CPU}"] == 1_760_000_000 + 3_600 * CHANGED_AT
    assert f"iterative/connections-10/{CPU}" not in changes


def test_a_race_is_added_to_the_history_with_its_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    analysis = raced(tmp_path, connections=[10])
    exported(analysis, "otava", tmp_path)
    github = {"GITHUB_SHA": "abc", "GITHUB_REF_NAME": "main", "GITHUB_HEAD_REF": ""}
    for name, value in github.items():
        monkeypatch.setenv(name, value)
    first, second = json.loads(exported(analysis, "otava", tmp_path))
    assert {one["name"] for one in first["metrics"]} >= {f"select/connections-10/{CPU}"}
    assert (first["attributes"]["branch"], first["attributes"]["commit"]) == ("", "")
    assert (second["attributes"]["branch"], second["attributes"]["commit"]) == ("main", "abc")


def test_a_name_is_the_same_whatever_rates_a_matched_load_found(tmp_path: Path) -> None:
    names = []
    for rates in ((1_000, 4_000), (1_100, 4_200)):
        path = tmp_path / f"{rates[0]}.sqlite"
        race = {"axis": "rate", "steps": rates, "connections": [10], "blocks": 8}
        analysis = analyse(read(add_held(make(path, contenders=PAIR, **race))))
        names.append(list(json.loads(exported(analysis, "bmf", tmp_path))))
    assert names[0] == names[1]
    assert "select, connections 10, rate 2 of 2" in names[0]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("bfm:x", "did you mean bmf? write FORMAT:FILE"),
        ("bmf", "name a file: bmf:FILE"),
        ("bmf:none/x", "must be a file in an existing folder"),
        ("otava:text.json", "cannot be added to"),
        ("otava:list.json", "is no history of Otava"),
    ],
)
def test_what_cannot_be_written_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.json").write_text("{")
    Path("list.json").write_text("[1]")
    with pytest.raises(UsageError) as refused:
        parse_exports([text])
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)
