"""Caveats of a race: a sentence each for the report, and a line with a remedy for the screen."""

from collections import Counter as Tally
from collections.abc import Callable, Iterable

from regatta.judge.claims.result import TOO_FEW
from regatta.judge.results import Analysis, Group, rate_words
from regatta.judge.soundness.clients import uses_more_cpus
from regatta.judge.statistics.leads import RankConflict
from regatta.judge.statistics.percentile_comparison import FEWEST_BEYOND, enough_beyond
from regatta.record.metrics import FRACTIONS, P99
from regatta.record.study.limits import HOSTS, OWN_SIDE
from regatta.show.numbers import plural, times
from regatta.show.soundness import changed_sentence, clock_sentence, side_by_side_sentence
from regatta.show.trials import (
    client_bound_sentence,
    disturbed_sentence,
    failure_sentence,
    left_out_sentence,
    progress_sentence,
    unfinished,
    warm_up_sentence,
)
from regatta.show.view import Note

NAMED = 3
WHO_PAYS = "docs/reading.md, CPU accounting"
TWO_ACCOUNTS = (
    "Charged time lacks the kernel's work for a sleeping server, busy time includes other programs "
    f"({WHO_PAYS})."
)


def notes(analysis: Analysis) -> list[Note]:
    found = (note(analysis) for note in NOTES)
    return [one for one in found if one.sentence]


def _quick(analysis: Analysis) -> Note:
    """How many claims a quick race leaves undecided; unknown until it is finished."""
    if analysis.meta.get("quick") != "yes":
        return Note("")
    lost = sum(claim.verdict == TOO_FEW for claim in analysis.claims)
    says = what = "A first look detects only large differences"
    if lost and not unfinished(analysis):
        lose = f"{plural(lost, 'claim')} cannot be decided"
        says, what = f"A first look: {lose} with so few blocks", f"{lose} in a first look"
    sentence = f"{says}. Race the study without --quick for more."
    return Note(sentence, what, "leave out --quick")


def _progress(analysis: Analysis) -> Note:
    done, planned = analysis.trials, analysis.planned
    what = f"Not finished, {done} of {plural(planned, 'trial')}" if done < planned else ""
    return Note(progress_sentence(analysis), what, "resume it")


def _left_out(analysis: Analysis) -> Note:
    what = f"Left out {few(analysis.left_out)}"
    return Note(left_out_sentence(analysis), what, "`regatta doctor` says what is missing")


def _failures(analysis: Analysis) -> Note:
    sentence = failure_sentence(analysis)
    if not sentence:
        return Note("")
    first = analysis.failures[0]
    count = f"{len(analysis.failures)} of {plural(analysis.trials, 'trial')} failed"
    what = f"{count}, first {first.cell.contender}: {first.trial.reason or 'no reason recorded'}"
    return Note(sentence, what, "report.html says why", "failed")


def _client_bound(analysis: Analysis) -> Note:
    affected = [
        result for group in analysis.groups for result in group.cells if result.client_bound
    ]
    rates = [result.comfortable_rate for result in affected if result.comfortable_rate is not None]
    helps = [f"offer at most {min(rates):,}/s"] if rates else []
    if not rates or any(uses_more_cpus(result.cell) for result in affected):
        helps.append("raise --client-cpus")
    count = f"{len(analysis.client_bound)} of {plural(analysis.trials, 'trial')}"
    by_contender = Tally(one.cell.contender for one in analysis.client_bound)
    what = f"Client-bound in {count}, {few(name for name, _ in by_contender.most_common())}"
    return Note(client_bound_sentence(analysis), what, " or ".join(helps), "client-bound")


def _shared_cache(analysis: Analysis) -> Note:
    """Where two of our own designs are compared under a scan work."""
    known = analysis.environment.get("designs")
    designs = known if isinstance(known, dict) else {}
    raced: dict[str, set[str]] = {}
    for cell in (result.cell for group in analysis.groups for result in group.cells):
        if cell.work.startswith("scan") and cell.contender in designs:
            raced.setdefault(cell.work, set()).add(cell.contender)
    works = sorted(work for work, names in raced.items() if len(names) > 1)
    sentence = (
        f"Under the work {' and '.join(works)} designs share a cache: the server keeps file "
        "descriptors and the data read through them between requests, and the children of "
        "fork-per-client cannot use that cache. The work classic caches nothing."
    )
    what = "Designs share a cache under the work scan"
    return Note(sentence if works else "", what, "compare them under the work classic")


def _rate(analysis: Analysis) -> Note:
    late = [result for group in analysis.groups for result in group.cells if rate_words(result)]
    if not late:
        return Note("")
    worst = min(late, key=lambda result: result.started or 0.0)
    words = f"{worst.cell.contender} {rate_words(worst)}"
    more = f", nor do {plural(len(late) - 1, 'other cell')}" if len(late) > 1 else ""
    at = "" if worst.cell.rate is None else f" at {worst.cell.rate:,} requests/s"
    sentence = f"{words}{at}{more}; its cost per request is that of a lower load."
    return Note(sentence, f"{words}{more}", "lower the rate")


def _cold(analysis: Analysis) -> Note:
    names = few(dict.fromkeys(one.contender for one in analysis.warm_ups if one.why_not))
    do = "raise the warm-up limit"
    return Note(warm_up_sentence(analysis), f"Not warm: {names}", do)


def _disturbed(analysis: Analysis) -> Note:
    in_averages = sum(not noted.trial.superseded for noted in analysis.disturbed)
    count = f"{in_averages} of {plural(analysis.trials, 'trial')}"
    what = f"{count} disturbed and kept" if in_averages else ""
    do = "stop other programs (regatta doctor)"
    return Note(disturbed_sentence(analysis), what, do, "disturbed")


def _repeated(analysis: Analysis) -> Note:
    what = f"Repeats change {plural(len(analysis.repeated.changed), 'verdict')}"
    return Note(changed_sentence(analysis), what, "stop other programs, then race again")


def _clock(analysis: Analysis) -> Note:
    names = few(ran.contender for ran in analysis.clocks if ran.differs)
    what = f"{names} ran at another clock speed"
    return Note(clock_sentence(analysis), what, "fix it (regatta doctor), then race again")


def _inversions(analysis: Analysis) -> Note:
    def say(where: str, worst: RankConflict, more: str) -> Note:
        sentence = (
            f"Clock speeds differed. {where} {worst.more} takes {times(worst.first)} "
            f"times the server CPU time of {worst.less} per request, but {times(worst.second)} "
            f"times its cycles{more}: time and cycles rank designs in opposite order. Compare them "
            "by cycles, or race at a fixed clock speed."
        )
        what = f"Clock speeds differed: time and cycles rank {worst.less}, {worst.more} oppositely"
        return Note(sentence, what, "fix it (regatta doctor)")

    return _of_pairs(analysis, lambda group: group.inversions, say)


def _of_pairs(
    analysis: Analysis,
    of: Callable[[Group], list[RankConflict]],
    say: Callable[[str, RankConflict, str], Note],
) -> Note:
    """`say` is told where the pair with the largest conflict is, the pair, and how many others
    there are."""
    found = [(group, one) for group in analysis.groups for one in of(group)]
    if not found:
        return Note("")
    group, worst = min(found, key=lambda pair: pair[1].second / pair[1].first)
    more = f", as with {plural(len(found) - 1, 'other pair')}" if len(found) > 1 else ""
    return say(group.axis.at(worst.at), worst, more)


def _company(analysis: Analysis) -> Note:
    names = few(one.contender for one in analysis.side_by_side if one.differs)
    what = f"Running side by side changes the cost of {names}"
    return Note(side_by_side_sentence(analysis), what, "race with `slices = 1`")


def _restless(analysis: Analysis) -> Note:
    """Servers that were still busy when their CPU account was read."""
    if not analysis.restless:
        return Note("")
    names = sorted({noted.cell.contender for noted in analysis.restless})
    return Note(
        f"In {plural(len(analysis.restless), 'trial')} of {analysis.trials:,} the server was not "
        f"idle when the window opened or closed ({', '.join(names)}): if it was busy before the "
        "load, its CPU time is read at the last answer, otherwise 50 ms later."
    )


def _accounts(analysis: Analysis) -> Note:
    def say(where: str, worst: RankConflict, more: str) -> Note:
        sentence = (
            f"{where} the two accounts contradict each other: {worst.more} is "
            f"charged {times(worst.first)} times the server CPU per request of {worst.less}, but "
            f"its CPUs are busy {times(worst.second)} times as long{more}. {TWO_ACCOUNTS}"
        )
        what = f"CPU busy ranks {worst.more} before {worst.less}{more}"
        return Note(sentence, what, "see CPU accounting")

    return _of_pairs(analysis, lambda group: group.contradictions, say)


def _unconfirmed(analysis: Analysis) -> Note:
    def say(where: str, worst: RankConflict, more: str) -> Note:
        sentence = (
            f"{where} busy time does not show the lead of {worst.less} over {worst.more}, which is "
            f"charged {times(worst.first)} times the server CPU per request, but keeps its CPUs "
            f"busy {times(worst.second)} times as long{more}. {TWO_ACCOUNTS}"
        )
        what = f"CPU busy does not show the lead of {worst.less} over {worst.more}{more}"
        return Note(sentence, what, "see CPU accounting")

    return _of_pairs(analysis, lambda group: group.unconfirmed, say)


def _unsteered(analysis: Analysis) -> Note:
    """Empty where packets were steered, or where the placement is unknown."""
    placement = analysis.environment.get("placement")
    if not isinstance(placement, dict) or placement.get("steering") == OWN_SIDE:
        return Note("")
    if placement.get("kind") == HOSTS:
        return Note(
            "Each host receives its own packets, on whichever CPU its network card interrupts: "
            "time on CPUs other than the server's is in neither account."
        )
    if analysis.environment.get("irq_time_accounting") is True:
        return Note(
            "Packets were not steered: CPU busy per request includes the client's receive path and "
            "lacks the server's own; this kernel charges interrupt time to no program "
            f"({WHO_PAYS})."
        )
    return Note(
        "Packets were not steered: server CPU per request includes the client's receive path and "
        "lacks the server's own, as does CPU busy: both accounts may agree and be wrong "
        f"({WHO_PAYS})."
    )


def _wire(analysis: Analysis) -> Note:
    """A timer of TCP that explains a latency."""
    if not analysis.wire:
        return Note("")
    by_sign: dict[str, list[str]] = {}
    for one in analysis.wire:
        by_sign.setdefault(f"{one.says}; {one.sign.do}.", []).append(one.cell.contender)
    sentence = " ".join(f"{few(dict.fromkeys(of))}: {says}" for says, of in by_sign.items())
    first = analysis.wire[0]
    what = f"{first.cell.contender}: {first.says}"
    return Note(sentence, what, first.sign.do, whole=True)


def _few_requests(analysis: Analysis) -> Note:
    requests = [
        result.latencies.requests
        for group in analysis.groups
        for result in group.cells
        if result.latencies.requests > 0
        and not enough_beyond(FRACTIONS[P99.name], result.latencies.requests)
    ]
    if not requests:
        return Note("")
    return Note(
        f"The p99 of {plural(len(requests), 'cell')} rests on fewer than {FEWEST_BEYOND} slower "
        f"requests (smallest cell: {min(requests):,} requests): it is shown but not compared."
    )


NOTES: tuple[Callable[[Analysis], Note], ...] = (
    _inversions,
    _quick,
    _progress,
    _failures,
    _client_bound,
    _shared_cache,
    _accounts,
    _unconfirmed,
    _unsteered,
    _rate,
    _wire,
    _cold,
    _disturbed,
    _repeated,
    _clock,
    _company,
    _restless,
    _few_requests,
    _left_out,
)
"""In the order shown; each returns an empty note where it does not apply."""


def few(names: Iterable[str]) -> str:
    """`a, b, c and 4 more`."""
    every = list(names)
    more = len(every) - NAMED
    return ", ".join(every[:NAMED]) + (f" and {more} more" if more > 0 else "")
