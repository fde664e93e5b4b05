"""report.md."""

from regatta.lab.report.parts import LabReport, Part, pieces
from regatta.report.text.markdown import escape
from regatta.report.text.table import Table

MADE = (
    "<!-- Written by regatta lab from state.json and answers.md; edit answers.md, not this file. "
    "-->"
)


def to_markdown(report: LabReport) -> str:
    lines = [f"# {escape(report.title)}", "", MADE, ""]
    for paragraph in report.text:
        lines += [escape(paragraph), ""]
    for part in report.parts:
        lines += part_lines(part)
    return "\n".join(lines)


def part_lines(part: Part) -> list[str]:
    lines = [f"## {escape(part.title)}", ""]
    for paragraph in part.text:
        lines += [coded(paragraph), ""]
    for printed in part.result.printed:
        lines += ["```", f"$ {printed.command}", printed.output.replace("```", "'''"), "```", ""]
    for table in part.result.tables:
        lines += table_lines(table)
    for picture in part.result.pictures:
        lines += [f"![{escape(picture.title)}](pictures/{picture.name}.svg)", ""]
        lines += [f"{escape(picture.title)}. {escape(picture.says)}", ""]
    for sentence in part.result.said:
        lines += [escape(sentence), ""]
    for number, question in enumerate(part.questions, start=1):
        lines += [f"**Question {number}.** {coded(question.text)}", "", question.answer, ""]
    return lines


def coded(text: str) -> str:
    return "".join(
        f"`{piece.text}`" if piece.is_code else escape_piece(piece.text) for piece in pieces(text)
    )


def escape_piece(text: str) -> str:
    """Escaped, but with the spaces at both ends, which `escape` strips."""
    start = text[: len(text) - len(text.lstrip())]
    end = text[len(text.rstrip()) :] if text.strip() else ""
    return f"{start}{escape(text)}{end}"


def table_lines(table: Table) -> list[str]:
    return [
        f"**{escape(table.title)}.** {escape(table.says)}",
        "",
        f"| {' | '.join(map(escape, table.header))} |",
        "| --- |" + " ---: |" * (len(table.header) - 1),
        *(f"| {' | '.join(map(escape, row))} |" for row in table.rows),
        "",
    ]
