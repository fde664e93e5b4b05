"""The view of a race: everything that a person shall see of it, worked out once."""

from collections.abc import Iterator

from regatta.judge.results import Analysis
from regatta.show.anatomy import why_lines
from regatta.show.claim_words import tally
from regatta.show.claims import claims_section
from regatta.show.environment import calibration_section, environment_section
from regatta.show.groups import HOW, group_section
from regatta.show.held import held_lines, held_section
from regatta.show.notes import notes
from regatta.show.numbers import plural
from regatta.show.soundness import sittings_line, soundness_section
from regatta.show.standings import MEANS, UNIT, compares, lead_words, overview
from regatta.show.trials import trials_sections
from regatta.show.verdicts import headline
from regatta.show.view import FOLDED, Screen, Section, View

MOST_CAUSES = 1
"""Contenders of a table whose difference to the front-runner is explained on the screen."""
SHOWN_FACTS = ("raced", "CPU", "kernel")
HOW_TO_READ = (
    "A trial is one run of a fresh server. Trials, not requests, are the independent units.",
    "Intervals are 95 % intervals. Neighbouring blocks are correlated, so a mean's interval weighs "
    "every autocorrelation from 0 to 0.95 by its likelihood, and is wide with few trials; with "
    "several sittings it is Student's t over the sittings. Percentiles are exact, from the pooled "
    "requests; their intervals come from the variation between trials of the share of slower "
    "requests. Contenders are compared in pairs within blocks, all pairs of a column or of a table "
    "of claims at once, by sign flips of whole blocks (with several sittings, by rotations); this "
    "needs at least six blocks or three sittings. “Over 3” means that there are too few requests "
    "to bound the percentile from above.",
    "Counting disturbs the measurement, so CPU time, latency and throughput come from timed "
    "trials, and all other counters from separate counted trials.",
    "Latency max is the slowest of all requests. A longer race may find a slower one, so its "
    "interval has no upper end.",
    "“Not supported” means that this machine cannot count it. It does not mean 0.",
)
"""What the standings do not say themselves."""


def view_of(analysis: Analysis) -> View:
    designs = analysis.environment.get("designs")
    summaries = (designs if isinstance(designs, dict) else {}) | analysis.names.titles
    where = environment_section(analysis)
    known = {row.name: row.figures[0].value for row in where.tables[0].rows}
    facts = [known[name] for name in SHOWN_FACTS if name in known]
    how = Section("How to read this", text=HOW_TO_READ, rank=FOLDED)
    return View(
        title=analysis.names.heading,
        facts=(*facts, plural(analysis.trials, "trial")),
        contenders={name: str(summaries.get(name, "")) for name in analysis.contenders},
        notes=tuple(notes(analysis)),
        screen=screen_of(analysis),
        sections=(*_sections(analysis), where, how),
    )


def _sections(analysis: Analysis) -> Iterator[Section]:
    several = len(analysis.groups) > 1
    groups = tuple(
        group_section(analysis, group, number if several else 0)
        for number, group in enumerate(analysis.groups, start=1)
    )
    if several:
        yield Section("Standings", sections=groups, quiet=HOW, tabs=True)
    else:
        yield from groups
    if analysis.held:
        yield held_section(analysis)
    if analysis.claims:
        yield claims_section(analysis)
    yield from trials_sections(analysis)
    yield soundness_section(analysis)
    yield calibration_section(analysis)


def screen_of(analysis: Analysis) -> Screen:
    several = len(analysis.groups) > 1
    tables = tuple(overview(analysis, group) for group in analysis.groups)
    found = {of.mark for table in tables for row in table.rows for of in row.figures}
    means = [says for mark, says in MEANS.items() if mark in found]
    means += [UNIT] if compares(analysis) else []
    lines = [
        (f"{group.title}: " if several else "") + line
        for group in analysis.groups
        for line in why_lines(group)[:MOST_CAUSES]
    ]
    lines += [*held_lines(analysis), sittings_line(analysis)]
    lines += [tally(analysis.claims)] if analysis.claims else []
    return Screen(
        verdicts=tuple(
            (f"{group.title}: " if several else "") + headline(group) + lead_words(group.overall)
            for group in analysis.groups
        ),
        tables=tables,
        quiet="; ".join(means),
        lines=tuple(filter(None, lines)),
    )
