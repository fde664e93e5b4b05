"""The environment of a race, and the calibration that was valid when it began, as rows of text."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from regatta.judge.results import Analysis
from regatta.judge.soundness.clients import LabUse
from regatta.record.inputs import MET, MISSED, NOT_REFUTED, Calibration, Goal, to_plain
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
    "mitigations": "mitigations",
    "perf_version": "perf",
    "perf_note": "note on perf",
    "perf_event_paranoid": "perf_event_paranoid",
    "perf_events": "events perf can open",
    "perf_topdown": "top-down group",
    "load_average": "load average before the race",
    "client_hosts": "the client's host (all other facts: the server's)",
    "client_host": "the client's host (all other facts: the server's)",
    "doctor": "serious findings of the doctor",
    "somaxconn": "somaxconn",
    "irq_time_accounting": "interrupt time charged to no program (IRQ_TIME_ACCOUNTING)",
    "rps_sock_flow_entries": "flows steered to their reader (RFS)",
    "versions": "versions",
    "seed": "seed",
}
ELSEWHERE = ("designs", "left_out", "warm_ups")
"""Shown in sections of their own."""
SETTINGS = ("seed", "use_perf", "disturbance_limit_percent")
"""Settings of the race that are listed with its environment."""


def environment_section(analysis: Analysis) -> Section:
    """The known facts in a fixed order; in the appendix everything else that was recorded."""
    settings = {key: analysis.meta[key] for key in SETTINGS if key in analysis.meta}
    known = {**analysis.environment, **settings}
    facts = [
        ["raced", _moment(analysis.meta.get("created_at"))],
        ["study", analysis.meta.get("study_name", "unknown")],
        *([label, _fact(key, known[key])] for key, label in LABELS.items() if key in known),
    ]
    if analysis.lab_use is not None:
        facts.append(["used by the lab during windows", _lab_use(analysis.lab_use)])
    details = [
        [LABELS.get(key, key.replace("_", " ")), _details(value)]
        for key, value in known.items()
        if key not in ELSEWHERE and (isinstance(value, dict) or key not in LABELS)
    ]
    study = analysis.meta.get("study_toml", "")
    recorded = plain_table("", "", ["what", "value"], details)
    return Section(
        "Where it was measured",
        tables=(plain_table("", "", ["what", "value"], facts),),
        sections=(
            Section("Everything that was recorded", tables=(recorded,), rank=APPENDIX),
            *([Section("The study", printed=study, rank=APPENDIX)] if study else []),
        ),
        name="environment",
    )


def _lab_use(use: LabUse) -> str:
    return f"mean {short(use.mean)} %, maximum {short(use.maximum)} % of a CPU"


def _fact(key: str, value: Any) -> str:
    if key == "memory_bytes" and isinstance(value, int | float):
        return f"{value / 2**30:.1f} GiB"
    return _summary(key, value) if isinstance(value, dict) else _text(value)


def _details(value: Any) -> str:
    if not isinstance(value, dict):
        return _text(value)
    return "; ".join(f"{name.replace('_', ' ')} {_text(part)}" for name, part in value.items())


def _summary(key: str, value: dict[str, Any]) -> str:
    if key == "mitigations":
        active = [name for name, state in value.items() if str(state).startswith("Mitigation")]
        open_ = [name for name, state in value.items() if str(state).startswith("Vulnerable")]
        return f"{len(active)} active, {len(open_)} vulnerable, {len(value)} in all"
    if key == "client_hosts":
        kinds = (
            f"{_text(one['cpu_model'])}, kernel {_text(one['kernel'])}" for one in value.values()
        )
        return "; ".join(dict.fromkeys(kinds))
    if key == "placement":
        count = value.get("clients", 1)
        who = "client" if count == 1 else f"{count} clients"
        return (
            f"{_kind(value)}, server on CPU {_text(value.get('server_cpus'))}, "
            f"{who} on CPU {_text(value.get('client_cpus'))}, "
            f"packets steered: {_text(value.get('steering'))}"
        )
    return _text(value)


def _kind(placement: dict[str, Any]) -> str:
    kind = placement.get("kind", "unknown")
    if names := placement.get("host_names"):
        clients = names.get("clients") or [names["client"]]  # of an older race
        who = "client" if len(clients) == 1 else "clients"
        return f"{kind} (server {names['server']}, {who} {', '.join(clients)})"
    if "engine" not in placement:
        return str(kind)
    engine = f"{placement['engine']} {placement.get('engine_version')}"
    return f"{kind} ({engine}, network {placement.get('network')})"


def _text(value: Any) -> str:
    if value is None or value == "":
        return "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_text(part) for part in value) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(part)}" for name, part in value.items())
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def _moment(seconds: str | None) -> str:
    try:
        moment = datetime.fromtimestamp(float(seconds or ""), UTC)
    except (ValueError, OverflowError, OSError):
        return seconds or "unknown"
    return moment.strftime("%d %B %Y, %H:%M UTC")


EQUALS = "equals: "
"""Prefix of all goal names of the A/A races."""
PAIRS = f"{EQUALS}standings of pairs"
NOT_RUN = "A/A: not run"


def headline(calibration: Calibration) -> str:
    """When it ran, with which version, and how many goals it met."""
    moment = datetime.fromtimestamp(calibration.taken_at, UTC).strftime("%d %B %Y, %H:%M UTC")
    kind = "quick calibration, which proves little," if calibration.quick else "calibration"
    error = f" with an injected error ({calibration.inject})" if calibration.inject else ""
    counts = {word: len(calibration.that_are(word)) for word in (MET, NOT_REFUTED, MISSED)}
    open_too = f", {counts[NOT_REFUTED]} not refuted" if counts[NOT_REFUTED] else ""
    return (
        f"{kind}{error} of {moment}, in {duration(calibration.elapsed_s)}, "
        f"by Regatta {calibration.regatta_version}: {counts[MET]} of "
        f"{sum(counts.values())} goals met{open_too}"
    )


def aa_state(calibration: Calibration) -> str:
    """How often equal copies were called different, if they were raced."""
    found = [goal for goal in calibration.goals if goal.name.startswith(EQUALS)]
    if not found:
        return NOT_RUN
    goal = next((goal for goal in found if goal.name.startswith(PAIRS)), found[0])
    if goal.measured == NOT_RUN:
        return NOT_RUN
    few = ", too few to prove it" if goal.met is None else ""
    return f"A/A: equal copies called different in {goal.measured} races{few}"


NONE = (
    "This machine had not been calibrated: how often its verdicts are wrong is unknown. "
    "`regatta calibrate` measures it."
)
SAYS = (
    "Measured on this machine: how often equal copies of one server are called different, how "
    "small a difference is detectable, and whether times and counts are right."
)


def calibration_sentence(analysis: Analysis) -> str:
    calibration = analysis.calibration
    if calibration is None:
        return NONE
    if isinstance(calibration, str):
        return f"The calibration of this machine could not be read: {calibration}."
    missed = ", ".join(goal.name for goal in calibration.missed)
    words = headline(calibration)
    sentence = f"{capitalized(words)}{f'; missed: {missed}' if missed else ''}"
    return f"{sentence}. {aa_state(calibration)}."


def goals_table(goals: Sequence[Goal]) -> Table:
    rows = [[one.name, one.goal, one.measured, one.outcome, one.detail] for one in goals]
    return plain_table("", SAYS, ["what", "goal", "measured", "", "how"], rows)


def calibration_json(analysis: Analysis) -> dict[str, Any] | None:
    """The calibration, or what is wrong with its file; None if there was none."""
    calibration = analysis.calibration
    if isinstance(calibration, str):
        return {"problem": calibration}
    return None if calibration is None else to_plain(calibration)


def calibration_section(analysis: Analysis) -> Section:
    known = analysis.calibration
    return Section(
        "How sound the instrument is",
        text=(calibration_sentence(analysis),),
        tables=(goals_table(known.goals),) if isinstance(known, Calibration) else (),
        rank=FOLDED,
        name="calibration",
    )
