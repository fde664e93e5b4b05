"""What repeating disturbed trials did: a table, and a sentence where it changes a verdict."""

from regatta.analysis.results import Analysis
from regatta.analysis.soundness.repeated import ChangedVerdict
from regatta.report.text.numbers import plural
from regatta.report.text.table import Table
from regatta.report.text.verdicts import listed, step_words

TITLE = "Repeated trials"
SAYS = (
    "A disturbed trial is repeated together with the trials of its block that it is compared with; "
    "only the last attempt counts. By chance: the expected number of disturbed first attempts if "
    "disturbances hit contenders at random within blocks."
)
MOST = 3


def repeated_table(analysis: Analysis) -> Table | None:
    """A row a contender; None where no trial was run again."""
    if not analysis.repeated.hits:
        return None
    rows = [
        [hit.contender, f"{hit.trials}", f"{hit.disturbed}", f"{hit.by_chance:.1f}", f"{hit.again}"]
        for hit in analysis.repeated.hits
    ]
    header = ["design", "trials", "disturbed at first", "by chance", "repeated"]
    found = analysis.repeated
    unequal = "No design was disturbed more often than by chance."
    if found.is_unequal:
        beyond = f"was disturbed more often than by chance (p = {found.p_value:.2g})"
        unequal = f"{found.furthest} {beyond}."
    return Table(TITLE, f"{SAYS} {unequal}", header, rows)


def changed_sentence(analysis: Analysis) -> str:
    """Empty unless the first attempts would give other standings than those that count."""
    changed = analysis.repeated.changed
    if not changed:
        return ""
    changes = [_change_words(analysis, one) for one in changed[:MOST]]
    more = f"; and {plural(len(changed) - MOST, 'other verdict')}" if len(changed) > MOST else ""
    return f"Repeated trials change verdicts: with the first attempts {'; '.join(changes)}{more}."


def _change_words(analysis: Analysis, changed: ChangedVerdict) -> str:
    group = analysis.groups[changed.group]
    where = step_words(group, changed.then)
    table = f" ({group.title})" if len(analysis.groups) > 1 else ""
    now, then = (
        f"{listed(sorted(one.best)) if one.best else 'none'} ({one.outcome})"
        for one in (changed.now, changed.then)
    )
    return f"{where[0].lower()}{where[1:]}{table} the best would be {then}, not {now}"
