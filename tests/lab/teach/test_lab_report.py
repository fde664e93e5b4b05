"""The report of a lab: the same in every format, with the student's answers."""

import re
from pathlib import Path

import pytest

from regatta.show.view import Chart, Panel, plain_table
from regatta.teach.lab.report import FILE, read_answers, write_report
from regatta.teach.lab.state import CommandOutput, StepResult
from regatta.teach.lab.step import Lab
from regatta.teach.lab.steps import STEPS
from tests.lab.fake_labs import lab_in

NASTY = "<b>a|b</b> & *stars*"
BARS = {
    "data": {"values": [{"design": "epoll", "value": 2}]},
    "mark": "bar",
    "encoding": {"x": {"field": "value", "type": "quantitative"}},
}
KEPT = StepResult(
    said=(f"It is so: {NASTY}.",),
    printed=(CommandOutput("nc -N", "rank pid\n1 42 <java>"),),
    tables=(plain_table("A table", "To be read.", ["design", "µs"], [[NASTY, "1.2"]]),),
    charts=(Chart("first", "A picture", "With bars.", (Panel("", "", BARS),)),),
)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return lab_in(tmp_path, done={"server": KEPT})


def test_every_format_has_the_results(lab: Lab) -> None:
    write_report(lab, STEPS)
    said = lab.path("report.md").read_text()
    assert "```\n$ nc -N\nrank pid\n1 42 <java>\n```" in said
    assert r"| &lt;b&gt;a\|b&lt;/b&gt; &amp; \*stars\* | 1.2 |" in said
    assert "](pictures/first.svg)" in said
    assert lab.path("pictures/first.svg").read_text().startswith("<svg")
    page = lab.path("report.html").read_text()
    assert "1 42 &lt;java&gt;" in page
    assert "<b>a" not in page
    assert page.count('src="data:image/svg+xml') == 1
    for text in (said, page):
        assert "1. One server, queried by hand" in text
        assert "There is only one CPU." in text
        assert "Not done yet: " in text
        assert "the work classic? This means that for each request the server reads all" in text
    assert "from the second: `top 2` is the whole" in said
    assert "from the second: <code>top 2</code> is the whole" in page
    for text in (said, page):
        assert re.search("Question 1[^Q]*Which process has used the most CPU time", text)


def test_control_characters_are_escaped_in_every_format(tmp_path: Path) -> None:
    name = "\x1b[2J\u202egnp\u200b"
    bars = {**BARS, "data": {"values": [{"design": name, "value": 2}]}}
    result = StepResult(
        said=(name,),
        printed=(CommandOutput("nc -N", f"rank pid\n1 42 {name}\tx"),),
        tables=(plain_table(name, name, ["design", "µs"], [[name, "1.2"]]),),
        charts=(Chart("first", name, name, (Panel("", "", bars),)),),
    )
    lab = lab_in(tmp_path, done={"server": result})
    write_report(lab, STEPS)
    files = [
        path for path in lab.folder.rglob("*") if path.suffix in (".md", ".html", ".tex", ".svg")
    ]
    assert len(files) > 3
    for path in files:
        assert not re.search("[\x1b\u202e\u200b]", path.read_text()), path.name
    assert "rank pid\n1 42 \\x1b[2J\\u202egnp\\u200b\tx\n" in lab.path("report.md").read_text()


def test_answers_are_in_the_report(lab: Lab) -> None:
    write_report(lab, STEPS)
    path = lab.path(FILE)
    heading = next(line for line in path.read_text().splitlines() if "server 2: " in line)
    path.write_text(path.read_text().replace(heading, f"{heading}\n\nIt reads *all*.\n\n1 < 2\n"))
    assert read_answers(lab.folder) == {("server", 2): "It reads *all*.\n\n1 < 2"}
    write_report(lab, STEPS)
    assert "It reads *all*.\n\n1 < 2" in lab.path("report.md").read_text()
    assert "<p>It reads <em>all</em>.</p>\n<p>1 &lt; 2</p>" in lab.path("report.html").read_text()
    assert f"{heading}\n\nIt reads" in path.read_text()
