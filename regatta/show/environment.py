"""The environment of a race, and the calibration that was valid when it began, as rows of text."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from regatta.judge.results import Analysis
from regatta.record.inputs import MET, MISSED, NOT_REFUTED, Calibration, Goal
from regatta.show.numbers import capitalized, short
from regatta.show.text import duration
from regatta.show.view import APPENDIX, FOLDED, Section, Table, plain_table

LABELS = {
    "cpu_model": "CPU",
    "cpus": "CPUs",
    "cpus_allowed": "allowed CPUs",
    "smt": "SMT",
    "governor": "frequency governor",
    "turbo": "turbo",
    "virtualisation": "virtual machine",
    "memory_bytes": "memory",
    "kernel": "kernel",
    "architecture": "architecture",
    "distribution": "distribution",
    "clock_source": "clock source",
    "placement": "placement",
    "perf_version": "perf",
    "perf_note": "note on perf",
    "load_average": "load average before the race",
    "client_hosts": "the client's host (all other facts: the server's)",
    "client_host": "the client's host (all other facts: the server's)",
    "doctor": "serious findings of the doctor",
    "irq_time_accounting": "interrupt time charged to no program (IRQ_TIME_ACCOUNTING)",
    "versions": "versions",
    "seed": "seed",
}
"""What is shown first, in this order."""
ELSEWHERE = ("designs", "left_out", "warm_ups")
"""Shown in sections of their own."""
SETTINGS = ("seed", "use_perf", "disturbance_limit_percent")
"""Settings of the race that are listed with its environment."""
MOMENT = "%d %B %Y, %H:%M UTC"


def environment_section(analysis: Analysis) -> Section:
    """The known facts in a fixed order; in the appendix everything else that was recorded."""
    meta = analysis.meta
    known = analysis.environment | {key: meta[key] for key in SETTINGS if key in meta}
    facts = [
        ["raced", _raced(meta.get("created_at"))],
        ["study", meta.get("study_name", "unknown")],
        *([label, _fact(key, known[key])] for key, label in LABELS.items() if key in known),
    ]
    if use := analysis.lab_use:
        says = f"mean {short(use.mean)} %, maximum {short(use.maximum)} % of a CPU"
        facts.append(["used by the lab during windows", says])
    details = [
        [LABELS.get(key, key.replace("_", " ")), _details(value)]
        for key, value in known.items()
        if key not in ELSEWHERE and (isinstance(value, dict) or key not in LABELS)
    ]
    recorded, study = plain_table("", "", ["what", "value"], details), meta.get("study_toml")
    return Section(
        "Where it was measured",
        tables=(plain_table("", "", ["what", "value"], facts),),
        sections=(
            Section("Everything that was recorded", tables=(recorded,), rank=APPENDIX),
            *([Section("The study", printed=study, rank=APPENDIX)] if study else []),
        ),
        name="environment",
    )


def _raced(seconds: str | None) -> str:
    try:
        return f"{datetime.fromtimestamp(float(seconds or ''), UTC):{MOMENT}}"
    except (ValueError, OverflowError, OSError):
        return seconds or "unknown"


def _fact(key: str, value: Any) -> str:
    match key, value:
        case "memory_bytes", int() | float():
            return f"{value / 2**30:.1f} GiB"
        case "client_hosts", dict():
            kinds = [
                f"{_text(host['cpu_model'])}, kernel {_text(host['kernel'])}"
                for host in value.values()
            ]
            return "; ".join(dict.fromkeys(kinds))
        case "placement", dict():
            return _placement(value)
    return _text(value)


def _placement(value: dict[str, Any]) -> str:
    kind = str(value.get("kind", "unknown"))
    if names := value.get("host_names"):
        clients = names["clients"]
        who = "client" if len(clients) == 1 else "clients"
        kind += f" (server {names['server']}, {who} {', '.join(clients)})"
    elif "engine" in value:
        engine = f"{value['engine']} {value.get('engine_version')}"
        kind += f" ({engine}, network {value.get('network')})"
    count = value.get("clients", 1)
    who = "client" if count == 1 else f"{count} clients"
    return (
        f"{kind}, server on CPU {_text(value.get('server_cpus'))}, "
        f"{who} on CPU {_text(value.get('client_cpus'))}, "
        f"packets steered: {_text(value.get('steering'))}"
    )


def _details(value: Any) -> str:
    if not isinstance(value, dict):
        return _text(value)
    return "; ".join(f"{name.replace('_', ' ')} {_text(part)}" for name, part in value.items())


def _text(value: Any) -> str:
    match value:
        case None | "":
            return "not known"
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(map(_text, value)) or "none"
        case dict():
            return ", ".join(f"{name} {_text(part)}" for name, part in value.items())
        case float():
            return f"{value:.6g}"
    return str(value)


EQUALS = "equals: "
"""Prefix of all goal names of the A/A races."""
PAIRS = f"{EQUALS}standings of pairs"
NOT_RUN = "A/A: not run"


def headline(calibration: Calibration) -> str:
    """When it ran, with which version, and how many goals it met."""
    moment = f"{datetime.fromtimestamp(calibration.taken_at, UTC):{MOMENT}}"
    kind = "quick calibration, which proves little," if calibration.quick else "calibration"
    error = f" with an injected error ({calibration.inject})" if calibration.inject else ""
    met, unrefuted, missed = (
        len(calibration.that_are(word)) for word in (MET, NOT_REFUTED, MISSED)
    )
    return (
        f"{kind}{error} of {moment}, in {duration(calibration.elapsed_s)}, "
        f"by Regatta {calibration.regatta_version}: {met} of "
        f"{met + unrefuted + missed} goals met" + f", {unrefuted} not refuted" * bool(unrefuted)
    )


def calibration_sentence(analysis: Analysis) -> str:
    """What the calibration met and missed, and how often equal copies were called different."""
    calibration = analysis.calibration
    if calibration is None:
        return (
            "This machine had not been calibrated: how often its verdicts are wrong is unknown. "
            "`regatta calibrate` measures it."
        )
    if isinstance(calibration, str):
        return f"The calibration of this machine could not be read: {calibration}."
    missed = ", ".join(goal.name for goal in calibration.missed)
    missed = f"; missed: {missed}" if missed else ""
    equals = [goal for goal in calibration.goals if goal.name.startswith(EQUALS)]
    # Pairs of equals first, else any goal about equals.
    goal = next(iter(sorted(equals, key=lambda goal: not goal.name.startswith(PAIRS))), None)
    says = NOT_RUN
    if goal is not None and goal.measured != NOT_RUN:
        says = f"A/A: equal copies called different in {goal.measured} races"
        says += ", too few to prove it" * (goal.met is None)
    return f"{capitalized(headline(calibration))}{missed}. {says}."


def goals_table(goals: Sequence[Goal]) -> Table:
    says = (
        "Measured on this machine: how often equal copies of one server are called different, how "
        "small a difference is detectable, and whether times and counts are right."
    )
    rows = [[goal.name, goal.goal, goal.measured, goal.outcome, goal.detail] for goal in goals]
    return plain_table("", says, ["what", "goal", "measured", "", "how"], rows)


def calibration_section(analysis: Analysis) -> Section:
    known = analysis.calibration
    return Section(
        "How sound the instrument is",
        text=(calibration_sentence(analysis),),
        tables=(goals_table(known.goals),) if isinstance(known, Calibration) else (),
        rank=FOLDED,
        name="calibration",
    )
