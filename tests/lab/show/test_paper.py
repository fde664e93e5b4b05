"""`regatta report --paper`: a few pages, the same in Markdown, LaTeX and PDF."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from regatta.errors import RegattaError
from regatta.show.build import view_of
from regatta.show.paper import convert, write_paper
from regatta.show.text import marked_up
from regatta.show.view import View
from regatta.verbs.main import app
from tests.lab import reports
from tests.lab.synthetic import make
from tests.lab.synthetic_claims import all_kinds

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><b>",
    'comma, "quote"',
    "line\nbreak",
    "=1+1",
    "pipe|`tick`",
    "\x1b[31mred",
    "[bold]markup[/bold]",
)


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> View:
    folder = tmp_path_factory.mktemp("race")
    race = {"scopes": ["window", "process"], "connections": [5, 15], "blocks": 6, "requests": 60}
    analysis = reports.analysed(make(folder / "ledger.sqlite", **race))
    return view_of(replace(analysis, claims=all_kinds()))


@pytest.fixture(scope="module")
def folder(view: View, tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("paper") / "new" / "folder"
    written = write_paper(view, into, appendix=False)
    assert sorted(written) == sorted(into.iterdir())
    return into


def pages(pdf: Path) -> int:
    return max(int(count) for count in re.findall(rb"/Count (\d+)", pdf.read_bytes()))


def test_a_paper_has_a_table_and_a_plot_for_each_finding(view: View, folder: Path) -> None:
    text = (folder / "paper.md").read_text()
    plots = [chart.name for chart in view.charts() if chart.decides]
    assert len(plots) == 2, "one for each group of cells"
    for name in plots:
        assert f"]({name}.svg)" in text
        assert {path.suffix for path in folder.glob(f"{name}.*")} == {".svg", ".pdf"}
    for words in (
        "Over all numbers of connections",
        "## Claims",
        "## What limits these results",
        "## Where it was measured",
    ):
        assert words in text
    for words in ("A run of", "Counters of each cell", "## Appendix", "| why |"):
        assert words not in text
    assert 2 <= pages(folder / "paper.pdf") <= 10


def test_the_appendix_has_every_other_table(view: View, folder: Path, tmp_path: Path) -> None:
    write_paper(view, tmp_path, appendix=True)
    text = (tmp_path / "paper.md").read_text()
    for section in view.every():
        for table in section.tables:
            for row in table.rows:
                assert marked_up(row.name) in text
    assert "A run of" in text
    assert "| why |" in text
    assert pages(tmp_path / "paper.pdf") > pages(folder / "paper.pdf")


def balanced(latex: str) -> None:
    """Every brace and environment is closed."""
    bare = re.sub(r"\\[\\{}%&#$_]", "", latex)
    depth = 0
    for char in re.sub(r"(?m)(?<!\\)%.*", "", bare):
        depth += {"{": 1, "}": -1}.get(char, 0)
        assert depth >= 0
    assert depth == 0
    body = latex.partition(r"\begin{document}")[2]
    begun = Counter(re.findall(r"\\begin\{(\w+)\}", body))
    assert begun + Counter(["document"]) == Counter(re.findall(r"\\end\{(\w+)\}", body))


def test_the_latex_is_whole_and_links_existing_files(folder: Path) -> None:
    latex = (folder / "paper.tex").read_text()
    balanced(latex)
    linked = re.findall(r"\\(?:pandocbounded\{\\)?includegraphics(?:\[[^]]*\])?\{([^}]*)\}", latex)
    assert len(linked) == 2
    assert all((folder / name).is_file() for name in linked)


def test_a_hostile_name_is_no_markup_anywhere(tmp_path: Path) -> None:
    names = [*HOSTILE, "#panic()", "$x", "*a* _b_ @c <d>", "\\", '"] }', r"\input{/etc/passwd}"]
    path = make(tmp_path / "ledger.sqlite", contenders=names, connections=[5], blocks=2)
    write_paper(view_of(reports.analysed(path)), tmp_path / "paper", appendix=True)
    latex = (tmp_path / "paper" / "paper.tex").read_text()
    balanced(latex)
    assert r"\input{/etc" not in latex
    assert r"\textbackslash input" in latex


def test_the_same_race_gives_the_same_pdf(view: View, folder: Path, tmp_path: Path) -> None:
    write_paper(view, tmp_path, appendix=False)
    assert (tmp_path / "paper.pdf").read_bytes() == (folder / "paper.pdf").read_bytes()


def test_a_title_is_text(tmp_path: Path) -> None:
    convert("Nothing.\n", "*a* $b$ #c [d]", tmp_path / "x", tmp_path)
    assert (tmp_path / "x.md").read_text().startswith(r"# \*a\* $b$ \#c \[d\]")
    assert r"\title{*a* \$b\$ \#c {[}d{]}}" in (tmp_path / "x.tex").read_text()
    assert (tmp_path / "x.pdf").read_bytes().startswith(b"%PDF")


def test_a_folder_that_cannot_be_made_is_one_line(view: View, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(RegattaError, match=r"cannot write a paper to .*taken: .* another folder"):
        write_paper(view, tmp_path / "taken", appendix=False)


def test_the_command_says_where_the_paper_is(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", connections=[5], blocks=2)
    done = CliRunner().invoke(app, ["report", str(path), "--paper", str(tmp_path / "paper")])
    assert done.exit_code == 0, done.output
    assert f"paper:  {tmp_path / 'paper' / 'paper.pdf'}" in done.output
    refused = CliRunner().invoke(app, ["report", str(path), "--appendix"])
    assert refused.exit_code != 0
