r"""Tables and documents as LaTeX: booktabs and longtable, numbers and units by siunitx.

A document compiles with pdflatex; a table can be `\input` into any document that loads PACKAGES.
"""

import re

from regatta.analysis.estimates import Estimate
from regatta.report.paper.elements import Column, Document, PaperTable, Plot, Section
from regatta.report.paper.figures import figure_text, remark

MOST_COLUMNS = 4
"""Columns of figures that fit on A4."""
MADE = "% Made from ledger.sqlite by regatta; make it again with `regatta report --tables`."
PACKAGES = r"""\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{lmodern}
\usepackage{textcomp}
\usepackage[a4paper, margin=2cm]{geometry}
\usepackage{booktabs}
\usepackage{longtable}
\usepackage{graphicx}
\usepackage{siunitx}
\sisetup{separate-uncertainty=true, group-digits=integer, group-separator={,},
  group-minimum-digits=4}"""
UNITS = {
    "µs": r"\si{\micro\second}",
    "ms": r"\si{\milli\second}",
    "s": r"\si{\second}",
    "%": r"\si{\percent}",
    "/s": r"\si{\per\second}",
    "GHz": r"\si{\giga\hertz}",
}
SIGNS = {
    **{char: rf"\{char}" for char in "{}$&#_%"},
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "[": "{[}",  # would be an option after a line's end
    "]": "{]}",
    "*": "{*}",  # the same
    "–": r"\textendash{}",
    "−": "$-$",
    "“": r"\textquotedblleft{}",
    "”": r"\textquotedblright{}",
    "…": r"\ldots{}",
    "±": r"\textpm{}",
    "×": r"\texttimes{}",
    "÷": r"\textdiv{}",
    "·": r"\textperiodcentered{}",
    "µ": r"\textmu{}",
    "≈": r"$\approx$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
}
LAST_LETTER = "\u00ff"
"""The last character that LaTeX with T1 can print: accented Latin."""
NUMBER = re.compile(r"(?P<over>> )?(?P<digits>-?[\d,.]+)(?: (?P<letter>[MG]))?")
EXPONENTS = {"M": 6, "G": 9}


def escape(text: str) -> str:
    """Text that LaTeX prints literally, on one line; other scripts as code points."""
    signs = "".join(_sign(char) for char in " ".join(text.split()))
    return re.sub("-(?=-)", "-{}", signs)  # "--" would become a dash


def document_latex(document: Document) -> str:
    lines = [MADE, r"\documentclass[a4paper]{article}", PACKAGES]
    lines += [
        rf"\title{{{escape(document.title)}}}",
        r"\date{}",
        r"\begin{document}",
        r"\maketitle",
    ]
    lines += _paragraphs(document.text)
    for section in document.sections:
        lines += _section(section)
    return "\n".join([*lines, r"\end{document}", ""])


def table_latex(table: PaperTable) -> str:
    """One longtable, or several if there are many columns."""
    parts = [line for part in table.parts(MOST_COLUMNS) for line in _longtable(part)]
    return "\n".join([MADE, *parts, *_paragraphs((table.says,))])


def _section(section: Section) -> list[str]:
    lines = ["", rf"\section*{{{escape(section.title)}}}", *_paragraphs(section.text)]
    lines += [rf"\input{{{table.name}.tex}}" for table in section.tables]
    for plot in section.plots:
        lines += _figure(plot)
    return lines


def _figure(plot: Plot) -> list[str]:
    return [
        r"\begin{figure}[htbp]",
        r"\centering",
        rf"\includegraphics[width=\linewidth]{{{plot.name}.pdf}}",
        rf"\caption{{{escape(plot.title)}. {escape(plot.says)}}}",
        rf"\label{{fig:{plot.name}}}",
        r"\end{figure}",
    ]


def _longtable(table: PaperTable) -> list[str]:
    titles = " & ".join([escape(table.head), "unit", *map(_title, table.columns)])
    head = [r"\toprule", rf"{titles} \\", r"\midrule"]
    return [
        r"{\small",
        rf"\begin{{longtable}}{{ll{'r' * len(table.columns)}}}",
        rf"\caption{{{escape(table.title)}}}\label{{tab:{table.name}}} \\",
        *head,
        r"\endfirsthead",
        *head,
        r"\endhead",
        r"\bottomrule",
        r"\endfoot",
        *(
            " & ".join(
                [
                    escape(row.label),
                    UNITS.get(row.unit, escape(row.unit)),
                    *map(_number, row.figures, table.columns),
                ]
            )
            + r" \\"
            for row in table.rows
        ),
        r"\end{longtable}}",
    ]


def _title(column: Column) -> str:
    if not column.source:
        return escape(column.title)
    return rf"\shortstack[r]{{{escape(column.title)},\\{escape(column.source)}}}"


def _number(estimate: Estimate | None, column: Column) -> str:
    value, half = figure_text(estimate, column)
    found = NUMBER.fullmatch(value)
    if found is None:
        return escape(value)
    over = "$>$ " if found["over"] else ""
    reach = NUMBER.fullmatch(half)
    uncertain = f" +- {_digits(reach)}" if reach else ""
    # A figure of 0 has no magnitude letter; take that of its half-width.
    letter = found["letter"] or (reach["letter"] if reach else None)
    power = f" e{EXPONENTS[letter]}" if letter else ""
    number = rf"{over}\num{{{_digits(found)}{uncertain}{power}}}"
    return f"{number} {escape(words)}" if (words := remark(estimate)) else number


def _digits(found: re.Match[str]) -> str:
    return found["digits"].replace(",", "")


def _sign(char: str) -> str:
    if char in SIGNS:
        return SIGNS[char]
    if not char.isprintable():
        return rf"\textbackslash{{}}x{ord(char):02x}"
    return char if char <= LAST_LETTER else f"{{[}}U+{ord(char):04X}{{]}}"


def _paragraphs(text: tuple[str, ...]) -> list[str]:
    return [line for words in text if words for line in ("", escape(words), "")]
