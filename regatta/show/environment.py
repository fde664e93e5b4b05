"""The environment of a race, as rows of text."""

from datetime import UTC, datetime
from typing import Any

from regatta.analysis.results import Analysis
from regatta.analysis.soundness.lab_use import LabUse
from regatta.show.numbers import short
from regatta.show.view import APPENDIX, Section, plain_table

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
