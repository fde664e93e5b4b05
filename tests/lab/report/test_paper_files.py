"""`regatta report --tables`: the files, and their PDF."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from regatta.cli.main import app
from regatta.errors import RegattaError
from regatta.report.paper.document import paper_document
from regatta.report.paper.elements import Document, Section
from regatta.report.paper.files import write_document
from tests.lab import reports
from tests.lab.published_races import raced, with_published
from tests.lab.report.test_report import HOSTILE
from tests.lab.synthetic import make


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    analysis = with_published(raced(tmp_path_factory.mktemp("race")))
    into = tmp_path_factory.mktemp("paper") / "new" / "folder"
    written = write_document(paper_document(analysis), into)
    assert sorted(written) == sorted(into.iterdir())
    return into


def test_every_table_and_plot_is_in_every_form(folder: Path) -> None:
    forms: dict[str, set[str]] = {}
    for path in folder.iterdir():
        forms.setdefault(path.stem, set()).add(path.suffix)
    assert forms.pop("report") == {".md", ".tex", ".pdf"}
    assert forms["2-designs-5-server"] == {".md", ".csv", ".tex"}
    assert forms["2-clocks"] == {".svg", ".pdf"}
    assert len(forms) == 8 + 12 + 6


def test_the_document_links_existing_files(folder: Path) -> None:
    latex = (folder / "report.tex").read_text()
    named = re.findall(r"\\(?:input|includegraphics\[[^]]*\])\{([^}]*)\}", latex)
    assert len(named) == 8 + 12 + 6
    named += re.findall(r"!\[[^]]*\]\(([^)]*)\)", (folder / "report.md").read_text())
    assert all((folder / name).is_file() for name in named)


def test_the_pdf_is_valid_and_has_pages(folder: Path) -> None:
    assert (folder / "report.pdf").read_bytes().startswith(b"%PDF")


def test_a_hostile_name_is_not_markup_in_the_pdf(tmp_path: Path) -> None:
    names = [*HOSTILE, "#panic()", "$x", "*a* _b_ @c <d>", "\\", '"] }']
    path = make(tmp_path / "ledger.sqlite", contenders=names, connections=[5], blocks=2)
    written = write_document(paper_document(reports.analysed(path)), tmp_path / "paper")
    assert {path.suffix for path in written} == {".md", ".csv", ".tex", ".svg", ".pdf"}


def test_an_empty_document_is_valid(tmp_path: Path) -> None:
    written = write_document(Document("Nothing", (), (Section("Empty"),)), tmp_path)
    assert {path.name for path in written} == {"report.md", "report.tex", "report.pdf"}


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(RegattaError, match=r"cannot write tables to .*taken: .* another folder"):
        write_document(Document("Nothing"), tmp_path / "taken")


def test_the_command_writes_the_files_and_counts_them(tmp_path: Path) -> None:
    path = make(tmp_path / "ledger.sqlite", connections=[5], blocks=2)
    done = CliRunner().invoke(app, ["report", str(path), "--tables", str(tmp_path / "paper")])
    assert done.exit_code == 0
    count = len(list((tmp_path / "paper").iterdir()))
    assert f"tables and plots: {count} files in " in done.output
