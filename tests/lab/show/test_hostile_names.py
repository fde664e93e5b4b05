"""Names of contenders, studies, hosts and revisions that are formulas, escape sequences or marks of
direction: in no file and on no terminal are they obeyed."""

import csv
import io
import json
import re
import sys
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text
from typer.testing import CliRunner

from regatta.show.build import view_of
from regatta.show.csv import written
from regatta.show.html import vega
from regatta.show.paper import write_paper
from regatta.show.pictures import write_pictures
from regatta.show.text import printable
from regatta.verbs.main import app
from regatta.verbs.output import Output, print_json
from tests.commands import run
from tests.lab import reports
from tests.lab.synthetic import make

NAMES = (
    "=cmd|' /C calc'!A0",
    "+1+cmd",
    "-2+3",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "\uff1d1",
    "\u202egnp.exe",
    "\u2066inside\u2069",
    "ng\u200binx",
    "ng\U000e0069nx",
    "\u3164",
    "\x1b]0;owned\x07\x9b2J",
    "<img src=x onerror=alert(1)>",
)
REVISION = "v1\u202e\x1b[2J"
HOST = "db\u2067\x9b1m=1"
OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff"
    "\U000e0000-\U000e0fff]"
)
FORMULA = re.compile("[=+@\t\r\uff1d\uff0b\uff0d\uff20-](?![0-9.,]+(?:e[+-]?[0-9]+)?$)")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a race of theirs, with all files that a report can have."""
    folder = tmp_path_factory.mktemp("race")
    path = make(
        folder / "ledger.sqlite",
        contenders=NAMES,
        connections=[1, 2],
        scopes=["process"],
        blocks=2,
        requests=20,
        title=f"{REVISION} {NAMES[0]}".replace("\x1b", ""),  # TOML has none
        environment={"revision": REVISION, "hosts": {HOST: HOST}},
    )
    reports.write(path)
    analysis = reports.analysed(path)
    view = view_of(analysis)
    write_paper(view, folder / "paper", appendix=True)
    write_pictures(view.charts(), folder / "pictures")
    return folder


def test_report_files_contain_no_active_characters(folder: Path) -> None:
    library = vega()
    files = [path for path in folder.rglob("*") if path.suffix in (".html", ".md", ".csv", ".tex")]
    files += folder.rglob("*.svg")
    assert {path.suffix for path in files} == {".html", ".md", ".csv", ".tex", ".svg"}
    for path in files:
        content = path.read_text(encoding="utf-8").replace(library, "")
        found = OBEYED.search(content)
        assert found is None, f"{path.name}: {content[max(found.start() - 60, 0) : found.end()]!r}"


def test_a_page_escapes_a_name_the_same_everywhere(folder: Path) -> None:
    """Else its box in the legend would switch nothing in the charts."""
    page = (folder / "report.html").read_text()
    (charts,) = re.findall(r'id="charts">(.*?)</script>', page, re.DOTALL)
    shown = json.dumps(json.loads(charts), ensure_ascii=False)
    for name in ("\u202egnp.exe", "ng\u200binx"):
        assert f'value="{printable(name)}"' in page
        assert json.dumps(printable(name)) in shown


def test_no_cell_of_a_csv_is_a_formula(folder: Path) -> None:
    files = list(folder.rglob("*.csv"))
    assert files
    for path in files:
        with path.open(newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert not [cell for cell in cells if FORMULA.match(cell)], path.name


@pytest.mark.parametrize(
    ("given", "cell"),
    [
        (-1.5, "-1.5"),
        (-3, "-3"),
        (None, ""),
        ("-1.5e-07", "-1.5e-07"),
        ("+2", "+2"),
        ("=1+1", "'=1+1"),
        ("-cmd", "'-cmd"),
        ("+1+cmd", "'+1+cmd"),
        ("@SUM(1)", "'@SUM(1)"),
        ("\uff1d1", "'\uff1d1"),
        ("\t=1", "\\x09=1"),
        ("\r\n=1", "\\x0d\\x0a=1"),
        ("a=1", "a=1"),
    ],
)
def test_csv_numbers_are_not_quoted_as_text(given: object, cell: str) -> None:
    (_, row) = csv.reader(io.StringIO(written(("one", "two"), [{"one": given, "two": "x"}])))
    assert row == [cell, "x"]


@pytest.mark.parametrize(
    "words",
    [
        ["report", "{race}"],
        ["report", "{race}", "--explain"],
        ["compare", "{race}", "{race}"],
        ["review", "{race}/paper/paper.md"],
        ["review", "{race}/summary.csv"],
        ["collect", "{race}/ledger.sqlite"],
    ],
    ids=lambda words: " ".join(words[:1] + words[2:]).encode("ascii", "replace").decode(),
)
def test_no_command_prints_active_characters(folder: Path, words: list[str]) -> None:
    done = CliRunner().invoke(app, [word.format(race=folder) for word in words])
    said = done.output + str(done.exception or "")
    assert said
    assert OBEYED.search(said) is None, said


def test_a_failing_command_prints_no_active_characters(tmp_path: Path) -> None:
    done = run(sys.executable, "-m", "regatta", "report", tmp_path / "no-\u202esuch-\x1b[2Jrace")
    assert done.returncode != 0
    assert "\\u202e" in done.stderr
    assert OBEYED.search(done.stderr) is None


def test_the_json_of_a_report_is_safe_to_print_and_has_the_names(folder: Path) -> None:
    printed = CliRunner().invoke(app, ["report", str(folder), "--json"]).stdout
    assert OBEYED.search(printed) is None
    cells = json.loads(printed)["groups"][0]["cells"]
    assert {cell["contender"] for cell in cells} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_console_interprets_only_its_own_styles(name: str) -> None:
    out = io.StringIO()
    console = Output(file=out, width=200, force_terminal=True, color_system="standard")
    table = Table()
    table.add_row(Text(f"of {name}", style="bold"))
    console.print(table)
    console.print(name, markup=False)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())
    assert OBEYED.search(shown) is None
    assert "\x1b[1m" in out.getvalue()


def test_json_is_as_readable_as_it_can_be(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"name": "Größe 日本 \u202e\U000e0041"})
    printed = capsys.readouterr().out
    assert "Größe 日本 \\u202e\\udb40\\udc41" in printed
    assert json.loads(printed) == {"name": "Größe 日本 \u202e\U000e0041"}
