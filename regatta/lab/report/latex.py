r"""report.tex, for pdflatex."""

import re
from textwrap import wrap

from regatta.lab.report.parts import LabReport, Part, pieces
from regatta.lab.step_result import CommandOutput, Picture
from regatta.report.paper.latex import PACKAGES, escape
from regatta.report.text.table import Table

MADE = "% Written by regatta lab from state.json and answers.md; edit answers.md, not this file."
STARS = {"★": r"\ding{72}", "☆": r"\ding{73}"}
WIDEST = 100
"""Characters per line of verbatim output."""
ON_ONE_PAGE = 40
"""Outputs of at most this many lines are not broken across pages."""


def to_latex(report: LabReport) -> str:
    lines = [MADE, r"\documentclass[a4paper]{article}", PACKAGES, r"\usepackage{pifont}"]
    lines += [r"\setlength{\parindent}{0pt}", r"\setlength{\parskip}{6pt}"]
    lines += [rf"\title{{{tex(report.title)}}}", r"\author{}\date{}"]
    lines += [r"\begin{document}", r"\maketitle", ""]
    lines += paragraphs(report.text)
    for part in report.parts:
        lines += part_lines(part)
    return "\n".join([*lines, r"\end{document}", ""])


def tex(text: str) -> str:
    """Escaped text with its stars; spaces at both ends are kept."""
    return "".join(STARS.get(piece) or spaced(piece) for piece in re.split("([★☆])", text))


def coded(text: str) -> str:
    """Converts `code` in the lab's own texts."""
    return "".join(
        rf"\texttt{{{tex(piece.text)}}}" if piece.is_code else tex(piece.text)
        for piece in pieces(text)
    )


def spaced(text: str) -> str:
    """Escaped, but with the spaces at both ends, which `escape` strips."""
    start = " " if text[:1].isspace() else ""
    end = " " if text.strip() and text[-1:].isspace() else ""
    return f"{start}{escape(text)}{end}"


def paragraphs(texts: tuple[str, ...]) -> list[str]:
    return [line for text in texts for line in (tex(text), "")]


def part_lines(part: Part) -> list[str]:
    lines = [
        rf"\section*{{{tex(part.title)}}}",
        "",
    ]
    lines += [line for text in part.text for line in (coded(text), "")]
    for printed in part.result.printed:
        lines += printed_lines(printed)
    for table in part.result.tables:
        lines += table_lines(table)
    for picture in part.result.pictures:
        lines += picture_lines(picture)
    lines += paragraphs(part.result.said)
    for number, question in enumerate(part.questions, start=1):
        lines += [rf"\textbf{{Question {number}.}} {coded(question.text)}\nopagebreak", ""]
        lines += paragraphs(tuple(question.answer.split("\n\n")))
    return lines


def printed_lines(printed: CommandOutput) -> list[str]:
    """Verbatim, in ASCII: LaTeX's fonts lack other characters."""
    lines = [f"$ {printed.command}", *printed.output.expandtabs().splitlines()]
    plain = [line.encode("ascii", "replace").decode() for line in lines]
    result = [part for line in plain for part in wrap_as_it_is(line)]
    size = r"{\footnotesize\samepage" if len(result) <= ON_ONE_PAGE else r"{\footnotesize"
    return [size, r"\begin{verbatim}", *result, r"\end{verbatim}}", ""]


def wrap_as_it_is(line: str) -> list[str]:
    """Wraps a verbatim line; it cannot end the environment."""
    harmless = line.replace(r"\end{verbatim}", r"\end {verbatim}")
    return wrap(harmless, WIDEST, drop_whitespace=False, subsequent_indent="  ") or [""]


def table_lines(table: Table) -> list[str]:
    """With the caption inside the table, so that no page break separates them."""
    head = [r"\toprule", " & ".join(map(tex, table.header)) + r" \\", r"\midrule"]
    return [
        r"{\footnotesize",
        r"\setlength{\LTcapwidth}{\linewidth}",
        rf"\begin{{longtable}}{{l{'r' * (len(table.header) - 1)}}}",
        rf"\caption[]{{\textbf{{{tex(table.title)}.}} {tex(table.says)}}} \\",
        *head,
        r"\endfirsthead",
        *head,
        r"\endhead",
        *(" & ".join(map(tex, row)) + r" \\" for row in table.rows),
        r"\bottomrule",
        r"\end{longtable}}",
        "",
    ]


def picture_lines(picture: Picture) -> list[str]:
    return [
        r"\begin{center}",
        rf"\includegraphics[width=0.8\linewidth]{{pictures/{picture.name}.pdf}}",
        r"\end{center}",
        "",
    ]
