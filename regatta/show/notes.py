"""Caveats of a race: a sentence each for the report, and a line with a remedy for the screen."""

from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator

from regatta.judge.claims.result import TOO_FEW
from regatta.judge.results import Analysis, CellResult, NotedTrial, rate_words
from regatta.judge.soundness.clients import uses_more_cpus
from regatta.judge.statistics.percentile_comparison import FEWEST_BEYOND, enough_beyond
from regatta.record.metrics import FRACTIONS, P99
from regatta.record.study.limits import HOSTS, OWN_SIDE
from regatta.show.numbers import factor, plural, ratio_words
from regatta.show.trials import HELD_UP, client_help, unfinished
from regatta.show.view import Note

NAMED = 3
CONTINUE = "Continue it with `regatta race --resume` and its folder."
STOP_OTHERS = "stop other programs"
WHO_PAYS = "docs/reading.md, CPU accounting"
TWO_ACCOUNTS = (
    "Charged time lacks the kernel's work for a sleeping server, busy time includes other programs "
    f"({WHO_PAYS})."
)


def notes(analysis: Analysis) -> list[Note]:
    return [note for found in NOTES for note in found(analysis)]


def few(names: Iterable[str]) -> str:
    """`a, b, c and 4 more`, each once."""
    every = list(dict.fromkeys(names))
    more = len(every) - NAMED
    return ", ".join(every[:NAMED]) + (f" and {more} more" if more > 0 else "")


def _cells(analysis: Analysis) -> list[CellResult]:
    return [result for group in analysis.groups for result in group.cells]


def _contenders(noted: Iterable[NotedTrial]) -> str:
    return ", ".join(sorted({trial.cell.contender for trial in noted}))


def _unconfirmed(analysis: Analysis) -> Iterator[Note]:
    """The lead that busy time shows least, and how many others there are."""
    found = [(group, lead) for group in analysis.groups for lead in group.unconfirmed]
    if found:
        group, lead = min(found, key=lambda pair: pair[1].busy / pair[1].charged)
        others = f", as with {plural(len(found) - 1, 'other pair')}" if len(found) > 1 else ""
        yield Note(
            f"{group.axis.at(lead.at)} busy time does not show the lead of {lead.less} over "
            f"{lead.more}, which is charged {factor(lead.charged)} times the server CPU per "
            f"request, but keeps its CPUs busy {factor(lead.busy)} times as long{others}. "
            f"{TWO_ACCOUNTS}",
            f"CPU busy does not show the lead of {lead.less} over {lead.more}{others}",
            "see CPU accounting",
        )


def _quick(analysis: Analysis) -> Iterator[Note]:
    """How many claims a quick race leaves undecided; unknown until it is finished."""
    if analysis.meta.get("quick") == "yes":
        lost = sum(claim.verdict == TOO_FEW for claim in analysis.claims)
        says = what = "A first look detects only large differences"
        if lost and not unfinished(analysis):
            lose = f"{plural(lost, 'claim')} cannot be decided"
            says, what = f"A first look: {lose} with so few blocks", f"{lose} in a first look"
        yield Note(f"{says}. Race the study without --quick for more.", what, "leave out --quick")


def progress(analysis: Analysis) -> Iterator[Note]:
    """While rate searches run, the number of trials is unknown."""
    early = analysis.meta.get("ended_early")
    if analysis.held and not analysis.planned:
        says = "the rates that its contenders hold are not known yet"
        yield Note(f"This race is not finished: {says}. {CONTINUE}")
    elif analysis.trials < analysis.planned:
        trials = f"{analysis.trials} of {plural(analysis.planned, 'trial')}"
        says = f"This race is not finished: {trials} so far. {CONTINUE}"
        yield Note(says, f"Not finished, {trials}", "resume it")
    elif early:
        yield Note(f"This race ended early, as its study asks, {early}.")


def _failures(analysis: Analysis) -> Iterator[Note]:
    if failed := analysis.failures:
        reason = failed[0].trial.reason or "no reason recorded"
        count, total = len(failed), plural(analysis.trials, "trial")
        yield Note(
            f"{plural(count, 'trial')} of {analysis.trials} failed ({_contenders(failed)}); they "
            "are left out of every average.",
            f"{count} of {total} failed, first {failed[0].cell.contender}: {reason}",
            "report.html says why",
            "failed",
        )


def _client_bound(analysis: Analysis) -> Iterator[Note]:
    bound = analysis.client_bound
    if not bound:
        return
    affected = [result for result in _cells(analysis) if result.client_bound]
    rated = [result for result in affected if result.comfortable_rate is not None]
    slowest = min(rated, key=lambda result: result.comfortable_rate or 0, default=None)
    remedies = [f"offer at most {slowest.comfortable_rate:,}/s"] if slowest else []
    if slowest is None or any(uses_more_cpus(result.cell) for result in affected):
        remedies.append("raise --client-cpus")
    names = few(name for name, _ in Tally(of.cell.contender for of in bound).most_common())
    yield Note(
        f"In {plural(len(bound), 'trial')} of {analysis.trials} the client was the bottleneck "
        f"({_contenders(bound)}). Such trials' times and throughput are in no average. A cell with "
        "mostly client-bound trials shows the server's CPU at the client's maximum rate and wins "
        f"no star. Remedy: {client_help(slowest) if slowest else 'more CPUs for the client'}.",
        f"Client-bound in {len(bound)} of {plural(analysis.trials, 'trial')}, {names}",
        " or ".join(remedies),
        "client-bound",
    )


def _shared_cache(analysis: Analysis) -> Iterator[Note]:
    """Where two of our own designs are compared under a scan work."""
    known = analysis.environment.get("designs")
    designs = known if isinstance(known, dict) else {}
    raced = {(result.cell.work, result.cell.contender) for result in _cells(analysis)}
    count = Tally(work for work, name in raced if work.startswith("scan") and name in designs)
    if works := sorted(work for work, names in count.items() if names > 1):
        yield Note(
            f"Under the work {' and '.join(works)} designs share a cache: the server keeps file "
            "descriptors and the data read through them between requests, and the children of "
            "fork-per-client cannot use that cache. The work classic caches nothing.",
            "Designs share a cache under the work scan",
            "compare them under the work classic",
        )


def _unsteered(analysis: Analysis) -> Iterator[Note]:
    """Nothing where packets were steered, or where the placement is unknown."""
    placement = analysis.environment.get("placement")
    if not isinstance(placement, dict) or placement.get("steering") == OWN_SIDE:
        return
    if placement.get("kind") == HOSTS:
        yield Note(
            "Each host receives its own packets, on whichever CPU its network card interrupts: "
            "time on CPUs other than the server's is in neither account."
        )
        return
    of, more = "server CPU", ", as does CPU busy: both accounts may agree and be wrong"
    if analysis.environment.get("irq_time_accounting") is True:
        of, more = "CPU busy", "; this kernel charges interrupt time to no program"
    yield Note(
        f"Packets were not steered: {of} per request includes the client's receive path and lacks "
        f"the server's own{more} ({WHO_PAYS})."
    )


def _rate(analysis: Analysis) -> Iterator[Note]:
    if late := [result for result in _cells(analysis) if rate_words(result)]:
        worst = min(late, key=lambda result: result.started or 0.0)
        words = f"{worst.cell.contender} {rate_words(worst)}"
        more = f", nor do {plural(len(late) - 1, 'other cell')}" if len(late) > 1 else ""
        at = "" if worst.cell.rate is None else f" at {worst.cell.rate:,} requests/s"
        says = f"{words}{at}{more}; its cost per request is that of a lower load."
        yield Note(says, f"{words}{more}", "lower the rate")


def _wire(analysis: Analysis) -> Iterator[Note]:
    """A timer of TCP that explains a latency."""
    if waits := analysis.wire:
        by_sign: dict[str, list[str]] = {}
        for wait in waits:
            by_sign.setdefault(f"{wait.says}; {wait.sign.do}.", []).append(wait.cell.contender)
        says = " ".join(f"{few(of)}: {says}" for says, of in by_sign.items())
        what = f"{waits[0].cell.contender}: {waits[0].says}"
        yield Note(says, what, waits[0].sign.do, whole=True)


def _cold(analysis: Analysis) -> Iterator[Note]:
    if cold := [warm for warm in analysis.warm_ups if warm.why_not]:
        parts = "; ".join(f"{warm.contender} was {warm.why_not}" for warm in cold)
        says = f"{parts}: it cannot win. Raise the warm-up limit."
        names = few(warm.contender for warm in cold)
        yield Note(says, f"Not warm: {names}", "raise the warm-up limit")


def disturbed(analysis: Analysis) -> Iterator[Note]:
    found = [noted.trial for noted in analysis.disturbed]
    if not found:
        return
    counted = [trial for trial in found if not trial.superseded]
    late = sum(trial.held_up is not None for trial in counted)
    parts = {
        "repeated (only the last attempt is kept)": len(found) - len(counted),
        "kept in the averages": len(counted) - late,
        f"whose times are left out of every average: {HELD_UP}": late,
    }
    words = ", ".join(f"{count} {says}" for says, count in parts.items() if count)
    limit = analysis.meta.get("disturbance_limit_percent")
    more = "too much" if limit is None else f"more than {limit} % of a CPU"
    what = f"{len(counted)} of {plural(analysis.trials, 'trial')} disturbed and kept"
    yield Note(
        f"{plural(len(found), 'trial')} disturbed: other programs or the host took {more} during "
        f"the window; {words}.",
        what if counted else "",
        f"{STOP_OTHERS} (regatta doctor)",
        "disturbed",
    )


def different_clocks(analysis: Analysis) -> Iterator[Note]:
    if differ := [ran for ran in analysis.clocks if ran.differs]:
        ran_at = "; ".join(f"{ran.contender} ran at {ratio_words(ran.clock)}" for ran in differ)
        yield Note(
            f"Clock speeds differ: relative to the contenders it is compared with, {ran_at}. Their "
            "CPU times differ by clock speed, not by the work alone.",
            f"{few(ran.contender for ran in differ)} ran at another clock speed",
            "fix it (regatta doctor), then race again",
        )


def company(analysis: Analysis) -> Iterator[Note]:
    """Where running side by side costs one contender more than the others."""
    if differ := [ran for ran in analysis.side_by_side if ran.differs]:
        costs = "; ".join(
            f"raced alone, {ran.contender} costs "
            f"{ratio_words(ran.ratio, of=' times')} what it costs side by side, "
            f"{factor(ran.beside)} relative to all ({plural(ran.blocks, 'block')})"
            for ran in differ
        )
        names = few(ran.contender for ran in differ)
        yield Note(
            f"Running side by side changes a comparison: {costs}.",
            f"Running side by side changes the cost of {names}",
            "race with `slices = 1`",
        )


def _restless(analysis: Analysis) -> Iterator[Note]:
    """Servers that were still busy when their CPU account was read."""
    if analysis.restless:
        yield Note(
            f"In {plural(len(analysis.restless), 'trial')} of {analysis.trials:,} the server was "
            f"not idle when the window opened or closed ({_contenders(analysis.restless)}): if it "
            "was busy before the load, its CPU time is read at the last answer, otherwise 50 ms "
            "later."
        )


def _few_requests(analysis: Analysis) -> Iterator[Note]:
    counts = [result.latencies.requests for result in _cells(analysis)]
    scarce = [
        count for count in counts if count > 0 and not enough_beyond(FRACTIONS[P99.name], count)
    ]
    if scarce:
        yield Note(
            f"The p99 of {plural(len(scarce), 'cell')} rests on fewer than {FEWEST_BEYOND} slower "
            f"requests (smallest cell: {min(scarce):,} requests): it is shown but not compared."
        )


def _left_out(analysis: Analysis) -> Iterator[Note]:
    if analysis.left_out:
        parts = ", ".join(f"{name} ({reason})" for name, reason in analysis.left_out.items())
        yield Note(
            f"Left out, because this machine cannot run it: {parts}.",
            f"Left out {few(analysis.left_out)}",
            "`regatta doctor` says what is missing",
        )


NOTES: tuple[Callable[[Analysis], Iterator[Note]], ...] = (
    _quick,
    progress,
    _failures,
    _client_bound,
    _shared_cache,
    _unconfirmed,
    _unsteered,
    _rate,
    _wire,
    _cold,
    disturbed,
    different_clocks,
    company,
    _restless,
    _few_requests,
    _left_out,
)
"""In the order shown."""
