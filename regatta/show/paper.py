"""A paper of a race: Markdown, and LaTeX and PDF converted from it by pandoc and typst.

Six to ten pages: what was asked, one table and one plot a finding, the claims with their verdicts,
what limits them, the machine. Every other table is in the appendix.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import pypandoc  # type: ignore[import-untyped]
import typst

from regatta.show.markdown import MADE, Writer
from regatta.show.pictures import draw, file_name, made
from regatta.show.text import escape, marked_up, printable
from regatta.show.view import APPENDIX, DECIDES, Chart, View

READS = (
    "markdown_strict-raw_html+all_symbols_escapable+intraword_underscores"
    "+pipe_tables+implicit_figures"
)
"""Without raw TeX, mathematics and citations, which a name could contain. Of pandoc's readers only
those of its own Markdown divide a table's width by the dashes of its columns."""
MOST_COLUMNS = 4
"""Of figures, on A4."""
TYPST = r"""#set document(date: none)
#set page(paper: "a4", margin: 2cm, numbering: "1")
#set text(size: 9.5pt)
#show table: set text(size: 7.5pt)
#set table(inset: (x: 4pt, y: 2.5pt))
#show table: set par(justify: false)
#show figure: set block(breakable: true)
#show raw: set text(size: 7.5pt)
"""
LATEX = r"""\usepackage{pifont,newunicodechar,textcomp}
\usepackage[a4paper,margin=2cm]{geometry}
\newunicodechar{★}{\ding{72}}\newunicodechar{☆}{\ding{73}}\newunicodechar{✓}{\ding{51}}
\newunicodechar{✗}{\ding{55}}\newunicodechar{≈}{$\approx$}\newunicodechar{≥}{$\geq$}
\newunicodechar{≤}{$\leq$}\newunicodechar{−}{$-$}\newunicodechar{∞}{$\infty$}
\AtBeginEnvironment{longtable}{\footnotesize}
"""


def write_paper(view: View, folder: Path, appendix: bool) -> list[Path]:
    """paper.md, .tex and .pdf, and each plot as NAME.svg and .pdf."""
    charts = [chart for chart in view.charts() if chart.decides]
    with made(folder, "a paper"):
        written = [path for chart in charts for path in draw(chart, folder)]
        text = paper_markdown(view, charts, appendix)
        return [*convert(text, view.title, folder / "paper", folder), *written]


def paper_markdown(view: View, charts: list[Chart], appendix: bool) -> str:
    """Without its title, which each format writes in its own way."""
    files = {chart.name: f"{file_name(chart)}.svg" for chart in charts}
    brief = Writer(DECIDES, files, MOST_COLUMNS)
    lines = [f"{marked_up(', '.join(view.facts))}.", ""]
    contenders = "; ".join(f"{n} ({says})" if says else n for n, says in view.contenders.items())
    lines += [f"Compared are {marked_up(contenders)}.", ""]
    for section in view.sections:
        lines += brief.section(section, 2)
    lines += ["## What limits these results", ""]
    lines += [line for note in view.notes for line in (f"- {marked_up(note.sentence)}", "")]
    if appendix:
        full = Writer(APPENDIX, {}, MOST_COLUMNS)
        lines += ["## Appendix", ""]
        for section in view.sections:
            lines += full.section(section, 3)
    return "\n".join(lines).rstrip() + "\n"


def convert(
    markdown: str, title: str, base: Path, pictures: Path, page: bool = False
) -> list[Path]:
    """BASE.md, .tex and .pdf, with `page` also .html. Links to pictures, which are SVG files beside
    PDF files, are relative to the folder `pictures`."""
    texts = {
        "md": f"# {escape(title)}\n\n{MADE}\n\n{markdown}",
        "tex": _pandoc(markdown, "latex", title, f"--variable=header-includes:{LATEX}"),
    }
    if page:
        sources = f"--resource-path={pictures}"
        texts["html"] = _pandoc(markdown, "html", title, "--embed-resources", sources)
    for kind, text in texts.items():
        base.with_suffix(f".{kind}").write_text(text, encoding="utf-8")
    typeset = _pandoc(markdown, "typst", title, f"--variable=header-includes:{TYPST}")
    with TemporaryDirectory(prefix=".regatta-", dir=pictures) as inside:
        source = Path(inside) / "paper.typ"
        # From the root of what typst may read.
        source.write_text(typeset.replace('image("', 'image("/'), encoding="utf-8")
        base.with_suffix(".pdf").write_bytes(typst.compile(source, root=pictures))
    return [base.with_suffix(f".{kind}") for kind in (*texts, "pdf")]


def _pandoc(markdown: str, kind: str, title: str, *options: str) -> str:
    text = markdown if kind == "html" else markdown.replace(".svg)\n", ".pdf)\n")
    options = ("--standalone", "--wrap=none", f"--metadata=title:{printable(title)}", *options)
    found: str = pypandoc.convert_text(text, kind, READS, options)
    return found
