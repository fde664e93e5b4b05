"""A race as a document: tables and plots of each group, then a table for each cell."""

from regatta.analysis.results import Analysis
from regatta.ledger.metrics import SIDES
from regatta.report.paper.elements import Document, Section
from regatta.report.paper.groups import PaperGroup, paper_groups
from regatta.report.paper.plots import plots
from regatta.report.paper.tables import designs_table, run_table
from regatta.report.soundness.notes import notes
from regatta.report.text.numbers import capitalized
from regatta.report.text.verdicts import headline, verdict_sentence


def paper_document(analysis: Analysis) -> Document:
    return Document(
        analysis.names.heading,
        tuple(note.sentence for note in notes(analysis)),
        (*designs_sections(analysis), *run_sections(analysis)),
    )


def designs_sections(analysis: Analysis) -> tuple[Section, ...]:
    return tuple(designs_section(of) for of in paper_groups(analysis))


def designs_section(of: PaperGroup) -> Section:
    tables = (designs_table(of, step, side) for step in of.group.steps for side in SIDES)
    return Section(
        title=capitalized(of.group.title),
        text=(f"{headline(of.group)}.", verdict_sentence(of.group, of.group.overall)),
        tables=tuple(table for table in tables if table.rows),
        plots=plots(of),
    )


def run_sections(analysis: Analysis) -> tuple[Section, ...]:
    """Every cell once, although a design without a pool appears at each pool size."""
    cells = {result.cell.id: result for group in analysis.groups for result in group.cells}
    found = (run_table(result, analysis.units) for result in cells.values())
    tables = tuple(table for table in found if table.rows)
    return (Section("Run by run", tables=tables),) if tables else ()
